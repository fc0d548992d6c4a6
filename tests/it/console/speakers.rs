//! Lines behind the name of who wrote them, or behind a time.

use highwater::ingest::{Details, Input, merge::merge, parse_all};

use super::{capture, findings_of, read, stream, tests_of, told};

/// Two packages with a file of tests of the same name, tested side by side.
#[test]
fn what_a_runner_of_workspaces_marks_is_read_for_each_package_by_itself() {
    let vitest = |tests: &[u64; 5]| ("vitest-text", tests.to_vec());
    let (web, api) = (vitest(&[2, 1, 1, 0, 0]), vitest(&[3, 2, 0, 0, 1]));
    for runner in ["turbo", "pnpm", "lerna"] {
        let text = stream(&format!("workspaces-{runner}.txt"));
        assert_eq!(told(&text), [api.clone(), web.clone()], "{runner}");
        assert_eq!(tests_of(&text), [5, 3, 1, 0, 1, 0, 0], "{runner}");
    }
    let both = stream("workspaces-concurrently.txt");
    assert_eq!(told(&both), [("tap", vec![3, 2, 1, 0, 0]), web]);
}

/// Runners that leave out blank lines, and those whose marks are made equally long or tell other things.
#[test]
fn what_each_command_says_is_told_by_its_mark_whatever_it_looks_like() {
    for (file, expected) in [
        ("workspaces-pnpm-mocha-jest.txt", [9, 5, 2, 0, 2, 0, 0]),
        ("workspaces-nx-mocha-jest-node.txt", [11, 6, 3, 0, 2, 0, 0]),
        ("workspaces-lerna-mocha.txt", [4, 2, 1, 0, 1, 0, 0]),
        ("packages-nx-mocha.txt", [4, 2, 1, 0, 1, 0, 0]),
        ("workspaces-concurrently-pad-prefix.txt", [9, 5, 2, 0, 2, 0, 0]),
        ("workspaces-concurrently-p-command.txt", [9, 5, 2, 0, 2, 0, 0]),
        ("workspaces-concurrently-p-time.txt", [9, 5, 2, 0, 2, 0, 0]),
        ("workspaces-concurrently-index-name.txt", [9, 5, 2, 0, 2, 0, 0]),
        ("workspaces-poe.txt", [8, 4, 1, 1, 2, 0, 0]),
    ] {
        assert_eq!(tests_of(&stream(file)), expected, "{file}");
    }
}

/// And a log says what the command said.
#[test]
fn a_finding_in_a_file_of_one_name_is_one_in_each_package() {
    for (file, tool, errors, warnings) in [
        ("workspaces-pnpm-biome.txt", "biome", 4, 0),
        ("workspaces-pnpm-oxlint.txt", "oxlint", 0, 2),
        ("workspaces-pnpm-prettier.txt", "prettier", 2, 0),
        ("packages-npm-eslint.txt", "eslint", 4, 0),
    ] {
        let text = stream(file);
        let expected = (vec![(tool.to_owned(), errors)], warnings);
        assert_eq!(findings_of(&text), expected, "{file}");
        let log = parse_all(&Input::bytes("lint.log", text.as_bytes()), None).unwrap();
        let quality = merge(&log).quality.unwrap();
        assert_eq!((quality.errors_by_tool.into_iter().collect(), quality.lint_warnings.unwrap()), expected, "{file}");
    }
    // So it is where headings tell the packages, and where it is told again it is no other.
    let tsc = |package: &str| format!("\n> {package}@1.0.0 lint\n> tsc\n\nsrc/a.ts(1,1): error TS2322: no\n");
    let errors = |text: &str| findings_of(text).0[0].1;
    assert_eq!(errors(&[tsc("@m/a"), tsc("@m/b")].concat()), 2);
    assert_eq!(errors(&[tsc("@m/a"), tsc("@m/b"), tsc("@m/a")].concat()), 2);
    let scripts = "packages/a lint$ tsc\npackages/a lint: src/a.ts(1,1): error TS2322: no\n";
    assert_eq!(errors(&[scripts, &scripts.replace(" lint", " build")].concat()), 1, "two scripts of one package");
}

/// Any real output, behind any mark, tells what it tells without one.
#[test]
fn a_mark_before_each_line_changes_no_figure() {
    let captures = [
        "pytest-text/good.txt",
        "cargo-test-text/good.txt",
        "go-test-text/good.txt",
        "jest-text/good.txt",
        "rspec-text/good.txt",
        "ruff-text/good.txt",
        "tsc-text/good.txt",
        "maven-text/good.txt",
    ];
    let marks = [
        "2026-05-01T10:11:12.1234567Z ",
        "test\tRun tests\t2026-05-01T10:11:12.1234567Z ",
        "web-1  | ",
        "10:11:12 web.1  | ",
        "web:test | ",
        "    +test | ",
        "@acme/web:test: ",
        "packages/web test: ",
        "[0] ",
        "web: ",
        "2026-05-01T10:11:12.123456Z 01O ",
        "2026-05-01 10:11:12,345 ",
        "May 01 10:11:12 ",
        "10:11:12 ",
        "#12 0.345 ",
        "[CI/Run the tests]   | ",
    ];
    for file in captures {
        let text = capture(file);
        let plain = told(&text);
        assert!(!plain.is_empty(), "{file}");
        for mark in marks {
            let marked: String = text.lines().map(|line| format!("{mark}{line}\n")).collect();
            assert_eq!(told(&marked), plain, "{file} behind {mark:?}");
        }
    }
}

