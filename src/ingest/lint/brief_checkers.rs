//! Lines of checkers in many languages, for `brief-text`: PHPMD, puppet-lint, Perl::Critic, ChkTeX, staticcheck (`stylish`),
//! Flawfinder, misspell, deptry, Refurb, Bandit (`custom`), pydoclint, commitlint, SQLFluff, remark, revive (`friendly`), TFLint,
//! podchecker, Xenon and checkbashisms; lizard's warnings; Semgrep (`--vim`, `--emacs`); inspections for TeamCity.

use super::brief_text::{Told, level};
use super::lines::{Placed, bare_place, bracketed, is_class_name, is_code, is_dashed_name, is_path, placed};
use super::ruff_text::is_rule_of_deptry;
use crate::ingest::Level;
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    // Most lines have none of their signs.
    let readers: &[fn(&str) -> Option<Told<'_>>] = match text.as_bytes() {
        [b' ', ..] => &[staticcheck_stylish, pydoclint, friendly, remark, phpmd_ansi],
        [b'#', ..] => &[teamcity],
        [b'*', ..] => &[podchecker],
        _ => &[
            commitlint, sqlfluff, chktex, flawfinder, refurb, bandit, phpmd, remark, deptry, lizard, xenon, phpmd_ansi,
        ],
    };
    let by_end: &[fn(&str) -> Option<Told<'_>>] = match text.as_bytes() {
        [.., b')'] => &[puppet_lint, perlcritic, tflint_compact],
        [.., b'0'..=b'9'] => &[puppet_lint],
        [.., b':'] => &[checkbashisms],
        _ => &[],
    };
    by_end.iter().chain(readers).find_map(|read| read(text))
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    match text {
        "🎉 No violations 🎉" => Some("pydoclint"),
        "✔   found 0 problems, 0 warnings" => Some("commitlint"),
        "No hits found." => Some("flawfinder"),
        "Success! No dependency issues found." => Some("deptry"),
        "No mess detected" => Some("phpmd"),
        _ if text.starts_with("No errors printed; No warnings printed; ") => Some("chktex"),
        _ if text.ends_with(" pod syntax OK.") => Some("podchecker"),
        "No vulnerabilities found." => Some("govulncheck"),
        "All Finished!" | "All Finished 📜 🎉!" => Some("sqlfluff"),
        _ if text.starts_with("== [") && text.ends_with("] PASS") => Some("sqlfluff"),
        _ if text.strip_suffix(" source OK").is_some_and(is_perl) => Some("perlcritic"),
        _ if text.strip_suffix(": no issues found").is_some_and(is_prose) => Some("remark"),
        _ => None,
    }
}

/// Whether remark and alex read a file of that name.
fn is_prose(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "md" | "mdx" | "markdown" | "txt"))
}

pub(super) fn is_perl(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "pl" | "pm" | "t" | "psgi"))
}

/// A finding without a file, which stands above it or is not told.
pub(super) fn below<'a>(
    tool: &'static str,
    level: Level,
    line: Option<u64>,
    rule: Option<&'a str>,
    message: &'a str,
) -> Option<Told<'a>> {
    Some(Told { tool, level, path: None, line: line.filter(|line| *line > 0), rule, message })
}

/// `possible bashism in a.sh line 2 (should be 'b = a'):`, below it the source.
fn checkbashisms(text: &str) -> Option<Told<'_>> {
    let (path, rest) = text.strip_prefix("possible bashism in ")?.strip_suffix("):")?.split_once(" line ")?;
    let (line, message) = leading_in(rest)?;
    Some(Told::error("checkbashisms", (path, Some(line)), None, message.strip_prefix(" (")?))
}

/// `a.py:2: warning: f has 9 NLOC, 9 CCN, 60 token, 5 PARAM, 9 length, 0 ND`: a function above a limit, as `lizard -w` prints
/// it. Those that the table of lizard names again are told without a place.
fn lizard(text: &str) -> Option<Told<'_>> {
    let place = placed(text)?;
    let message = place.rest.strip_prefix("warning: ").filter(|message| is_of_lizard(message))?;
    Some(Told { level: Level::Warning, ..Told::error("lizard", (place.path, place.line), None, message) })
}

