//! What the XML formats of coverage have in common: a walk over the elements, whose texts tell nothing.

use crate::error::{Error, Reject, Result};
use crate::ingest::Parsed;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::{Element, Event, Xml};

/// Is told of the elements of one report in their order, the root first.
pub(super) trait Elements: Default {
    /// An element begins.
    ///
    /// # Errors
    /// What the format cannot use.
    fn start(&mut self, element: &Element<'_>) -> Result<()>;

    /// The innermost open element ends.
    ///
    /// # Errors
    /// What the format cannot use.
    fn end(&mut self) -> Result<()>;

    /// The report, whose document has ended.
    ///
    /// # Errors
    /// Not this format; malformed, where that shows at the end only.
    fn finish(self) -> Result<Parsed>;
}

/// Reads a report with that root element. `what` names it: `a Clover report`.
///
/// # Errors
/// Not this format if the root is another; malformed; what `R` refuses, with the place of the element.
pub(super) fn read<R: Elements>(input: &Input<'_>, root: &str, what: &str) -> Result<Parsed> {
    let mut xml = Xml::new(input)?;
    let mut reader = R::default();
    let mut is_root = true;
    loop {
        match xml.next()? {
            Event::Start(element) => {
                let outcome = match std::mem::take(&mut is_root) && element.name() != root {
                    true => Err(foreign(what, element.name())),
                    false => reader.start(&element),
                };
                outcome.map_err(|error| match error.place.line {
                    Some(_) => error,
                    None => {
                        let spot = element.spot();
                        error.line_column(spot.line, spot.column)
                    }
                })?;
            }
            Event::Text(..) => {}
            Event::End => reader.end()?,
            Event::Done => return reader.finish(),
        }
    }
}

fn foreign(what: &str, root: &str) -> Error {
    let why = format!("not {what}: its root element is {:?}", printable(root, 40));
    Error::report(Reject::NotThisFormat, why)
}
