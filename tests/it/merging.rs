//! Merging, told in small reports.

use std::collections::BTreeMap;

use highwater::ingest::console::console;
use highwater::ingest::coverage::{cobertura, coveragepy_text, go_cover_func, istanbul_summary, lcov, opencover};
use highwater::ingest::lint::{ruff_text, rustc_json, rustc_text, sarif};
use highwater::ingest::merge::{Measurement, merge};
use highwater::ingest::metric::criterion;
use highwater::ingest::size::lizard_text;
use highwater::ingest::test::{
    cargo_test_text, exunit_text, gherkin_text, go_test_json, go_test_text, gotestsum_text, jest_json, jest_text,
    junit, maven_text, mocha_text, phpunit_text, playwright_text, pytest_text, rspec_text, unittest_text, vitest_text,
};
use highwater::ingest::{
    CoverageDetails, Details, FileCoverage, FileLines, Finding, Format, Input, Level, LintDetails, Package, Parsed,
    SizeDetails, Sort, TestDetails, ToolCounts,
};
use highwater::model::cases::Outcome::{self, Errored, Failed, Passed, Skipped};
use highwater::model::cases::TestCase;
use highwater::model::figures::{Figures, MetricFigure};
use highwater::model::metrics::BuildStatus;
use highwater::model::units::Percent;

fn tests(format: &'static Format, ids: &[(&str, Outcome)]) -> Parsed {
    let mut details = TestDetails::default();
    for (id, outcome) in ids {
        details.cases.add((*id).into(), TestCase::new(*outcome));
    }
    let of = |wanted: Outcome| Some(ids.iter().filter(|(_, outcome)| *outcome == wanted).count() as u64);
    let figures = Figures {
        tests: Some(ids.len() as u64),
        passed: of(Outcome::Passed),
        failed: of(Outcome::Failed),
        errored: of(Outcome::Errored),
        skipped: of(Outcome::Skipped),
        ..Figures::default()
    };
    Parsed::new(format, figures, Details::Tests(details))
}

/// A report that counts more than it names.
fn counted(format: &'static Format, passed: u64, failed: &[&str]) -> Parsed {
    let ids: Vec<_> = failed.iter().map(|id| (*id, Outcome::Failed)).collect();
    let mut parsed = tests(format, &ids);
    parsed.figures.passed = Some(passed);
    parsed.figures.tests = Some(passed + failed.len() as u64);
    if let Details::Tests(details) = &mut parsed.details {
        details.dropped = passed;
    }
    parsed
}

fn on_console(mut parsed: Parsed) -> Parsed {
    parsed.sniffed_by = "console: told".to_owned();
    parsed
}

fn counts(measurement: &Measurement) -> (u64, u64, u64, u64, u64) {
    let t = measurement.testing.as_ref().unwrap();
    let all = [t.test_count, t.tests_passed, t.tests_failed, t.tests_errored, t.tests_skipped].map(Option::unwrap);
    (all[0], all[1], all[2], all[3], all[4])
}

/// Merges in every rotation, and backwards: the order must not matter. What says something else has other bytes.
fn merged(reports: &[Parsed]) -> Measurement {
    let with_content = |report: &Parsed| {
        let text = format!("{:?} {:?} {:?} {:?}", report.figures, report.build, report.details, report.package);
        Parsed { content: report.content.or(Some(highwater::disk::hash::id_of(text.as_bytes()))), ..report.clone() }
    };
    let reports: Vec<Parsed> = reports.iter().map(with_content).collect();
    let first = merge(&reports);
    let told: Vec<bool> = first.same_run_as.iter().map(Option::is_some).collect();
    for turn in 0..reports.len() {
        for backwards in [false, true] {
            let mut order: Vec<usize> = (0..reports.len()).collect();
            order.rotate_left(turn);
            if backwards {
                order.reverse();
            }
            let turned: Vec<Parsed> = order.iter().map(|index| reports[*index].clone()).collect();
            let again = merge(&turned);
            let number = |same: &[Option<usize>]| same.iter().flatten().count();
            assert_eq!(number(&again.same_run_as), told.iter().filter(|told| **told).count());
            let same_run_as = first.same_run_as.clone();
            assert_eq!(Measurement { same_run_as, ..again }, first, "{order:?}");
        }
    }
    first
}

#[test]
fn one_report_stays_as_it_is() {
    let report = tests(&junit::FORMAT, &[("a::x", Passed), ("a::y", Failed), ("a::z", Skipped), ("b::z", Errored)]);
    let measurement = merged(std::slice::from_ref(&report));
    assert_eq!(counts(&measurement), (4, 1, 1, 1, 1));
    assert_eq!(measurement.testing.unwrap().pass_rate.unwrap().to_string(), "33.33");
    let Details::Tests(details) = report.details else { panic!("tests") };
    assert_eq!(measurement.cases.unwrap().cases, details.cases.cases);
    assert_eq!(measurement.failing, ["a::y", "b::z"]);
    assert_eq!((measurement.same_run_as, measurement.warnings), (vec![None], Vec::<String>::new()));
    assert_eq!((measurement.coverage, measurement.quality), (None, None));
    assert_eq!(merge(&[]), Measurement::default());
}

#[test]
fn many_files_of_one_run_add_up() {
    let files: Vec<Parsed> = ["com.A", "com.B", "com.C"]
        .iter()
        .map(|class| {
            tests(&junit::FORMAT, &[(&format!("{class}::works"), Passed), (&format!("{class}::fails"), Failed)])
        })
        .collect();
    let measurement = merged(&files);
    assert_eq!(counts(&measurement), (6, 3, 3, 0, 0));
    assert_eq!(measurement.cases.unwrap().cases.len(), 6);
    let whole = tests(
        &junit::FORMAT,
        &["com.A", "com.B", "com.C"]
            .iter()
            .flat_map(|class| [(format!("{class}::works"), Passed), (format!("{class}::fails"), Failed)])
            .collect::<Vec<_>>()
            .iter()
            .map(|(id, outcome)| (id.as_str(), *outcome))
            .collect::<Vec<_>>(),
    );
    let collected = merged(&[files, vec![whole]].concat());
    assert_eq!(counts(&collected), (6, 3, 3, 0, 0), "an aggregate repeats its parts");
    assert_eq!(collected.same_run_as, [Some(3), Some(3), Some(3), None]);
}

