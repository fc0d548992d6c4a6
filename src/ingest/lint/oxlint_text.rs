//! `oxlint-text`: what oxlint prints, its format `default`. <https://oxc.rs/docs/guide/usage/linter/output-formats.html>
//!
//! `  ! eslint(no-debugger): …` with a sign for the level, `,-[path:line:column]` below it, and at the end, one before the
//! other or the other way round, `Found 7 warnings and 1 error.` and `Finished in 26ms on 3 files with 96 rules …`. Vite+ has it
//! check types, too, and sums up itself (`vp check`). swc shows what it cannot parse in the same way, and ends with
//! `Failed to compile 2 files with swc.`

use super::github_text::annotation;
use super::lines::{Claim, TextReader, counted, finding, finish_levels, is_of_another, read};
use super::{LintTally, sort_of};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Finding, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// oxlint's output.
pub const FORMAT: Format = Format {
    name: "oxlint-text",
    kind: ReportKind::Lint,
    about: "terminal output of oxlint and swc",
    written_by: "oxlint, vp check, swc",
    told_by: "\"Found 7 warnings and 1 error.\" beside \"Finished in 26ms on 3 files with 96 rules …\", \"Found 1 error \
              and 0 warnings in 3 files (9ms, 2 threads)\", or \"Failed to compile 2 files with swc.\"",
    has_end: true,
    counting: "Diagnostics by their sign: × is an error, ⚠ a warning; typescript(TS…) is of tsc. The numbers in the \
               summary are compared, and count what was cut away above it; without a summary the report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "oxlint"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let any = |is: fn(&str) -> bool| head.lines_of_both_ends().any(|line| is(line.trim_end()));
    // Its reporter `github` has the same summary.
    if is_of_another(head) || any(is_annotation) {
        return Sniff::No;
    }
    if any(|line| summary(line).is_some()) && any(finished) || any(|line| summary_of_vp(line).is_some()) {
        return Sniff::Sure("a summary as oxlint prints it".into());
    }
    if any(|line| is_end_of_swc(line, false)) {
        return Sniff::Sure("the line with which swc ends".into());
    }
    match any(|line| sign(line).is_some()) && any(|line| place(line).is_some()) {
        true => Sniff::Maybe("diagnostics as oxlint prints them".into()),
        false => Sniff::No,
    }
}

fn is_annotation(line: &str) -> bool {
    annotation(line).is_some_and(|found| found.path.is_some())
}

const TOOL: &str = "oxlint";
const SWC: &str = "swc";
const TSC: &str = "tsc";

/// Whose rule it is: with `--type-check`, what tsc would say is `typescript(TS2322)`.
pub(super) fn teller(rule: Option<&str>) -> &'static str {
    let code = rule.and_then(|rule| rule.strip_prefix("typescript(TS"));
    if code.is_some_and(|code| code.starts_with(|c: char| c.is_ascii_digit())) { TSC } else { TOOL }
}

/// Whether Vite+ says that types were checked: `error: Lint or type issues found`, `pass: Found no type errors in …`.
fn has_checked_types(text: &str) -> bool {
    let (mark, rest) = text.split_once(": ").unwrap_or_default();
    let is_told = match mark {
        "error" | "warn" => rest.ends_with(" found"),
        "pass" => rest.starts_with("Found no ") && summary_of_vp(text).is_some(),
        _ => false,
    };
    is_told && ["or type ", "Type ", "type errors"].iter().any(|word| rest.contains(word))
}

/// Level and message of a diagnostic's first line; with and without Unicode. Vite+ takes the blanks from before the first of all.
fn sign(text: &str) -> Option<(Level, &str)> {
    let signs = [("×", Level::Error), ("x", Level::Error), ("⚠", Level::Warning), ("!", Level::Warning)];
    let (sign, message) = text.strip_prefix("  ").unwrap_or(text).split_once(' ')?;
    signs.iter().find(|(other, _)| *other == sign).map(|(_, level)| (*level, message))
}

/// Path and line of `   ,-[src/a.js:4:27]`.
fn place(text: &str) -> Option<(&str, Option<u64>)> {
    let told = text.trim_start();
    let place = told.strip_prefix(",-[").or_else(|| told.strip_prefix("╭─["))?.strip_suffix(']')?;
    let mut parts = place.rsplitn(3, ':');
    let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
    Some((path, line.parse().ok()))
}

/// Errors and warnings of `Found 7 warnings and 1 error.`
fn summary(text: &str) -> Option<(u64, u64)> {
    let (warnings, errors) = text.strip_prefix("Found ")?.strip_suffix('.')?.split_once(" and ")?;
    Some((counted(errors, "error")?, counted(warnings, "warning")?))
}

/// Errors and warnings of `Found 6 errors and 3 warnings in 4 files (382ms, 2 threads)`, and of `pass: Found no warnings or lint
/// errors in 2 files (291ms, 2 threads)`, which with `--quiet` is said without the warnings.
fn summary_of_vp(text: &str) -> Option<(u64, u64)> {
    let (told, files) = text.strip_suffix(" threads)").or_else(|| text.strip_suffix(" thread)"))?.split_once(" in ")?;
    counted(files.split_once(" (")?.0, "file")?;
    if let Some(nothing) = told.strip_prefix("pass: Found no ") {
        return nothing.ends_with(" errors").then_some((0, 0));
    }
    let (errors, warnings) = told.strip_prefix("Found ")?.split_once(" and ")?;
    Some((counted(errors, "error")?, counted(warnings, "warning")?))
}

