//! What TAP documents come to.

use super::*;
use crate::ingest::console::console;
use crate::ingest::test::tests_support::{counts, details, sniffed};

fn read_text(text: &str) -> Result<Parsed> {
    parse(&Input::bytes("x", text.as_bytes()))
}

fn counted(text: &str) -> [u64; 5] {
    counts(&read_text(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

#[test]
fn a_point_with_a_subtest_counts_only_if_it_alone_failed() {
    let before = |inner: &str, outer: &str| counted(&format!("    {inner}\n    1..1\n{outer}\n1..1\n"));
    assert_eq!(before("ok 1 - a", "ok 1 - s"), [1, 1, 0, 0, 0]);
    assert_eq!(before("not ok 1 - a", "not ok 1 - s"), [1, 0, 1, 0, 0]);
    assert_eq!(before("ok 1 - a", "not ok 1 - s"), [2, 1, 0, 1, 0]);
    assert_eq!(before("not ok 1 - a # TODO", "not ok 1 - s # TODO"), [1, 0, 0, 0, 1]);
    assert_eq!(counted("1..1\nnot ok 1 - s {\n    1..1\n    ok 1 - a\n}\n"), [2, 1, 0, 1, 0]);
    assert_eq!(counted("1..2\nok 1 - s {\nok 2 - b\n"), [2, 2, 0, 0, 0], "nothing is between the braces");
    assert_eq!(counted("1..1\n    1..0 # SKIP\nok 1 - s # SKIP\n"), [1, 0, 0, 0, 1]);
    let deep = "1..1\n        ok 1 - x\n    ok 1 - y\n        not ok 1 - p\n    not ok 2 - q\nnot ok 1 - z\n";
    assert_eq!(
        counted(&deep.replace("1..1\n        ok", "1..1\n    # Subtest: y\n    ok 0 - w\n        ok")),
        [3, 2, 1, 0, 0]
    );
}

#[test]
fn a_brace_below_the_yaml_of_a_point_opens_its_subtest() {
    let inner = "    ok 1 - a\n    # Subtest: f\n        not ok 1 - b\n        1..1\n    not ok 2 - f\n    1..2\n";
    let file = |inner: &str| {
        format!("TAP version 13\nnot ok 1 - t.js # time=1ms\n  ---\n  exitCode: 1\n  ...\n{{\n{inner}}}\n\n1..1\n")
    };
    let parsed = read_text(&file(inner)).unwrap();
    assert_eq!(counts(&parsed), [2, 1, 1, 0, 0]);
    assert_eq!(details(&parsed).cases.cases.keys().collect::<Vec<_>>(), ["t.js::a", "t.js::f::b"]);
    assert_eq!(counted(&file("    ok 1 - a\n    1..1\n")), [2, 1, 0, 1, 0], "the file failed by itself");
    assert_eq!(counted("TAP version 13\nnot ok 1 - a\n1..1\n{\n"), [1, 0, 1, 0, 0]);
}

#[test]
fn p32_what_the_plan_promised_is_errored_and_no_plan_is_a_cut() {
    assert_eq!(counted("1..3\nok 1\n"), [3, 1, 0, 2, 0]);
    assert_eq!(counted("1..3\nok 1\nBail out! x\n"), [3, 1, 0, 2, 0]);
    assert_eq!(counted("ok 1\nBail out! x\n"), [2, 1, 0, 1, 0]);
    // Supertape shows what failed.
    let failed = "❌ not ok 2 a\n❌ not ok 7 b\n";
    assert_eq!(counted(&format!("{failed}1..7\n# tests 7\n# pass 5\n# ⚠️ skip 1\n\n# ❌ fail 2\n")), [7, 4, 2, 0, 1]);
    assert_eq!(counted("TAP version 13\n\n1..2\n# tests 2\n# pass 2\n\n# ✅ ok\n"), [2, 2, 0, 0, 0]);
    assert_eq!(counted(&format!("{failed}1..7\n# tests 7\n# pass 4\n# fail 2\n")), [7, 0, 2, 5, 0]);
    assert_eq!(counted("not ok 1 a\nok 2 b\n1..3\n# pass 2\n# fail 1\n"), [3, 1, 1, 1, 0]);
    // QUnit says so twice.
    let failed = "not ok 1 global failure\n  ---\n  message: \"Error: No tests were run.\"\n  ...\n";
    assert_eq!(counted(&format!("{failed}Bail out! Error: No tests were run.\n1..1\n")), [1, 0, 1, 0, 0]);
    assert_eq!(counted(&format!("{failed}Bail out! x\n1..1\n")), [2, 0, 1, 1, 0]);
    assert_eq!(counted("1..1\n    1..2\n    ok 1 - a\nnot ok 1 - s\n"), [2, 1, 0, 1, 0]);
    assert_eq!(counted("TAP version 13\n1..0 # SKIP nothing\n"), [0; 5]);
    // What nobody promised failed.
    assert_eq!(counted("1..1\nok 1\nok 2\nnot ok 3\n"), [3, 1, 2, 0, 0]);
    assert_eq!(counted("ok 1\nok 2\n1..1\n"), [3, 2, 0, 1, 0]);
    assert_eq!(counted("1..2\nok 1\nnot ok 2 teardown_file failed\nok 2\n"), [3, 2, 1, 0, 0], "bats counts on");
    let error = read_text("TAP version 13\nok 1\nok 2\n").unwrap_err();
    assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(3)));
    assert_eq!(read_text("hello\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    assert!(read_text("1..18446744073709551615\nok 1\nok 2\nBail out!\n").is_ok());
    assert!(read_text("1..18446744073709551615\n    1..2\nok 1\n").is_err(), "the sum is too large");
}

#[test]
fn the_open_plan_of_gotestsum_stands_for_a_number_but_is_warned_of() {
    let open = "TAP version 13\n1..N\nok 1 - p.TestA # time=0.010s\nnot ok 2 - p.TestB # time=0.020s\n# === RUN   TestB\n\
                ok 3 - p.TestC # SKIP # time=0.001s\n";
    let warned = |text: &str| read_text(text).unwrap().warnings.iter().any(|warning| warning.contains("1..N"));
    assert_eq!(counted(open), [3, 1, 1, 0, 1]);
    assert!(warned(open));
    let below = "\n=== Failed\n=== FAIL: p TestB (0.02s)\n    b_test.go:4: no\n\nDONE 3 tests, 1 skipped, 1 failure in 0.050s\n";
    assert_eq!(counted(&format!("{open}{below}")), [3, 1, 1, 0, 1]);
    assert_eq!(counted(&format!("{open}1..4\n")), [4, 1, 1, 1, 1], "a number tells more");
    assert!(!warned(&format!("{open}1..3\n")));
    assert_eq!(counted(&format!("{open}Bail out!\n")), [4, 1, 1, 1, 1]);
    let cut = read_text(open.trim_end()).unwrap_err();
    assert_eq!((cut.reject(), cut.place.line), (Some(Reject::Malformed), Some(6)));
    assert!(read_text("1..n\nok 1\n").is_err(), "no tool writes it");
}

#[test]
fn several_runs_follow_each_other_in_a_stream() {
    assert_eq!(counted("t/a.t .. \n1..2\nok 1\nok 2\nok\nt/b.t .. \n1..1\nnot ok 1\nnot ok\n"), [3, 2, 1, 0, 0]);
    assert_eq!(counted("ok 1\n1..1\nok 1\nok 2\n1..2\n"), [3, 3, 0, 0, 0]);
    assert_eq!(counted("TAP version 13\n1..2\nok 1\nTAP version 13\n1..1\nok 1\n"), [3, 2, 0, 1, 0]);
}

#[test]
fn yaml_describes_the_point_before_it_and_holds_no_points() {
    let text = "1..3\nnot ok 1 - a\n  ---\n  duration_ms: 6.6\n  error: |-\n    no\n\n    ok 2 - x\n  location: '/p/a.mjs:8:11'\n  ...\n\
                not ok 2 - b\n    ---\n    message: \"bad\"\nok 3 - c\n";
    let parsed = read_text(text).unwrap();
    assert_eq!(counts(&parsed), [3, 1, 2, 0, 0]);
    let details = details(&parsed);
    let case = &details.cases.cases["a"];
    assert_eq!((case.duration_ms, case.message.as_deref()), (Some(6), Some("no | ok 2 - x")));
    assert_eq!((case.file.as_deref(), case.line), (Some("/p/a.mjs"), Some(8)));
    assert_eq!(details.cases.cases["b"].message.as_deref(), Some("bad"));
}

/// Message and place of each test that failed.
fn failures(text: &str) -> Vec<String> {
    let described = |(id, case): (String, TestCase)| {
        let place = format!("{}:{}", case.file.unwrap_or_default(), case.line.unwrap_or_default());
        (case.outcome == Outcome::Failed).then(|| format!("{id}: {} @ {place}", case.message.unwrap_or_default()))
    };
    details(&read_text(text).unwrap()).cases.cases.into_iter().filter_map(described).collect()
}

#[test]
fn yaml_of_tape_ava_and_node_tap_describes_the_point() {
    for (yaml, expected) in [
        (
            "    operator: equal\n    expected: 2\n    actual:   1\n    at: Test.<anonymous> (/app/tt/t.js:3:82)\n\
             \x20   stack: |-\n      Error: one is two\n\
             \x20         at Test.assert (/app/node_modules/tape/lib/test.js:548:48)\n",
            "operator: equal | expected: 2 | actual: 1 @ /app/tt/t.js:3",
        ),
        (
            "    operator: deepEqual\n    expected: |-\n      { a: 1 }\n    actual: |-\n      { a: 2 }\n",
            "operator: deepEqual | expected: { a: 1 } | actual: { a: 2 } @ :0",
        ),
        (
            "    name: AssertionError\n    assertion: t.is()\n    details:\n\
             \x20     'Difference (- actual, + expected):': |-\n\
             \x20       - 1\n        + 2\n    message: ''\n    at: >-\n      ExecutionContext.is\n\
             \x20     (file:///app/node_modules/ava/lib/assert.js:309:16)\n      file:///app/test.js:9:4\n",
            "assertion: t.is() | - 1 | + 2 @ /app/test.js:9",
        ),
        ("    name: Error\n    message: boom\n    at: 'test.js:14:8'\n", "boom @ test.js:14"),
        (
            "    at:\n      fileName: tt/n.js\n      lineNumber: 2\n      columnNumber: 98\n    stack: |\n\
             \x20     Test.<anonymous> (tt/o.js:2:98)\n    source: |\n      message: 3\n",
            " @ tt/n.js:2",
        ),
        (
            "    compare: ===\n    at:\n      line: 5\n      column: 5\n      file: n.js\n    diff: |\n\
             \x20     --- expected\n\
             \x20     +++ actual\n      @@ -1,1 +1,1 @@\n      -2\n      +1\n",
            "compare: === | -2 | +1 @ n.js:5",
        ),
        (
            "    error: |-\n      Expected values to be strictly equal:\n\n      1 !== 2\n\n    code: 'ERR'\n\
             \x20   location: '/a.mjs:8:11'\n",
            "Expected values to be strictly equal: | 1 !== 2 @ /a.mjs:8",
        ),
    ] {
        let text = format!("TAP version 13\n1..2\nnot ok 1 - x\n  ---\n{yaml}  ...\n# next\n  said\nok 2\n");
        assert_eq!(failures(&text), [format!("x: {expected}")], "{yaml}");
    }
}

#[test]
fn comments_and_indented_lines_describe_the_point_above_them() {
    for (lines, expected) in [
        ("# (in test file t.bats, line 2)\n#   `[ 1 = 2 ]' failed\n# said\n", "`[ 1 = 2 ]' failed | said @ t.bats:2"),
        (
            "# (from function `no' in file lib.bash, line 3,\n#  in test file t.bats, line 7)\n#   `no' failed\n",
            "`no' failed @ t.bats:7",
        ),
        (
            "#   Failed test 'x'\n#   at t/x.t line 8.\n#          got: '1'\n#     expected: '2'\n\
             # Looks like you failed 1 test of 2.\n",
            "Failed test 'x' | got: '1' | expected: '2' @ t/x.t:8",
        ),
        ("#   Failed test at t/x.t line 8.\n", "Failed test at t/x.t line 8. @ t/x.t:8"),
        (
            "  Expected values to be equal:\n  \n  0 !== 1\n  \n\
             \x20 AssertionError [ERR_ASSERTION]: Expected values to be equal:\n  \n\
             \x20     at f (node_modules/a/b.js:1:2)\n      at g (/app/node_modules/a/b.js:1:2)\n\
             \x20     at Context.<anonymous> (mt/cart.spec.cjs:5:28)\n      at h (node:internal/timers:483:21)\n\
             # tests 2\n",
            "Expected values to be equal: | 0 !== 1 | AssertionError [ERR_ASSERTION]: Expected values to be equal: \
             @ mt/cart.spec.cjs:5",
        ),
        ("  # some error\n  # and more\n", "some error | and more @ :0"),
        // Of the next test, or of nobody knows what.
        ("#   Failed test 'y'\n#   at t/x.t line 8.\n", " @ :0"),
        ("# Subtest: y\n  said\n", " @ :0"),
        ("# y\n# (in test file t.bats, line 2)\n", " @ :0"),
        ("said\n  said\n", " @ :0"),
    ] {
        let text = format!("1..2\nnot ok 1 - x\n{lines}ok 2 - y\n");
        assert_eq!(failures(&text), [format!("x: {expected}")], "{lines}");
    }
}

#[test]
fn what_prove_shows_above_the_points_of_a_file_describes_them() {
    let text = include_str!("../../../../fixtures/reports/tap/good-prove.tap");
    let expected = [
        "inner::b: Failed test 'b' @ t/a.t:5",
        "three <&>: Failed test 'three <&>' | got: '1' | expected: '2' @ t/a.t:2",
        "two: Failed test 'two' @ t/a.t:2",
    ];
    assert_eq!(failures(text), expected);
    let of_another = text.replace("at t/a.t line", "at t/b.t line");
    assert_eq!(failures(&of_another), ["inner::b:  @ :0", "three <&>:  @ :0", "two:  @ :0"]);
}

#[test]
fn ids_have_the_names_of_their_subtests() {
    let ids = |text: &str| details(&read_text(text).unwrap()).cases.cases.into_keys().collect::<Vec<_>>();
    assert_eq!(ids("# Subtest: s\n    # Subtest: a\n    ok 1 - a\n    1..1\nok 1 - s\n1..1\n"), ["s::a"]);
    assert_eq!(
        ids("1..1\nok 1 - f.js {\n    1..1\n    ok 1 - S {\n        1..1\n        ok 1 - a\n    }\n}\n"),
        ["f.js::S::a"]
    );
    assert_eq!(ids("1..2\nok 1\nok 2\n"), ["(1)", "(2)"]);
}

#[test]
fn a_last_line_without_its_end_is_taken_if_nothing_can_follow() {
    for whole in
        ["1..2\nok 1\nok 2", "ok 1\nok 2\n1..2", "ok 1\nBail out! a", "1..1\nok 1\n# time", "1..1\nok 1 # SKIP a"]
    {
        assert!(read_text(whole).is_ok(), "{whole}");
    }
    assert_eq!(counted("1..3\nok 1\nnot 2 - garbled\nok 3 - c"), [3, 2, 0, 1, 0], "the last, though one is missing");
    for cut in [
        "1..2\nok 1\nnot ",
        "1..2\nok 1",
        "ok 1\nok 2\n1..1",
        "ok 1\n1..",
        "1..1\nok 1 # SK",
        "1..3\nok 1\n# x",
        "1..12\nok 1",
        "1..3\nok 1\nok",
    ] {
        assert_eq!(read_text(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
    }
}

#[test]
fn comments_that_tell_the_sum_stand_for_a_plan_where_a_line_is_not_ended() {
    let points = "TAP version 13\nnot ok 1 - a\nok 2 - b\n";
    assert_eq!(counted(&format!("{points}# tests 2\n# pass 1\n# fail 1")), [2, 1, 1, 0, 0]);
    for cut in ["# tests 3\n# pass 2", "# some", "# tests 2\nok 3"] {
        assert_eq!(read_text(&format!("{points}{cut}")).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
    }
}

#[test]
fn it_is_told_by_version_or_plan_and_numbers() {
    for text in ["TAP version 13\n", "1..1\nok 1\n", "ok 1\nnot ok 2\n1..2\n", "ok 1\nBail out!\n"] {
        assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
    }
    assert!(matches!(sniffed(&FORMAT, "ok 1 - a\n"), Sniff::Maybe(_)));
    for text in ["ok  \tpkg\t0.1s\n", "1..3\n", "running 1 test\nTAP version 13\nok 1\n1..1\n", "<a>\nok 1\n1..1\n</a>"]
    {
        assert_eq!(sniffed(&FORMAT, text), Sniff::No, "{text}");
    }
}

#[test]
fn what_a_report_in_xml_tells_that_tests_printed_is_no_tap() {
    let text = "\n#   Failed test 'b'\n#   at t/b.t line 1.\n<testsuites>\n  <testsuite name=\"b_t\">\n    <testcase name=\"1 - a\"/>\n\
                <system-out><![CDATA[1..2\nok 1 - a\nnot ok 2 - b\n]]></system-out>\n  </testsuite>\n</testsuites>";
    let reports = crate::ingest::parse_all(&Input::bytes("x", text.as_bytes()), None).unwrap();
    let told: Vec<_> = reports.iter().map(|report| (report.format.name, counts(report))).collect();
    assert_eq!(told, [("junit", [1, 1, 0, 0, 0])]);
    // Nor is it a linter's, though Perl cannot parse a test.
    let unparsed = format!("syntax error at t/syn.t line 1, near \"( ;\"\n{text}");
    let reports = crate::ingest::parse_all(&Input::bytes("x", unparsed.as_bytes()), None).unwrap();
    assert!(reports.iter().any(|report| report.format.name == "junit"), "{reports:?}");
}

#[test]
fn the_files_of_prove_have_a_plan_each_or_none() {
    let of = |end: &str| {
        format!(
            "t/a.t .. \nok 1\nDubious, test returned 255 (wstat 65280, 0xff00)\nAll 1 subtests passed \nt/b.t .. \n1..3\n\
                 ok 1\nFailed 2/3 subtests \nt/c.t .. \nok 1\nok 2\n1..2\nok\nt/d.t .. \nok 1\n{end}"
        )
    };
    let parsed =
        read_text(&of("All 1 subtests passed \n\nFiles=4, Tests=5,  1 wallclock secs\nResult: FAIL\n")).unwrap();
    assert_eq!(counts(&parsed), [9, 5, 0, 4, 0], "the last one has no plan");
    assert_eq!(read_text(&of("")).unwrap_err().reject(), Some(Reject::Malformed), "killed");
}

#[test]
fn a_file_that_failed_by_itself_is_errored_as_prove_tells_it() {
    let of = |says: &str| format!("t/a.t .. \n1..1\nok 1\nok\nt/b.t ..... \n{says}\n");
    for (says, units) in [
        ("Dubious, test returned 255 (wstat 65280, 0xff00)\nNo subtests run ", 1),
        ("1..1\nok 1\nDubious, test returned 3 (wstat 768, 0x300)\nAll 1 subtests passed ", 1),
        // By a signal.
        ("1..1\nok 1\nAll 1 subtests passed ", 1),
        ("1..1\nok 1\nok", 0),
        ("1..1\nnot ok 1\nDubious, test returned 1 (wstat 256, 0x100)\nFailed 1/1 subtests ", 0),
        ("1..1\nok 1\nok 2\nAll 1 subtests passed ", 0),
    ] {
        let parsed = read_text(&of(says)).unwrap();
        let details = details(&parsed);
        assert_eq!((details.unit_failures, parsed.figures.errored), (units, Some(units)), "{says}");
        assert_eq!(details.failed_units, vec!["t/b.t".to_owned(); usize::try_from(units).unwrap()]);
        assert!(read_text(of(says).trim_end()).is_err(), "{says}");
    }
}

#[test]
fn a_program_that_failed_after_its_tests_is_errored_once() {
    let exited = "# Looks like your test exited with 255 just after 1.\n";
    for (text, expected) in [
        ("1..1\nok 1\nlate at t/die.t line 1.\n", [2, 1, 0, 1, 0]),
        ("1..1\nnot ok 1\n", [1, 0, 1, 0, 0]),
        ("1..2\nok 1\n", [2, 1, 0, 1, 0]),
        (
            "t/a.t .. \n1..1\nok 1\nDubious, test returned 255 (wstat 65280, 0xff00)\nAll 1 subtests passed \n",
            [2, 1, 0, 1, 0],
        ),
    ] {
        assert_eq!(counted(&format!("{text}{exited}")), expected, "{text}");
    }
    let by_prove = "t/a.t .. \n1..1\nok 1\nDubious, test returned 255 (wstat 65280, 0xff00)\nAll 1 subtests passed \n";
    assert_eq!(counted(&format!("{exited}{by_prove}")), [2, 1, 0, 1, 0]);
    assert_eq!(counted(&format!("1..1\nok 1\n{exited}1..1\nok 1\n")), [3, 2, 0, 1, 0]);
    let of_deno = |point: &str| {
        format!("TAP version 14\n# ./d/ok_test.ts\n{point} 1 - p1\n1..1\n\u{1b}[31merror\u{1b}[0m: Test failed\n")
    };
    assert_eq!(counted(&of_deno("ok")), [2, 1, 0, 1, 0]);
    assert_eq!(counted(&of_deno("not ok")), [1, 0, 1, 0, 0]);
    let stream = format!("$ perl t/die.t\n1..1\nok 1\n{exited}done\n");
    let told = console(&Input::bytes("x", stream.as_bytes()));
    assert_eq!(told.iter().map(counts).collect::<Vec<_>>(), [[2, 1, 0, 1, 0]]);
}

#[test]
fn points_need_no_numbers() {
    let text = "1..3\nok\nnot ok - b\nok # SKIP\n";
    assert_eq!(counted(text), [3, 1, 1, 0, 1]);
    assert!(matches!(sniffed(&FORMAT, text), Sniff::Maybe(_)));
    assert_eq!(sniffed(&FORMAT, "1..3\nhello\nok\n"), Sniff::No);
}

#[test]
fn on_the_console_a_plan_may_stand_below_its_points() {
    let told = |text: &str| -> Vec<_> {
        console(&Input::bytes("x", text.as_bytes())).iter().map(|report| (report.format.name, counts(report))).collect()
    };
    let run =
        "ok 1 - adds\nnot ok 2 - fails\n#   Failed test 'fails'\nok 3 # SKIP no\n1..3\n# Looks like you failed 1\n";
    let expected = [("tap", [3, 1, 1, 0, 1])];
    assert_eq!(told(&format!("$ perl t/a.t\n{run}done\n")), expected);
    assert_eq!(told(&format!("ok 1 - of a run that was killed\n{run}")), expected);
    for other in
        ["ok 1 - x\nok 2 - y\n", "ok 1 - x\n1..2\n", "1..1\n", "ok 2 - x\n1..1\n", "ok 1 - x\nok 3 - z\n1..3\n"]
    {
        assert_eq!(told(other), [], "{other}");
    }
    // What comes below the last point that was promised.
    let one = "$ run\n1..1\nok 1 a\n";
    let exited = "# Looks like your test exited with 255 just after 1.\n";
    for (below, expected) in [
        ("not ok 2 teardown_file failed\n# bats warning: Executed 2 instead of expected 1 tests\n", [2, 1, 1, 0, 0]),
        ("not ok 0 - g3 [  FAILED  ] GROUP TEARDOWN\n# ok - g3\n", [2, 1, 1, 0, 0]),
        (&format!("x at t/die.t line 1.\n{exited}"), [2, 1, 0, 1, 0]),
        ("done\nnot ok 2 printed\n", [1, 1, 0, 0, 0]),
        ("done\n# Looks like your test exited with 255 just after 7.\n", [1, 1, 0, 0, 0]),
    ] {
        assert_eq!(told(&format!("{one}{below}")), [("tap", expected)], "{below}");
    }
    assert_eq!(told(&format!("$ perl t/die.t\nok 1\n1..1\nx\n{exited}")), [("tap", [2, 1, 0, 1, 0])]);
    let of_go = "TAP version 13\n1..N\nok 1 - p.TestA # time=0.010s\nnot ok 2 - p.TestB # time=0.020s\n\n=== Failed\n\
                 === FAIL: p TestB (0.02s)\n\nDONE 2 tests, 1 failure in 0.050s\n";
    assert_eq!(told(&format!("$ gotestsum -f tap\n{of_go}")), [("gotestsum-text", [2, 1, 1, 0, 0])]);
    assert_eq!(
        told("TAP version 13\n1..2\nok 1 - a\n1..N\nok 2 - b\n"),
        [("tap", [2, 2, 0, 0, 0])],
        "a test printed it"
    );
    let planned = "TAP version 13\n1..1\nok 1 - x\n";
    assert_eq!(
        told(&format!("{planned}text\n{run}")),
        [("tap", [1, 1, 0, 0, 0])],
        "what is certain is believed rather"
    );
}

#[test]
fn on_the_console_node_numbers_the_points_of_files_apart() {
    let told = |text: &str| -> Vec<_> {
        console(&Input::bytes("x", text.as_bytes())).iter().map(|report| (report.format.name, counts(report))).collect()
    };
    let files = "TAP version 13\n# Subtest: a\nok 1 - a\n  ---\n  duration_ms: 1\n  ...\nok 1 - printed\n# Subtest: b.test.mjs\n\
                 not ok 2 - b.test.mjs\n# Subtest: c.test.mjs\nnot ok 3 - c.test.mjs\n# Subtest: d.test.mjs\n\
                 not ok 2 - d.test.mjs\n1..4\n# tests 4\n";
    assert_eq!(told(files), [("tap", [4, 1, 3, 0, 0])]);
    let unmatched = "TAP version 13\n1..0\n# Subtest: a.test.mjs\nok 1 - a.test.mjs\n1..1\n# tests 1\n";
    assert_eq!(told(unmatched), [("tap", [1, 1, 0, 0, 0])]);
    assert_eq!(told("TAP version 13\n1..0\n# tests 0\nok 1 - printed\n1..1\n"), [("tap", [0; 5])]);
}

#[test]
fn programs_that_write_at_the_same_time_are_added_up() {
    let version = "TAP version 13\n";
    let (begun, ended) = ("# Subtest: a\nok 1 - a\n", "# Subtest: b\nok 2 - b\n1..2\n# tests 2\n# pass 2\n");
    let other = "# Subtest: c\nnot ok 1 - c\n1..1\n# tests 1\n# fail 1\n";
    for text in [
        format!("{version}{version}{begun}{other}{ended}"),
        format!("{version}{version}{other}{begun}{ended}"),
        format!("{version}\n> b\n> node --test b.js\n\n{version}{begun}{other}{ended}"),
        format!("{version}{begun}{version}{ended}{other}"),
        format!("{version}{begun}{version}{other}{ended}"),
        format!("{version}# Subtest: a\n{version}{begun}{other}{ended}"),
    ] {
        assert_eq!(counted(&text), [3, 2, 1, 0, 0], "{text}");
        let heard = console(&Input::bytes("x", format!("$ run-p a b\n{text}").as_bytes()));
        assert_eq!(heard.iter().map(counts).collect::<Vec<_>>(), [[3, 2, 1, 0, 0]], "{text}");
    }
    for cut in [
        format!("{version}{begun}{version}{other}"),
        format!("{version}{version}{begun}{ended}"),
        format!("{version}{version}{begun}{other}# Subtest: b\n1..2\n"),
    ] {
        let heard = console(&Input::bytes("x", format!("$ run-p a b\n{cut}").as_bytes()));
        assert!(heard.is_empty(), "{cut}");
    }
    assert_eq!(read_text(&format!("{version}{begun}{version}{other}")).unwrap_err().reject(), Some(Reject::Malformed));
    assert_eq!(
        counted(&format!("{version}{begun}# tests 1\n{version}{other}")),
        [2, 1, 1, 0, 0],
        "one after the other"
    );
}

/// Mocha numbers a hook that failed as the test after it.
#[test]
fn a_hook_of_mocha_s_leaves_the_test_after_it_in_turn() {
    let text = "ok 1 A a1\nnot ok 2 A \"after each\" hook for \"a1\"\n  no\nok 2 B b1\nnot ok 3 C \"before all\" hook for \"c1\"\n\
                not ok 3 D d1\n# tests 5\n# pass 2\n# fail 3\n1..5\n";
    let told: Vec<_> = console(&Input::bytes("x", text.as_bytes())).iter().map(counts).collect();
    assert_eq!(told, [[5, 2, 3, 0, 0]]);
    // Of another test's number nobody knows.
    assert!(console(&Input::bytes("x", text.replace("ok 2 B", "ok 1 B").as_bytes())).is_empty());
}

/// Once they are mended, nothing stands in their place.
#[test]
fn errors_that_were_thrown_are_no_tests_in_a_verdict() {
    let node_tap = "TAP version 14\n# Subtest: throws\n    ok 1 - first\n    not ok 2 - boom\n      ---\n      \
                    tapCaught: returnedPromiseRejection\n      ...\n    1..2\nnot ok 1 - throws # time=1ms\n\
                    # Subtest: waits\n    not ok 1 - timeout!\n      ---\n      expired: waits\n      ...\n    1..1\n\
                    not ok 2 - waits # time=50ms\nnot ok 3 - down\n  ---\n  test: throws\n  ...\n1..3\n";
    let tape = "TAP version 13\n# throws\nok 1 first\nnot ok 2 Error: boom\n  ---\n    operator: error\n  ...\n# twice\n\
                not ok 3 .end() already called\n  ---\n    operator: fail\n  ...\n# again\nnot ok 4 .end() already called\n  \
                ---\n    operator: fail\n  ...\nnot ok 5 should be equal\n  ---\n    operator: equal\n    expected: 2\n  ...\n\
                1..5\n# tests 5\n# pass  1\n# fail  4\n";
    for (text, as_counted, units, [tests, failed]) in [
        (node_tap, [4, 1, 3, 0, 0], vec!["down", "throws", "waits"], [1, 0]),
        (tape, [5, 1, 4, 0, 0], vec![".end() already called", "Error: boom"], [2, 1]),
    ] {
        let parsed = read_text(text).unwrap();
        assert_eq!(counts(&parsed), as_counted);
        let testing = crate::ingest::merge::merge(&[parsed]).testing.unwrap();
        assert_eq!((testing.test_count, testing.tests_failed), (Some(tests), Some(failed)), "{text}");
        assert_eq!(testing.collection_errors, as_counted[2] - failed);
        assert_eq!(testing.failed_units, units);
    }
}
