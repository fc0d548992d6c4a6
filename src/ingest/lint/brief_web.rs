//! Lines of those who bundle scripts, and look at pages and words, for `brief-text`: esbuild, HTMLHint, the Nu
//! Html Checker, CSpell and typos.

use super::brief_text::{SCRIPTS, Told};
use super::lines::{bare_place, bracketed, is_path, placed};
use crate::ingest::Level;
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    esbuild(text).or_else(|| vnu(text)).or_else(|| cspell(text))
}

/// What a line tells below another.
pub(super) fn below<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let rest = text.trim_start();
    htmlhint(before, rest).or_else(|| typos(before, rest)).or_else(|| vnu_below(before, rest))
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    let (_, rest) = leading_in(text.strip_prefix("Scanned ")?)?;
    rest.starts_with(" files, no errors found (").then_some("htmlhint")
}

/// `✘ [ERROR] Expected identifier but found "="`, `▲ [WARNING] Comparison with -0 … [equals-negative-zero]`, some lines above
/// the place; before version 0.12 ` > a.js:1:6: error: message`. Angular's builds print so, too, with TypeScript's codes.
fn esbuild(text: &str) -> Option<Told<'_>> {
    if let Some(rest) = text.strip_prefix(" > ") {
        let place = placed(rest).filter(|place| place.has_column && place.is_a(&SCRIPTS))?;
        let (word, message) = place.rest.split_once(": ")?;
        let level = match word {
            "error" => Level::Error,
            "warning" => Level::Warning,
            _ => return None,
        };
        return Some(Told { level, ..Told::error("esbuild", (place.path, place.line), None, message) });
    }
    let signs = [("✘ [ERROR] ", Level::Error), ("▲ [WARNING] ", Level::Warning)];
    let (level, rest) = signs.iter().find_map(|(sign, level)| Some((*level, text.strip_prefix(sign)?)))?;
    let (message, rule) = bracketed(rest, '[', ']').map_or((rest, None), |(message, rule)| (message, Some(rule)));
    Some(Told { tool: "esbuild", level, path: None, line: None, rule, message })
}

/// `"file:/p/a.html":1.1-1.6: info warning: message`, the Nu Html Checker's format `gnu`.
fn vnu(text: &str) -> Option<Told<'_>> {
    let (path, rest) = text.strip_prefix('"')?.split_once("\":")?;
    let (place, rest) = rest.split_once(": ")?;
    let (word, message) = rest.split_once(": ")?;
    let level = match word {
        "info warning" => Level::Warning,
        "info" => Level::Note,
        "error" | "error fatal" => Level::Error,
        word if word.starts_with("non-document-error") => Level::Error,
        _ => return None,
    };
    let path = path.strip_prefix("file:").unwrap_or(path);
    Some(Told { level, ..Told::error("vnu", (path, leading_in(place).map(|(line, _)| line)), None, message) })
}

/// `Warning: message`, and below it `From line 1, column 1; to line 1, column 6 in resource file:/p/a.html`, its format `text`.
fn vnu_below<'a>(before: &'a str, rest: &'a str) -> Option<Told<'a>> {
    let place = rest.strip_prefix("From line ").or_else(|| rest.strip_prefix("At line "))?;
    let (_, path) = place.split_once(" in resource ")?;
    let (word, message) = before.split_once(": ")?;
    let level = match word {
        "Error" | "Fatal Error" => Level::Error,
        "Warning" => Level::Warning,
        "Info" => Level::Note,
        _ => return None,
    };
    let path = path.strip_prefix("file:").unwrap_or(path);
    Some(Told { level, ..Told::error("vnu", (path, leading_in(place).map(|(line, _)| line)), None, message) })
}

/// `a.md:8:7 - Unknown word (lnog)`; with `--show-context` the source behind it, `… (lnog)    -- a lnog time`.
fn cspell(text: &str) -> Option<Told<'_>> {
    let (place, message) = split_at(text, " - ")?;
    let begins = ["Unknown word (", "Forbidden word (", "Misspelled word ("];
    let word = begins.iter().find_map(|begin| message.strip_prefix(begin))?;
    let (_, rest) = word.split_once(')').filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '))?;
    let (path, line) = place.rsplit_once(':')?.0.rsplit_once(':').filter(|(path, _)| is_path(path))?;
    let message = message.strip_suffix(rest).unwrap_or(message);
    Some(Told::error("cspell", (path, Some(line.parse().ok()?)), None, message))
}

