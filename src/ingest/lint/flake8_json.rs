//! `flake8-json`: the plugin flake8-json, flake8's formatter `json`. <https://pypi.org/project/flake8-json/>
//!
//! An object whose keys are files, also those in which nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Told, foreign, members_of_all};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// flake8's JSON.
pub const FORMAT: Format = Format {
    name: "flake8-json",
    kind: ReportKind::Lint,
    about: "flake8's findings, by file",
    written_by: "flake8 --format=json (plugin flake8-json)",
    told_by: "a JSON object of files, whose lists have code, line_number and physical_line",
    has_end: true,
    counting: "As flake8-text: codes with E and F are errors, all others warnings.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has = |name: &str| head.keys().iter().any(|key| key.split('.').next_back() == Some(name));
    if has("code") && has("line_number") && has("physical_line") {
        return Sniff::Sure("keys code, line_number and physical_line, as flake8-json writes them".into());
    }
    Sniff::No
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Violation {
    code: Option<String>,
    filename: Loose,
    line_number: Loose,
    text: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("flake8", Sort::Linter);
    members_of_all(input, |_, violations: OfAFile<Violation>| {
        violations.into_iter().try_for_each(|violation| {
            let Violation { code, filename: path, line_number: line, text: message } = violation;
            let code = code.ok_or_else(|| foreign("not a report of flake8: a finding has no code"))?;
            let level = if code.starts_with(['E', 'F']) { Level::Error } else { Level::Warning };
            findings.add(level, Told { rule: Loose::Text(code), path, line, message })
        })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn findings_count_by_the_letter_of_their_code() {
        let one = |code: &str| {
            format!(
                "{{\"code\":\"{code}\",\"filename\":\"a.py\",\"line_number\":3,\"column_number\":1,\"text\":\"t\",\"physical_line\":\"x\"}}"
            )
        };
        let all = ["E302", "F401", "W605", "C901"].map(one).join(",");
        let text = format!("{{\"./pkg/__init__.py\":[],\"./a.py\":[{all}]}}");
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(2), Some(2)));
        let other = parse(&Input::bytes("x", b"{\"a\":[{\"x\":1}]}")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
