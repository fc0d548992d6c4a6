//! `zizmor-text`: what zizmor prints. <https://docs.zizmor.sh/usage/#output-formats>
//!
//! Headings with a place and a piece of the workflow below them, and always a last line: how many there are of each severity,
//! or that there are none.

use super::LintTally;
use super::annotated::{Open, heading, place_below};
use super::lines::{Claim, TextReader, finish_levels, is_claimed, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::values::leading_in;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// zizmor's output.
pub const FORMAT: Format = Format {
    name: "zizmor-text",
    kind: ReportKind::Lint,
    about: "terminal output of zizmor",
    written_by: "zizmor",
    told_by: "\"2 findings: 0 informational, 0 low, 1 medium, 1 high\", or \"No findings to report. Good job!\"",
    has_end: true,
    counting: "Findings by severity: high is an error, medium a warning, low and informational are notes. The numbers \
               in the last line are compared, and count what was cut away above it; without it the report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "zizmor"),
};

/// Workflows, actions and Dependabot's configuration.
const YAML: [&str; 2] = [".yml", ".yaml"];

fn sniff(head: &Head<'_>) -> Sniff {
    if is_claimed::<Reader>(head) {
        Sniff::Sure("findings or a last line as zizmor prints them".into())
    } else {
        Sniff::No
    }
}

/// High, medium, and what is below, of `8 findings (3 suppressed): 0 informational, 0 low, 2 medium, 3 high`. Older versions
/// counted unknown ones first.
fn summary(text: &str) -> Option<[u64; 3]> {
    if text == NONE_FOUND
        || text.strip_prefix(NONE_FOUND).is_some_and(|rest| rest.starts_with(" (") && rest.ends_with(')'))
    {
        return Some([0; 3]);
    }
    let (_, rest) = leading_in(text)?;
    let rest = rest.strip_prefix(" finding")?;
    let (_, counts) = rest.split_once(": ")?;
    let (mut high, mut medium, mut below) = (None, None, 0_u64);
    for part in counts.split(", ") {
        let (number, severity) = part.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match severity {
            "high" => high = Some(number),
            "medium" => medium = Some(number),
            "low" | "informational" | "unknown" => below = below.checked_add(number)?,
            _ => return None,
        }
    }
    Some([high?, medium?, below])
}

/// What zizmor says when it finds nothing.
const NONE_FOUND: &str = "No findings to report. Good job!";

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    open: Option<Open>,
    /// Findings since the last summary.
    listed: u64,
    said: Option<[u64; 3]>,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some((path, line)) = place_below(text) {
            let Some(open) = self.open.take() else { return Ok(()) };
            self.listed += 1;
            return self.tally.finding(open.finding("zizmor", (Some(path), line)), Sort::Linter);
        }
        self.open = heading(text).map(|heading| Open::new(&heading));
        if let Some(counts) = summary(text) {
            let mut sums = self.said.unwrap_or_default();
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum = add(*sum, count)?;
            }
            (self.said, self.listed) = (Some(sums), 0);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_workflow = |(path, _): (&str, _)| YAML.iter().any(|end| path.ends_with(end));
        if summary(text).is_some() {
            Claim::Last
        } else if self.open.is_some() && place_below(text).is_some_and(is_workflow) {
            Claim::Ours
        } else {
            Claim::Other
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        summary(text).is_some() && (text == NONE_FOUND || text.ends_with([')', 'h']))
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        if self.listed > 0 {
            return Err(Error::report(Reject::Malformed, "report ends before zizmor's last line").help(CUT_HELP));
        }
        let Some(said) = self.said else { return Ok(None) };
        self.tally.tool("zizmor", Sort::Linter);
        let [errors, warnings, notes] = said;
        finish_levels(self.tally, &FORMAT, ("zizmor", Sort::Linter), (errors, warnings, Some(notes))).map(Some)
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

    const FINDINGS: &str = "warning[artipacked]: credential persistence\n --> a.yml:7:5\n  |\n7 | - uses: x\n  |\n\n\
                            help[concurrency-limits]: insufficient limits\n  --> b.yml:8:5\n\n";

    #[test]
    fn findings_have_rule_place_and_level() {
        let one = parsed(&format!("{FINDINGS}3 findings (1 suppressed): 0 informational, 1 low, 1 medium, 0 high\n"))
            .unwrap();
        assert!(one.declared.is_none());
        let Details::Lint(details) = one.details else { panic!("lint") };
        let told: Vec<_> =
            details.findings.iter().map(|f| (f.rule.as_deref(), f.path.as_deref(), f.line, f.level)).collect();
        let expected = [
            (Some("artipacked"), Some("a.yml"), Some(7), crate::ingest::Level::Warning),
            (Some("concurrency-limits"), Some("b.yml"), Some(8), crate::ingest::Level::Note),
        ];
        assert_eq!(told, expected);
        let older = format!("{FINDINGS}2 findings: 1 unknown, 0 informational, 0 low, 1 medium, 0 high");
        assert!(parsed(&older).unwrap().declared.is_none());
        let other = format!("{FINDINGS}2 findings: 0 informational, 0 low, 1 medium, 1 high\n");
        assert_eq!(parsed(&other).unwrap().declared.unwrap().errors, Some(1));
    }

    #[test]
    fn without_its_last_line_it_is_cut() {
        for end in
            ["", "1 finding: 0 informational, 1 low, 1 medium", "1 finding: 0 informational, 1 low, 1 medium, 0 hig"]
        {
            assert_eq!(parsed(&format!("{FINDINGS}{end}")).unwrap_err().reject(), Some(Reject::Malformed), "{end}");
        }
        for text in [NONE_FOUND, "No findings to report. Good job! (1 ignored, 3 suppressed)\n"] {
            assert_eq!(parsed(text).unwrap().figures.total, Some(0), "{text}");
        }
        let alone = "1 finding: 0 informational, 0 low, 0 medium, 1 high\n";
        assert_eq!((parsed(alone).unwrap().figures.errors, parsed(alone).unwrap().warnings.len()), (Some(1), 1));
        assert_eq!(parsed("3 findings: all of them\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
