//! `lizard-xml`: what `lizard --xml` writes, in the manner of cppncss: functions, then files, with values in the order of
//! their labels.

use super::Functions;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::whole;
use crate::ingest::xml::{Element, Event, Xml};
use crate::ingest::{Format, Parsed};
use crate::model::figures::ReportKind;

/// XML of lizard.
pub const FORMAT: Format = Format {
    name: "lizard-xml",
    kind: ReportKind::Size,
    about: "lizard XML: cyclomatic complexity and lines of each function",
    written_by: "lizard --xml",
    told_by: "root element cppncss",
    has_end: true,
    counting: "The items of the measure Function: NCSS is its lines of code, CCN its complexity. Averages and sums are not \
               used.",
    sniff: |head| head.by_root(&["cppncss"]),
    parse,
};

/// Longest value that is kept: a number.
const LONGEST_VALUE: usize = 40;

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut xml = Xml::new(input)?;
    let mut reader = Reader::default();
    // Where the item that is being read began.
    let mut spot = crate::ingest::xml::Spot { line: 1, column: 1 };
    loop {
        match xml.next()? {
            Event::Start(element) => {
                spot = element.spot();
                reader.start(&element).map_err(|error| error.line_column(spot.line, spot.column))?;
            }
            Event::Text(text, _) => reader.text(text),
            Event::End => reader.end().map_err(|error| error.line_column(spot.line, spot.column))?,
            Event::Done => return reader.finish(),
        }
    }
}

/// What an open element is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Root,
    /// The measure of functions.
    Measure,
    Labels,
    /// A label or a value.
    Text,
    Item,
    Other,
}

#[derive(Default)]
struct Reader {
    open: Vec<Kind>,
    /// Text of the label or value that is open.
    text: String,
    labels: Vec<String>,
    values: Vec<String>,
    has_measure: bool,
    functions: Functions,
}

impl Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        let name = element.name();
        let kind = match (self.open.last(), name) {
            (None, "cppncss") => Kind::Root,
            (None, _) => {
                let why = format!("not a report of lizard: its root element is {:?}", printable(name, 40));
                return Err(Error::report(Reject::NotThisFormat, why));
            }
            (Some(Kind::Root), "measure") if element.attribute("type")?.as_deref() == Some("Function") => {
                self.has_measure = true;
                Kind::Measure
            }
            (Some(Kind::Measure), "labels") => Kind::Labels,
            (Some(Kind::Measure), "item") => {
                self.values.clear();
                Kind::Item
            }
            (Some(Kind::Labels), "label") | (Some(Kind::Item), "value") => {
                self.text.clear();
                Kind::Text
            }
            _ => Kind::Other,
        };
        self.open.push(kind);
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if self.open.last() == Some(&Kind::Text) && self.text.len() < LONGEST_VALUE {
            self.text.extend(text.chars().take(LONGEST_VALUE));
        }
    }

    fn end(&mut self) -> Result<()> {
        match (self.open.pop(), self.open.last()) {
            (Some(Kind::Text), Some(Kind::Labels)) => self.labels.push(self.text.trim().to_owned()),
            (Some(Kind::Text), _) => self.values.push(self.text.trim().to_owned()),
            (Some(Kind::Item), _) => self.item()?,
            _ => {}
        }
        Ok(())
    }

    fn item(&mut self) -> Result<()> {
        let value = |label: &str| {
            let at = self.labels.iter().position(|other| other == label);
            let value = at.and_then(|at| self.values.get(at));
            let Some(value) = value else {
                return Err(Error::report(Reject::Malformed, format!("a function has no {label}")));
            };
            let bad = || format!("{label} {:?} is no whole number", printable(value, 40));
            whole(value).ok_or_else(|| Error::report(Reject::Malformed, bad()))
        };
        let (ccn, ncss) = (value("CCN")?, value("NCSS")?);
        self.functions.add(ccn, Some(ncss))
    }

    fn finish(self) -> Result<Parsed> {
        if !self.has_measure {
            return Err(Error::report(Reject::NotThisFormat, "not a report of lizard: it does not measure functions"));
        }
        Ok(self.functions.finish(&FORMAT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inside: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", format!("<cppncss>{inside}</cppncss>").as_bytes()))
    }

    #[test]
    fn values_are_found_by_their_labels() {
        let measure = |kind: &str| {
            format!(
                "<measure type='{kind}'><labels><label>CCN</label><label>NCSS</label></labels><item name='f'><value> 3 </value><value>7</value></item><average label='CCN' value='9'/></measure>"
            )
        };
        let figures = read(&(measure("Function") + &measure("File"))).unwrap().figures;
        assert_eq!((figures.functions, figures.nloc, figures.ccn_total), (Some(1), Some(7), Some(3_u64.into())));
        assert_eq!(read(&measure("File")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn a_function_without_its_numbers_is_malformed() {
        let labels = "<labels><label>Nr.</label><label>NCSS</label><label>CCN</label></labels>";
        for values in ["<value>1</value><value>2</value>", "<value>1</value><value>2</value><value>-</value>", ""] {
            let text = format!("<measure type='Function'>{labels}<item>{values}</item></measure>");
            assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::Malformed), "{values}");
        }
    }
}
