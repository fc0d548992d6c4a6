//! Lines of xcodebuild's tests as xcbeautify and xcpretty rewrite them. Written after their sources (`OutputRendering`,
//! `TestSummary`; `XCPretty::Simple`).

use super::super::text_report::counted;
use super::Executed;
use crate::model::cases::Outcome;

/// A suite that begins: `Test Suite AppTests.xctest started`.
pub(super) fn suite(line: &str) -> Option<&str> {
    let name = line.strip_prefix("Test Suite ")?.strip_suffix(" started")?;
    let name = name.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')).unwrap_or(name);
    (!name.is_empty() && !name.contains('\'')).then_some(name)
}

/// Name and result of a test: `    ✔ testAdds (0.003 seconds)`, `    ✖ testFails, XCTAssertTrue failed`, and in parallel
/// `    ✖ [CartTests] testFails on 'iPhone 16' (0.103 seconds)`. One that fails twice has two lines.
pub(super) fn case(line: &str) -> Option<(Option<&str>, &str, Outcome)> {
    let (sign, told) = line.strip_prefix("    ")?.split_once(' ')?;
    let outcome = match sign {
        "✔" | "✓" => Outcome::Passed,
        "✖" | "✗" => Outcome::Failed,
        "⊘" | "⧖" => Outcome::Skipped,
        _ => return None,
    };
    let timed = told.strip_suffix(" seconds)").and_then(|told| told.rsplit_once(" (")).map(|(name, _)| name);
    let name = match outcome {
        Outcome::Failed => timed.or_else(|| told.split_once(", ").map(|(name, _)| name))?,
        Outcome::Skipped => timed.or_else(|| told.strip_suffix(" [PENDING]"))?,
        _ => timed?,
    };
    let name = name.split_once(" on '").map_or(name, |(name, _)| name);
    let in_suite = name.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    Some(in_suite.map_or((None, name, outcome), |(suite, name)| (Some(suite), name, outcome)))
}

/// Why the test in such a line failed.
pub(super) fn message(line: &str) -> Option<&str> {
    line.split_once(", ").map(|(_, message)| message).filter(|_| !line.ends_with(" seconds)"))
}

/// xcbeautify's last line: `Tests Failed: 1 failed, 1 skipped, 3 total (0.108 seconds)`.
pub(super) fn summary(line: &str) -> Option<Executed> {
    let rest = line.strip_prefix("Tests Passed: ").or_else(|| line.strip_prefix("Tests Failed: "))?;
    let (counts, _) = rest.strip_suffix(" seconds)")?.split_once(" (")?;
    let mut counts = counts.split(", ");
    let mut next = |word: &str| counts.next().and_then(counted).filter(|(_, other)| *other == word)?.0;
    let (failures, skipped, tests) = (next("failed")?, next("skipped")?, next("total")?);
    Some(Executed { tests, skipped, failures })
}
