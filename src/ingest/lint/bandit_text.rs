//! `bandit-text`: what Bandit prints, its formatters `screen` and `txt`. <https://bandit.readthedocs.io/en/latest/formatters/>

use super::LintTally;
use super::bandit_json::unread;
use super::lines::{Claim, TextReader, finding, is_of_another, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// Bandit's output.
pub const FORMAT: Format = Format {
    name: "bandit-text",
    kind: ReportKind::Lint,
    about: "terminal output of Bandit",
    written_by: "bandit (formats screen and txt)",
    told_by: "\">> Issue: [B101:assert_used] …\", or \"Test results:\" above \"No issues identified.\"",
    has_end: true,
    counting: "Issues by severity: High is an error, Medium a warning, Low and Undefined notes. Where the first issues \
               were cut away, those that the metrics at its end count. Without the files skipped at its end the report \
               is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "Bandit"),
};

/// What is printed where nothing was found.
const CLEAN: &str = "\tNo issues identified.";
/// The heading above all issues, and that above their numbers.
const RESULTS: &str = "Test results:";
const METRICS: &str = "\tTotal issues (by severity):";

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| issue(line).is_some() || [CLEAN, METRICS].contains(&line.trim_end());
    match head.lines().any(is_ours) && !is_of_another(head) {
        true => Sniff::Sure("issues as Bandit prints them".into()),
        false => Sniff::No,
    }
}

/// Rule and message of `>> Issue: [B101:assert_used] Use of assert detected.`
fn issue(text: &str) -> Option<(&str, &str)> {
    let (rule, message) = text.strip_prefix(">> Issue: [")?.split_once("] ")?;
    Some((rule.split_once(':').map_or(rule, |(code, _)| code), message))
}

/// `   Severity: Low   Confidence: High`.
fn severity(text: &str) -> Option<Level> {
    let (severity, _) = text.trim_start().strip_prefix("Severity: ")?.split_once(' ')?;
    Some(level(severity))
}

fn level(severity: &str) -> Level {
    match severity {
        "High" | "HIGH" => Level::Error,
        "Medium" | "MEDIUM" => Level::Warning,
        _ => Level::Note,
    }
}

/// Level and number of `\t\tMedium: 2` in the metrics.
fn metric(text: &str) -> Option<(Level, u64)> {
    let (severity, number) = text.strip_prefix("\t\t")?.split_once(": ")?;
    // `2.0` of older versions.
    Some((level(severity), number.split('.').next()?.parse().ok()?))
}

/// The number of `Files skipped (1):`, above the files and what is wrong with them.
fn skipped(text: &str) -> Option<u64> {
    text.strip_prefix("Files skipped (")?.strip_suffix("):")?.parse().ok()
}

