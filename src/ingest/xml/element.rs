//! Elements and their places.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::BytesRef;

use super::tag::Attribute;
use crate::error::{Error, Reject, Result};
use crate::ingest::text::printable;

/// A place in the report, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) struct Spot {
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

impl Spot {
    /// Where one stands after the text.
    fn after(self, text: &str) -> Spot {
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let lines = count(memchr::memchr_iter(b'\n', text.as_bytes()).count());
        match text.rsplit_once('\n') {
            Some((_, last)) => Spot { line: self.line + lines, column: 1 + count(last.chars().count()) },
            None => Spot { column: self.column + count(text.chars().count()), ..self },
        }
    }
}

/// The place that was asked for last, and how far into the text that is. Few are asked for, so that lines are counted only
/// up to those, and none twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub at: usize,
    pub spot: Spot,
}

impl Counted {
    /// The place at the end of the text, which may be no shorter than at the last call.
    pub fn end_of(counted: &Cell<Counted>, text: &str) -> Spot {
        let last = counted.get();
        let spot = last.spot.after(text.get(last.at..).unwrap_or_default());
        counted.set(Counted { at: text.len(), spot });
        spot
    }
}

/// A start tag.
#[derive(Debug)]
pub(in crate::ingest) struct Element<'a> {
    /// With its brackets.
    pub(super) tag: &'a str,
    pub(super) name: &'a str,
    pub(super) attributes: &'a [Attribute],
    /// The text that it follows, as far as it is held.
    pub(super) before: &'a str,
    pub(super) counted: &'a Cell<Counted>,
}

impl<'a> Element<'a> {
    /// Its name without namespace prefix.
    #[inline]
    pub(in crate::ingest) fn name(&self) -> &str {
        local(self.name)
    }

    /// Where it begins.
    pub(in crate::ingest) fn spot(&self) -> Spot {
        Counted::end_of(self.counted, self.before)
    }

    /// The value of an attribute, with its references replaced; `None` if it is not there.
    ///
    /// # Errors
    /// Malformed if the value holds an entity that is not known.
    pub(in crate::ingest) fn attribute(&self, name: &str) -> Result<Option<String>> {
        self.attributes([name]).map(|[value]| value)
    }

    /// The values of several attributes at once, as [`Element::attribute`].
    ///
    /// # Errors
    /// Likewise.
    pub(in crate::ingest) fn attributes<const N: usize>(&self, names: [&str; N]) -> Result<[Option<String>; N]> {
        self.values(names).map(|values| values.map(|value| value.map(Cow::into_owned)))
    }

    /// As [`Element::attributes`], borrowed where no reference had to be replaced.
    ///
    /// # Errors
    /// Likewise.
    #[inline]
    pub(in crate::ingest) fn values<const N: usize>(&self, names: [&str; N]) -> Result<[Option<Cow<'a, str>>; N]> {
        let mut values = [const { None }; N];
        for (name, attribute) in self.pairs() {
            // Nearly all names that differ do so in their length or their first byte.
            let is_like = |wanted: &str| wanted.len() == name.len() && wanted.bytes().next() == name.bytes().next();
            let wanted = names.iter().position(|wanted| is_like(wanted) && *wanted == name);
            if let Some(slot) = wanted.and_then(|at| values.get_mut(at)) {
                *slot = Some(self.value(attribute)?);
            }
        }
        Ok(values)
    }

    /// The names of its attributes, with what [`Element::value`] takes.
    #[inline]
    pub(in crate::ingest) fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a Attribute)> {
        self.attributes.iter().map(|attribute| (self.part(&attribute.name), attribute))
    }

    /// The value of one of its attributes, borrowed where no reference has to be replaced.
    ///
    /// # Errors
    /// As for [`Element::attribute`].
    #[inline]
    pub(in crate::ingest) fn value(&self, attribute: &Attribute) -> Result<Cow<'a, str>> {
        let value = self.part(&attribute.value);
        if !attribute.refers {
            return Ok(Cow::Borrowed(value));
        }
        unescaped(value).map_err(|why| at(self.spot(), &why))
    }

    /// The names of its attributes.
    pub(in crate::ingest) fn attribute_names(&self) -> Vec<String> {
        self.pairs().map(|(name, _)| name.to_owned()).collect()
    }

    #[inline]
    fn part(&self, range: &Range<usize>) -> &'a str {
        self.tag.get(range.clone()).unwrap_or_default()
    }

    /// The value of the attribute that declares the namespace of its name.
    pub(in crate::ingest) fn namespace(&self) -> Option<String> {
        let declared = match self.name.split_once(':') {
            Some((prefix, _)) => format!("xmlns:{prefix}"),
            None => "xmlns".to_owned(),
        };
        self.attribute(&declared).ok().flatten()
    }
}

#[inline]
pub(super) fn local(name: &str) -> &str {
    // Nearly all have no prefix.
    if name.as_bytes().contains(&b':') { name.rsplit(':').next().unwrap_or(name) } else { name }
}

pub(super) fn at(spot: Spot, why: &str) -> Error {
    Error::report(Reject::Malformed, why).line_column(spot.line, spot.column)
}

/// The text with its references replaced. A character that cannot be written (a NUL, half a surrogate pair) is left as
/// the reference that it is.
pub(in crate::ingest) fn unescaped(text: &str) -> Result<Cow<'_, str>, String> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    for (index, piece) in text.split('&').enumerate() {
        if index == 0 {
            plain.push_str(piece);
            continue;
        }
        let Some((name, after)) = piece.split_once(';') else { return Err("a reference is not closed".into()) };
        match (resolve_xml_entity(name), BytesRef::new(name).resolve_char_ref()) {
            (Some(character), _) => plain.push_str(character),
            (None, Ok(Some(character))) => plain.push(character),
            (None, Ok(None)) => return Err(format!("entity {:?} is not known", printable(name, 40))),
            (None, Err(_)) => plain.push_str(&format!("&{name};")),
        }
        plain.push_str(after);
    }
    Ok(Cow::Owned(plain))
}
