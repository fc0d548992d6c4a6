//! What the XML formats of coverage have in common: a walk over the elements, whose texts tell nothing.

use crate::error::Result;
use crate::ingest::Parsed;
use crate::ingest::input::Input;
use crate::ingest::xml::{Element, Event, Xml};

/// Is told of the elements of one report in their order.
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

/// Reads a report.
///
/// # Errors
/// Malformed; what `R` refuses, with the place of the element.
pub(super) fn read<R: Elements>(input: &Input<'_>) -> Result<Parsed> {
    let mut xml = Xml::new(input)?;
    let mut reader = R::default();
    loop {
        match xml.next()? {
            Event::Start(element) => reader.start(&element).map_err(|error| match error.place.line {
                Some(_) => error,
                None => {
                    let spot = element.spot();
                    error.line_column(spot.line, spot.column)
                }
            })?,
            Event::Text(..) => {}
            Event::End => reader.end()?,
            Event::Done => return reader.finish(),
        }
    }
}
