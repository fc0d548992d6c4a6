//! What changes PHP's files, or would with `--dry-run` or `--test`, for `brief-text`: PHP CS Fixer, Pint and Rector, written
//! after their sources (<https://github.com/PHP-CS-Fixer/PHP-CS-Fixer>, <https://github.com/laravel/pint>,
//! <https://github.com/rectorphp/rector-src>). Whether the files they list are changed already, only their sums tell; those
//! are no findings any more.

use super::brief_advisories::Counted;
use super::brief_text::Told;
use super::lines::counted as number_of;
use crate::ingest::values::leading_in;

/// Files that would change.
pub(super) fn counted(text: &str) -> Option<Counted> {
    let of = |tool, errors| Counted { tool, counts: [errors, 0, 0] };
    of_php_cs_fixer(text)
        .map(|files| of("php-cs-fixer", files))
        .or_else(|| of_pint(text).map(|files| of("pint", files)))
        .or_else(|| of_rector(text).map(|files| of("rector", files)))
}

/// Whether nothing can be missing at the end of a line that tells how many.
pub(super) fn is_whole(text: &str) -> bool {
    (of_php_cs_fixer(text).is_some() && text.ends_with(" memory used")) || of_rector(text).is_some()
}

/// `Found 2 of 3 files that can be fixed in 0.123 seconds, 16.00 MB memory used`, or `Fixed 2 of 3 files in …`.
fn of_php_cs_fixer(text: &str) -> Option<u64> {
    let of_all =
        |rest| leading_in(rest).and_then(|(number, rest)| Some((number, leading_in(rest.strip_prefix(" of ")?)?.1)));
    if let Some(rest) = text.strip_prefix("Found ") {
        return of_all(rest)
            .filter(|(_, rest)| rest.starts_with(" files that can be fixed in "))
            .map(|(number, _)| number);
    }
    let (_, rest) = of_all(text.strip_prefix("Fixed ")?)?;
    (rest.starts_with(" files in ") && rest.ends_with(" memory used")).then_some(0)
}

/// `  FAIL   ........ 3 files, 1 error, 2 style issues`, where nothing was to be fixed `PASS`, and where all was, `FIXED`.
fn of_pint(text: &str) -> Option<u64> {
    let (word, rest) = text.trim_start().split_once(' ')?;
    let sums = rest.trim_start().strip_prefix("...")?.trim_start_matches('.');
    let mut sums = sums.split(',').map(str::trim);
    number_of(sums.next()?, "file").filter(|_| matches!(word, "PASS" | "FAIL" | "FIXED"))?;
    sums.try_fold(0_u64, |all, sum| {
        let is_fixed = number_of(sum.strip_suffix(" fixed").unwrap_or_default(), "style issue").is_some();
        let number = || number_of(sum, "error").or_else(|| number_of(sum, "style issue"));
        all.checked_add(if is_fixed { 0 } else { number()? })
    })
}

/// ` [OK] 2 files would have changed (dry-run) by Rector`, ` [OK] 2 files have been changed by Rector`, ` [OK] Rector is done!`.
fn of_rector(text: &str) -> Option<u64> {
    let said = text.trim_start().strip_prefix("[OK] ")?;
    if said == "Rector is done!" {
        return Some(0);
    }
    let (files, rest) = leading_in(said)?;
    let rest = rest.strip_prefix(" file")?;
    match rest.strip_suffix(" by Rector")? {
        rest if rest.ends_with(" (dry-run)") => Some(files),
        rest if rest.ends_with(" been changed") => Some(0),
        _ => None,
    }
}

/// ` [ERROR] Could not process "src/A.php" file, due to:`, as Rector says.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    let (path, rest) = text.trim_start().strip_prefix("[ERROR] Could not process \"")?.split_once("\" file")?;
    rest.ends_with(", due to:").then(|| Told::error("rector", (path, None), None, "could not be processed"))
}

/// Whether PHP CS Fixer lists the files below that it cannot parse.
pub(super) fn begins(text: &str) -> bool {
    text.starts_with("Files that were not fixed due to errors reported during ")
}

/// `   1) src/B.php`, right below that, or each other.
pub(super) fn titled<'a>(title: &str, before: &str, text: &'a str) -> Option<Told<'a>> {
    let path = row(text).filter(|_| begins(title) && (before == title || row(before).is_some()))?;
    Some(Told::error("php-cs-fixer", (path, None), None, "was not fixed due to errors"))
}

fn row(text: &str) -> Option<&str> {
    leading_in(text.trim_start())?.1.strip_prefix(") ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;

    #[test]
    fn sums_tell_what_is_not_changed_yet() {
        for (text, tool, files) in [
            ("Found 2 of 3 files that can be fixed in 0.123 seconds, 16.00 MB memory used", "php-cs-fixer", 2),
            ("Found 0 of 6271 files that can be fixed in 14.330 seconds", "php-cs-fixer", 0),
            ("Fixed 2 of 3 files in 0.123 seconds, 16.00 MB memory used", "php-cs-fixer", 0),
            ("    PASS   ................................ 3 files", "pint", 0),
            ("    FAIL   ........... 3 files, 1 error, 2 style issues", "pint", 3),
            ("    FAIL   ................... 1 file , 1 style issue", "pint", 1),
            ("    FIXED   ........... 3 files, 2 style issues fixed", "pint", 0),
            ("    FAIL   ... 3 files, 1 error, 2 style issues fixed", "pint", 1),
            (" [OK] 2 files would have changed (dry-run) by Rector", "rector", 2),
            (" [OK] 1 file would have been changed (dry-run) by Rector", "rector", 1),
            (" [OK] 1 file has been changed by Rector", "rector", 0),
            (" [OK] Rector is done!", "rector", 0),
        ] {
            assert_eq!(counted(text), Some(Counted { tool, counts: [files, 0, 0] }), "{text}");
        }
        for none in [
            "Found 2 files that can be fixed in a minute",
            "Found 2 of 3 files",
            "Fixed 2 of 3 files in src",
            "    PASS   Tests\\Unit\\ATest",
            "    FAIL   ........... 3 files, 2 tests",
            "    FAIL   ........... 3 tests",
            "    DONE   ........... 3 files",
            " [OK] 3 files by Rector",
            " [OK] No errors",
        ] {
            assert_eq!(counted(none), None, "{none}");
        }
    }

    #[test]
    fn files_that_cannot_be_parsed_are_errors_beside_the_sum() {
        let text = "PHP CS Fixer 3.95.27 Adalbertus\n   1) src/A.php (braces)\n\n\
                    Found 1 of 3 files that can be fixed in 0.123 seconds, 16.00 MB memory used\n\n\
                    Files that were not fixed due to errors reported during linting before fixing:\n   1) src/B.php\n   \
                    2) src/C.php\n\n   1) src/D.php\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, parsed.figures.errors), ("brief-text", Some(3)));
        let rector = told(" [ERROR] Could not process \"src/A.php\" file, due to:").unwrap();
        assert_eq!((rector.tool, rector.path), ("rector", Some("src/A.php")));
        let by_rule = " [ERROR] Could not process \"src/A.php\" file by \"X\\YRector\", due to:";
        assert!(told(by_rule).is_some() && told(" [ERROR] Could not process some files, due to:").is_none());
    }
}
