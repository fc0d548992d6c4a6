//! What those who look dependencies up print, for `brief-text`: cargo-deny, whose findings have a place, govulncheck and
//! OSV-Scanner, which name them, and npm audit, Yarn's audit, pip-audit, cargo-audit and Trivy, which say how many there are;
//! depcheck and cargo-machete, which list those that nobody needs, syncpack, which names those of several versions, and dpdm and
//! ts-unused-exports, which look at modules.
//! What Yarn, Trivy, OSV-Scanner and govulncheck print is written after their sources.

use super::brief_text::Told;
use super::findings_json::{level_of, level_of_score};
use super::lines::{Placed, bare_place, bracketed};
use crate::ingest::Level;
use crate::ingest::text::{is_number, split_at};
use crate::ingest::values::leading_in;

/// cargo-deny's `error[vulnerability]: message`, and below it `   ┌─ /app/Cargo.lock:17:1`, or the crate alone, ` ├ serde v1.0.0`;
/// Gleam, Typst, selene, taplo and ast-grep print so, too.
pub(super) fn codespan<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (tool, path, line) = codespan_place(text)?;
    let (word, message) = before.split_once(": ")?;
    let (word, rule) = word.split_once('[').map_or((word, None), |(word, rule)| (word, rule.strip_suffix(']')));
    let level = word_level(word)?;
    // Without a place, nothing else tells whose it is.
    let is_told = if tool == AST_GREP { rule.is_some_and(is_name) } else { path.is_some() || rule.is_some() };
    is_told.then_some(Told { tool, level, path, line, rule, message })
}

const AST_GREP: &str = "ast-grep";

/// Whether a rule has a name, as ast-grep's have, and no code, as compilers' have.
fn is_name(rule: &str) -> bool {
    rule.starts_with(|c: char| c.is_ascii_lowercase())
}

/// `a.py:5:5: warning[no-x]: message`, as ast-grep prints it with `--report-style short`.
pub(super) fn ast_grep<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let (word, message) = place.rest.split_once(": ").filter(|_| place.has_column)?;
    let (word, rule) = word.strip_suffix(']')?.split_once('[').filter(|(_, rule)| is_name(rule))?;
    let level = word_level(word)?;
    Some(Told { level, ..Told::error(AST_GREP, (place.path, place.line), Some(rule), message) })
}

fn word_level(word: &str) -> Option<Level> {
    match word {
        "error" => Some(Level::Error),
        "warning" => Some(Level::Warning),
        "note" | "help" => Some(Level::Note),
        _ => None,
    }
}

/// The tool that such a place tells, with path and line.
fn codespan_place(text: &str) -> Option<(&'static str, Option<&str>, Option<u64>)> {
    let is_crate = |rest: &str| split_at(rest, " v").is_some_and(|(name, _)| !name.contains(' '));
    if text.strip_prefix(" ├ ").is_some_and(is_crate) {
        return Some(("cargo-deny", None, None));
    }
    let place = text.trim_start().strip_prefix("┌─ ")?;
    // Of a manifest as Cargo understands it: no file has that line.
    if place.contains("-synthesized.toml:") {
        return Some(("cargo-deny", None, None));
    }
    let (path, line) = bare_place(place)?;
    let ends = [
        ("Cargo.lock", "cargo-deny"),
        ("Cargo.toml", "cargo-deny"),
        ("deny.toml", "cargo-deny"),
        (".gleam", "gleam"),
        (".typ", "typst"),
        (".lua", "selene"),
        (".toml", "taplo"),
    ];
    let tool = ends.iter().find(|(end, _)| path.ends_with(end)).map_or(AST_GREP, |(_, tool)| tool);
    Some((tool, Some(path), line))
}

/// The lists of depcheck, cargo-machete and dpdm.
const LISTS: [(&str, &str, &str); 5] = [
    ("Unused dependencies", "depcheck", "unused dependency"),
    ("Unused devDependencies", "depcheck", "unused devDependency"),
    ("Missing dependencies", "depcheck", "missing dependency"),
    ("cargo-machete found the following unused dependencies in ", "cargo-machete", "unused dependency"),
    ("• Circular Dependencies", "dpdm", "circular dependency"),
];

fn list(title: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    LISTS.iter().find(|(begin, _, _)| title == *begin || begin.ends_with(' ') && title.starts_with(begin))
}

/// Whether a list begins with it.
pub(super) fn begins(text: &str) -> bool {
    list(text).is_some()
}

