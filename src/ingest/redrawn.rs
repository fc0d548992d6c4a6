//! Lines that are painted anew: a terminal's codes that go back to the first column and erase what stands there say what a
//! carriage return says. Spinners and lists of tasks are written so.

/// A row of codes that is longer than that is no single step of the cursor.
const HELD_BYTES: usize = 256;

/// A step to the left that ends in the first column: no narrower terminal is written for.
const FAR_LEFT: u32 = 80;

/// Puts a CR in place of such codes, chunk by chunk.
pub(super) struct Redrawn {
    /// Codes at the end of the last chunk, which may go on.
    held: String,
    /// Whether nothing stands in the line yet.
    is_at_start: bool,
}

impl Redrawn {
    /// At the beginning of a text.
    pub(super) fn new() -> Redrawn {
        Redrawn { held: String::new(), is_at_start: true }
    }

    /// Takes what was appended to the text from there on; `is_last` if no more will come.
    pub(super) fn chunk(&mut self, text: &mut String, from: usize, is_last: bool) {
        let fresh = text.get(from..).unwrap_or_default();
        if self.held.is_empty() && memchr::memchr(b'\x1b', fresh.as_bytes()).is_none() {
            self.is_at_start = fresh.chars().next_back().map_or(self.is_at_start, |c| matches!(c, '\n' | '\r'));
            return;
        }
        let mut fresh = std::mem::take(&mut self.held);
        fresh.push_str(text.get(from..).unwrap_or_default());
        text.truncate(from);
        let mut rest = fresh.as_str();
        while let Some(at) = memchr::memchr(b'\x1b', rest.as_bytes()) {
            let (plain, codes) = rest.split_at(at);
            self.push(text, plain);
            let row = Row::of(codes);
            if row.is_open && !is_last && codes.len() <= HELD_BYTES {
                codes.clone_into(&mut self.held);
                return;
            }
            let (row_text, after) = codes.split_at(row.bytes);
            match (row.begins_line, self.is_at_start) {
                (true, true) => {}
                (true, false) => self.push(text, "\r"),
                (false, _) => text.push_str(row_text),
            }
            rest = after;
        }
        self.push(text, rest);
    }

    fn push(&mut self, text: &mut String, plain: &str) {
        self.is_at_start = plain.chars().next_back().map_or(self.is_at_start, |c| matches!(c, '\n' | '\r'));
        text.push_str(plain);
    }
}

/// Codes `ESC [ …` with nothing between them.
struct Row {
    /// At least one: that of the ESC that is none.
    bytes: usize,
    /// Whether it may go on behind the text's end.
    is_open: bool,
    begins_line: bool,
}

impl Row {
    fn of(text: &str) -> Row {
        let (mut rest, mut is_first, mut is_erased, mut begins_line) = (text, false, false, false);
        let is_open = loop {
            if rest.is_empty() || rest == "\x1b" {
                break true;
            }
            let Some(code) = rest.strip_prefix("\x1b[") else { break false };
            let after = code.trim_start_matches(|c| matches!(c, ' '..='?'));
            if after.is_empty() {
                break true;
            }
            let parameters = code.get(..code.len() - after.len()).unwrap_or_default();
            let Some(last) = after.chars().next().filter(|last| matches!(last, '@'..='~')) else { break false };
            match (last, parameters) {
                ('G', "" | "0" | "1") => is_first = true,
                ('D', far) => is_first |= far.parse().is_ok_and(|columns: u32| columns >= FAR_LEFT),
                // All of it, and not only what stands behind the cursor.
                ('K' | 'J', "2") => is_erased = true,
                ('K' | 'J', "" | "0") => is_erased |= is_first,
                _ => {}
            }
            begins_line |= is_first && is_erased;
            rest = after.get(1..).unwrap_or_default();
        };
        Row { bytes: (text.len() - rest.len()).max(1), is_open, begins_line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redrawn(chunks: &[&str]) -> String {
        let (mut redrawn, mut all) = (Redrawn::new(), String::new());
        for (chunk, is_last) in chunks.iter().map(|chunk| (*chunk, false)).chain([("", true)]) {
            let mut text = chunk.to_owned();
            redrawn.chunk(&mut text, 0, is_last);
            all.push_str(&text);
        }
        all
    }

    #[test]
    fn a_line_that_is_erased_from_its_first_column_on_begins_anew() {
        for (codes, begins) in [
            ("\x1b[1G\x1b[0K", true),
            ("\x1b[G\x1b[K", true),
            ("\x1b[2K\x1b[1G", true),
            ("\x1b[999D\x1b[K", true),
            ("\x1b[80D\x1b[2K", true),
            ("\x1b[2K\x1b[1G\x1b[1A\x1b[2K\x1b[1G\x1b[?25h\x1b[32m", true),
            ("\x1b[1G\x1b[0J", true),
            ("\x1b[K\x1b[1G", false),
            ("\x1b[1G", false),
            ("\x1b[2K", false),
            ("\x1b[2K\x1b[2G", false),
            ("\x1b[79D\x1b[K", false),
            ("\x1b[D\x1b[K", false),
            ("\x1b[99999999999D\x1b[K", false),
            ("\x1b[01m\x1b[K", false),
            ("\x1b[1K\x1b[1G", false),
        ] {
            let expected = if begins { "a\rb" } else { &format!("a{codes}b") };
            assert_eq!(redrawn(&[&format!("a{codes}b")]), expected, "{codes:?}");
            // However the chunks fall.
            for at in 0..=codes.len() {
                let (one, two) = codes.split_at(at);
                assert_eq!(redrawn(&[&format!("a{one}"), &format!("{two}b")]), expected, "{codes:?} {at}");
            }
        }
    }

    #[test]
    fn what_erases_nothing_is_no_line() {
        let codes = "\x1b[2K\x1b[1G";
        assert_eq!(redrawn(&[&format!("{codes}a\r\n{codes}b\n"), codes, "c", codes]), "a\r\nb\nc\r");
        assert_eq!(redrawn(&["\x1b[?25h", "\x1b(B\x1b", "M"]), "\x1b[?25h\x1b(B\x1bM");
        let long = format!("a{}b", "\x1b[0m".repeat(HELD_BYTES));
        assert_eq!(redrawn(&[&long, &long]), format!("{long}{long}"));
    }
}
