//! Lines of interpreters that cannot parse a script, for `brief-text`: Bash, dash, zsh, Perl, Lua, PHP, Ruby and Node.js; and
//! what Deno and Bun print, which lint, check and bundle besides.

use super::brief_advisories::Counted;
use super::brief_checkers::is_perl;
use super::brief_text::{Told, is_script};
use super::lines::{bare_place, bracketed, is_path, placed};
use crate::ingest::Level;
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    [bash, dash, zsh, perl, lua, php, ruby, deno_compact].iter().find_map(|read| read(text))
}

/// What a line tells below another.
pub(super) fn below<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    deno_lint(before, text).or_else(|| bun(before, text))
}

/// What a line tells further below the line that begins it.
pub(super) fn titled<'a>(title: &'a str, before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let place = text.strip_prefix("    at ")?;
    node(title, before, place).or_else(|| deno_check(title, place))
}

/// Whether a finding begins with it whose rest stands further below.
pub(super) fn begins(text: &str) -> bool {
    place_of_node(text).is_some() || of_deno_check(text).is_some() || is_of_deno_s_parser(text)
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    text.strip_suffix(" syntax OK").is_some_and(is_perl).then_some("perl")
}

/// `error: Found 2 not formatted files in 3 files`, as dprint says, too, which formats for Deno: `Found 2 not formatted files.`
pub(super) fn counted(text: &str) -> Option<Counted> {
    let (tool, rest) = match text.strip_prefix("error: ") {
        Some(rest) => ("deno", rest),
        None => ("dprint", text),
    };
    let (files, rest) = leading_in(rest.strip_prefix("Found ")?)?;
    rest.starts_with(" not formatted file").then_some(Counted { tool, counts: [files, 0, 0] })
}

/// ``a.sh: line 4: syntax error near unexpected token `fi'``.
fn bash(text: &str) -> Option<Told<'_>> {
    let (path, rest) = split_at(text, ": line ")?;
    let (line, message) = leading_in(rest)?;
    let message = message.strip_prefix(": ")?;
    let is_ours =
        message.starts_with("syntax error") || message.starts_with("unexpected EOF while looking for matching");
    // awk and others put their name before it.
    (is_ours && is_path(path) && !path.contains(": ")).then(|| Told::error("bash", (path, Some(line)), None, message))
}

/// `a.sh: 4: Syntax error: "fi" unexpected (expecting "done")`.
fn dash(text: &str) -> Option<Told<'_>> {
    let (place, message) = split_at(text, ": Syntax error: ")?;
    let (path, line) = place.rsplit_once(": ").filter(|(path, _)| is_path(path))?;
    Some(Told::error("dash", (path, Some(line.parse().ok()?)), None, message))
}

/// ``a.sh:4: parse error near `fi'``, `a.sh:2: unmatched "`.
fn zsh(text: &str) -> Option<Told<'_>> {
    split_at(text, " error near `").or_else(|| split_at(text, ": unmatched "))?;
    let place = placed(text).filter(|place| !place.has_column)?;
    let is_ours = place.rest.starts_with("parse error near `")
        || matches!(place.rest, "unmatched \"" | "unmatched '" | "unmatched `");
    is_ours.then(|| Told::error("zsh", (place.path, place.line), None, place.rest))
}

/// What keeps Perl from running a program: `syntax error at a.pl line 7, near "}"`. Its warnings are those of programs that run.
fn perl(text: &str) -> Option<Told<'_>> {
    let begins = [
        "syntax error at ",
        "Global symbol \"",
        "Missing right curly or square bracket at ",
        "Can't find string terminator ",
        "BEGIN failed--compilation aborted at ",
    ];
    begins.iter().find(|begin| text.starts_with(**begin))?;
    let (before, after) = text.rsplit_once(" line ")?;
    let (message, path) = before.rsplit_once(" at ")?;
    let (line, _) = leading_in(after)?;
    is_path(path).then(|| Told::error("perl", (path, Some(line)), None, message))
}