/// Where a run is short, half of what there is is the runner's own.
#[test]
fn a_short_run_behind_a_mark_is_read() {
    let run =
        "PASS ./a.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nTime:        0.5 s\n";
    let marked: String = run.lines().map(|line| format!("web:test: {line}\n")).collect();
    let log =
        format!("• Packages in scope: web\n• Running test\n{marked}\n Tasks:    1 successful\nCached:    0 cached\n");
    assert_eq!(told(&log), told(run));
    assert_eq!(told(run).len(), 1);
}

#[test]
fn tests_of_the_same_name_in_two_packages_are_two_tests() {
    let run = capture("pytest-text/good-verbose.txt");
    let told_by = |package: &str| -> String { run.lines().map(|line| format!("{package}:test: {line}\n")).collect() };
    let both = told_by("web") + &told_by("api");
    let reports = read(&both);
    assert_eq!(reports.len(), 2);
    let names: Vec<&String> = reports
        .iter()
        .flat_map(|report| match &report.details {
            Details::Tests(tests) => tests.cases.cases.keys(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(
        names.iter().any(|name| name.starts_with("api:test: "))
            && names.iter().any(|name| name.starts_with("web:test: "))
    );
    assert_eq!(tests_of(&both), tests_of(&run).map(|count| count * 2));
}

/// GitLab's runner writes a line as it comes, in pieces.
#[test]
fn a_line_in_pieces_is_one_line() {
    let plain = capture("pytest-text/good.txt");
    let time = "2026-05-01T10:11:12.123456Z";
    let pieces = |line: &str| {
        let middle = line.char_indices().nth(line.chars().count() / 2).map_or(0, |(at, _)| at);
        let (one, two) = line.split_at(middle);
        format!("{time} 01O {one}\n{time} 01O+{two}\n")
    };
    let log: String = plain.lines().map(pieces).collect();
    let before = format!("{time} 00O section_start:1777630272:step_script\r\u{1b}[0K\n{time} 00O+$ pytest\n");
    assert_eq!(told(&format!("{before}{log}{time} 00O Job succeeded\n")), told(&plain));
    assert!(told(&log.replace(" 01O+", " 01O ")).is_empty());
}

/// Steps of a build, which BuildKit runs side by side, are no names: the next build numbers them anew.
#[test]
fn the_number_of_a_step_is_no_part_of_a_name() {
    let names = |text: &str| -> Vec<String> {
        let reports = read(text);
        let cases = reports.iter().flat_map(|report| match &report.details {
            Details::Tests(tests) => tests.cases.cases.keys(),
            other => panic!("{other:?}"),
        });
        cases.cloned().collect()
    };
    let run = capture("pytest-text/good-verbose.txt");
    let noise = "#11 [lint 1/2] RUN sleep 1\n";
    let log: String = run.lines().map(|line| format!("#12 0.345 {line}\n{noise}")).collect();
    assert_eq!(names(&log), names(&run));
    assert!(!names(&run).is_empty());
}

#[test]
fn what_stands_in_a_run_counts_where_scripts_run_at_the_same_time() {
    let (run, end) =
        (" RUN  v4.1.12 /app/b\n\n", " Test Files  1 passed (1)\n      Tests  3 passed (3)\n   Start at  06:58:56\n\n");
    let errors = "x.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.\n";
    let vitest = ("vitest-text", vec![3, 3, 0, 0, 0]);
    for failed in [
        "npm error code 2\n",
        "npm ERR! code 2\n",
        "ERROR: \"tsc\" exited with 2.\n",
        "error Command failed with exit code 2.\n",
        " ELIFECYCLE  Command failed with exit code 2.\n",
        "❌ [packages/c:check] Failed with exit status 2\n",
    ] {
        let told = told(&format!("{run}{errors}{failed}{end}"));
        assert_eq!(told.first(), Some(&vitest), "{failed}");
        assert_eq!(told.last().map(|(name, counts)| (*name, counts[0])), Some(("tsc-text", 1)), "{failed}");
        assert_eq!(told.len(), 2, "{failed}");
    }
    for printed in ["", "npm error\n", "> web@1.0.0 check\n> tsc\n", "  npm error code 2\n"] {
        assert_eq!(
            told(&format!("{run}{errors}{printed}{end}")),
            std::slice::from_ref(&vitest),
            "a test printed it: {printed}"
        );
    }
}

/// A line of Go's is none of vet's where a mark stands before it, which plain reading would take for the beginning of a path.
#[test]
fn go_s_tests_behind_a_mark_are_tests() {
    let lines = [
        "=== RUN   TestY",
        "    y_test.go:3: bad",
        "--- FAIL: TestY (0.00s)",
        "FAIL",
        "FAIL\texample.com/y\t0.004s",
        "FAIL",
    ];
    for mark in ["[0] ", "[api] ", "app-1  | "] {
        let text: String = lines.iter().map(|line| format!("{mark}{line}\n")).collect();
        assert_eq!(told(&text), [("go-test-text", vec![1, 0, 1, 0, 0])], "{mark}");
    }
    let gotestsum = capture("gotestsum-text/good-standard-verbose.txt");
    let marked: String = gotestsum.lines().map(|line| format!("2026-11-27T07:00:00.0000000Z {line}\n")).collect();
    assert_eq!(told(&marked), told(&gotestsum), "what it lets go say counts once");
}
