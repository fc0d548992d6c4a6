//! Report bytes that can be read more than once, and their decoding to text. No disk in here: bytes come through a
//! function of the caller's.

use std::io::{self, Read};

use encoding_rs::{Decoder, Encoding};

use super::redrawn::Redrawn;
use crate::error::{Error, Reject, Result};

/// Bytes read in one go.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;
/// What most reports are smaller than.
const SMALL_BYTES: usize = 8 * 1024;

/// The bytes of a report, from the first on.
pub trait RawBytes: Read + Send {
    /// Passes over what comes before the last chunk and the one before it, where that takes no reading: how many bytes.
    /// Chunks have `chunk` bytes each, from the first byte on, and the last of them what is left.
    ///
    /// # Errors
    /// If the system cannot.
    fn skip_to_last(&mut self, _chunk: u64) -> io::Result<u64> {
        Ok(0)
    }
}

impl RawBytes for &[u8] {}

/// Opens the report at its first byte.
pub type Opener<'a> = dyn Fn() -> io::Result<Box<dyn RawBytes>> + Sync + 'a;

#[derive(Clone, Copy)]
enum Bytes<'a> {
    Held(&'a [u8]),
    Opened(&'a Opener<'a>),
}

/// A report that can be read from its first byte as often as needed, with the name that errors give it.
#[derive(Clone)]
pub struct Input<'a> {
    name: String,
    bytes: Bytes<'a>,
    limit_bytes: u64,
}

impl<'a> Input<'a> {
    /// Bytes that are in memory already.
    pub fn bytes(name: impl Into<String>, bytes: &'a [u8]) -> Input<'a> {
        Input { name: name.into(), bytes: Bytes::Held(bytes), limit_bytes: u64::MAX }
    }

    /// Bytes behind a function that opens them. Reading more than `limit_bytes` is refused.
    pub fn source(name: impl Into<String>, open: &'a Opener<'a>, limit_bytes: u64) -> Input<'a> {
        Input { name: name.into(), bytes: Bytes::Opened(open), limit_bytes }
    }

    /// As errors name it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The raw bytes from the first on.
    ///
    /// # Errors
    /// The source cannot be opened.
    pub(super) fn open(&self) -> Result<Chunks<'a>> {
        let reader: Box<dyn RawBytes + 'a> = match self.bytes {
            Bytes::Held(bytes) => Box::new(bytes),
            Bytes::Opened(open) => open().map_err(|error| read_error(&error).in_file(&self.name))?,
        };
        Ok(Chunks { reader, name: self.name.clone(), limit_bytes: self.limit_bytes, read_bytes: 0, buffer: Vec::new() })
    }

    /// The text from the first character on.
    ///
    /// # Errors
    /// The source cannot be opened or read; it declares an encoding that is not known.
    pub(super) fn text(&self, invalid: Invalid) -> Result<Text<'a>> {
        Text::new(self.open()?, invalid)
    }

    /// The decoded first characters (64 KiB of bytes, without blank chunks before them), and the first bytes as they are.
    pub(super) fn first(&self) -> Result<(Vec<u8>, String)> {
        let mut chunks = self.open()?;
        let raw = chunks.next()?.to_vec();
        // As JSON needs it; the beginning of anything else is told by what is no such byte.
        let mut text = Text::begun(chunks, raw.clone(), Invalid::EscapedTwice)?;
        let mut first = String::new();
        while first.trim_start().len() < CHUNK_BYTES / 4 {
            let Some(chunk) = text.next()? else { break };
            if !(first.is_empty() && chunk.trim_start().is_empty()) {
                first.push_str(chunk);
            }
        }
        Ok((raw, first))
    }

    /// The decoded last characters (64 KiB of bytes at least, where there are so many). A character that begins before them is
    /// left out.
    pub(super) fn last(&self) -> Result<String> {
        let mut chunks = self.open()?;
        let [mut before, mut last, mut next] = [const { Vec::new() }; 3];
        chunks.fill(&mut next)?;
        let mut decoding = Decoding::told_by(&next)?;
        chunks.skip_to_last()?;
        while !next.is_empty() {
            std::mem::swap(&mut before, &mut last);
            std::mem::swap(&mut last, &mut next);
            chunks.fill(&mut next)?;
        }
        before.append(&mut last);
        let bytes = without_mark(&before);
        let mut text = String::new();
        match &mut decoding {
            Decoding::Utf8(rest) => {
                let begun = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
                decode_utf8(rest, bytes.get(begun..).unwrap_or_default(), true, Invalid::Escaped, &mut text);
            }
            Decoding::Other(decoder) => decode_other(decoder, &before, true, &mut text),
        }
        Redrawn::new().chunk(&mut text, 0, true);
        Ok(text)
    }
}