/// Whether a message tells how large a function is, as lizard does; compilers and mypy print their warnings at such places.
pub(super) fn is_of_lizard(message: &str) -> bool {
    let Some((_, measures)) = message.rsplit_once(" has ") else { return false };
    let mut measures = measures.split(", ").map(leading_in);
    let is_next = |name: &str| measures.next().flatten().is_some_and(|(_, unit)| unit == name);
    [" NLOC", " CCN", " token", " PARAM", " length"].into_iter().all(is_next)
}

/// `/app/A.php:3  ShortVariable  Avoid variables with short names like $x.`, in columns; before version 2.10 with a tab, and no
/// rule.
fn phpmd(text: &str) -> Option<Told<'_>> {
    if let Some(said) = text.strip_prefix("\t-\t") {
        return unparsed_by_phpmd(said);
    }
    let (path, rest) = split_at(text, ".php:").filter(|(path, _)| is_path(path))?;
    let path = text.get(..path.len() + ".php".len())?;
    let (line, rest) = leading_in(rest)?;
    let (rule, message) = match rest.strip_prefix('\t') {
        Some(message) => (None, message),
        None => {
            let (rule, message) = rest.strip_prefix("  ")?.trim_start().split_once("  ")?;
            (is_class_name(rule).then_some(Some(rule))?, message.trim_start())
        }
    };
    Some(Told::error("phpmd", (path, Some(line).filter(|line| *line > 0)), rule, message))
}

/// ` 3 | VIOLATION | Avoid variables with short names like $a.` below the file, its renderer `ansi`; `ERROR while parsing a.php`.
fn phpmd_ansi(text: &str) -> Option<Told<'_>> {
    if text.starts_with("ERROR while parsing ") || text == "ERROR while parsing" {
        return below("phpmd", Level::Error, None, None, text);
    }
    let (line, rest) = leading_in(text.trim_start())?;
    below("phpmd", Level::Error, Some(line), None, rest.strip_prefix(" | VIOLATION | ")?)
}

/// `*** ERROR: Unknown directive: =itm at line 13 in file a.pl`.
fn podchecker(text: &str) -> Option<Told<'_>> {
    let (word, rest) = text.strip_prefix("*** ")?.split_once(": ")?;
    let level = match word {
        "ERROR" => Level::Error,
        "WARNING" => Level::Warning,
        _ => return None,
    };
    let (rest, path) = rest.rsplit_once(" in file ")?;
    let (message, line) = rest.rsplit_once(" at line ")?;
    Some(Told { level, ..Told::error("podchecker", (path, line.parse().ok()), None, message) })
}

/// `ERROR:xenon:block "pk/cc.py:1 h" has a rank of C`.
fn xenon(text: &str) -> Option<Told<'_>> {
    let message = text.strip_prefix("ERROR:xenon:")?;
    let (what, rest) =
        message.split_once(['"', '\'']).and_then(|(what, rest)| Some((what, rest.split(['"', '\'']).next()?)))?;
    let place = rest.split_once(' ').map_or(rest, |(place, _)| place);
    let place = bare_place(place).filter(|_| what == "block ").unwrap_or((rest, None));
    Some(Told::error("xenon", place, None, message))
}

/// `Unexpected token: {, line: 2, col: 23, file: /app/A.php.`, of a file that it cannot parse.
fn unparsed_by_phpmd(said: &str) -> Option<Told<'_>> {
    let (rest, path) = said.strip_suffix('.')?.rsplit_once(", file: ")?;
    let (message, place) = rest.rsplit_once(", line: ")?;
    let (line, _) = leading_in(place).filter(|_| path.ends_with(".php"))?;
    Some(Told::error("phpmd", (path, Some(line)), None, message))
}

