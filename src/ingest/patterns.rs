//! Patterns of lines: what a tool's line says, and where its numbers stand in it.
//!
//! `@` and a letter is a number, which [`Numbers`] takes by that letter: digits; after `@_` and `@.` points may be among them,
//! a capital is a number of which the line has no digits, `@*` is whatever follows. `{…}` may be missing. A space is one or
//! several.

/// The numbers of a line, as they come.
pub(super) trait Numbers: Clone {
    /// Takes one. `None` if it cannot be.
    fn take(&mut self, kind: char, digits: &str) -> Option<()>;
}

/// Matches all of a line, and takes its numbers.
pub(super) fn line<N: Numbers>(pattern: &str, text: &str, numbers: &mut N) -> bool {
    if !may_begin(pattern, text) {
        return false;
    }
    let mut taken = numbers.clone();
    let is_whole = part(pattern, text, &mut taken) == Some("");
    if is_whole {
        *numbers = taken;
    }
    is_whole
}

/// Nearly all lines are told by their first character.
#[inline]
fn may_begin(pattern: &str, text: &str) -> bool {
    match (pattern.as_bytes().first(), text.as_bytes().first()) {
        (Some(b'@'), first) => first.is_some_and(u8::is_ascii_digit),
        (Some(b'{') | None, _) => true,
        (wanted, first) => wanted == first,
    }
}

/// The first bytes, but for blanks, of the lines that some patterns may match: most lines are nobody's, and that is told at once.
pub(super) struct Beginnings([bool; 256]);

impl Beginnings {
    /// Those of patterns.
    pub(super) fn of<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Beginnings {
        let mut beginnings = Beginnings([false; 256]);
        patterns.into_iter().for_each(|pattern| beginnings.add(pattern));
        beginnings
    }

    fn add(&mut self, pattern: &str) {
        let pattern = pattern.trim_start();
        let Some(first) = pattern.bytes().next() else { return };
        let behind = pattern.get(1..).unwrap_or_default();
        match first {
            b'{' => {
                let (may_be, rest) = behind.split_at(closing(behind).unwrap_or(behind.len()));
                self.add(may_be);
                self.add(rest.strip_prefix('}').unwrap_or(rest));
            }
            b'@' => (b'0'..=b'9').for_each(|digit| self.set(digit)),
            first => self.set(first),
        }
    }

    fn set(&mut self, byte: u8) {
        if let Some(is_one) = self.0.get_mut(usize::from(byte)) {
            *is_one = true;
        }
    }

    /// Whether one of the patterns may match the line.
    pub(super) fn may_be_of(&self, line: &str) -> bool {
        let first = line.trim_start().bytes().next();
        first.and_then(|byte| self.0.get(usize::from(byte))).is_some_and(|is_one| *is_one)
    }
}

/// A line as a pattern expects it: most tools' output stands as well further in.
pub(super) fn indented<'t>(pattern: &str, text: &'t str) -> &'t str {
    if pattern.starts_with(' ') { text } else { text.trim_start() }
}

/// Matches the beginning of a text; what is behind it.
fn part<'t, N: Numbers>(pattern: &str, mut text: &'t str, numbers: &mut N) -> Option<&'t str> {
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let behind = rest.get(next.len_utf8()..)?;
        match next {
            '{' => {
                let inner = behind.get(..closing(behind)?)?;
                let mut taken = numbers.clone();
                if let Some(left) = part(inner, text, &mut taken) {
                    (*numbers, text) = (taken, left);
                }
                rest = behind.get(inner.len() + 1..)?;
            }
            '@' => {
                let kind = behind.chars().next()?;
                text = number(kind, text, numbers)?;
                rest = behind.get(kind.len_utf8()..)?;
            }
            ' ' => {
                let left = text.trim_start_matches(' ');
                (text, rest) = ((left.len() < text.len()).then_some(left)?, behind);
            }
            _ => (text, rest) = (text.strip_prefix(next)?, behind),
        }
    }
    Some(text)
}

fn number<'t, N: Numbers>(kind: char, text: &'t str, numbers: &mut N) -> Option<&'t str> {
    if kind == '*' {
        return Some("");
    }
    let is_digit = |c: char| c.is_ascii_digit() || (matches!(kind, '_' | '.') && c == '.');
    let left = if kind.is_uppercase() { text } else { text.trim_start_matches(is_digit) };
    let digits = text.get(..text.len() - left.len())?;
    if kind == '_' {
        return (!digits.is_empty()).then_some(left);
    }
    numbers.take(kind, digits).map(|()| left)
}

/// Where the brace is that closes the one before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Numbers for Vec<String> {
        fn take(&mut self, kind: char, digits: &str) -> Option<()> {
            self.push(format!("{kind}{digits}"));
            Some(())
        }
    }

    fn taken(pattern: &str, text: &str) -> Option<Vec<String>> {
        let mut numbers = Vec::new();
        line(pattern, text, &mut numbers).then_some(numbers)
    }

    #[test]
    fn what_no_pattern_begins_like_none_matches() {
        let beginnings = Beginnings::of(["{a}{b }c@p", "  [ d", "@f e", "é"]);
        for (lines, may_be) in
            [(["ac3", " b c", "c", "[ d", "7 e", "é"], true), (["x", "", " ", "e", "d", "@f"], false)]
        {
            lines.iter().for_each(|line| assert_eq!(beginnings.may_be_of(line), may_be, "{line}"));
        }
    }

    #[test]
    fn a_line_is_matched_as_a_whole() {
        assert_eq!(taken("@p ok{, @f bad}{ in @_ s}", "3  ok, 4 bad in 1.5 s").unwrap(), ["p3", "f4"]);
        assert_eq!(taken("@p ok{, @f bad}{ in @_ s}", "3 ok").unwrap(), ["p3"]);
        assert_eq!(taken("{a }@.%@*", "75.5% and more").unwrap(), [".75.5"]);
        assert_eq!(taken("one@P", "one").unwrap(), ["P"]);
        for (pattern, text) in [("@p ok", "3 ok."), ("@p ok", "x ok"), ("a@_b", "ab"), ("@w has", " has"), ("{a", "a")]
        {
            assert_eq!(taken(pattern, text), None, "{text}");
        }
    }
}
