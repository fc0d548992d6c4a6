//! `dotcover-json`: JetBrains dotCover's JSON report. Written after its documentation,
//! <https://www.jetbrains.com/help/dotcover/dotCover__Console_Runner_Commands.html>, and reports in public repositories' logs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::compare_declared;
use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Fault, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, each};
use crate::ingest::{Format, Parsed};
use crate::model::figures::{Figures, ReportKind};

/// dotCover's JSON.
pub const FORMAT: Format = Format {
    name: "dotcover-json",
    kind: ReportKind::Coverage,
    about: "dotCover JSON: sums of statements of each assembly",
    written_by: "dotCover (ReportType JSON)",
    told_by: "a JSON object with CoveredStatements and TotalStatements",
    has_end: true,
    counting: "The sums of the assemblies; those of the whole report only if there are none.",
    sniff: |head| head.by_keys(&["CoveredStatements", "TotalStatements"]),
    parse,
};

/// The whole report.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Root {
    covered_statements: Option<u64>,
    total_statements: Option<u64>,
    children: Option<IgnoredAny>,
}

/// An assembly.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Child {
    covered_statements: u64,
    total_statements: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let root: Root = json::object(input, PhantomData)?;
    let (Some(covered), Some(total)) = (root.covered_statements, root.total_statements) else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of dotCover: it has no sum of statements"));
    };
    let (fault, found) = (Fault::default(), RefCell::new(None::<Part>));
    let add =
        |child: Child| found.borrow_mut().get_or_insert_default().add(child.covered_statements, child.total_statements);
    if root.children.is_some() {
        fault.ours(json::object(input, Key { name: "Children", seed: each(|| take(&fault, add)) }))?;
    }
    let statements = found.into_inner().unwrap_or(Part { covered, total });
    let mut parsed = Totals { statements, ..Totals::default() }.finish(&FORMAT, BTreeMap::new())?;
    let (statements_covered, statements_total) = (Some(covered), Some(total));
    compare_declared(&mut parsed, Figures { statements_covered, statements_total, ..Figures::default() });
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assemblies_add_up_and_another_sum_is_warned_of() {
        let read = |children: &str| {
            let text = format!(
                "{{\"DotCoverVersion\":\"2024.1\",\"Kind\":\"Root\",\"CoveredStatements\":3,\"TotalStatements\":4,\
                 \"CoveragePercent\":75{children}}}"
            );
            let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?;
            let counts = parsed.figures.counts().into_iter().map(|(_, count)| count).collect::<Vec<_>>();
            Ok::<_, Error>((counts, parsed.warnings.len()))
        };
        let child = r#"{"Kind":"Assembly","Name":"Shop","CoveredStatements":1,"TotalStatements":2,"Children":[{"Kind":"Type"}]}"#;
        assert_eq!(read("").unwrap(), (vec![3, 4], 0));
        assert_eq!(read(&format!(",\"Children\":[{child},{child}]")).unwrap(), (vec![2, 4], 1));
        let bad = read(",\"Children\":[{\"CoveredStatements\":1}]").unwrap_err();
        assert_eq!(bad.reject(), Some(Reject::Malformed));
    }
}
