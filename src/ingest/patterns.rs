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

/// Nearly all lines are told by their first character, or by what follows their first number.
#[inline]
fn may_begin(pattern: &str, text: &str) -> bool {
    match (pattern.as_bytes(), text.as_bytes()) {
        ([b'@', b'a'..=b'z', wanted, ..], [b'0'..=b'9', rest @ ..]) if !matches!(wanted, b'{' | b'@') => {
            rest.iter().find(|byte| !byte.is_ascii_digit()) == Some(wanted)
        }
        ([b'@', ..], text) => text.first().is_some_and(u8::is_ascii_digit),
        ([b'{', ..] | [], _) => true,
        ([wanted, ..], text) => text.first() == Some(wanted),
    }
}

/// Patterns by the first byte, but for blanks, of the lines that they may match: most lines are nobody's, and that is told at
/// once.
pub(super) struct Index<T: 'static>(Vec<Vec<(&'static T, bool)>>);

impl<T> Index<T> {
    /// Of what has a pattern each.
    pub(super) fn of(all: &'static [T], pattern: impl Fn(&'static T) -> &'static str) -> Index<T> {
        let mut index = Index((0..=u8::MAX).map(|_| Vec::new()).collect());
        for one in all {
            let pattern = pattern(one);
            let mut first = [false; 256];
            beginnings(pattern, &mut first);
            let slots = index.0.iter_mut().zip(first).filter(|(_, is_first)| *is_first);
            slots.for_each(|(slot, _)| slot.push((one, is_indented(pattern))));
        }
        index
    }

    /// Those that may match the line, in their order, and the line as each of them expects it.
    pub(super) fn like<'t>(&self, line: &'t str) -> impl Iterator<Item = (&'static T, &'t str)> {
        let trimmed = line.trim_start();
        let like = trimmed.bytes().next().and_then(|first| self.0.get(usize::from(first)));
        like.into_iter().flatten().map(move |(one, is_indented)| (*one, if *is_indented { line } else { trimmed }))
    }
}

/// Marks the bytes with which a line may begin that the pattern matches, but for blanks.
fn beginnings(pattern: &str, bytes: &mut [bool; 256]) {
    let pattern = pattern.trim_start();
    let Some(first) = pattern.bytes().next() else { return };
    let behind = pattern.get(1..).unwrap_or_default();
    match first {
        b'{' => {
            let (may_be, rest) = behind.split_at(closing(behind).unwrap_or(behind.len()));
            beginnings(may_be, bytes);
            beginnings(rest.strip_prefix('}').unwrap_or(rest), bytes);
        }
        b'@' => bytes.iter_mut().skip(usize::from(b'0')).take(10).for_each(|digit| *digit = true),
        first => bytes.iter_mut().skip(usize::from(first)).take(1).for_each(|byte| *byte = true),
    }
}

/// A line as a pattern expects it: most tools' output stands as well further in.
pub(super) fn indented<'t>(pattern: &str, text: &'t str) -> &'t str {
    if is_indented(pattern) { text } else { text.trim_start() }
}

fn is_indented(pattern: &str) -> bool {
    pattern.starts_with(' ')
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
            _ => {
                let length = rest.find(['{', '@', ' ']).unwrap_or(rest.len());
                let (literal, behind) = rest.split_at_checked(length)?;
                (text, rest) = (text.strip_prefix(literal)?, behind);
            }
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
    fn a_line_is_matched_against_the_patterns_that_begin_like_it() {
        const PATTERNS: [&str; 4] = ["{a}{b }c@p", "  [ d", "@f e", "é"];
        let index = Index::of(&PATTERNS, |pattern| pattern);
        let like = |line| index.like(line).map(|(one, text)| (*one, text)).collect::<Vec<_>>();
        for (line, pattern, text) in [
            ("ac3", 0, "ac3"),
            (" b c", 0, "b c"),
            ("c", 0, "c"),
            ("  [", 1, "  ["),
            ("[ d", 1, "[ d"),
            (" 7 e", 2, "7 e"),
            ("é", 3, "é"),
        ] {
            assert_eq!(like(line), [(PATTERNS[pattern], text)]);
        }
        for line in ["x", "", " ", "e", "d", "@f", "}"] {
            assert_eq!(like(line), [], "{line}");
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
