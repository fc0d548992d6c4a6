//! Lines of those who bundle scripts, and look at pages and words, for `brief-text`: esbuild, HTMLHint, the Nu
//! Html Checker, html-validate (`text`), CSpell and typos, publint, Babel, Less, Sass, Rsbuild, Nuxt, Squawk and CSSLint.

use super::brief_text::{SCRIPTS, Told, is_script, level};
use super::lines::{bare_place, bracketed, is_dashed_name, is_path, placed};
use crate::ingest::Level;
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    [esbuild, vnu, html_validate, cspell, typos_brief, less, nuxt].iter().find_map(|read| read(text))
}

/// What a line tells below another.
pub(super) fn below<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let rest = text.trim_start();
    let read = [htmlhint, typos, vnu_below, squawk].iter().find_map(|read| read(before, rest));
    read.or_else(|| [rsbuild, sass_warning, babel, csslint].iter().find_map(|read| read(before, text)))
}

/// What a line tells further below the line that begins it.
pub(super) fn titled<'a>(title: &'a str, before: &'a str, text: &'a str) -> Option<Told<'a>> {
    // Below the source; those who called stand further below.
    matches!(before.trim(), "╵" | "'").then_some(())?;
    let place = place_of_sass(text)?;
    if let Some(message) = title.strip_prefix("Error: ") {
        return Some(Told::error("sass", place, None, message));
    }
    let (rule, message) = title.strip_prefix(SASS_DEPRECATION)?.split_once("]: ")?;
    Some(Told { level: Level::Warning, ..Told::error("sass", place, Some(rule), message) })
}

/// Whether a finding begins with it whose rest stands further below.
pub(super) fn begins(text: &str) -> bool {
    text.starts_with("Error: ") || text.starts_with(SASS_DEPRECATION)
}

/// Whether what began is no error of Sass' own: its source stands right below it. Vite tells all of the error twice before.
pub(super) fn is_of_another(title: &str, before: &str, text: &str) -> bool {
    let is_source = || matches!(text.trim(), "╷" | ",");
    title.starts_with("Error: ") && (before != title || title.starts_with("Error: [")) && is_source()
        || text.starts_with("Error: ") && place_of_sass(before).is_some()
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    match text {
        "└  ✨ Build complete!" => return Some("nuxt"),
        _ if text.starts_with("ready   built in ") => return Some("rsbuild"),
        _ if text.starts_with("Successfully compiled ") && text.contains(" with Babel (") => return Some("babel"),
        _ if text.starts_with("Found 0 issues in ") && text.ends_with(" 🎉") => return Some("squawk"),
        _ => {}
    }
    let (_, rest) = leading_in(text.strip_prefix("Scanned ")?)?;
    rest.starts_with(" files, no errors found (").then_some("htmlhint")
}

/// How far publint came: its findings stand below headings, and have no places.
#[derive(Default)]
pub(super) struct Publint {
    is_running: bool,
    /// That of the heading.
    level: Option<Level>,
}

impl Publint {
    /// `1. pkg.module is lib.js but the file does not exist.`
    pub(super) fn told<'a>(&self, text: &'a str) -> Option<Told<'a>> {
        let (level, (_, rest)) = (self.level?, leading_in(text)?);
        let message = rest.strip_prefix(". ")?;
        Some(Told { tool: "publint", level, path: None, line: None, rule: None, message })
    }

    /// Whether it says that it found nothing.
    pub(super) fn is_clean(&self, text: &str) -> bool {
        self.is_running && text == "All good!"
    }

    /// Goes on to the next line.
    pub(super) fn pass(&mut self, text: &str) {
        let begins = text.starts_with("Running publint v");
        let heading = match text {
            "Errors:" => Some(Level::Error),
            "Warnings:" => Some(Level::Warning),
            "Suggestions:" => Some(Level::Note),
            _ => None,
        };
        let goes_on = begins || heading.is_some() || self.level.is_none() || self.told(text).is_some();
        self.is_running = begins || (self.is_running && goes_on && !self.is_clean(text));
        self.level = heading.or(self.level).filter(|_| self.is_running && !begins);
    }
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

