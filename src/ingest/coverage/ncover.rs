//! `ncover`: the XML of NCover 1, which AltCover writes too (`--reportFormat NCover`), and of NCover 3. Written after their
//! published layout and AltCover's documentation: no .NET was at hand.

use std::collections::BTreeMap;

use super::elements::{Elements, read};
use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::whole_or_below;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// NCover's XML.
pub const FORMAT: Format = Format {
    name: "ncover",
    kind: ReportKind::Coverage,
    about: "NCover XML: sequence points of each method",
    written_by: "NCover, AltCover --reportFormat NCover",
    told_by: "root element coverage with module in it",
    has_end: true,
    counting: "As opencover: each sequence point is a statement, each branch a branch, covered if it was visited. What \
               is excluded does not count.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.rooted(&["coverage"]) {
        Some(xml) if xml.has_child("module") => Sniff::Sure("root element coverage with module".into()),
        _ => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    read::<Reader>(input, "coverage", "an NCover report")
}

#[derive(Default)]
struct Reader {
    totals: Totals,
    has_modules: bool,
}

impl Elements for Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        match element.name() {
            "module" => self.has_modules = true,
            "seqpnt" => point(element, &mut self.totals.statements)?,
            "branch" => point(element, &mut self.totals.branches)?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        if !self.has_modules {
            return Err(Error::report(Reject::NotThisFormat, "not an NCover report: it has no module"));
        }
        self.totals.finish(&FORMAT, BTreeMap::new())
    }
}

/// NCover 3 is short: `vc` for the visits, `ex` for what is excluded.
fn point(element: &Element<'_>, part: &mut Part) -> Result<()> {
    let [visits, vc, excluded, ex] = element.attributes(["visitcount", "vc", "excluded", "ex"])?;
    if excluded.or(ex).is_some_and(|excluded| excluded == "true") {
        return Ok(());
    }
    let visits = visits.or(vc).unwrap_or_default();
    let bad =
        || Error::report(Reject::Malformed, format!("visitcount {:?} is no whole number", printable(&visits, 40)));
    part.count(whole_or_below(&visits).ok_or_else(bad)? > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(points: &str) -> Result<Vec<u64>> {
        let text = format!(
            "<coverage profilerVersion='1.5.8'>\n<module name='shop.dll'><method name='Add'>{points}</method></module></coverage>"
        );
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?;
        assert_eq!(parsed.format, &FORMAT);
        Ok(parsed.figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    #[test]
    fn points_that_were_visited_are_covered() {
        let first = "<seqpnt visitcount='2' line='9' excluded='false'/><seqpnt visitcount='0' line='10' excluded='false'/>\
                     <seqpnt visitcount='0' line='11' excluded='true'/><branch visitcount='1' line='9' path='0'/>";
        assert_eq!(counts(first).unwrap(), [1, 1, 1, 2], "branches, statements");
        assert_eq!(counts("<seqpnt vc='1' l='9' ex='false'/><seqpnt vc='0' l='9' ex='true'/>").unwrap(), [1, 1]);
    }

    #[test]
    fn what_tells_no_visits_is_refused() {
        for points in ["<seqpnt line='9'/>", "<seqpnt visitcount='x'/>"] {
            assert_eq!(counts(points).unwrap_err().reject(), Some(Reject::Malformed), "{points}");
        }
        let none = parse(&Input::bytes("x", b"<coverage/>")).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NotThisFormat));
    }
}
