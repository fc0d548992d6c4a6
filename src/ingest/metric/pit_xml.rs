//! `pit-xml`: PIT's `mutations.xml`. Written after the source of its XML listener and of `DetectionStatus`, version 1; no PIT was
//! at hand.

use super::Mutants;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::{Element, Event, Xml};
use crate::ingest::{Format, Parsed};
use crate::model::figures::ReportKind;

/// XML of PIT.
pub const FORMAT: Format = Format {
    name: "pit-xml",
    kind: ReportKind::Metric,
    about: "PIT's list of mutants (mutations.xml)",
    written_by: "PIT with the output format XML",
    told_by: "root element mutations",
    has_end: true,
    counting: "mutation.score (%): KILLED, TIMED_OUT, MEMORY_ERROR, RUN_ERROR and NON_VIABLE, which PIT calls \
               detected, of these, SURVIVED and NO_COVERAGE; mutation.survived: the latter two. With NOT_STARTED or \
               STARTED the run did not come to its end.",
    sniff: |head| head.by_root(&["mutations"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut xml = Xml::new(input)?;
    let (mut mutants, mut depth) = (Mutants::default(), 0_usize);
    loop {
        match xml.next()? {
            Event::Start(element) => {
                depth += 1;
                let spot = element.spot();
                take(&mut mutants, depth, &element).map_err(|error| error.line_column(spot.line, spot.column))?;
            }
            Event::End => depth = depth.saturating_sub(1),
            Event::Text(..) => {}
            Event::Done => return mutants.finish(&FORMAT),
        }
    }
}

fn take(mutants: &mut Mutants, depth: usize, element: &Element<'_>) -> Result<()> {
    match (depth, element.name()) {
        (1, "mutations") => return Ok(()),
        (1, name) => {
            let why = format!("not a report of PIT: its root element is {:?}", printable(name, 40));
            return Err(Error::report(Reject::NotThisFormat, why));
        }
        (2, "mutation") => {}
        _ => return Ok(()),
    }
    let status = element.attribute("status")?.unwrap_or_default();
    match status.as_str() {
        "KILLED" | "TIMED_OUT" | "MEMORY_ERROR" | "RUN_ERROR" | "NON_VIABLE" => mutants.detected += 1,
        "SURVIVED" | "NO_COVERAGE" => mutants.undetected += 1,
        "NOT_STARTED" | "STARTED" => {
            return Err(Error::report(Reject::NoResult, "the run did not end: a mutant was not decided"));
        }
        other => {
            let why = format!("a mutant has the unknown status {:?}", printable(other, 40));
            return Err(Error::report(Reject::Malformed, why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(statuses: &[&str]) -> Result<Parsed> {
        let mutant = |status: &&str| {
            format!(
                "<mutation detected='true' status='{status}' numberOfTestsRun='1'><sourceFile>A.java</sourceFile><mutation status='x'/></mutation>"
            )
        };
        let all: String = statuses.iter().map(mutant).collect();
        crate::ingest::parse(
            &Input::bytes("x", format!("<mutations partial=\"true\">{all}</mutations>").as_bytes()),
            None,
        )
    }

    #[test]
    fn what_pit_calls_detected_is() {
        let all =
            ["KILLED", "TIMED_OUT", "MEMORY_ERROR", "RUN_ERROR", "NON_VIABLE", "KILLED", "SURVIVED", "NO_COVERAGE"];
        let figures = read(&all).unwrap().figures;
        assert_eq!(figures.metrics["mutation.score"].value, Some(75.0));
        assert_eq!(figures.metrics["mutation.survived"].value, Some(2.0));
        assert_eq!(read(&["KILLED", "STARTED"]).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(read(&["VANISHED"]).unwrap_err().reject(), Some(Reject::Malformed));
        let other = parse(&Input::bytes("x", b"<report/>")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
