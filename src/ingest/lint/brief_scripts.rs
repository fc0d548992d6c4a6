//! Lines of JSHint, standard, TSLint, pyflakes, djLint, gosec, luacheck, HLint and RuboCop's formatter `emacs`, for `brief-text`.

use super::brief_advisories::Counted;
use super::brief_text::{SCRIPTS, Told, is_script, level};
use super::lines::{Placed, bracketed, is_code, is_path, placed};
use super::rubocop_text;
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;
use crate::ingest::{Head, Level};

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    [jshint, standard, tslint, tslint_msbuild, gosec, djlint, luacheck].iter().find_map(|read| read(text))
}

/// What a line tells that begins with a place.
pub(super) fn at_place<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    [pyflakes, hlint, rubocop_emacs, luacheck_at, djlint_at].iter().find_map(|read| read(place))
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    let is_djlint_s = || text.starts_with("Linted ") && text.ends_with(", found 0 errors.");
    match text {
        "  Issues : 0" => Some("gosec"),
        "No hints" => Some("hlint"),
        // What it counts else is listed, or in the JSON beside it.
        _ if text.starts_with("Passed: 0 failure(s), 0 warning(s) ") => Some("ansible-lint"),
        _ if text.starts_with("No syntax errors detected in ") => Some("php"),
        _ if text.ends_with(".py: No issues detected!") => Some("autoflake"),
        _ => is_djlint_s().then_some("djlint"),
    }
}

/// `2 files would be updated.`, of which djLint shows what it would change.
pub(super) fn counted(text: &str) -> Option<Counted> {
    let (files, rest) = leading_in(text)?;
    let is_ours = matches!(rest, " file would be updated." | " files would be updated.");
    is_ours.then_some(Counted { tool: "djlint", counts: [files, 0, 0] })
}

/// TSLint's formatters: prose `ERROR: a.ts:3:5 - message`, before version 5.12 `ERROR: a.ts[3, 5]: message`; verbose
/// `ERROR: (rule) a.ts[3, 5]: message`; stylish `ERROR: 3:5  rule  message` below the file.
fn tslint(text: &str) -> Option<Told<'_>> {
    let (level, rest) = match text.strip_prefix("ERROR: ") {
        Some(rest) => (Level::Error, rest),
        None => (Level::Warning, text.strip_prefix("WARNING: ")?),
    };
    if let Some((line, rest)) = leading_in(rest) {
        let (_, rest) = leading_in(rest.strip_prefix(':')?)?;
        let is_rule =
            |rule: &str| !rule.is_empty() && rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let (rule, message) = rest.trim_start().split_once("  ").filter(|(rule, _)| is_rule(rule))?;
        let line = Some(line).filter(|line| *line > 0);
        return Some(Told { tool: "tslint", level, path: None, line, rule: Some(rule), message: message.trim_start() });
    }
    let (rule, rest) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((rule, rest)) => (Some(rule), rest),
        None => (None, rest),
    };
    let (path, line, message) = match rest.split_once("]: ") {
        Some((place, message)) => {
            let (path, numbers) = place.rsplit_once('[')?;
            (path, numbers.split_once(", ")?.0, message)
        }
        None => {
            let (place, message) = rest.split_once(" - ")?;
            let (place, _) = place.rsplit_once(':')?;
            let (path, line) = place.rsplit_once(':')?;
            (path, line, message)
        }
    };
    let line = line.parse().ok().filter(|_| is_script(path) && is_path(path))?;
    Some(Told { level, ..Told::error("tslint", (path, Some(line)), rule, message) })
}

/// TSLint's formatter msbuild: `a.ts(3,5): warning noConsole: message`.
fn tslint_msbuild(text: &str) -> Option<Told<'_>> {
    let (place, rest) = split_at(text, "): ")?;
    let (path, numbers) = place.rsplit_once('(')?;
    let (word, rest) = rest.split_once(' ')?;
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => return None,
    };
    let (rule, message) = rest.split_once(": ")?;
    let is_camel = rule.starts_with(|c: char| c.is_ascii_lowercase()) && rule.bytes().all(|b| b.is_ascii_alphabetic());
    let line = numbers.split_once(',')?.0.parse().ok().filter(|_| is_camel && is_script(path) && is_path(path))?;
    Some(Told { level, ..Told::error("tslint", (path, Some(line)), Some(rule), message) })
}