fn read_error(error: &io::Error) -> Error {
    Error::failed("cannot read the report").because(error.to_string())
}

/// The raw bytes, chunk by chunk.
pub(super) struct Chunks<'a> {
    reader: Box<dyn RawBytes + 'a>,
    name: String,
    limit_bytes: u64,
    read_bytes: u64,
    buffer: Vec<u8>,
}

impl Chunks<'_> {
    /// The next bytes; none at the end. A chunk is full unless it is the last.
    pub(super) fn next(&mut self) -> Result<&[u8]> {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.fill(&mut buffer)?;
        self.buffer = buffer;
        Ok(&self.buffer)
    }

    /// As [`RawBytes::skip_to_last`].
    fn skip_to_last(&mut self) -> Result<()> {
        let passed = self.reader.skip_to_last(u64::try_from(CHUNK_BYTES).unwrap_or(u64::MAX));
        self.read_bytes += passed.map_err(|error| read_error(&error).in_file(&self.name))?;
        Ok(())
    }

    /// As [`Chunks::next`], into a buffer of the caller's.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        buffer.clear();
        // Nearly all reports are small: without room, they are read 32 bytes at first, and then twice as many each time.
        buffer.reserve(SMALL_BYTES);
        let wanted = u64::try_from(CHUNK_BYTES).unwrap_or(u64::MAX);
        let read = self.reader.by_ref().take(wanted).read_to_end(buffer);
        let read = read.map_err(|error| read_error(&error).in_file(&self.name))?;
        self.read_bytes = self.read_bytes.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        if self.read_bytes > self.limit_bytes {
            return Err(Error::report(Reject::Refused, format!("report is larger than {} bytes", self.limit_bytes))
                .in_file(&self.name)
                .help("raise limits.report_bytes if it is meant to be so large"));
        }
        Ok(())
    }
}

/// What stands for a byte that is no UTF-8. Never U+FFFD: ids that differ in such a byte must stay different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Invalid {
    /// `\xff`.
    Escaped,
    /// `\\xff`, which is the same inside a JSON string.
    EscapedTwice,
}

enum Decoding {
    /// With the bytes of a character that the next chunk completes.
    Utf8(Vec<u8>),
    Other(Box<Decoder>),
}

impl Decoding {
    /// What the first bytes tell of.
    fn told_by(first: &[u8]) -> Result<Decoding> {
        Ok(match encoding(first)? {
            Some(encoding) => Decoding::Other(Box::new(encoding.new_decoder_with_bom_removal())),
            None => Decoding::Utf8(Vec::new()),
        })
    }
}

/// UTF-8 without the mark that may begin it.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Decoded text, chunk by chunk: UTF-8 unless a byte order mark or an XML declaration says otherwise. A line that a terminal
/// paints anew ends in CR.
pub(super) struct Text<'a> {
    chunks: Chunks<'a>,
    invalid: Invalid,
    decoding: Decoding,
    first: Option<Vec<u8>>,
    redrawn: Redrawn,
    text: String,
    ended: bool,
}

