//! Lines of linters of Ruby, for `brief-text`: Sorbet, Reek, ERB Lint and Fasterer. Written after their sources.

use super::brief_checkers::below;
use super::brief_text::Told;
use super::lines::{Placed, bare_place, is_class_name};
use crate::ingest::Level;
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    if text.starts_with(' ') { reek(text) } else { fasterer(text) }
}

/// What a line tells that begins with a place.
pub(super) fn at_place<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    sorbet(place).or_else(|| erb_lint_compact(place))
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    match text {
        "No errors! Great job." => Some("sorbet"),
        "0 total warnings" => Some("reek"),
        "No errors were found in ERB files" => Some("erb-lint"),
        _ => text.ends_with(" inspected, 0 offenses detected").then_some("fasterer"),
    }
}

/// `a.rb:13: Method barr does not exist on A https://srb.help/7003`; what it notes below is indented.
fn sorbet<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let (message, code) = place.rest.rsplit_once(" https://srb.help/").filter(|_| !place.has_column)?;
    Some(Told::error("sorbet", (place.path, place.line), Some(code), message))
}

/// `  [53, 60]:DuplicateMethodCall: Role#list calls 'x' 2 times [https://…]`, below `a.rb -- 2 warnings:`.
fn reek(text: &str) -> Option<Told<'_>> {
    let (lines, rest) = text.strip_prefix("  [")?.split_once("]:")?;
    let (line, others) = leading_in(lines)?;
    let is_list = others.split(", ").skip(1).all(|line| leading_in(line).is_some_and(|(_, rest)| rest.is_empty()));
    let (rule, message) = rest.split_once(": ").filter(|(rule, _)| is_list && is_class_name(rule))?;
    let message = split_at(message, " [https://").map_or(message, |(message, _)| message);
    below("reek", Level::Warning, Some(line), Some(rule), message)
}

/// `In file: a.html.erb:12`, above it the message.
pub(super) fn erb_lint<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let place = bare_place(text.strip_prefix("In file: ")?)?;
    Some(Told::error("erb-lint", place, None, before))
}

/// Its format `compact`: `a.html.erb:9:0: message`.
fn erb_lint_compact<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let is_ours = place.has_column && place.is_a(&["erb"]);
    is_ours.then(|| Told::error("erb-lint", (place.path, place.line), None, place.rest))
}

/// `app/a.rb:57 Array#select.first is slower than Array#detect.`
fn fasterer(text: &str) -> Option<Told<'_>> {
    split_at(text, " slower than ")?;
    let (place, message) = split_at(text, ".rb:").and_then(|(path, _)| {
        let (numbers, message) = text.get(path.len()..)?.split_once(' ')?;
        Some((text.get(..path.len() + numbers.len())?, message))
    })?;
    Some(Told::error("fasterer", bare_place(place)?, None, message))
}

#[cfg(test)]
mod tests {
    use super::super::brief_text;
    use super::*;

    #[test]
    fn each_line_has_its_place_level_and_rule() {
        use Level::{Error, Warning};
        for (line, tool, level, place, rule, message) in [
            (
                "a b.rb:13: Method x (y) is no https://srb.help/7003",
                "sorbet",
                Error,
                "a b.rb:13",
                "7003",
                "Method x (y) is no",
            ),
            ("  [5]:TooManyMethods: A has [at least] 9", "reek", Warning, ":5", "TooManyMethods", "A has [at least] 9"),
            ("  [5, 8]:DataClump: A: x [https://x/D.md]", "reek", Warning, ":5", "DataClump", "A: x"),
            ("a/b.html.erb:9:0: Indent `%>`: it", "erb-lint", Error, "a/b.html.erb:9", "", "Indent `%>`: it"),
            ("a b.rb:57 x.first is slower than y.", "fasterer", Error, "a b.rb:57", "", "x.first is slower than y."),
        ] {
            let told = brief_text::told("", line).unwrap_or_else(|| panic!("{line}"));
            let at = told.place();
            let found = (told.tool, told.level, at.as_str(), told.rule.unwrap_or_default(), told.message);
            assert_eq!(found, (tool, level, place, rule, message), "{line}");
        }
        let told = brief_text::told("Missing space after `<%`", "In file: a/b.erb:12").unwrap();
        assert_eq!(
            (told.tool, told.path, told.line, told.message),
            ("erb-lint", Some("a/b.erb"), Some(12), "Missing space after `<%`")
        );
    }

    #[test]
    fn a_clean_run_is_told_by_the_tool() {
        assert_eq!(clean("1 files inspected, 0 offenses detected"), Some("fasterer"));
        assert!(clean("1 file inspected, no offenses detected").is_none() && clean("No errors!").is_none());
    }

    #[test]
    fn others_lines_are_not_theirs() {
        for line in [
            "    a.rb:6: Method A#bar has specified x as Integer https://srb.help/1",
            "  [5, x]:DataClump: A: x",
            "  [53]: DataClump: A: x",
            "a.erb:3:in `render'",
            "a.rb:57: it is slower than before",
            "this is slower than a.rb:57",
            "In file: here",
        ] {
            assert!(brief_text::told("", line).is_none(), "{line}");
        }
    }
}
