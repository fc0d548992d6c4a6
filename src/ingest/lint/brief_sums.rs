//! What is summed up beside what is listed, for `brief-text`, of tools whose list may be missing: luacheck lists nothing with
//! `-qq`, CSpell not with `--quiet`, svelte-check no warnings with `--threshold error`; remark tells of a file that is not there
//! in words alone; markdownlint-cli2 lists on the standard error, and below its sum; Pyrefly lists nothing with `--output-format
//! omit-errors`. And `… | tail -1` leaves no more.

use super::brief_advisories::Counted;
use super::lines::counted;
use crate::ingest::text::split_at;
use crate::ingest::values::{leading_in, whole};

/// The sum that a line tells.
pub(super) fn sum(text: &str) -> Option<Counted> {
    let of_two = |tool, [errors, warnings]: [u64; 2]| Counted { tool, counts: [errors, warnings, 0] };
    let of_errors = |tool, errors| Counted { tool, counts: [errors, 0, 0] };
    of_luacheck(text)
        .map(|counts| of_two("luacheck", counts))
        .or_else(|| of_remark(text).map(|counts| of_two("remark", counts)))
        .or_else(|| of_svelte_check(text).map(|counts| Counted { tool: "svelte-check", counts }))
        .or_else(|| of_markdownlint(text).map(|number| of_errors("markdownlint", number)))
        .or_else(|| of_cspell(text).map(|number| of_errors("cspell", number)))
        .or_else(|| of_pyrefly(text).map(|number| of_errors("pyrefly", number)))
        .or_else(|| of_vite_plus(text).map(|number| of_errors("oxfmt", number)))
}

/// What sums tell beyond the findings that are listed: those whose lines are missing.
pub(super) fn unlisted(sums: [u64; 3], listed: [u64; 3]) -> [u64; 3] {
    let ([errors, warnings, notes], [listed_errors, listed_warnings, listed_notes]) = (sums, listed);
    // markdownlint counts its warnings as errors. Notes are seldom counted.
    let all_listed = listed_errors.saturating_add(listed_warnings);
    let missing = errors.saturating_add(warnings).saturating_sub(all_listed);
    let missing_errors = errors.saturating_sub(listed_errors).min(missing);
    let missing_warnings = warnings.saturating_sub(listed_warnings).min(missing - missing_errors);
    [missing_errors, missing_warnings, notes.saturating_sub(listed_notes)]
}

/// Errors and warnings of `Total: 8 warnings / 1 error in 3 files`.
fn of_luacheck(text: &str) -> Option<[u64; 2]> {
    let (warnings, rest) = text.strip_prefix("Total: ")?.split_once(" / ")?;
    let (errors, rest) = rest.split_once(" in ")?;
    leading_in(rest).filter(|(_, rest)| rest.starts_with(" file"))?;
    Some([counted(errors, "error")?, counted(warnings, "warning")?])
}

/// Errors and warnings of `2 messages (✖ 1 error, ⚠ 1 warning)`.
fn of_remark(text: &str) -> Option<[u64; 2]> {
    let (_, rest) = leading_in(text)?;
    let (errors, warnings) = rest.strip_prefix(" messages (✖ ")?.strip_suffix(')')?.split_once(", ⚠ ")?;
    Some([counted(errors, "error")?, counted(warnings, "warning")?])
}

/// `svelte-check found 2 errors and 1 warning in 1 file`, before version 3 `… 2 errors, 1 warning, and 0 hints`.
fn of_svelte_check(text: &str) -> Option<[u64; 3]> {
    let rest = text.strip_prefix("svelte-check found ")?;
    if let Some((errors, rest)) = rest.split_once(" and ").filter(|(errors, _)| !errors.contains(',')) {
        let warnings = rest.split_once(" in ").map_or(rest, |(warnings, _)| warnings);
        return Some([counted(errors, "error")?, counted(warnings, "warning")?, 0]);
    }
    let (errors, rest) = rest.split_once(", ")?;
    let (warnings, hints) = rest.split_once(", and ")?;
    Some([counted(errors, "error")?, counted(warnings, "warning")?, counted(hints, "hint")?])
}