#[test]
fn what_an_aggregate_repeats_it_repeats_whichever_part_has_the_first_name() {
    let part = |ids: &[&str]| tests(&junit::FORMAT, &ids.iter().map(|id| (*id, Passed)).collect::<Vec<_>>());
    let parts = [part(&["b::x", "c::x"]), part(&["a::x"]), part(&["a::x"]), part(&["d::x"])];
    let whole = part(&["a::x", "b::x", "c::x", "d::x"]);
    let other = part(&["d::x", "e::x"]);
    let measurement = merged(&[&parts[..], &[whole, other]].concat());
    assert_eq!(
        counts(&measurement),
        (6, 6, 0, 0, 0),
        "of the parts, one is told twice; the other run is one of its own"
    );
    assert_eq!(measurement.same_run_as, [Some(4), Some(4), Some(4), Some(4), None, None]);
}

#[test]
fn the_same_tests_run_twice_in_one_format_are_two_runs() {
    let old = tests(&junit::FORMAT, &[("a::x", Passed), ("a::y", Passed)]);
    let new = tests(&junit::FORMAT, &[("a::x", Failed), ("a::y", Passed)]);
    let measurement = merged(&[old.clone(), new]);
    assert_eq!(counts(&measurement), (4, 3, 1, 0, 0));
    assert_eq!(measurement.cases.unwrap().outcome("a::x"), Some(Failed), "the worse outcome stands");
    assert_eq!(counts(&merged(&[old.clone(), old])), (2, 2, 0, 0, 0), "a copy is not a run");
}

#[test]
fn a_file_and_the_console_tell_of_one_run() {
    let file = tests(&junit::FORMAT, &[("tests.test_a::test_x", Passed), ("tests.test_a.TestB::test_y[a/b]", Failed)]);
    for console in [
        on_console(tests(
            &pytest_text::FORMAT,
            &[("tests/test_a.py::test_x", Passed), ("tests/test_a.py::TestB::test_y[a/b]", Failed)],
        )),
        on_console(counted(&pytest_text::FORMAT, 1, &["tests/test_a.py::TestB::test_y[a/b]"])),
    ] {
        let measurement = merged(&[console, file.clone()]);
        assert_eq!(counts(&measurement), (2, 1, 1, 0, 0));
        assert_eq!(measurement.same_run_as, [Some(1), None]);
        assert!(measurement.warnings.is_empty(), "{:?}", measurement.warnings);
        assert_eq!(measurement.cases.unwrap().cases.len(), 2);
    }
    let passing = tests(&junit::FORMAT, &[("tests.test_a::test_x", Passed), ("tests.test_a::test_y", Passed)]);
    let quiet = on_console(counted(&pytest_text::FORMAT, 2, &[]));
    assert_eq!(merged(&[passing.clone(), quiet]).same_run_as, [None, Some(0)]);
    let other = on_console(counted(&pytest_text::FORMAT, 1, &[]));
    let measurement = merged(&[passing, other]);
    assert_eq!(counts(&measurement).0, 2, "the file wins");
    assert_eq!(measurement.warnings.len(), 1, "and the difference is told");
    assert!(measurement.warnings[0].contains("junit") && measurement.warnings[0].contains("pytest-text"));
}

#[test]
fn a_file_tells_one_of_two_runs_that_a_tool_printed() {
    let run = |file: bool, last: Outcome| {
        let ids = match file {
            true => ["tests.test_a::test_x", "tests.test_a::test_y"],
            false => ["tests/test_a.py::test_x", "tests/test_a.py::test_y"],
        };
        let format = if file { &junit::FORMAT } else { &pytest_text::FORMAT };
        tests(format, &[(ids[0], Passed), (ids[1], last)])
    };
    let quiet = |failed: &[&str]| on_console(counted(&pytest_text::FORMAT, 2 - failed.len() as u64, failed));
    let named = [on_console(run(false, Passed)), on_console(run(false, Failed))];
    for consoles in [named, [quiet(&[]), quiet(&["tests/test_a.py::test_y"])]] {
        let both = [&[run(true, Passed), run(true, Failed)], &consoles[..]].concat();
        let measurement = merged(&both);
        assert_eq!((counts(&measurement), measurement.warnings.as_slice()), ((4, 3, 1, 0, 0), [].as_slice()));
        assert_eq!(measurement.same_run_as.iter().flatten().count(), 2);
        // The second environment wrote over the file of the first.
        let measurement = merged(&[&[run(true, Passed)], &consoles[..]].concat());
        assert_eq!((counts(&measurement), measurement.warnings.as_slice()), ((4, 3, 1, 0, 0), [].as_slice()));
    }
    assert_eq!(counts(&merged(&[run(true, Passed), quiet(&[]), quiet(&[])])).0, 4, "however alike");
}

#[test]
fn different_runs_add_up_even_if_their_numbers_are_equal() {
    let jest = tests(&junit::FORMAT, &[("Cart adds::an item", Passed), ("Cart drops::an item", Passed)]);
    let pytest = on_console(counted(&pytest_text::FORMAT, 2, &[]));
    let cargo =
        on_console(tests(&cargo_test_text::FORMAT, &[("kvlog::tests::deep", Passed), ("it::roundtrip", Failed)]));
    let measurement = merged(&[jest, pytest, cargo]);
    assert_eq!(counts(&measurement), (6, 5, 1, 0, 0));
    assert_eq!(measurement.same_run_as, [None; 3]);
    assert_eq!(measurement.cases, None, "not every test is named: a name that is missing is no lost test");
    assert_eq!(measurement.failing, ["it::roundtrip"]);
    let twice = on_console(counted(&pytest_text::FORMAT, 2, &[]));
    assert_eq!(counts(&merged(&[twice.clone(), twice])).0, 4, "one command may run pytest twice");
}