/// `ERROR: tab character found on line 2 (check: hard_tabs)`, with the file `a.pp - ERROR: …`; formats of one's own leave out
/// the check.
fn puppet_lint(text: &str) -> Option<Told<'_>> {
    let check = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (check: "));
    let (rest, rule) = check.map_or((text, None), |(rest, rule)| (rest, Some(rule)));
    let (rest, line) = rest.rsplit_once(" on line ")?;
    let (line, _) = leading_in(line)?;
    let (path, rest) =
        rest.split_once(" - ").filter(|(path, _)| is_path(path)).map_or((None, rest), |(p, r)| (Some(p), r));
    (rule.is_some() || path.is_some_and(|path| path.ends_with(".pp"))).then_some(())?;
    let (word, message) = rest.split_once(": ")?;
    let level = match word {
        "ERROR" => Level::Error,
        "WARNING" => Level::Warning,
        _ => return None,
    };
    Some(Told { path, ..below("puppet-lint", level, Some(line), rule, message)? })
}

/// `Code before strictures at line 1, column 1.  See page 429 of PBP.  (Severity: 5)`, with `--verbose 8` behind its
/// `[Policy]`; with others of its numbers ` near '…'` stands in place of the column. Five is the worst.
fn perlcritic(text: &str) -> Option<Told<'_>> {
    let (rest, severity) = text.strip_suffix(')')?.rsplit_once("(Severity: ")?;
    let level = match severity {
        "5" => Level::Error,
        "4" | "3" => Level::Warning,
        "2" | "1" => Level::Note,
        _ => return None,
    };
    let (message, place) = rest.split_once(" at line ")?;
    let (line, rest) = leading_in(place)?;
    rest.strip_prefix(", column ").or_else(|| rest.trim_start_matches(',').strip_prefix(" near '"))?;
    let policy = message.strip_prefix('[').and_then(|message| message.split_once("] "));
    let (rule, message) = policy.map_or((None, message), |(rule, message)| (Some(rule), message));
    below("perlcritic", level, Some(line), rule, message)
}

/// `Warning 26 in a.tex line 1: You ought to remove spaces in front of punctuation.`
fn chktex(text: &str) -> Option<Told<'_>> {
    let (word, rest) = text.split_once(' ')?;
    let level = match word {
        "Error" => Level::Error,
        "Warning" => Level::Warning,
        "Message" => Level::Note,
        _ => return None,
    };
    let (_, after) = leading_in(rest)?;
    let rule = rest.get(..rest.len() - after.len())?;
    let (place, message) = after.strip_prefix(" in ")?.split_once(": ")?;
    let (path, line) = place.rsplit_once(" line ")?;
    Some(Told { level, ..Told::error("chktex", (path, line.parse().ok()), Some(rule), message) })
}

/// `  (9, 6)    U1000   func unused is unused` below the file.
fn staticcheck_stylish(text: &str) -> Option<Told<'_>> {
    let (line, rest) = leading_in(text.strip_prefix("  (")?)?;
    let (_, rest) = leading_in(rest.strip_prefix(", ")?)?;
    let (code, message) = rest.strip_prefix(')')?.trim_start().split_once(' ')?;
    (code == "compile" || is_code(code, 1..=2, 4..=4)).then_some(())?;
    below("staticcheck", Level::Error, Some(line), Some(code), message.trim_start())
}

/// revive's formatter `friendly`, and ESLint's of that name: `  ⚠  https://revive.run/r#exported  message` above the place.
fn friendly(text: &str) -> Option<Told<'_>> {
    let rest = text.trim_start();
    let (level, rest) = match (rest.strip_prefix("✘  "), rest.strip_prefix("⚠  ")) {
        (Some(rest), _) => (Level::Error, rest),
        (_, Some(rest)) => (Level::Warning, rest),
        _ => return None,
    };
    let (url, message) = rest.split_once("  ").unwrap_or((rest, ""));
    if let Some(rule) = url.strip_prefix("https://revive.run/r#") {
        return below("revive", level, None, Some(rule), message.trim());
    }
    let rule = url.strip_prefix("http")?.rsplit_once("eslint.org/docs/")?.1.rsplit_once("rules/")?.1;
    below("eslint", level, None, Some(rule), message.trim())
}