/// `Finished in 26ms on 3 files with 96 rules using 2 threads.`
fn finished(text: &str) -> bool {
    text.starts_with("Finished in ") && text.contains(" on ") && text.contains(" rules using ")
}

/// Whether swc ends there: with `Failed to compile 2 files with swc.`, as it is or of an error that was not caught, or with
/// `Successfully compiled: 3 files with swc (39.31ms)`, which stands before the other one if files failed.
fn is_end_of_swc(text: &str, has_rows: bool) -> bool {
    let failed = text.strip_prefix("Error: ").unwrap_or(text).strip_prefix("Failed to compile ");
    let has_failed = failed.and_then(|rest| counted(rest.strip_suffix(" with swc.")?, "file")).is_some();
    has_failed
        || !has_rows && text.starts_with("Successfully ") && text.contains(" with swc (") && text.ends_with("ms)")
}

/// So many diagnostics wait for the summary that tells whose they are; nobody compiles on with more.
const MANY_ROWS: usize = 1000;

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    /// Level and message of a diagnostic whose place may follow.
    open: Option<(Level, String)>,
    /// Diagnostics since the last summary, and those of them that wait for it: it tells whose they are.
    open_rows: u64,
    rows: Vec<Finding>,
    /// Errors and warnings that summaries tell; what swc found is only counted.
    declared: Option<(u64, u64)>,
}

impl Reader {
    /// The place of the diagnostic above. Other tools have lines like its first one, but no place below it.
    fn close(&mut self, (path, line): (&str, Option<u64>)) -> Result<()> {
        let Some((level, message)) = self.open.take() else { return Ok(()) };
        let split = message.split_once(": ").filter(|(rule, _)| rule.ends_with(')') && !rule.contains(' '));
        let (rule, message) = split.map_or((None, message.as_str()), |(rule, message)| (Some(rule), message));
        self.rows.push(finding(teller(rule), level, (Some(path), line), rule, message));
        self.open_rows += 1;
        // So many are oxlint's.
        if self.rows.len() < MANY_ROWS { Ok(()) } else { self.count() }
    }

    /// Counts the diagnostics that wait.
    fn count(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        rows.into_iter().try_for_each(|row| {
            let sort = sort_of(&row.tool);
            self.tally.finding(row, sort)
        })
    }