#[test]
fn cargo_and_nextest_name_tests_alike_and_doc_tests_are_added() {
    let nextest = tests(
        &junit::FORMAT,
        &[
            ("kvlog::tests::deep", Passed),
            ("kvlog::it::roundtrip", Failed),
            ("kvlog::bin/kvcat::tests::in_bin", Passed),
        ],
    );
    let cargo = on_console(tests(
        &cargo_test_text::FORMAT,
        &[
            ("kvlog::tests::deep", Passed),
            ("it::roundtrip", Failed),
            ("bin/kvcat::tests::in_bin", Passed),
            ("doc/kvlog::src/lib.rs - two", Failed),
        ],
    ));
    let measurement = merged(&[nextest, cargo]);
    assert_eq!(counts(&measurement), (4, 2, 2, 0, 0));
    assert_eq!(measurement.same_run_as, [None, None], "something of it was added");
    assert_eq!(measurement.warnings.len(), 1);
    assert_eq!(measurement.cases.unwrap().cases.len(), 4);
}

#[test]
fn what_failed_to_load_is_apart_from_the_tests_and_counts_once() {
    let mut file = tests(&junit::FORMAT, &[]);
    let mut console = on_console(tests(&pytest_text::FORMAT, &[]));
    for (report, unit) in [(&mut file, "tests.test_broken"), (&mut console, "tests/test_broken.py")] {
        report.figures.errored = Some(1);
        report.figures.tests = Some(1);
        let Details::Tests(details) = &mut report.details else { panic!("tests") };
        details.unit_failures = 1;
        details.failed_units = vec![unit.into()];
    }
    let measurement = merged(&[file, console]);
    let testing = measurement.testing.as_ref().unwrap();
    assert_eq!(counts(&measurement), (0, 0, 0, 0, 0));
    assert_eq!((testing.collection_errors, testing.failed_units.len(), testing.pass_rate), (1, 1, None));
}

#[test]
fn reports_that_name_nothing_are_copies_only_if_their_bytes_are() {
    use highwater::model::ids::ObjectId;
    let of = |content: u8| Parsed { content: Some(ObjectId([content; 32])), ..counted(&pytest_text::FORMAT, 5, &[]) };
    assert_eq!(counts(&merged(&[of(1), of(2)])).0, 10, "two suites of five tests");
    let copy = merged(&[of(1), of(1)]);
    assert_eq!((counts(&copy).0, copy.same_run_as.iter().flatten().count()), (5, 1));
}

#[test]
fn a_report_that_leaves_a_count_open_is_no_measurement() {
    let mut open = counted(&pytest_text::FORMAT, 5, &[]);
    open.figures.skipped = None;
    assert_eq!(merged(&[open]).testing, None);
}

#[test]
fn a_text_that_names_failures_alone_leaves_the_number_of_tests_unknown() {
    let mut quiet = tests(&go_test_text::FORMAT, &[("p::TestX", Failed)]);
    let Details::Tests(details) = &mut quiet.details else { panic!("tests") };
    details.only_failed = true;
    let quiet = on_console(quiet);
    let measurement = merged(std::slice::from_ref(&quiet));
    let testing = measurement.testing.unwrap();
    assert_eq!((testing.test_count, testing.tests_passed, testing.pass_rate), (None, None, None));
    assert_eq!((testing.tests_failed, measurement.cases), (Some(1), None));
    assert_eq!(testing.failing, ["p::TestX"]);
    let whole = tests(&go_test_json::FORMAT, &[("p::TestX", Failed), ("p::TestY", Passed)]);
    let both = merged(&[quiet, whole]);
    assert_eq!((counts(&both), both.warnings.len()), ((2, 1, 1, 0, 0), 0), "a file tells the rest");
    assert!(both.testing.unwrap().failing.is_empty());
}

#[test]
fn a_javascript_tools_console_and_its_junit_file_tell_of_one_run() {
    let junit = tests(&junit::FORMAT, &[("Cart adds::Cart adds", Passed), ("Cart drops it::Cart drops it", Failed)]);
    let vitest =
        tests(&junit::FORMAT, &[("vt/a.test.ts::Cart > adds", Passed), ("vt/a.test.ts::Cart > drops it", Failed)]);
    for file in [junit, vitest] {
        let console = on_console(counted(&jest_text::FORMAT, 1, &["vt/a.test.ts::Cart::drops it"]));
        assert_eq!(counts(&merged(&[file.clone(), console])), (2, 1, 1, 0, 0));
        let other = on_console(counted(&jest_text::FORMAT, 1, &["vt/b.test.ts::Search::finds"]));
        assert_eq!(counts(&merged(&[file, other])), (4, 2, 2, 0, 0), "other tests");
    }
    // Cypress writes a file for each of its specs, and prints the trees of all.
    let specs = [("adds::Cart adds", "Cart::adds"), ("finds::Search finds", "Search::finds")];
    let files = specs.map(|(id, _)| tests(&junit::FORMAT, &[(id, Passed)]));
    let tree = on_console(tests(&mocha_text::FORMAT, &specs.map(|(_, title)| (title, Passed))));
    assert_eq!(counts(&merged(&[&files[..], &[tree]].concat())), (2, 2, 0, 0, 0));
    let other = on_console(tests(&mocha_text::FORMAT, &[("Cart::adds", Passed), ("Cart::more", Passed)]));
    assert_eq!(counts(&merged(&[&files[..], &[other]].concat())).0, 4);
    let passing = tests(&junit::FORMAT, &[("Cart adds::Cart adds", Passed), ("Cart drops it::Cart drops it", Passed)]);
    let mut console = on_console(counted(&jest_text::FORMAT, 2, &[]));
    assert_eq!(counts(&merged(&[passing.clone(), console.clone()])), (2, 2, 0, 0, 0));
    // jest-junit leaves out a file that does not load.
    (console.figures.errored, console.figures.tests) = (Some(1), Some(3));
    let Details::Tests(details) = &mut console.details else { panic!("tests") };
    (details.unit_failures, details.failed_units) = (1, vec!["jt/broken.test.js".to_owned()]);
    let measurement = merged(&[passing, console]);
    assert_eq!((counts(&measurement), measurement.warnings.len()), ((2, 2, 0, 0, 0), 1));
    let testing = measurement.testing.unwrap();
    assert_eq!((testing.collection_errors, testing.failed_units), (1, vec!["jt/broken.test.js".to_owned()]));
    assert_eq!(measurement.cases.unwrap().cases.len(), 2);
}

