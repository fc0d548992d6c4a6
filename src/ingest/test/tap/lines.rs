//! The lines of TAP.

use crate::ingest::text::is_number;
use crate::model::cases::Outcome;

/// A test point.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub number: Option<u64>,
    /// Its description, without number and directive.
    pub name: String,
    pub outcome: Outcome,
    /// Milliseconds of a `# time=…`.
    pub duration_ms: Option<u64>,
    /// A `{` at its end opens its subtest.
    pub opens: bool,
}

/// What a line is. Indentations are in columns.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `TAP version 13`.
    Version,
    /// `1..5`.
    Plan(usize, u64),
    /// `1..N`: a plan that tells no number.
    OpenPlan(usize),
    /// `ok 1 - name`.
    Point(usize, Point),
    /// `{` alone, below a point and its YAML: node-tap 14 opens a subtest so where there is YAML.
    Open(usize),
    /// `}`.
    Close(usize),
    /// `# Subtest: name`.
    Subtest(usize, &'a str),
    /// `Bail out! reason`.
    Bail(&'a str),
    /// `---`.
    Yaml(usize),
    /// Comments, output.
    Other,
}

/// Reads a line.
pub(super) fn read(line: &str) -> Line<'_> {
    let line = line.trim_end();
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    if let Some(version) = text.strip_prefix("TAP version ") {
        return if version.parse::<u64>().is_ok() { Line::Version } else { Line::Other };
    }
    if let Some(reason) = text.strip_prefix("Bail out!") {
        return Line::Bail(reason.trim());
    }
    if let Some(name) = text.strip_prefix("# Subtest: ") {
        return Line::Subtest(indent, name.trim());
    }
    match text {
        "1..N" => return Line::OpenPlan(indent),
        "---" => return Line::Yaml(indent),
        "{" => return Line::Open(indent),
        "}" => return Line::Close(indent),
        _ => {}
    }
    if let Some(count) = plan(text) {
        return Line::Plan(indent, count);
    }
    point(text).map_or(Line::Other, |point| Line::Point(indent, point))
}

/// `5` of `1..5`, with or without a directive.
fn plan(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("1..")?;
    let (count, comment) = rest.split_once(' ').unwrap_or((rest, "#"));
    (is_number(count) && comment.trim_start().starts_with('#')).then(|| count.parse().ok())?
}

fn point(text: &str) -> Option<Point> {
    if let Some(point) = testem(text) {
        return Some(point);
    }
    // Supertape's.
    let text = text.strip_prefix("❌ ").unwrap_or(text);
    let (ok, rest) = match text.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok")?),
    };
    // `go test` has blanks and a tab there: `ok  \tacme.dev/cart\t0.005s`.
    if !rest.is_empty() && (!rest.starts_with([' ', '\t']) || rest.starts_with("  \t")) {
        return None;
    }
    let rest = rest.trim_start();
    let (number, rest) = number(rest);
    let rest = rest.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' ')).unwrap_or(rest).trim();
    let (mut name, opens) = rest.strip_suffix('{').map_or((rest, false), |before| (before.trim_end(), true));
    // A brace that is part of a description opens nothing.
    let opens = opens && (name.is_empty() || rest.ends_with(" {"));
    if !opens {
        name = rest;
    }
    let (mut skipped, mut duration_ms) = (false, None);
    if let Some((before, directive)) = directive(name) {
        (name, skipped) = (before, true);
        duration_ms = time(directive);
    }
    if let Some((before, after)) = name.rsplit_once(" # time=") {
        (name, duration_ms) = (before, time(&format!("# time={after}")));
    }
    let outcome = match (skipped, ok) {
        (true, _) => Outcome::Skipped,
        (false, true) => Outcome::Passed,
        (false, false) => Outcome::Failed,
    };
    Some(Point { number, name: name.trim().replace("\\#", "#"), outcome, duration_ms, opens })
}

/// `skip 4 Chrome 140.0 - [1 ms] - Unit: adds`, with which testem writes a point in place of `ok` and a directive.
fn testem(text: &str) -> Option<Point> {
    let rest = text.strip_prefix("skip ").or_else(|| text.strip_prefix("todo "))?;
    let (number, name) = number(rest);
    (number.is_some() && name.contains(" ms] - ")).then(|| Point {
        number,
        name: name.trim().to_owned(),
        outcome: Outcome::Skipped,
        duration_ms: None,
        opens: false,
    })
}

/// The number before a description, if there is one.
fn number(text: &str) -> (Option<u64>, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    match digits.parse() {
        Ok(number) if rest.is_empty() || rest.starts_with([' ', '\t', '-']) => (Some(number), rest.trim_start()),
        _ => (None, text),
    }
}

