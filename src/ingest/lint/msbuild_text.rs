//! `msbuild-text`: what MSBuild and the compilers below it print.
//! <https://learn.microsoft.com/en-us/visualstudio/msbuild/msbuild-diagnostic-format-for-tasks>
//!
//! `origin : error CODE: text`, the origin being `path(line,column)`, a project or a tool. The console logger repeats them
//! after `Build FAILED.` and counts them, `3 Error(s)`; the terminal logger prints them once, and counts them in
//! `Build failed with 3 error(s) in 1.2s`; mcs and csc say `Compilation failed: 3 error(s), 1 warnings`, or nothing.

use super::LintTally;
use super::lines::{Claim, TextReader, check_listed, compare_levels, finding, is_of_another, is_path, read};
use super::unix_text;
use crate::error::Result;
use crate::ingest::text::is_number;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// MSBuild's output.
pub const FORMAT: Format = Format {
    name: "msbuild-text",
    kind: ReportKind::Lint,
    about: "terminal output of MSBuild and its compilers",
    written_by: "dotnet build|publish|pack|format, msbuild, xbuild, csc, mcs, vbc, cl",
    told_by: "\"Cart.cs(4,49): error CS0103: …\", and \"3 Error(s)\" or \"Build succeeded in 1.2s\"",
    has_end: false,
    counting: "Lines with \"error\" or \"warning\" and a code, where they are first printed, not where the summary \
               repeats them. The numbers in the summary are only compared.",
    sniff,
    parse: |input| read::<Reader>(input, "MSBuild"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let all = || head.lines_of_both_ends().map(str::trim_end);
    if is_of_another(head) {
        return Sniff::No;
    }
    if all().any(|line| totals(line).is_some()) {
        return Sniff::Sure("a summary as MSBuild prints it".into());
    }
    match all().any(|line| diagnostic(line).is_some()) {
        true => Sniff::Sure("a line with \"error\" or \"warning\" and a code, as MSBuild's tools write it".into()),
        false => Sniff::No,
    }
}

struct Diagnostic<'a> {
    path: Option<&'a str>,
    line: Option<u64>,
    level: Level,
    code: Option<&'a str>,
    message: &'a str,
}

/// `path(line,column): error CS0103: text [project]`, `CSC : warning CS1701: text`, `a.csproj : error NU1101: text`,
/// `a.targets(9,5): warning : text`; a number of the process before it, `2>`, where several build at once.
fn diagnostic(text: &str) -> Option<Diagnostic<'_>> {
    let text = text.trim_start();
    if unix_text::visualstudio(text).is_some() {
        return None;
    }
    let text =
        text.split_once('>').filter(|(process, _)| is_number(process)).map_or(text, |(_, rest)| rest.trim_start());
    for colon in memchr::memchr_iter(b':', text.as_bytes()) {
        let Some(rest) = text.get(colon + 1..)?.strip_prefix(' ') else { continue };
        let (origin, rest) = (text.get(..colon)?.trim_end(), rest.trim_start());
        let words = [("error", Level::Error), ("fatal error", Level::Error), ("warning", Level::Warning)];
        let told = words.iter().find_map(|(word, level)| Some((*level, rest.strip_prefix(word)?.strip_prefix(' ')?)));
        let Some((level, (code, message))) = told.and_then(|(level, rest)| Some((level, rest.split_once(':')?))) else {
            continue;
        };
        let code = Some(code.trim()).filter(|code| !code.is_empty());
        if code.is_some_and(|code| !is_code(code)) {
            continue;
        }
        let (path, line) = place(origin)?;
        return Some(Diagnostic { path, line, level, code, message: without_project(message.trim()) });
    }
    None
}

/// `CS0103`, `MSB3073`, `NETSDK1045`, and the words of `dotnet format --verify-no-changes`; TypeScript's own is not MSBuild's.
fn is_code(text: &str) -> bool {
    if ["WHITESPACE", "FINALNEWLINE", "ENDOFLINE", "CHARSET", "IMPORTS"].contains(&text) {
        return true;
    }
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let mut digits = text.bytes().skip(letters);
    letters > 0 && letters < text.len() && digits.all(|byte| byte.is_ascii_digit()) && !text.starts_with("TS")
}