#[test]
fn what_any_tool_prints_beside_its_file_tells_of_one_run() {
    let file = |place: &str| {
        let ids = ["adds", "drops it"].map(|name| format!("{place}::{name}"));
        tests(&junit::FORMAT, &[(ids[0].as_str(), Passed), (ids[1].as_str(), Failed)])
    };
    let printed = |format: &'static Format, passed: u64, failed: &[&str]| on_console(counted(format, passed, failed));
    for (format, place, failed) in [
        (&maven_text::FORMAT, "com.example.CartTest", "com.example.CartTest.drops it"),
        (&phpunit_text::FORMAT, "Tests.CartTest", "Tests\\CartTest::drops it"),
        (&rspec_text::FORMAT, "spec.cart_spec", "Cart drops it"),
        (&playwright_text::FORMAT, "a.spec.ts", "a.spec.ts:3:1 › drops it"),
        (&exunit_text::FORMAT, "Elixir.CartTest", "test drops it (CartTest)"),
        (&gherkin_text::FORMAT, "Cart", "features/cart.feature:3"),
    ] {
        for console in [printed(format, 1, &[failed]), printed(format, 1, &["named otherwise"])] {
            let measurement = merged(&[console, file(place)]);
            assert_eq!((counts(&measurement), measurement.warnings), ((2, 1, 1, 0, 0), Vec::new()), "{}", format.name);
        }
        let two = [printed(format, 1, &["x"]), file(place), file("other.OtherTest")];
        assert_eq!(counts(&merged(&two)).0, 4, "{}: it is one of the two, and which does not matter", format.name);
    }
    // gotestsum says nothing of the module's path.
    let go = tests(&junit::FORMAT, &[("example.com/shop::TestAdds", Passed), ("example.com/shop::TestDrops", Failed)]);
    for failed in [".::TestDrops", "named otherwise"] {
        let console = printed(&gotestsum_text::FORMAT, 1, &[failed]);
        assert_eq!(counts(&merged(&[go.clone(), console])), (2, 1, 1, 0, 0), "{failed}");
    }
    let console = printed(&maven_text::FORMAT, 9, &[]);
    assert_eq!(counts(&merged(&[console.clone(), file("com.example.CartTest")])).0, 11, "another run");
    let other = tests(&junit::FORMAT, &[("Cart adds::Cart adds", Passed), ("Cart drops it::Cart drops it", Passed)]);
    assert_eq!(counts(&merged(&[console, other])).0, 11, "of another tool");
    let java = tests(&junit::FORMAT, &[("com.example.CartTest::adds", Passed)]);
    let some = merged(&[printed(&maven_text::FORMAT, 9, &[]), java.clone()]);
    assert_eq!((counts(&some).0, some.warnings.len()), (1, 1), "files that tell a part of the run");
    let failed = merged(&[printed(&maven_text::FORMAT, 9, &["x"]), java]);
    assert_eq!(counts(&failed), (11, 10, 1, 0, 0), "but no failure is lost");
    let pytest = tests(&junit::FORMAT, &[("tests.test_a::test_x", Passed), ("tests.test_a::test_y", Passed)]);
    let green = tests(&junit::FORMAT, &[("Cart::test_x", Passed), ("Cart::test_y", Passed)]);
    assert_eq!(counts(&merged(&[printed(&unittest_text::FORMAT, 2, &[]), green])).0, 2, "without their modules");
    for format in [&playwright_text::FORMAT, &gotestsum_text::FORMAT] {
        assert_eq!(counts(&merged(&[printed(format, 2, &[]), pytest.clone()])).0, 4, "in another language");
    }
    let parts = [file("com.example.ATest"), file("com.example.BTest"), printed(&maven_text::FORMAT, 2, &["x", "y"])];
    assert_eq!(counts(&merged(&parts)), (4, 2, 2, 0, 0), "the sum of its files");
}

#[test]
fn two_files_that_word_their_names_differently_tell_of_one_run() {
    let json = tests(&jest_json::FORMAT, &[("/app/a.test.js::Cart::adds", Passed), ("/app/a.test.js::top", Failed)]);
    let junit = tests(&junit::FORMAT, &[("a.test.js::Cart > adds", Passed), ("a.test.js::top", Failed)]);
    let measurement = merged(&[json.clone(), junit]);
    assert_eq!((counts(&measurement), measurement.same_run_as.iter().flatten().count()), ((2, 1, 1, 0, 0), 1));
    assert_eq!(measurement.warnings, [""; 0]);
    let other = tests(&junit::FORMAT, &[("a.test.js::Cart > adds", Passed), ("a.test.js::bottom", Failed)]);
    assert_eq!(counts(&merged(&[json, other])).0, 4);
}

#[test]
fn sums_that_do_not_fit_are_absent_and_told() {
    let many = |id: &str| {
        let mut report = tests(&go_test_json::FORMAT, &[(id, Passed)]);
        (report.figures.passed, report.figures.tests) = (Some(u64::MAX), Some(u64::MAX));
        report
    };
    let measurement = merged(&[many("a::TestX"), many("b::TestY")]);
    assert_eq!(measurement.testing, None);
    assert_eq!(measurement.warnings.len(), 1);
}

fn lines(format: &'static Format, files: &[(&str, &[(u64, bool)])]) -> Parsed {
    let files: BTreeMap<String, FileLines> =
        files.iter().map(|(path, lines)| ((*path).to_owned(), FileLines::new(lines.iter().copied()))).collect();
    let sum = |of: fn(&FileLines) -> u64| Some(files.values().map(of).sum());
    let figures =
        Figures { lines_covered: sum(FileLines::covered), lines_total: sum(FileLines::total), ..Figures::default() };
    let file = |lines| FileCoverage { lines, ..FileCoverage::default() };
    let files = files.into_iter().map(|(path, lines)| (path, file(lines))).collect();
    Parsed::new(format, figures, Details::Coverage(CoverageDetails { files }))
}

