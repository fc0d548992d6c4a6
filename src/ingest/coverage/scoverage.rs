//! `scoverage`: scoverage's XML report of Scala. Written after its sources, `ScoverageXmlWriter`:
//! <https://github.com/scoverage/scalac-scoverage-plugin>.

use std::collections::BTreeMap;

use super::compare_declared;
use super::elements::{Elements, read};
use super::totals::Totals;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::{whole, whole_or_below};
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::figures::{Figures, ReportKind};

/// scoverage XML.
pub const FORMAT: Format = Format {
    name: "scoverage",
    kind: ReportKind::Coverage,
    about: "scoverage XML: statements of each method, of which some are branches",
    written_by: "scoverage (sbt, Mill, Maven, Gradle)",
    told_by: "root element scoverage",
    has_end: true,
    counting: "Each statement that is not ignored, covered if it was invoked; those that are branches are counted as \
               branches, too. The sums of the root element are only compared.",
    sniff: |head| head.by_root(&["scoverage"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    read::<Reader>(input, "scoverage", "a report of scoverage")
}

#[derive(Default)]
struct Reader {
    totals: Totals,
    is_inside: bool,
    has_packages: bool,
    declared: Figures,
}

impl Elements for Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        if !std::mem::replace(&mut self.is_inside, true) {
            let [covered, total] = element.attributes(["statements-invoked", "statement-count"])?;
            self.declared.statements_covered = covered.as_deref().and_then(whole);
            self.declared.statements_total = total.as_deref().and_then(whole);
        }
        match element.name() {
            "packages" => self.has_packages = true,
            "statement" => self.statement(element)?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        if !self.has_packages {
            return Err(Error::report(Reject::NotThisFormat, "not a report of scoverage: it has no packages"));
        }
        let mut parsed = self.totals.finish(&FORMAT, BTreeMap::new())?;
        compare_declared(&mut parsed, self.declared);
        Ok(parsed)
    }
}

impl Reader {
    fn statement(&mut self, element: &Element<'_>) -> Result<()> {
        let [hits, branch, ignored] = element.attributes(["invocation-count", "branch", "ignored"])?;
        if ignored.as_deref() == Some("true") {
            return Ok(());
        }
        let hits = hits.unwrap_or_default();
        let bad = || Error::report(Reject::Malformed, format!("invocation-count is {:?}", printable(&hits, 40)));
        let is_covered = whole_or_below(&hits).ok_or_else(bad)? > 0;
        if branch.as_deref() == Some("true") {
            self.totals.branches.count(is_covered)?;
        }
        self.totals.statements.count(is_covered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(statements: &str) -> Result<(Vec<u64>, usize)> {
        let text = format!(
            "<scoverage statement-count='2' statements-invoked='1'><packages><package><classes><class><methods><method>\
             <statements>{statements}</statements></method></methods></class></classes></package></packages></scoverage>"
        );
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?;
        let counts = parsed.figures.counts().into_iter().map(|(_, count)| count).collect();
        Ok((counts, parsed.warnings.len()))
    }

    #[test]
    fn statements_count_and_some_are_branches() {
        let one = "<statement line='3' branch='false' invocation-count='2' ignored='false'/>";
        let two = "<statement line='4' branch='true' invocation-count='0'/>";
        let ignored = "<statement line='4' branch='true' invocation-count='1' ignored='true'/>";
        assert_eq!(read_all(&format!("{one}{two}{ignored}")).unwrap(), (vec![0, 1, 1, 2], 0));
        assert_eq!(read_all(one).unwrap(), (vec![1, 1], 1));
        for bad in ["<statement/>", "<statement invocation-count='x'/>"] {
            assert_eq!(read_all(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