/// An inspection for TeamCity, as golangci-lint, PHPStan and ktlint tell it: `##teamcity[inspection typeId='errcheck' message='…'
/// file='a.go' line='12' SEVERITY='']`.
fn teamcity(text: &str) -> Option<Told<'_>> {
    let rest = text.strip_prefix("##teamcity[inspection ")?.strip_suffix(']')?;
    // A quote in a value is escaped: `|'`.
    let value = |name: &str| {
        let start = rest.find(name).map(|at| at + name.len())?;
        let value = rest.get(start..)?;
        let end =
            value.match_indices('\'').find(|(at, _)| !value.get(..*at).is_some_and(|text| text.ends_with('|')))?.0;
        value.get(..end)
    };
    let level = match value("SEVERITY='").unwrap_or_default() {
        "WARNING" | "WEAK WARNING" => Level::Warning,
        "INFO" => Level::Note,
        _ => Level::Error,
    };
    let line = value("line='").and_then(|line| line.parse().ok()).filter(|line| *line > 0);
    Some(Told {
        level,
        path: value("file='"),
        ..below("teamcity", level, line, Some(value("typeId='")?), value("message='")?)?
    })
}

/// `a.c:3:  [4] (buffer) strcpy:`, with `--columns` `a.c:3:47:  …`. Risks go from 0 to 5. A file that is not there it skips.
fn flawfinder(text: &str) -> Option<Told<'_>> {
    if let Some(path) = text.strip_prefix("Warning: Skipping non-existent file ") {
        return Some(Told { level: Level::Warning, ..Told::error("flawfinder", (path, None), None, "is not there") });
    }
    let (place, rest) = split_at(text, ":  [")?;
    let (risk, rest) = rest.split_once("] (")?;
    let level = match risk {
        "5" | "4" => Level::Error,
        "3" => Level::Warning,
        "2" | "1" | "0" => Level::Note,
        _ => return None,
    };
    let (rule, message) = rest.split_once(") ")?.1.split_once(':')?;
    Some(Told { level, ..Told::error("flawfinder", bare_place(place)?, Some(rule), message) })
}

/// `a.py:3:5 [FURB101]: Replace …`.
fn refurb(text: &str) -> Option<Told<'_>> {
    let (place, rest) = split_at(text, " [FURB")?;
    let (number, message) = rest.split_once("]: ")?;
    number.parse::<u64>().ok()?;
    let rule = text.get(place.len() + 2..place.len() + 2 + "FURB".len() + number.len());
    Some(Told::error("refurb", bare_place(place)?, rule, message))
}

/// What misspell says of a word.
pub(super) const MISSPELLED: &str = "\" is a misspelling of \"";

/// `README.md:3:5: "recieve" is a misspelling of "receive"`.
pub(super) fn misspell<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    split_at(place.rest, MISSPELLED).filter(|_| place.has_column)?;
    Some(Told::error("misspell", (place.path, place.line), None, place.rest))
}

/// `bad.py:8:9:E:no-eval:message` with Semgrep's `--vim`, `bad.py:8:9:error(no-eval):        eval("1"):message` with `--emacs`.
pub(super) fn semgrep<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let (word, rest) = place.rest.split_once(':').filter(|_| place.has_column)?;
    let short = match word {
        "E" => Some(Level::Error),
        "W" => Some(Level::Warning),
        "I" => Some(Level::Note),
        _ => None,
    };
    let (level, rule, message) = match short {
        Some(level) => rest.split_once(':').map(|(rule, message)| (level, rule, message))?,
        None => {
            let (word, rule) = word.strip_suffix(')')?.split_once('(')?;
            (level(word)?, rule, rest.rsplit_once(':')?.1)
        }
    };
    let is_rule = !rule.is_empty() && !rule.contains(' ');
    is_rule.then(|| Told { level, ..Told::error("semgrep", (place.path, place.line), Some(rule), message) })
}

