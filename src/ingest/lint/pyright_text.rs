//! `pyright-text`: what pyright prints, and basedpyright. <https://microsoft.github.io/pyright/#/command-line>
//!
//! Rows `path:line:column - level: message (rule)` under the name of a file, a message's further lines below them, and a
//! summary at the end, also where nothing was found. In GitHub's workflows basedpyright prints neither the names nor what
//! sets the rows off from the margin.

use super::LintTally;
use super::lines::{
    Claim, TextReader, bracketed, finding, finish_levels, is_of_another, is_path, is_python, join, placed, read,
};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// pyright's output.
pub const FORMAT: Format = Format {
    name: "pyright-text",
    kind: ReportKind::Lint,
    about: "terminal output of pyright",
    written_by: "pyright, basedpyright",
    told_by: "\"a.py:1:8 - error: …\", and \"4 errors, 2 warnings, 1 information\"",
    has_end: true,
    counting: "Rows by level: error, warning; information and note are notes. The numbers in the summary are compared, \
               and count what was cut away above it; without a summary the report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "pyright"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| row(line.trim_end()).is_some() || summary(line.trim_end()).is_some();
    if head.lines().any(is_ours) && !is_of_another(head) {
        return Sniff::Sure("rows or a summary as pyright prints them".into());
    }
    Sniff::No
}

/// The message of a cycle of imports, which has a file and no place in it.
pub(super) const CYCLE: &str = "Cycle detected in import chain";

struct Row<'a> {
    is_at_margin: bool,
    path: &'a str,
    line: Option<u64>,
    level: Level,
    message: &'a str,
}

/// `  path:line:column - level: message`, or `  path: error: Cycle detected in import chain`.
fn row(text: &str) -> Option<Row<'_>> {
    let (text, is_at_margin) = text.strip_prefix("  ").map_or((text, true), |text| (text, false));
    let without_place = || if text.ends_with(CYCLE) { split_at(text, ": ") } else { None };
    let (place, rest) = split_at(text, " - ").or_else(without_place)?;
    let (level, message) = rest.split_once(": ")?;
    let level = match level {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "information" | "info" | "note" => Level::Note,
        _ => return None,
    };
    let ended = format!("{place}:");
    let found = placed(&ended).filter(|found| found.has_column && found.rest.is_empty());
    let (path, line) = match found {
        Some(found) => (place.get(..found.path.len())?, found.line),
        None => (Some(place).filter(|path| message == CYCLE && is_path(path))?, None),
    };
    (!is_at_margin || is_python(path)).then_some(Row { is_at_margin, path, line, level, message })
}

/// Errors, warnings and what is below, of `4 errors, 2 warnings, 1 information`.
fn summary(text: &str) -> Option<[u64; 3]> {
    leading_in(text).filter(|(_, rest)| rest.starts_with(" error"))?;
    let mut parts = text.split(", ");
    let mut next = |words: &[&str]| {
        let (number, word) = parts.next()?.split_once(' ')?;
        let is_ours = words.contains(&word.strip_suffix('s').unwrap_or(word));
        number.parse().ok().filter(|_| is_ours)
    };
    let counts = [next(&["error"])?, next(&["warning"])?, next(&["information", "info", "note"])?];
    parts.next().is_none().then_some(counts)
}

/// A row whose message may go on in the lines below.
struct Open {
    is_at_margin: bool,
    path: String,
    line: Option<u64>,
    level: Level,
    message: String,
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    open: Option<Open>,
    /// Rows since the last summary.
    open_rows: u64,
    declared: Option<[u64; 3]>,
    /// Why it looked at nothing, though it says that it found nothing.
    why_nothing: Option<&'static str>,
}

/// It goes on without its configuration, and without a file to look at, and finds no error then.
fn why_nothing(text: &str) -> Option<&'static str> {
    match text {
        "No source files found." => Some("pyright found no file to look at"),
        _ if text.starts_with("Config file \"") && text.contains("\" could not be parsed.") => {
            Some("pyright could not read its configuration")
        }
        _ => None,
    }
}

