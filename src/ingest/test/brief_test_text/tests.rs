//! Each runner's summary, and what only looks like one.

use super::*;
use crate::error::Reject;
use crate::ingest::input::Input;
use crate::ingest::test::tests_support::{counts, sniffed};

fn read(text: &str) -> Result<Parsed> {
    (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
}

/// Tests, passed, failed, errored, skipped.
const SUMMARIES: &[(&str, [u64; 5])] = &[
    ("  Tests:    1 failed, 2 deprecated, 1 risky, 1 todo, 3 skipped, 4 passed (9 assertions)\n", [12, 7, 1, 0, 4]),
    ("  Tests:  1 failed, 2 passed, 3 pending\n  Time:   0.10s\n", [6, 2, 1, 0, 3]),
    ("Tests: 1 passed, 2 failed, 3 skipped, 4 ignored, 5 filtered out\n", [10, 1, 2, 0, 7]),
    ("3 tests, 1 failure, 1 skipped in 2 seconds\n", [3, 1, 1, 0, 1]),
    ("3 tests, 0 failures\n1 test, 1 failure\n", [4, 3, 1, 0, 0]),
    ("OK (3 tests)\n", [3, 3, 0, 0, 0]),
    (
        ":test-result: PASS a b\n:test-result: XFAIL\n:test-result: FAIL c\n:test-result: ERROR d\n:global-test-result: ERROR\n",
        [4, 1, 1, 1, 1],
    ),
    ("1 tests complete\nTest duration: 5 ms\nThe following leaks were detected: leaky\n", [2, 1, 0, 1, 0]),
    ("!!!FAILURES!!!\nTest Results:\nRun:  4   Failures: 1   Errors: 1\n", [4, 2, 1, 1, 0]),
    ("Failures !!!\nRun: 4   Failure total: 2   Failures: 1   Errors: 1\n", [4, 2, 1, 1, 0]),
    ("Ran: 5 tests in: 0.15 seconds.\nOK: Cases: 5 Skip: 4\n", [5, 1, 0, 0, 4]),
    ("│  1  Test Encountered            │\n│  1  Passes            (100.0%)  │\n╰───╯\n", [1, 1, 0, 0, 0]),
    (
        "│  3  Tests Encountered           │\n│  2  Failures           (66.7%)  │\n│  1  Unexpected Passes  (33.3%)  │\n╰───╯\n",
        [3, 0, 3, 0, 0],
    ),
    (
        "Ran: 4 tests in 0.1754 sec.\n - Passed: 3\n - Skipped: 0\n - Expected Fail: 0\n - Unexpected Success: 0\n - Failed: 0\n\
         The following tests exited without returning a status\nand likely segfaulted or crashed Python:\n\n\t* test_u.A\n",
        [4, 3, 0, 1, 0],
    ),
    ("Ran 16 tests in 0.193s (+0.179s)\nFAILED (id=2, failures=6, skips=2)\n", [16, 8, 6, 0, 2]),
    ("Ran 16 (+14) tests in 0.241s\nFAILED (id=6, failures=6 (+6), skips=2)\n", [16, 8, 6, 0, 2]),
    ("Ran 2 (-14) tests in 0.551s (+0.311s)\nPASSED (id=7)\n", [2, 2, 0, 0, 0]),
    ("Ran 3 tests in 0.5s\nPASSED (id=0, skips=1)\n", [3, 2, 0, 0, 1]),
    (
        "Ran 2 tests containing 2 assertions.\n0 failures, 0 errors.\nSyntax error compiling at (c_test.clj:2:16).\n",
        [3, 2, 0, 1, 0],
    ),
    (
        "    Tests run: 3, Failures: 0, Skips: 2\n    Configuration Failures: 1, Skips: 1\n====\n\n====\nS\nTotal tests run: 3, Failures: 0, Skips: 2\n\
         Configuration Failures: 1, Skips: 1\n====\n",
        [4, 1, 0, 1, 2],
    ),
    (" PASS › 1  FAIL › 1  SKIP › 1 \n", [2, 1, 1, 0, 0]),
    ("S\nTotal tests run: 3, Failures: 0, Skips: 2\nConfiguration Failures: 1, Skips: 1\n", [4, 1, 0, 1, 2]),
    ("  2 tests passed.\n", [2, 2, 0, 0, 0]),
    // Of Japa's hooks those of a group have no test, and neither has what comes late.
    (
        " ERRORS \n\n❯ each / a: Setup hook\n\n❯ setup: Setup hook\n\n❯ td: Teardown hook\n[3/3]─\n\n FAILED \n\n\
         Tests  1 passed, 1 failed (2)\n Time  61ms\nUnhandled Rejections─\n",
        [5, 1, 1, 3, 0],
    ),
    ("❯ setup: Setup hook\nUnhandled Rejections─\nTests  2 passed (2)\n Time  9ms\n", [2, 2, 0, 0, 0]),
    (
        "[----] Warning! The test `cart::adds` crashed during its setup or teardown.\n\
         [====] Synthesis: Tested: 2 | Passing: 2 | Failing: 0 | Crashing: 0 \n",
        [3, 2, 0, 1, 0],
    ),
    (
        "[FAIL] a::bad: (0.00s)\n[----] Warning! The test `s::x` crashed during its setup or teardown.\n\
         [----] Warning! The test `t::x` crashed during its setup or teardown.\n\
         [====] Synthesis: Tested: 4 | Passing: 2 | Failing: 2 | Crashing: 1 \n",
        [5, 2, 2, 1, 0],
    ),
    ("passed: 4  failed: 3  of 7 tests  (14ms)\n", [7, 4, 3, 0, 0]),
    (
        "FAIL! -- 1 Passed | 0 Failed | 0 Pending | 0 Skipped\n--- FAIL: TestE (0.00s)\nFAIL\n\nGinkgo ran 1 suite in 1.1s\n",
        [2, 1, 0, 1, 0],
    ),
    (
        "SUCCESS! -- 1 Passed | 0 Failed | 0 Pending | 1 Skipped\nPASS | FOCUSED\n\nGinkgo ran 1 suite in 1.3s\nTest Suite Passed\n\
         Detected Programmatic Focus - setting exit status to 197\n",
        [3, 1, 0, 1, 1],
    ),
    ("total:     7\npassing:   5\nfailing:   2\nskipped:   1\ntodo:      1\n11 ms\n", [7, 3, 2, 0, 2]),
    ("planned: 7\nassertions: 7\npass: 4\nfail: 3\n", [7, 4, 3, 0, 0]),
    (
        ".!\n--- b.t\n+++ b.t.err\n@@ -1,2 +1,2 @@\n-  b\n+  a\ns\n# Ran 3 tests, 1 skipped, 1 failed.\n",
        [3, 1, 1, 0, 1],
    ),
    ("2 examples ran in 0.0012 seconds\n", [2, 2, 0, 0, 0]),
    ("  Success/Total: 2/4\nSuccess/Total: 2/4 (assertions: 3/4)\nElapsed time: 0.04 sec.\n", [4, 2, 2, 0, 0]),
    ("All ok, 2 results (36ms)\n", [2, 2, 0, 0, 0]),
    ("Showing 2 out of 6 results: 2 fails, 4 passes (42ms)\n", [6, 4, 2, 0, 0]),
    ("Running cxxtest tests (3 tests)...OK!\n", [3, 3, 0, 0, 0]),
    (
        "Running cxxtest tests (3 tests).\nIn B::a:\nFailed 1 and Skipped 1 of 3 tests\nSuccess rate: 50%\n",
        [3, 1, 1, 0, 1],
    ),
    ("4 examples failed of 6 ran in 0.0061 seconds\n", [6, 2, 4, 0, 0]),
    ("**********\n1 items had failures:\n   2 of   3 in shop.total\n***Test Failed*** 2 failures.\n", [3, 1, 2, 0, 0]),
    (
        "1 item had failures:\n   1 of   2 in a.b\n3 tests in 2 items.\n2 passed and 1 failed.\n***Test Failed*** 1 failure.\n",
        [3, 2, 1, 0, 0],
    ),
    ("1 item had failures:\n   1 of   2 in a\n***Test Failed*** 1 failure and 1 skipped test.\n", [2, 1, 1, 0, 0]),
    (
        "## shop 1.0 test suite. ##\n\n  1: adds                  ok\n  2: fails                 FAILED (a.at:7)\n  3: skipped               skipped (a.at:10)\n\
         10: xfail                 expected failure (a.at:14)\n  5: xpass                UNEXPECTED PASS\n\n\
         ## Test results. ##\n\nERROR: 4 tests were run,\n1 passed unexpectedly,\n2 failed (1 expected failure).\n1 test was skipped.\n",
        [5, 1, 2, 0, 2],
    ),
    ("4 tests in 3 items.\n3 passed and 1 failed.\n***Test Failed*** 1 failure.\n", [4, 3, 1, 0, 0]),
    ("4 tests in 3 items.\n4 passed.\nTest passed.\n", [4, 4, 0, 0, 0]),
    ("  Ran 12 tests with 1 failures, 2 errors and 3 skipped in 0.012 seconds.\n", [12, 6, 1, 2, 3]),
    ("  Ran 10 tests with 4 failures, 1 errors, 1 skipped in 0.004 seconds.\n", [10, 4, 4, 1, 1]),
    ("  Ran 3 tests with 1 failures and 0 errors in 0 minutes 0.012 seconds.\n", [3, 2, 1, 0, 0]),
    (
        "Tests run: 5, Errors: 1, Failures: 1, Inconclusive: 0, Time: 0.1 seconds\n  Not run: 2, Invalid: 0, Ignored: 2, Skipped: 0\n",
        [7, 3, 1, 1, 2],
    ),
    ("3/5 test(s) Passed, 1 Failed, 1 Inconclusive\n", [5, 3, 1, 0, 1]),
    ("Executed 10 of 14 specs (2 ERRORS) (5 FAILED) (4 PENDING) in 0.045 sec.\n", [16, 5, 5, 2, 4]),
    ("Executed 1 of 3 specs INCOMPLETE (2 SKIPPED) in 2 secs.\n", [3, 1, 0, 0, 2]),
    ("FAILURE: 14 specs, 5 failures, 4 skipped, 0 disabled in 0.039s.\n", [14, 5, 5, 0, 4]),
    ("Asserts:  9 pass  8 fail  2 skip  1 todo  18 of 21 complete\n", [20, 9, 8, 0, 3]),
    (
        "Asserts:  \u{200b}8 failed\u{200b}, \u{200b}7 passed\u{200b}, \u{200b}2 skip\u{200b}, \u{200b}of 17\u{200b}\n",
        [17, 7, 8, 0, 2],
    ),
    ("Ran 7 tests in 0.440 s\n✔ 4 passing\n✘ 1 failing\n- 1 pending\n", [7, 4, 1, 0, 2]),
    (
        "  ● a › b\n\n  ● Test suite failed to run\n\nRan 2 tests in 0.44 s\n\nObsolete snapshot(s) found, run with 'npm test -- -u' to remove them\n\n\
         ✔ 1 passing\n✘ 1 failing\nRan 1 tests in 1.5 s\n✔ 1 passing\nDone\n",
        [4, 2, 1, 1, 0],
    ),
    ("Tests run: 3,  Failures: 2\n", [3, 1, 2, 0, 0]),
    (
        "There were 2 failures:\n1) adds(CartTest)\n2) org.shop.CartTest\n\nTests run: 3,  Failures: 2\n",
        [4, 2, 1, 1, 0],
    ),
    ("[ FAIL 0 | WARN 0 | SKIP 0 | PASS 0 ]\n[ FAIL 0 | WARN 0 | SKIP 0 | PASS 1 ] Done!\n", [1, 1, 0, 0, 0]),
    (
        "c.test\nTest file error: invalid command name \"x\"\nall.tcl:\tTotal\t1\tPassed\t1\tSkipped\t0\tFailed\t0\n",
        [2, 1, 0, 1, 0],
    ),
    (
        "Testing lib.demo: *** FAILED {cart_SUITE,init_per_suite} ***\n\
         Testing lib.demo: TEST COMPLETE, 0 ok, 0 failed, 2 skipped of 2 test cases\n",
        [3, 0, 0, 1, 2],
    ),
    (
        "              suites      2      1    n/a      1        0\n               tests      3      1      1      0        0\n",
        [2, 1, 0, 1, 0],
    ),
    ("% test passed\n", [1, 1, 0, 0, 0]),
    ("9 tasks, 2 passed, 5 failed, 2 skipped\n", [9, 2, 5, 0, 2]),
    ("Tests run: 0,  Failures: 1\n", [1, 0, 0, 1, 0]),
    (
        "Cases: 2  Tried: 0  Errors: 0  Failures: 0\rCases: 2  Tried: 1  Errors: 0  Failures: 0\r      \r### Failure in: 1:b\n\
         Cases: 2  Tried: 2  Errors: 0  Failures: 1\n",
        [2, 1, 1, 0, 0],
    ),
    (
        "\t\t=== cart Summary ===\n\n# of expected passes\t\t2\n# of unexpected failures\t1\n# of unexpected successes\t1\n\
         # of expected failures\t\t1\n# of known failures\t\t1\n# of unresolved testcases\t1\n# of unsupported tests\t\t1\n",
        [8, 2, 2, 1, 3],
    ),
    ("# of expected passes      2\n# of skipped tests        1\n", [3, 2, 0, 0, 1]),
    ("Tests run: 1,  Failures: 2\n", [2, 0, 1, 1, 0]),
    ("Tests run: 4,  Failures: 1,  Errors: 2\n", [4, 1, 1, 2, 0]),
    ("Tests Passed: 1, Failed: 2, Skipped: 3 NotRun: 4\n", [6, 1, 2, 0, 3]),
    ("Tests Passed: 1, Failed: 2, Skipped: 3, Inconclusive: 4, NotRun: 5\nContainer failed: 1\n", [11, 1, 2, 1, 7]),
    ("Tests Passed: 1, Failed: 2, Skipped: 3, Pending: 4, Inconclusive: 5 \n", [15, 1, 2, 0, 12]),
    (
        "undefined\n*** context setup failed ***\n**in function a\n  a_tests: slow_test...*timed out*\n\
         \x20 Failed: 1.  Skipped: 2.  Passed: 3.\nOne or more tests were cancelled.\n",
        [8, 3, 1, 2, 2],
    ),
    ("raco test: (submod \"a.rkt\" test)\n2 tests passed\n", [2, 2, 0, 0, 0]),
    // In the last line is what RackUnit told.
    (
        "raco test: \"a.rkt\"\n2 success(es) 0 failure(s) 0 error(s) 2 test(s) run\nraco test: \"b.rkt\"\n3/6 test failures\n",
        [6, 3, 3, 0, 0],
    ),
    ("2 success(es) 0 failure(s) 1 error(s) 3 test(s) run\n4/7 test failures\n", [7, 3, 4, 0, 0]),
    ("raco test: \"a.rkt\"\na.rkt: raco test: non-zero exit: 1\n1/3 test failures\n", [3, 2, 1, 0, 0]),
    ("raco test: \"a.rkt\"\na.rkt: raco test: test raised an exception\n1 test passed\n", [2, 1, 0, 1, 0]),
    (
        "        alok alias al/runtest\nTest Successful in 0.001s. 2 tests run.\nFile \"cram/a.t\", line 1, characters 0-0:\n\
         diff --git a/a.t b/a.t\n        fail alias t/runtest (exit 2)\nFatal error: exception Failure\n",
        [4, 2, 2, 0, 0],
    ),
    // Alcotest itself tells of it.
    (
        "        fail alias t/runtest (exit 2)\n          al alias al/runtest (exit 1)\n2 failures! in 0.004s. 5 tests run.\n",
        [6, 3, 3, 0, 0],
    ),
    ("File \"dune\", line 1, characters 0-0:\nError: x\nTest Successful in 0.001s. 2 tests run.\n", [2, 2, 0, 0, 0]),
    ("Ran 4 out of 6 specs, 2 failed, in 49.49ms.\n", [6, 2, 2, 0, 2]),
    ("Ran 3 specs, 0 failed, in 47.70ms.\n", [3, 3, 0, 0, 0]),
    (
        "Ran: 2 tests in: 0.12 seconds.\nFAILED: Cases: 2 Tried: 2 Errors: 0 Failures: 0 Skip:  0 Todo: 1 Timeouts: 0.\n",
        [2, 1, 1, 0, 0],
    ),
    ("  Failed: 1.  Skipped: 2.  Passed: 3.\nOne or more tests were cancelled.\n", [7, 3, 1, 1, 2]),
    ("  Test passed.\n  All 2 tests passed.\n", [3, 3, 0, 0, 0]),
    (
        "Executed 2 out of 9 tests: 3 tests pass, 1 fails to build, 1 fails locally and 4 were skipped.\n",
        [9, 3, 1, 1, 4],
    ),
    ("Executed 0 out of 1 test: 1 test passes.\nExecuted 1 out of 1 test: 1 fails remotely.\n", [2, 1, 1, 0, 0]),
    ("All 3 tests passed (0.01s)\n1 out of 2 tests failed (0.00s)\n", [5, 4, 1, 0, 0]),
    ("Cases: 5  Tried: 5  Errors: 1  Failures: 2\n", [5, 2, 2, 1, 0]),
    (
        "Ran: 3 tests in: 0.11 seconds.\nFAILED: Cases: 3 Tried: 3 Errors: 0 Failures: 1 Skip:  1 Todo: 0 Timeouts: 0.\n",
        [3, 1, 1, 0, 1],
    ),
    ("Ran: 3 tests in: 0.11 seconds.\nOK\n", [3, 3, 0, 0, 0]),
    ("Test Successful in 0.001s. 2 tests run.\n2 failures! in 0.001s. 3 tests run.\n", [5, 3, 2, 0, 0]),
    ("Ran 3 tests in 0.000 seconds, 1 success, 1 failure, 1 error, 1 skipped\n", [4, 1, 1, 1, 1]),
    ("  FAIL  | 1 passed, 2 failed, 3 skipped   // 25ms\n  OK  | 2 passed   // 4ms\n", [8, 3, 2, 0, 3]),
    ("6 examples (2 passed, 1 pending, 1 failed, 2 broken)\n", [6, 2, 1, 2, 1]),
    ("33%: Checks: 3, Failures: 1, Errors: 1\n", [3, 1, 1, 1, 0]),
    ("[====] Synthesis: Tested: 3 | Passing: 1 | Failing: 2 | Crashing: 1\n", [3, 1, 2, 0, 0]),
    ("Errors (1 failures, 5 tests, 2 ran, 2 checks, 1 ignored, 2 filtered out, 0 ms)\n", [3, 1, 1, 0, 1]),
    ("               tests      4      3      2      1        1\n", [4, 2, 1, 0, 1]),
    ("4 Tests 1 Failures 2 Ignored \nFAIL\n", [4, 1, 1, 0, 2]),
    ("1 success(es) 2 failure(s) 0 error(s) 3 test(s) run\n", [3, 1, 2, 0, 0]),
    ("  9 generated, 3 found 6 unique failures, 1 errored, 1 skipped\n", [9, 4, 3, 1, 1]),
    ("Test cases:\n  4 generated, 4 passed, 1 skipped\n", [4, 3, 0, 0, 1]),
    ("3 tests passed. 1 tests failed. 2 tests ignored.\nExecuted in 1 s 2 ms\n", [6, 3, 1, 0, 2]),
    ("FAILURES! (4 tests, 1 failure, 1 skipped, 0.2 seconds)\nOK (2 tests, 0.1 seconds)\n", [6, 4, 1, 0, 1]),
    ("scenarios:    3 | passed:     2 | failed: 1\n", [3, 2, 1, 0, 0]),
    (" PASS › 2   FAIL › 1 \n", [3, 2, 1, 0, 0]),
    ("PASS › 2\nFAIL › 1\nSKIP › 4\nTODO › 1\n", [3, 2, 1, 0, 0]),
    ("PASS › 2\nFAIL › 1\nTODO › 1\n", [3, 2, 1, 0, 0]),
    ("Tests finished: Pass 4. Fail 1. Fatal 1. Skip 2. Build failure 0\n", [8, 4, 1, 1, 2]),
    (
        "Tests finished: Pass 1. Fail 0. Timeout 1. Fatal 0. Skip 0. Omit 0. Infra Failure 0. Build failure 1\n",
        [3, 1, 1, 1, 0],
    ),
    ("complete: 7 passing, 1 failing, 2 errors, 3 skipped, 13 total\n", [13, 7, 1, 2, 3]),
    (
        "[12:00:00 INF] EXPECTO! 6 tests run in 00:00:00.08 for cart – 2 passed, 1 ignored, 2 failed, 1 errored. ( ರ Ĺ̯ ರೃ ) <Expecto>\n",
        [6, 2, 2, 1, 1],
    ),
    ("t.test:\tTotal\t4\tPassed\t1\tSkipped\t1\tFailed\t2\n", [4, 1, 2, 0, 1]),
    ("Duration: 171 ms\nPassed:   4\nFailed:   1\nTodo:     1\n", [6, 4, 1, 0, 1]),
    (
        "Executed files:    3\nExecuted requests: 10 (100.0/s)\nSucceeded files:   1 (33.3%)\nFailed files:      2 (66.7%)\n\
         Duration:          100 ms (0h:0m:0s:100ms)\n",
        [3, 1, 2, 0, 0],
    ),
    (
        "FAIL in cart/a (c.clj:4)\nFAIL in cart/a (c.clj:5)\nERROR in cart/b (c.clj:6)\n3 tests, 5 assertions, 1 errors, 2 failures.\n",
        [3, 1, 1, 1, 0],
    ),
    ("3 tests, 5 assertions, 0 failures.\n", [3, 3, 0, 0, 0]),
    ("FAILURE: 2 out of 4 tests failed (3 failures).\nSuccess: 1 tests passed.\n", [5, 3, 2, 0, 0]),
    ("Failure! 1 passed, 2 failed, 3 skipped.\nSuccess! 1 passed, 0 failed.\n", [7, 2, 2, 0, 3]),
    ("FAILURE: Executed 3 tests in 4.2s (1 failed)\nSUCCESS: Executed 1 tests in 62.1s\n", [4, 3, 1, 0, 0]),
    ("Test result: FAILED. Total tests: 2; passed: 1; failed: 1\n", [2, 1, 1, 0, 0]),
    ("Total tests: 5, passed: 4, failed: 1. [wasm-gc]\n", [5, 4, 1, 0, 0]),
    ("Ok:                 1   \nFail:               2   \n\nOk:   1\nFail: 0\nTimeout: 1\n", [5, 2, 3, 0, 0]),
    ("# TOTAL: 6\n# PASS:  1\n# SKIP:  1\n# XFAIL: 1\n# FAIL:  1\n# XPASS: 1\n# ERROR: 1\n", [6, 1, 2, 1, 2]),
    (
        "   shop 1.0: ./test-suite.log\n===\n\n# TOTAL: 1\n# PASS:  0\n# SKIP:  0\n# XFAIL: 0\n# FAIL:  1\n# XPASS: 0\n# ERROR: 0\n\n\
         ===\nTestsuite summary for shop 1.0\n===\n# TOTAL: 1\n# PASS:  0\n# SKIP:  0\n# XFAIL: 0\n# FAIL:  1\n# XPASS: 0\n# ERROR: 0\n===\n\
         See ./test-suite.log\n",
        [1, 0, 1, 0, 0],
    ),
    (
        "   shop 1.0: ./test-suite.log\n===\n\n# TOTAL: 1\n# PASS:  0\n# SKIP:  0\n# XFAIL: 0\n# FAIL:  1\n# XPASS: 0\n# ERROR: 0\n",
        [1, 0, 1, 0, 0],
    ),
    ("  Total:     3\n  Passed:    1\n  Skipped:   1\n  Duration:  22.33ms\n", [4, 1, 2, 0, 1]),
    ("  total:     2\n  passing:   2\n  duration:  1.2s\n", [2, 2, 0, 0, 0]),
    (" - Passed: 1\n - Skipped: 1\n - Expected Fail: 1\n - Unexpected Success: 1\n - Failed: 1\n", [5, 1, 2, 0, 2]),
    (
        "[         1 containers failed     ]\n[         6 tests found           ]\n[         1 tests skipped         ]\n\
         [         3 tests started         ]\n[         1 tests aborted         ]\n[         1 tests successful      ]\n\
         [         1 tests failed          ]\n",
        [5, 1, 1, 1, 2],
    ),
    (
        "FAIL in (a) (t.clj:4)\nFAIL in (a f) (t.clj:5)\nERROR in (b) (t.clj:6)\nRan 3 tests containing 5 assertions.\n2 failures, 1 errors.\n",
        [3, 1, 1, 1, 0],
    ),
    ("Ran 3 tests containing 5 assertions.\n0 failures, 0 errors.\n", [3, 3, 0, 0, 0]),
    (
        "Shop\nTotal tests run: 4, Passes: 1, Failures: 2, Skips: 1\n===\nTotal tests run: 1, Failures: 0, Skips: 0\n===\n",
        [5, 2, 2, 0, 1],
    ),
    (
        "=== TEST EXECUTION SUMMARY ===\n   A.Tests  Total: 3, Errors: 1, Failed: 1, Skipped: 1, Time: 0.151s\n\
         \x20  B  Total: 2, Errors: 0, Failed: 0, Skipped: 0, Not Run: 1, Time: 0.093s\n         GRAND TOTAL: 5  1  1  1  0.2s (0.3s)\n",
        [6, 2, 1, 1, 2],
    ),
    (
        "Ran 3 of 4 Specs in 0.001 seconds\nFAIL! -- 1 Passed | 2 Failed | 1 Pending | 0 Skipped\nFAIL\n\n\
         SUCCESS! -- 2 Passed | 0 Failed | 1 Flaked | 0 Pending | 1 Skipped\nPASS\n\nGinkgo ran 2 suites in 1.2s\n",
        [7, 3, 2, 0, 2],
    ),
    // What go test says of each suite counts where it ran them.
    (
        "FAIL! - Suite Timeout Elapsed -- 1 Passed | 2 Failed | 1 Repeated | 0 Pending | 1 Skipped\n--- FAIL: TestShop (0.00s)\nFAIL\n\
         [1795423819] Book Suite - 2/3 specs - 2 procs •P• SUCCESS! 180.259µs PASS\nFailed to compile cart:\n\n\
         FAIL! -- A BeforeSuite node failed so all tests were skipped.\n--- FAIL: TestTill (0.00s)\n\nGinkgo ran 4 suites in 829.59ms\n",
        [9, 3, 2, 2, 2],
    ),
    ("2 of 3 tests failed (2 skipped)\nTest duration: 6 ms\n3 tests complete\nTest duration: 1 ms\n", [8, 4, 2, 0, 2]),
    (
        "newman\n\n  1. fails\n  -  [skipped] later\n│ requests │ 2 │ 1 │\n│ test-scripts │ 2 │ 0 │\n│ assertions │ 4 │ 2 │\n\
         ├──┴──┤\n│ total run duration: 75ms │\n",
        [5, 1, 2, 1, 1],
    ),
    ("newman\n|  requests |  1 |  0 |\n-----\n| assertions |  3 |  1 |\n| total run duration: 1s |\n", [3, 2, 1, 0, 0]),
    (" Running tests in:\n - Chrome\n\n 2/6 failed (15m 25s)\n\n 2 skipped\n", [8, 4, 2, 0, 2]),
    (" Running tests in:\n - Chrome\n\n 6 passed (2s)\n", [6, 6, 0, 0, 0]),
    // The last one is the whole.
    ("3 tests, 1 passed, 1 failed, 1 skipped\n6 tests, 2 passed, 2 failed, 2 skipped\n", [6, 2, 2, 0, 2]),
    ("1 critical test, 1 passed, 0 failed\n2 tests total, 1 passed, 1 failed\n", [2, 1, 1, 0, 0]),
    ("[ FAIL 0 | WARN 0 | SKIP 0 | PASS 1 ]\n[ FAIL 1 | WARN 9 | SKIP 2 | PASS 3 ]\n", [6, 3, 1, 0, 2]),
    (
        "Summary for all V _test.v files: 1 failed, 3 passed, 4 total. Elapsed time: 787 ms, on 4 parallel jobs.\n",
        [4, 3, 1, 0, 0],
    ),
    (
        "Test Count: 5, Passed: 1, Failed: 2, Warnings: 1, Inconclusive: 0, Skipped: 1\n  Failed Tests - Failures: 1, Errors: 1, Invalid: 0\n",
        [5, 2, 1, 1, 1],
    ),
    ("Test Count: 2, Passed: 1, Failed: 0, Inconclusive: 0, Skipped: 1\n  Start time: 1\n", [2, 1, 0, 0, 1]),
    // Sets in a set are part of it.
    (
        "Test Summary: | Pass  Fail  Error  Broken  Total  Time\ncart          |   13     1              2     16  1.2s\n\
         \x20 inner       |    1     1                     2  0.4s\nTest Summary: | Error  Total\nother         |     1      1\n",
        [17, 13, 1, 1, 2],
    ),
    (
        "Test Summary: |\nempty         | No tests\nTest Summary: | Pass  Total\na | b         |    2      2\n",
        [2, 2, 0, 0, 0],
    ),
];

#[test]
fn each_runner_s_summary_is_read() {
    for (text, expected) in SUMMARIES {
        assert_eq!(counts(&read(text).unwrap()), *expected, "{text}");
        assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
    }
}

#[test]
fn what_go_test_sums_up_itself_is_not_ginkgo_s() {
    let run = "FAIL! -- 1 Passed | 2 Failed | 1 Pending | 0 Skipped\n--- FAIL: TestShop (0.00s)\nFAIL\n";
    assert!(read(run).is_err());
    assert_eq!(
        counts(&read(&format!("{run}SUCCESS! -- 2 Passed | 0 Failed | 0 Pending | 0 Skipped\n")).unwrap()),
        [2, 2, 0, 0, 0]
    );
    let alone = "SUCCESS! -- 2 Passed | 0 Failed | 0 Pending | 0 Skipped\n";
    assert!(matches!(sniffed(&FORMAT, alone), Sniff::Maybe(_)));
    assert!(read(&format!("{alone}PASS\nok  \tshop\t0.1s\n")).is_err());
    assert!(read("[1795423819] Book Suite - 2/3 specs •• SUCCESS! 180.259µs PASS\n").is_err(), "a mark is missing");
}

#[test]
fn plain_lines_count_where_nothing_else_does() {
    for (text, expected) in [
        ("Results: 3 passed, 1 failed\n", [4, 3, 1, 0, 0]),
        ("=== Test results: 3 passed, 1 failed, 2 skipped ===\n", [6, 3, 1, 0, 2]),
        ("3 passed, 1 failed\nTotal: 2 passed, 0 failed.\n", [6, 5, 1, 0, 0]),
        ("a: 3 passed, 1 failed\nb: 2 passed, 0 failed\nTotal: 5 passed, 1 failed\n", [6, 5, 1, 0, 0]),
    ] {
        assert_eq!(counts(&read(text).unwrap()), expected, "{text}");
        assert!(matches!(sniffed(&FORMAT, text), Sniff::Maybe(_)), "{text}");
        let with_another = format!("{text}1 test, 0 failures\n");
        assert_eq!(counts(&read(&with_another).unwrap()), [1, 1, 0, 0, 0], "{text}");
    }
    for none in ["a and b: 3 passed, 1 failed\n", "3 passed, 1 failed in 2s\n", "passed, failed\n", "3 passed\n"] {
        assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
    }
}

#[test]
fn what_only_looks_like_a_summary_is_none() {
    for text in [
        "Tests:       1 failed, 2 passed, 3 total\n",
        "Tests:\n",
        "Tests: 3, Assertions: 3, Failures: 1.\n",
        "Finished in 0.1 seconds\n3 tests, 1 failure\n",
        "3 tests, 4 failures\n",
        "OK (3 tests, 3 assertions)\n",
        "Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n",
        "All 2 tests passed.\n",
        "Ran 3 tests in 0.003s\n\nOK\n",
        "Ran: 3 tests in: 0.11 seconds.\n",
        "Total tests: 39. Passed: 33. Failed: 4. Skipped: 2.\n",
        "Ok: 1\nFailures: 2\n",
        "# TOTAL: 2\n# PASS:  1\n\n",
        "Ran 3 tests containing 5 assertions.\n2 failures, 1 errors.\n",
        "18446744073709551616 tests, 0 failures\n",
        "Test Summary: | Pass  Total\n",
        "3 tests complete\n",
        "3 tests, 5 assertions, 1 failures.\n",
        "2 tests passed\n",
        "6 passed (2s)\n",
        "newman\n│ assertions │ 4 │ 5 │\n│ total run duration: 75ms │\n",
    ] {
        assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        assert_eq!(sniffed(&FORMAT, text), Sniff::No, "{text}");
    }
}

#[test]
fn a_cut_inside_a_summary_is_refused() {
    let block = "# TOTAL: 1\n# PASS:  1\n# SKIP:  0\n# XFAIL: 0\n# FAIL:  0\n# XPASS: 0\n# ERROR: 0\n";
    let twice = format!("{block}# TOTAL: 2\n# PASS:  1\n");
    assert_eq!(read(&twice).unwrap_err().reject(), Some(Reject::NoResult));
    let aborted = "raco test: \"a.rkt\"\n2 success(es) 0 failure(s) 0 error(s) 2 test(s) run\nraco test: \"b.rkt\"\n";
    assert_eq!(read(aborted).unwrap_err().reject(), Some(Reject::NoResult));
    assert_eq!(read("3 tests, 1 fail").unwrap_err().reject(), Some(Reject::Malformed));
    let large = "18446744073709551615 tests, 0 failures\n1 test, 0 failures\n";
    assert_eq!(read(large).unwrap_err().reject(), Some(Reject::Malformed));
}

#[test]
fn what_tells_all_tests_is_whole_without_a_line_after_it() {
    let of = |text: &str| read(text).map(|parsed| (parsed.figures.tests, parsed.figures.failed)).ok();
    assert_eq!(
        of("Total Discovered Tests: 3\n  Unsupported: 1 (33.33%)\n  Passed     : 2 (66.67%)\n"),
        Some((Some(3), Some(0)))
    );
    assert_eq!(of("Total Discovered Tests: 2\n  Failed: 2 (100.00%)\n"), Some((Some(2), Some(2))));
    // Quiet, it tells of failures alone, and cut, of less.
    assert_eq!(of("Total Discovered Tests: 3\n  Failed: 1 (33.33%)\n"), None);
    assert_eq!(of("Total Discovered Tests: 3\n  Failed: 1 (33.33%)\n\nand so on\n"), None);
}

#[test]
fn what_node_tap_paints_anew_counts_once() {
    let frame = |asserts: &str, suites: &str| {
        format!("Asserts:  {asserts} complete\nSuites:   {suites} complete\n\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[G")
    };
    let zero = frame("0 pass  0 fail  0 of 0", "0 pass  0 fail  0 of 0");
    let half = frame("1 pass  1 fail  2 of 2", "0 pass  1 fail  1 of 2");
    let whole = frame("2 pass  1 fail  1 skip  3 of 4", "1 pass  1 fail  0 skip  2 of 2");
    let run = format!("{zero}{zero}{half}{half}{whole}");
    assert_eq!(counts(&read(&run).unwrap()), [4, 2, 1, 0, 1]);
    assert_eq!(counts(&read(&format!("{run}{run}")).unwrap()), [8, 4, 2, 0, 2]);
    for killed in [zero.clone(), format!("{zero}{half}"), "Asserts:  0 pass  0 fail  0 of 0 complete\n".to_owned()] {
        assert_eq!(read(&killed).unwrap_err().reject(), Some(Reject::NoResult), "{killed}");
    }
    // Where nothing is painted, each sum is a run's.
    assert_eq!(counts(&read(&format!("{whole}{whole}")).unwrap()), [8, 4, 2, 0, 2]);
    let old = |asserts: &str, suites: &str| {
        format!("Suites:   \u{200b}{suites} completed\u{200b}\nAsserts:  \u{200b}{asserts}\u{200b}\n")
    };
    let run = [
        ("0 \u{200b}\u{200b}of 0", "0 of 1"),
        ("1 passed\u{200b}, \u{200b}of 1", "0 of 1"),
        ("2 passed\u{200b}, \u{200b}of 2", "1 passed, \u{200b}1 of 1"),
    ];
    let run = run.map(|(asserts, suites)| old(asserts, suites)).concat();
    assert_eq!(counts(&read(&run).unwrap()), [2, 2, 0, 0, 0]);
}

#[test]
fn what_a_reporter_of_jest_s_lacks_is_no_zero() {
    let run = "  ● a › b\n\nRan 7 tests in 0.440 s\n✔ 4 passing\n";
    for cut in ["Ran 7 tests in 0.440 s\n", run, "Ran 3 tests in 0.440 s\n✔ 4 passing\n", "✔ 4 passing\n"] {
        assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::NoResult), "{cut}");
    }
}