/// `src/a.py:1:8: DEP003 'yaml' imported but …`, `pyproject.toml: DEP002 'requests' defined …`.
fn deptry(text: &str) -> Option<Told<'_>> {
    let (place, _) = split_at(text, ": DEP")?;
    let (code, message) = text.get(place.len() + 2..)?.split_once(' ').filter(|(code, _)| is_rule_of_deptry(code))?;
    let place = bare_place(place).or_else(|| is_path(place).then_some((place, None)))?;
    Some(Told::error("deptry", place, Some(code), message))
}

/// Bandit's format `custom`, if nothing else was asked for: `a.py:2: B403[bandit]: LOW: Consider …`; as collectors of warnings
/// ask for it, `a.py:2: LOW: B403: Consider …`.
fn bandit(text: &str) -> Option<Told<'_>> {
    let (place, rule, word, message) = match split_at(text, "[bandit]: ") {
        Some((before, rest)) => {
            let (place, rule) = before.rsplit_once(": ")?;
            let (word, message) = rest.split_once(": ")?;
            (place, rule, word, message)
        }
        None => {
            let (before, _) = split_at(text, ": B")?;
            let (rule, message) = text.get(before.len() + 2..)?.split_once(": ")?;
            let (place, word) = before.rsplit_once(": ").filter(|_| is_code(rule, 1..=1, 3..=3))?;
            (place, rule, word, message)
        }
    };
    let level = match word {
        "HIGH" => Level::Error,
        "MEDIUM" => Level::Warning,
        "LOW" | "UNDEFINED" => Level::Note,
        _ => return None,
    };
    Some(Told { level, ..Told::error("bandit", bare_place(place)?, Some(rule), message) })
}

/// `    13: DOC101: Function …` below the file.
fn pydoclint(text: &str) -> Option<Told<'_>> {
    let (line, rest) = leading_in(text.strip_prefix("    ")?)?;
    let (code, message) = rest.strip_prefix(": ")?.split_once(": ")?;
    let is_ours = code.starts_with("DOC") && is_code(code, 3..=3, 3..=3);
    is_ours.then(|| below("pydoclint", Level::Error, Some(line), Some(code), message))?
}

/// `✖   subject may not be empty [subject-empty]`.
fn commitlint(text: &str) -> Option<Told<'_>> {
    let (level, rest) = match (text.strip_prefix("✖   "), text.strip_prefix("⚠   ")) {
        (Some(rest), _) => (Level::Error, rest),
        (_, Some(rest)) => (Level::Warning, rest),
        _ => return None,
    };
    let (message, rule) = bracketed(rest, '[', ']')?;
    below("commitlint", level, None, Some(rule), message)
}

/// `L:   1 | P:  13 | LT01 | Expected single whitespace …` below the file.
fn sqlfluff(text: &str) -> Option<Told<'_>> {
    let mut cells = text.strip_prefix("L:")?.splitn(4, '|').map(str::trim);
    let (line, column, code) = (cells.next()?, cells.next()?, cells.next()?);
    column.strip_prefix("P:")?;
    let is_ours = is_code(code, 1..=4, 2..=3) || matches!(code, "PRS" | "TMP");
    is_ours.then(|| below("sqlfluff", Level::Error, Some(line.parse().ok()?), Some(code), cells.next()?))?
}

