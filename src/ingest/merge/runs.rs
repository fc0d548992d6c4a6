//! Test reports: which of them tell of one run, and the sum of the runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::names::{Index, Overlap, are_worded_alike, from_the_end, parts};
use super::writers::{Likely, is_of_go, wrote};
use super::{Copies, Measurement};
use crate::ingest::test::UNITS_KEPT;
use crate::ingest::{Details, Parsed, TestDetails};
use crate::model::SCHEMA_VERSION;
use crate::model::cases::{Outcome, TestCases};
use crate::model::metrics::TestMetrics;
use crate::model::units::Percent;

/// Reports of other formats with whose names those of a report are compared word by word. Who writes a file for each test has
/// thousands.
const WORDED_ALIKE: usize = 64;

/// Names that are kept of failing tests.
const NAMES_KEPT: usize = 20;

/// One test report.
#[derive(Clone, Copy)]
struct Report<'a> {
    index: usize,
    parsed: &'a Parsed,
    tests: &'a TestDetails,
    counts: Counts,
    /// Only those of its tests were added that no other report names.
    adds_some: bool,
}

/// Counts without unit failures, each test once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    errored: u64,
    skipped: u64,
    units: u64,
}

impl Counts {
    /// `None` if the report leaves one of them open: no reader does, and unknown is not zero.
    fn of(parsed: &Parsed, tests: &TestDetails) -> Option<Counts> {
        let figures = &parsed.figures;
        let errored = figures.errored?;
        Some(Counts {
            passed: figures.passed?.saturating_sub(tests.extra.passed),
            failed: figures.failed?.saturating_sub(tests.extra.failed),
            errored: errored.saturating_sub(tests.unit_failures),
            skipped: figures.skipped?,
            units: tests.unit_failures.min(errored),
        })
    }

    fn plus(self, other: Counts) -> Option<Counts> {
        let sum = Counts {
            passed: self.passed.checked_add(other.passed)?,
            failed: self.failed.checked_add(other.failed)?,
            errored: self.errored.checked_add(other.errored)?,
            skipped: self.skipped.checked_add(other.skipped)?,
            units: self.units.checked_add(other.units)?,
        };
        sum.tests().and_then(|tests| tests.checked_add(sum.units)).map(|_| sum)
    }

    fn tests(self) -> Option<u64> {
        self.passed.checked_add(self.failed)?.checked_add(self.errored)?.checked_add(self.skipped)
    }

    /// Whether each count fits into the other's.
    fn fits_into(self, other: Counts) -> bool {
        self.passed <= other.passed
            && self.failed <= other.failed
            && self.errored <= other.errored
            && self.skipped <= other.skipped
    }

    fn told(self) -> String {
        let Counts { passed, failed, errored, skipped, units } = self;
        format!("{passed} passed, {failed} failed, {errored} errored, {skipped} skipped, {units} not collected")
    }
}

/// What a report adds to those before it.
enum Verdict<'a> {
    /// A run of its own.
    Adds,
    /// Only these, the rest was told by that report.
    AddsSome(Counts, &'a Parsed),
    /// Nothing: the report of that index told all of it.
    Told(usize),
}

