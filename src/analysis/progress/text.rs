//! What of an agent's output counts: text without what differs anyway, markers, checked items.

/// On one line: line ends and runs of white space are one space, terminal sequences are gone, both ends are trimmed. With
/// `mask`, what differs from run to run although nothing happened is replaced by its kind.
pub fn normalized(text: &str, mask: bool) -> String {
    words(&without_escapes(text), mask)
}

/// The same line by line; lines without text are left out.
pub fn normalized_lines(text: &str, mask: bool) -> Vec<String> {
    without_escapes(text).lines().map(|line| words(line, mask)).filter(|line| !line.is_empty()).collect()
}

/// How many `<progress>…</progress>` there are; one that is not closed is none, an empty one is one.
pub fn markers(text: &str) -> u64 {
    let mut rest = text;
    let mut count = 0;
    while let Some((_, inside)) = rest.split_once("<progress>")
        && let Some((_, after)) = inside.split_once("</progress>")
    {
        count += 1;
        rest = after;
    }
    count
}

/// How many list items are checked: `- [x]`, `* [X]`, `+ [x]`.
pub fn checked_items(text: &str) -> u64 {
    items(text, &["[x]", "[X]"])
}

/// How many are not: `- [ ]`.
pub fn unchecked_items(text: &str) -> u64 {
    items(text, &["[ ]"])
}

fn items(text: &str, boxes: &[&str]) -> u64 {
    let has_box = |line: &&str| {
        let item = line.trim_start().strip_prefix(['-', '*', '+']);
        let item = item.and_then(|item| item.strip_prefix([' ', '\t'])).map(str::trim_start);
        item.is_some_and(|item| boxes.iter().any(|mark| item.starts_with(mark)))
    };
    u64::try_from(text.lines().filter(has_box).count()).unwrap_or(u64::MAX)
}

/// Without colours, cursor movements and titles.
fn without_escapes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\x1b' {
            clean.push(c);
            continue;
        }
        match rest.next() {
            // Parameters up to a final byte.
            Some('[') => {
                rest.by_ref().find(|c| matches!(c, '@'..='~'));
            }
            // A text up to BEL or ESC \.
            Some(']' | 'P' | 'X' | '^' | '_') => {
                let end = rest.by_ref().find(|c| matches!(c, '\x07' | '\x1b'));
                if end == Some('\x1b') {
                    rest.next_if_eq(&'\\');
                }
            }
            _ => {}
        }
    }
    clean
}

fn words(text: &str, mask: bool) -> String {
    let mut all = String::with_capacity(text.len());
    let mut before = "";
    let mut rest = text.split_whitespace().peekable();
    while let Some(word) = rest.next() {
        if !all.is_empty() {
            all.push(' ');
        }
        let kind = if mask { volatile(word, before, rest.peek().copied()) } else { None };
        match kind {
            Some((kind, core)) => all.push_str(&word.replacen(core, kind, 1)),
            None => all.push_str(word),
        }
        before = word;
    }
    all
}

/// Characters around a word that are not part of it.
const AROUND: [char; 13] = ['(', ')', '[', ']', '{', '}', ',', ';', ':', '"', '\'', '`', '.'];

/// If a word differs from run to run: its kind, and the part of the word that is meant.
fn volatile<'w>(word: &'w str, before: &str, after: Option<&str>) -> Option<(&'static str, &'w str)> {
    let whole = word.trim_matches(AROUND);
    if is_process(before) && is_number(whole) {
        return Some(("<pid>", whole));
    }
    // `pid=12`, `time=0.3s`, `at=0x7f00`.
    let (key, core) = whole.rsplit_once('=').unwrap_or(("", whole));
    let core = core.trim_matches(AROUND);
    let kind = if core.is_empty() {
        return None;
    } else if is_process(key) && is_number(core) {
        "<pid>"
    } else if is_uuid(core) {
        "<uuid>"
    } else if core.strip_prefix("0x").is_some_and(|hex| hex.len() >= 4 && hex.chars().all(|c| c.is_ascii_hexdigit())) {
        "<address>"
    } else if is_time(core) {
        "<time>"
    } else if is_duration(core) || (is_number(core) && after.is_some_and(|after| is_unit(after.trim_matches(AROUND)))) {
        "<duration>"
    } else if TEMPORARY.iter().any(|folder| core.starts_with(folder)) {
        "<temporary>"
    } else {
        return None;
    };
    Some((kind, core))
}