/// `4:2     warning Unexpected `1` space …      list-item-bullet-indent remark-lint` below the file, before remark-cli 10
/// indented; alex prints with it what `retext-equality` and others find.
fn remark(text: &str) -> Option<Told<'_>> {
    let (line, rest) = leading_in(text.trim_start())?;
    let (_, rest) = leading_in(rest.strip_prefix(':')?)?;
    let (end, rest) = rest.split_once(' ')?;
    let is_end = end.is_empty() || end.strip_prefix('-').is_some_and(|end| end.contains(':'));
    let (word, rest) = rest.trim_start().split_once(' ').filter(|_| is_end)?;
    let (rest, source) = rest.trim_end().rsplit_once(' ')?;
    let (message, rule) = rest.trim_end().rsplit_once(' ').filter(|_| is_of_remark(source))?;
    below("remark", level(word)?, Some(line), Some(rule), message.trim())
}

/// Whether a plugin of remark's or alex' has that name.
pub(super) fn is_of_remark(source: &str) -> bool {
    ["remark-", "retext-"].iter().any(|begin| source.starts_with(begin)) && is_dashed_name(source)
}

/// TFLint's format `compact`: `main.tf:1:1: Warning - Missing version (terraform_required_version)`.
fn tflint_compact(text: &str) -> Option<Told<'_>> {
    let (place, rest) = split_at(text, " - ")?;
    let (place, word) = place.rsplit_once(": ")?;
    let (message, rule) = bracketed(rest, '(', ')').filter(|(_, rule)| rule.contains('_'))?;
    let place = bare_place(place).filter(|(path, _)| path.ends_with(".tf") || path.ends_with(".tf.json"))?;
    Some(Told { level: level_of_tflint(word)?, ..Told::error("tflint", place, Some(rule), message) })
}

fn level_of_tflint(word: &str) -> Option<Level> {
    match word {
        "Error" => Some(Level::Error),
        "Warning" => Some(Level::Warning),
        "Notice" => Some(Level::Note),
        _ => None,
    }
}

/// Whether it is the first line of a finding of TFLint's or Terraform's: `Warning: Missing version (terraform_required_version)`,
/// `Error: Unsupported argument`, which stands in a frame on a terminal.
pub(super) fn begins_tflint(text: &str) -> bool {
    let text = unframed(text);
    text.starts_with("Error: ") || text.starts_with("Warning: ") || text.starts_with("Notice: ")
}

fn unframed(text: &str) -> &str {
    text.strip_prefix("│ ").unwrap_or(text)
}

