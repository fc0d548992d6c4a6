//! What the XML formats of tests share: walking the elements with the text of those that matter, a test that is being
//! read, and the place in the stack trace of a .NET runner.

use super::{TestTally, milliseconds, stack};
use crate::error::{Error, Reject, Result};
use crate::ingest::Format;
use crate::ingest::input::Input;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::xml::{Element, Event, Spot, Xml, unescaped};
use crate::model::cases::{Outcome, TestCase};

/// Text of an element that is kept until something is read out of it.
const TEXT_BYTES: usize = 8192;

/// What makes tests of elements.
pub(super) trait Dialect {
    /// An element begins, directly inside `parent`. `true` if its text is wanted at its end.
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool>;

    /// An element ends. `text` is there if it was wanted: its own, without that of its children, or the first of it.
    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()>;
}

struct Open {
    name: String,
    text: Option<String>,
}

/// Leads a dialect through the whole document.
///
/// # Errors
/// Not this format if the root is another one; malformed if the document is; what the dialect says.
pub(super) fn walk(
    input: &Input<'_>,
    format: &'static Format,
    roots: &[&str],
    dialect: &mut impl Dialect,
) -> Result<()> {
    let mut xml = Xml::new(input)?;
    let mut open: Vec<Open> = Vec::new();
    loop {
        match xml.next()? {
            Event::Start(element) => {
                if open.is_empty() && !roots.contains(&element.name()) {
                    let root = printable(element.name(), 40);
                    return Err(foreign(format, &format!("its root element is {root:?}"), element.spot()));
                }
                let wanted = dialect.start(&element, open.last().map(|parent| parent.name.as_str()))?;
                open.push(Open { name: element.name().to_owned(), text: wanted.then(String::new) });
            }
            Event::Text(text, as_is) => {
                if let Some(kept) = open.last_mut().and_then(|open| open.text.as_mut()) {
                    keep_text(kept, text, as_is);
                }
            }
            Event::End => {
                if let Some(closed) = open.pop() {
                    dialect.end(&closed.name, closed.text.as_deref())?;
                }
            }
            Event::Done => return Ok(()),
        }
    }
}

/// A document of another kind.
pub(super) fn foreign(format: &Format, why: &str, spot: Spot) -> Error {
    Error::report(Reject::NotThisFormat, format!("not a {} report: {why}", format.name))
        .line_column(spot.line, spot.column)
}

fn keep_text(kept: &mut String, text: &str, as_is: bool) {
    if kept.len() < TEXT_BYTES {
        // Cut before the references are looked at, a piece may end inside one: then it stays as it stands.
        let piece: String = text.chars().take(TEXT_BYTES).collect();
        let plain = if as_is { None } else { unescaped(&piece).ok() };
        kept.push_str(plain.as_deref().unwrap_or(&piece));
    }
}

/// A test whose element is open.
pub(super) struct OpenCase {
    /// As it will be kept.
    pub id: String,
    /// What is known so far.
    pub case: TestCase,
}

impl OpenCase {
    /// A test with the name that its attributes give: `full`, else `class` and `name`.
    pub(super) fn new(full: Option<String>, class: Option<String>, name: Option<String>, outcome: Outcome) -> OpenCase {
        let given = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let id = match (given(full), given(class), given(name)) {
            (Some(full), _, _) => full,
            (None, Some(class), Some(name)) if name.starts_with(&class) => name,
            (None, Some(class), Some(name)) => format!("{class}::{name}"),
            (None, Some(one), None) | (None, None, Some(one)) => one,
            (None, None, None) => "(unnamed)".to_owned(),
        };
        OpenCase { id, case: TestCase::new(outcome) }
    }

    /// Its duration, given in seconds.
    pub(super) fn seconds(mut self, seconds: Option<&str>) -> OpenCase {
        self.case.duration_ms = seconds.and_then(milliseconds);
        self
    }

    /// The message of a test that did not pass; the first one stays.
    pub(super) fn message(&mut self, text: Option<&str>) {
        if self.case.message.is_none() && self.case.outcome.is_bad() {
            self.case.message = text.and_then(first_lines);
        }
    }

    /// The place in a .NET stack trace: `at A.B() in C:\a.cs:line 12`.
    pub(super) fn stack(&mut self, text: Option<&str>) {
        if let Some(place) =
            text.and_then(|text| text.lines().find_map(stack::dot_net)).filter(|_| self.case.file.is_none())
        {
            stack::put(&mut self.case, place);
        }
    }

    /// Counts and keeps it.
    pub(super) fn done(self, tally: &mut TestTally) -> Result<()> {
        tally.case(&self.id, self.case)
    }
}

/// A result that no version of the tool is known to write.
pub(super) fn unknown_result(result: &str, spot: Spot) -> Error {
    Error::report(Reject::Malformed, format!("a test has the result {:?}", printable(result, 40)))
        .line_column(spot.line, spot.column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_full_name_or_made_of_class_and_name() {
        let id = |full: &str, class: &str, name: &str| {
            let some = |text: &str| Some(text.to_owned());
            OpenCase::new(some(full), some(class), some(name), Outcome::Passed).id
        };
        assert_eq!(id("a.b.c", "x", "y"), "a.b.c");
        assert_eq!(id("", "a.B", "c"), "a.B::c");
        assert_eq!(id("", "a.B", "a.B.c(1)"), "a.B.c(1)");
        assert_eq!(id(" ", "", "c"), "c");
        assert_eq!(id("", "", ""), "(unnamed)");
    }
}