/// `/p/a.html:1:20: error [wcag/h37] <img> is missing required "alt" attribute`, its formatter `text`.
fn html_validate(text: &str) -> Option<Told<'_>> {
    let place = placed(text).filter(|place| place.has_column)?;
    let (word, rest) = place.rest.split_once(" [")?;
    let (rule, message) = rest.split_once("] ")?;
    let is_rule = rule.split('/').all(|part| !part.is_empty() && is_dashed_name(part));
    (is_rule && matches!(word, "error" | "warning")).then_some(())?;
    Some(Told { level: level(word)?, ..Told::error("html-validate", (place.path, place.line), Some(rule), message) })
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
fn htmlhint<'a>(before: &'a str, rest: &'a str) -> Option<Told<'a>> {
    let (message, rule) = bracketed(rest.strip_prefix("^ ")?, '(', ')')?;
    let (line, source) = leading_in(before.trim_start().strip_prefix('L')?)?;
    source.starts_with(" |").then_some(())?;
    Some(Told { tool: "htmlhint", level: Level::Error, path: None, line: Some(line), rule: Some(rule), message })
}

/// `1: warning at line 2, col 1`, below it the message; above it the name of the file, without its folder.
fn csslint<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (_, rest) = leading_in(text)?;
    let (word, place) = rest.strip_prefix(": ")?.split_once(" at line ")?;
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => return None,
    };
    let (line, _) = leading_in(place).filter(|(_, rest)| rest.starts_with(", col "))?;
    let path = Some(before).filter(|path| is_path(path));
    Some(Told { tool: "csslint", level, path, line: Some(line), rule: None, message: text })
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

/// Whether a message is one of typos, which prints it at a place as compilers do with `--format brief`.
pub(super) fn is_of_typos(message: &str) -> bool {
    message.starts_with('`') && split_at(message, "` should be `").is_some()
}

/// ``a.md:1:9: error: `teh` should be `the` ``.
fn typos_brief(text: &str) -> Option<Told<'_>> {
    split_at(text, "` should be `")?;
    let place = placed(text).filter(|place| place.has_column)?;
    let message = place.rest.strip_prefix("error: ").filter(|message| is_of_typos(message))?;
    Some(Told::error("typos", (place.path, place.line), None, message))
}

/// `SyntaxError: /p/a.js: Unexpected token (2:10)`, above the source; under webpack, which says so itself, below another line.
/// Of a test it is Playwright that says so, and counts it: of the next run, which loads them all, nobody tells that Babel ran.
fn babel<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let text = Some(text).filter(|_| !before.starts_with("Module build failed"))?;
    let (path, rest) = text.strip_prefix("SyntaxError: ")?.split_once(": ")?;
    if [".spec.", ".test."].iter().any(|part| path.contains(part)) {
        return None;
    }
    let (message, place) = bracketed(rest, '(', ')').filter(|_| is_script(path) && is_path(path))?;
    let (line, column) = place.split_once(':')?;
    column.parse::<u64>().ok()?;
    Some(Told::error("babel", (path, Some(line.parse().ok()?)), Some("SyntaxError"), message))
}

const SASS_DEPRECATION: &str = "DEPRECATION WARNING [";

/// `  css/a.scss 1:13  root stylesheet`.
fn place_of_sass(text: &str) -> Option<(&str, Option<u64>)> {
    let text = text.strip_prefix("  ")?.trim_start();
    let end = [".scss ", ".sass ", ".css "].iter().find_map(|end| Some(text.find(end)? + end.len()))?;
    let (line, rest) = leading_in(text.get(end..)?)?;
    let (_, rest) = leading_in(rest.strip_prefix(':')?)?;
    rest.starts_with("  ").then_some((text.get(..end)?.trim_end(), Some(line)))
}

/// `WARNING: message`, and below it `    css/a.scss 1:1  root stylesheet`.
fn sass_warning<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let message = before.strip_prefix("WARNING: ")?;
    Some(Told { level: Level::Warning, ..Told::error("sass", place_of_sass(text)?, None, message) })
}

