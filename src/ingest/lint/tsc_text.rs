//! `tsc-text`: what the TypeScript compiler prints.
//!
//! Written after the two shapes of `tsc`: `path(line,column): error TS2322: message`, and with `--pretty`
//! `path:line:column - error TS2322: message` with the source below and a table at the end. Faults of the options have no
//! place. Without `--pretty` there is no end.

use std::sync::LazyLock;

use memchr::memmem;

use super::LintTally;
use super::lines::{Claim, TextReader, finding, finish_said, found, is_of_another, read};
use crate::error::Result;
use crate::ingest::text::is_number;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// The TypeScript compiler's output.
pub const FORMAT: Format = Format {
    name: "tsc-text",
    kind: ReportKind::Lint,
    about: "terminal output of the TypeScript compiler",
    written_by: "tsc, vue-tsc, ng build",
    told_by: "\"a.ts(3,7): error TS2741: …\", \"a.ts:3:7 - error TS2741: …\"",
    has_end: false,
    counting: "Lines with \"error TS…\", with a place or without. The number in the summary is compared, and counts \
               what was cut away above it.",
    sniff,
    parse: |input| read::<Reader>(input, "tsc"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.lines().any(|line| diagnostic(line).is_some()) {
        if is_of_another(head) {
            return Sniff::No;
        }
        return Sniff::Sure("a line with \"error TS…\"".into());
    }
    if head.last_lines().any(is_watching) {
        return Sniff::Sure("what tsc says when it watches".into());
    }
    // Its lines were cut away.
    if head.lines().any(|line| is_sum_alone(line.trim_end())) && !is_of_another(head) {
        return Sniff::Maybe("a number of errors as tsc tells it".into());
    }
    Sniff::No
}

/// `[10:00:00 AM] Found 0 errors. Watching for file changes.`
fn is_watching(text: &str) -> bool {
    text.ends_with(" errors. Watching for file changes.") || text.ends_with(" error. Watching for file changes.")
}

struct Diagnostic<'a> {
    path: Option<&'a str>,
    line: Option<u64>,
    code: &'a str,
    message: &'a str,
}

fn diagnostic(text: &str) -> Option<Diagnostic<'_>> {
    static ERROR: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("error TS"));
    for at in ERROR.find_iter(text.as_bytes()) {
        let (before, after) = (text.get(..at)?, text.get(at + 6..)?);
        let Some((code, message)) = after.split_once(':') else { continue };
        let is_code = code.strip_prefix("TS").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let Some((path, line)) = place(before).filter(|_| is_code && code.len() > 2) else { continue };
        return Some(Diagnostic { path, line, code, message: message.trim_start() });
    }
    None
}

/// Path and line before `error TS`; none if something else stands there.
fn place(before: &str) -> Option<(Option<&str>, Option<u64>)> {
    let before = before.trim_start();
    if before.is_empty() {
        return Some((None, None));
    }
    let (path, line) = if let Some(before) = before.strip_suffix("): ") {
        let (path, place) = before.rsplit_once('(')?;
        (path, place.split_once(',')?.0)
    } else if let Some(before) = before.strip_suffix(" - ") {
        let mut parts = before.rsplitn(3, ':');
        let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
        (path, line)
    } else {
        // What runs several programs puts its own name before each line: `web:build: error TS5103: …`.
        let is_label = before.ends_with(": ") && !before.trim_end().contains(' ');
        return is_label.then_some((None, None));
    };
    // `Error: src/a.ts`, as Angular says it; `web:build: src/a.ts`.
    let path = path.rsplit_once(": ").map_or(path, |(_, path)| path);
    is_number(line).then(|| (Some(path), line.parse().ok().filter(|line| *line > 0)))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    total: u64,
    /// Errors as the last summary counts them.
    said: Option<u64>,
    /// The last error was told as `--pretty` tells it.
    is_pretty: bool,
}

impl Reader {
    /// The number in a summary. Below errors that are told without `--pretty` there is none: `Found 7 errors.` is ruff's there.
    fn sum(&self, text: &str) -> Option<u64> {
        let is_bare = text.starts_with("Found ") && (text.ends_with(" error.") || text.ends_with(" errors."));
        errors_found(text).filter(|_| self.is_pretty || !is_bare)
    }
}

/// `Found 7 errors in 2 files.`, `Found 1 error in a.ts:3`, and with a time before it when it watches.
fn errors_found(text: &str) -> Option<u64> {
    let text = text.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(text, |(_, text)| text);
    let (number, rest) = found(text)?;
    let ends = [" in ", ".", " in the same file"];
    ends.iter().any(|end| rest.starts_with(end)).then_some(number)
}

