use super::*;
use crate::ingest::{Details, TestDetails};

/// tests, passed, failed, errored, skipped, flaky.
fn read(text: &str) -> ([u64; 6], TestDetails) {
    let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
    let figures = parsed.figures;
    let counts = [figures.tests, figures.passed, figures.failed, figures.errored, figures.skipped];
    let Details::Tests(details) = parsed.details else { panic!("tests") };
    let [tests, passed, failed, errored, skipped] = counts.map(Option::unwrap);
    ([tests, passed, failed, errored, skipped, figures.flaky.unwrap_or(0)], details)
}

fn outcome(attributes: &str, children: &str) -> [u64; 6] {
    read(&format!("<testsuite><testcase name='a' {attributes}>{children}</testcase></testsuite>")).0
}

#[test]
fn the_worst_result_of_a_test_counts_once() {
    const PASSED: [u64; 6] = [1, 1, 0, 0, 0, 0];
    const FAILED: [u64; 6] = [1, 0, 1, 0, 0, 0];
    const ERRORED: [u64; 6] = [1, 0, 0, 1, 0, 0];
    const SKIPPED: [u64; 6] = [1, 0, 0, 0, 1, 0];
    for (attributes, children, expected) in [
        ("", "", PASSED),
        ("status='run' result='completed'", "<system-out><error/></system-out>", PASSED),
        ("", "<failure/><skipped/>", FAILED),
        ("", "<rerunFailure/>", FAILED),
        ("", "<skipped/><failure/><error/>", ERRORED),
        ("", "<rerunError/><failure/>", ERRORED),
        ("", "<x:skipped xmlns:x='y'/>", SKIPPED),
        ("", "<disabled/>", SKIPPED),
        ("", "<ignored/>", SKIPPED),
        ("status='notrun'", "", SKIPPED),
        ("result='Suppressed'", "", SKIPPED),
        ("status='skipped'", "<failure/>", FAILED),
        ("", "<skipped type='todo'/><failure/>", SKIPPED),
        ("", "<flakyFailure/>", [1, 1, 0, 0, 0, 1]),
        ("", "<flakyError/><flakyFailure/>", [1, 1, 0, 0, 0, 1]),
        ("", "<flakyFailure/><failure/>", FAILED),
    ] {
        assert_eq!(outcome(attributes, children), expected, "{attributes} {children}");
    }
}

/// As Node's test runner writes it.
#[test]
fn totals_that_are_not_those_of_all_tests_are_not_compared() {
    let warnings = |text: &str| parse(&Input::bytes("x", text.as_bytes())).unwrap().warnings.len();
    let case = "<testcase name='a' classname='test'/>";
    let nested = format!(
        "<testsuite name='o' tests='2'><testsuite name='i' tests='2'>{case}{case}</testsuite>{case}</testsuite>"
    );
    for (text, expected) in [
        (format!("<testsuites>{case}<testsuite name='o' tests='1'>{case}</testsuite></testsuites>"), 0),
        (format!("<testsuites>{nested}</testsuites>"), 0),
        (format!("<testsuites>{}</testsuites>", nested.replace("'o' tests='2'", "'o' tests='4'")), 1),
        (format!("<testsuites tests='2'>{case}</testsuites>"), 1),
        (
            "<testsuites><testsuite tests='2'><testsuite tests='1'><testcase/></testsuite></testsuite></testsuites>"
                .into(),
            1,
        ),
    ] {
        // A name that comes twice is told of, too.
        let text = text
            .match_indices("name='a'")
            .enumerate()
            .fold(text.clone(), |text, (at, _)| text.replacen("name='a'", &format!("name='t{at}'"), 1));
        assert_eq!(warnings(&text), expected, "{text}");
    }
}