/// Merges them into the measurement. They come in an order that follows from their content.
pub(super) fn merge(reports: &[(usize, &Parsed)], measurement: &mut Measurement) {
    let mut reports: Vec<Report<'_>> = reports.iter().filter_map(|(index, parsed)| report(*index, parsed)).collect();
    if reports.is_empty() {
        return;
    }
    // The richest first; of what is equally rich, what another report tells with the same counts, so that it is the one
    // that it tells; then in the order of its content.
    let files: Vec<Counts> =
        reports.iter().filter(|report| !report.parsed.is_spoken()).map(|report| report.counts).collect();
    reports.sort_by_cached_key(|report| {
        let (is_named, has_durations, is_file, tests) = richness(report);
        std::cmp::Reverse((is_named, has_durations, is_file, !is_file && files.contains(&report.counts), tests))
    });
    let collected = collected(&reports);
    let has_classes = reports.iter().any(|report| reports.first().is_some_and(|first| class(first) != class(report)));
    let mut counted: Vec<Report<'_>> = Vec::new();
    let mut named: Classes<'_> = BTreeMap::new();
    let mut told: BTreeSet<(Class, usize)> = BTreeSet::new();
    let mut units_of_told: Vec<Report<'_>> = Vec::new();
    let mut copies = Copies::default();
    let mut sum = Some(Counts::default());
    for mut report in reports {
        let whole = collected.get(&report.index).copied();
        let told_by = whole.or_else(|| original(&report, &copies));
        let warnings = &mut measurement.warnings;
        match told_by.map_or_else(|| verdict(&report, &counted, &named, &told, warnings), Verdict::Told) {
            Verdict::Adds => {
                sum = sum.and_then(|sum| sum.plus(report.counts));
            }
            Verdict::AddsSome(new, telling) => {
                sum = sum.and_then(|sum| sum.plus(new));
                let (some, telling) = (source(report.parsed), source(telling));
                measurement.warnings.push(format!("{some} tells of tests that {telling} tells too: those count once"));
                report.adds_some = true;
            }
            Verdict::Told(by) => {
                let tells = |other: &&Report<'_>| other.index == by && other.counts == report.counts;
                if report.parsed.is_spoken() && counted.iter().any(|other| tells(&other)) {
                    told.insert((class(&report), by));
                }
                // Reporters leave out files that do not load; what failed must not be lost.
                let units = report.counts.units;
                let is_known = || counted.iter().chain(&units_of_told).any(|other| other.counts.units > 0);
                if whole.is_none() && units > 0 && !is_known() {
                    let some = source(report.parsed);
                    measurement.warnings.push(format!("{some} alone tells that {units} of its files did not load"));
                    sum = sum.and_then(|sum| sum.plus(Counts { units, ..Counts::default() }));
                    units_of_told.push(report);
                } else if let Some(slot) = measurement.same_run_as.get_mut(report.index) {
                    *slot = Some(by);
                }
                continue;
            }
        }
        if has_classes {
            let of_class = named.entry((class(&report), package(&report))).or_default();
            of_class.names.add(&report.tests.cases, counted.len());
            of_class.places.push(counted.len());
        }
        copies.add(report.index, report.parsed);
        counted.push(report);
    }
    match sum.and_then(|sum| metrics(sum, &counted, &units_of_told)) {
        Some(metrics) => measurement.testing = Some(metrics),
        None => measurement.warnings.push("the counts of the test reports are too large to add up".to_owned()),
    }
    names(&counted, measurement);
}

fn report(index: usize, parsed: &Parsed) -> Option<Report<'_>> {
    match &parsed.details {
        Details::Tests(tests) => {
            Some(Report { index, parsed, tests, counts: Counts::of(parsed, tests)?, adds_some: false })
        }
        _ => None,
    }
}

/// All tests named; a file, not the console; durations known; how many tests.
fn richness(report: &Report<'_>) -> (bool, bool, bool, u64) {
    let is_named = report.tests.dropped == 0 && !report.tests.only_failed;
    let has_durations = report.tests.cases.cases.values().any(|case| case.duration_ms.is_some());
    (is_named, has_durations, !report.parsed.is_spoken(), report.counts.tests().unwrap_or(u64::MAX))
}