/// `a.js: line 1, col 10, Missing semicolon.`, with `--verbose` and its code: `… (W033)`.
fn jshint(text: &str) -> Option<Told<'_>> {
    let (path, rest) = split_at(text, ": line ").filter(|(path, _)| is_path(path))?;
    let (line, rest) = rest.split_once(", col ")?;
    let (column, message) = rest.split_once(", ")?;
    column.parse::<u64>().ok()?;
    let (message, rule) = bracketed(message, '(', ')').map_or((message, None), |(message, rule)| (message, Some(rule)));
    // With a level it is ESLint's formatter compact.
    let has_level = message.split_once(" - ").is_some_and(|(word, _)| level(&word.to_ascii_lowercase()).is_some());
    (!has_level).then_some(())?;
    Some(Told::error("jshint", (path, Some(line.parse().ok()?)), rule, message))
}

/// `  /app/a.js:8:1: Extra semicolon. (semi)`: two blanks before a place, and a rule.
fn standard(text: &str) -> Option<Told<'_>> {
    let place = placed(text.strip_prefix("  ")?).filter(|place| place.has_column && place.is_a(&SCRIPTS))?;
    let (message, rule) = bracketed(place.rest, '(', ')')?;
    Some(Told::error("standard", (place.path, place.line), Some(rule), message))
}

/// `[/app/a.go:12] - G104 (CWE-703): Errors unhandled. (Confidence: HIGH, Severity: LOW)`.
fn gosec(text: &str) -> Option<Told<'_>> {
    let (place, rest) = text.strip_prefix('[')?.split_once("] - ")?;
    let (path, lines) = place.rsplit_once(':')?;
    let (code, rest) = rest.split_once(' ')?;
    let code = Some(code.trim_end_matches(':')).filter(|code| is_code(code, 1..=1, 3..=3))?;
    let (message, told) = rest.rsplit_once(" (Confidence: ")?;
    let level = match told.strip_suffix(')')?.rsplit_once("Severity: ")?.1 {
        "HIGH" => Level::Error,
        "MEDIUM" => Level::Warning,
        "LOW" => Level::Note,
        _ => return None,
    };
    let message = message.split_once("): ").filter(|_| message.starts_with('(')).map_or(message, |(_, rest)| rest);
    let line = leading_in(lines).map(|(line, _)| line).filter(|line| *line > 0);
    Some(Told { level, ..Told::error("gosec", (path, line), Some(code), message) })
}

/// `H025 1:5 Tag seems to be an orphan. <p>` below the file.
fn djlint(text: &str) -> Option<Told<'_>> {
    let (code, rest) = text.split_once(' ').filter(|(code, _)| is_code(code, 1..=1, 3..=3))?;
    let (line, rest) = leading_in(rest)?;
    let (_, message) = leading_in(rest.strip_prefix(':')?)?;
    let message = message.strip_prefix(' ')?;
    let line = Some(line).filter(|line| *line > 0);
    Some(Told { tool: "djlint", level: Level::Error, path: None, line, rule: Some(code), message })
}

/// `a.html:1:5: H025 Tag seems to be an orphan.`, the form that its documentation gives for `--linter-output-format`.
fn djlint_at<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let (code, message) = place.rest.split_once(' ').filter(|_| place.has_column && !place.is_a(&["py", "pyi"]))?;
    let is_ours = code.starts_with(['D', 'H', 'J', 'T']) && is_code(code, 1..=1, 3..=3);
    is_ours.then(|| Told::error("djlint", (place.path, place.line), Some(code), message))
}

/// `a.py:1:1: 'os' imported but unused`.
fn pyflakes<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let is_ours = place.has_column && place.is_a(&["py", "pyi"]) && is_of_pyflakes(place.rest);
    is_ours.then(|| Told::error("pyflakes", (place.path, place.line), None, place.rest))
}

