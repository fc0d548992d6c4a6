//! Lines of text without terminal codes, and text made fit to be shown.

use std::borrow::Cow;

use super::input::{Input, Invalid, Text};
use crate::error::{Error, Reject, Result};

/// Longest line, and longest piece of markup, that is held in memory.
pub(super) const LONGEST_BYTES: usize = 8 * 1024 * 1024;

/// What programs write at a time where no terminal reads it, and what logs are cut to, is a multiple of it.
const BLOCK_BYTES: u64 = 1024;

/// What is done with a line over 8 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LongLine {
    /// The report is malformed.
    Refuse,
    /// It is passed over unread: no figure is in it.
    Skip,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// Without its end and without terminal codes.
    pub text: Cow<'a, str>,
    /// Whether a line end followed; only the last line of a report may lack it.
    pub ended: bool,
}

/// The lines of a report: ended by LF, CRLF or a lone CR.
pub(super) struct Lines<'a> {
    text: Text<'a>,
    long: LongLine,
    buffer: String,
    /// Whether a terminal code may be in the buffer.
    coded: bool,
    at: usize,
    number: u64,
    more: bool,
    swallow_lf: bool,
}

impl<'a> Lines<'a> {
    /// Lines from the first on. `invalid` says how bytes that are no UTF-8 are written.
    pub(super) fn new(input: &Input<'a>, long: LongLine, invalid: Invalid) -> Result<Lines<'a>> {
        let text = input.text(invalid)?;
        let (buffer, coded) = (String::new(), false);
        Ok(Lines { text, long, buffer, coded, at: 0, number: 0, more: true, swallow_lf: false })
    }

    /// The next line; `None` at the end. A line that was skipped for its length still has its number.
    ///
    /// # Errors
    /// The source cannot be read; a line is over 8 MiB and not to be skipped.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>> {
        // Nearly always all of the line is there, and nothing odd about it.
        let ahead = self.buffer.as_bytes().get(self.at..).unwrap_or_default();
        match line_end(ahead) {
            Some(end @ 1..LONGEST_BYTES) if ahead.get(end) == Some(&b'\n') && !self.coded => {
                let start = self.at;
                self.at += end + 1;
                self.number += 1;
                self.swallow_lf = false;
                let text = Cow::Borrowed(self.buffer.get(start..start + end).unwrap_or_default());
                Ok(Some(Line { number: self.number, text, ended: true }))
            }
            _ => self.odd_line(),
        }
    }

    /// What `read` makes of the next line if nothing is odd about it: all of it is there, and `read` tells its length up to
    /// the LF. Otherwise nothing is passed, and [`Lines::next`] is to be asked.
    #[inline]
    pub(super) fn next_as<T>(&mut self, read: impl FnOnce(&[u8]) -> Option<(T, usize)>) -> Option<T> {
        let ahead = self.buffer.as_bytes().get(self.at..).unwrap_or_default();
        let (value, length) = read(ahead).filter(|(_, length)| ahead.get(*length) == Some(&b'\n'))?;
        self.at += length + 1;
        self.number += 1;
        self.swallow_lf = false;
        Some(value)
    }

    /// Whether all that was read fills whole blocks, as what is left of a program that was killed while it wrote.
    pub(super) fn fills_blocks(&self) -> bool {
        self.text.read_bytes().is_multiple_of(BLOCK_BYTES)
    }