/// `^ The id value [ x ] must be unique. (id-unique)` below `L12 |<p id=x>`, of which nothing but colours tell a level.
fn htmlhint<'a>(before: &str, rest: &'a str) -> Option<Told<'a>> {
    let (message, rule) = bracketed(rest.strip_prefix("^ ")?, '(', ')')?;
    let (line, source) = leading_in(before.trim_start().strip_prefix('L')?)?;
    source.starts_with(" |").then_some(())?;
    Some(Told { tool: "htmlhint", level: Level::Error, path: None, line: Some(line), rule: Some(rule), message })
}

/// ``error: `teh` should be `the` ``, and below it `--> README.md:1:5`, since version 1.37 `╭▸ README.md:1:5`; without a place
/// where the name of a file has the typo.
fn typos<'a>(before: &'a str, rest: &'a str) -> Option<Told<'a>> {
    let place = rest.strip_prefix("-->").or_else(|| rest.strip_prefix("╭▸"))?;
    let message = before.strip_prefix("error: `").and_then(|_| before.strip_prefix("error: "))?;
    (message.contains("` should be `") || message.ends_with("` is disallowed")).then_some(())?;
    let (path, line) = bare_place(place.trim_start()).map_or((None, None), |(path, line)| (Some(path), line));
    Some(Told { tool: "typos", level: Level::Error, path, line, rule: None, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_its_place_level_and_rule() {
        use Level::{Error, Warning};
        for (line, tool, level, place, rule) in [
            ("✘ [ERROR] Could not resolve \"./x\"", "esbuild", Error, "", ""),
            ("✘ [ERROR] TS2322: Type 'a' is no 'b'. [plugin angular-compiler]", "esbuild", Error, "", ""),
            ("▲ [WARNING] It matches 0 [equals-negative-zero]", "esbuild", Warning, "", "equals-negative-zero"),
            (" > src/a.ts:3:5: warning: This is no x", "esbuild", Warning, "src/a.ts:3", ""),
            ("\"file:/p/a b.html\":3.1-3.6: info warning: Add: x.", "vnu", Warning, "/p/a b.html:3", ""),
            ("\"http://x/\":3.6: error: No.", "vnu", Error, "http://x/:3", ""),
            ("a.md:8:7 - Unknown word (lnog)", "cspell", Error, "a.md:8", ""),
            ("/p/a.md:8:7      - Unknown word (lnog)   -- a (lnog) time", "cspell", Error, "/p/a.md:8", ""),
            ("a.md:8:7 - Forbidden word (x) fix: (y)", "cspell", Error, "a.md:8", ""),
        ] {
            let told = told(line).unwrap_or_else(|| panic!("{line}"));
            let at = told.path.unwrap_or_default().to_owned()
                + &told.line.map(|line| format!(":{line}")).unwrap_or_default();
            let found = (told.tool, told.level, at.as_str(), told.rule.unwrap_or_default());
            assert_eq!(found, (tool, level, place, rule), "{line}");
        }
        for other in [
            "[ERROR] x",
            " > a.ts:3:5: x",
            " > error: x",
            "\"a\": b: c",
            "a - Unknown word (x)",
            "a.md:1:2 - Unknown words",
        ] {
            assert!(told(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_finding_may_stand_below_its_source_or_its_message() {
        for (before, line, tool, place, rule) in [
            ("      L12 |<p id=x>", "          ^ It is [ x ]. (id-unique)", "htmlhint", (None, Some(12)), "id-unique"),
            ("error: `a` should be `b`, `c`", "  --> p/w.md:3:5", "typos", (Some("p/w.md"), Some(3)), ""),
            ("error: `a` should be `b`", "  ╭▸ w.md:3:5", "typos", (Some("w.md"), Some(3)), ""),
            (
                "Error: No.",
                "From line 3, column 1; to line 3, column 6 in resource file:/p/a.html",
                "vnu",
                (Some("/p/a.html"), Some(3)),
                "",
            ),
            ("error: `a` is disallowed", "  ╭▸", "typos", (None, None), ""),
        ] {
            let told = below(before, line).unwrap_or_else(|| panic!("{line}"));
            let found = (told.tool, (told.path, told.line), told.rule.unwrap_or_default());
            assert_eq!(found, (tool, place, rule), "{line}");
        }
        for (before, line) in [
            ("12 | let x = 1", "   ^ here (id-unique)"),
            ("error: `x` is no function", "  --> a.rs:3:5"),
            ("error: `a` should be `b`", "note: it is"),
        ] {
            assert!(below(before, line).is_none(), "{line}");
        }
        assert_eq!(clean("Scanned 2 files, no errors found (10 ms)."), Some("htmlhint"));
        assert!(clean("Scanned 2 files, found 8 errors in 1 files (12 ms)").is_none());
    }
}
