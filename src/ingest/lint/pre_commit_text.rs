//! `pre-commit-text`: what pre-commit prints, and prek, which does the same. <https://pre-commit.com/>, <https://prek.j178.dev/>
//!
//! A row for each hook, and below it what a hook that failed printed. Formatters change files and say so in words of their
//! own, or say nothing: that they failed is all there is to be read.

use super::LintTally;
use super::lines::{Claim, TextReader, finding, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// pre-commit's output.
pub const FORMAT: Format = Format {
    name: "pre-commit-text",
    kind: ReportKind::Lint,
    about: "hooks of pre-commit that changed files, or failed without a finding that is read by itself",
    written_by: "pre-commit run, prek run",
    told_by: "rows \"check yaml...........Passed\" of 70 columns or more",
    has_end: false,
    counting: "Hooks that changed files are errors, one each; so are hooks that failed and printed nothing that \
               another format is read from. What linters and tests printed below them counts as theirs. Of the same \
               hooks run again, the last time.",
    sniff,
    parse: |input| read::<Reader>(input, TOOL),
};

fn sniff(head: &Head<'_>) -> Sniff {
    match has_hooks(head) {
        true => Sniff::Maybe("rows as pre-commit prints them".into()),
        false => Sniff::No,
    }
}

/// Whether there are rows of hooks.
pub(in crate::ingest) fn has_hooks(head: &Head<'_>) -> bool {
    head.lines().any(|line| row(line.trim_end()).is_some())
}

const TOOL: &str = "pre-commit";
/// pre-commit fills 79 columns, more where a name is long. A name of wide characters has fewer of them.
const SHORTEST_ROW: usize = 70;
/// Hooks that are held.
const ROWS_HELD: usize = 10_000;
const CHANGED: &str = "- files were modified by this hook";
const META: [&str; 4] = ["- hook id: ", "- exit code: ", "- duration: ", CHANGED];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Passed,
    Failed,
    Skipped,
    /// prek could not run it.
    NotRun,
}

/// `ruff.....Failed`, `check yaml.....(no files to check)Skipped`: the name of the hook.
fn row(text: &str) -> Option<(&str, Status)> {
    let statuses = [("Passed", Status::Passed), ("Failed", Status::Failed), ("Skipped", Status::Skipped)];
    let (rest, status) = statuses.into_iter().find_map(|(word, status)| Some((text.strip_suffix(word)?, status)))?;
    let dotted = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')).map_or(rest, |(dotted, _)| dotted);
    let name = dotted.trim_end_matches('.');
    let is_row = dotted.len() - name.len() >= 3 && text.chars().count() >= SHORTEST_ROW;
    (is_row && !name.is_empty() && !name.starts_with(' ')).then_some((name, status))
}

/// The hook that prek could not run, in place of its row.
fn not_run(text: &str) -> Option<(&str, Status)> {
    let name = text.strip_prefix("error: Failed to run hook `")?.strip_suffix('`')?;
    Some((name, Status::NotRun))
}

/// A hook, as far as it is told.
#[derive(Debug)]
struct Hook {
    name: String,
    id: Option<String>,
    status: Status,
    has_changed: bool,
    /// The first thing that it printed.
    words: Option<String>,
    /// A blank line came below that.
    is_apart: bool,
    /// Another format is read from what it printed.
    is_read: bool,
    /// Likewise, from what stands apart: below the last hook that may be of another command.
    is_read_apart: bool,
}

impl Hook {
    fn new(name: &str, status: Status) -> Hook {
        Hook {
            name: name.to_owned(),
            id: None,
            status,
            has_changed: false,
            words: None,
            is_apart: false,
            is_read: false,
            is_read_apart: false,
        }
    }

    /// What counts, if anything does.
    fn error(&self) -> Option<&str> {
        match self.status {
            Status::Failed if self.has_changed => Some("files were modified by this hook"),
            Status::Failed if self.is_read => None,
            Status::Failed | Status::NotRun => Some(self.words.as_deref().unwrap_or("failed, and says no more")),
            Status::Passed | Status::Skipped => None,
        }
    }

