//! What stands below a point and tells of it: a YAML block, comments, or indented lines.

use std::collections::BTreeMap;

use super::super::{LONGEST_ID, stack};
use crate::ingest::text::{first_lines, printable};
use crate::model::cases::{Outcome, TestCase};

/// Lines of a message that are kept.
const LINES: usize = 3;
/// Tests whose failure is held until their points come.
const FAILURES: usize = 1_000;

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
    /// The point is no assertion, but an error: node-tap tells by what it was caught, that the time was over, or in which test
    /// a hook threw it; tape calls it a failure.
    pub is_thrown: bool,
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
        self.is_thrown |= failed
            && (matches!(key, "tapCaught" | "expired" | "test")
                || (key == "operator" && matches!(plain, "error" | "fail")));
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

    /// A line below the point `id` that failed; `further_in`: than the point. Whether it tells of that.
    pub(super) fn prose(&mut self, text: &str, further_in: bool, (id, case): (&str, &mut TestCase)) -> bool {
        let content = text.trim();
        if content.is_empty() || self.prose == Prose::Over {
            return content.is_empty();
        }
        let comment = comment(content);
        self.prose = match (self.prose, comment) {
            (Prose::Expected, Some(comment)) if begins_comments(comment, id) || further_in => Prose::Comments,
            (Prose::Comments, Some(comment)) if !begins_another(comment) => Prose::Comments,
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
            _ => return false,
        }
        true
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

fn comment(text: &str) -> Option<&str> {
    text.trim().strip_prefix('#').map(str::trim_start)
}

/// The name in `Failed test 'adds'` of Test::More.
fn failed(comment: &str) -> Option<&str> {
    comment.strip_prefix("Failed test '")?.strip_suffix('\'')
}

/// Whether the comment is the first that Test::More or bats write below the point `id` that failed.
fn begins_comments(comment: &str, id: &str) -> bool {
    failed(comment).is_some_and(|name| id.ends_with(name))
        || ["Failed test at ", "(in test file ", "(from function "].iter().any(|begin| comment.starts_with(begin))
}

/// Whether the comment tells of another test, or of all.
fn begins_another(comment: &str) -> bool {
    comment.starts_with("Failed test ") || comment.starts_with("Looks like you")
}

/// What Test::More said of tests above their points: it says so at once, and `prove -v` shows the points of a file
/// later.
#[derive(Debug, Default)]
pub(super) struct Early {
    /// By names.
    failures: BTreeMap<String, (Description, TestCase)>,
    /// The name of the test that is told.
    open: Option<String>,
}

impl Early {
    pub(super) fn line(&mut self, text: &str) {
        let comment = comment(text).unwrap_or_default();
        if let Some(name) = failed(comment) {
            let has_room = self.failures.len() < FAILURES && name.len() <= LONGEST_ID;
            self.open = (has_room && !self.failures.contains_key(name)).then(|| name.to_owned());
        } else if comment.is_empty() || begins_another(comment) {
            self.open = None;
        }
        if let Some(name) = &self.open {
            let new = || (Description::default(), TestCase::new(Outcome::Failed));
            let (told, case) = self.failures.entry(name.clone()).or_insert_with(new);
            told.prose(text, false, (name, case));
        }
    }

    /// What was said of a test in the file that prove tells of.
    pub(super) fn take(&mut self, name: &str, file: Option<&str>) -> Option<(Description, TestCase)> {
        let (told, case) = self.failures.get_mut(name)?;
        told.end_prose();
        if file.is_some() && case.file.as_deref() == file { self.failures.remove(name) } else { None }
    }
}

/// `at t/a.t line 8.` of Test::More, `(in test file a.bats, line 8)` of bats. Whether the comment tells nothing else.
fn place_of_comment(case: &mut TestCase, comment: &str) -> bool {
    let of_bats = stack::bats(comment);
    let of_perl = comment.split_once("at ").filter(|(before, _)| ["", "Failed test "].contains(before));
    let of_perl = of_perl.and_then(|(before, rest)| {
        let (file, line) = rest.strip_suffix('.')?.rsplit_once(" line ")?;
        Some((before, (file, stack::number(line)?)))
    });
    let place = of_bats.or(of_perl.map(|(_, place)| place));
    if let Some(place) = place.filter(|_| case.file.is_none()) {
        stack::put(case, place);
    }
    of_bats.is_some() || comment.starts_with("(from function ") || of_perl.is_some_and(|(before, _)| before.is_empty())
}

/// A frame: the first that is not of a library is the place.
fn frame(case: &mut TestCase, frame: &str) {
    if let Some(place) = stack::frame(frame).filter(|_| case.file.is_none()) {
        stack::put(case, place);
    }
}

/// `fileName: t/a.js`, `lineNumber: 2`; before node-tap 16 `file` and `line`.
fn place_of_node_tap(case: &mut TestCase, content: &str) {
    match content.split_once(": ") {
        Some(("fileName" | "file", file)) if case.file.is_none() => case.file = Some(printable(file, 1000)),
        Some(("lineNumber" | "line", line)) if case.line.is_none() => case.line = stack::number(line),
        _ => {}
    }
}