fn verdict<'a>(
    report: &Report<'a>,
    counted: &[Report<'a>],
    named: &Classes<'a>,
    told: &BTreeSet<(Class, usize)>,
    warnings: &mut Vec<String>,
) -> Verdict<'a> {
    // A file tells of one run: what else the same tool has printed is of other runs.
    let is_told = |other: &Report<'a>| told.contains(&(class(report), other.index));
    let is_other = |of: Class, package_of: Option<&str>| of != class(report) && may_be_one(package_of, package(report));
    let of_others: Vec<&OfClass> =
        named.iter().filter(|((of, package), _)| is_other(*of, *package)).map(|(_, of_class)| of_class).collect();
    let places: BTreeSet<usize> = of_others.iter().flat_map(|of_class| of_class.places.iter().copied()).collect();
    let others: Vec<&Report<'a>> =
        places.into_iter().filter_map(|place| counted.get(place)).filter(|other| !is_told(other)).collect();
    if report.tests.cases.cases.is_empty() {
        return nameless(report, &others, warnings);
    }
    let indexes: Vec<&Index> = of_others.iter().map(|of_class| &of_class.names).collect();
    let overlap = Overlap::of(&report.tests.cases, &indexes);
    let is_whole = |report: &Report<'_>| report.tests.dropped == 0;
    let is_alike = |other: &&Report<'a>| is_whole(other) && are_worded_alike(&report.tests.cases, &other.tests.cases);
    let is_asked = !overlap.new.is_empty() && is_whole(report) && others.len() <= WORDED_ALIKE;
    if let Some(same) = others.iter().copied().filter(|_| is_asked).find(is_alike) {
        return Verdict::Told(same.index);
    }
    let telling: Vec<&Report<'a>> = overlap.told_by.iter().filter_map(|at| counted.get(*at)).collect();
    let Some(first) = telling.first() else {
        // Names that nobody shares: another run, unless the richer reports have no names to compare with.
        let nothing_is_named = indexes.iter().all(|index| index.is_empty());
        let titles = titles(report);
        let told: BTreeSet<usize> = others.iter().flat_map(|other| told_titles(&titles, other)).collect();
        let is_named_otherwise = !titles.is_empty() && told.len() == titles.len();
        let is_nameless = nothing_is_named || is_named_otherwise;
        return if is_nameless { nameless(report, &others, warnings) } else { named_otherwise(report, &others) };
    };
    let is_named_in_part = report.tests.dropped > 0;
    if overlap.new.is_empty() || (is_named_in_part && overlap.told >= overlap.new_ids()) {
        // The index answers for each name with the first report alone, and another may tell the same.
        let is_same = telling.iter().any(|other| other.counts == report.counts);
        let is_another_s = telling.iter().any(|other| is_told(other)) || (report.parsed.is_spoken() && !is_same);
        let telling = if is_another_s { naming(report, &others) } else { telling };
        let same = telling.iter().find(|other| other.counts == report.counts).or(telling.first());
        return match same {
            Some(same) => {
                compare(report, &telling, warnings);
                Verdict::Told(same.index)
            }
            None => Verdict::Adds,
        };
    }
    if is_named_in_part {
        return Verdict::Adds;
    }
    let of = |outcome: Outcome| overlap.new.get(&outcome).copied().unwrap_or(0);
    let new = Counts {
        passed: of(Outcome::Passed),
        failed: of(Outcome::Failed),
        errored: of(Outcome::Errored),
        skipped: of(Outcome::Skipped),
        units: 0,
    };
    Verdict::AddsSome(new, first.parsed)
}

/// Those that name some of its tests.
fn naming<'o, 'a>(report: &Report<'a>, others: &[&'o Report<'a>]) -> Vec<&'o Report<'a>> {
    let names_some = |other: &&&Report<'a>| {
        let mut index = Index::default();
        index.add(&other.tests.cases, other.index);
        Overlap::of(&report.tests.cases, &[&index]).told > 0
    };
    others.iter().filter(names_some).copied().collect()
}

/// The index of the report of which this is a copy. Two reports of one command are two runs, however alike.
fn original(report: &Report<'_>, copies: &Copies<'_>) -> Option<usize> {
    let is_of_file = |other: &Parsed| !(report.parsed.is_spoken() && other.is_spoken());
    copies.of(report.parsed).find(|(_, other)| is_of_file(other)).map(|(index, _)| index)
}

/// Reports of two classes may tell of one run: two formats, or a file and the console.
type Class = (&'static str, bool);

/// The counted reports of each class and package.
type Classes<'a> = BTreeMap<(Class, Option<&'a str>), OfClass>;

/// Of one class and package.
#[derive(Default)]
struct OfClass {
    /// Which of the counted they are.
    places: Vec<usize>,
    /// The names that they tell, by these places.
    names: Index,
}

/// Of which package a report is, where that is told.
fn package<'a>(report: &Report<'a>) -> Option<&'a str> {
    report.parsed.package.as_ref().map(|package| package.name.as_str())
}

/// Whether two reports may tell of one package's tests.
fn may_be_one(package: Option<&str>, other: Option<&str>) -> bool {
    package.zip(other).is_none_or(|(one, other)| one == other)
}

fn class(report: &Report<'_>) -> Class {
    (report.parsed.format.name, report.parsed.is_spoken())
}