/// `PHP Fatal error:  Uncaught ParseError: syntax error, unexpected token ";" in /p/a.php:2`, of a file that PHPUnit or another
/// program loads. On a terminal it stands there a second time, without its first word.
fn php(text: &str) -> Option<Told<'_>> {
    let (message, place) = text.strip_prefix("PHP Fatal error:  Uncaught ParseError: ")?.rsplit_once(" in ")?;
    bare_place(place).map(|place| Told::error("php", place, None, message))
}

/// ``a_test.rb:2:in `require_relative': /p/a.rb:2: syntax error, unexpected `def' (SyntaxError)``, `ruby: a.rb:2: syntax errors
/// found (SyntaxError)`. What names its file first is read as compilers' messages are.
fn ruby(text: &str) -> Option<Told<'_>> {
    let text = text.strip_suffix(" (SyntaxError)")?;
    let (before, _) = split_at(text, ": syntax error")?;
    let message = text.get(before.len() + 2..)?;
    let place = before.strip_prefix("ruby: ").or_else(|| Some(before.rsplit_once("': ")?.1))?;
    let place = bare_place(place).filter(|(path, _)| path.ends_with(".rb"))?;
    Some(Told::error("ruby", place, None, message))
}

/// `luac: a.lua:3: '=' expected near 'x'`.
fn lua(text: &str) -> Option<Told<'_>> {
    let (version, rest) = text.strip_prefix("luac")?.split_once(": ")?;
    let place = placed(rest).filter(|_| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))?;
    Some(Told::error("lua", (place.path, place.line), None, place.rest))
}

/// `/p/a.js:3`, above the source.
fn place_of_node(text: &str) -> Option<(&str, Option<u64>)> {
    let path = text.strip_prefix("file://").unwrap_or(text);
    let place = bare_place(path).filter(|_| path.starts_with('/') || path.get(1..3) == Some(":\\"))?;
    is_script(place.0).then_some(place)
}

/// `SyntaxError: message`, and below it the part of Node.js that parses. Programs parse, too, and fail so.
fn node<'a>(title: &'a str, before: &'a str, place: &'a str) -> Option<Told<'a>> {
    let message = before.strip_prefix("SyntaxError: ")?;
    let parsers = ["wrapSafe (node:", "checkSyntax (node:", "compileSourceTextModule (node:"];
    parsers.iter().find(|parser| place.starts_with(**parser))?;
    Some(Told::error("node", place_of_node(title)?, Some("SyntaxError"), message))
}

/// Code and message of `TS2322 [ERROR]: Type 'string' is not assignable to type 'number'.`
fn of_deno_check(text: &str) -> Option<(&str, &str)> {
    let (code, message) = split_at(text, " [ERROR]: ")?;
    let number = code.strip_prefix("TS")?;
    number.parse::<u32>().is_ok().then_some((code, message))
}

/// ``error: SyntaxError: Unexpected token `=`.``, above the source.
fn is_of_deno_s_parser(text: &str) -> bool {
    text.starts_with("error: SyntaxError: ")
        || text.starts_with("error: The module's source code could not be parsed: ")
}

/// What keeps `deno run`, `deno test` and others from running anything, which `deno check` looks for.
const DENO_CHECK: &str = "deno-check";

/// `    at file:///p/a.ts:2:7`, below what it tells and the source.
fn deno_check<'a>(title: &'a str, place: &'a str) -> Option<Told<'a>> {
    let place = bare_place(place.strip_prefix("file://")?)?;
    if is_of_deno_s_parser(title) {
        return Some(Told::error(DENO_CHECK, place, None, title.strip_prefix("error: ")?));
    }
    let (code, message) = of_deno_check(title)?;
    Some(Told::error(DENO_CHECK, place, Some(code), message))
}

/// `error[no-var]: message`, and below it ` --> /p/a.ts:3:1`.
fn deno_lint<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let place = bare_place(text.trim_start().strip_prefix("--> ")?).filter(|(path, _)| is_script(path))?;
    let (rule, message) = before.strip_prefix("error[")?.split_once("]: ")?;
    let is_rule = rule.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'/'));
    is_rule.then(|| Told::error("deno", place, Some(rule), message))
}

