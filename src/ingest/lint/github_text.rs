//! `github-text`: annotations, as linters print them for GitHub's workflows: `::error file=a.py,line=3,title=…::message`.
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>
//!
//! They do not name the tool, but for those that put it into the title. A tool that finds nothing prints nothing, and there
//! is no end.

use super::lines::{Claim, TextReader, finding, is_code, is_of_another, read};
use super::ruff_text::is_rule_of_deptry;
use super::{LintTally, pylint_text, tool_and_sort, yamllint_text};
use crate::error::Result;
use crate::ingest::{Format, Head, Level, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Annotations of workflows.
pub const FORMAT: Format = Format {
    name: "github-text",
    kind: ReportKind::Lint,
    about: "annotations for GitHub's workflows",
    written_by: "ruff --output-format github, SwiftLint, PHPStan, Biome, oxlint (reporters github and the like)",
    told_by: "\"::error file=a.py,line=3,title=…::…\"",
    has_end: false,
    counting: "Annotations by level: error, warning; notice is a note.",
    sniff,
    parse: |input| read::<Reader>(input, "linters for GitHub's workflows"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| annotation(line.trim_end()).is_some_and(|found| found.path.is_some());
    let is_told = |sniff: fn(&Head<'_>) -> Sniff| matches!(sniff(head), Sniff::Sure(_));
    let is_named = || is_told(pylint_text::FORMAT.sniff) || is_told(yamllint_text::FORMAT.sniff);
    if head.lines().any(is_ours) && !head.lines().any(is_of_test) && !is_of_another(head) && !is_named() {
        return Sniff::Sure("annotations with their file".into());
    }
    Sniff::No
}

/// Whether the title names a test, as Vitest, Playwright and Jest do.
fn is_of_test(text: &str) -> bool {
    let title = text.trim_start().strip_prefix("::").and_then(|command| Some(command.split_once("title=")?.1));
    let title = title.and_then(|rest| Some(rest.split_once("::")?.0));
    title.is_some_and(|title| (title.contains(" > ") || title.contains(" › ")) && named(title).is_none())
}

/// What one command says; its texts are escaped still.
pub(super) struct Annotation<'a> {
    pub path: Option<&'a str>,
    pub line: Option<u64>,
    pub title: Option<&'a str>,
    pub message: &'a str,
    level: Level,
    properties: &'a str,
}

impl Annotation<'_> {
    /// Whether a linter wrote it, for runners annotate the tests that failed: a rule stands in its title, or before its
    /// message as RuboCop's, or what is told has an end, as ruff and Biome tell it.
    fn is_of_linter(&self) -> bool {
        let is_rule = |title: &str| {
            let is_path = title.contains('/') && !title.contains(['.', ' ']);
            // deptry lists what it annotates, too.
            let is_rule = is_code(title, 1..=4, 2..=5) && !is_rule_of_deptry(title);
            is_path || is_rule || matches!(title, "SQLFluff" | "Stylelint problem")
        };
        let is_cop =
            |word: &str| word.contains('/') && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/');
        self.title.is_some_and(|title| named(title).is_some() || is_rule(title))
            || self.message.split_once(": ").is_some_and(|(word, _)| is_cop(word))
            || (self.properties.starts_with("title=") && self.properties.contains(",endLine="))
    }
}

/// `::level file=…,line=…,title=…::message`. That no test caught a mutant is no finding: cargo-mutants' score counts it.
pub(super) fn annotation(text: &str) -> Option<Annotation<'_>> {
    let (command, message) = text.trim_start().strip_prefix("::")?.split_once("::")?;
    let (level, properties) = command.split_once(' ').unwrap_or((command, ""));
    let level = match level {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "notice" => Level::Note,
        _ => return None,
    };
    let property = |name: &str| {
        let mut all = properties.split(',').filter_map(|one| one.trim_start().split_once('='));
        all.find(|(key, _)| *key == name).map(|(_, value)| value).filter(|value| !value.is_empty())
    };
    let line = property("line").and_then(|line| line.parse().ok()).filter(|line| *line > 0);
    let title = property("title");
    let told = Annotation { path: property("file"), line, title, message, level, properties };
    (title != Some("Missed mutant")).then_some(told)
}

