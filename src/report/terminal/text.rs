//! Text on a terminal: how wide it is, how it is broken into lines, how it is coloured.
//!
//! A tone travels through layout as a pair of invisible characters of no width, and becomes an ANSI code, or nothing, when
//! the page is finished. Text from outside cannot hold those characters: `view::plain` escapes them.

use comfy_table::{Table, presets};

/// What a piece of text means to the reader; the colour follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// The one thing to read.
    Strong,
    /// Present, but not asking for attention.
    Dim,
    /// A gain.
    Good,
    /// Worth a look.
    Warn,
    /// A loss.
    Bad,
}

impl Tone {
    /// The mark that opens the tone, and the ANSI code that it becomes.
    const MARKS: [(Tone, char, &'static str); 5] = [
        (Tone::Strong, '\u{2061}', "\x1b[1m"),
        (Tone::Dim, '\u{2062}', "\x1b[2m"),
        (Tone::Good, '\u{2063}', "\x1b[32m"),
        (Tone::Warn, '\u{2064}', "\x1b[33m"),
        (Tone::Bad, '\u{206a}', "\x1b[31m"),
    ];

    fn mark(self) -> char {
        Tone::MARKS.iter().find(|(tone, ..)| *tone == self).map_or(END, |(_, mark, _)| *mark)
    }
}

/// The mark that ends the tones opened before it.
const END: char = '\u{2060}';

/// The text in a tone.
pub(super) fn toned(tone: Tone, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{}{text}{END}", tone.mark()) }
}

/// Marks become ANSI codes, or nothing. A tone that spans lines is ended with each and taken up again in the next, so that
/// a line can be read alone. Blanks at a line's end go.
pub(super) fn paint(text: &str, colour: bool) -> String {
    let mut painted = String::with_capacity(text.len());
    let mut open: Vec<&str> = Vec::new();
    for line in text.lines() {
        let mut out: String = open.concat();
        for c in line.chars() {
            if c == END {
                if colour && !open.is_empty() {
                    out.push_str("\x1b[0m");
                }
                open.clear();
            } else if let Some((.., code)) = Tone::MARKS.iter().find(|(_, mark, _)| *mark == c) {
                if colour {
                    out.push_str(code);
                    open.push(code);
                }
            } else {
                out.push(c);
            }
        }
        painted.push_str(out.trim_end());
        painted.push_str(if open.is_empty() { "\n" } else { "\x1b[0m\n" });
    }
    painted
}

/// Columns that the text takes, tones aside. Measured by comfy-table, so that lines and tables agree.
pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_row([text]);
    table.column_max_content_widths().first().copied().map_or(0, usize::from)
}

/// The text in at most `limit` columns, what is cut off told by an ellipsis. Not for text with tones.
pub(super) fn fit(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut kept = head(text, limit.saturating_sub(1)).to_owned();
    kept.push('…');
    kept
}

/// As much of the text, from its beginning, as fits into `limit` columns.
fn head(text: &str, limit: usize) -> &str {
    let mut kept = "";
    for (at, c) in text.char_indices() {
        // Width is that of the whole beginning, because characters may join.
        let Some(longer) = text.get(..at + c.len_utf8()) else { break };
        if width(longer) > limit {
            break;
        }
        kept = longer;
    }
    kept
}

/// The text with blanks behind it, up to `columns`.
pub(super) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Broken between words into lines: the first of at most `first` columns, the others of at most `rest`. A word that is
/// longer than a whole line is broken too.
pub(super) fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let limit = |lines: &[String]| if lines.is_empty() { first.max(1) } else { rest.max(1) };
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word = word;
        let gap = usize::from(!line.is_empty());
        if width(&line) + gap + width(word) > limit(&lines) && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        while width(word) > limit(&lines) {
            let part = head(word, limit(&lines));
            // A character wider than the whole line: better one column too many than no end.
            let part = if part.is_empty() { word } else { part };
            lines.push(part.to_owned());
            word = word.strip_prefix(part).unwrap_or_default();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::view::plain;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_is_broken_without_loss_and_never_too_wide(text in "(?s).{0,80}", first in 4usize..40, rest in 4usize..40) {
            let text = plain(&text);
            let lines = wrap(&text, first, rest);
            for (n, line) in lines.iter().enumerate() {
                prop_assert!(width(line) <= if n == 0 { first } else { rest }, "{line:?}");
            }
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }

        #[test]
        fn any_text_fits_when_cut(text in "(?s).{0,80}", limit in 1usize..40) {
            prop_assert!(width(&fit(&plain(&text), limit)) <= limit);
        }
    }

    #[test]
    fn tones_have_no_width_and_vanish_without_colour() {
        let text = toned(Tone::Bad, "regression");
        assert_eq!(width(&text), 10);
        assert_eq!(paint(&text, false), "regression\n");
        assert_eq!(paint(&text, true), "\x1b[31mregression\x1b[0m\n");
    }

    #[test]
    fn a_tone_over_two_lines_is_whole_in_each() {
        let text = toned(Tone::Dim, "a\nb");
        assert_eq!(paint(&text, true), "\x1b[2ma\x1b[0m\n\x1b[2mb\x1b[0m\n");
    }

    #[test]
    fn text_from_outside_cannot_hold_the_marks() {
        for (_, mark, _) in Tone::MARKS {
            assert!(!plain(&mark.to_string()).contains(mark));
        }
        assert!(!plain(&END.to_string()).contains(END));
    }

    #[test]
    fn wide_and_joining_characters_are_measured() {
        assert_eq!(width("漢字"), 4);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(width("▏▎▍▌▋▊▉█ ▁▂▃▄▅▆▇ ▲–…·"), 21);
        assert_eq!(fit("漢字漢字", 5), "漢字…");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abcd", 3), "ab…");
    }

    #[test]
    fn lines_are_broken_between_words_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7, 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3, 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("abcdefgh ij", 4, 2), ["abcd", "ef", "gh", "ij"]);
        assert_eq!(wrap("", 5, 5), [""]);
        assert_eq!(wrap("漢字漢", 1, 1), ["漢字漢"]);
        for line in wrap("漢字漢字 and more 漢字", 5, 5) {
            assert!(width(&line) <= 5, "{line}");
        }
    }
}