/// Suites of one run sum up again and again; the next run begins behind the paths of what was written.
#[test]
fn runs_of_robot_framework_are_told_apart() {
    let sums = |inner: &str, all: &str| {
        format!(
            "A.B  | FAIL |\n{inner}\n====\nA  | FAIL |\n{all}\n====\nOutput:  /a/output.xml\nLog:     /a/log.html\n"
        )
    };
    let first = sums("1 test, 0 passed, 1 failed", "4 tests, 2 passed, 1 failed, 1 skipped");
    let second = sums("1 test, 1 passed, 0 failed", "2 tests, 2 passed, 0 failed");
    assert_eq!(counts(&read(&first).unwrap()), [4, 2, 1, 0, 1]);
    assert_eq!(counts(&read(&format!("{first}{second}")).unwrap()), [6, 4, 1, 0, 1]);
    assert_eq!(counts(&read(&format!("{second}{first}")).unwrap()), [6, 4, 1, 0, 1]);
}

/// A run of `robot` with these tests in the suite `A`.
fn robot(tests: &[(&str, &str)], sum: &str) -> String {
    let rule = "=".repeat(78);
    let tests: String = tests.iter().map(|(name, outcome)| format!("{name:<70}| {outcome} |\n----------\n")).collect();
    format!("{rule}\nA :: documented\n{rule}\n{tests}A :: documented  | FAIL |\n{sum}\n{rule}\nOutput:  /o.xml\n")
}