/// Reports that another one collects, as aggregating tasks write it: its names and counts are those of two or more of
/// the same format together. By index, the index of the collecting one.
fn collected(reports: &[Report<'_>]) -> BTreeMap<usize, usize> {
    let mut collected = BTreeMap::new();
    // A whole and two parts.
    if reports.len() < 3 {
        return collected;
    }
    // The first name of a part is one of the whole's: who writes a file for each test has thousands of them.
    let mut by_first_id: HashMap<&str, Vec<&Report<'_>>> = HashMap::new();
    for report in reports {
        if let Some(first) = report.tests.cases.cases.keys().next() {
            by_first_id.entry(first).or_default().push(report);
        }
    }
    for whole in reports {
        let alike = whole.tests.cases.cases.keys().filter_map(|id| by_first_id.get(id.as_str())).flatten();
        let all_parts: Vec<&Report<'_>> = alike.copied().filter(|part| is_part(part, whole)).collect();
        let (mut parts, mut copies) = (0_usize, Copies::default());
        let mut sum = Some(Counts::default());
        for part in &all_parts {
            if original(part, &copies).is_none() {
                sum = sum.and_then(|sum| sum.plus(part.counts));
                copies.add(part.index, part.parsed);
                parts += 1;
            }
        }
        if parts >= 2 && sum == Some(whole.counts) {
            collected.extend(all_parts.iter().map(|part| (part.index, whole.index)));
        }
    }
    collected
}

fn is_part(part: &Report<'_>, whole: &Report<'_>) -> bool {
    let (part_ids, whole_ids) = (&part.tests.cases.cases, &whole.tests.cases.cases);
    class(part) == class(whole)
        && may_be_one(package(part), package(whole))
        && part.tests.dropped == 0
        && whole.tests.dropped == 0
        && !part_ids.is_empty()
        && part_ids.len() < whole_ids.len()
        && part_ids.keys().all(|id| whole_ids.contains_key(id))
}

/// A report that names no test: its counts decide, beside reports that its tool may have written too.
fn nameless<'a>(report: &Report<'a>, others: &[&Report<'a>], warnings: &mut Vec<String>) -> Verdict<'a> {
    let kin: Vec<&Report<'a>> = others.iter().copied().filter(|other| is_kin(report, other)).collect();
    let Some(first) = kin.first() else { return named_otherwise(report, others) };
    if let Some(same) = kin.iter().find(|other| other.counts == report.counts) {
        return Verdict::Told(same.index);
    }
    let Some(sum) = kin.iter().try_fold(Counts::default(), |sum, other| sum.plus(other.counts)) else {
        return Verdict::Adds;
    };
    // The same tool in one iteration: a part of the run, or the whole of which the files are a part. What it has printed of
    // failures that no file tells must not be lost.
    let is_guess = kin.iter().any(|other| likely_wrote(report, other) == Likely::Yes);
    let hides = is_guess && (report.counts.failed > sum.failed || report.counts.errored > sum.errored);
    if !hides && (report.counts.fits_into(sum) || sum.fits_into(report.counts)) {
        compare(report, &kin, warnings);
        return Verdict::Told(first.index);
    }
    Verdict::Adds
}

/// What a tool prints, beside files that it may have written and that name its tests in another way: with the counts of one
/// of them, or of all together, it tells of their run.
fn named_otherwise<'a>(report: &Report<'a>, others: &[&Report<'a>]) -> Verdict<'a> {
    let files = others.iter().copied().filter(|other| likely_wrote(report, other) >= Likely::Maybe);
    let files: Vec<&Report<'a>> = files.collect();
    // Some tools leave out in one of the two what was skipped, and most have no errors.
    let ran =
        |counts: Counts| Some((counts.passed, counts.failed.checked_add(counts.errored)?.checked_add(counts.units)?));
    if ran(report.counts) == Some((0, 0)) {
        return Verdict::Adds;
    }
    if let Some(same) = files.iter().find(|file| ran(file.counts) == ran(report.counts)) {
        return Verdict::Told(same.index);
    }
    let sum = files.iter().try_fold(Counts::default(), |sum, file| sum.plus(file.counts));
    match files.first().filter(|_| sum.and_then(ran) == ran(report.counts)) {
        Some(first) => Verdict::Told(first.index),
        None => Verdict::Adds,
    }
}

fn likely_wrote(report: &Report<'_>, other: &Report<'_>) -> Likely {
    if !report.parsed.is_spoken() || other.parsed.is_spoken() {
        return Likely::No;
    }
    wrote(report.parsed.format.name, &other.tests.cases)
}

/// Whether both can come of one tool.
fn is_kin(report: &Report<'_>, other: &Report<'_>) -> bool {
    let units = |report: &Report<'_>| -> Vec<_> { report.tests.failed_units.iter().map(|unit| parts(unit)).collect() };
    let other_units = units(other);
    if report.parsed.format == other.parsed.format || units(report).iter().any(|unit| other_units.contains(unit)) {
        return true;
    }
    if likely_wrote(report, other) == Likely::Yes {
        return true;
    }
    let ids = || other.tests.cases.cases.keys();
    let most = |is_alike: &dyn Fn(&str) -> bool| {
        let alike = ids().filter(|id| is_alike(id)).count();
        alike > 0 && alike * 10 >= ids().count() * 8
    };
    match report.parsed.format.name {
        "pytest-text" | "unittest-text" => most(&is_pytest_id),
        "cargo-test-text" | "nextest-text" => most(&is_rust_id),
        "go-test-text" => most(&is_of_go),
        // Their names in a file are what the reporter makes of them: any that no other language has.
        "jest-text" | "vitest-text" | "rstest-text" | "rstest-md" | "mocha-text" | "tap" => {
            let is_foreign = |id: &str| is_pytest_id(id) || is_rust_id(id) || is_of_go(id);
            let names_nothing = report.tests.cases.cases.is_empty() && ids().next().is_some();
            !told_titles(&titles(report), other).is_empty() || (names_nothing && !most(&is_foreign))
        }
        _ => false,
    }
}

/// The titles of a JavaScript tool's tests, without the file, as words: JUnit reporters join the titles of the groups to the
/// test's. Some are enough, as all would be compared with all.
fn titles(report: &Report<'_>) -> Vec<String> {
    let has_file = match report.parsed.format.name {
        "jest-text" | "vitest-text" | "rstest-text" | "rstest-md" | "wtr-text" => true,
        "mocha-text" | "tap" => false,
        _ => return Vec::new(),
    };
    let title = |id: &String| {
        let titles = if has_file { id.split_once("::").map_or(id.as_str(), |(_, titles)| titles) } else { id };
        as_words(titles)
    };
    report.tests.cases.cases.keys().take(NAMES_KEPT).map(title).collect()
}

/// Which of the titles a report tells in the names of its tests.
fn told_titles(titles: &[String], other: &Report<'_>) -> BTreeSet<usize> {
    let mut told = BTreeSet::new();
    for id in other.tests.cases.cases.keys().take_while(|_| !titles.is_empty()) {
        let words = as_words(id);
        told.extend(titles.iter().enumerate().filter(|(_, title)| words.ends_with(*title)).map(|(at, _)| at));
    }
    told
}

fn as_words(id: &str) -> String {
    id.replace("::", " ").replace(" > ", " ")
}

/// `tests.test_a.TestB::test_x[1]`, and `Cart::test_x` of who leaves out the module (green).
fn is_pytest_id(id: &str) -> bool {
    let parts = parts(id);
    let mut parts = from_the_end(&parts);
    let is_test = |part: &str| part.to_ascii_lowercase().starts_with("test");
    let is_class = |place: &str| {
        place.starts_with(|c: char| c.is_ascii_uppercase()) && place.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let is_method = |(place, name): (&str, &str)| is_class(place) && name.starts_with("test_");
    id.split_once("::").is_some_and(is_method)
        || parts.next().is_some_and(is_test) && parts.any(|part| is_test(part) || part.ends_with("_test"))
}

/// `kvlog::tests::deep`: only what a Rust path is made of.
fn is_rust_id(id: &str) -> bool {
    let is_path = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'/'))
    };
    id.contains("::") && id.split("::").all(is_path)
}

/// Warns if reports of one run differ in their numbers.
fn compare(report: &Report<'_>, others: &[&Report<'_>], warnings: &mut Vec<String>) {
    if report.tests.only_failed {
        return;
    }
    // What only one of them tells of files that did not load is added.
    let tells_units = others.iter().any(|other| other.counts.units > 0);
    let counts = Counts { units: if tells_units { report.counts.units } else { 0 }, ..report.counts };
    let is_alone = others.iter().any(|other| other.counts == counts);
    let sum = others.iter().try_fold(Counts::default(), |sum, other| sum.plus(other.counts));
    let Some(first) = others.first().filter(|_| !is_alone) else { return };
    if let Some(sum) = sum.filter(|sum| *sum != counts) {
        warnings.push(format!(
            "{} and {} tell of the same run with other numbers: {} against {}; the first counts",
            source(first.parsed),
            source(report.parsed),
            sum.told(),
            counts.told(),
        ));
    }
}