    /// The number of the line that was read last; 0 before the first.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line, of any sort.
    fn odd_line(&mut self) -> Result<Option<Line<'_>>> {
        let mut searched = 0;
        let mut skipping = false;
        loop {
            let rest = self.buffer.get(self.at..).unwrap_or_default();
            let unsearched = rest.as_bytes().get(searched..).unwrap_or_default();
            let end = line_end(unsearched).map(|end| end + searched);
            let Some(end) = end else {
                searched = rest.len();
                if searched > LONGEST_BYTES {
                    self.too_long()?;
                    skipping = true;
                }
                if skipping {
                    self.at = self.buffer.len();
                    searched = 0;
                }
                if self.refill()? {
                    continue;
                }
                return Ok(self.unended_line(skipping));
            };
            let start = self.at;
            let is_cr = rest.as_bytes().get(end) == Some(&b'\r');
            self.at = start + end + 1;
            let after_cr = std::mem::replace(&mut self.swallow_lf, is_cr);
            if after_cr && end == 0 && !skipping && (!is_cr || self.is_before_lf()?) {
                continue;
            }
            if end > LONGEST_BYTES {
                self.too_long()?;
                skipping = true;
            }
            self.number += 1;
            if skipping {
                skipping = false;
                searched = 0;
                continue;
            }
            let text = self.buffer.get(start..start + end).unwrap_or_default();
            let text = if self.coded { without_terminal_codes(text) } else { Cow::Borrowed(text) };
            return Ok(Some(Line { number: self.number, text, ended: true }));
        }
    }

    /// Whether an LF is next, after CR and CR: what a terminal within a terminal makes of an LF.
    fn is_before_lf(&mut self) -> Result<bool> {
        if self.at == self.buffer.len() {
            self.refill()?;
        }
        Ok(self.buffer.as_bytes().get(self.at) == Some(&b'\n'))
    }

    /// More text in the buffer; `false` at the end.
    fn refill(&mut self) -> Result<bool> {
        self.buffer.drain(..self.at);
        self.at = 0;
        // What is left is the beginning of a line, and may hold a code already.
        self.coded &= !self.buffer.is_empty();
        if self.more {
            let before = self.buffer.len();
            self.more = self.text.append(&mut self.buffer)?;
            self.coded |= may_hold_codes(self.buffer.get(before..).unwrap_or_default());
        }
        Ok(self.more)
    }

    fn unended_line(&mut self, skipping: bool) -> Option<Line<'_>> {
        let start = std::mem::replace(&mut self.at, self.buffer.len());
        let text = self.buffer.get(start..).unwrap_or_default();
        // Colours that are switched off after the last line's end are no line.
        if skipping || text.is_empty() || switches_colours_off(text) {
            return None;
        }
        self.number += 1;
        Some(Line { number: self.number, text: without_terminal_codes(text), ended: false })
    }

    fn too_long(&self) -> Result<()> {
        match self.long {
            LongLine::Skip => Ok(()),
            LongLine::Refuse => Err(Error::report(Reject::Malformed, "a line is longer than 8 MiB")
                .in_file(self.text.name())
                .line(self.number + 1)),
        }
    }
}

/// The first LF or CR.
#[inline]
fn line_end(bytes: &[u8]) -> Option<usize> {
    find([b'\n', b'\r', b'\r'], bytes)
}

/// [`str::split_once`], for what is asked of every line: the standard library's search is made for long texts. It looks for
/// the first sign in `part` that is rarer than small letters.
pub(super) fn split_at<'t>(text: &'t str, part: &str) -> Option<(&'t str, &'t str)> {
    let is_rare = |byte: u8| byte.is_ascii_punctuation() || byte.is_ascii_uppercase();
    let mut signs = part.bytes().enumerate();
    let (before, sign) = signs.find(|(_, byte)| is_rare(*byte)).or(part.bytes().enumerate().next())?;
    memchr::memchr_iter(sign, text.as_bytes()).find_map(|at| {
        let (first, rest) = (text.get(..at.checked_sub(before)?)?, text.get(at - before..)?);
        Some((first, rest.strip_prefix(part)?))
    })
}

/// Whether it is digits, at least one, and nothing else: no sign, no dot.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first of three bytes.
#[inline]
pub(super) fn find(any: [u8; 3], bytes: &[u8]) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let [one, two, three] = any;
    // The lowest bit that is set is that of the first such byte.
    let found_in = |word: u64, byte: u8| {
        let zero = word ^ (LOW * u64::from(byte));
        zero.wrapping_sub(LOW) & !zero & (LOW << 7)
    };
    // Starting memchr takes as long as looking at so many words, and most lines, values and texts are no longer.
    let (words, _) = bytes.as_chunks::<8>();
    let near = words.get(..4).unwrap_or(words);
    for (at, word) in near.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = found_in(word, one) | found_in(word, two) | found_in(word, three);
        if found != 0 {
            return Some(at * 8 + usize::try_from(found.trailing_zeros() / 8).unwrap_or_default());
        }
    }
    let far = bytes.get(near.len() * 8..)?;
    Some(near.len() * 8 + memchr::memchr3(one, two, three, far)?)
}

/// Whether ESC is in the text, or the first byte of U+009B and its neighbours.
fn may_hold_codes(text: &str) -> bool {
    memchr::memchr2(b'\x1b', 0xc2, text.as_bytes()).is_some()
}

/// The text without escape sequences: colours, cursor movement, titles, character sets (`ESC ( B`).
pub(super) fn without_terminal_codes(text: &str) -> Cow<'_, str> {
    if !may_hold_codes(text) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\x1b' => match chars.next() {
                Some('[') => skip_control_sequence(&mut chars),
                Some(']' | 'P' | 'X' | '^' | '_') => skip_string(&mut chars),
                // An intermediate byte has one more after it: `ESC ( B`, `ESC # 8`.
                Some(' '..='/') => drop(chars.next()),
                _ => {}
            },
            c => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

