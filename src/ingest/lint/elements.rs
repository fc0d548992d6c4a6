//! What the XML formats of findings have in common: a walk over the elements, and names of severities.

use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::{Element, Event, Spot, Xml, unescaped};
use crate::ingest::{Finding, Level};

/// Longest text of an element that is kept, in bytes.
const LONGEST_TEXT: usize = 4096;

/// Is told of the elements of one report in their order. `open` are the names of the elements around, outermost first.
pub(super) trait Elements {
    /// An element begins inside of `open`.
    ///
    /// # Errors
    /// What the format cannot use.
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()>;

    /// Text of the innermost of `open`, its references replaced.
    fn text(&mut self, open: &[String], text: &str);

    /// The innermost of `open` ends.
    ///
    /// # Errors
    /// What the format cannot use.
    fn end(&mut self, open: &[String]) -> Result<()>;
}

/// Reads a document with that root element.
///
/// # Errors
/// Not this format if the root is another; malformed; what `reader` refuses, with the place of the element.
pub(super) fn walk(input: &Input<'_>, root: &str, what: &str, reader: &mut impl Elements) -> Result<()> {
    let mut xml = Xml::new(input)?;
    let mut open: Vec<String> = Vec::new();
    let mut spot = Spot { line: 1, column: 1 };
    loop {
        let event = xml.next()?;
        let outcome = match event {
            Event::Start(element) => {
                spot = element.spot();
                if open.is_empty() && element.name() != root {
                    let name = printable(element.name(), 40);
                    let why = format!("not a report of {what}: its root element is {name:?}");
                    return Err(Error::report(Reject::NotThisFormat, why).line_column(spot.line, spot.column));
                }
                let outcome = reader.start(&open, &element);
                open.push(element.name().to_owned());
                outcome
            }
            Event::Text(text, true) => {
                reader.text(&open, text);
                Ok(())
            }
            Event::Text(text, false) => match unescaped(text) {
                Ok(text) => {
                    reader.text(&open, &text);
                    Ok(())
                }
                Err(why) => Err(Error::report(Reject::Malformed, why)),
            },
            Event::End => {
                let outcome = reader.end(&open);
                open.pop();
                outcome
            }
            Event::Done => return Ok(()),
        };
        outcome.map_err(|error| match error.place.line {
            Some(_) => error,
            None => error.line_column(spot.line, spot.column),
        })?;
    }
}

/// Appends a text's next piece, up to a limit.
pub(super) fn append(kept: &mut String, text: &str) {
    if kept.len() < LONGEST_TEXT {
        kept.push_str(text);
    }
}

/// The innermost element's name.
pub(super) fn inside(open: &[String]) -> Option<&str> {
    open.last().map(String::as_str)
}

/// A line number from 1; none where there is none.
pub(super) fn line_number(text: Option<String>) -> Option<u64> {
    text?.trim().parse().ok().filter(|line| *line > 0)
}

/// Gives a finding without a place the one of a `location` element: the first is where it is, others explain it.
pub(super) fn place_first(finding: &mut Finding, location: &Element<'_>) -> Result<()> {
    if finding.path.is_none() {
        let [file, line] = location.attributes(["file", "line"])?;
        finding.path = file.filter(|file| !file.is_empty()).map(|file| printable(&file, 1000));
        finding.line = line_number(line);
    }
    Ok(())
}

/// The level that a severity names, in whatever case; `None` if it is no name that tools use.
fn level_named(severity: &str) -> Option<Level> {
    Some(match severity.trim().to_ascii_lowercase().as_str() {
        "error" | "fatal" | "critical" | "blocker" => Level::Error,
        "warning" | "warn" => Level::Warning,
        "info" | "information" | "informational" | "note" | "notice" | "hint" | "advice" | "style" | "convention"
        | "refactor" | "suggestion" => Level::Note,
        _ => return None,
    })
}

/// The level that a severity names; one that is no name is an error, and is told once.
pub(super) fn level_or_error(severity: &str, odd: &mut Option<String>) -> Level {
    level_named(severity).unwrap_or_else(|| {
        odd.get_or_insert_with(|| format!("the severity {:?} is read as an error", printable(severity, 40)));
        Level::Error
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(String);

    impl Elements for Seen {
        fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
            self.0.push_str(&format!("<{} {}>", element.name(), open.join("/")));
            if element.name() == "bad" {
                return Err(Error::report(Reject::Malformed, "bad"));
            }
            Ok(())
        }

        fn text(&mut self, open: &[String], text: &str) {
            self.0.push_str(&format!("{}={text};", inside(open).unwrap_or_default()));
        }

        fn end(&mut self, open: &[String]) -> Result<()> {
            self.0.push_str(&format!("</{}>", inside(open).unwrap_or_default()));
            Ok(())
        }
    }

    #[test]
    fn elements_are_told_with_what_is_around_them() {
        let mut seen = Seen::default();
        walk(&Input::bytes("x", b"<r><a>1&lt;<![CDATA[&]]></a><b/></r>"), "r", "nobody", &mut seen).unwrap();
        assert_eq!(seen.0, "<r ><a r>a=1<;a=&;</a><b r></b></r>");
        let error = walk(&Input::bytes("x", b"<r>\n <bad/></r>"), "r", "nobody", &mut Seen::default()).unwrap_err();
        assert_eq!((error.place.line, error.place.column), (Some(2), Some(2)));
        let error = walk(&Input::bytes("x", b"<s/>"), "r", "nobody", &mut Seen::default()).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
        assert!(walk(&Input::bytes("x", b"<r>&lol;</r>"), "r", "nobody", &mut Seen::default()).is_err());
    }

    #[test]
    fn severities_in_any_case() {
        assert_eq!(level_named("Warning"), Some(Level::Warning));
        assert_eq!(level_named("ERROR"), Some(Level::Error));
        assert_eq!(level_named("Information"), Some(Level::Note));
        assert_eq!(level_named("odd"), None);
        assert_eq!(line_number(Some("0".into())), None);
        assert_eq!(line_number(Some("12".into())), Some(12));
    }
}
