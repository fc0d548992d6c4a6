//! Lines of Psalm, Pyre, pytype, Flow, Sphinx, Verilator, Nim, D and Dart (`machine`), for `brief-text`. Written after their sources and
//! documentation.

use super::brief_text::{Told, is_script};
use super::lines::{Placed, bare_place, bracketed, is_class_name, is_path, placed};
use crate::ingest::Level;
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    [psalm, pytype, flow, sphinx, verilator, nim_or_d, astro, dart_machine, svelte_machine]
        .iter()
        .find_map(|read| read(text))
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    match text {
        "No errors!" => Some("flow"),
        "build succeeded." => Some("sphinx"),
        _ if text.starts_with("Result (") && text.ends_with("):") => Some("astro"),
        _ if text.starts_with("success Lint passed in ") => Some("rslint"),
        "ƛ No type errors found" => Some("pyre"),
        // In a box, whose frame is blanks.
        _ if text.starts_with(' ') && text.trim() == "No errors found!" => Some("psalm"),
        _ if after_time(text).is_some_and(|rest| rest.contains(" FILES 0 ERRORS 0 WARNINGS ")) => Some("svelte-check"),
        _ => None,
    }
}

/// `src/pages/index.astro:7:18 - error ts(2304): message`. What its last lines count as hints stands there as a warning.
fn astro(text: &str) -> Option<Told<'_>> {
    let (place, rest) = split_at(text, " ts(")?;
    let (place, word) = place.rsplit_once(" - ")?;
    let (rule, message) = rest.split_once("): ")?;
    // Diagnostics that TypeScript only suggests: unused and deprecated names.
    let is_hint = matches!(rule, "6133" | "6138" | "6192" | "6196" | "6198" | "6199" | "6205" | "6385" | "6387");
    let level = match word {
        "error" => Level::Error,
        "warning" if !is_hint => Level::Warning,
        "warning" | "hint" => Level::Note,
        _ => return None,
    };
    Some(Told { level, ..Told::error("astro", bare_place(place)?, Some(rule), message) })
}

/// What is behind milliseconds since 1970, with which svelte-check begins a line with `--output machine`.
fn after_time(text: &str) -> Option<&str> {
    let (time, rest) = text.split_once(' ')?;
    (time.len() == 13 && time.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
}

/// `1795753105116 ERROR "src/C.svelte" 2:5 "message"`, with `machine-verbose` `1795753105116 {"type":"ERROR","filename":…}`,
/// whose lines begin with 0.
fn svelte_machine(text: &str) -> Option<Told<'_>> {
    let rest = after_time(text)?;
    let level_of = |word: &str| match word {
        "ERROR" => Some(Level::Error),
        "WARNING" => Some(Level::Warning),
        "HINT" => Some(Level::Note),
        _ => None,
    };
    if let Some(rest) = rest.strip_prefix("{\"type\":\"") {
        let (word, rest) = rest.split_once("\",\"filename\":\"")?;
        let (path, rest) = rest.split_once("\",\"start\":{\"line\":")?;
        let (line, rest) = leading_in(rest)?;
        let (_, message) = rest.split_once("\"message\":\"")?;
        let message = message.split_once("\",\"code\":").map_or(message, |(message, _)| message);
        let place = (path, line.checked_add(1));
        return Some(Told { level: level_of(word)?, ..Told::error("svelte-check", place, None, message) });
    }
    let (word, rest) = rest.split_once(" \"")?;
    let (path, rest) = rest.split_once("\" ")?;
    let (line, rest) = leading_in(rest)?;
    let (_, rest) = leading_in(rest.strip_prefix(':')?)?;
    let message = rest.trim_start().trim_matches('"');
    Some(Told { level: level_of(word)?, ..Told::error("svelte-check", (path, Some(line)), None, message) })
}

/// `INFO|HINT|UNUSED_IMPORT|/p/lib/a.dart|3|8|32|message`, what `dart analyze --format=machine` prints.
fn dart_machine(text: &str) -> Option<Told<'_>> {
    let (word, rest) = text.split_once('|')?;
    let level = match word {
        "ERROR" => Level::Error,
        "WARNING" => Level::Warning,
        "INFO" => Level::Note,
        _ => return None,
    };
    let (_, rest) = rest.split_once('|')?;
    let (rule, rest) = rest.split_once('|')?;
    let (path, rest) = rest.split_once('|')?;
    let (line, rest) = leading_in(rest)?;
    let (_, rest) = leading_in(rest.strip_prefix('|')?)?;
    let (_, message) = leading_in(rest.strip_prefix('|')?)?;
    let is_rule = rule.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_rule.then_some(())?;
    Some(Told { level, ..Told::error("dart", (path, Some(line)), Some(rule), message.strip_prefix('|')?) })
}

