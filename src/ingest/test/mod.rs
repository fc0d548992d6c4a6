//! Test formats, and the counting that they share.

use super::text::trimmed;
use super::values::leading;
use super::{Details, Extra, Format, Parsed, TestDetails, add};
use crate::error::Result;
use crate::model::SCHEMA_VERSION;
use crate::model::cases::{Outcome, TestCase, TestCases};
use crate::model::figures::Figures;

pub mod allure_json;
pub mod apex_json;
pub mod ava_text;
pub mod boost_text;
pub mod boost_xml;
pub mod brief_test_text;
pub mod bun_test_text;
pub mod busted_text;
pub mod cargo_test_text;
pub mod catch2_json;
pub mod catch2_text;
pub mod catch2_xml;
pub mod check_xml;
pub mod cppunit;
pub mod ctest_text;
pub mod ctest_xml;
pub mod ctrf_json;
pub mod cucumber_json;
pub mod cucumber_messages;
pub mod cunit_xml;
pub mod dart_json;
pub mod dart_test_text;
pub mod dbt_json;
pub mod deno_test_text;
pub mod dotnet_test_text;
pub mod exunit_text;
pub mod forge_test_text;
pub mod gherkin_text;
pub mod ginkgo_json;
pub mod go_test_json;
pub mod go_test_text;
pub mod gotestsum_text;
pub mod gradle_text;
pub mod gtest_json;
pub mod gtest_text;
pub mod gtester_xml;
pub mod jasmine_text;
pub mod jest_json;
pub mod jest_text;
mod json_report;
pub mod junit;
pub mod karma_text;
pub mod libtest_json;
pub mod maven_text;
pub mod meson_json;
pub(super) mod meson_output;
pub mod minitest_text;
pub mod mocha_json;
pub mod mocha_text;
pub mod mochawesome_json;
pub mod newman_json;
pub mod nextest_text;
pub mod nim_test_text;
pub mod node_test_text;
pub mod nunit2;
pub mod nunit3;
pub mod open_test_reporting;
pub mod pao_json;
pub mod phpunit_text;
pub mod playwright_json;
pub mod playwright_text;
pub mod prove_text;
pub mod pytest_json;
pub mod pytest_reportlog;
pub mod pytest_text;
pub mod qttest_text;
pub mod qttest_xml;
pub mod robot;
pub mod robot_json;
pub mod rspec_json;
pub mod rspec_text;
pub mod rstest_json;
pub mod rstest_md;
pub mod rstest_text;
pub(super) mod runs;
mod rust_failure;
pub mod sbt_text;
pub mod sonar_tests;
mod stack;
pub mod swift_test_text;
pub mod tap;
pub mod teamcity;
mod telling;
pub mod testcafe_json;
pub mod testng;
#[cfg(test)]
mod tests_support;
mod text_outline;
mod text_report;
pub(super) mod text_runs;
pub mod trx;
pub mod unittest_text;
pub mod unittestpp_xml;
pub mod vitest_text;
pub mod wdio_text;
pub mod wtr_text;
pub mod xcresult_json;
mod xml_report;
pub mod xunit;
pub mod zig_test_text;

/// Results that are kept by id. A report with more is counted in full, and says how many were not kept.
pub const CASES_KEPT: usize = 150_000;
/// Bytes of results that are kept: their texts, and what each takes beside them. That is some 140,000 results.
const KEPT_BYTES: usize = 28 * 1024 * 1024;
/// What a result that is kept takes beside its texts.
const CASE_BYTES: usize = 160;
/// Names of failed units that are kept.
pub const UNITS_KEPT: usize = 1_000;
/// Longest id that is kept, in characters.
const LONGEST_ID: usize = 1_000;

/// Counts results as they come, and keeps them by id.
#[derive(Debug)]
pub(super) struct TestTally {
    /// Passed, failed, errored, skipped; unit failures are not in them.
    passed: u64,
    failed: u64,
    errored: u64,
    skipped: u64,
    flaky: u64,
    details: TestDetails,
    /// Of what is kept, and of what readers hold back.
    kept_bytes: usize,
    /// Of the ids that are kept, once no more are.
    known: Option<Sieve>,
}