/// `Summary: 12 error(s)`.
fn of_markdownlint(text: &str) -> Option<u64> {
    leading_in(text.strip_prefix("Summary: ")?).filter(|(_, rest)| *rest == " error(s)").map(|(number, _)| number)
}

/// `CSpell: Files checked: 1, Issues found: 2 in 1 file.`
fn of_cspell(text: &str) -> Option<u64> {
    let (_, rest) = text.strip_prefix("CSpell: Files checked: ")?.split_once(", Issues found: ")?;
    leading_in(rest).filter(|(_, rest)| rest.starts_with(" in ")).map(|(number, _)| number)
}

/// ` INFO 1,201 errors (2 suppressed)`. With `--min-severity` they are called diagnostics, of which only none tells the levels.
fn of_pyrefly(text: &str) -> Option<u64> {
    let text = text.strip_prefix(" INFO ")?;
    let (sum, aside) = split_at(text, " (").unwrap_or((text, ")"));
    let (number, what) = sum.split_once(' ').filter(|_| aside.ends_with(')'))?;
    let number = whole(&number.replace(',', ""))?;
    match what.strip_suffix('s').unwrap_or(what) {
        "error" => Some(number),
        "diagnostic" => Some(number).filter(|number| *number == 0),
        _ => None,
    }
}

/// `Found formatting issues in 5 files (2ms, 2 threads). Run `vp check --fix` to fix them.`, which it says on the standard error.
fn of_vite_plus(text: &str) -> Option<u64> {
    let (files, _) = text.strip_prefix("Found formatting issues in ")?.split_once(" (")?;
    counted(files, "file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_tell_errors_warnings_and_notes() {
        for (text, tool, counts) in [
            ("Total: 8 warnings / 1 error in 3 files", "luacheck", [1, 8, 0]),
            ("5 messages (✖ 3 errors, ⚠ 1 warning)", "remark", [3, 1, 0]),
            ("svelte-check found 2 errors and 1 warning in 1 file", "svelte-check", [2, 1, 0]),
            ("svelte-check found 0 errors and 0 warnings", "svelte-check", [0, 0, 0]),
            ("svelte-check found 1 error, 2 warnings, and 3 hints", "svelte-check", [1, 2, 3]),
            ("Summary: 12 error(s)", "markdownlint", [12, 0, 0]),
            ("CSpell: Files checked: 1, Issues found: 2 in 1 file.", "cspell", [2, 0, 0]),
            (" INFO 0 errors", "pyrefly", [0; 3]),
            (
                " INFO 1,201 errors (1 suppressed, 1 warning not shown, use `--min-severity=warn` to see it)",
                "pyrefly",
                [1201, 0, 0],
            ),
            (" INFO 0 diagnostics (2 suppressed)", "pyrefly", [0; 3]),
            (
                "Found formatting issues in 1 file (2ms, 2 threads). Run `vp check --fix` to fix them.",
                "oxfmt",
                [1, 0, 0],
            ),
        ] {
            assert_eq!(sum(text), Some(Counted { tool, counts }), "{text}");
        }
        for none in [
            "5 messages (✖ 3 errors)",
            "Total: 8 warnings",
            "svelte-check found it",
            "svelte-check found 1 error",
            "Summary: 12 issues in 2 files",
            "CSpell: Files checked: 1",
            " INFO 2 diagnostics",
            " INFO 1 error in a.py",
            " INFO 1 module (19 dependent modules); 17,847 lines",
            "INFO 1 error",
        ] {
            assert_eq!(sum(none), None, "{none}");
        }
    }

    #[test]
    fn what_is_listed_is_not_counted_again() {
        assert_eq!(unlisted([12, 0, 0], [10, 2, 0]), [0, 0, 0], "warnings count as errors in the sum");
        assert_eq!(unlisted([12, 0, 0], [9, 2, 5]), [1, 0, 0]);
        assert_eq!(unlisted([2, 2, 0], [2, 0, 4]), [0, 2, 0]);
        assert_eq!(unlisted([0, 0, 0], [3, 0, 0]), [0, 0, 0]);
        assert_eq!(unlisted([1, 2, 3], [0, 0, 1]), [1, 2, 2]);
    }
}