fn covered(measurement: &Measurement) -> (u64, u64) {
    let coverage = measurement.coverage.as_ref().unwrap();
    (coverage.lines_covered.unwrap(), coverage.lines_total.unwrap())
}

#[test]
fn lines_of_one_file_unite_and_different_files_add() {
    let unit = lines(&lcov::FORMAT, &[("src/a.rs", &[(1, true), (2, false), (3, false)])]);
    let end_to_end =
        lines(&lcov::FORMAT, &[("src/a.rs", &[(1, false), (2, true), (3, false)]), ("src/b.rs", &[(1, true)])]);
    let measurement = merged(&[unit.clone(), end_to_end]);
    assert_eq!(covered(&measurement), (3, 4));
    assert_eq!(measurement.coverage.as_ref().unwrap().percentage.to_string(), "75.00");
    assert_eq!(measurement.same_run_as, [None, None]);
    let copy = merged(&[unit.clone(), unit]);
    assert_eq!((covered(&copy), copy.same_run_as.iter().flatten().count()), ((1, 3), 1));
}

#[test]
fn a_table_on_the_console_counts_where_no_file_tells_the_coverage() {
    let table = |covered, total| {
        let figures = Figures { lines_covered: Some(covered), lines_total: Some(total), ..Figures::default() };
        on_console(Parsed::new(&coveragepy_text::FORMAT, figures, Details::Coverage(CoverageDetails::default())))
    };
    let file = lines(&lcov::FORMAT, &[("a.py", &[(1, true), (2, false)])]);
    assert_eq!(covered(&merged(&[table(3, 4)])), (3, 4));
    let same = merged(&[table(1, 2), file.clone()]);
    assert_eq!((covered(&same), same.same_run_as, same.warnings), ((1, 2), vec![Some(1), None], vec![]));
    let other = merged(&[table(3, 4), file]);
    assert_eq!((covered(&other), other.warnings.len()), ((1, 2), 1));
}

#[test]
fn one_run_in_lcov_and_cobertura_counts_once() {
    let file: &[(u64, bool)] = &[(1, true), (2, false), (5, true)];
    let absolute = lines(&lcov::FORMAT, &[("/home/dev/p/src/a.py", file), ("/home/dev/p/src/b.py", &[(1, true)])]);
    let relative = lines(&cobertura::FORMAT, &[("src/a.py", file), ("src/b.py", &[(1, true)])]);
    let measurement = merged(&[absolute.clone(), relative]);
    assert_eq!(covered(&measurement), (3, 4));
    assert_eq!(measurement.same_run_as.iter().flatten().count(), 1);
    assert!(measurement.warnings.is_empty());
    let elsewhere = lines(&cobertura::FORMAT, &[("x/one.py", file), ("x/two.py", &[(1, true)])]);
    let measurement = merged(&[absolute, elsewhere]);
    assert_eq!(covered(&measurement), (3, 4), "equal totals, no path in common");
    assert_eq!(measurement.warnings.len(), 1);
}

#[test]
fn a_summary_of_what_another_report_lists_counts_once() {
    let listed = lines(&lcov::FORMAT, &[("src/a.js", &[(1, true), (2, false), (5, true)])]);
    let summary = |covered| {
        let (lines_covered, lines_total) = (Some(covered), Some(3));
        let figures = Figures { lines_covered, lines_total, ..Figures::default() };
        Parsed::new(&istanbul_summary::FORMAT, figures, Details::Coverage(CoverageDetails::default()))
    };
    for order in [[listed.clone(), summary(2)], [summary(2), listed.clone()]] {
        let measurement = merged(&order);
        assert_eq!(covered(&measurement), (2, 3));
        assert_eq!(measurement.same_run_as.iter().flatten().count(), 1);
    }
    assert_eq!(covered(&merged(&[listed, summary(1)])), (3, 6), "another run, for all that can be told");
    let statements = Figures { statements_covered: Some(2), statements_total: Some(3), ..Figures::default() };
    let points = Parsed::new(&opencover::FORMAT, statements, Details::Coverage(CoverageDetails::default()));
    assert_eq!(covered(&merged(&[points, summary(2)])), (2, 3));
}

#[test]
fn a_percentage_without_counts_stands_only_alone() {
    let given = |percent| {
        let figures = Figures { percent_covered: Percent::new(percent), ..Figures::default() };
        Parsed::new(&go_cover_func::FORMAT, figures, Details::Coverage(CoverageDetails::default()))
    };
    let listed = lines(&lcov::FORMAT, &[("src/a.js", &[(1, true), (2, false)])]);
    let alone = merged(&[given(36.4), given(36.4)]).coverage.unwrap();
    assert_eq!((alone.percentage.get(), alone.lines_covered, alone.lines_total), (36.4, None, None));
    assert_eq!(covered(&merged(&[given(36.4), listed])), (1, 2), "counts come first");
    let different = merged(&[given(36.4), given(50.0)]);
    assert_eq!((different.coverage, different.warnings.len()), (None, 1));
}

#[test]
fn files_of_one_name_in_two_packages_stay_two() {
    let a = lines(&lcov::FORMAT, &[("src/index.js", &[(1, true), (2, true)])]);
    let b = lines(&lcov::FORMAT, &[("src/index.js", &[(10, false), (11, false), (12, true)])]);
    assert_eq!(covered(&merged(&[a, b])), (3, 5));
    let two = lines(&lcov::FORMAT, &[("a/x.js", &[(1, true)]), ("b/x.js", &[(1, false)])]);
    let one = lines(&cobertura::FORMAT, &[("x.js", &[(1, true)])]);
    assert_eq!(covered(&merged(&[two, one])).1, 3, "which of the two it is cannot be told");
}

#[test]
fn nothing_of_nothing_is_no_percentage() {
    let measurement = merged(&[lines(&lcov::FORMAT, &[("a.c", &[])])]);
    assert_eq!(measurement.coverage, None);
}