#[test]
fn any_root_any_depth_any_namespace() {
    for text in [
        "<testcase/>",
        "<j:testsuite xmlns:j='x'><j:testcase/></j:testsuite>",
        "<testsuites><testsuites><testsuite><testsuite><testcase/></testsuite></testsuite></testsuites></testsuites>",
        "<testsuites><odd><testcase/></odd></testsuites>",
    ] {
        assert_eq!(read(text).0[..2], [1, 1], "{text}");
    }
}

#[test]
fn a_suite_s_own_fault_is_one_errored_test() {
    let (counts, details) =
        read("<testsuites><testsuite name='A'><testsuite name='B'><error/></testsuite></testsuite></testsuites>");
    assert_eq!((counts[0], counts[3], details.unit_failures), (1, 1, 1));
    assert_eq!(details.failed_units, ["A::B"]);
    assert_eq!(read("<testsuite><system-err><failure/></system-err></testsuite>").0[0], 0);
}

#[test]
fn what_pytest_could_not_collect_is_a_failed_unit() {
    let (counts, details) = read(
        "<testsuite name='pytest' tests='1'><testcase classname='' name='broken.test_a'><error message='collection failure'>x</error></testcase></testsuite>",
    );
    assert_eq!((counts, details.unit_failures), ([1, 0, 0, 1, 0, 0], 1));
    assert_eq!((details.failed_units[0].as_str(), details.cases.cases.len()), ("broken.test_a", 0));
}

#[test]
fn a_suite_that_says_that_it_failed_without_a_test_is_one_errored() {
    let suite = |inside: &str| format!("<testsuite name='g' tests='0' errors='1'>{inside}</testsuite>");
    let (counts, details) = read(&suite(""));
    assert_eq!((counts, details.failed_units), ([1, 0, 0, 1, 0, 0], vec!["g".to_owned()]));
    assert_eq!(read(&suite("<error/>")).0, [1, 0, 0, 1, 0, 0]);
    assert_eq!(read(&suite("<testcase name='a'/>")).0, [1, 1, 0, 0, 0, 0]);
    assert_eq!(read("<testsuites tests='0' errors='1'></testsuites>").0, [1, 0, 0, 1, 0, 0]);
    assert_eq!(read(&format!("<testsuites tests='0' errors='1'>{}</testsuites>", suite(""))).0, [1, 0, 0, 1, 0, 0]);
    assert_eq!(read(&format!("<testsuites>{}</testsuites>", suite(&suite("")))).0, [1, 0, 0, 1, 0, 0]);
}

#[test]
fn a_test_that_pytest_has_not_named_was_cut_short() {
    let suite = |name: &str| {
        format!("<testsuite name='{name}'><testcase classname='c' name='n'/><testcase time='0.000'/></testsuite>")
    };
    assert_eq!(read(&suite("pytest")).0, [2, 1, 0, 1, 0, 0]);
    assert_eq!(read(&suite("other")).0, [2, 2, 0, 0, 0, 0]);
}

#[test]
fn repeats_are_reruns_only_where_pytest_s_own_count_says_so() {
    let suite = |name: &str, tests: u64| {
        let a = "<testcase classname='m' name='a'";
        format!(
            "<testsuite name='{name}' tests='{tests}'>{a}><failure/></testcase>{a}/><testcase classname='m' name='b'/></testsuite>"
        )
    };
    let (counts, details) = read(&suite("pytest", 2));
    assert_eq!((counts, details.duplicates), ([2, 2, 0, 0, 0, 1], 0));
    assert_eq!((details.cases.cases["m::a"].outcome, details.cases.cases["m::a"].attempts), (Outcome::Passed, 2));
    // What failed while it was torn down counts in more than one of pytest's numbers.
    let torn = "<testcase classname='m' name='t'/><testcase classname='m' name='t'><error/></testcase></testsuite>";
    let (counts, _) = read(&suite("pytest", 4).replace("</testsuite>", torn));
    assert_eq!(counts, [3, 2, 0, 1, 0, 1]);
    for other in [suite("pytest", 3), suite("jest", 2)] {
        let (counts, details) = read(&other);
        assert_eq!((counts, details.duplicates), ([3, 2, 1, 0, 0, 0], 1), "{other}");
        assert_eq!(details.cases.outcome("m::a"), Some(Outcome::Failed));
    }
}