impl TestTally {
    /// Nothing counted. `compiled`: see [`TestDetails::compiled`].
    pub(super) fn new(compiled: bool) -> TestTally {
        let cases = TestCases { schema_version: SCHEMA_VERSION, ..TestCases::default() };
        let details = TestDetails { cases, compiled, ..TestDetails::default() };
        let (kept_bytes, known) = (0, None);
        TestTally { passed: 0, failed: 0, errored: 0, skipped: 0, flaky: 0, details, kept_bytes, known }
    }

    /// Counts `number` results.
    pub(super) fn count(&mut self, outcome: Outcome, number: u64) -> Result<()> {
        let slot = self.slot(outcome);
        *slot = add(*slot, number)?;
        Ok(())
    }

    fn slot(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Errored => &mut self.errored,
            Outcome::Skipped => &mut self.skipped,
        }
    }

    /// Takes back what was counted of one result.
    pub(super) fn uncount(&mut self, outcome: Outcome) {
        let slot = self.slot(outcome);
        *slot = slot.saturating_sub(1);
    }

    /// Counts one of the passed as flaky.
    pub(super) fn count_flaky(&mut self) {
        self.flaky = self.flaky.saturating_add(1);
    }

    /// Keeps one result by its id, made fit to be shown, without counting it.
    #[inline]
    pub(super) fn keep(&mut self, id: &str, case: TestCase) {
        self.keep_all(id, case, 1);
    }

    /// Keeps the worst of `results` results that bear the same id, without counting them.
    fn keep_all(&mut self, id: &str, mut case: TestCase, results: u64) {
        self.details.duplicates = self.details.duplicates.saturating_add(results.saturating_sub(1));
        let id = super::text::shown(id, LONGEST_ID);
        let cases = &mut self.details.cases;
        if let Some(known) = &self.known {
            if !known.may_hold(&id) || !cases.cases.contains_key(&*id) {
                self.details.dropped = self.details.dropped.saturating_add(1);
                return;
            }
            // It may take another's place, but there is no room for more texts.
            (case.file, case.message) = (None, None);
        }
        // A longer one may come into its place.
        let replaces = case.message.is_some() && cases.outcome(&id).is_some_and(|known| case.outcome > known);
        let bytes = texts(&case);
        let length = id.len();
        if cases.add(id.into_owned(), case) {
            self.details.duplicates = self.details.duplicates.saturating_add(1);
            self.kept_bytes += if replaces { bytes } else { 0 };
        } else {
            self.kept_bytes += CASE_BYTES + length + bytes;
        }
        let is_full = cases.cases.len() >= CASES_KEPT || self.kept_bytes >= KEPT_BYTES;
        if is_full && self.known.is_none() {
            self.known = Some(Sieve::of(cases.cases.keys()));
        }
    }

    /// Takes room for what a reader holds back; `false` if there is none, so that it must be counted now.
    fn hold(&mut self, bytes: usize) -> bool {
        self.kept_bytes = self.kept_bytes.saturating_add(bytes);
        self.kept_bytes < KEPT_BYTES
    }

    /// Gives room back.
    fn release(&mut self, bytes: usize) {
        self.kept_bytes = self.kept_bytes.saturating_sub(bytes);
    }

    /// Counts and keeps one result.
    #[inline]
    pub(super) fn case(&mut self, id: &str, case: TestCase) -> Result<()> {
        self.count(case.outcome, 1)?;
        self.keep(id, case);
        Ok(())
    }

    /// One of the results that are kept by that id is an error, and no test.
    fn thrown(&mut self, id: &str) {
        let id = super::text::shown(id, LONGEST_ID);
        let TestDetails { cases, thrown, .. } = &mut self.details;
        let has_room = thrown.len() < UNITS_KEPT || thrown.contains_key(&*id);
        if has_room && cases.cases.contains_key(&*id) {
            let results = thrown.entry(id.into_owned()).or_default();
            *results = results.saturating_add(1);
        }
    }

    /// Some of what is counted are further outcomes of tests.
    fn add_extra(&mut self, extra: Extra) {
        self.details.extra += extra;
    }

    /// A unit that failed outside any test: one errored test (corpus README, rule 3).
    pub(super) fn unit_failure(&mut self, name: &str) {
        self.details.unit_failures = self.details.unit_failures.saturating_add(1);
        if self.details.failed_units.len() < UNITS_KEPT {
            self.details.failed_units.push(super::text::printable(name, 200));
        }
    }

    /// Whether a test or a unit failed so far.
    pub(super) fn has_failed(&self) -> bool {
        self.failed > 0 || self.errored > 0 || self.details.unit_failures > 0
    }

    /// The figures. `flaky` is among them only if there was one: most formats cannot tell.
    pub(super) fn finish(self, format: &'static Format) -> Result<Parsed> {
        let errored = add(self.errored, self.details.unit_failures)?;
        let tests = [self.failed, errored, self.skipped].into_iter().try_fold(self.passed, add)?;
        let figures = Figures {
            tests: Some(tests),
            passed: Some(self.passed),
            failed: Some(self.failed),
            errored: Some(errored),
            skipped: Some(self.skipped),
            flaky: (self.flaky > 0).then_some(self.flaky),
            ..Figures::default()
        };
        let mut warnings = Vec::new();
        if self.details.duplicates > 0 {
            warnings.push(format!(
                "{} results bear the name of another: all are counted, and by name the worse outcome stands",
                self.details.duplicates
            ));
        }
        if self.details.dropped > 0 {
            warnings.push(format!("{} results are counted but not kept by name", self.details.dropped));
        }
        let mut parsed = Parsed::new(format, figures, Details::Tests(self.details));
        parsed.warnings = warnings;
        Ok(parsed)
    }

    /// The figures of a format that names few of its results by its nature: that is no oddity to warn of.
    pub(super) fn finish_with_few_names(self, format: &'static Format) -> Result<Parsed> {
        let mut parsed = self.finish(format)?;
        if let Details::Tests(details) = &mut parsed.details {
            let results = parsed.figures.tests.unwrap_or_default().saturating_sub(details.unit_failures);
            let tests = results.saturating_sub(details.extra.passed).saturating_sub(details.extra.failed);
            let named = u64::try_from(details.cases.cases.len()).unwrap_or(u64::MAX);
            details.dropped = tests.saturating_sub(named);
        }
        Ok(parsed)
    }
}