/// Whether a number of errors tells whose it is without the lines above it.
fn is_sum_alone(text: &str) -> bool {
    errors_found(text).is_some() && text.contains(" in ") && !text.ends_with(')')
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(told) = diagnostic(text) {
            self.total += 1;
            self.is_pretty = text.contains(" - error TS");
            let finding = finding("tsc", Level::Error, (told.path, told.line), Some(told.code), told.message);
            self.tally.finding(finding, Sort::TypeChecker)?;
        } else if let Some(said) = self.sum(text) {
            self.said = Some(said);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        // A number of errors alone is other tools' too.
        match errors_found(text) {
            _ if diagnostic(text).is_some() => Claim::Ours,
            Some(_) if self.total > 0 && self.sum(text).is_some() && !text.ends_with(')') => Claim::Last,
            Some(_) if is_sum_alone(text) => Claim::Alone,
            Some(_) => Claim::Alike,
            None => Claim::Other,
        }
    }

    fn other(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn is_whole(&self, text: &str) -> bool {
        let is_sentence = |message: &str| message.ends_with('.') && message.matches('\'').count().is_multiple_of(2);
        let is_end = || text.ends_with('.') && errors_found(text).is_some();
        is_end() || diagnostic(text).is_some_and(|told| is_sentence(told.message))
    }

    fn tells_all(&self, text: &str) -> bool {
        // `  Type 'string' is not assignable to type 'number'.`
        let is_sentence = |below: &str| {
            let first = below.split_once(' ').map(|(first, _)| first);
            first.is_some_and(|first| first.starts_with(|c: char| c.is_ascii_uppercase()) && !first.contains('('))
        };
        let is_told = diagnostic(text).is_some() || errors_found(text).is_some();
        is_told || text.strip_prefix("  ").is_some_and(|below| is_sentence(below.trim_start()))
    }

    fn finish(self) -> Result<Option<Parsed>> {
        if self.total == 0 && self.said.is_none() {
            return Ok(None);
        }
        finish_said(self.tally, &FORMAT, ("tsc", Sort::TypeChecker), self.said, self.total).map(Some)
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
    fn every_shape_has_its_place() {
        let text = "\
src/a.ts(3,7): error TS2741: Property 'age' is missing.
  No more of it.
src/b.ts:4:33 - error TS2322: Type 'x: error TS1' is wrong.

4 const s = 'error TS1: no';
C:\\p\\c (1).ts(5,1): error TS2304: Cannot find name 'x'.
error TS18003: No inputs were found.
Error: src/d.ts:6:1 - error TS2304: Cannot find name 'y'.
web:build: src/e.ts(7,1): error TS2304: Cannot find name 'z'.
web:build: error TS5103: Invalid value.
";
        let Details::Lint(details) = parsed(text).unwrap().details else { panic!("lint") };
        let told: Vec<_> =
            details.findings.iter().map(|f| (f.path.as_deref(), f.line, f.rule.as_deref().unwrap())).collect();
        assert_eq!(
            told,
            [
                (Some("src/a.ts"), Some(3), "TS2741"),
                (Some("src/b.ts"), Some(4), "TS2322"),
                (Some("C:\\p\\c (1).ts"), Some(5), "TS2304"),
                (None, None, "TS18003"),
                (Some("src/d.ts"), Some(6), "TS2304"),
                (Some("src/e.ts"), Some(7), "TS2304"),
                (None, None, "TS5103"),
            ]
        );
    }

    #[test]
    fn the_summary_is_compared_and_counts_where_rows_were_cut_away() {
        let one = "a.ts(3,7): error TS2741: Property 'age' is missing.\n";
        assert_eq!(parsed(&format!("{one}\nFound 1 error in a.ts:3\n")).unwrap().declared, None);
        for rows in [one, ""] {
            let parsed = parsed(&format!("{rows}Found 2 errors in 2 files.\n")).unwrap();
            assert_eq!((parsed.figures.errors, parsed.declared, parsed.warnings.len()), (Some(2), None, 1));
        }
        let watched = "[10:00:00 AM] Found 0 errors. Watching for file changes.\n";
        assert_eq!(parsed(watched).unwrap().figures.errors, Some(0));
        assert_eq!(parsed("nothing\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        for cut in ["b.ts(1,1): err", "b.ts(1", "  c.ts(1", "Found 1 err"] {
            assert_eq!(parsed(&format!("{one}{cut}")).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert!(parsed(one.trim_end()).unwrap().warnings.is_empty());
        for (open, errors) in [
            ("b.ts(1,1): error TS1: Cannot find './x'", 2),
            ("  Type 'string' is not assignable", 1),
            ("Found 1 error in a.ts\x1b[90m:1\x1b[0m", 1),
        ] {
            let parsed = parsed(&format!("{one}{open}")).unwrap();
            assert_eq!((parsed.figures.errors, parsed.warnings.len()), (Some(errors), 1), "{open}");
        }
    }

    #[test]
    fn a_number_of_errors_beside_plain_rows_is_another_tool_s() {
        let rows = "src/a.ts(3,7): error TS2741: Property 'age' is missing.\n";
        let ruff = "help: Organize imports\n\nFound 7 errors.\n[*] 6 fixable with the `--fix` option.\n";
        for text in [format!("{rows}{ruff}"), format!("{ruff}{rows}")] {
            let told = crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
            let told: Vec<_> = told.iter().map(|one| (one.format.name, one.figures.errors)).collect();
            assert_eq!(told, [("ruff-text", Some(7)), ("tsc-text", Some(1))], "{text}");
            assert_eq!(parsed(&text).unwrap().figures.errors, Some(1), "{text}");
        }
        let pretty = "src/a.ts:3:7 - error TS2741: Property 'age' is missing.\n\nFound 2 errors.\n";
        assert_eq!(parsed(pretty).unwrap().figures.errors, Some(2), "of older versions");
    }
}