#[test]
fn a_test_that_failed_again_in_its_teardown_is_one_test() {
    let text = |message: &str| {
        format!(
            "<testsuite name='pytest' errors='1' failures='1' tests='2'><testcase classname='m' name='t'><failure/>\
             </testcase><testcase classname='m' name='t'><error message='{message}'/></testcase></testsuite>"
        )
    };
    let (counts, details) = read(&text("failed on teardown with &quot;OSError: no&quot;"));
    assert_eq!((counts, details.duplicates, details.extra), ([2, 0, 1, 1, 0, 0], 0, Extra { passed: 0, failed: 1 }));
    assert_eq!(details.cases.outcome("m::t"), Some(Outcome::Errored));
    let (_, details) = read(&text("failed on setup with &quot;OSError: no&quot;"));
    assert_eq!((details.duplicates, details.extra), (1, Extra::default()));
}

#[test]
fn v26_only_the_last_attempt_of_pytest_s_reruns_counts() {
    let case = |name: &str, outcome: &str| format!("<testcase classname='t' name='{name}'>{outcome}</testcase>");
    let mut elements = vec![case("flaky", ""); 3];
    elements.extend(vec![case("bad", ""); 3]);
    elements.push(case("bad", "<failure message='no'/>"));
    elements.push(case("xfail", "<skipped type='pytest.xfail'/>"));
    elements.push(case("xpass", ""));
    elements.push(case("skip", "<skipped/>"));
    let text = format!("<testsuites><testsuite name='pytest' tests='5'>{}</testsuite></testsuites>", elements.concat());
    let (counts, details) = read(&text);
    assert_eq!((counts, details.duplicates), ([5, 2, 1, 0, 2, 1], 0));
    let attempts = |id: &str| (details.cases.cases[id].outcome, details.cases.cases[id].attempts);
    assert_eq!(attempts("t::flaky"), (Outcome::Passed, 3));
    assert_eq!(attempts("t::bad"), (Outcome::Failed, 4));
}

#[test]
fn ids_are_class_and_name_and_suites_where_there_is_no_class() {
    for (case, id) in [
        ("classname='c' name='n'", "c::n"),
        ("class='c' name='n'", "c::n"),
        ("classname=' a b' name='a b'", "a b"),
        ("name='n'", "S::T::n"),
        ("classname='test' name='n'", "S::T::n"),
        ("classname='c'", "c"),
    ] {
        let (_, details) =
            read(&format!("<testsuite name='S'><testsuite name='T'><testcase {case}/></testsuite></testsuite>"));
        assert_eq!(details.cases.cases.keys().collect::<Vec<_>>(), [id], "{case}");
    }
    assert_eq!(read("<testcase/>").1.cases.cases.keys().collect::<Vec<_>>(), ["(unnamed)"]);
}

/// As libtest writes it.
#[test]
fn what_a_failure_does_not_tell_may_stand_in_the_output() {
    let (_, details) = read(
        "<testsuite><testcase name='a'><failure type='assert'/><system-out><![CDATA[some output]]>&#xA;\
         <![CDATA[thread 'tests::a' (16587) panicked at src/lib.rs:77:9:]]>&#xA;\
         <![CDATA[assertion failed: &lt;]]>&#xA;<![CDATA[stack backtrace:]]></system-out></testcase>\
         <testcase name='n'><failure message=\"thread 'n' (7) panicked at src/lib.rs:7:9\">thread 'n' (7) panicked at \
         src/lib.rs:7:9:\nno luck\nstack backtrace:</failure></testcase>\
         <testcase name='b'><failure/><system-out><![CDATA[Error: \"typed\"]]>&#xA;</system-out></testcase>\
         <testcase name='c'><failure/><system-out>I wait...pending</system-out></testcase>\
         <testcase name='d'><failure>no</failure><system-out>Error: b</system-out></testcase>\
         <testcase name='e'><system-out>Error: b</system-out></testcase></testsuite>",
    );
    let of = |id: &str| {
        let case = &details.cases.cases[id];
        (case.message.as_deref(), case.file.as_deref(), case.line)
    };
    assert_eq!(of("a"), (Some("assertion failed: &lt;"), Some("src/lib.rs"), Some(77)));
    assert_eq!(of("n"), (Some("no luck"), Some("src/lib.rs"), Some(7)));
    assert_eq!(of("b"), (Some("Error: \"typed\""), None, None));
    assert_eq!([of("c"), of("d"), of("e")], [None, Some("no"), None].map(|message| (message, None, None)));
}

