//! Packages with files and tests of the same names, whose tests one command runs one after another.

use highwater::ingest::merge::merge;

use super::{read, stream, tests_of};
use crate::support::Project;

fn failing(text: &str) -> Vec<String> {
    merge(&read(text)).failing
}

fn is_told_of_a_repetition(text: &str) -> bool {
    let warnings = || read(text).into_iter().flat_map(|report| report.warnings);
    warnings().any(|warning| warning.contains("twice in this output") || warning.contains("again in this output"))
}

#[test]
fn a_package_of_which_files_have_the_same_names_is_no_second_attempt_at_another() {
    for file in ["packages-npm-vitest.txt", "packages-pytest.txt"] {
        let text = stream(file);
        assert_eq!(tests_of(&text), [5, 4, 1, 0, 0, 0, 0], "{file}");
        assert!(!is_told_of_a_repetition(&text), "{file}");
        assert_eq!(tests_of(&text.replace('\n', "\r\n")), [5, 4, 1, 0, 0, 0, 0], "{file}");
        // The whole of it again is a second attempt at both.
        let again = text.repeat(2);
        assert_eq!(tests_of(&again)[..3], [5, 4, 1], "{file}");
        assert!(is_told_of_a_repetition(&again), "{file}");
    }
    assert_eq!(failing(&stream("packages-npm-vitest.txt")), ["test/v.vt.test.mjs::beta"]);
}

#[test]
fn runs_that_write_at_the_same_time_are_added_up() {
    let text = stream("packages-vite-plus.txt");
    assert_eq!(tests_of(&text), [4, 3, 1, 0, 0, 0, 0]);
    assert_eq!(failing(&text), ["src/a.test.ts::bad"]);
    for file in ["packages-run-p-vitest.txt", "packages-run-p-node.txt"] {
        assert_eq!(tests_of(&stream(file)), [5, 4, 1, 0, 0, 0, 0], "{file}");
    }
    // Their last lines may mingle.
    let (before, summaries) = text.split_once(" Test Files").unwrap();
    let (first, rest) = summaries.split_once("\n\n").unwrap();
    let (failures, second) = rest.split_once(" Test Files").unwrap();
    let (second, end) = second.split_once("\n\n").unwrap();
    let pairs = first.lines().zip(second.lines()).map(|(one, other)| format!("{one}\n{other}\n"));
    let mingled = format!(" Test Files{}", pairs.collect::<String>().replacen('\n', "\n Test Files", 1));
    assert_eq!(tests_of(&format!("{before}\n{failures}\n{mingled}{end}")), [4, 3, 1, 0, 0, 0, 0], "{mingled}");
    // Where one fails, the others may be ended.
    let killed = format!("{before}\n{failures} Test Files{second}\n\n\n---\nvp run: 0/2 successful.\n");
    let testing = merge(&read(&killed)).testing.unwrap();
    assert_eq!((testing.test_count, testing.tests_failed, testing.failing.len()), (None, Some(1), 1));
}

#[test]
fn where_a_runner_leaves_out_what_succeeded_nobody_knows_how_many_tests_there_are() {
    let text = stream("packages-nx-failures.txt");
    let told = merge(&read(&text));
    let testing = told.testing.unwrap();
    assert_eq!((testing.test_count, testing.tests_passed, testing.tests_failed), (None, None, Some(1)));
    assert_eq!((testing.failing, told.cases.is_some()), (vec!["./x.test.js::fails".to_owned()], false));
    assert!(read(&text)[0].warnings.iter().any(|warning| warning.contains("--output-style=static")));
    for (file, shows) in
        [("workspaces-turbo-cached.txt", "--output-logs=full"), ("packages-wireit.txt", "WIREIT_LOGGER=simple")]
    {
        let reports = read(&stream(file));
        assert!(reports[0].warnings.iter().any(|warning| warning.contains(shows)), "{file}");
        let testing = merge(&reports).testing.unwrap();
        assert_eq!((testing.test_count, testing.tests_passed, testing.tests_failed), (None, None, Some(1)), "{file}");
    }
    // All of it is there.
    let whole = text.replace("Output of 1 successful task was not shown.", "");
    assert_eq!(tests_of(&whole), [2, 1, 1, 0, 0, 0, 0]);

    let project = Project::new();
    project.write("nx.txt", stream("packages-nx-agent.txt"));
    project.run(&["begin"]).expect(0);
    let warnings =
        || project.run(&["record", "--json", "--", "cat", "nx.txt"]).expect(0).json()["warnings"].to_string();
    assert!(warnings().contains("--output-style=static"));
    project.write("nx.txt", "nothing\n");
    assert_eq!(warnings(), "null");
    project.run(&["verify", "--recompute"]).expect(0);
}

