//! What stands below a point and tells of it: a YAML block, comments, or indented lines.

use super::super::text_report;
use crate::ingest::text::{first_lines, printable};
use crate::model::cases::{Outcome, TestCase};

/// Lines of a message that are kept.
const LINES: usize = 3;

/// What the lines of a YAML block are that stand further in than their key.
#[derive(Clone, Copy, Debug)]
enum Block {
    Message,
    Values,
    /// Frames.
    Stack,
    /// Keys of node-tap's `at`.
    Place,
    Other,
}

/// Lines below a point that are not YAML.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Prose {
    #[default]
    Expected,
    /// Of Test::More and bats.
    Comments,
    /// Of Mocha.
    Indented,
    Over,
}

/// What is told of a point.
#[derive(Debug, Default)]
pub(super) struct Description {
    /// The message, as YAML tells it.
    error: Vec<String>,
    /// What stands for it where there is none: `expected: 2`, and what is no YAML.
    others: Vec<String>,
    /// The block that is open, and the column of its key.
    block: Option<(Block, usize)>,
    prose: Prose,
}

impl Description {
    /// The first line of the error that YAML tells.
    pub(super) fn error(&self) -> Option<String> {
        self.error.first().and_then(|line| first_lines(line))
    }

    /// A line of a YAML block.
    pub(super) fn yaml(&mut self, content: &str, indent: usize, case: &mut TestCase) {
        self.end_prose();
        let failed = case.outcome == Outcome::Failed;
        if let Some((block, _)) = self.block.filter(|(_, key)| indent > *key) {
            return match block {
                Block::Message => push(&mut self.error, content),
                Block::Values => self.value(content),
                Block::Stack => frame(case, content),
                Block::Place => place_of_node_tap(case, content),
                Block::Other => {}
            };
        }
        self.block = None;
        // A key of AVA's has a colon itself: `'Difference (- actual, + expected):': |-`.
        let header = content.rsplit_once(": ").filter(|(_, value)| value.len() < 3 && value.starts_with(['|', '>']));
        let Some((key, value)) = header.or_else(|| content.split_once(':')) else { return };
        let (key, value) = (key.trim_matches(['\'', '"', ' ', ':']), value.trim());
        let plain = value.trim_matches(['\'', '"']);
        let is_block = value.starts_with(['|', '>']);
        let block = match key {
            "duration_ms" => {
                case.duration_ms = super::super::milliseconds(plain).map(|thousandths| thousandths / 1000);
                return;
            }
            "error" | "message" if failed && self.error.is_empty() => {
                if !is_block && !plain.is_empty() {
                    push(&mut self.error, plain);
                }
                Block::Message
            }
            "operator" | "assertion" | "compare" | "expected" | "actual" | "wanted" | "found" if failed => {
                self.value(&if is_block { format!("{key}:") } else { format!("{key}: {plain}") });
                Block::Values
            }
            "diff" if failed => Block::Values,
            key if failed && is_block && key.starts_with("Difference") => Block::Values,
            "location" | "at" => {
                frame(case, plain);
                if plain.is_empty() { Block::Place } else { Block::Stack }
            }
            "stack" if failed => Block::Stack,
            _ => Block::Other,
        };
        self.block = (is_block || matches!(block, Block::Place)).then_some((block, indent));
    }

    /// What follows is told of another point.
    pub(super) fn end_prose(&mut self) {
        self.prose = Prose::Over;
    }

    fn value(&mut self, content: &str) {
        // The head of a difference tells nothing.
        if ["---", "+++", "@@"].iter().any(|begin| content.starts_with(begin)) {
            return;
        }
        match self.others.last_mut().filter(|last| last.ends_with(':')) {
            Some(last) => *last = printable(&format!("{last} {content}"), 400),
            None => push(&mut self.others, content),
        }
    }

    /// A line below a point that failed; `further_in`: than the point.
    pub(super) fn prose(&mut self, text: &str, further_in: bool, case: &mut TestCase) {
        let content = text.trim();
        if content.is_empty() || self.prose == Prose::Over {
            return;
        }
        let comment = content.strip_prefix('#').map(str::trim_start);
        self.prose = match (self.prose, comment) {
            (Prose::Expected, Some(comment)) if begins_comments(comment) => Prose::Comments,
            (Prose::Comments, Some(comment)) if !comment.starts_with("Looks like you") => Prose::Comments,
            (Prose::Expected | Prose::Indented, None) if further_in => Prose::Indented,
            _ => Prose::Over,
        };
        match (self.prose, comment) {
            (Prose::Comments, Some(comment)) => {
                if !place_of_comment(case, comment) {
                    push(&mut self.others, comment);
                }
            }
            (Prose::Indented, _) if content.starts_with("at ") => frame(case, content),
            (Prose::Indented, _) => push(&mut self.others, content),
            _ => {}
        }
    }

    /// Nothing more is told of the point.
    pub(super) fn finish(self, case: &mut TestCase) {
        let lines = if self.error.is_empty() { self.others } else { self.error };
        case.message = first_lines(&lines.join("\n"));
    }
}

fn push(lines: &mut Vec<String>, line: &str) {
    if lines.len() < LINES {
        lines.push(line.chars().take(400).collect());
    }
}

/// Whether the comment is the first that Test::More or bats write below a point that failed.
fn begins_comments(comment: &str) -> bool {
    ["Failed test ", "(in test file ", "(from function "].iter().any(|begin| comment.starts_with(begin))
}

/// `at t/a.t line 8.` of Test::More, `(in test file a.bats, line 8)` of bats. Whether the comment tells nothing else.
fn place_of_comment(case: &mut TestCase, comment: &str) -> bool {
    let of_bats =
        comment.split_once("in test file ").and_then(|(_, rest)| rest.strip_suffix(')')?.rsplit_once(", line "));
    let of_perl = comment.split_once("at ").filter(|(before, _)| ["", "Failed test "].contains(before));
    let of_perl = of_perl.and_then(|(before, rest)| Some((before, rest.strip_suffix('.')?.rsplit_once(" line ")?)));
    let place = of_bats.or(of_perl.map(|(_, place)| place));
    if let Some((file, line)) = place.filter(|_| case.file.is_none()) {
        describe(case, file, line);
    }
    of_bats.is_some() || comment.starts_with("(from function ") || of_perl.is_some_and(|(before, _)| before.is_empty())
}

/// A frame: the first that is not of a library is the place.
fn frame(case: &mut TestCase, frame: &str) {
    if case.file.is_none()
        && let Some((file, line)) = text_report::frame(frame)
    {
        (case.file, case.line) = (Some(file), Some(line));
    }
}

fn is_line(number: &str) -> bool {
    number.parse::<u64>().is_ok_and(|number| number > 0)
}

fn describe(case: &mut TestCase, file: &str, line: &str) {
    if is_line(line) {
        (case.file, case.line) = (Some(printable(file, 1000)), line.parse().ok());
    }
}

/// `fileName: t/a.js`, `lineNumber: 2`; before node-tap 16 `file` and `line`.
fn place_of_node_tap(case: &mut TestCase, content: &str) {
    match content.split_once(": ") {
        Some(("fileName" | "file", file)) if case.file.is_none() => case.file = Some(printable(file, 1000)),
        Some(("lineNumber" | "line", line)) if case.line.is_none() && is_line(line) => case.line = line.parse().ok(),
        _ => {}
    }
}