/// Path and line of `path(4,49)`, `path(4)`; the path alone of a project; neither of a tool's name.
fn place(origin: &str) -> Option<(Option<&str>, Option<u64>)> {
    if let Some((path, place)) = origin.strip_suffix(')').and_then(|origin| origin.rsplit_once('(')) {
        let line = place.split([',', '-']).next()?.parse::<u64>().ok()?;
        return is_path(path).then(|| (Some(path), Some(line).filter(|line| *line > 0)));
    }
    let is_file = origin.contains('.') && is_path(origin);
    let is_tool = !origin.is_empty() && origin.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_file || is_tool).then_some((Some(origin).filter(|_| is_file), None))
}

fn without_project(message: &str) -> &str {
    let split = message.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    split.filter(|(_, project)| project.contains("proj")).map_or(message, |(message, _)| message)
}

/// A count of a summary: errors, warnings, or both.
fn totals(text: &str) -> Option<(u64, u64)> {
    let number = |text: &str, word: &str| text.trim().strip_suffix(word)?.trim_end().parse::<u64>().ok();
    let text = text.trim_start();
    if let Some(counts) = text.strip_prefix("Compilation failed: ") {
        let (errors, warnings) = counts.split_once(", ")?;
        return Some((number(errors, "error(s)")?, number(warnings, "warnings")?));
    }
    if let Some(warnings) = text.strip_prefix("Compilation succeeded - ") {
        return Some((0, number(warnings, "warning(s)")?));
    }
    if let Some(rest) = text.strip_prefix("Build succeeded").or_else(|| text.strip_prefix("Build failed")) {
        let (counts, time) = rest.rsplit_once(" in ").filter(|(_, time)| time.ends_with('s'))?;
        time.trim_end_matches('s').parse::<f64>().ok()?;
        let parts = || counts.strip_prefix(" with ").into_iter().flat_map(|counts| counts.split(" and "));
        let of = |word| parts().find_map(|part| number(part, word)).unwrap_or(0);
        return (counts.is_empty() || parts().next().is_some()).then(|| (of("error(s)"), of("warning(s)")));
    }
    number(text, "Error(s)")
        .map(|errors| (errors, 0))
        .or_else(|| number(text, "Warning(s)").map(|warnings| (0, warnings)))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    declared: Option<(u64, u64)>,
    /// Diagnostics since the last build's end.
    listed: u64,
    /// The summary repeats what was listed before it.
    is_repeating: bool,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(told) = diagnostic(text).filter(|_| !self.is_repeating) {
            self.listed = add(self.listed, 1)?;
            let finding = finding("msbuild", told.level, (told.path, told.line), told.code, told.message);
            self.tally.finding(finding, Sort::Compiler)?;
        } else if let Some((errors, warnings)) = totals(text) {
            let (before, below) = self.declared.unwrap_or_default();
            self.declared = Some((add(before, errors)?, add(below, warnings)?));
        } else {
            self.other(text)?;
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        if diagnostic(text).is_some() || totals(text).is_some() { Claim::Ours } else { Claim::Other }
    }

    fn other(&mut self, text: &str) -> Result<()> {
        if matches!(text, "Build FAILED." | "Build succeeded.") {
            self.is_repeating = self.listed > 0;
        } else if text.starts_with("Time Elapsed ") {
            (self.is_repeating, self.listed) = (false, 0);
        }
        Ok(())
    }

    fn is_whole(&self, text: &str) -> bool {
        text.starts_with("Time Elapsed ") || text.starts_with("Build ") && totals(text).is_some()
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        let declared = self.declared;
        if declared.is_some() {
            self.tally.tool("msbuild", Sort::Compiler);
        } else if self.listed == 0 {
            return Ok(None);
        }
        let mut parsed = self.tally.finish(&FORMAT)?;
        if let Some((errors, warnings)) = declared {
            // Tests that failed are among them: what is not listed may be no finding.
            check_listed("MSBuild", add(errors, warnings)?, parsed.figures.total.unwrap_or(0))?;
            compare_levels((errors, warnings, None), &mut parsed);
        }
        Ok(Some(parsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    fn parsed(text: &str) -> Parsed {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT)).unwrap()
    }

    /// After the manual of MSBuild's loggers: the console logger, and the terminal logger.
    const CLASSIC: &str = "\
  Determining projects to restore...
/s/Shop.csproj : warning NU1701: Package 'Old 1.0.0' was restored using '.NETFramework' [/s/Shop.sln]
2>/s/Cart.cs(4,49,4,56): error CS0103: The name 'missing' does not exist: here [/s/Shop.csproj::TargetFramework=net8.0]
CSC : error CS5001: Program does not contain a static 'Main' method [/s/Shop.csproj]

Build FAILED.

/s/Shop.csproj : warning NU1701: Package 'Old 1.0.0' was restored using '.NETFramework' [/s/Shop.sln]
/s/Cart.cs(4,49,4,56): error CS0103: The name 'missing' does not exist: here [/s/Shop.csproj::TargetFramework=net8.0]
CSC : error CS5001: Program does not contain a static 'Main' method [/s/Shop.csproj]
    1 Warning(s)
    2 Error(s)

Time Elapsed 00:00:01.02
";
    const TERMINAL: &str = "\
Restore complete (0.3s)
  Shop failed with 1 error(s) and 1 warning(s) (0.4s)
    /s/Cart.cs(4,49): error CS0103: The name 'missing' does not exist in the current context
    /s/Cart.cs(9,1): warning CS0219: The variable 'x' is assigned but its value is never used

Build failed with 1 error(s) and 1 warning(s) in 1.2s
";

    #[test]
    fn what_a_summary_repeats_is_counted_once() {
        for (text, errors) in [(CLASSIC, 2), (TERMINAL, 1)] {
            for times in [1, 2] {
                let parsed = parsed(&text.repeat(times));
                let expected = (Some(errors * u64::try_from(times).unwrap()), Some(u64::try_from(times).unwrap()));
                assert_eq!((parsed.figures.errors, parsed.figures.warnings), expected);
                assert_eq!(parsed.warnings, [""; 0], "{text}");
            }
        }
        let Details::Lint(details) = parsed(CLASSIC).details else { panic!("lint") };
        let told: Vec<_> =
            details.findings.iter().map(|f| (f.path.as_deref(), f.line, f.rule.as_deref().unwrap())).collect();
        let expected =
            [(Some("/s/Shop.csproj"), None, "NU1701"), (Some("/s/Cart.cs"), Some(4), "CS0103"), (None, None, "CS5001")];
        assert_eq!(told, expected);
        assert_eq!(details.findings[1].message, "The name 'missing' does not exist: here");
    }

    #[test]
    fn a_clean_build_is_zero() {
        for end in
            ["Build succeeded in 1.2s", "    0 Warning(s)\n    0 Error(s)\n", "Compilation succeeded - 0 warning(s)"]
        {
            assert_eq!(parsed(&format!("{end}\n")).figures.total, Some(0), "{end}");
        }
    }

    #[test]
    fn what_others_write_is_not_taken() {
        for other in [
            "a.ts(2,5): error TS2322: Type 'string' is not assignable",
            "a.py:3:5: error: no  [name-defined]",
            "/p/a.js(2,5): error no-unused-vars : 'x' is never used.",
            "/p/a.js(1,7): error : Parsing error: Unexpected token =",
            "FAILED tests/a.py::b - ValueError: error E1: x",
            "a.c:3: error: expected ';'",
        ] {
            assert!(diagnostic(other).is_none(), "{other}");
        }
        for other in ["Build succeeded.", "3 errors", "Build failed in the end"] {
            assert!(totals(other).is_none(), "{other}");
        }
    }
}