/// `    a.lua:3:7: (W211) unused variable 'x'`, `    a.lua: couldn't read: No such file or directory`.
fn luacheck(text: &str) -> Option<Told<'_>> {
    let text = text.strip_prefix("    ")?;
    if let Some((path, _)) = split_at(text, ": couldn't read: ").filter(|(path, _)| is_path(path)) {
        return Some(Told::error("luacheck", (path, None), None, text.get(path.len() + 2..)?));
    }
    luacheck_at(&placed(text)?)
}

/// `a.lua:3:7: unused variable 'x'`, its formatter `plain`; without `--codes` no code: then what begins so is a syntax error.
fn luacheck_at<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    (place.has_column && place.is_a(&["lua", "rockspec"])).then_some(())?;
    let code = place.rest.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    let (rule, message) = code.map_or((None, place.rest), |(code, message)| (Some(code), message));
    let is_error = rule.map_or(message.starts_with("expected "), |code| code.starts_with('E'));
    let level = if is_error { Level::Error } else { Level::Warning };
    Some(Told { level, ..Told::error("luacheck", (place.path, place.line), rule, message) })
}

/// ansible-lint's format pep8: `site.yml:3: fqcn[action-core]: message`, with `-q` without the message.
pub(super) fn ansible_lint<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    place.is_a(&["yml", "yaml"]).then_some(())?;
    let (rule, message) = place.rest.split_once(": ").unwrap_or((place.rest, ""));
    let is_rule = rule.contains(['-', '['])
        && rule.starts_with(|c: char| c.is_ascii_lowercase())
        && rule.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b'[' | b']' | b'/'));
    is_rule.then(|| of_ansible_lint((place.path, place.line), rule, message))
}

/// A finding of ansible-lint's. What is in its `warn_list` has a mark behind it.
pub(super) fn of_ansible_lint<'a>(place: (&'a str, Option<u64>), rule: &'a str, message: &'a str) -> Told<'a> {
    let level = if message.ends_with(" (warning)") { Level::Warning } else { Level::Error };
    Told { level, ..Told::error("ansible-lint", place, Some(rule), message) }
}

/// `A.hs:3:1-10: Suggestion: Use map`.
fn hlint<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let is_ours = place.has_column && place.is_a(&["hs", "lhs"]);
    let (word, message) = place.rest.split_once(": ").filter(|_| is_ours)?;
    let level = match word {
        "Error" => Level::Error,
        "Warning" => Level::Warning,
        "Suggestion" => Level::Note,
        _ => return None,
    };
    Some(Told { level, ..Told::error("hlint", (place.path, place.line), None, message) })
}

/// Pyflakes tells no rule and no level: what it says must be known.
fn is_of_pyflakes(message: &str) -> bool {
    let begins = [
        "redefinition of unused '",
        "undefined name '",
        "local variable '",
        "duplicate argument '",
        "dictionary key ",
        "from __future__ imports must occur",
        "future feature ",
        "`global ",
        "`nonlocal ",
        "import '",
        "syntax error in forward annotation",
        "f-string is missing placeholders",
        "t-string is missing placeholders",
        "assertion is always true",
        "raise NotImplemented should be",
        "'raise NotImplemented' should be",
        "'if tuple literal' is always true",
        "'...' % ... ",
        "'...'.format(...) ",
        "use ==/!= to compare constant literals",
        "use of >> is invalid with print function",
        "default 'except:' must be last",
        "an 'except:' block as not the last exception handler",
        "syntax error in doctest",
        "two starred expressions in assignment",
        "too many expressions in star-unpacking assignment",
    ];
    let ends = [
        " imported but unused",
        " is assigned to but never used",
        "' outside function",
        "' outside loop",
        "' not properly in loop",
        "unable to detect undefined names",
        "' was never closed",
        "only allowed at module level",
    ];
    // Of a file that cannot be parsed it hands on what Python says.
    let of_python = [
        "invalid syntax",
        "invalid character ",
        "invalid non-printable character ",
        "unexpected indent",
        "unexpected EOF while parsing",
        "unindent does not match any outer indentation level",
        "inconsistent use of tabs and spaces in indentation",
        "expected an indented block",
        "expected ':'",
        "unmatched '",
        "closing parenthesis '",
        "unterminated ",
        "EOL while scanning ",
        "EOF while scanning ",
        "cannot assign to ",
        "Missing parentheses in call to ",
        "positional argument follows keyword argument",
    ];
    let is_quoted = message.starts_with('\'');
    begins.iter().chain(&of_python).any(|begin| message.starts_with(begin))
        || (is_quoted && ends.iter().any(|end| message.ends_with(end)))
        || (is_quoted && message.contains(" may be undefined, or defined from star imports: "))
}