/// How a warning names a report.
fn source(parsed: &Parsed) -> String {
    let place = if parsed.is_spoken() { "the console" } else { "a file" };
    format!("{place} ({})", parsed.format.name)
}

fn metrics(sum: Counts, counted: &[Report<'_>], units_of_told: &[Report<'_>]) -> Option<TestMetrics> {
    let ran = sum.passed.checked_add(sum.failed)?.checked_add(sum.errored)?;
    // Where passed tests are not told, nobody knows how many tests there are.
    let is_told = !counted.iter().any(|report| report.tests.only_failed);
    let flaky: Vec<u64> = counted.iter().filter_map(|report| report.parsed.figures.flaky).collect();
    let with_units = counted.iter().chain(units_of_told);
    let units: BTreeSet<String> =
        with_units.flat_map(|report| report.tests.failed_units.iter().map(|unit| named(report, unit))).collect();
    Some(TestMetrics {
        test_count: Some(sum.tests()?).filter(|_| is_told),
        tests_passed: Some(sum.passed).filter(|_| is_told),
        tests_failed: Some(sum.failed),
        tests_errored: Some(sum.errored),
        tests_skipped: Some(sum.skipped).filter(|_| is_told),
        tests_flaky: (!flaky.is_empty()).then(|| flaky.iter().fold(0, |sum: u64, number| sum.saturating_add(*number))),
        collection_errors: sum.units,
        failed_units: units.into_iter().take(UNITS_KEPT).collect(),
        pass_rate: Percent::of(sum.passed, ran).filter(|_| is_told),
        failing: Vec::new(),
        cases: None,
    })
}

