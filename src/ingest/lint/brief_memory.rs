//! What sanitizers and Valgrind print of a program that they watched, for `brief-text`. Their exact lines are in
//! <https://github.com/google/sanitizers/wiki> and <https://valgrind.org/docs/manual/manual-core.html>.

use super::brief_advisories::Counted;
use super::brief_text::Told;
use super::lines::{bare_place, placed};
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    undefined(text).or_else(|| summary(text))
}

/// `a.c:2:47: runtime error: signed integer overflow: …`. clang sums each of them up again.
fn undefined(text: &str) -> Option<Told<'_>> {
    split_at(text, ": runtime error: ")?;
    let place = placed(text).filter(|place| place.has_column)?;
    let message = place.rest.strip_prefix("runtime error: ")?;
    Some(Told::error("ubsan", (place.path, place.line), None, message))
}

/// `SUMMARY: AddressSanitizer: heap-buffer-overflow /p/a.c:2 in main`; of leaks `SUMMARY: AddressSanitizer: 37 byte(s) leaked …`.
fn summary(text: &str) -> Option<Told<'_>> {
    let (name, message) = text.strip_prefix("SUMMARY: ")?.split_once("Sanitizer: ")?;
    let tool = match name {
        "Address" | "HWAddress" => "asan",
        "Leak" => "lsan",
        "Memory" => "msan",
        "Thread" => "tsan",
        _ => return None,
    };
    let place = message.rsplit_once(" in ").map_or(message, |(said, _)| said);
    // Its kind may be several words.
    let place = place.find(" /").or_else(|| place.rfind(' ')).and_then(|at| bare_place(place.get(at + 1..)?));
    let (path, line) = place.map_or((None, None), |(path, line)| (Some(path), line));
    Some(Told { path, ..Told::error(tool, ("", line), None, message) })
}

/// `==123== ERROR SUMMARY: 3 errors from 2 contexts (suppressed: 0 from 0)`: as many findings as contexts, as in its XML.
pub(super) fn counted(text: &str) -> Option<Counted> {
    let (_, rest) = text.strip_prefix("==")?.split_once("== ERROR SUMMARY: ")?;
    let (_, rest) = leading_in(rest)?;
    let (contexts, _) = leading_in(rest.strip_prefix(" errors from ")?)?;
    Some(Counted { tool: "valgrind", counts: [contexts, 0, 0] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_counts_once() {
        for (line, tool, path, number) in [
            ("b/u.c:2:47: runtime error: shift exponent 40 is too large", "ubsan", Some("b/u.c"), Some(2)),
            (
                "SUMMARY: AddressSanitizer: heap-use-after-free /p/a b.c:12:3 in main",
                "asan",
                Some("/p/a b.c"),
                Some(12),
            ),
            ("SUMMARY: AddressSanitizer: 37 byte(s) leaked in 2 allocation(s).", "asan", None, None),
            ("SUMMARY: ThreadSanitizer: data race /p/t.c:2 in t", "tsan", Some("/p/t.c"), Some(2)),
            (
                "SUMMARY: MemorySanitizer: use-of-uninitialized-value /p/<stdin>:1:38 in main",
                "msan",
                Some("/p/<stdin>"),
                Some(1),
            ),
            ("SUMMARY: AddressSanitizer: SEGV (/p/a.out+0x1234) in main", "asan", None, None),
        ] {
            let told = told(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((told.tool, told.path, told.line), (tool, path, number), "{line}");
        }
        for other in [
            "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior u.c:2:47 in ",
            "==6342==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6",
            "u.c:2: runtime error: no column",
            "SUMMARY: 3 of 4",
        ] {
            assert!(told(other).is_none(), "{other}");
        }
        let said = "==6228== ERROR SUMMARY: 5 errors from 3 contexts (suppressed: 0 from 0)";
        assert_eq!(counted(said).unwrap().counts, [3, 0, 0]);
        assert_eq!(counted(&said.replace("5 errors from 3", "0 errors from 0")).unwrap().counts, [0; 3]);
        assert!(counted("==6228== LEAK SUMMARY:").is_none());
    }
}