fn findings(format: &'static Format, tool: &str, sort: Sort, found: &[(Level, &str, u64, &str)]) -> Parsed {
    let mut counts = ToolCounts { errors: 0, warnings: 0, notes: 0, sort };
    let mut kept = Vec::new();
    for (level, path, line, message) in found {
        match level {
            Level::Error => counts.errors += 1,
            Level::Warning => counts.warnings += 1,
            Level::Note => counts.notes += 1,
        }
        let (path, line) = (Some((*path).to_owned()), Some(*line));
        kept.push(Finding { tool: tool.into(), rule: None, level: *level, path, line, message: (*message).to_owned() });
    }
    let by_tool = BTreeMap::from([(tool.to_owned(), counts)]);
    Parsed::new(format, Figures::default(), Details::Lint(LintDetails { findings: kept, dropped: 0, by_tool }))
}

#[test]
fn findings_add_by_sort_of_tool() {
    let eslint = findings(
        &sarif::FORMAT,
        "eslint",
        Sort::Linter,
        &[(Level::Error, "a.js", 1, "x"), (Level::Warning, "a.js", 2, "y")],
    );
    let mypy = findings(&sarif::FORMAT, "mypy", Sort::TypeChecker, &[(Level::Error, "a.py", 1, "x")]);
    let rustc = findings(
        &rustc_text::FORMAT,
        "rustc",
        Sort::Compiler,
        &[(Level::Error, "a.rs", 1, "x"), (Level::Error, "a.rs", 1, "x")],
    );
    let quality = merged(&[eslint, mypy, rustc]).quality.unwrap();
    assert_eq!((quality.lint_errors, quality.type_errors, quality.build_errors), (Some(1), Some(1), Some(2)));
    assert_eq!(
        (quality.lint_warnings, quality.error_count, quality.build_status),
        (Some(1), Some(4), Some(BuildStatus::Failed))
    );
    let by_tool: Vec<_> = quality.errors_by_tool.iter().map(|(tool, errors)| (tool.as_str(), *errors)).collect();
    assert_eq!(by_tool, [("eslint", 1), ("mypy", 1), ("rustc", 2)]);
}

#[test]
fn findings_that_two_reports_tell_count_once() {
    let found = [(Level::Error, "src/a.rs", 1, "x"), (Level::Warning, "src/a.rs", 2, "y")];
    let json = findings(&rustc_json::FORMAT, "rustc", Sort::Compiler, &found);
    let absolute = [(Level::Error, "/p/src/a.rs", 1, "x"), (Level::Warning, "/p/src/a.rs", 2, "y | more of it")];
    let text = on_console(findings(&rustc_text::FORMAT, "rustc", Sort::Compiler, &absolute));
    let measurement = merged(&[text, json.clone()]);
    assert_eq!(measurement.same_run_as, [Some(1), None]);
    let quality = measurement.quality.unwrap();
    assert_eq!((quality.build_errors, quality.lint_warnings), (Some(1), Some(1)));
    let more = findings(&rustc_text::FORMAT, "rustc", Sort::Compiler, &[found[0], (Level::Error, "src/b.rs", 9, "z")]);
    let measurement = merged(&[more, json]);
    assert_eq!(measurement.quality.unwrap().build_errors, Some(2), "what only one tells is added");
    assert_eq!(measurement.same_run_as, [None, None]);
}

#[test]
fn a_finding_in_two_packages_is_two_where_both_paths_are_whole() {
    let in_file = |path: &str| findings(&sarif::FORMAT, "eslint", Sort::Linter, &[(Level::Error, path, 1, "unused")]);
    let errors = |reports: &[Parsed]| merged(reports).quality.unwrap().error_count;
    let (a, b) = (|| in_file("/w/packages/a/src/index.ts"), || in_file("/w/packages/b/src/index.ts"));
    let anywhere = || in_file("src/index.ts");
    assert_eq!(errors(&[a(), b()]), Some(2));
    assert_eq!(errors(&[a(), a()]), Some(1));
    assert_eq!(errors(&[in_file("C:\\w\\a\\i.ts"), in_file("C:\\w\\b\\a\\i.ts")]), Some(2));
    for reports in [[a(), b(), anywhere()], [anywhere(), a(), b()], [a(), anywhere(), b()]] {
        assert_eq!(errors(&reports), Some(2), "what is told without its package is one of them");
    }
    assert_eq!(errors(&[anywhere(), a()]), Some(1));
}

#[test]
fn a_finding_that_two_packages_tell_by_one_path_is_two() {
    let of = |package: Option<&str>, path: &str, number: usize| {
        let found = vec![(Level::Error, path, 1, "unused"); number];
        let package = package.map(|name| Package { name: name.to_owned(), is_first: true });
        Parsed { package, ..findings(&sarif::FORMAT, "biome", Sort::Linter, &found) }
    };
    let errors = |reports: &[Parsed]| merged(reports).quality.unwrap().error_count.unwrap();
    let [a, b] = ["a", "b"].map(|name| of(Some(name), "src/index.ts", 1));
    assert_eq!(errors(&[a.clone(), b.clone()]), 2);
    assert_eq!(errors(&[a.clone(), b.clone(), a.clone(), of(Some("b"), "src/index.ts", 3)]), 4);
    let top = of(Some("."), "a/src/index.ts", 1);
    assert_eq!(errors(&[a.clone(), top.clone()]), 1, "told from the folder above it is the same");
    assert_eq!(errors(&[a.clone(), b.clone(), top]), 2);
    for path in ["src/index.ts", "/w/packages/a/src/index.ts"] {
        let other = of(None, path, 1);
        assert_eq!(errors(&[a.clone(), other.clone()]), 1, "{path}");
        assert_eq!(errors(&[other, b.clone(), a.clone()]), 2, "{path}");
    }
    let whole = ["a", "b"].map(|name| of(Some(name), &format!("/w/{name}/src/index.ts"), 1));
    assert_eq!(errors(&[&whole[..], &[a, b]].concat()), 2);
}