/// depcheck's `* lodash` and `* lodash: ./src/a.js`, right below their title or each other; cargo-machete's `\tserde`, below
/// `app -- ./app/Cargo.toml:`.
pub(super) fn listed<'a>(title: &'a str, before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (_, tool, rule) = list(title)?;
    if *tool == "dpdm" {
        let (number, message) = text.strip_prefix("  ")?.split_once(") ")?;
        let is_row = is_number(number) && message.contains(" -> ");
        return is_row.then_some(Told { tool, level: Level::Error, path: None, line: None, rule: Some(rule), message });
    }
    let (mark, is_first) = match *tool {
        "depcheck" => ("* ", before == title),
        _ => ("\t", before.ends_with("Cargo.toml:")),
    };
    let message = text.strip_prefix(mark).filter(|_| is_first || before.starts_with(mark))?;
    Some(Told { tool, level: Level::Error, path: None, line: None, rule: Some(rule), message })
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    match text {
        "No depcheck issue" => Some("depcheck"),
        _ if text.starts_with("cargo-machete didn't find any unused dependencies in ") => Some("cargo-machete"),
        _ if text.ends_with("Congratulations, no circular dependency was found in your project.") => Some("dpdm"),
        _ => has_cargo_deny_passed(text).then_some("cargo-deny"),
    }
}

/// `      ✘ ~4.16.0 → 4.17.0 in packages/b/package.json at .dependencies (DiffersToHighestOrLowestSemver)` of syncpack.
pub(super) fn syncpack(text: &str) -> Option<Told<'_>> {
    let (message, rest) = text.trim_start().strip_prefix("✘ ")?.rsplit_once(" in ")?;
    let (path, place) = rest.split_once(" at .")?;
    let (_, rule) = bracketed(place, '(', ')')?;
    path.ends_with("package.json").then(|| Told::error("syncpack", (path, None), Some(rule), message))
}

/// `2 modules with unused exports` of ts-unused-exports, also where there are none.
fn unused_exports(text: &str) -> Option<Counted> {
    let (number, rest) = leading_in(text)?;
    let is_sum = matches!(rest, " module with unused exports" | " modules with unused exports");
    is_sum.then_some(Counted { tool: "ts-unused-exports", counts: [number, 0, 0] })
}

/// A number of findings that are not told one by one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub tool: &'static str,
    /// Errors, warnings, notes.
    pub counts: [u64; 3],
}

/// Whether a report of npm audit begins: what npm install says is said of no report.
pub(super) fn is_npm_audit(text: &str) -> bool {
    text == "# npm audit report"
}

/// How many there are.
pub(super) fn counted(before: &str, text: &str, is_npm_audit: bool) -> Option<Counted> {
    let npm = || npm_audit(text).filter(|_| is_npm_audit).map(|counts| Counted { tool: "npm-audit", counts });
    pip_audit(text)
        .or_else(|| cargo_audit(text))
        .or_else(npm)
        .or_else(|| yarn_audit(before, text))
        .or_else(|| trivy(text))
        .or_else(|| unused_exports(text))
}

/// Adds a count to the errors, warnings or notes, by its severity in any case.
fn put(counts: &mut [u64; 3], number: u64, word: &str) -> Option<()> {
    let slot = match level_of(word)? {
        Level::Error => 0,
        Level::Warning => 1,
        Level::Note => 2,
    };
    let count = counts.get_mut(slot)?;
    *count = count.checked_add(number)?;
    Some(())
}

/// `2 vulnerabilities found - Packages audited: 100`, and below it `Severity: 1 Low | 1 High` where there are any.
fn yarn_audit(before: &str, text: &str) -> Option<Counted> {
    let mut counts = [0; 3];
    match text.strip_prefix("Severity: ") {
        Some(parts) => {
            found_by_yarn(before)?;
            parts.split(" | ").try_for_each(|part| {
                let (number, word) = leading_in(part)?;
                put(&mut counts, number, word.trim())
            })?;
        }
        None => found_by_yarn(text).filter(|number| *number == 0).map(drop)?,
    }
    Some(Counted { tool: "yarn-audit", counts })
}

fn found_by_yarn(text: &str) -> Option<u64> {
    let (number, rest) = leading_in(text)?;
    rest.contains(" found - Packages audited: ").then_some(number)
}

/// Trivy's.
const SEVERITIES: [&str; 5] = ["UNKNOWN", "LOW", "MEDIUM", "HIGH", "CRITICAL"];