impl Reader {
    fn close(&mut self) -> Result<()> {
        let Some(Open { path, line, level, message, .. }) = self.open.take() else { return Ok(()) };
        let told = bracketed(&message, '(', ')').filter(|(_, rule)| rule.starts_with("report"));
        let (message, rule) = told.map_or((message.as_str(), None), |(message, rule)| (message, Some(rule)));
        self.tally.finding(finding("pyright", level, (Some(&path), line), rule, message), Sort::TypeChecker)
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(row) = row(text) {
            self.close()?;
            self.open_rows += 1;
            let (path, message) = (row.path.to_owned(), row.message.to_owned());
            self.open = Some(Open { is_at_margin: row.is_at_margin, path, line: row.line, level: row.level, message });
        } else if let Some(counts) = summary(text) {
            self.close()?;
            let mut sums = self.declared.unwrap_or_default();
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum = add(*sum, count)?;
            }
            (self.declared, self.open_rows) = (Some(sums), 0);
        } else if let Some(open) =
            self.open.as_mut().filter(|open| text.starts_with(if open.is_at_margin { "  " } else { "   " }))
        {
            join(&mut open.message, text.trim());
        } else {
            self.close()?;
            self.why_nothing = self.why_nothing.or_else(|| why_nothing(text));
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        match row(text) {
            Some(_) => Claim::Ours,
            None if summary(text).is_some() => Claim::Last,
            None => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        summary(text).is_some()
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        self.close()?;
        if self.open_rows > 0 {
            return Err(Error::report(Reject::Malformed, "report ends before pyright's summary").help(CUT_HELP));
        }
        let Some(said) = self.declared else { return Ok(None) };
        if let (Some(why), [0, 0, 0]) = (self.why_nothing, said) {
            return Err(Error::report(Reject::NoResult, why)
                .help("run it again with its files and a configuration that it can read"));
        }
        self.tally.tool("pyright", Sort::TypeChecker);
        let [errors, warnings, notes] = said;
        finish_levels(self.tally, &FORMAT, ("pyright", Sort::TypeChecker), (errors, warnings, Some(notes))).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    const ROWS: &str = "/p/a-b.py\n  /p/a-b.py:7:16 - error: Type \"x\" is not assignable\n    \"x\" is not assignable to \"float\" (reportReturnType)\n  /p/a.py:1:8 - warning: Import \"os\" is not accessed (reportUnusedImport)\n  /p/a.py:16:13 - information: Type of \"f(1)\" is \"float\"\n";

    #[test]
    fn rows_have_place_rule_and_further_lines() {
        let parsed = parsed(&format!("{ROWS}1 error, 1 warning, 1 information \n")).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1); 3]);
        assert!(parsed.warnings.is_empty());
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details.findings.iter().map(|f| (f.path.as_deref(), f.line, f.rule.as_deref())).collect();
        let expected = [
            (Some("/p/a-b.py"), Some(7), Some("reportReturnType")),
            (Some("/p/a.py"), Some(1), Some("reportUnusedImport")),
            (Some("/p/a.py"), Some(16), None),
        ];
        assert_eq!(told, expected);
        assert!(details.findings[0].message.ends_with("assignable to \"float\""));
    }

    #[test]
    fn rows_in_a_workflow_stand_at_the_margin() {
        let text = "/p/a.py: error: Cycle detected in import chain\n  /p/a.py\n  /p/b.py (reportImportCycles)\n\
                    ::error file=/p/a.py,line=1,col=1::Cycle detected in import chain%0A  /p/a.py\n\
                    /p/a.py:3:12 - error: Type \"int\" is not assignable to return type \"str\"\n  \
                    \"int\" is not assignable to \"str\" (reportReturnType)\n\
                    ::error::2 errors\n2 errors, 0 warnings, 0 notes\n";
        let indented = "/p/a.py\n  /p/a.py: error: Cycle detected in import chain\n    /p/a.py\n    /p/b.py (reportImportCycles)\n  \
                        /p/a.py:3:12 - error: Type \"int\" is not assignable to return type \"str\"\n    \
                        \"int\" is not assignable to \"str\" (reportReturnType)\n2 errors, 0 warnings, 0 notes \n";
        for text in [text, indented] {
            let parsed = parsed(text).unwrap();
            assert_eq!((parsed.figures.errors, parsed.warnings.len()), (Some(2), 0), "{text}");
            let Details::Lint(details) = parsed.details else { panic!("lint") };
            let told: Vec<_> = details.findings.iter().map(|f| (f.line, f.rule.as_deref())).collect();
            assert_eq!(told, [(None, Some("reportImportCycles")), (Some(3), Some("reportReturnType"))]);
        }
        let typescript = "a.ts:1:5 - error: Type 'string' is not assignable\n1 error, 0 warnings, 0 notes\n";
        let parsed = parsed(typescript).unwrap();
        assert_eq!((parsed.figures.total, parsed.warnings.len()), (Some(1), 1), "its row is none of ours");
    }

    #[test]
    fn nothing_found_is_said() {
        for text in ["0 errors, 0 warnings, 0 informations \n", "0 errors, 0 warnings, 0 notes"] {
            assert_eq!(parsed(text).unwrap().figures.total, Some(0), "{text}");
        }
        let alone = parsed("3 errors, 1 warning, 0 notes\n").unwrap();
        assert_eq!((alone.figures.errors, alone.figures.warnings, alone.warnings.len()), (Some(3), Some(1), 1));
    }

    #[test]
    fn nothing_found_where_nothing_was_looked_at_is_no_zero() {
        let none = "0 errors, 0 warnings, 0 informations \n";
        for why in [
            "No source files found.",
            "Config file \"/p/pyrightconfig.json\" could not be parsed. Verify that format is correct.",
        ] {
            assert_eq!(parsed(&format!("{why}\n{none}")).unwrap_err().reject(), Some(Reject::NoResult), "{why}");
        }
        assert_eq!(parsed(&format!("No configuration file found.\n{none}")).unwrap().figures.total, Some(0));
        assert!(parsed(&format!("No source files found.\n{ROWS}1 error, 1 warning, 1 information \n")).is_ok());
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        for end in ["", "1 error, 1 warning", "1 error, 1 warning, 1 inf"] {
            assert_eq!(parsed(&format!("{ROWS}{end}")).unwrap_err().reject(), Some(Reject::Malformed), "{end}");
        }
        assert_eq!(parsed("all well\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