/// ``file:///p/a.ts: line 3, col 1 - `var` keyword is not allowed. (no-var)``; `Error linting: /p/a.ts` of what cannot be parsed.
fn deno_compact(text: &str) -> Option<Told<'_>> {
    if let Some(path) = text.strip_prefix("Error linting: ").filter(|path| is_script(path)) {
        return Some(Told::error("deno", (path, None), None, "cannot be parsed"));
    }
    let (path, rest) = text.strip_prefix("file://")?.split_once(": line ")?;
    let (line, rest) = leading_in(rest)?;
    let (_, rest) = leading_in(rest.strip_prefix(", col ")?)?;
    let (message, rule) = bracketed(rest.strip_prefix(" - ")?, '(', ')')?;
    Some(Told::error("deno", (path, Some(line)), Some(rule), message))
}

/// `error: Could not resolve: "x"`, and below it `    at /p/a.ts:2:15`. What a program throws stands further in.
fn bun<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let place =
        bare_place(text.strip_prefix("    at ")?).filter(|(path, _)| is_script(path) && path.starts_with('/'))?;
    let (word, message) = before.split_once(": ")?;
    let level = match word {
        "error" => Level::Error,
        "warn" => Level::Warning,
        _ => return None,
    };
    Some(Told { level, ..Told::error("bun", place, None, message) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(told: &Told<'a>) -> (&'static str, Option<&'a str>, Option<u64>, Option<&'a str>, &'a str) {
        (told.tool, told.path, told.line, told.rule, told.message)
    }

    #[test]
    fn each_interpreter_s_line_has_its_place() {
        for (line, tool, path, number, message) in [
            (
                "b c.sh: line 4: syntax error near unexpected token `fi'",
                "bash",
                "b c.sh",
                4,
                "syntax error near unexpected token `fi'",
            ),
            (
                "c.sh: line 1: unexpected EOF while looking for matching `\"'",
                "bash",
                "c.sh",
                1,
                "unexpected EOF while looking for matching `\"'",
            ),
            (
                "a.sh: 4: Syntax error: end of file unexpected (expecting \"fi\")",
                "dash",
                "a.sh",
                4,
                "end of file unexpected (expecting \"fi\")",
            ),
            ("a.zsh:4: parse error near `\\n'", "zsh", "a.zsh", 4, "parse error near `\\n'"),
            ("a.zsh:2: unmatched \"", "zsh", "a.zsh", 2, "unmatched \""),
            ("PHP Fatal error:  Uncaught ParseError: no \";\" in /p/a.php:2", "php", "/p/a.php", 2, "no \";\""),
            (
                "t.rb:2:in `require_relative': /p/a.rb:3: syntax error, unexpected `def' (SyntaxError)",
                "ruby",
                "/p/a.rb",
                3,
                "syntax error, unexpected `def'",
            ),
            ("ruby: a.rb:3: syntax errors found (SyntaxError)", "ruby", "a.rb", 3, "syntax errors found"),
            ("syntax error at a.pl line 7, at EOF", "perl", "a.pl", 7, "syntax error"),
            (
                "Global symbol \"$y\" requires x (did you forget to declare \"my $y\"?) at a.pl line 4.",
                "perl",
                "a.pl",
                4,
                "Global symbol \"$y\" requires x (did you forget to declare \"my $y\"?)",
            ),
            (
                "Missing right curly or square bracket at a.pl line 7, at end of line",
                "perl",
                "a.pl",
                7,
                "Missing right curly or square bracket",
            ),
            ("luac5.4: sub/b.lua:3: 'end' expected near <eof>", "lua", "sub/b.lua", 3, "'end' expected near <eof>"),
        ] {
            let told = told(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(at(&told), (tool, Some(path), Some(number), None, message), "{line}");
        }
        for other in [
            "b.sh: line 4: `fi'",
            "b.sh: line 4: foo: command not found",
            "a.sh: 4: foo: not found",
            "a.zsh:4: command not found: parse error near `x'",
            "Use of uninitialized value $x at a.pl line 7.",
            "a.pl had compilation errors.",
            "lua: a.lua:3: attempt to call a nil value",
        ] {
            assert!(told(other).is_none(), "{other}");
        }
        assert_eq!(
            (clean("lib/A.pm syntax OK"), clean("Syntax OK"), clean("the syntax OK")),
            (Some("perl"), None, None)
        );
    }

    #[test]
    fn node_cannot_parse_what_its_own_parser_refuses() {
        let before = "SyntaxError: Unexpected token ';'";
        let of = |title, frame| titled(title, before, frame).map(|told| (told.path.map(str::to_owned), told.line));
        let found = Some((Some("/p/a.mjs".to_owned()), Some(3)));
        assert!(begins("/p/a.mjs:3") && begins("file:///p/a.mjs:3") && !begins("a.mjs:3") && !begins("/p/a.txt:3"));
        assert_eq!(of("/p/a.mjs:3", "    at wrapSafe (node:internal/modules/cjs/loader:1464:18)"), found);
        assert_eq!(
            of("file:///p/a.mjs:3", "    at compileSourceTextModule (node:internal/modules/esm/utils:344:16)"),
            found
        );
        assert_eq!(of("/p/a.mjs:3", "    at JSON.parse (<anonymous>)"), None, "the program's own");
        assert_eq!(of("TAP version 13", "    at wrapSafe (node:internal/modules/cjs/loader:1464:18)"), None);
    }

    #[test]
    fn deno_and_bun_tell_the_place_below() {
        let (code, file) = ("TS2322 [ERROR]: Type 'a'.", "    at file:///p/a b.ts:2:7");
        assert!(begins(code) && begins("error: SyntaxError: No."));
        let told = titled(code, "  ^", file).unwrap();
        assert_eq!(at(&told), (DENO_CHECK, Some("/p/a b.ts"), Some(2), Some("TS2322"), "Type 'a'."));
        let told = titled("error: SyntaxError: No.", "  ~", file).unwrap();
        assert_eq!(at(&told), (DENO_CHECK, Some("/p/a b.ts"), Some(2), None, "SyntaxError: No."));
        assert!(
            titled("TS2322 [ERROR]: x", "", "    at f (file:///p/a.ts:2:7)").is_none()
                && titled("error: x", "", file).is_none()
        );
        let told = below("error[no-var]: No `var`.", " --> /p/a.ts:3:1").unwrap();
        assert_eq!(at(&told), ("deno", Some("/p/a.ts"), Some(3), Some("no-var"), "No `var`."));
        assert!(
            below("error[E0308]: x", " --> a.ts:3:1").is_none() && below("error[no-var]: x", " --> a.rs:3:1").is_none()
        );
        let told = super::told("file:///p/a.ts: line 3, col 5 - `q` is never used (no-unused-vars)").unwrap();
        assert_eq!(at(&told), ("deno", Some("/p/a.ts"), Some(3), Some("no-unused-vars"), "`q` is never used"));
        assert_eq!(super::told("Error linting: /p/a.ts").unwrap().path, Some("/p/a.ts"));
        assert_eq!(counted("error: Found 2 not formatted files in 3 files").unwrap().counts, [2, 0, 0]);
        assert_eq!(counted("Found 1 not formatted file.").unwrap().tool, "dprint");
        assert!(counted("error: Found 2 errors").is_none());
        let told = below("error: Unexpected ;", "    at /p/s.ts:2:9").unwrap();
        assert_eq!(at(&told), ("bun", Some("/p/s.ts"), Some(2), None, "Unexpected ;"));
        for (before, text) in [
            ("error: x", "      at /p/s.ts:2:9"),
            ("note: x", "    at /p/s.ts:2:9"),
            ("error: x", "    at f (/p/s.ts:2:9)"),
        ] {
            assert!(below(before, text).is_none(), "{before}");
        }
    }
}