/// `ParseError: Unrecognised input in /p/a.less on line 3, column 5:`.
fn less(text: &str) -> Option<Told<'_>> {
    let (said, place) = split_at(text, ".less on line ")?;
    let (line, _) = leading_in(place).filter(|_| place.ends_with(':'))?;
    let (rule, rest) = said.split_once(": ").filter(|(word, _)| word.ends_with("Error"))?;
    let (message, path) = rest.rsplit_once(" in ")?;
    let path = text.get(said.len() - path.len()..said.len() + ".less".len())?;
    Some(Told::error("less", (path, Some(line)), Some(rule), message))
}

/// `■  Nuxt build error: RollupError: Could not resolve "./x" from "app.vue"`.
fn nuxt(text: &str) -> Option<Told<'_>> {
    let (mark, message) = split_at(text, "Nuxt build error: ")?;
    matches!(mark.trim(), "■" | "[error]" | "ERROR" | "").then_some(())?;
    Some(Told { path: None, ..Told::error("nuxt", ("", None), None, message) })
}

/// `warning[adding-field]: message`, and below it `╭▸ a.sql:1:1`.
fn squawk<'a>(before: &'a str, rest: &'a str) -> Option<Told<'a>> {
    let place = bare_place(rest.strip_prefix("╭▸ ")?).filter(|(path, _)| path.ends_with(".sql"))?;
    let (word, rest) = before.split_once('[')?;
    let (rule, message) = rest.split_once("]: ")?;
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => return None,
    };
    Some(Told { level, ..Told::error("squawk", place, Some(rule), message) })
}