    /// A summary: of what came before it, it told so many.
    fn end(&mut self, errors: u64, warnings: u64) -> Result<()> {
        let (before, below) = self.declared.unwrap_or_default();
        self.declared = Some((add(before, errors)?, add(below, warnings)?));
        self.open_rows = 0;
        Ok(())
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if has_checked_types(text) {
            self.tally.tool(TSC, Sort::TypeChecker);
        }
        if let Some((errors, warnings)) = summary(text).or_else(|| summary_of_vp(text)) {
            self.tally.tool(TOOL, Sort::Linter);
            self.count()?;
            self.end(errors, warnings)?;
        } else if is_end_of_swc(text, self.open_rows > 0) {
            self.tally.tool(SWC, Sort::Compiler);
            // It tells files, not errors: there is nothing to compare.
            let told =
                |level| u64::try_from(self.rows.iter().filter(|row| row.level == level).count()).unwrap_or_default();
            let (errors, warnings) = (told(Level::Error), told(Level::Warning));
            self.rows.iter_mut().for_each(|row| SWC.clone_into(&mut row.tool));
            self.count()?;
            self.end(errors, warnings)?;
        } else if let Some((level, message)) = sign(text) {
            self.open = Some((level, message.to_owned()));
        } else if let Some(place) = place(text) {
            self.close(place)?;
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_last =
            summary(text).or_else(|| summary_of_vp(text)).is_some() || is_end_of_swc(text, self.open_rows > 0);
        if is_last { Claim::Last } else { Claim::Other }
    }

    fn is_whole(&self, text: &str) -> bool {
        summary(text).or_else(|| summary_of_vp(text)).is_some() || finished(text) || is_end_of_swc(text, false)
    }

    fn finish(self) -> Result<Option<Parsed>> {
        let Some((errors, warnings)) = self.declared.filter(|_| self.open_rows == 0) else {
            let why = "report ends before the summary of oxlint";
            return match self.open_rows {
                0 => Ok(None),
                _ => Err(Error::report(Reject::Malformed, why).help(CUT_HELP)),
            };
        };
        finish_levels(self.tally, &FORMAT, (TOOL, Sort::Linter), (errors, warnings, None)).map(Some)
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

    const ROWS: &str = "
  x Unexpected token
   ,-[src/my app.js:1:7]
 1 | const = 3;
   `----

  ⚠ eslint(no-debugger): `debugger` statement is not allowed
   ╭─[b.ts:5:1]
  help: Remove it
";

    #[test]
    fn vite_plus_sums_up_itself() {
        let rows = ROWS.trim_start();
        let check = format!(
            "error: Lint or type issues found\n{rows}\nFound 1 error and 1 warning in 3 files (9ms, 2 threads)\n"
        );
        let told = crate::ingest::parse(&Input::bytes("x", check.as_bytes()), None).unwrap();
        assert_eq!((told.format.name, told.figures.errors, told.figures.warnings), (FORMAT.name, Some(1), Some(1)));
        let Details::Lint(details) = told.details else { panic!("lint") };
        assert_eq!(details.findings[0].path.as_deref(), Some("src/my app.js"));
        for nothing in
            ["warnings, lint errors, or type errors", "warnings or lint errors", "lint errors", "type errors"]
        {
            let told = parsed(&format!("pass: Found no {nothing} in 1 file (9ms, 1 thread)\n")).unwrap();
            assert_eq!((told.figures.errors, told.figures.total), (Some(0), Some(0)), "{nothing}");
        }
        let types = check.replace("Unexpected token", "typescript(TS2322): No");
        for (text, type_errors) in
            [(types.as_str(), 1), (&check, 0), ("pass: Found no type errors in 1 file (9ms, 1 thread)\n", 0)]
        {
            let Details::Lint(details) = parsed(text).unwrap().details else { panic!("lint") };
            let tsc = &details.by_tool["tsc"];
            assert_eq!((tsc.errors, tsc.sort), (type_errors, Sort::TypeChecker), "{text}");
        }
        let lints = check.replace("Lint or type", "Lint");
        let Details::Lint(details) = parsed(&lints).unwrap().details else { panic!("lint") };
        assert!(!details.by_tool.contains_key("tsc"));
        assert!(parsed(&check.replace(", 2 threads)\n", "")).is_err(), "cut");
        for other in [
            "pass: Found no errors",
            "Found 1 error and 1 warning in 3 rows (9ms, 2 threads)",
            "Found 1 error and 1 warning in 3 files",
        ] {
            assert_eq!(summary_of_vp(other), None, "{other}");
        }
    }

    #[test]
    fn diagnostics_have_place_and_rule_wherever_the_summary_stands() {
        let (found, finished) =
            ("Found 1 warning and 1 error.\n", "Finished in 2ms on 2 files with 97 rules using 2 threads.\n");
        for end in [format!("{found}{finished}"), format!("{finished}{found}")] {
            let text = format!("{ROWS}\n{end}");
            assert!(matches!(sniff(&Head::read(&Input::bytes("x", text.as_bytes())).unwrap()), Sniff::Sure(_)));
            let parsed = parsed(&text).unwrap();
            assert_eq!((parsed.figures.errors, parsed.figures.warnings, parsed.warnings.len()), (Some(1), Some(1), 0));
            let Details::Lint(details) = parsed.details else { panic!("lint") };
            let told: Vec<_> = details
                .findings
                .iter()
                .map(|found| (found.path.as_deref(), found.line, found.rule.as_deref(), found.message.as_str()))
                .collect();
            let expected = [
                (Some("src/my app.js"), Some(1), None, "Unexpected token"),
                (Some("b.ts"), Some(5), Some("eslint(no-debugger)"), "`debugger` statement is not allowed"),
            ];
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn what_swc_cannot_parse_is_swc_s_beside_what_oxlint_found() {
        let oxlint = format!("{ROWS}\nFound 1 warning and 1 error.\n");
        let error = "  x Expression expected\n   ,-[src/b.js:2:1]\n 2 | let y = ;\n   `----\n";
        for end in ["Failed to compile 1 file with swc.", "Error: Failed to compile 2 files with swc."] {
            let parsed =
                parsed(&format!("{oxlint}{error}Successfully compiled: 1 file with swc (225.22ms)\n{end}\n")).unwrap();
            assert_eq!((parsed.figures.errors, parsed.figures.warnings, parsed.warnings.len()), (Some(2), Some(1), 0));
            let Details::Lint(details) = parsed.details else { panic!("lint") };
            let told = details.by_tool.iter().map(|(tool, counts)| (tool.as_str(), counts.errors));
            assert_eq!(told.collect::<Vec<_>>(), [("oxlint", 1), ("swc", 1)]);
        }
        let good = parsed("Successfully compiled: 12 files, copied 1 file with swc (39ms)\n").unwrap();
        assert_eq!(good.figures.total, Some(0));
    }

    #[test]
    fn a_clean_run_is_zero_and_a_cut_one_is_none() {
        let biome = format!("  × no place below it\n{ROWS}Found 1 warning and 1 error.\n");
        assert_eq!(parsed(&biome).unwrap().warnings, [""; 0]);
        assert_eq!(parsed("Found 0 warnings and 0 errors.\n").unwrap().figures.total, Some(0));
        assert_eq!(parsed(ROWS).unwrap_err().reject(), Some(Reject::Malformed));
        let alone = parsed("Found 3 warnings and 0 errors.\n").unwrap();
        assert_eq!((alone.figures.warnings, alone.warnings.len()), (Some(3), 1));
    }
}