/// The text as it was before it was put into a command.
fn unescaped(text: &str) -> String {
    let escapes = [("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")];
    escapes.iter().fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

/// Tool and rule of a title `ruff (F401)`, of textlint's and secretlint's `TextLint [no-todo]`.
fn named(title: &str) -> Option<(&str, &str)> {
    if let Some(rule) = title.strip_prefix("TextLint [").and_then(|rest| rest.strip_suffix(']')) {
        return Some(("textlint", rule));
    }
    let (tool, rule) = title.strip_suffix(')')?.split_once(" (")?;
    let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    (is_word(tool) && is_word(rule)).then_some((tool, rule))
}

/// The rule in stylelint's `Unexpected unit (length-zero-no-unit) [maybe fixable] - https://…`.
fn rule_in(message: &str) -> Option<&str> {
    let told = message.split(" - https://").next()?;
    let (_, rule) = told.strip_suffix(" [maybe fixable]").unwrap_or(told).strip_suffix(')')?.rsplit_once(" (")?;
    Some(rule).filter(|rule| !rule.contains(' '))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        let Some(Annotation { path, line, title, message, level, .. }) = annotation(text) else { return Ok(()) };
        let (tool, rule) = match title {
            Some("Stylelint problem") => ("stylelint", rule_in(message)),
            // That this formatter itself will be gone is nothing that was found.
            Some("Stylelint deprecation") => return Ok(()),
            title => title.and_then(named).map_or(("github", None), |(tool, rule)| (tool, Some(rule))),
        };
        let (tool, sort) = tool_and_sort(tool, rule);
        let (path, message) = (path.map(unescaped), unescaped(message));
        let place = (path.as_deref(), line);
        self.tally.finding(finding(&tool, level, place, rule, &message), sort)
    }

    fn claim(&self, text: &str) -> Claim {
        match annotation(text) {
            Some(told) if told.is_of_linter() => Claim::Ours,
            Some(_) => Claim::Alike,
            None => Claim::Other,
        }
    }

    fn is_whole(&self, _: &str) -> bool {
        false
    }

    fn tells_all(&self, text: &str) -> bool {
        annotation(text).is_some()
    }

    fn finish(self) -> Result<Option<Parsed>> {
        self.tally.finish_found(&FORMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn stylelint_names_its_rule_in_the_message() {
        let text = "::error file=/a.css,line=2,col=4,title=Stylelint problem::Unexpected unit (length-zero-no-unit) [maybe fixable] - \
                    https://stylelint.io/user-guide/rules/length-zero-no-unit\n\
                    ::notice title=Stylelint deprecation::The github formatter is deprecated\n";
        let parsed = (FORMAT.parse)(&Input::bytes("x", text.as_bytes())).unwrap();
        let crate::ingest::Details::Lint(details) = &parsed.details else { panic!("lint") };
        let found: Vec<_> = details.findings.iter().map(|found| (found.tool.as_str(), found.rule.as_deref())).collect();
        assert_eq!(found, [("stylelint", Some("length-zero-no-unit"))]);
    }

    #[test]
    fn textlint_and_secretlint_name_their_rule_in_the_title() {
        let text = "::group::/a.md\n::error file=/a.md,line=3,endLine=3,col=9,endColumn=13,title=TextLint [no-todo]::Found TODO\n\
                    ::error file=/d.js,line=1,col=18,title=TextLint [preset > github]::found GitHub Token | 1:18\n\
                    ::endgroup::\n";
        let heard = crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
        let read = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        for parsed in heard.iter().chain([&read]) {
            let Details::Lint(details) = &parsed.details else { panic!("lint") };
            let found = details.findings.iter().map(|found| (found.tool.as_str(), found.rule.as_deref(), found.line));
            let expected = [("textlint", Some("no-todo"), Some(3)), ("textlint", Some("preset > github"), Some(1))];
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
        assert_eq!(heard.len(), 1);
    }

    #[test]
    fn annotations_have_level_place_and_text() {
        let text = "::group::lint\n::error title=ruff (F401),file=a%2Cb.py,line=3,col=8::a.py:3:8: F401 100%25%0Ahelp\n\
            ::warning file=A.swift,line=0::w\n::notice::n\n::debug::d\n::endgroup::\n";
        let parsed = parsed(text).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1); 3]);
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let first = details.findings.first().unwrap();
        let told = (first.tool.as_str(), first.path.as_deref(), first.line, first.rule.as_deref());
        assert_eq!(told, ("ruff", Some("a,b.py"), Some(3), Some("F401")));
        assert_eq!(first.message, "a.py:3:8: F401 100% | help");
        let second = details.findings.get(1).unwrap();
        assert_eq!((second.tool.as_str(), second.line), ("github", None));
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        assert_eq!(
            parsed("::error file=a.py,line=1::x\n::error file=b").unwrap_err().reject(),
            Some(Reject::Malformed)
        );
        let test = "::error file=a.test.js,title=a.test.js > cart > adds,line=4::expected 2 to be 3\n\
            ::error file=b.test.js,title=b.test.js,line=1::cannot be loaded\n";
        assert_eq!(sniff(&Head::read(&Input::bytes("x", test.as_bytes())).unwrap()), Sniff::No);
        assert_eq!(parsed("::group::x\nall well\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let mutant = "MISSED   src/lib.rs:3:10: replace > with >= in f in 0s build + 0s test\n\
            ::warning file=src/lib.rs,line=3,col=10,title=Missed mutant:: replace > with >= in f\n\
            16 mutants tested in 5s: 9 missed, 7 caught\n";
        let read = crate::ingest::parse(&Input::bytes("x", mutant.as_bytes()), None).unwrap();
        assert_eq!(read.format.name, "brief-mutation-text");
        let heard = crate::ingest::console::console(&Input::bytes("x", mutant.as_bytes()));
        assert_eq!(heard.iter().map(|parsed| parsed.format.name).collect::<Vec<_>>(), ["brief-mutation-text"]);
    }
}