/// Tells of nearly every id that is not among those it was made of, in a quarter of a mebibyte, that it is not.
#[derive(Debug)]
struct Sieve(Vec<u64>);

impl Sieve {
    /// Words of 64 bits, of which an id sets three in one word: of a hundred other ids, one passes.
    const WORDS: usize = 1 << 15;

    fn of<'a>(ids: impl Iterator<Item = &'a String>) -> Sieve {
        let mut words = vec![0; Sieve::WORDS];
        for id in ids {
            let (word, bits) = Sieve::place(id);
            if let Some(word) = words.get_mut(word) {
                *word |= bits;
            }
        }
        Sieve(words)
    }

    fn may_hold(&self, id: &str) -> bool {
        let (word, bits) = Sieve::place(id);
        self.0.get(word).is_none_or(|word| word & bits == bits)
    }

    /// By a hash that is quick and no more: ids that are made to pass cost a look at the map each.
    fn place(id: &str) -> (usize, u64) {
        let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (words, rest) = id.as_bytes().as_chunks::<8>();
        let hash = words.iter().fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
        let hash = mix(hash, rest.iter().fold(1, |word, byte| word << 8 | u64::from(*byte)));
        let hash = mix(hash, hash >> 32);
        let bit = |at: u32| 1 << (hash >> at & 63);
        (usize::try_from(hash >> 49).unwrap_or(usize::MAX) % Sieve::WORDS, bit(43) | bit(37) | bit(31))
    }
}

/// Bytes of a result's texts but its id.
fn texts(case: &TestCase) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    length(&case.file) + length(&case.message)
}