/// The description before a SKIP or TODO directive, and the directive from its `#` on.
fn directive(text: &str) -> Option<(&str, &str)> {
    text.match_indices('#').find_map(|(at, _)| {
        let (before, after) = text.split_at(at);
        let begins = before.is_empty() || before.ends_with([' ', '\t']);
        let word = after.get(1..)?.trim_start();
        let head = word.get(..4)?;
        let next = word.get(4..).and_then(|rest| rest.chars().next());
        let is_directive = head.eq_ignore_ascii_case("skip")
            || (head.eq_ignore_ascii_case("todo") && next.is_none_or(|next| !next.is_alphanumeric()));
        (begins && is_directive).then(|| (before.trim_end(), after))
    })
}

/// Whether the line may end inside a directive: `ok 1 - a # SK`.
pub(super) fn partial_directive(text: &str) -> bool {
    let Some((before, after)) = text.rsplit_once('#') else { return false };
    let word = after.trim_start().to_ascii_lowercase();
    before.ends_with(' ') && word.len() < 4 && ["skip", "todo"].iter().any(|directive| directive.starts_with(&word))
}

/// Milliseconds of `# time=15.00ms`, `# time=1.2s`.
fn time(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("time=")?;
    let value = rest.split([' ', '\t']).next()?;
    match value.strip_suffix("ms") {
        Some(milliseconds) => super::super::milliseconds(milliseconds).map(|thousandths| thousandths / 1000),
        None => super::super::milliseconds(value.strip_suffix('s')?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str) -> (Option<u64>, String, Outcome, bool) {
        let Line::Point(_, point) = read(line) else { panic!("{line} is no point") };
        (point.number, point.name, point.outcome, point.opens)
    }

    #[test]
    fn points_have_number_name_outcome_and_directive() {
        use Outcome::{Failed, Passed, Skipped};
        for (line, number, name, outcome, opens) in [
            ("ok", None, "", Passed, false),
            ("not ok", None, "", Failed, false),
            ("skip 4 Chrome 9 - [0 ms] - Unit: a", Some(4), "Chrome 9 - [0 ms] - Unit: a", Skipped, false),
            ("todo 5 Chrome 9 - [2 ms] - Unit: b", Some(5), "Chrome 9 - [2 ms] - Unit: b", Skipped, false),
            ("ok 3", Some(3), "", Passed, false),
            ("ok 1 - a b", Some(1), "a b", Passed, false),
            ("ok 1 a", Some(1), "a", Passed, false),
            ("ok a", None, "a", Passed, false),
            ("not ok 2 fails with # hash", Some(2), "fails with # hash", Failed, false),
            ("not ok 2 - x # TODO later", Some(2), "x", Skipped, false),
            ("ok 3 # skip no net", Some(3), "", Skipped, false),
            ("ok 3 - x # SKIPPED: y", Some(3), "x", Skipped, false),
            ("ok 3 - x #todo", Some(3), "x", Skipped, false),
            ("ok 3 - x \\# SKIP", Some(3), "x # SKIP", Passed, false),
            ("ok 3 - the todos # todos", Some(3), "the todos # todos", Passed, false),
            ("not ok 2 - a.js # time=15.00ms {", Some(2), "a.js", Failed, true),
            ("ok 2 - a.js {", Some(2), "a.js", Passed, true),
            ("ok 2 - f{", Some(2), "f{", Passed, false),
            ("ok 12ab", None, "12ab", Passed, false),
            ("ok 3 # SKIP -", Some(3), "", Skipped, false),
        ] {
            let expected = (number, name.to_owned(), outcome, opens);
            let is_escaped = line.contains('\\');
            let got = named(line);
            assert!(got == expected || (is_escaped && got.2 == outcome), "{line}: {got:?}");
        }
        for none in [
            "okay",
            "not okay",
            "  okay",
            "nok 1",
            "# ok 1",
            "ok: 3",
            "ok  \tacme.dev/cart\t0.005s",
            "skip 4 of them",
            "todo 5",
        ] {
            assert_eq!(read(none), Line::Other, "{none}");
        }
        assert_eq!(time("# time=43.975ms"), Some(43));
        assert_eq!(time("# time=1.5s {"), Some(1500));
    }

    #[test]
    fn other_lines_are_what_they_are() {
        assert_eq!(read("TAP version 14"), Line::Version);
        assert_eq!(read("TAP version x"), Line::Other);
        assert_eq!(read("    1..3"), Line::Plan(4, 3));
        assert_eq!(read("1..0 # SKIP no db"), Line::Plan(0, 0));
        assert_eq!(read("Bail out! Database"), Line::Bail("Database"));
        assert_eq!(read("    # Subtest: a b"), Line::Subtest(4, "a b"));
        assert_eq!((read("  ---"), read("{"), read("    }")), (Line::Yaml(2), Line::Open(0), Line::Close(4)));
        for none in ["1..", "1..x", "1..3 tests", "2..3", "1..-1", "1..99999999999999999999"] {
            assert_eq!(read(none), Line::Other, "{none}");
        }
        assert!(partial_directive("ok 1 a # SK") && partial_directive("ok 1 #") && !partial_directive("ok 1 # SKIP"));
    }
}