    fn tell_read(&mut self) {
        let is = if self.is_apart { &mut self.is_read_apart } else { &mut self.is_read };
        *is = true;
    }
}

/// The hooks of a stream.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Hooks {
    hooks: Vec<Hook>,
    is_full: bool,
}

impl Hooks {
    /// Takes the next line, and whether it is another tool's.
    pub(in crate::ingest) fn line(&mut self, text: &str, is_anothers: impl FnOnce() -> bool) {
        let text = text.trim_end();
        if let Some((name, status)) = row(text).or_else(|| not_run(text)) {
            self.is_full |= self.hooks.len() == ROWS_HELD;
            if let Some(before) = self.hooks.last_mut() {
                before.is_read |= before.is_read_apart;
            }
            if !self.is_full {
                self.hooks.push(Hook::new(name, status));
            }
            return;
        }
        let Some(hook) = self.hooks.last_mut().filter(|_| !self.is_full) else { return };
        if let Some(id) = text.strip_prefix("- hook id: ") {
            hook.id.get_or_insert_with(|| id.to_owned());
        } else if text == CHANGED {
            hook.has_changed = true;
        } else if is_anothers() {
            hook.tell_read();
        } else if text.is_empty() {
            hook.is_apart = hook.words.is_some();
        } else if !is_meta(text) {
            hook.words.get_or_insert_with(|| text.trim_start().to_owned());
        }
    }

    /// What follows is another tool's.
    pub(in crate::ingest) fn tell_read(&mut self) {
        if let Some(hook) = self.hooks.last_mut() {
            hook.tell_read();
        }
    }

    /// The report; none if no hook ran.
    ///
    /// # Errors
    /// A sum is too large; there are more than [`ROWS_HELD`].
    pub(in crate::ingest) fn finish(self) -> Result<Option<Parsed>> {
        if self.is_full {
            return Err(Error::report(Reject::Refused, format!("more than {ROWS_HELD} rows of hooks")));
        }
        let hooks = last_run(&self.hooks);
        if hooks.iter().all(|hook| hook.status == Status::Skipped) {
            return Ok(None);
        }
        let mut tally = LintTally::default();
        tally.tool(TOOL, Sort::Linter);
        for hook in hooks {
            let Some(message) = hook.error() else { continue };
            let rule = hook.id.as_deref().unwrap_or(&hook.name);
            tally.finding(finding(TOOL, Level::Error, (None, None), Some(rule), message), Sort::Linter)?;
        }
        let mut parsed = tally.finish(&FORMAT)?;
        // What others printed, a reader of this format alone cannot tell.
        parsed.is_of_several = true;
        Ok(Some(parsed))
    }
}

fn is_meta(text: &str) -> bool {
    META.iter().any(|meta| text.starts_with(meta))
}

/// The hooks of the last run, where the same ones ran several times. Two with one name may be two hooks.
fn last_run(hooks: &[Hook]) -> &[Hook] {
    let is_repeated = |length: &usize| {
        hooks.len().is_multiple_of(*length)
            && hooks.iter().zip(hooks.iter().skip(*length)).all(|(a, b)| a.name == b.name)
    };
    let length = (2..=hooks.len() / 2).find(is_repeated).unwrap_or(hooks.len());
    hooks.get(hooks.len() - length..).unwrap_or_default()
}

/// Reads lines of which no other tool is asked.
#[derive(Default)]
struct Reader(Hooks);

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        self.0.line(text, || false);
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        if row(text).is_some() { Claim::Ours } else { Claim::Other }
    }

    fn is_whole(&self, text: &str) -> bool {
        row(text).is_some() || is_meta(text)
    }

    fn finish(self) -> Result<Option<Parsed>> {
        self.0.finish()
    }
}

/// prek puts two blanks before what a hook printed.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Margin(Where);

#[derive(Debug, Default)]
enum Where {
    #[default]
    Outside,
    /// Below a row, nothing was printed yet.
    Below,
    Inside,
}