/// Seconds as `12`, `0.003`; anything else (`1,5`, `1.5e3`, negative) is no duration.
pub(super) fn milliseconds(seconds: &str) -> Option<u64> {
    let (whole, rest) = leading(trimmed(seconds).as_bytes())?;
    let fraction = match rest {
        [b'.', fraction @ ..] => fraction,
        rest => rest,
    };
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |at: usize| fraction.get(at).map_or(0, |digit| u64::from(digit - b'0'));
    whole.checked_mul(1000)?.checked_add(digit(0) * 100 + digit(1) * 10 + digit(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p18_results_beyond_the_limit_are_counted_and_named_as_not_kept() {
        let mut tally = TestTally::new(false);
        for number in 0..CASES_KEPT + 3 {
            tally.case(&number.to_string(), TestCase::new(Outcome::Passed)).unwrap();
        }
        tally.case("0", TestCase::new(Outcome::Failed)).unwrap();
        let parsed = tally.finish(&junit::FORMAT).unwrap();
        assert_eq!(parsed.figures.tests, Some(150_004));
        let Details::Tests(details) = parsed.details else { panic!("tests") };
        assert_eq!((details.cases.cases.len(), details.dropped, details.duplicates), (CASES_KEPT, 3, 1));
        assert_eq!(details.cases.outcome("0"), Some(Outcome::Failed));
        assert_eq!(parsed.warnings.len(), 2);
    }

    #[test]
    fn p18_long_names_take_no_more_memory_than_short_ones() {
        let mut tally = TestTally::new(false);
        let case = TestCase { message: Some("m".repeat(400)), ..TestCase::new(Outcome::Failed) };
        let name = "n".repeat(LONGEST_ID - 10);
        for number in 0..50_000 {
            tally.case(&format!("{name}{number}"), case.clone()).unwrap();
        }
        // What is kept can still get worse, but not larger.
        tally.case(&format!("{name}0"), TestCase { outcome: Outcome::Errored, ..case }).unwrap();
        let parsed = tally.finish(&junit::FORMAT).unwrap();
        assert_eq!(parsed.figures.tests, Some(50_001));
        let Details::Tests(details) = parsed.details else { panic!("tests") };
        let kept: usize = details.cases.cases.iter().map(|(id, case)| CASE_BYTES + id.len() + texts(case)).sum();
        assert!(kept < KEPT_BYTES + 2_000 && kept > KEPT_BYTES / 2, "{kept} bytes");
        assert_eq!(details.cases.cases.len(), 50_000 - usize::try_from(details.dropped).unwrap());
        assert_eq!(details.cases.outcome(&format!("{name}0")), Some(Outcome::Errored));
    }

    #[test]
    fn p23_sums_that_overflow_are_malformed() {
        let mut tally = TestTally::new(false);
        tally.count(Outcome::Passed, u64::MAX).unwrap();
        assert!(tally.count(Outcome::Passed, 1).is_err());
        tally.count(Outcome::Failed, 1).unwrap();
        assert!(tally.finish(&junit::FORMAT).is_err());
    }

    #[test]
    fn unit_failures_are_errored_tests_and_told_apart() {
        let mut tally = TestTally::new(true);
        tally.unit_failure("pkg \x1b[1m");
        let parsed = tally.finish(&junit::FORMAT).unwrap();
        assert_eq!((parsed.figures.tests, parsed.figures.errored), (Some(1), Some(1)));
        let Details::Tests(details) = parsed.details else { panic!("tests") };
        assert_eq!((details.failed_units, details.unit_failures), (vec!["pkg \\x1b[1m".to_owned()], 1));
    }

    #[test]
    fn p34_only_plain_seconds_are_a_duration() {
        for (text, expected) in [("12", 12_000), ("0.003", 3), ("1.5", 1500), (" 0 ", 0), ("2.", 2000), ("0.0019", 1)] {
            assert_eq!(milliseconds(text), Some(expected), "{text}");
        }
        for odd in ["1,5", "1.5e3", "-1", "NaN", "inf", "", ".", "+5", "１", "1.2.3", "99999999999999999999"] {
            assert_eq!(milliseconds(odd), None, "{odd}");
        }
    }
}