/// TFLint's `  on main.tf line 1:` below the first line of a finding, Terraform's `  on main.tf line 1, in resource "a" "b":`.
pub(super) fn tflint<'a>(title: &'a str, text: &'a str) -> Option<Told<'a>> {
    let place = unframed(text).strip_prefix("  on ")?.strip_suffix(':')?;
    let (path, rest) = place.split_once(" line ")?;
    let (line, rest) = leading_in(rest)?;
    let (word, message) = unframed(title).split_once(": ")?;
    let rule = bracketed(message, '(', ')').filter(|(_, rule)| rule.contains('_'));
    let is_ours = rest.is_empty() || (rule.is_none() && rest.starts_with(", in "));
    let (tool, message) = rule.map_or(("terraform", message), |(message, _)| ("tflint", message));
    let place = Some((path, Some(line))).filter(|_| is_ours)?;
    Some(Told { level: level_of_tflint(word)?, ..Told::error(tool, place, rule.map(|(_, rule)| rule), message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::lint::brief_text;

    #[test]
    fn each_line_has_its_place_level_and_rule() {
        use Level::{Error, Note, Warning};
        for (line, tool, level, place, rule) in [
            ("/p/A.php:3  ShortVariable  Avoid $x. Minimum is 3.", "phpmd", Error, "/p/A.php:3", "ShortVariable"),
            ("/p/A.php:3             ShortVariable  Avoid $x.", "phpmd", Error, "/p/A.php:3", "ShortVariable"),
            ("\t-\tUnexpected token: {, line: 2, col: 23, file: /p/A.php.", "phpmd", Error, "/p/A.php:2", ""),
            ("/p/A.php:3\tAvoid variables with short names like $x.", "phpmd", Error, "/p/A.php:3", ""),
            ("ERROR: tab found on line 2 (check: hard_tabs)", "puppet-lint", Error, ":2", "hard_tabs"),
            ("a.pp - WARNING: x on line 4 (check: file_mode)", "puppet-lint", Warning, "a.pp:4", "file_mode"),
            ("Code before it at line 1, column 9.  See page 4 of PBP.  (Severity: 5)", "perlcritic", Error, ":1", ""),
            ("[A::B] Two uses at line 2, column 1.  (Severity: 1)", "perlcritic", Note, ":2", "A::B"),
            ("[A::B] Two uses at line 2, near 'my $x = 1;'.  (Severity: 4)", "perlcritic", Warning, ":2", "A::B"),
            ("Warning 26 in a b.tex line 1: Remove: spaces.", "chktex", Warning, "a b.tex:1", "26"),
            ("  (9, 6)    U1000   func x is unused", "staticcheck", Error, ":9", "U1000"),
            ("  ⚠  https://revive.run/r#exported  no comment  ", "revive", Warning, "", "exported"),
            ("  ✘  http://eslint.org/docs/rules/no-undef", "eslint", Error, "", "no-undef"),
            (
                "##teamcity[inspection typeId='errcheck' message='it|'s bad' file='a.go' line='12' SEVERITY='']",
                "teamcity",
                Error,
                "a.go:12",
                "errcheck",
            ),
            ("##teamcity[inspection typeId='x' message='m' SEVERITY='WARNING']", "teamcity", Warning, "", "x"),
            ("a.c:3:  [4] (buffer) strcpy:", "flawfinder", Error, "a.c:3", "strcpy"),
            ("Warning: Skipping non-existent file no.c", "flawfinder", Warning, "no.c", ""),
            (" 3 | VIOLATION | Avoid variables with short names like $a.", "phpmd", Error, ":3", ""),
            ("ERROR while parsing", "phpmd", Error, "", ""),
            ("*** ERROR: Unknown directive: =itm at line 13 in file a.pl", "podchecker", Error, "a.pl:13", ""),
            ("ERROR:xenon:block \"pk/cc.py:1 h\" has a rank of C", "xenon", Error, "pk/cc.py:1", ""),
            ("ERROR:xenon:module 'pk/cc.py' has a rank of C", "xenon", Error, "pk/cc.py", ""),
            ("possible bashism in a b.sh line 3 (echo -e):", "checkbashisms", Error, "a b.sh:3", ""),
            ("a.c:3:7:  [2] (buffer) char:Arrays can (x).", "flawfinder", Note, "a.c:3", "char"),
            (
                "a.py:2: warning: f has 9 NLOC, 9 CCN, 60 token, 5 PARAM, 9 length, 0 ND",
                "lizard",
                Warning,
                "a.py:2",
                "",
            ),
            ("a.c:1: warning: f has 1 NLOC, 4 CCN, 37 token, 3 PARAM, 1 length", "lizard", Warning, "a.c:1", ""),
            ("r.py:3:5 [FURB101]: Replace `x` with `y`", "refurb", Error, "r.py:3", "FURB101"),
            ("  (3, 46)  compile  x declared but not used", "staticcheck", Error, ":3", "compile"),
            ("a.py:1:1:I:im:import os: no", "semgrep", Note, "a.py:1", "im"),
            ("a.py:8:9:E:p.ev:no eval", "semgrep", Error, "a.py:8", "p.ev"),
            ("a.py:11:5:warning(sh):    call(\"ls\", x=1):no shell", "semgrep", Warning, "a.py:11", "sh"),
            ("a.md:3:5: \"teh\" is a misspelling of \"the\"", "misspell", Error, "a.md:3", ""),
            ("pkg/a.py:1:8: DEP003 'yaml' imported", "deptry", Error, "pkg/a.py:1", "DEP003"),
            ("pyproject.toml: DEP002 'x' not used", "deptry", Error, "pyproject.toml", "DEP002"),
            ("/p/a.py:5: B105[bandit]: LOW: Password: 'x'", "bandit", Note, "/p/a.py:5", "B105"),
            ("/p/a.py:5: HIGH: B105: Password: 'x'", "bandit", Error, "/p/a.py:5", "B105"),
            ("    13: DOC101: Function `f`: no", "pydoclint", Error, ":13", "DOC101"),
            ("✖   subject may not be empty [subject-empty]", "commitlint", Error, "", "subject-empty"),
            (
                "⚠   footer must have a blank line [footer-leading-blank]",
                "commitlint",
                Warning,
                "",
                "footer-leading-blank",
            ),
            ("L:   1 | P:  13 | LT01 | Expected | it. [layout.spacing]", "sqlfluff", Error, ":1", "LT01"),
            ("L:   4 | P:   1 |  PRS | Found unparsable section", "sqlfluff", Error, ":4", "PRS"),
            ("4:2     warning Unexpected `1` space   list-item remark-lint", "remark", Warning, ":4", "list-item"),
            ("7:1-7:4 error Unexpected (x) no-undefined remark-lint", "remark", Error, ":7", "no-undefined"),
            ("   3:4  warning  Incorrect indent  list-item  remark-lint", "remark", Warning, ":3", "list-item"),
            ("  6:3-6:9  warning  `He` may be bad  he-she  retext-equality", "remark", Warning, ":6", "he-she"),
            ("m/a.pp - ERROR: tab found on line 4", "puppet-lint", Error, "m/a.pp:4", ""),
            ("a.tf:1:1: Notice - Missing (terraform_version)", "tflint", Note, "a.tf:1", "terraform_version"),
        ] {
            let told = brief_text::told("", line).unwrap_or_else(|| panic!("{line}"));
            let at = told.place();
            let found = (told.tool, told.level, at.as_str(), told.rule.unwrap_or_default());
            assert_eq!(found, (tool, level, place, rule), "{line}");
        }
        let told = tflint("Warning: Missing x (terraform_version)", "  on main.tf line 3:").unwrap();
        assert_eq!((told.path, told.line, told.rule), (Some("main.tf"), Some(3), Some("terraform_version")));
        let told = tflint("│ Error: Unsupported argument", "│   on main.tf line 3, in resource \"a\" \"b\":").unwrap();
        assert_eq!((told.tool, told.line, told.message), ("terraform", Some(3), "Unsupported argument"));
        assert!(begins_tflint("Error: x (aws_y)") && !begins_tflint("error: x"));
    }

    #[test]
    fn a_clean_run_is_told_by_the_tool() {
        for (line, tool) in [
            ("lib/A.pm source OK", "perlcritic"),
            ("== [a b.sql] PASS", "sqlfluff"),
            ("a b.md: no issues found", "remark"),
        ] {
            assert_eq!(clean(line), Some(tool), "{line}");
        }
        assert!(clean("data source OK").is_none() && clean("== [a.sql] FAIL").is_none());
    }

    #[test]
    fn others_lines_are_not_theirs() {
        for line in [
            "/p/A.php:3:class A",
            "/p/A.php:3  is where it stands",
            "ERROR: it failed on line 3 (checked)",
            "done (Severity: 9)",
            "Warning 3 of 4: x",
            "  (9, 6) is a point",
            "a.c:3:  [x] (y) z:",
            "✖ 3 problems (3 errors, 0 warnings)",
            "  ✘  https://example.com/x  failed",
            "##teamcity[inspectionType id='x' name='x' description='d' category='c']",
            "✖   found 3 problems, 0 warnings",
            "L: 1 | P: 2 | it is | so",
            "10:20 error at noon",
            "  3:4  warning  Unexpected it  no-it  remarkable",
            "ERROR: it failed on line 4",
            "12:30:45 warning: x (a_b)",
        ] {
            assert!(told(line).is_none(), "{line}");
        }
    }
}
