//! What those who look dependencies up print, for `brief-text`: cargo-deny, whose findings have a place, and npm audit,
//! pip-audit and cargo-audit, which say at the end how many there are.

use super::brief_text::Told;
use super::lines::bare_place;
use crate::ingest::Level;
use crate::ingest::values::leading_in;

/// cargo-deny's `error[vulnerability]: message`, and below it `   ┌─ /app/Cargo.lock:17:1`; Gleam, Typst and selene print so, too.
pub(super) fn codespan<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let place = bare_place(text.trim_start().strip_prefix("┌─ ")?)?;
    let ends = [
        ("Cargo.lock", "cargo-deny"),
        ("Cargo.toml", "cargo-deny"),
        ("deny.toml", "cargo-deny"),
        (".gleam", "gleam"),
        (".typ", "typst"),
        (".lua", "selene"),
    ];
    let (_, tool) = ends.iter().find(|(end, _)| place.0.ends_with(end))?;
    let (word, message) = before.split_once(": ")?;
    let (word, rule) = word.split_once('[').map_or((word, None), |(word, rule)| (word, rule.strip_suffix(']')));
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "note" | "help" => Level::Note,
        _ => return None,
    };
    Some(Told { level, ..Told::error(tool, place, rule, message) })
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
pub(super) fn counted(text: &str, is_npm_audit: bool) -> Option<Counted> {
    let npm = || npm_audit(text).filter(|_| is_npm_audit).map(|counts| Counted { tool: "npm-audit", counts });
    pip_audit(text).or_else(|| cargo_audit(text)).or_else(npm)
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
    let (word, rest) = text.split_once(": ").filter(|(word, _)| matches!(*word, "error" | "warning"))?;
    let (number, rest) = leading_in(rest)?;
    let counts = match rest {
        " vulnerability found!" | " vulnerabilities found!" | " denied warning found!" | " denied warnings found!" => {
            [number, 0, 0]
        }
        " allowed warning found" | " allowed warnings found" if word == "warning" => [0, number, 0],
        _ => return None,
    };
    Some(Counted { tool: "cargo-audit", counts })
}

/// `5 vulnerabilities (2 moderate, 3 high)`, `2 critical severity vulnerabilities`.
fn npm_audit(text: &str) -> Option<[u64; 3]> {
    let (number, rest) = leading_in(text)?;
    let rest = rest.strip_prefix(' ')?;
    let mut counts = [0; 3];
    let mut put = |number: u64, word: &str| {
        let slot = match word {
            "critical" | "high" => 0,
            "moderate" => 1,
            "low" | "info" => 2,
            _ => return None,
        };
        let count: &mut u64 = counts.get_mut(slot)?;
        *count = count.checked_add(number)?;
        Some(())
    };
    if let Some(parts) = rest.strip_prefix("vulnerabilities (").and_then(|rest| rest.strip_suffix(')')) {
        parts.split(", ").try_for_each(|part| {
            let (number, word) = leading_in(part)?;
            put(number, word.trim_start())
        })?;
    } else {
        let (word, rest) = rest.split_once(' ')?;
        matches!(rest, "severity vulnerability" | "severity vulnerabilities").then_some(())?;
        put(number, word)?;
    }
    Some(counts)
}

/// Whether all checks of `advisories ok, bans ok, licenses ok, sources ok` passed.
pub(super) fn has_cargo_deny_passed(text: &str) -> bool {
    let is_check = |part: &str| {
        let check = part.strip_suffix(" ok");
        matches!(check, Some("advisories" | "bans" | "licenses" | "sources"))
    };
    text.ends_with(" ok") && text.split(", ").all(is_check)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("error: m", "  ┌─ /app/src/a.gleam:3:5", "gleam", Level::Error, None),
        ] {
            let told = codespan(before, text).unwrap();
            assert_eq!((told.tool, told.level, told.rule, told.message), (tool, level, rule, "m"), "{text}");
        }
        for (before, text) in
            [("error: m", "  ┌─ a.sol:3:5"), ("m", "  ┌─ Cargo.lock:3:5"), ("error: m", " --> Cargo.lock:3:5")]
        {
            assert!(codespan(before, text).is_none(), "{text}");
        }
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
        ] {
            assert_eq!(counted(text, true), Some(Counted { tool, counts }), "{text}");
        }
        assert_eq!(counted("5 vulnerabilities (2 moderate, 3 high)", false), None);
        for other in [
            "found 0 vulnerabilities",
            "error: 2 errors found!",
            "3 vulnerabilities (many)",
            "Found 2 known bugs in 1 package",
        ] {
            assert_eq!(counted(other, true), None, "{other}");
        }
        assert!(
            has_cargo_deny_passed("advisories ok, bans ok, licenses ok, sources ok")
                && has_cargo_deny_passed("bans ok")
        );
        assert!(!has_cargo_deny_passed("advisories FAILED, bans ok") && !has_cargo_deny_passed("all ok"));
    }
}
