//! What the two formats of rustc have in common: which tool a finding is of, and which lines are no findings.

use std::collections::BTreeMap;

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
    /// Errors and warnings of each target of a package, as cargo counts them below.
    told: BTreeMap<String, [u64; 2]>,
    /// cargo names clippy there.
    is_told_of_clippy: bool,
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

    /// Takes in what cargo says below the findings of a target: `` `kvlog` (lib) generated 2 warnings (1 duplicate) ``,
    /// `` could not compile `kvlog` (lib) due to 2 previous errors; 1 warning emitted ``.
    pub(super) fn sum_up(&mut self, message: &str) {
        let Some(Told { target, errors, warnings }) = told(message) else { return };
        self.is_told_of_clippy |= message.contains("`cargo clippy ");
        if self.told.len() < TARGETS_KEPT || self.told.contains_key(target) {
            // The same target again is built by another command.
            let [most_errors, most_warnings] = self.told.entry(target.to_owned()).or_default();
            (*most_errors, *most_warnings) = ((*most_errors).max(errors), (*most_warnings).max(warnings));
        }
    }

    /// How many errors and warnings there are at least, by that: targets of one package have errors in common.
    fn at_least(&self) -> [u64; 2] {
        let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
        for (target, [of_target, _]) in &self.told {
            let most = errors.entry(target.split(" (").next().unwrap_or_default()).or_default();
            *most = (*most).max(*of_target);
        }
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
        [sum(&mut errors.into_values()), sum(&mut self.told.values().map(|[_, warnings]| *warnings))]
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
        let [errors, warnings] = self.at_least();
        let [errors_listed, warnings_listed, notes] = self.tally.sums()?;
        let of = if self.is_told_of_clippy { ("clippy", Sort::Linter) } else { ("rustc", Sort::Compiler) };
        self.tally.complete(of, [errors.max(errors_listed), warnings.max(warnings_listed), notes])?;
        self.tally.raw = raw;
        Ok(Parsed { build, ..self.tally.finish(format)? })
    }
}

/// Targets whose sums are remembered.
const TARGETS_KEPT: usize = 10_000;

/// What cargo says of one target.
struct Told<'a> {
    /// `` kvlog` (lib) ``.
    target: &'a str,
    errors: u64,
    /// Without those that another target has, too.
    warnings: u64,
}

fn told(message: &str) -> Option<Told<'_>> {
    let number = |text: &str, names: &[&str]| {
        let (number, name) = text.split_once(' ')?;
        number.parse::<u64>().ok().filter(|_| names.contains(&name))
    };
    if let Some(rest) = message.strip_prefix("could not compile `") {
        let (target, counts) = rest.split_once(" due to ")?;
        // Its warnings are told in a line of their own, which says which of them another target has, too.
        let errors = number(counts.split("; ").next()?, &["previous error", "previous errors"])?;
        return Some(Told { target, errors, warnings: 0 });
    }
    let (target, counts) = message.strip_prefix('`')?.split_once(" generated ")?;
    let mut parts = counts.split(" (");
    let warnings = number(parts.next()?, &["warning", "warnings"])?;
    let duplicates = parts.find_map(|part| number(part.strip_suffix(')')?, &["duplicate", "duplicates"])).unwrap_or(0);
    Some(Told { target, errors: 0, warnings: warnings.saturating_sub(duplicates) })
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