/// rslint's `  no-var  — [error] message`, below it `  ╭─┴──────────( src/b.ts:3:11 )─────`.
pub(super) fn rslint<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (_, place) = text.trim_start().strip_prefix("╭─┴")?.split_once("( ")?;
    let place = bare_place(place.split_once(" )")?.0)?;
    let (rule, rest) = before.trim_start().split_once("  — [")?;
    let (word, message) = rest.split_once("] ")?;
    let level = match word {
        "error" => Level::Error,
        "warn" => Level::Warning,
        _ => return None,
    };
    Some(Told { level, ..Told::error("rslint", place, Some(rule), message) })
}

/// The level and the rule of Psalm's `ERROR: UndefinedVariable`.
fn psalm_rule(text: &str) -> Option<(Level, &str)> {
    let (word, rule) = text.split_once(": ")?;
    let level = match word {
        "ERROR" => Level::Error,
        "INFO" => Level::Note,
        _ => return None,
    };
    is_class_name(rule).then_some((level, rule))
}

/// `ERROR: UndefinedVariable - src/a.php:3:5 - message`, Psalm's report `console` before version 5.
fn psalm(text: &str) -> Option<Told<'_>> {
    let (head, rest) = Some(text).filter(|text| text.starts_with(['E', 'I']))?.split_once(" - ")?;
    let (level, rule) = psalm_rule(head)?;
    let (place, message) = rest.split_once(" - ")?;
    Some(Told { level, ..Told::error("psalm", bare_place(place)?, Some(rule), message) })
}

/// Since version 5 `ERROR: UndefinedVariable`, and below it `at src/a.php:3:5`.
pub(super) fn psalm_below<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let place = bare_place(text.strip_prefix("at ")?).filter(|(path, _)| path.ends_with(".php"))?;
    let (level, rule) = psalm_rule(before)?;
    Some(Told { level, ..Told::error("psalm", place, Some(rule), rule) })
}

/// `a.py:3:4 Incompatible return type [7]: message`.
pub(super) fn pyre<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let is_ours = !place.has_column && place.is_a(&["py", "pyi"]);
    let (_, rest) = leading_in(place.rest).filter(|_| is_ours)?;
    let (title, message) = rest.strip_prefix(' ')?.split_once("]: ")?;
    let (_, code) = title.rsplit_once(" [").filter(|(_, code)| code.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(Told::error("pyre", (place.path, place.line), Some(code), message))
}

/// `File "/app/a.py", line 3, in f: message [attribute-error]`. A traceback has no message there.
fn pytype(text: &str) -> Option<Told<'_>> {
    let (path, rest) = text.strip_prefix("File \"")?.split_once("\", line ")?;
    let (line, rest) = leading_in(rest)?;
    let (_, message) = rest.strip_prefix(", in ")?.split_once(": ")?;
    let (message, rule) = bracketed(message, '[', ']')?;
    Some(Told::error("pytype", (path, Some(line)), Some(rule), message))
}

/// `Error ------------ src/a.js:3:12`, with a message below it.
fn flow(text: &str) -> Option<Told<'_>> {
    let (word, level) = if text.starts_with("Error ") { ("Error", Level::Error) } else { ("Warning", Level::Warning) };
    let rest = text.strip_prefix(word)?.strip_prefix(' ')?;
    let place =
        rest.trim_start_matches(['-', '┈', '─']).strip_prefix(' ').filter(|place| place.len() + 3 < rest.len())?;
    let place = bare_place(place)?;
    is_script(place.0).then(|| Told { level, ..Told::error("flow", place, None, word) })
}

/// `/app/docs/index.rst:3: WARNING: message`, `/app/a.py:docstring of a.f:3: ERROR: message`, or of a whole file.
fn sphinx(text: &str) -> Option<Told<'_>> {
    let (origin, rest) = split_at(text, ": ")?;
    let levels = [("WARNING: ", Level::Warning), ("ERROR: ", Level::Error), ("CRITICAL: ", Level::Error)];
    let (level, message) = levels.iter().find_map(|(word, level)| Some((*level, rest.strip_prefix(word)?)))?;
    let numbered = origin.rsplit_once(':').and_then(|(origin, line)| Some((origin, Some(line.parse::<u64>().ok()?))));
    let (origin, line) = numbered.unwrap_or((origin, None));
    let (path, is_docstring) = match split_at(origin, ":docstring of ") {
        Some((path, _)) => (path, true),
        None => (origin, false),
    };
    let is_document = [".rst", ".md", ".txt", ".ipynb"].iter().any(|extension| path.ends_with(extension));
    let place = (path, line.filter(|line| *line > 0));
    ((is_docstring || is_document) && is_path(path))
        .then(|| Told { level, ..Told::error("sphinx", place, None, message) })
}

