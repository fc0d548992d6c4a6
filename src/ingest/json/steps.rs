//! An object of JSON that is read step by step, so that each of its parts reaches serde_json as a slice: that is nearly
//! twice as fast as a stream is. For reports that may be very long lists of small objects.

use std::marker::PhantomData;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::{Bytes, CHUNK_BYTES, CUT_HELP, DEEPEST, Input, Invalid, Scan, fault, too_deep};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::printable;

/// What is left of a document.
pub(in crate::ingest) struct Steps<'a>(Bytes<'a>);

/// Reads one JSON object out of a report, as [`super::object`] does: `read` has the object before it.
///
/// # Errors
/// As for [`super::object`], and those of `read`, which get the place where they came up.
pub(in crate::ingest) fn steps<T>(input: &Input<'_>, read: impl FnOnce(&mut Steps<'_>) -> Result<T>) -> Result<T> {
    let mut bytes = Bytes::new(input.text(Invalid::EscapedTwice)?);
    bytes.begin()?;
    let mut steps = Steps(bytes);
    let value =
        read(&mut steps).map_err(|error| if error.place.line.is_some() { error } else { steps.placed(error) })?;
    steps.0.finish()?;
    Ok(value)
}

impl Steps<'_> {
    /// Reads an object. `member` is told each key, and reads its value.
    ///
    /// # Errors
    /// Malformed if no object is next; those of `member`.
    pub(in crate::ingest) fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        self.open(b'{', "an object")?;
        let mut is_first = true;
        while self.goes_on(b'}', is_first)? {
            is_first = false;
            if self.next_byte()? != b'"' {
                return Err(self.unexpected("a key"));
            }
            let key: String = self.value()?;
            if self.next_byte()? != b':' {
                return Err(self.unexpected("`:`"));
            }
            self.0.at += 1;
            member(self, &key)?;
        }
        Ok(())
    }

    /// Reads a list, each of whose elements `element` reads. `null` is an empty one.
    ///
    /// # Errors
    /// Malformed if no list is next; those of `element`.
    pub(in crate::ingest) fn list(&mut self, mut element: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if self.next_byte()? == b'n' {
            return self.value();
        }
        self.open(b'[', "a list")?;
        let mut is_first = true;
        while self.goes_on(b']', is_first)? {
            is_first = false;
            element(self)?;
        }
        Ok(())
    }

    /// Reads what is next.
    ///
    /// # Errors
    /// Malformed if it is not well-formed, or no `T`.
    pub(in crate::ingest) fn value<T: DeserializeOwned>(&mut self) -> Result<T> {
        let is_closed = matches!(self.next_byte()?, b'{' | b'[' | b'"');
        if let Some(value) = self.held()? {
            return Ok(value);
        }
        if self.0.rest().len() < CHUNK_BYTES {
            self.0.refill()?;
            if let Some(value) = self.held()? {
                return Ok(value);
            }
        }
        // What is longer than a chunk is not held. Of a number, nothing would tell the end.
        if is_closed { self.0.value(PhantomData) } else { Err(self.unexpected("a shorter number")) }
    }

    /// What is next, if all of it has been decoded.
    fn held<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let rest = self.0.buffer.get(self.0.at..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        match values.next() {
            // A number that ends with the chunk may go on in the next one.
            Some(Ok(value)) if self.0.is_at_end || values.byte_offset() < rest.len() => {
                let length = values.byte_offset();
                if self.is_too_deep(rest.as_bytes().get(..length).unwrap_or_default()) {
                    return Err(too_deep(self.0.place().0));
                }
                self.0.at += length;
                Ok(Some(value))
            }
            Some(Err(error)) if self.0.is_at_end || !error.is_eof() => Err(fault(&error, self.0.place())),
            _ => Ok(None),
        }
    }

    /// serde_json counts from the value on, not from the document's beginning.
    fn is_too_deep(&self, value: &[u8]) -> bool {
        let mut scan = Scan::inside(self.0.scan.around);
        let brackets = memchr::memchr_iter(b'{', value).count() + memchr::memchr_iter(b'[', value).count();
        if scan.around + brackets <= DEEPEST {
            return false;
        }
        scan.span(value);
        scan.is_too_deep()
    }

    /// Passes over what is next, which must be well-formed all the same.
    ///
    /// # Errors
    /// Malformed if it is not.
    pub(in crate::ingest) fn skip(&mut self) -> Result<()> {
        self.value::<IgnoredAny>().map(drop)
    }

    /// The fault that a key stands twice.
    pub(in crate::ingest) fn twice(&self, key: &str) -> Error {
        self.fault(&format!("duplicate field `{key}`"))
    }

    fn fault(&self, why: &str) -> Error {
        self.placed(Error::report(Reject::Malformed, format!("JSON is not as expected: {}", printable(why, 70))))
    }

    /// The line of what is next, from 1.
    pub(in crate::ingest) fn line(&self) -> u64 {
        self.0.place().0
    }

    fn placed(&self, error: Error) -> Error {
        let (line, before) = self.0.place();
        error.line_column(line, before + 1)
    }

    fn unexpected(&self, expected: &str) -> Error {
        self.fault(&format!("expected {expected}"))
    }

    /// The next byte that is no blank.
    fn next_byte(&mut self) -> Result<u8> {
        loop {
            match self.0.peek()? {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.0.at += 1,
                Some(byte) => return Ok(byte),
                None => {
                    let cut = Error::report(Reject::Malformed, "report ends before its JSON is closed").help(CUT_HELP);
                    return Err(self.placed(cut));
                }
            }
        }
    }

    fn open(&mut self, bracket: u8, what: &str) -> Result<()> {
        if self.next_byte()? != bracket {
            return Err(self.unexpected(what));
        }
        self.0.at += 1;
        self.0.scan.around += 1;
        if self.0.scan.around > DEEPEST { Err(too_deep(self.0.place().0)) } else { Ok(()) }
    }

    /// Whether another member or element comes; moves behind the comma before it, or else behind the closing bracket.
    fn goes_on(&mut self, bracket: u8, is_first: bool) -> Result<bool> {
        let byte = self.next_byte()?;
        if byte == bracket {
            self.0.at += 1;
            self.0.scan.around -= 1;
            return Ok(false);
        }
        if is_first {
            return Ok(true);
        }
        if byte != b',' {
            return Err(self.unexpected("`,` or the end"));
        }
        self.0.at += 1;
        if self.next_byte()? == bracket {
            return Err(self.unexpected("a value behind the comma"));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers and the lengths of the texts that stand in the list `a`.
    fn read(text: &str) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        steps(&Input::bytes("x", text.as_bytes()), |steps| {
            steps.object(|steps, key| match key {
                "a" => steps.list(|steps| {
                    let value: serde_json::Value = steps.value()?;
                    let length = |text: &str| u64::try_from(text.len()).unwrap();
                    found.push(value.as_u64().or_else(|| value.as_str().map(length)).unwrap_or(u64::MAX));
                    Ok(())
                }),
                _ => steps.skip(),
            })
        })?;
        Ok(found)
    }

    #[test]
    fn what_is_read_is_the_same_wherever_a_chunk_ends() {
        assert_eq!(
            read("x\n{\"b\": [1, {\"a\": [2]}], \"a\" : [ 3 ,\"four\"\t, {} ] } x\n").unwrap(),
            [3, 4, u64::MAX]
        );
        assert_eq!(
            (read("{}").unwrap(), read("{\"a\":[]}").unwrap(), read("{\"a\":null}").unwrap()),
            (vec![], vec![], vec![])
        );
        for end in (CHUNK_BYTES - 40..CHUNK_BYTES + 4).chain([2 * CHUNK_BYTES, 5 * CHUNK_BYTES + 1]) {
            let text =
                format!("{{\"b\":\"{}\",\"a\" : [12 , \"\\\"\\u00e9]\", 345, true],\"a\":[6]}}", "é".repeat(end / 2));
            assert_eq!(read(&text).unwrap(), [12, 4, 345, u64::MAX, 6], "{end}");
        }
        let long: Vec<String> = (0..20_000).map(|number| format!("{{\"n\":{number}}}, {number}")).collect();
        assert_eq!(read(&format!("{{\"a\":[{}]}}", long.join(",\n"))).unwrap().len(), 40_000);
        // Longer than a chunk by itself.
        let texts = [3 * CHUNK_BYTES, CHUNK_BYTES, 1].map(|length| format!("\"{}\"", "x".repeat(length)));
        assert_eq!(read(&format!("{{\"a\":[{}]}}", texts.join(","))).unwrap(), [196_608, 65_536, 1]);
    }

    #[test]
    fn whatever_is_cut_or_no_json_is_refused() {
        let whole = "{\"b\":{\"c\":[1.5e3,null]},\"a\":[12,\"x\\\"\",true]}";
        assert!(read(whole).is_ok());
        for end in 0..whole.len() {
            assert!(read(whole.get(..end).unwrap()).is_err(), "{end}");
        }
        for bad in [
            "{\"a\":[1,]}",
            "{\"a\":[1],}",
            "{\"a\":[,1]}",
            "{,\"a\":[1]}",
            "{\"a\" [1]}",
            "{\"a\":[1 2]}",
            "{\"a\":[1]\"b\":2}",
            "{\"a\":[1}]",
            "{\"a\":[1]]",
            "{\"a\":[01]}",
            "{\"a\":[1x]}",
            "{\"a\":[tru]}",
            "{\"a\":{}}",
            "{\"a\":nul}",
            "{a:[1]}",
            "{1:[1]}",
            "{\"b\":[1,],\"a\":[]}",
            "{\"b\":{\"c\"},\"a\":[]}",
            "{}{}",
        ] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        assert_eq!(read("[]").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let number = format!("{{\"b\":{},\"a\":[1]}}", "1".repeat(3 * CHUNK_BYTES));
        assert_eq!(read(&number).unwrap_err().reject(), Some(Reject::Malformed), "longer than any number");
    }

    #[test]
    fn faults_have_their_place_in_the_file() {
        let place = |text: &str| read(text).map_err(|error| (error.place.line, error.place.column)).unwrap_err();
        assert_eq!(place("x\n  {\"a\": [1,\n  2, tru ]}"), (Some(3), Some(9)));
        assert_eq!(place("x\n  {\"a\": [1;"), (Some(2), Some(11)));
        let far = format!("{{\"a\":[{}x]}}", "1,\n".repeat(CHUNK_BYTES));
        assert_eq!(place(&far).0, Some(65_537));
        for blanks in [0, 2 * CHUNK_BYTES] {
            let [open, close, blanks] = ["[".repeat(124), "]".repeat(124), " ".repeat(blanks)];
            assert!(read(&format!("\n{{\"a\":[[{open}{blanks}{close}]]}}")).is_ok());
            assert_eq!(place(&format!("\n{{\"a\":[[[{open}{blanks}{close}]]]}}")), (Some(2), None));
        }
        let objects = |depth: usize| format!("\n{}{}", "{\"b\":".repeat(depth), "}".repeat(depth));
        assert_eq!(place(&objects(200)).0, Some(2));
    }
}