/// `Total: 5 (UNKNOWN: 0, LOW: 1, MEDIUM: 2, HIGH: 1, CRITICAL: 1)` above a table, `Failures: …` of misconfigurations.
fn trivy(text: &str) -> Option<Counted> {
    let rest = text.strip_prefix("Total: ").or_else(|| text.strip_prefix("Failures: "))?;
    let (_, parts) = leading_in(rest)?;
    let mut counts = [0; 3];
    parts.strip_prefix(" (")?.strip_suffix(')')?.split(", ").try_for_each(|part| {
        let (word, number) = part.split_once(": ").filter(|(word, _)| SEVERITIES.contains(word))?;
        put(&mut counts, number.parse().ok()?, word)
    })?;
    Some(Counted { tool: "trivy", counts })
}

/// Of the sections of govulncheck's report, the level of what is in it.
pub(super) fn section(text: &str) -> Option<Level> {
    match text.strip_prefix("=== ")? {
        "Symbol Results ===" => Some(Level::Error),
        "Package Results ===" => Some(Level::Warning),
        "Module Results ===" | "Informational ===" => Some(Level::Note),
        _ => None,
    }
}

/// `Vulnerability #1: GO-2023-1621`; without sections only what is called is told.
pub(super) fn govulncheck(text: &str, section: Option<Level>) -> Option<Told<'_>> {
    let (_, rest) = leading_in(text.strip_prefix("Vulnerability #")?)?;
    let id = rest.strip_prefix(": ").filter(|id| id.starts_with("GO-") && !id.contains(' '))?;
    let level = section.unwrap_or(Level::Error);
    Some(Told { tool: "govulncheck", level, path: None, line: None, rule: Some(id), message: id })
}

/// A row of OSV-Scanner's table: `| https://osv.dev/GHSA-x | 7.5 | npm | minimist | 1.2.0 | package-lock.json |`. Other names of
/// the same vulnerability stand in rows below it that have no package.
pub(super) fn osv_scanner(text: &str) -> Option<Told<'_>> {
    let sign = text.chars().next().filter(|sign| matches!(sign, '|' | '│'))?;
    let mut cells = text.split(sign).skip(1).map(str::trim);
    let id = cells.next()?.strip_prefix("https://osv.dev/")?;
    let (score, _, package) = (cells.next()?, cells.next()?, cells.next().filter(|package| !package.is_empty())?);
    let level = level_of_score(score).unwrap_or(Level::Error);
    Some(Told { tool: "osv-scanner", level, path: None, line: None, rule: Some(id), message: package })
}

/// `Found 2 known vulnerabilities in 1 package`, `Found 2 known vulnerabilities, ignored 1 in 1 package`.
fn pip_audit(text: &str) -> Option<Counted> {
    if text == "No known vulnerabilities found" {
        return Some(Counted { tool: "pip-audit", counts: [0; 3] });
    }
    let (number, rest) = leading_in(text.strip_prefix("Found ")?)?;
    let is_ours = rest.starts_with(" known vulnerabilit") && rest.contains(" package");
    is_ours.then_some(Counted { tool: "pip-audit", counts: [number, 0, 0] })
}

/// `error: 1 vulnerability found!`, `warning: 2 allowed warnings found`, `error: 1 denied warning found!`.
fn cargo_audit(text: &str) -> Option<Counted> {
    let rest = text.strip_prefix("error: ").or_else(|| text.strip_prefix("warning: "))?;
    let (number, rest) = leading_in(rest)?;
    let counts = match rest {
        " vulnerability found!" | " vulnerabilities found!" | " denied warning found!" | " denied warnings found!" => {
            [number, 0, 0]
        }
        " allowed warning found" | " allowed warnings found" if text.starts_with("warning") => [0, number, 0],
        _ => return None,
    };
    Some(Counted { tool: "cargo-audit", counts })
}

/// `5 vulnerabilities (2 moderate, 3 high)`, `2 critical severity vulnerabilities`.
fn npm_audit(text: &str) -> Option<[u64; 3]> {
    let (number, rest) = leading_in(text)?;
    let rest = rest.strip_prefix(' ')?;
    let mut counts = [0; 3];
    if let Some(parts) = rest.strip_prefix("vulnerabilities (").and_then(|rest| rest.strip_suffix(')')) {
        parts.split(", ").try_for_each(|part| {
            let (number, word) = leading_in(part)?;
            put(&mut counts, number, word.trim_start())
        })?;
    } else {
        let (word, rest) = rest.split_once(' ')?;
        matches!(rest, "severity vulnerability" | "severity vulnerabilities").then_some(())?;
        put(&mut counts, number, word)?;
    }
    Some(counts)
}