/// `%Warning-WIDTH: a.v:3:5: message`, `%Error: a.v:9:1: message`.
fn verilator(text: &str) -> Option<Told<'_>> {
    let (head, rest) = text.strip_prefix('%')?.split_once(": ")?;
    let (word, rule) = head.split_once('-').map_or((head, None), |(word, rule)| (word, Some(rule)));
    let level = match word {
        "Error" => Level::Error,
        "Warning" => Level::Warning,
        _ => return None,
    };
    let place = placed(rest)?;
    Some(Told { level, ..Told::error("verilator", (place.path, place.line), rule, place.rest) })
}

/// Nim's `a.nim(3, 5) Error: message`, with a rule in brackets behind a warning, and `a.d(3): Error: message` of D's compilers.
fn nim_or_d(text: &str) -> Option<Told<'_>> {
    let (path, rest) = text.split_once('(')?;
    let tool = match path.rsplit_once('.')?.1 {
        "nim" | "nims" => "nim",
        "d" | "di" => "dmd",
        _ => return None,
    };
    let (line, rest) = leading_in(rest)?;
    let (_, rest) = rest.split_once(')')?;
    let (word, message) = rest.trim_start_matches([':', ' ']).split_once(": ")?;
    let level = match word {
        "Error" => Level::Error,
        "Warning" | "Deprecation" => Level::Warning,
        "Hint" => Level::Note,
        _ => return None,
    };
    let (message, rule) = bracketed(message, '[', ']')
        .filter(|_| level != Level::Error && tool == "nim")
        .map_or((message, None), |(message, rule)| (message, Some(rule)));
    is_path(path).then(|| Told { level, ..Told::error(tool, (path, Some(line)), rule, message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::lint::brief_text;

    #[test]
    fn astro_and_rslint_tell_level_rule_and_place() {
        use Level::{Error, Note, Warning};
        for (line, level, rule) in [
            ("src/a.astro:7:18 - error ts(2304): Cannot find name 'nope'.", Error, "2304"),
            ("src/a.astro:3:7 - warning ts(6133): 'x' is declared but never read.", Note, "6133"),
            ("src/a.astro:3:7 - warning ts(80001): Other.", Warning, "80001"),
        ] {
            let told = told(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                (told.tool, told.level, told.path, told.rule),
                ("astro", level, Some("src/a.astro"), Some(rule))
            );
        }
        assert!(told("src/a.ts:3:7 - error TS2304: x").is_none());
        assert_eq!((clean("Result (4 files):"), clean("Result: 4")), (Some("astro"), None));
        let told = rslint("  no-var  — [warn] No.", "  ╭─┴──────────( src/b.ts:3:11 )─────").unwrap();
        let at = (told.tool, told.level, told.path, told.line, told.rule, told.message);
        assert_eq!(at, ("rslint", Warning, Some("src/b.ts"), Some(3), Some("no-var"), "No."));
        assert!(rslint("  no-var  — [off] No.", "  ╭─┴──( src/b.ts:3:11 )──").is_none());
        assert_eq!(clean("success Lint passed in 124ms (3 files, 87 rules, 2 threads)"), Some("rslint"));
    }

    #[test]
    fn svelte_check_s_lines_for_machines_tell_level_and_place() {
        let plain = told("1795753105116 ERROR \"src/C.svelte\" 2:5 \"Type 'number' is not.\"").unwrap();
        let at = (plain.tool, plain.level, plain.path, plain.line, plain.message);
        assert_eq!(at, ("svelte-check", Level::Error, Some("src/C.svelte"), Some(2), "Type 'number' is not."));
        let verbose = "1795753108818 {\"type\":\"WARNING\",\"filename\":\"src/C.svelte\",\"start\":{\"line\":4,\"character\":0},\
                       \"end\":{\"line\":4,\"character\":13},\"message\":\"No \\\"alt\\\".\",\"code\":\"a11y\"}";
        let verbose = told(verbose).unwrap();
        assert_eq!((verbose.level, verbose.line, verbose.message), (Level::Warning, Some(5), "No \\\"alt\\\"."));
        let end =
            |errors: u64| format!("1795753105116 COMPLETED 85 FILES {errors} ERRORS 0 WARNINGS 0 FILES_WITH_PROBLEMS");
        assert_eq!((clean(&end(0)), clean(&end(6))), (Some("svelte-check"), None));
        for other in ["1795753105114 START \"/p\"", "12 ERROR \"a\" 2:5 \"x\"", "1795753105116 ERROR a 2:5 x"] {
            assert!(told(other).is_none(), "{other}");
        }
    }

    #[test]
    fn lines_of_every_tool() {
        use Level::{Error, Note, Warning};
        for (line, tool, level, place, rule, message) in [
            (
                "ERROR: UndefinedVariable - src/a.php:3:5 - No $x",
                "psalm",
                Error,
                "src/a.php:3",
                "UndefinedVariable",
                "No $x",
            ),
            ("INFO: MissingType - a.php:9:1 - f - g", "psalm", Note, "a.php:9", "MissingType", "f - g"),
            (
                "INFO|HINT|UNUSED_IMPORT|/p/lib/a b.dart|3|8|32|No x|y.",
                "dart",
                Note,
                "/p/lib/a b.dart:3",
                "UNUSED_IMPORT",
                "No x|y.",
            ),
            ("a.py:3:4 Bad return [7]: Expected `int`.", "pyre", Error, "a.py:3", "7", "Expected `int`."),
            (
                "File \"/p/a.py\", line 3, in f: No x on A [attribute-error]",
                "pytype",
                Error,
                "/p/a.py:3",
                "attribute-error",
                "No x on A",
            ),
            ("Error ---------------------- src/a.js:3:12", "flow", Error, "src/a.js:3", "", "Error"),
            ("Warning ┈┈┈┈┈┈┈┈┈┈┈┈ a.jsx:3:12", "flow", Warning, "a.jsx:3", "", "Warning"),
            ("/p/docs/a.rst:3: WARNING: Title: short.", "sphinx", Warning, "/p/docs/a.rst:3", "", "Title: short."),
            ("C:\\p\\a.md: ERROR: Unknown.", "sphinx", Error, "C:\\p\\a.md:0", "", "Unknown."),
            ("/p/a.py:docstring of a.f:3: ERROR: x", "sphinx", Error, "/p/a.py:3", "", "x"),
            ("%Warning-WIDTH: a.v:3:5: 8 bits", "verilator", Warning, "a.v:3", "WIDTH", "8 bits"),
            ("%Error: a.v:9:1: syntax error", "verilator", Error, "a.v:9", "", "syntax error"),
            ("/p/a.nim(3, 5) Error: undeclared: 'x'", "nim", Error, "/p/a.nim:3", "", "undeclared: 'x'"),
            (
                "a.nim(9, 5) Hint: 'y' is not used [XDeclaredButNotUsed]",
                "nim",
                Note,
                "a.nim:9",
                "XDeclaredButNotUsed",
                "'y' is not used",
            ),
            ("a.d(3): Error: undefined [x]", "dmd", Error, "a.d:3", "", "undefined [x]"),
            ("a.d(3,7): Deprecation: y", "dmd", Warning, "a.d:3", "", "y"),
        ] {
            let told = brief_text::told("", line).unwrap();
            let at = format!("{}:{}", told.path.unwrap(), told.line.unwrap_or(0));
            assert_eq!((told.tool, told.level, at.as_str()), (tool, level, place), "{line}");
            assert_eq!((told.rule.unwrap_or_default(), told.message), (rule, message), "{line}");
        }
        for other in [
            "ERROR: a.ts:3:5 - message",
            "ERROR: Something went wrong - a - b",
            "a.py:3:4: error: x [7]: y",
            "File \"/p/a.py\", line 3, in f",
            "  File \"/p/a.py\", line 3, in f: x [y]",
            "Error - a.js:3:12",
            "Error: x",
            "2024-01-01 10:00:00: WARNING: x",
            "cart.py:3: WARNING: x",
            "%Error: Exiting due to 1 error(s)",
            "a.d(3):        called from here",
            "f.d(x) Error: y",
        ] {
            assert!(told(other).is_none(), "{other}");
        }
    }

    #[test]
    fn psalm_tells_the_place_below() {
        let told = psalm_below("ERROR: UndefinedClass", "at src/a.php:3:5").unwrap();
        assert_eq!((told.path, told.line, told.rule), (Some("src/a.php"), Some(3), Some("UndefinedClass")));
        for (before, text) in [("ERROR: It failed", "at src/a.php:3:5"), ("ERROR: UndefinedClass", "at a.js:3:5")] {
            assert!(psalm_below(before, text).is_none(), "{before}");
        }
    }
}