#[test]
fn a_run_of_another_package_is_none_that_was_told() {
    let of = |package: &str, is_first, format| {
        let package = Some(Package { name: package.to_owned(), is_first });
        Parsed { package, ..on_console(tests(format, &[("a.test.js::adds", Passed), ("a.test.js::fails", Failed)])) }
    };
    let two = [of("a", true, &jest_text::FORMAT), of("b", false, &vitest_text::FORMAT)];
    let measurement = merged(&two);
    assert_eq!(counts(&measurement), (4, 2, 2, 0, 0));
    assert_eq!(measurement.failing, ["a.test.js::fails", "b: a.test.js::fails"]);
    assert_eq!(measurement.cases.unwrap().cases.len(), 4);
    let one = [of("a", true, &jest_text::FORMAT), of("a", true, &vitest_text::FORMAT)];
    assert_eq!(counts(&merged(&one)), (2, 1, 1, 0, 0));
    // A file tells of one of them.
    let file = tests(&junit::FORMAT, &[("a.test.js::adds", Passed), ("a.test.js::fails", Failed)]);
    assert_eq!(counts(&merged(&[of("a", true, &jest_text::FORMAT), of("b", false, &jest_text::FORMAT), file])).0, 4);
}

#[test]
fn a_finding_in_other_words_is_no_other_finding() {
    let found = |format: &'static Format, rule: Option<&str>, messages: &[&str]| {
        let all: Vec<_> = messages.iter().map(|message| (Level::Error, "src/a.js", 1, *message)).collect();
        let mut report = findings(format, "x", Sort::Linter, &all);
        let Details::Lint(lint) = &mut report.details else { panic!("lint") };
        lint.findings.iter_mut().for_each(|finding| finding.rule = rule.map(str::to_owned));
        report
    };
    let errors =
        |a: &Parsed, b: &Parsed| merged(&[a.clone(), on_console(b.clone())]).quality.unwrap().lint_errors.unwrap();
    let plain = found(&ruff_text::FORMAT, None, &["It is unused"]);
    for (rule, message, expected) in [
        (None, "It is unused.", 1),
        (Some("no-x"), "It is unused (no-x)", 1),
        (None, "It is unused. (no-x)", 1),
        (Some("no-x"), "It is unused (no-y)", 2),
        (None, "It is unused (in all)", 2),
    ] {
        assert_eq!(errors(&found(&sarif::FORMAT, rule, &[message]), &plain), expected, "{message}");
    }
    let named = |format, messages: &[&str]| found(format, Some("no-x"), messages);
    let text = named(&ruff_text::FORMAT, &["a is unused", "b is unused"]);
    assert_eq!(errors(&named(&sarif::FORMAT, &["`a` is unused", "`b` is unused"]), &text), 2);
    assert_eq!(errors(&named(&sarif::FORMAT, &["`a` is unused"]), &text), 2);
    assert_eq!(errors(&named(&ruff_text::FORMAT, &["`a` is unused", "c"]), &text), 4, "in one format they are others");
}

#[test]
fn a_file_at_the_top_is_one_whether_its_folder_is_told_or_not() {
    let ruff = |format: &'static Format, paths: &[&str]| {
        let found: Vec<_> = paths.iter().map(|path| (Level::Error, *path, 1, "x")).collect();
        findings(format, "ruff", Sort::Linter, &found)
    };
    let relative = ["a.py", "b.py", "pkg/a.py"];
    let absolute = ["/app/a.py", "/app/b.py", "/app/pkg/a.py"];
    for (file, console) in [(relative, absolute), (absolute, relative)] {
        let both = merged(&[ruff(&sarif::FORMAT, &file), on_console(ruff(&ruff_text::FORMAT, &console))]);
        assert_eq!((both.quality.unwrap().lint_errors, both.same_run_as), (Some(3), vec![None, Some(0)]));
    }
    let other =
        merged(&[ruff(&sarif::FORMAT, &["/app/x/a.py", "c.py"]), ruff(&ruff_text::FORMAT, &["y/a.py", "d.py"])]);
    assert_eq!(other.quality.unwrap().lint_errors, Some(4));
}

#[test]
fn an_empty_report_of_a_tool_is_a_measurement_and_no_report_is_none() {
    let clean = merged(&[findings(&sarif::FORMAT, "eslint", Sort::Linter, &[])]).quality.unwrap();
    assert_eq!((clean.lint_errors, clean.lint_warnings, clean.error_count), (Some(0), Some(0), Some(0)));
    assert_eq!((clean.type_errors, clean.build_errors, clean.build_status), (None, None, None));
}

#[test]
fn results_of_a_compiled_language_say_that_it_built() {
    let mut go = tests(&go_test_json::FORMAT, &[("p::TestX", Passed)]);
    let Details::Tests(details) = &mut go.details else { panic!("tests") };
    details.compiled = true;
    let quality = merged(&[go.clone()]).quality.unwrap();
    assert_eq!(
        (quality.build_status, quality.error_count, quality.lint_warnings),
        (Some(BuildStatus::Success), None, None)
    );
    let broken = findings(&rustc_text::FORMAT, "rustc", Sort::Compiler, &[(Level::Error, "a.rs", 1, "x")]);
    assert_eq!(merged(&[go, broken]).quality.unwrap().build_status, Some(BuildStatus::Failed), "one failure is enough");
}

#[test]
fn real_outputs_of_one_run_count_once() {
    let text = "\
============================= test session starts ==============================
collected 2 items

tests/test_a.py .F                                                       [100%]

=================================== FAILURES ===================================
____________________________________ test_y ____________________________________

    def test_y():
>       assert 0
E       assert 0

tests/test_a.py:4: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_y - assert 0
========================= 1 failed, 1 passed in 0.04s ==========================
";
    let xml = r#"<testsuites><testsuite name="pytest" errors="0" failures="1" skipped="0" tests="2" time="0.04">
<testcase classname="tests.test_a" name="test_x" time="0.001"/>
<testcase classname="tests.test_a" name="test_y" time="0.001"><failure message="assert 0">no</failure></testcase>
</testsuite></testsuites>"#;
    let mut reports = console(&Input::bytes("(console)", text.as_bytes()));
    reports.push(highwater::ingest::parse(&Input::bytes("junit.xml", xml.as_bytes()), None).unwrap());
    let measurement = merged(&reports);
    assert_eq!(counts(&measurement), (2, 1, 1, 0, 0));
    assert_eq!(measurement.same_run_as, [Some(1), None]);
    assert_eq!(measurement.cases.unwrap().outcome("tests.test_a::test_y"), Some(Failed));
}