impl<'a> Text<'a> {
    fn new(mut chunks: Chunks<'a>, invalid: Invalid) -> Result<Text<'a>> {
        let first = chunks.next()?.to_vec();
        Text::begun(chunks, first, invalid)
    }

    /// Of chunks the first of which has been taken.
    fn begun(chunks: Chunks<'a>, mut first: Vec<u8>, invalid: Invalid) -> Result<Text<'a>> {
        let name = chunks.name.clone();
        let decoding = Decoding::told_by(&first).map_err(|error| error.in_file(&name))?;
        if matches!(decoding, Decoding::Utf8(_)) {
            first.drain(..first.len() - without_mark(&first).len());
        }
        let (redrawn, text) = (Redrawn::new(), String::new());
        Ok(Text { chunks, invalid, decoding, first: Some(first), redrawn, text, ended: false })
    }

    /// As errors name the report.
    pub(super) fn name(&self) -> &str {
        &self.chunks.name
    }

    /// Bytes of the report that were read.
    pub(super) fn read_bytes(&self) -> u64 {
        self.chunks.read_bytes
    }

    /// The next characters, never an empty chunk; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&str>> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let is_more = self.append(&mut text);
        self.text = text;
        Ok(is_more?.then_some(&self.text))
    }

    /// Appends the next characters, one at least; `false` at the end.
    pub(super) fn append(&mut self, text: &mut String) -> Result<bool> {
        let before = text.len();
        while text.len() == before {
            if self.ended {
                return Ok(false);
            }
            let first = self.first.take();
            let bytes = match &first {
                Some(first) => first.as_slice(),
                None => self.chunks.next()?,
            };
            // A first chunk may be empty because it held a byte order mark alone: the one after it is empty too, then.
            self.ended = bytes.is_empty() && first.is_none();
            match &mut self.decoding {
                Decoding::Utf8(rest) => decode_utf8(rest, bytes, self.ended, self.invalid, text),
                Decoding::Other(decoder) => decode_other(decoder, bytes, self.ended, text),
            }
            if first.is_some() {
                text.drain(before..before + terminal_codes(text.get(before..).unwrap_or_default()));
            }
            self.redrawn.chunk(text, before, self.ended);
        }
        Ok(true)
    }
}

/// Bytes of the terminal codes with which a text begins: Biome resets the colour before a document, too.
fn terminal_codes(text: &str) -> usize {
    let mut rest = text;
    while let Some(code) = rest.strip_prefix("\x1b[")
        && let Some(after) =
            code.trim_start_matches(|c| matches!(c, ' '..='?')).strip_prefix(|c| matches!(c, '@'..='~'))
    {
        rest = after;
    }
    text.len() - rest.len()
}

/// The encoding that the first bytes tell of; `None` for UTF-8.
fn encoding(first: &[u8]) -> Result<Option<&'static Encoding>> {
    if let Some((encoding, _)) = Encoding::for_bom(first) {
        return Ok(Some(encoding).filter(|encoding| *encoding != encoding_rs::UTF_8));
    }
    // UTF-16 without a mark, as the XML specification tells it.
    if first.starts_with(b"<\0?\0") {
        return Ok(Some(encoding_rs::UTF_16LE));
    }
    if first.starts_with(b"\0<\0?") {
        return Ok(Some(encoding_rs::UTF_16BE));
    }
    let Some(label) = declared_encoding(first) else { return Ok(None) };
    match Encoding::for_label(label) {
        // Written as text and saved as UTF-8 afterwards: were it UTF-16, the declaration could not be read byte by byte.
        Some(encoding) if encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE => Ok(None),
        Some(encoding) => Ok(Some(encoding).filter(|encoding| *encoding != encoding_rs::UTF_8)),
        None => {
            let label = super::text::printable(&String::from_utf8_lossy(label), 40);
            Err(Error::report(Reject::Malformed, format!("report declares an unknown encoding, {label:?}")).line(1))
        }
    }
}

/// The value of `encoding` in an XML declaration that begins the bytes.
fn declared_encoding(first: &[u8]) -> Option<&[u8]> {
    let start = first.trim_ascii_start();
    let end = start.iter().take(1000).position(|byte| *byte == b'>')?;
    let declaration = start.get(..end)?.strip_prefix(b"<?xml")?;
    let at = declaration.windows(8).position(|window| window == b"encoding")?;
    let value = declaration.get(at + 8..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    let end = value.iter().position(|byte| byte == quote)?;
    matches!(quote, b'"' | b'\'').then(|| value.get(..end))?
}

fn decode_utf8(rest: &mut Vec<u8>, bytes: &[u8], last: bool, invalid: Invalid, text: &mut String) {
    let joined;
    let bytes = if rest.is_empty() {
        bytes
    } else {
        rest.extend_from_slice(bytes);
        joined = std::mem::take(rest);
        joined.as_slice()
    };
    let whole = match std::str::from_utf8(bytes) {
        // Nearly always; the way below is for what is damaged, and slower.
        Ok(valid) => return text.push_str(valid),
        // Only what the next chunk may complete is held back; `error_len` is absent for that alone.
        Err(error) if error.error_len().is_none() && !last => error.valid_up_to(),
        Err(_) => bytes.len(),
    };
    let (whole, partial) = bytes.split_at(whole);
    let mut held = partial.len();
    let mut chunks = whole.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let broken = chunk.invalid();
        // After an invalid byte further up, a character may still be cut at the very end.
        if !last && held == 0 && chunks.peek().is_none() && is_cut(broken) {
            rest.extend_from_slice(broken);
            held = broken.len();
            continue;
        }
        for byte in broken {
            text.push_str(if invalid == Invalid::EscapedTwice { "\\\\x" } else { "\\x" });
            text.push_str(&format!("{byte:02x}"));
        }
    }
    rest.extend_from_slice(partial);
}

/// Whether the bytes are the beginning of a character.
fn is_cut(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.error_len().is_none())
}