/// Where systems keep what is gone tomorrow.
const TEMPORARY: [&str; 5] = ["/tmp/", "/var/tmp/", "/var/folders/", "/private/var/folders/", "/private/tmp/"];

fn is_process(word: &str) -> bool {
    word.trim_matches(AROUND).eq_ignore_ascii_case("pid")
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn is_unit(word: &str) -> bool {
    matches!(
        word,
        "ns" | "us" | "µs" | "ms" | "s" | "sec" | "secs" | "second" | "seconds" | "min" | "mins" | "minute" | "minutes"
    )
}

fn is_duration(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = word.strip_suffix(unit).unwrap_or_default();
    // `1m30s` is a duration followed by another.
    let parts =
        unit.split_once('m').filter(|(before, rest)| before.is_empty() && is_number(rest.trim_end_matches('s')));
    is_number(number) && (is_unit(unit) || matches!(unit, "m" | "h") || parts.is_some())
}

fn is_uuid(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.chars().all(|c| c.is_ascii_hexdigit()))
}

/// `12:30:05`, `12:30:05.123`, `2024-05-17`, `2024-05-17T12:30:05Z`.
fn is_time(word: &str) -> bool {
    let shape: String = word.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    let is_clock = |shape: &str| {
        shape
            .strip_prefix("99:99:99")
            .is_some_and(|rest| rest.chars().all(|c| matches!(c, '9' | '.' | ',' | 'Z' | '+' | '-' | ':')))
    };
    match shape.strip_prefix("9999-99-99") {
        Some("") => true,
        Some(rest) => rest.strip_prefix(['T', '_']).is_some_and(is_clock),
        None => is_clock(&shape),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_terminal_sequences_are_no_text() {
        assert_eq!(normalized(" a\r\n\tb\x1b[1;31m c\x1b[0m\x1b]0;title\x07 d\x1b]8;;x\x1b\\e \n", false), "a b c de");
        assert_eq!(normalized_lines("a  b\r\n\r\n \x1b[2K \nc", false), ["a b", "c"]);
        assert_eq!(normalized("cut \x1b[", false), "cut");
    }

    #[test]
    fn what_differs_from_run_to_run_is_masked_and_counts_are_not() {
        for (text, masked) in [
            ("finished in 1.53s", "finished in <duration>"),
            ("took 12 ms, then (3 seconds)", "took <duration> ms, then (<duration> seconds)"),
            ("at 2024-05-17T12:30:05.123Z", "at <time>"),
            ("[12:30:05] 2024-05-17 started", "[<time>] <time> started"),
            ("object 0x7ffd12 at=0x7ffd12", "object <address> at=<address>"),
            ("id 123e4567-e89b-12d3-a456-426614174000.", "id <uuid>."),
            ("in /tmp/pytest-1/x.py:", "in <temporary>:"),
            ("pid 4711, [pid=12]", "pid <pid>, [pid=<pid>]"),
            ("1m30s 2h 5m", "<duration> <duration> <duration>"),
        ] {
            assert_eq!(normalized(text, true), masked);
        }
        for kept in ["Ran tests: 3 failed, 5 passed", "line 12", "v1.2.3", "0x1", "12:30", "3 files", "5 max"] {
            assert_eq!(normalized(kept, true), kept);
        }
        assert_eq!(normalized("in 1.53s", false), "in 1.53s");
    }

    #[test]
    fn markers_must_be_closed_and_may_be_empty() {
        assert_eq!(markers("<progress>a\nb</progress> <progress></progress>"), 2);
        assert_eq!(markers("<progress>a <progress>b</progress>"), 1);
        assert_eq!(markers("</progress><progress>never closed"), 0);
    }

    #[test]
    fn only_list_items_can_be_checked() {
        assert_eq!(checked_items("- [x] a\n  * [X] b\n+\t[x] c\n"), 3);
        assert_eq!(unchecked_items("- [ ] a\n[ ] b\n * [ ] c\n- [x] d\n- [] e"), 2);
        assert_eq!(checked_items("- [ ] a\n[x] b\n-[x] c\ntext - [x] d\n1. [x] e"), 0);
    }
}