/// Whether all checks of `advisories ok, bans ok, licenses ok, sources ok` passed.
fn has_cargo_deny_passed(text: &str) -> bool {
    let is_check = |part: &str| {
        let check = part.strip_suffix(" ok");
        matches!(check, Some("advisories" | "bans" | "licenses" | "sources"))
    };
    text.ends_with(" ok") && text.split(", ").all(is_check)
}

#[cfg(test)]
mod tests {
    use super::super::lines::placed;
    use super::*;

    #[test]
    fn what_is_counted_in_one_line_has_its_levels() {
        let trivy = |text: &str| counted("", text, false).map(|counted| (counted.tool, counted.counts));
        assert_eq!(trivy("Total: 6 (UNKNOWN: 1, LOW: 1, MEDIUM: 2, HIGH: 1, CRITICAL: 1)"), Some(("trivy", [2, 2, 2])));
        assert_eq!(trivy("Failures: 1 (HIGH: 1, CRITICAL: 0)"), Some(("trivy", [1, 0, 0])));
        assert_eq!(
            [trivy("Total: 6 (of 9)"), trivy("Total: 6 (ERROR: 6)"), trivy("Total: 6 (100.00%)")],
            [None, None, None]
        );
        let found = "3 vulnerabilities found - Packages audited: 100";
        let yarn = |before: &str, text: &str| counted(before, text, false).map(|counted| counted.counts);
        assert_eq!(yarn(found, "Severity: 1 Low | 2 Critical"), Some([2, 0, 1]));
        assert_eq!([yarn("", found), yarn("", "Severity: 1 Low")], [None, None]);
        assert_eq!(yarn("", "0 vulnerabilities found - Packages audited: 100"), Some([0; 3]));
    }

    #[test]
    fn advisories_are_named() {
        assert_eq!(section("=== Package Results ==="), Some(Level::Warning));
        let told = govulncheck("Vulnerability #2: GO-2023-1621", section("=== Module Results ===")).unwrap();
        assert_eq!((told.level, told.rule), (Level::Note, Some("GO-2023-1621")));
        assert!(govulncheck("Vulnerability #2: none", None).is_none());
        let osv = |text| osv_scanner(text).map(|told| (told.level, told.rule, told.message));
        let row = "| https://osv.dev/GHSA-1 | 5.6  | npm       | minimist | 1.2.0 | package-lock.json |";
        assert_eq!(osv(row), Some((Level::Warning, Some("GHSA-1"), "minimist")));
        assert_eq!(osv("│ https://osv.dev/PYSEC-1 │      │ PyPI │ x │ 1 │ a │").map(|told| told.0), Some(Level::Error));
        assert_eq!(
            [osv("| https://osv.dev/GO-1 |      |           |          |       |   |"), osv("| OSV URL | CVSS |")],
            [None, None]
        );
    }

    #[test]
    fn findings_with_a_place_are_told() {
        for (before, text, tool, level, rule) in [
            (
                "error[vulnerability]: m",
                "   ┌─ /app/Cargo.lock:17:1",
                "cargo-deny",
                Level::Error,
                Some("vulnerability"),
            ),
            ("warning[duplicate]: m", "   ┌─ Cargo.lock:3:1", "cargo-deny", Level::Warning, Some("duplicate")),
            ("error[unlicensed]: m", " ├ bb v0.1.0 (*)", "cargo-deny", Level::Error, Some("unlicensed")),
            (
                "warning[unlicensed]: m",
                "  ┌─ path+file:///p/b#bb@0.1.0-synthesized.toml:2:9",
                "cargo-deny",
                Level::Warning,
                Some("unlicensed"),
            ),
            ("error: m", "  ┌─ /app/src/a.gleam:3:5", "gleam", Level::Error, None),
            ("error: m", "  ┌─ /p/a b.toml:3:1", "taplo", Level::Error, None),
        ] {
            let told = codespan(before, text).unwrap();
            assert_eq!((told.tool, told.level, told.rule, told.message), (tool, level, rule, "m"), "{text}");
        }
        for (before, text) in [
            ("error: m", "  ┌─ a.sol:3:5"),
            ("help: m", "  ┌─ a.py:3:5"),
            ("error[E01002]: m", "  ┌─ a.move:3:5"),
            ("error: m", " ├ bb v0.1.0"),
            ("m", "  ┌─ Cargo.lock:3:5"),
            ("error: m", " --> Cargo.lock:3:5"),
        ] {
            assert!(codespan(before, text).is_none(), "{text}");
        }
    }