/// As PHPUnit writes it.
#[test]
fn a_text_that_begins_with_the_test_s_name_tells_why_below_it() {
    let (_, details) = read(
        "<testsuite><testcase name='rows with data set #1' class='T'><failure type='E'>T::rows with data set #1 (2)\nFailed \
         asserting.\n\n/shop/T.php:7</failure></testcase><testcase name='a' class='T'><failure>T::a</failure></testcase></testsuite>",
    );
    let message = |id: &str| details.cases.cases[id].message.as_deref();
    assert_eq!(message("T::rows with data set #1"), Some("Failed asserting."));
    assert_eq!(message("T::a"), Some("T::a"));
}

/// As Minitest's reporters write it.
#[test]
fn what_a_message_begins_the_text_may_tell_whole() {
    let (_, details) = read(
        "<testsuite><testcase name='a'><failure message='Expected: 3...'>\nFailure:\na(T) [test/t.rb:7]:\nExpected: 3\n  \
         Actual: 2\n</failure></testcase><testcase name='b'><failure message='Loading...'>no</failure></testcase><testcase name='c'>\
         <error message='KeyError: no...'>\nFailure:\nc(T) [lib/c.rb:3]:\nKeyError: no\n    lib/c.rb:3:in `fetch'\n    test/t.rb:9:in `c'\n\
         </error></testcase></testsuite>",
    );
    let of = |id: &str| {
        let case = &details.cases.cases[id];
        (case.message.as_deref(), case.file.as_deref(), case.line)
    };
    assert_eq!(of("a"), (Some("Expected: 3 | Actual: 2"), Some("test/t.rb"), Some(7)));
    assert_eq!(of("b"), (Some("Loading..."), None, None));
    assert_eq!(of("c"), (Some("KeyError: no"), Some("test/t.rb"), Some(9)));
}

#[test]
fn a_test_has_place_duration_attempts_and_message() {
    let (_, details) = read(
        "<testsuite name='pytest' file='s.py'><testcase name='a' time='1.25' line='0'><rerunFailure message=''><stackTrace>no</stackTrace>one&#10;two</rerunFailure></testcase><testcase name='b' file='b.py' line='9'/></testsuite>",
    );
    let case = &details.cases.cases["pytest::a"];
    assert_eq!(
        (case.file.as_deref(), case.line, case.duration_ms, case.attempts),
        (Some("s.py"), Some(1), Some(1250), 2)
    );
    assert_eq!(case.message.as_deref(), Some("one | two"));
    let other = &details.cases.cases["pytest::b"];
    assert_eq!((other.file.as_deref(), other.line, other.attempts), (Some("b.py"), Some(10), 1));
    let (_, details) = read(
        "<testsuite><testcase classname='shop.CartTest' name='sum'><failure message='no'>expected 2\n\tat org.A.b(A.java:9)\n\
         \tat shop.CartTest.sum(CartTest.java:12)</failure></testcase></testsuite>",
    );
    let case = &details.cases.cases["shop.CartTest::sum"];
    assert_eq!(
        (case.message.as_deref(), case.file.as_deref(), case.line),
        (Some("no"), Some("CartTest.java"), Some(12))
    );
}