#[test]
fn of_robot_s_tests_that_ran_again_the_later_result_counts() {
    let first = robot(&[("a", "PASS"), ("b", "FAIL"), ("c", "FAIL")], "3 tests, 1 passed, 2 failed");
    let again = robot(&[("b", "PASS"), ("c", "SKIP")], "2 tests, 1 passed, 0 failed, 1 skipped");
    let parsed = read(&format!("{first}{again}")).unwrap();
    assert_eq!(
        (counts(&parsed), parsed.figures.flaky),
        ([3, 2, 1, 0, 0], Some(1)),
        "what was skipped did not run again"
    );
    assert_eq!(parsed.warnings, ["1 test ran again in this output: the later result counts"]);
    // What does not name all that it counts may have run other tests.
    let unclear = robot(&[("b", "PASS")], "2 tests, 1 passed, 1 failed");
    assert_eq!(counts(&read(&format!("{first}{unclear}")).unwrap()), [5, 2, 3, 0, 0]);
    let two_of_a_name = robot(&[("b", "PASS"), ("b", "PASS")], "1 test, 1 passed, 0 failed");
    assert_eq!(counts(&read(&format!("{first}{two_of_a_name}")).unwrap()), [4, 2, 2, 0, 0]);
}

#[test]
fn what_pabot_has_not_summed_up_counts_by_itself() {
    let part = robot(&[("a", "PASS"), ("b", "FAIL")], "2 tests, 1 passed, 1 failed")
        .replace("/o.xml", "/pabot_results/0/o.xml");
    assert_eq!(counts(&read(&format!("{part}{part}")).unwrap()), [4, 2, 2, 0, 0]);
    let sum = "3 tests, 2 passed, 1 failed, 0 skipped.\n=====\n";
    assert_eq!(counts(&read(&format!("{part}{sum}")).unwrap()), [3, 2, 1, 0, 0]);
    assert_eq!(counts(&read(&format!("{part}{sum}Output:  /o.xml\n{part}")).unwrap()), [5, 3, 2, 0, 0]);
}

#[test]
fn a_call_of_robot_that_runs_nothing_is_an_error() {
    let fault = "[ ERROR ] Suite 'A' contains no tests matching tag 'x'.\n\nTry --help for usage information.\n";
    let run = robot(&[("a", "PASS")], "1 test, 1 passed, 0 failed");
    assert_eq!(counts(&read(&format!("{fault}{run}")).unwrap()), [2, 1, 0, 1, 0]);
    let warned = "[ ERROR ] Error in file 'a.robot'.\nAnother line.\nTry --help for usage information.\n";
    assert_eq!(counts(&read(&format!("{warned}{run}")).unwrap()), [1, 1, 0, 0, 0]);
}