    #[test]
    fn ast_grep_names_its_rules() {
        let told = codespan("help[no-x]: a: b", "  ┌─ src/a b.py:3:5").unwrap();
        assert_eq!((told.tool, told.level, told.path, told.line), (AST_GREP, Level::Note, Some("src/a b.py"), Some(3)));
        let told = ast_grep(&placed("src/a.py:5:7: warning[no-x]: a: b").unwrap()).unwrap();
        let found = (told.level, told.line, told.rule, told.message);
        assert_eq!(found, (Level::Warning, Some(5), Some("no-x"), "a: b"));
        for other in [
            "a.py:5:7: warning: b",
            "a.py:5: error[x]: b",
            "a.py:5:7: bad[x]: b",
            "a.rs:5:7: error[E0425]: b",
            "a.py:5:7: error[x] b: c",
        ] {
            assert!(ast_grep(&placed(other).unwrap()).is_none(), "{other}");
        }
    }

    #[test]
    fn dependencies_that_nobody_needs_are_listed() {
        let machete = "cargo-machete found the following unused dependencies in this directory:";
        for (title, before, text, tool, message) in [
            ("Unused dependencies", "Unused dependencies", "* @a/b", "depcheck", "@a/b"),
            ("Missing dependencies", "* c: ./a.js", "* d: ./b.js", "depcheck", "d: ./b.js"),
            (machete, "a -- ./Cargo.toml:", "\tserde", "cargo-machete", "serde"),
            (machete, "\tserde", "\tregex", "cargo-machete", "regex"),
            ("• Circular Dependencies", "", "  01) src/a.ts -> src/b.ts", "dpdm", "src/a.ts -> src/b.ts"),
        ] {
            assert!(begins(title));
            let told = listed(title, before, text).unwrap();
            assert_eq!((told.tool, told.message), (tool, message), "{text}");
        }
        for (title, before, text) in [
            ("Unused dependencies", "", "* x"),
            ("Unused dependencies (2)", "Unused dependencies (2)", "* x"),
            (machete, "", "\tx"),
        ] {
            assert!(listed(title, before, text).is_none(), "{title}");
        }
        assert_eq!([clean("No depcheck issue"), clean("bans ok")], [Some("depcheck"), Some("cargo-deny")]);
        let row = "      ✘ ~4.16.0 → 4.17.0 in packages/b/package.json at .dependencies (DiffersToHighest)";
        let told = syncpack(row).unwrap();
        let found = (told.path, told.rule, told.message);
        assert_eq!(found, (Some("packages/b/package.json"), Some("DiffersToHighest"), "~4.16.0 → 4.17.0"));
        assert!(syncpack("  ✘ a in b at .c (d)").is_none() && syncpack("✘ 2 in package.json").is_none());
    }

    #[test]
    fn numbers_of_vulnerabilities_are_counted() {
        for (text, tool, counts) in [
            ("5 vulnerabilities (2 moderate, 3 high)", "npm-audit", [3, 2, 0]),
            ("2 critical severity vulnerabilities", "npm-audit", [2, 0, 0]),
            ("1 low severity vulnerability", "npm-audit", [0, 0, 1]),
            ("Found 2 known vulnerabilities in 1 package", "pip-audit", [2, 0, 0]),
            ("Found 1 known vulnerability, ignored 1 in 1 package", "pip-audit", [1, 0, 0]),
            ("No known vulnerabilities found", "pip-audit", [0, 0, 0]),
            ("error: 1 vulnerability found!", "cargo-audit", [1, 0, 0]),
            ("warning: 2 allowed warnings found", "cargo-audit", [0, 2, 0]),
            ("1 module with unused exports", "ts-unused-exports", [1, 0, 0]),
        ] {
            assert_eq!(counted("", text, true), Some(Counted { tool, counts }), "{text}");
        }
        assert_eq!(counted("", "5 vulnerabilities (2 moderate, 3 high)", false), None);
        for other in [
            "found 0 vulnerabilities",
            "error: 2 errors found!",
            "3 vulnerabilities (many)",
            "Found 2 known bugs in 1 package",
        ] {
            assert_eq!(counted("", other, true), None, "{other}");
        }
        assert!(
            has_cargo_deny_passed("advisories ok, bans ok, licenses ok, sources ok")
                && has_cargo_deny_passed("bans ok")
        );
        assert!(!has_cargo_deny_passed("advisories FAILED, bans ok") && !has_cargo_deny_passed("all ok"));
    }
}