/// Up to and with the final byte of `ESC [ …`.
fn skip_control_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

/// Up to and with the end of `ESC ] …`: BEL or `ESC \`.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(c) = chars.next() {
        if c == '\x07' || c == '\u{9c}' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
            return;
        }
    }
}

/// The text without white space around it.
#[inline]
pub(super) fn trimmed(text: &str) -> &str {
    // Nearly all have none, which their first and last byte tell.
    match text.as_bytes() {
        [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim(),
    }
}

/// The text with control characters and those that reorder or hide their neighbours written as `\x1b`, `\u{202e}`; at
/// most `longest` characters, the last of them `…` where more came.
pub(super) fn printable(text: &str, longest: usize) -> String {
    shown(text, longest).into_owned()
}

/// As [`printable`], borrowed where nothing has to be changed.
pub(super) fn shown(text: &str, longest: usize) -> Cow<'_, str> {
    // Not `all`: looking at every byte takes less time than deciding after each.
    if text.len() <= longest && text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len().min(longest));
    for (at, c) in text.chars().enumerate() {
        if at + 1 >= longest && text.chars().nth(longest).is_some() {
            shown.push('…');
            break;
        }
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if u32::from(c) < 0x100 && c.is_control() => shown.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if is_hidden(c) => shown.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Whether the text is nothing but codes for the terminal's own colours, as `ESC [0m`; Boost.Test writes `ESC [0;39;49m`, Chalk
/// `ESC [22m ESC [39m` after bold text; `ESC [?25h` shows the cursor again.
fn switches_colours_off(text: &str) -> bool {
    text.strip_prefix("\x1b[").is_some_and(|rest| {
        rest.split("\x1b[").all(|code| {
            code == "?25h"
                || code
                    .strip_suffix('m')
                    .is_some_and(|code| code.split(';').all(|part| matches!(part, "" | "0" | "22" | "39" | "49")))
        })
    })
}

/// The first lines of a failure's message that say something, at most three and 400 characters, on one line. The stack
/// below it is none of it.
pub(super) fn first_lines(message: &str) -> Option<String> {
    let plain = without_terminal_codes(message);
    let mut lines = plain.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let next = lines.take_while(|line| !is_row(line)).take(2);
    let lines: Vec<&str> = std::iter::once(first).chain(next).collect();
    Some(printable(&lines.join(" | "), 400))
}

/// `at Object.<anonymous> (a.test.js:8:5)`, ``lib/cart.rb:3:in `total'``, `/shop/tests/CartTest.php:7`.
fn is_row(line: &str) -> bool {
    let is_ruby = || line.split_once(".rb:").is_some_and(|(_, rest)| rest.contains(":in "));
    let is_php = || line.rsplit_once(".php:").is_some_and(|(_, line)| line.parse::<u64>().is_ok());
    line.starts_with("at ") || is_ruby() || is_php()
}

/// The fields of a line of CSV; a quote within quotes is written twice.
pub(super) fn fields(line: &str, delimiter: char) -> Option<Vec<String>> {
    let mut fields = vec![String::new()];
    let (mut quoted, mut chars) = (false, line.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => fields.last_mut()?.push('"'),
            '"' => quoted = !quoted,
            c if c == delimiter && !quoted => fields.push(String::new()),
            c => fields.last_mut()?.push(c),
        }
    }
    (!quoted).then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, long: LongLine) -> Result<Vec<(u64, String, bool)>> {
        let input = Input::bytes("x", text.as_bytes());
        let mut lines = Lines::new(&input, long, Invalid::Escaped)?;
        let mut all = Vec::new();
        while let Some(line) = lines.next()? {
            all.push((line.number, line.text.into_owned(), line.ended));
        }
        Ok(all)
    }

    #[test]
    fn a_text_is_split_where_the_standard_library_splits_it() {
        for text in
            ["", "é: b: c", "a :b", ": é", "a (Wstat: b (Wstat: c", "é)): [b", "a é ... b", "a ..... b", "an un un"]
        {
            for part in [": ", " (Wstat: ", "): [", " ... ", "é", "un"] {
                assert_eq!(split_at(text, part), text.split_once(part), "{text} {part}");
            }
        }
    }

    #[test]
    fn p08_lines_end_in_lf_crlf_or_cr() {
        let expected = [(1, "a", true), (2, "b", true), (3, "", true), (4, "c", true), (5, "d", false)]
            .map(|(number, text, ended)| (number, text.to_owned(), ended));
        assert_eq!(lines("a\nb\r\n\r\nc\rd", LongLine::Refuse).unwrap(), expected);
        assert_eq!(lines("", LongLine::Refuse).unwrap(), []);
        assert_eq!(lines("\n", LongLine::Refuse).unwrap(), [(1, String::new(), true)]);
        assert_eq!(lines("a\n\x1b[0m", LongLine::Refuse).unwrap().len(), 1, "colours are off, and no line is cut");
        assert_eq!(lines("a\n\x1b[0;39;49m\x1b[m", LongLine::Refuse).unwrap().len(), 1);
        assert_eq!(lines("a\n\x1b[22m\x1b[39m", LongLine::Refuse).unwrap().len(), 1);
        assert_eq!(lines("a\n\x1b[0m\x1b[?25h", LongLine::Refuse).unwrap().len(), 1);
        assert_eq!(lines("a\n\x1b[31m", LongLine::Refuse).unwrap().len(), 2, "what was to be red is missing");
        let numbered = |text: &str| {
            lines(text, LongLine::Refuse).unwrap().into_iter().map(|(_, text, _)| text).collect::<Vec<_>>()
        };
        assert_eq!(numbered("a\r\r\n\r\r\nb\r\rc\n"), ["a", "", "b", "", "c"], "a terminal within a terminal");
        for end in ["\r\n", "\r\r\n"] {
            for before in 1..=end.len() {
                let border = format!("{}{end}z\n", "a".repeat(64 * 1024 - before));
                assert_eq!(lines(&border, LongLine::Refuse).unwrap().len(), 2, "CR and LF in different chunks");
            }
        }
    }

    #[test]
    fn a_byte_is_found_wherever_it_stands() {
        for length in 0..50 {
            let mut bytes = vec![b'b'; length];
            assert_eq!(find([b'a', 0, 0x80], &bytes), None, "{length}");
            for at in (0..length).rev() {
                // Neighbours of what is looked for are what a search in words may mistake for it.
                for (byte, after) in [(b'a', b'`'), (0, 1), (0x80, 0x81)] {
                    (bytes[at], bytes[length - 1]) = (byte, if at + 1 < length { after } else { byte });
                    assert_eq!(find([b'a', 0, 0x80], &bytes), Some(at), "{bytes:?}");
                }
                bytes[at..].fill(0xff);
            }
        }
    }

    #[test]
    fn p16_a_line_over_8_mib_is_refused_or_skipped() {
        let text = format!("a\n{}\nb\n", "x".repeat(LONGEST_BYTES + 1));
        let error = lines(&text, LongLine::Refuse).unwrap_err();
        assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)));
        let kept: Vec<_> = lines(&text, LongLine::Skip).unwrap().into_iter().map(|(n, t, _)| (n, t)).collect();
        assert_eq!(kept, [(1, "a".to_owned()), (3, "b".to_owned())]);
        let just = format!("{}\n", "x".repeat(LONGEST_BYTES));
        assert_eq!(lines(&just, LongLine::Refuse).unwrap().len(), 1);
    }

    #[test]
    fn terminal_codes_go_and_text_stays() {
        for (coloured, plain) in [
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b(Bx", "x"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]52;c;AAAA\x1b\\x", "x"),
            ("a\x1b[2Kb\x1b[?25h", "ab"),
            ("\x1b[", ""),
            ("\x1bMx", "x"),
            ("é\u{9b}31mü", "éü"),
        ] {
            assert_eq!(without_terminal_codes(coloured), plain, "{coloured:?}");
        }
    }

    #[test]
    fn p11_what_is_shown_has_no_control_characters() {
        assert_eq!(printable("a\x1b]52;b\u{202e}\0\n\u{7f}é", 100), "a\\x1b]52;b\\u{202e}\\x00\\n\\x7fé");
        assert_eq!(printable("abcdef", 4), "abc…");
        assert_eq!(printable("abcd", 4), "abcd");
        assert_eq!(first_lines("\n  one\n\n\x1b[31mtwo\nthree\nfour").as_deref(), Some("one | two | three"));
        assert_eq!(first_lines(" \n"), None);
        for row in ["at f (a.js:8:5)", "lib/cart.rb:3:in `total'", "/shop/CartTest.php:7"] {
            assert_eq!(first_lines(&format!("no\n\n{row}\nmore")).as_deref(), Some("no"));
        }
    }
}