/// An issue whose place is not told yet.
struct Open {
    rule: String,
    message: String,
    level: Option<Level>,
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    open: Option<Open>,
    is_met: bool,
    is_over: bool,
    /// All issues are there: none was cut away above the first.
    has_heading: bool,
    /// Issues of each level, as the metrics count them: they leave no level out that was not asked for.
    metrics: Option<[u64; 3]>,
    in_metrics: bool,
    /// Errors, warnings and notes of the runs before.
    before: [u64; 3],
    /// Files that could not be read.
    skipped: u64,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        self.has_heading |= text == RESULTS;
        if let Some((level, number)) = metric(text).filter(|_| self.in_metrics)
            && let Some([errors, warnings, notes]) = &mut self.metrics
        {
            let slot = match level {
                Level::Error => errors,
                Level::Warning => warnings,
                Level::Note => notes,
            };
            *slot = add(*slot, number)?;
            return Ok(());
        }
        self.in_metrics = text == METRICS && !self.has_heading;
        if self.in_metrics {
            self.metrics = Some(self.before);
            self.tally.tool("bandit", Sort::Linter);
            (self.is_met, self.is_over) = (true, false);
        }
        if let Some((rule, message)) = issue(text) {
            self.open = Some(Open { rule: rule.to_owned(), message: message.to_owned(), level: None });
            (self.is_met, self.is_over) = (true, false);
        } else if let (Some(open), Some(level)) = (&mut self.open, severity(text)) {
            open.level = Some(level);
        } else if let Some(place) = text.strip_prefix("   Location: ")
            && let Some(Open { rule, message, level: Some(level) }) = self.open.take()
        {
            let mut parts = place.splitn(3, ':');
            let (path, line) = (parts.next(), parts.next().and_then(|line| line.parse().ok()));
            let finding = finding("bandit", level, (path, line), Some(&rule), &message);
            self.tally.finding(finding, Sort::Linter)?;
        } else if text == CLEAN {
            self.tally.tool("bandit", Sort::Linter);
            (self.is_met, self.is_over) = (true, false);
        }
        if let Some(skipped) = skipped(text).filter(|_| self.is_met) {
            (self.is_over, self.has_heading) = (true, false);
            if let Some(metrics) = self.metrics.take() {
                self.tally.complete(("bandit", Sort::Linter), metrics)?;
            }
            self.before = self.tally.sums()?;
            self.skipped = self.skipped.saturating_add(skipped);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        match skipped(text).is_some() && self.is_met {
            true => Claim::Last,
            false if issue(text).is_some() || text == CLEAN || text == METRICS => Claim::Ours,
            false => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        skipped(text).is_some()
    }

    fn finish(self) -> Result<Option<Parsed>> {
        if self.is_met && !(self.is_over && self.open.is_none()) {
            return Err(
                Error::report(Reject::Malformed, "report ends before the files that Bandit skipped").help(CUT_HELP)
            );
        }
        if !self.is_met {
            return Ok(None);
        }
        let mut parsed = self.tally.finish(&FORMAT)?;
        parsed.warnings.extend(unread(self.skipped));
        Ok(Some(parsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::lint::tests_support::first_finding;

    fn one(severity: &str) -> String {
        format!(
            ">> Issue: [B307:blacklist] Use of eval.\n   Severity: {severity}   Confidence: High\n   CWE: CWE-78 (https://x)\n   \
             Location: ./a.py:25:12\n24\ttry:\n\n--------\n"
        )
    }

    const END: &str = "\nCode scanned:\n\tTotal lines of code: 3\n\nRun metrics:\n\tTotal issues (by severity):\n\t\tLow: 5\nFiles skipped (0):\n";

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn issues_have_severity_rule_and_place() {
        let issues = ["High", "Medium", "Low", "Undefined"].map(one).join("");
        let parsed = parsed(&format!("Test results:\n{issues}{END}")).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(2)]);
        assert_eq!(first_finding(&parsed), (Some("./a.py"), Some(25), Some("B307"), "Use of eval."));
    }

    #[test]
    fn a_clean_run_is_zero_and_a_cut_one_refused() {
        assert_eq!(parsed(&format!("Test results:\n{CLEAN}\n{END}")).unwrap().figures.total, Some(0));
        for cut in [one("Low"), format!("{CLEAN}\n"), format!("{}{}", one("Low"), END.trim_end_matches("):\n"))] {
            assert_eq!(parsed(&cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        let unread = parsed(&format!("{RESULTS}\n{CLEAN}\n{}", END.replace("(0):", "(2):"))).unwrap();
        assert_eq!(unread.warnings, ["Bandit could not read 2 files"]);
    }

    #[test]
    fn the_metrics_count_what_was_cut_away_above_them() {
        let metrics = "Run metrics:\n\tTotal issues (by severity):\n\t\tUndefined: 0\n\t\tLow: 4\n\t\tMedium: 2\n\t\tHigh: 1\n\
                       \tTotal issues (by confidence):\n\t\tUndefined: 0\n\t\tLow: 0\n\t\tMedium: 1\n\t\tHigh: 6\nFiles skipped (0):\n";
        let levels = |text: &str| {
            let parsed = parsed(text).unwrap();
            let figures = &parsed.figures;
            (figures.errors.unwrap(), figures.warnings.unwrap(), figures.notes.unwrap(), parsed.warnings.len())
        };
        assert_eq!(levels(metrics), (1, 2, 4, 1));
        assert_eq!(levels(&metrics.replace(": 1", ": 1.0").replace(": 2", ": 2.0")), (1, 2, 4, 1));
        assert_eq!(levels(&format!("{}{metrics}", one("Low"))), (1, 2, 4, 1));
        // All that was asked for is there.
        let whole = format!("{RESULTS}\n{}{metrics}", one("High"));
        assert_eq!(levels(&whole), (1, 0, 0, 0));
        assert_eq!(levels(&format!("{whole}{metrics}")), (2, 2, 4, 1));
        assert_eq!(levels(&format!("{metrics}{RESULTS}\n{CLEAN}\n{metrics}")), (1, 2, 4, 1));
        assert_eq!(parsed(metrics.trim_end_matches("(0):\n")).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parsed("Files skipped (0):\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
