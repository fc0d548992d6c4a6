//! `cpd-xml`: what PMD's copy-paste detector writes as XML; jscpd and phpcpd write it too. Defined by PMD's documentation of CPD.

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::whole;
use crate::ingest::xml::{Element, Event, Xml};
use crate::ingest::{Format, Parsed, add};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;
use crate::model::units::Quantity;

/// XML of CPD.
pub const FORMAT: Format = Format {
    name: "cpd-xml",
    kind: ReportKind::Metric,
    about: "CPD XML: duplicated lines",
    written_by: "pmd cpd --format xml, maven-pmd-plugin (cpd.xml), jscpd --reporters xml, phpcpd --log-pmd",
    told_by: "root element pmd-cpd",
    has_end: true,
    counting: "duplication.clones and duplication.lines, both lower: each duplication, and its lines, which are counted once and \
               not in every copy.",
    sniff: |head| head.by_root(&["pmd-cpd"]),
    parse,
};

/// Clones and their lines.
#[derive(Default)]
struct Clones {
    clones: u64,
    lines: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut xml = Xml::new(input)?;
    let (mut clones, mut depth) = (Clones::default(), 0_usize);
    loop {
        match xml.next()? {
            Event::Start(element) => {
                depth += 1;
                let spot = element.spot();
                clones.take(depth, &element).map_err(|error| error.line_column(spot.line, spot.column))?;
            }
            Event::End => depth = depth.saturating_sub(1),
            Event::Text(..) => {}
            Event::Done => break,
        }
    }
    let mut metrics = Metrics::default();
    for (what, count) in [("clones", clones.clones), ("lines", clones.lines)] {
        let value = Quantity::from(count).as_f64();
        metrics.add(&format!("duplication.{what}"), Some(value), Some(what), Some(Direction::Lower));
    }
    metrics.finish(&FORMAT)
}

impl Clones {
    fn take(&mut self, depth: usize, element: &Element<'_>) -> Result<()> {
        match (depth, element.name()) {
            (1, "pmd-cpd") => return Ok(()),
            (1, name) => {
                let why = format!("not a report of CPD: its root element is {:?}", printable(name, 40));
                return Err(Error::report(Reject::NotThisFormat, why));
            }
            (2, "duplication") => {}
            _ => return Ok(()),
        }
        let lines = element.attribute("lines")?.as_deref().and_then(whole);
        let none = || Error::report(Reject::Malformed, "lines of a duplication is no whole number");
        self.clones = add(self.clones, 1)?;
        self.lines = add(self.lines, lines.ok_or_else(none)?)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duplication_counts_once() {
        let read = |inside: &str| {
            crate::ingest::parse(&Input::bytes("x", format!("<pmd-cpd>{inside}</pmd-cpd>").as_bytes()), None)
        };
        let inside = "<file path='a.c' totalNumberOfTokens='9'/><duplication lines='12' tokens='90'><file path='a.c' line='2'/><file path='b.c' line='2'/>\
            <codefragment>x</codefragment></duplication><duplication lines='3' tokens='9'/>";
        let metrics = read(inside).unwrap().figures.metrics;
        assert_eq!((metrics["duplication.clones"].value, metrics["duplication.lines"].value), (Some(2.0), Some(15.0)));
        assert_eq!(read("").unwrap().figures.metrics["duplication.clones"].value, Some(0.0));
        assert_eq!(read("<duplication/>").unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parse(&Input::bytes("x", b"<pmd/>")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