/// `File: ./src/a.js:2:1-28`, and below it `  × message` or, of a warning, `  ⚠ message`.
fn rsbuild<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (level, message) = match text.strip_prefix("  × ") {
        Some(message) => (Level::Error, message),
        None => (Level::Warning, text.strip_prefix("  ⚠ ")?),
    };
    let place = before.strip_prefix("File: ")?;
    let (path, line) = place.split_once(':').map_or((place, None), |(path, rest)| (path, leading_in(rest)));
    Some(Told { level, ..Told::error("rsbuild", (path, line.map(|(line, _)| line)), None, message) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publint_tells_its_levels_in_headings() {
        fn told(text: &str) -> Vec<(Level, &str)> {
            let mut publint = Publint::default();
            let lines = text.lines().filter_map(|line| {
                let told = publint.told(line).map(|told| (told.level, told.message));
                publint.pass(line);
                told
            });
            lines.collect()
        }
        let begin = "Running publint v0.3.25 for shop...\nPacking files with `npm pack`...\nLinting...\n";
        let listed = "Errors:\n1. pkg.main is gone.\nSuggestions:\n1. Say it.\n2. Not so.\nDone\n3. other\n";
        let expected = [(Level::Error, "pkg.main is gone."), (Level::Note, "Say it."), (Level::Note, "Not so.")];
        assert_eq!(told(&format!("{begin}{listed}")), expected);
        assert!(told(listed).is_empty(), "anyone has such headings");
        let mut publint = Publint::default();
        assert!(!publint.is_clean("All good!"));
        begin.lines().for_each(|line| publint.pass(line));
        assert!(publint.is_clean("All good!"));
    }

    #[test]
    fn builds_of_pages_tell_their_errors() {
        use Level::{Error, Warning};
        let at =
            |told: Option<Told<'_>>| told.map(|told| (told.tool, told.level, told.path.map(str::to_owned), told.line));
        let found = |tool, level, path: &str, line| Some((tool, level, Some(path.to_owned()), line));
        let less = "ParseError: Unrecognised input in a in/b.less on line 3, column 5:";
        assert_eq!(at(told(less)), found("less", Error, "a in/b.less".rsplit(" in ").next().unwrap(), Some(3)));
        assert_eq!(told(less).unwrap().message, "Unrecognised input");
        assert_eq!(at(told("■  Nuxt build error: RollupError: x")), Some(("nuxt", Error, None, None)));
        assert!(told("He said: Nuxt build error: x").is_none());
        let html = told("a.html:1:20: error [wcag/h37] <img> is missing \"alt\"").unwrap();
        assert_eq!((html.rule, html.message), (Some("wcag/h37"), "<img> is missing \"alt\""));
        assert_eq!(at(Some(html)), found("html-validate", Error, "a.html", Some(1)));
        assert!(told("a.html:1:20: note [x] y").is_none() && told("a.html:1: error [x] y").is_none());
        assert!(told("a.html:1:20: error [E 1] y").is_none() && told("a.html:1:20: error [] y").is_none());
        assert_eq!(at(told("a b.md:1:9: error: `teh` should be `the`")), found("typos", Error, "a b.md", Some(1)));
        assert!(is_of_typos("`a` should be `b`, `c`") && !is_of_typos("`a` is no `b`"));
        for (message, level) in [("  × Module not found", Error), ("  ⚠ Critical dependency", Warning)] {
            assert_eq!(at(below("File: ./src/a.js:2:1-28", message)), found("rsbuild", level, "./src/a.js", Some(2)));
        }
        assert!(below("File: ./src/a.js:2:1", "    × x").is_none());
        assert_eq!(at(below("warning[ban-x]: No.", " ╭▸ a.sql:3:1")), found("squawk", Warning, "a.sql", Some(3)));
        assert!(below("warning[x]: No.", " ╭▸ a.rs:3:1").is_none());
        for (line, tool) in [
            ("└  ✨ Build complete!", Some("nuxt")),
            ("ready   built in 0.03s", Some("rsbuild")),
            ("Found 0 issues in 2 files 🎉", Some("squawk")),
            ("Found 3 issues in 2 files 🎉", None),
            ("Successfully compiled 1 file with Babel (289ms).", Some("babel")),
            ("Successfully compiled 1 file", None),
        ] {
            assert_eq!(clean(line), tool, "{line}");
        }
        let syntax = "SyntaxError: /p/a b.js: Missing (semicolon). (2:10)";
        assert!(below("Module build failed (from ./node_modules/babel-loader/lib/index.js):", syntax).is_none());
        assert!(below("", &syntax.replace("a b.js", "a.spec.js")).is_none(), "Playwright's");
        let babel = below("", syntax).unwrap();
        assert_eq!((babel.tool, babel.path, babel.line), ("babel", Some("/p/a b.js"), Some(2)));
        assert_eq!(babel.message, "Missing (semicolon).");
        for other in
            ["SyntaxError: Unexpected token (2:10)", "    SyntaxError: /p/a.js: x (2:10)", "SyntaxError: /p/a.js: x"]
        {
            assert!(below("", other).is_none(), "{other}");
        }
    }

    #[test]
    fn sass_tells_the_place_below_the_source() {
        let place = "  css/a b.scss 1:13  root stylesheet";
        let told = titled("Error: Undefined variable.", "  ╵", place).unwrap();
        assert_eq!(
            (told.tool, told.level, told.path, told.line),
            ("sass", Level::Error, Some("css/a b.scss"), Some(1))
        );
        let told = titled("DEPRECATION WARNING [import]: No more.", "  '", place).unwrap();
        assert_eq!((told.level, told.rule, told.message), (Level::Warning, Some("import"), "No more."));
        let told = below("WARNING: careful", "    w.sass 3:1  root stylesheet").unwrap();
        assert_eq!((told.level, told.path, told.line), (Level::Warning, Some("w.sass"), Some(3)));
        assert!(begins("Error: x") && begins("DEPRECATION WARNING [x]: y") && !begins("Errors: x"));
        let source = |title, before| is_of_another(title, before, "  ╷");
        assert!(source("Error: x", "y") && !source("Error: x", "Error: x"));
        assert!(source("Error: [sass] x", "Error: [sass] x") && is_of_another("", place, "Error: x"), "Vite's");
        for (title, before, text) in [
            ("Error: x", "  css/m.scss 1:19  m()", place),
            ("Error: x", "  ╵", "  a.scss 1:13 of it"),
            ("Error: x", "  ╵", "css/a.scss 1:13  root stylesheet"),
            ("WARNING: x", "  ╵", place),
        ] {
            assert!(titled(title, before, text).is_none(), "{title} {before} {text}");
        }
    }

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
            let at = told.place();
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
            ("a.css", "2: error at line 2, col 1", "csslint", (Some("a.css"), Some(2)), ""),
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