fn decode_other(decoder: &mut Decoder, bytes: &[u8], last: bool, text: &mut String) {
    let mut rest = bytes;
    loop {
        text.reserve(decoder.max_utf8_buffer_length(rest.len()).unwrap_or(rest.len().saturating_mul(3)));
        let (result, read, _) = decoder.decode_to_string(rest, text, last);
        rest = rest.get(read..).unwrap_or_default();
        if result == encoding_rs::CoderResult::InputEmpty {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> String {
        let input = Input::bytes("x", bytes);
        let mut text = input.text(Invalid::Escaped).unwrap();
        let mut all = String::new();
        while let Some(chunk) = text.next().unwrap() {
            all.push_str(chunk);
        }
        all
    }

    #[test]
    fn p08_p09_byte_order_marks_and_declared_encodings_are_decoded() {
        assert_eq!(decoded(b"\xef\xbb\xbfab"), "ab");
        assert_eq!(decoded(b"\xff\xfea\0\xe9\0"), "aé");
        assert_eq!(decoded(b"\xfe\xff\0a"), "a");
        assert_eq!(decoded(b"<\0?\0x\0"), "<?x");
        assert_eq!(
            decoded(b"<?xml version='1.0' encoding = 'ISO-8859-1'?>\xe9"),
            "<?xml version='1.0' encoding = 'ISO-8859-1'?>é"
        );
        assert_eq!(decoded(b"<?xml encoding=\"utf-16\"?>\xc3\xa9"), "<?xml encoding=\"utf-16\"?>é");
        assert_eq!(decoded(b"\xef\xbb\xbf"), "");
        assert_eq!(decoded(b"\xef\xbb\xbf\x1b[0m\x1b[1;31m{}\x1b[0m"), "{}\x1b[0m");
        assert_eq!(decoded(b"\x1b[0"), "\x1b[0");
        let odd = Input::bytes("x", b"<?xml encoding=\"klingon\"?>");
        assert_eq!(odd.text(Invalid::Escaped).err().and_then(|e| e.reject()), Some(Reject::Malformed));
    }

    #[test]
    fn p10_invalid_bytes_stay_distinct_and_characters_survive_a_chunk_border() {
        assert_eq!(decoded(b"a\xffb\xfe"), "a\\xffb\\xfe");
        assert_eq!(decoded(b"a\xe2\x82"), "a\\xe2\\x82");
        for shift in 0..4 {
            for lead in [&b""[..], b"\xff"] {
                let mut bytes = lead.to_vec();
                bytes.extend(std::iter::repeat_n(b'a', CHUNK_BYTES - 2 - lead.len() + shift));
                bytes.extend("€z".as_bytes());
                assert!(decoded(&bytes).ends_with("a€z"), "{shift} {lead:?}");
            }
        }
    }

    #[test]
    fn the_end_is_decoded_as_it_is_where_all_is_decoded() {
        let line = "é1€\n";
        let utf8 = line.repeat(3 * CHUNK_BYTES / line.len() + 1000);
        let utf16: Vec<u8> = format!("\u{feff}{utf8}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let latin = [b"<?xml encoding='latin1'?>".to_vec(), b"\xe91\n".repeat(CHUNK_BYTES)].concat();
        let marked = [b"\xef\xbb\xbf", utf8.as_bytes()].concat();
        for bytes in [
            utf8.as_bytes(),
            utf16.as_slice(),
            &latin,
            &marked,
            &[utf8.as_bytes(), b"\xff\n"].concat(),
            b"\xef\xbb\xbfa",
        ] {
            for length in [bytes.len(), CHUNK_BYTES, 2 * CHUNK_BYTES].map(|length| length.min(bytes.len())) {
                let bytes = bytes.get(..length).unwrap();
                let last = Input::bytes("x", bytes).last().unwrap();
                let all = decoded(bytes);
                assert!(all.ends_with(&last) && (last == all || last.len() >= CHUNK_BYTES / 2), "{length}");
                assert!(!last.starts_with("\\x"), "{length}");
            }
        }
    }

    impl RawBytes for io::Repeat {}

    #[test]
    fn p19_an_endless_source_is_refused_at_the_limit() {
        let open = || Ok(Box::new(io::repeat(b'a')) as Box<dyn RawBytes>);
        let input = Input::source("pipe", &open, 1_000_000);
        let mut text = input.text(Invalid::Escaped).unwrap();
        let error = loop {
            match text.next() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it has no end"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.reject(), Some(Reject::Refused));
        assert_eq!(error.place.path.as_deref(), Some("pipe"));
    }
}