/// What each tool prints of a package whose test `t` fails, and that it has one more.
const RUNS: [(&str, &str); 5] = [
    (
        "jest",
        "FAIL ./a.test.js\n  ✓ s (1 ms)\n  ✕ t (2 ms)\n\n  ● t\n\n    no\n\nTest Suites: 1 failed, 1 total\n\
         Tests:       1 failed, 1 passed, 2 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n",
    ),
    (
        "vitest run",
        " RUN  v3.2.7\n\n ❯ a.test.js (2 tests | 1 failed) 5ms\n   ✓ s 1ms\n   × t 3ms\n     → no\n\n⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n\n \
         FAIL  a.test.js > t\nError: no\n⎯⎯⎯[1/1]⎯\n\n\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n   \
         Start at  19:13:57\n   Duration  284ms\n\n",
    ),
    (
        "node --test",
        "✔ s (1.09ms)\n✖ t (1.46ms)\nℹ tests 2\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\n\
         ℹ duration_ms 38.1\n\n✖ failing tests:\n\ntest at a.test.js:1:58\n✖ t (1.46ms)\n  Error: no\n",
    ),
    (
        "mocha",
        "\n\n  ✔ s\n  1) t\n\n\n  1 passing (7ms)\n  1 failing\n\n  1) t:\n     Error: no\n      at Context.<anonymous>\n\n\n\n",
    ),
    (
        "pytest -q",
        ".F                                                   [100%]\n=================================== FAILURES \
         ===================================\n______________________________________ t \
         _______________________________________\n\n    def t():\n>       assert 0\nE       assert 0\n\na.py:3: AssertionError\n\
         =========================== short test summary info ============================\nFAILED a.py::t - assert 0\n\
         1 failed, 1 passed in 0.02s\n",
    ),
];

#[test]
fn tests_of_one_name_in_two_packages_are_two_and_keep_apart() {
    for (command, run) in RUNS {
        let script = |heading: &str| format!("\n> {heading}\n> {command}\n\n{run}npm error Lifecycle script failed\n");
        let told = |text: &str| (tests_of(text)[..3].to_vec(), failing(text).len());
        let [a, b] = ["@m/a@1.0.0 test", "@m/b@1.0.0 test"].map(script);
        assert_eq!(told(&format!("{a}{b}")), (vec![4, 2, 2], 2), "{command}");
        let names = failing(&format!("{a}{b}"));
        assert_eq!(names.iter().filter(|name| name.starts_with("@m/b: ")).count(), 1, "{names:?}");
        for (one, other) in [("nx run a:test", "nx run b:test"), ("a@ test /app/a", "b@ test /app/b")] {
            assert_eq!(told(&[one, other].map(script).concat()).0, [4, 2, 2], "{command}");
        }
        let made = ["a", "b"].map(|name| {
            format!("make[1]: Entering directory '/app/{name}'\n{run}make[1]: Leaving directory '/app/{name}'\n")
        });
        assert_eq!(told(&made.concat()).0, [4, 2, 2], "{command}");
        // In one package it is a second attempt, whatever the script is called; without a heading it may be one.
        for again in [a.clone(), script("@m/a@1.0.0 test:again"), run.to_owned()] {
            assert_eq!(told(&format!("{a}{again}")), (vec![2, 1, 1], 1), "{command}");
        }
        assert_eq!(told(&format!("{a}{b}{a}{b}")), (vec![4, 2, 2], 2), "{command}");
        assert_eq!(told(&run.repeat(2)), (vec![2, 1, 1], 1), "{command}");
        // What tells no command is no heading.
        let quoted = format!("{a}> @m/b@1.0.0 test\nsays somebody\n{run}");
        assert_eq!(told(&quoted), (vec![2, 1, 1], 1), "{command}");
    }
}
