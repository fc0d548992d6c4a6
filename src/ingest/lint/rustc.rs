//! What the two formats of rustc have in common: which tool a finding is of, and which lines are no findings.

use super::LintTally;
use crate::error::Result;
use crate::ingest::text::{first_lines, is_number, printable};
use crate::ingest::{Finding, Format, Level, Parsed, Sort};
use crate::model::figures::RawFindings;
use crate::model::metrics::BuildStatus;

/// Findings of rustc and of clippy, told apart by their rules.
#[derive(Debug, Default)]
pub(super) struct Findings {
    tally: LintTally,
    /// Errors of the compiler.
    pub build_errors: u64,
    /// Errors of both.
    pub errors: u64,
    /// Findings of both.
    pub total: u64,
    /// The code was checked without being compiled, as cargo check and cargo clippy do.
    pub is_check: bool,
}

impl Findings {
    /// Adds one; its tool is set here.
    ///
    /// # Errors
    /// A count is too large.
    pub(super) fn add(&mut self, mut finding: Finding) -> Result<()> {
        let is_clippy = finding.rule.as_deref().is_some_and(|rule| rule.starts_with("clippy::"));
        let (tool, sort) = if is_clippy { ("clippy", Sort::Linter) } else { ("rustc", Sort::Compiler) };
        finding.tool = tool.to_owned();
        finding.message = first_lines(&finding.message).unwrap_or_default();
        finding.path = finding.path.map(|path| printable(&path, 1000));
        finding.rule = finding.rule.map(|rule| printable(&rule, 200));
        let is_error = finding.level == Level::Error;
        self.total = crate::ingest::add(self.total, 1)?;
        self.errors += u64::from(is_error);
        self.build_errors += u64::from(is_error && !is_clippy);
        self.tally.finding(finding, sort)
    }

    /// The build failed: if no error tells why, that is one.
    ///
    /// # Errors
    /// A count is too large.
    pub(super) fn fail(&mut self) -> Result<()> {
        if self.errors > 0 {
            return Ok(());
        }
        let message = "the build failed, and no error in this output tells why".to_owned();
        let level = Level::Error;
        self.add(Finding { tool: String::new(), rule: None, level, path: None, line: None, message })
    }

    /// The report. The compiler is always named: that it found nothing is a measurement. So is clippy, which leaves no
    /// other trace where it finds nothing, if the code was checked and has no error that keeps clippy from looking.
    ///
    /// # Errors
    /// A sum is too large.
    pub(super) fn parsed(
        mut self,
        format: &'static Format,
        build: Option<BuildStatus>,
        raw: Option<RawFindings>,
    ) -> Result<Parsed> {
        self.tally.tool("rustc", Sort::Compiler);
        if self.is_check && self.build_errors == 0 {
            self.tally.tool("clippy", Sort::Linter);
        }
        self.tally.raw = raw;
        Ok(Parsed { build, ..self.tally.finish(format)? })
    }
}

/// Whether the message sums up others instead of being one.
pub(super) fn is_summary(message: &str) -> bool {
    let starts = [
        "aborting due to ",
        "could not compile ",
        "Could not compile ",
        "could not document ",
        "Could not document ",
        "build failed, waiting for other jobs",
        "test failed",
        "doctest failed",
        "bench failed",
        "test run failed",
        "process didn't exit successfully",
    ];
    let numbered = || {
        let Some((number, rest)) = message.split_once(' ') else { return false };
        let ends = ["warning emitted", "warnings emitted", "target failed:", "targets failed:"];
        number.bytes().all(|byte| byte.is_ascii_digit()) && ends.contains(&rest)
    };
    // `kvlog` (lib test) generated 2 warnings (2 duplicates)
    let generated = || {
        let after = message.strip_prefix('`').and_then(|rest| rest.split_once(" generated ")).map(|(_, after)| after);
        let mut words = after.unwrap_or_default().split(' ');
        let number = words.next().is_some_and(is_number);
        number && words.next().is_some_and(|word| matches!(word, "warning" | "warnings" | "error" | "errors"))
    };
    // nextest, below what cargo said: command `/usr/bin/cargo test --no-run …` exited with code 101
    let called = || {
        let command = message.strip_prefix("command `").and_then(|rest| rest.rsplit_once("` exited"));
        command.is_some_and(|(command, _)| command.contains(" --no-run"))
    };
    starts.iter().any(|start| message.starts_with(start)) || numbered() || generated() || called()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sums_up_is_no_finding() {
        for message in [
            "aborting due to 2 previous errors; 1 warning emitted",
            "could not compile `kvlog` (lib) due to 2 previous errors; 1 warning emitted",
            "Could not compile `kvlog`.",
            "could not document `kvlog`",
            "command `/usr/bin/cargo test --no-run --message-format json-render-diagnostics` exited with code 101",
            "build failed, waiting for other jobs to finish...",
            "test failed, to rerun pass `--lib`",
            "2 targets failed:",
            "1 warning emitted",
            "`kvlog` (lib test) generated 2 warnings (2 duplicates)",
        ] {
            assert!(is_summary(message), "{message}");
        }
        for message in [
            "`x` generated text",
            "3 arguments were given",
            "unused variable: `x`",
            "linking with `cc` failed",
            "command `ls` exited",
        ] {
            assert!(!is_summary(message), "{message}");
        }
    }
}