impl Margin {
    /// The line without it.
    pub(in crate::ingest) fn without<'a>(&mut self, text: &'a str) -> &'a str {
        let plain = text.trim_end();
        if row(plain).is_some() {
            self.0 = Where::Below;
            return text;
        }
        let inner = text.strip_prefix("  ");
        match self.0 {
            Where::Below if plain.is_empty() || is_meta(plain) => text,
            Where::Below | Where::Inside => {
                let is_inside = inner.is_some() || plain.is_empty();
                self.0 = if is_inside { Where::Inside } else { Where::Outside };
                inner.unwrap_or(text)
            }
            Where::Outside => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Details, Input, parse_all};

    fn row_of(name: &str, status: &str) -> String {
        format!("{name}{}{status}\n", ".".repeat(79 - name.len() - status.len()))
    }

    /// What is read, report by report: the format, errors, and rules.
    fn told(text: &str) -> Vec<(&'static str, u64, Vec<String>)> {
        let reports = parse_all(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let told = reports.into_iter().map(|report| {
            let Details::Lint(lint) = report.details else { return (report.format.name, 0, Vec::new()) };
            let rules = lint.findings.into_iter().filter_map(|found| found.rule).collect();
            (report.format.name, report.figures.errors.unwrap(), rules)
        });
        told.collect()
    }

    #[test]
    fn a_hook_that_changes_files_or_only_fails_is_an_error_and_words_of_linters_are_theirs() {
        let changed = row_of("trailing", "Failed")
            + "- hook id: t\n- exit code: 1\n- files were modified by this hook\n\nFixing a.py\n\n";
        let silent = row_of("silent", "Failed") + "- hook id: s\n- exit code: 1\n";
        let unknown = row_of("words", "Failed") + "- hook id: w\n- exit code: 3\n\nwrong\n\n";
        let ruff = "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n";
        let linted = row_of("ruff", "Failed") + "- hook id: ruff\n- exit code: 1\n\n" + ruff + "\n";
        let passed = row_of("fine", "Passed") + &row_of("none", "(no files to check)Skipped");
        let all = format!("{changed}{silent}{passed}{unknown}{linted}");
        let rules = ["t", "s", "w"].map(str::to_owned).to_vec();
        assert_eq!(told(&all), [("ruff-text", 1, vec!["F401".to_owned()]), ("pre-commit-text", 3, rules.clone())]);
        // Another run, and prek's margin.
        let again = format!("{all}{passed}{all}");
        assert_eq!(told(&again).last(), Some(&("pre-commit-text", 6, [rules.clone(), rules.clone()].concat())));
        assert_eq!(told(&format!("{all}{all}")).last(), Some(&("pre-commit-text", 3, rules)));
        let prek = linted.replace("\na.py", "\n  a.py").replace("\nFound", "\n  Found");
        assert_eq!(told(&prek), [("pre-commit-text", 0, vec![]), ("ruff-text", 1, vec!["F401".to_owned()])]);
        let eslint =
            linted.replace(ruff, "  /p/a.js\n    1:1  error  No  no-x\n\n  ✖ 1 problem (1 error, 0 warnings)\n");
        assert_eq!(told(&eslint), [("eslint-text", 1, vec!["no-x".to_owned()]), ("pre-commit-text", 0, vec![])]);
        assert_eq!(told(&passed), [("pre-commit-text", 0, vec![])]);
    }

    #[test]
    fn tests_in_a_hook_are_tests() {
        let tests = "collected 1 item\n\na.py F   [100%]\n\n=== 1 failed in 0.01s ===\n";
        let text =
            row_of("pytest", "Failed") + "- hook id: pytest\n- exit code: 1\n\n=== test session starts ===\n" + tests;
        let reports = parse_all(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let told: Vec<_> =
            reports.iter().map(|one| (one.format.name, one.figures.failed.or(one.figures.errors))).collect();
        assert_eq!(told, [("pytest-text", Some(1)), ("pre-commit-text", Some(0))]);
    }

    #[test]
    fn what_ran_nothing_or_is_no_row_is_refused() {
        for text in [
            row_of("none", "(no files to check)Skipped"),
            "a......Passed\n".to_owned(),
            row_of("1/3 Test #1: a", "   Passed    0.01 sec"),
            row_of("fine", "Pass"),
        ] {
            assert!(parse_all(&Input::bytes("x", text.as_bytes()), None).is_err(), "{text}");
        }
    }
}