/// What is told of a package that is not the first to be told of bears its name: another may have tests and files of the
/// same names.
fn named(report: &Report<'_>, id: &str) -> String {
    match &report.parsed.package {
        Some(package) if !package.is_first => format!("{}: {id}", package.name),
        _ => id.to_owned(),
    }
}

/// The outcomes by id: of all that was counted, if all of it is named.
fn names(counted: &[Report<'_>], measurement: &mut Measurement) {
    let all =
        counted.iter().flat_map(|report| report.tests.cases.cases.iter().map(move |(id, case)| (report, id, case)));
    let bad = all.filter(|(.., case)| case.outcome.is_bad());
    let failing: BTreeMap<String, Option<&String>> =
        bad.map(|(report, id, case)| (named(report, id), case.message.as_ref())).collect();
    for (id, message) in failing.into_iter().take(NAMES_KEPT) {
        measurement.messages.extend(message.map(|message| (id.clone(), message.clone())));
        measurement.failing.push(id);
    }
    if counted.iter().any(|report| report.tests.dropped > 0 || report.tests.only_failed) {
        if let Some(testing) = &mut measurement.testing {
            testing.failing.clone_from(&measurement.failing);
        }
        return;
    }
    let mut cases = TestCases { schema_version: SCHEMA_VERSION, ..TestCases::default() };
    let mut told = Index::default();
    let some_are_added = counted.iter().any(|report| report.adds_some);
    for report in counted {
        for (id, case) in &report.tests.cases.cases {
            // A test that a richer report named in its own way keeps that name.
            if !report.adds_some || told.find(&parts(id)).is_none() {
                cases.add(named(report, id), case.clone());
            }
        }
        if some_are_added {
            told.add(&report.tests.cases, 0);
        }
    }
    measurement.cases = Some(cases);
}