/// Whether it has lines of RuboCop's formatter emacs: those of clang look alike where files lie outside the folder, but have
/// the source below them, with a mark, and a summary.
pub(super) fn is_rubocop_emacs(head: &Head<'_>) -> bool {
    let is_one = |line: &str| placed(line).and_then(|place| rubocop_emacs(&place)).is_some();
    let is_mark = |line: &str| line.trim_start().starts_with('^') && line.trim_start().bytes().all(|byte| byte == b'^');
    let is_clang_s = |line: &str| is_mark(line) || rubocop_text::summary(line).is_some();
    let lines = || head.lines_of_both_ends().map(str::trim_end);
    lines().any(is_one) && !lines().any(is_clang_s)
}

/// `/app/a.rb:3:5: W: Lint/X: message`, always with the whole path.
fn rubocop_emacs<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    place.has_column.then_some(())?;
    let is_whole = place.path.starts_with('/') || place.path.get(1..).is_some_and(|rest| rest.starts_with(":/"));
    let (letter, rest) = place.rest.split_once(": ").filter(|_| is_whole)?;
    let level = match letter {
        "F" | "E" => Level::Error,
        "W" => Level::Warning,
        "C" | "R" | "I" => Level::Note,
        _ => return None,
    };
    let rest =
        ["[Correctable] ", "[Corrected] ", "[Todo] "].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest);
    let (rule, message) = rest.split_once(": ").filter(|(rule, _)| rule.contains('/') && !rule.contains(' '))?;
    Some(Told { level, ..Told::error("rubocop", (place.path, place.line), Some(rule), message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::lint::brief_text;

    #[test]
    fn each_line_has_its_place_level_and_rule() {
        use Level::{Error, Note, Warning};
        for (line, tool, level, place, rule) in [
            ("ERROR: src/a.ts:3:9 - == should be ===", "tslint", Error, "src/a.ts:3", ""),
            ("WARNING: a.tsx[3, 19]: Calls - not allowed", "tslint", Warning, "a.tsx:3", ""),
            ("ERROR: (no-var) a.ts[1, 1]: Forbidden", "tslint", Error, "a.ts:1", "no-var"),
            ("ERROR: 3:9   triple-equals   == should be ===", "tslint", Error, ":3", "triple-equals"),
            ("a.ts(3,19): warning noConsole: Calls: no", "tslint", Warning, "a.ts:3", "noConsole"),
            ("a.py:1:1: 'os' imported but unused", "pyflakes", Error, "a.py:1", ""),
            ("a.py:3:5: undefined name 'x'", "pyflakes", Error, "a.py:3", ""),
            ("a.py:3:5: '...' % ... has unused named argument(s): b", "pyflakes", Error, "a.py:3", ""),
            ("a.py:4:1: '(' was never closed", "pyflakes", Error, "a.py:4", ""),
            ("a.py:4:1: expected an indented block after 'if' statement on line 1", "pyflakes", Error, "a.py:4", ""),
            (
                "[/app/a.go:12] - G104 (CWE-703): Errors unhandled. (Confidence: HIGH, Severity: LOW)",
                "gosec",
                Note,
                "/app/a.go:12",
                "G104",
            ),
            ("[a.go:3-5] - G204: Run (Confidence: HIGH, Severity: HIGH)", "gosec", Error, "a.go:3", "G204"),
            ("    a.lua:3:7: (W211) unused variable 'x'", "luacheck", Warning, "a.lua:3", "W211"),
            ("a.lua:3:7: unused variable 'x'", "luacheck", Warning, "a.lua:3", ""),
            ("    a.lua:3:7: expected 'end' near 'x'", "luacheck", Error, "a.lua:3", ""),
            ("A.hs:3:1-10: Suggestion: Use map", "hlint", Note, "A.hs:3", ""),
            ("H025 1:5 Tag seems to be an orphan. <p>", "djlint", Error, ":1", "H025"),
            ("a.html:1:5: H025 Tag seems to be an orphan.", "djlint", Error, "a.html:1", "H025"),
            (
                "/app/a.rb:2:3: W: [Correctable] Lint/UselessAssignment: Useless `x`.",
                "rubocop",
                Warning,
                "/app/a.rb:2",
                "Lint/UselessAssignment",
            ),
        ] {
            let told = brief_text::told("", line).unwrap();
            let at = format!("{}:{}", told.path.unwrap_or_default(), told.line.unwrap());
            assert_eq!(
                (told.tool, told.level, at.as_str(), told.rule.unwrap_or_default()),
                (tool, level, place, rule),
                "{line}"
            );
        }
        for other in [
            "ERROR: a.py Imports are incorrectly sorted and/or formatted.",
            "ERROR: 12:30:45  connected",
            "ERROR: connection - closed",
            "a.ts(3,19): error TS2304: Cannot find name",
            "a.py:3:5: F401 'os' imported but unused",
            "a.py:3:5: H301 one import per line",
            "a.html:3: H025 Tag",
            "a.py:3:5: error: undefined name 'x'",
            "a.rb:2:3: W: Lint/UselessAssignment: x",
            "[a.go:12] - see G104",
            "H025 is a rule",
        ] {
            assert!(told(other).is_none(), "{other}");
        }
        let counts = ["1 file would be updated.", "2 files would be updated.", "2 files would be updated"];
        assert_eq!(counts.map(|line| counted(line).map(|counted| counted.counts[0])), [Some(1), Some(2), None]);
        let passed = "Passed: 0 failure(s), 0 warning(s) in 1 files processed of 1 encountered.";
        assert_eq!(
            [clean(passed), clean("Failed: 1 failure(s), 0 warning(s) on 1 files.")],
            [Some("ansible-lint"), None]
        );
        assert_eq!([clean("  Issues : 0"), clean("Linted 3 files, found 0 errors.")], [Some("gosec"), Some("djlint")]);
    }

    #[test]
    fn luacheck_lists_what_it_cannot_read() {
        let told = brief_text::told("", "    no.lua: couldn't read: No such file or directory").unwrap();
        assert_eq!((told.tool, told.level, told.path), ("luacheck", Level::Error, Some("no.lua")));
    }

    #[test]
    fn ansible_lint_names_its_rule_before_the_message() {
        let told = ansible_lint(&placed("site.yml:3:7: fqcn[action-core]: Use FQCN.").unwrap()).unwrap();
        assert_eq!((told.rule, told.line, told.message), (Some("fqcn[action-core]"), Some(3), "Use FQCN."));
        assert!(ansible_lint(&placed("site.yml:3:7: warning: Use").unwrap()).is_none());
        let warned = ansible_lint(&placed("site.yml:3:7: fqcn[action-core]: Use FQCN. (warning)").unwrap()).unwrap();
        assert_eq!((told.level, warned.level), (Level::Error, Level::Warning));
        let quiet = ansible_lint(&placed("site.yml:1:3: name[play][/]").unwrap()).unwrap();
        assert_eq!((quiet.rule, quiet.message), (Some("name[play][/]"), ""));
        assert!(ansible_lint(&placed("site.yml:3: see below").unwrap()).is_none());
    }

    #[test]
    fn rubocop_s_formatter_emacs_stands_alone() {
        let line = "/app/a.rb:2:3: W: Lint/X: m\n";
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None);
        assert_eq!(read(&line.repeat(2)).unwrap().figures.warnings, Some(2));
        let clang = read(&format!("{line}x = 1\n^^^^^\n\n1 file inspected, 1 offense detected\n")).unwrap();
        assert_eq!((clang.format.name, clang.figures.warnings), ("rubocop-text", Some(1)));
        assert!(read(&format!("{line}x = 1\n^^^^^\n")).is_err());
    }
}