/// Reports that overlap in all the ways above.
fn pool() -> Vec<Parsed> {
    let found = [(Level::Error, "src/a.rs", 1, "x"), (Level::Warning, "src/a.rs", 2, "y")];
    vec![
        tests(&junit::FORMAT, &[("tests.test_a::test_x", Passed), ("tests.test_a::test_y", Failed)]),
        tests(&junit::FORMAT, &[("tests.test_a::test_x", Passed)]),
        tests(&junit::FORMAT, &[("tests.test_b::test_z", Skipped)]),
        on_console(counted(&pytest_text::FORMAT, 1, &["tests/test_a.py::test_y"])),
        on_console(counted(&pytest_text::FORMAT, 2, &[])),
        counted(&pytest_text::FORMAT, 2, &[]),
        tests(&pytest_text::FORMAT, &[("tests/test_a.py::test_x", Passed), ("tests/test_c.py::test_w", Errored)]),
        tests(&go_test_json::FORMAT, &[("p::TestX", Passed)]),
        on_console(tests(&cargo_test_text::FORMAT, &[("it::roundtrip", Failed)])),
        lines(&lcov::FORMAT, &[("/p/src/a.py", &[(1, true), (2, false)]), ("/p/b.py", &[(1, true)])]),
        lines(&cobertura::FORMAT, &[("src/a.py", &[(1, false), (2, true)])]),
        lines(&cobertura::FORMAT, &[("c.py", &[(1, true), (2, false)]), ("d.py", &[(1, true)])]),
        lines(&lcov::FORMAT, &[("src/a.py", &[(10, true), (11, false), (12, false)])]),
        findings(&rustc_json::FORMAT, "rustc", Sort::Compiler, &found),
        on_console(findings(&rustc_text::FORMAT, "rustc", Sort::Compiler, &found[..1])),
        findings(&sarif::FORMAT, "clippy", Sort::Linter, &found),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    #[test]
    fn the_order_of_reports_does_not_matter(picks in proptest::collection::vec(0..16usize, 0..7)) {
        let pool = pool();
        let reports: Vec<Parsed> = picks.iter().map(|pick| pool[*pick].clone()).collect();
        let measurement = merged(&reports);
        for (index, same) in measurement.same_run_as.iter().enumerate() {
            proptest::prop_assert!(same.is_none_or(|by| by != index && by < reports.len()));
        }
        // What is told twice changes nothing; on the console it may be a second run.
        if let Some(file) = reports.iter().find(|report| !report.sniffed_by.starts_with("console")) {
            let again = merge(&[reports.clone(), vec![file.clone()]].concat());
            proptest::prop_assert_eq!(again.testing, measurement.testing);
            proptest::prop_assert_eq!(again.coverage, measurement.coverage);
            proptest::prop_assert_eq!(again.quality, measurement.quality);
        }
    }
}

#[test]
fn what_a_file_tells_of_metrics_and_sizes_goes_before_what_a_command_prints() {
    let metrics = |told: &[(&str, f64)]| {
        let figure = |value| MetricFigure { value: Some(value), ..MetricFigure::default() };
        let metrics = told.iter().map(|(name, value)| ((*name).to_owned(), figure(*value))).collect();
        Parsed::new(&criterion::FORMAT, Figures { metrics, ..Figures::default() }, Details::Metrics)
    };
    let file = metrics(&[("a", 1.25), ("b", 2.0)]);
    let both = merged(&[file.clone(), on_console(metrics(&[("a", 1.3), ("c", 3.0)]))]);
    let told: Vec<_> = both.metrics.iter().map(|(name, told)| (name.as_str(), told.figure.value)).collect();
    assert_eq!(told, [("a", Some(1.25)), ("b", Some(2.0)), ("c", Some(3.0))]);
    assert_eq!((both.same_run_as, both.warnings), (vec![None, None], Vec::<String>::new()));
    let again = merge(&[on_console(metrics(&[("b", 2.1)])), metrics(&[("c", 3.0)]), file.clone()]);
    assert_eq!(again.same_run_as, [Some(2), None, None]);
    let named = metrics(&[("bench.tests/a.py::test_b.time", 1.0)]);
    let printed = ["bench.test_b.time", "bench.b.time"].map(|name| on_console(metrics(&[(name, 2.0)])));
    let told: Vec<_> = merged(&[vec![named], printed.to_vec()].concat()).metrics.into_keys().collect();
    assert_eq!(told, ["bench.b.time", "bench.tests/a.py::test_b.time"]);
    let runner = |told: &[(&str, f64)]| {
        let one_test = counted(&jest_json::FORMAT, 1, &[]);
        Parsed { figures: Figures { metrics: metrics(told).figures.metrics, ..one_test.figures }, ..one_test }
    };
    let beside_tests = merge(&[runner(&[("a", 1.25), ("d", 1.0)]), on_console(runner(&[("a", 1.3)])), file.clone()]);
    let told: Vec<_> = beside_tests.metrics.iter().map(|(name, told)| (name.as_str(), told.figure.value)).collect();
    assert_eq!(told, [("a", Some(1.25)), ("b", Some(2.0)), ("d", Some(1.0))]);
    assert_eq!(beside_tests.testing.unwrap().test_count, Some(1));
    let files = merged(&[file, metrics(&[("a", 1.3)])]);
    assert_eq!((files.metrics["a"].figure.value, files.warnings.len()), (None, 1));

    let sizes = |functions: u64, ccn_total: u64| {
        let figures = Figures { functions: Some(functions), ccn_total: Some(ccn_total.into()), ..Figures::default() };
        Parsed::new(&lizard_text::FORMAT, figures, Details::Size(SizeDetails::default()))
    };
    assert_eq!(merged(&[sizes(2, 6), on_console(sizes(4, 4))]).complexity_score, Some(3.0));
    assert_eq!(merged(&[on_console(sizes(4, 4))]).complexity_score, Some(1.0));
}
