//! Benchmarks, summaries of mutants, and sizes, which a command prints where no test runs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::ingest::metric::{
    bencher_text, benchmarkjs_text, binutils_size_text, brief_mutation_text, bundle_text, criterion_text, divan_text,
    go_bench_text, google_benchmark_text, hyperfine_text, jmh_text, jscpd_text, load_test_text, pytest_benchmark_text,
    size_limit_text, vite_build_text, vitest_bench_text,
};
use crate::ingest::size::{cloc_text, lizard_text, pygount_text, radon_cc_text, radon_raw_text, scc_text, tokei_text};
use crate::ingest::text::LONGEST_BYTES;
use crate::ingest::{Format, Input, Parsed, parse};

type Begins = fn(&str) -> bool;

/// The formats, and whether a line is the first that one has to see, but for a name that may stand on the line above.
const FORMATS: [(&Format, Begins); 24] = [
    (&pytest_benchmark_text::FORMAT, pytest_benchmark_text::begins),
    (&criterion_text::FORMAT, criterion_text::begins),
    (&bencher_text::FORMAT, bencher_text::begins),
    (&go_bench_text::FORMAT, go_bench_text::begins),
    (&divan_text::FORMAT, divan_text::begins),
    (&hyperfine_text::FORMAT, hyperfine_text::begins),
    (&google_benchmark_text::FORMAT, google_benchmark_text::begins),
    (&jmh_text::FORMAT, jmh_text::begins),
    (&benchmarkjs_text::FORMAT, benchmarkjs_text::begins),
    (&binutils_size_text::FORMAT, binutils_size_text::begins),
    (&brief_mutation_text::FORMAT, brief_mutation_text::begins),
    (&load_test_text::FORMAT, load_test_text::begins),
    (&vite_build_text::FORMAT, vite_build_text::begins),
    (&bundle_text::FORMAT, bundle_text::begins),
    (&jscpd_text::FORMAT, jscpd_text::begins),
    (&size_limit_text::FORMAT, size_limit_text::begins),
    (&vitest_bench_text::FORMAT, vitest_bench_text::begins),
    (&cloc_text::FORMAT, cloc_text::begins),
    (&tokei_text::FORMAT, tokei_text::begins),
    (&scc_text::FORMAT, scc_text::begins),
    (&pygount_text::FORMAT, pygount_text::begins),
    (&lizard_text::FORMAT, lizard_text::begins),
    (&radon_raw_text::FORMAT, radon_raw_text::begins),
    (&radon_cc_text::FORMAT, radon_cc_text::begins),
];

/// What the lines with which they begin have in them. To look for all of it at once takes less than to ask each.
static SIGNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let signs = "time:|bench:|pkg: |[Bb]enchmark|fastest|ops/sec|filename|mutant|mutations|# killed|Killed: |🎉|code|Code|NLOC|\
                 LOC: |^    [CFM] |test @ http|ApacheBench|Requests/sec|http_req|# reqs|iterations\\.| gzip: |^vite v|\
                 asset|First Load|chunk files|Size limit|brotlied|Clones found|exact clones|ESM |CJS |IIFE ";
    Regex::new(signs).ok()
});

/// Keeps the lines from the first that begins a format, and reads them when all have come.
#[derive(Default)]
pub(super) struct Measurements {
    /// The last line that was not blank.
    before: String,
    kept: BTreeMap<&'static str, Kept>,
}

struct Kept {
    format: &'static Format,
    text: String,
}

impl Measurements {
    /// The next line that stands in no tool's tests.
    pub(super) fn line(&mut self, text: &str) {
        // esbuild's rows have no sign but their last one, for which the expression would take long.
        let may_begin = text.trim_end_matches([' ', '⚠', '\u{fe0f}']).ends_with('b');
        if may_begin || SIGNS.as_ref().is_some_and(|signs| signs.is_match(text)) {
            for (format, begins) in FORMATS {
                if !self.kept.contains_key(format.name) && begins(text) {
                    let text = format!("{}\n", self.before);
                    self.kept.insert(format.name, Kept { format, text });
                }
            }
        }
        for Kept { text: kept, .. } in self.kept.values_mut().filter(|kept| kept.text.len() <= LONGEST_BYTES) {
            kept.push_str(text);
            kept.push('\n');
        }
        if !text.trim().is_empty() {
            text.clone_into(&mut self.before);
        }
    }

    /// Whether something was measured in one of these formats, or seems to be.
    pub(super) fn has_any(&self, formats: &[&str]) -> bool {
        formats.iter().any(|format| self.kept.contains_key(format))
    }

    /// What was measured. A last line that `is_cut` is no line: numbers may be missing in it.
    pub(super) fn take(&mut self, is_cut: bool) -> Vec<Parsed> {
        let read = |kept: Kept| {
            let text = if is_cut { kept.text.strip_suffix('\n').unwrap_or(&kept.text) } else { &kept.text };
            parse(&Input::bytes("(console)", text.as_bytes()), Some(kept.format)).ok()
        };
        std::mem::take(self)
            .kept
            .into_values()
            .filter(|kept| kept.text.len() <= LONGEST_BYTES)
            .filter_map(read)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::console;

    fn told(text: &str) -> Vec<(&'static str, Vec<String>)> {
        let reports = console::console(&Input::bytes("x", text.as_bytes())).into_iter();
        let told = reports.filter(|report| report.format.name != "rustc-text").map(|report| {
            let tests = report.figures.tests.map(|tests| format!("{tests} tests"));
            let metrics = report.figures.metrics.iter().map(|(name, figure)| format!("{name} {:?}", figure.value));
            (report.format.name, tests.into_iter().chain(metrics).collect())
        });
        told.collect()
    }

    const CRITERION: &str = "a sum of a long name\n                        time:   [1.0 ns 2.0 ns 3.0 ns]\n";
    const IGNORED: &str = "running 1 test\ntest a ... ignored\n\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; \
                           0 filtered out; finished in 0.00s\n\n";
    const PASSED: &str = "    Finished `test` profile [unoptimized] target(s) in 0.1s\n     Running unittests src/lib.rs (target/debug/deps/x-1)\n\n\
                          running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; \
                          finished in 0.00s\n\n";
    const BENCH: &str = "    Finished `bench` profile [optimized] target(s) in 0.1s\n     Running unittests src/lib.rs (target/release/deps/x-2)\n\n";

    #[test]
    fn cargo_bench_leaves_tests_out_and_is_no_run_of_them() {
        let metric = ("criterion-text", vec!["bench.a sum of a long name.time Some(2.0)".to_owned()]);
        for text in [format!("{IGNORED}{CRITERION}"), format!("{BENCH}{IGNORED}{CRITERION}")] {
            assert_eq!(told(&text), std::slice::from_ref(&metric), "{text}");
        }
        let tests = ("cargo-test-text", vec!["1 tests".to_owned()]);
        assert_eq!(told(&format!("{PASSED}{BENCH}{IGNORED}{CRITERION}")), [tests.clone(), metric]);
        assert_eq!(told(&format!("{PASSED}{IGNORED}"))[0].1, ["2 tests"], "nothing was measured");
        let printed = PASSED.replace("test a ... ok\n", &format!("{CRITERION}test a ... ok\n"));
        assert_eq!(told(&printed), [tests], "a test printed it");
        let skipped =
            "=== test session starts ===\ncollected 2 items\n\na.py ss [100%]\n\n==== 2 skipped in 0.01s ===\n";
        assert_eq!(told(&format!("{skipped}{CRITERION}")).len(), 2, "another tool's tests are no reason");
    }

    #[test]
    fn a_runner_tells_its_own_benchmarks() {
        let result = "BenchmarkSum-2   \t  100\t        24.42 ns/op\n";
        let verbose = "=== RUN   TestA\n--- PASS: TestA (0.00s)\npkg: x\nPASS\nok  \tx\t0.1s\n";
        let tests = ("go-test-text", vec!["1 tests".to_owned()]);
        let metric = ("go-bench-text", vec!["bench.x.BenchmarkSum.time Some(24.42)".to_owned()]);
        assert_eq!(told(&verbose.replace("PASS\n", &format!("{result}PASS\n"))), [tests.clone(), metric.clone()]);
        assert_eq!(
            told(&verbose.replace("--- PASS", &format!("pkg: x\n{result}--- PASS"))),
            std::slice::from_ref(&tests),
            "a test printed it"
        );
        assert_eq!(told(&format!("pkg: x\n{result}PASS\nok  \tx\t0.1s\n")), std::slice::from_ref(&metric));
        let failed = format!("--- FAIL: BenchmarkF\n    a_test.go:3: x\npkg: x\n{result}FAIL\nFAIL\tx\t0.1s\nFAIL\n");
        assert_eq!(told(&failed), [tests, metric], "those that did not fail are there");
        let skipped = format!("pkg: x\n{result}BenchmarkS\n--- SKIP: BenchmarkS\n{result}PASS\nok  \tx\t0.1s\n");
        let skipped = console::console(&Input::bytes("x", skipped.as_bytes()));
        let samples = skipped.iter().map(|report| report.figures.metrics["bench.x.BenchmarkSum.time"].samples.len());
        assert_eq!(samples.collect::<Vec<_>>(), [2]);
        let libtest = "running 1 test\ntest a ... bench:          45 ns/iter (+/- 1)\n\ntest result: ok. 0 passed; 0 failed; 0 \
                       ignored; 1 measured; 0 filtered out; finished in 0.10s\n";
        let metric = ("bencher-text", vec!["bench.a.time Some(45.0)".to_owned()]);
        assert_eq!(told(libtest), [("cargo-test-text", vec!["1 tests".to_owned()]), metric]);
    }

    #[test]
    fn every_format_begins_with_a_line_that_has_a_sign() {
        let Some(reports) = crate::ingest::tests_support::captures() else { return };
        for folder in std::fs::read_dir(reports).unwrap() {
            let folder = folder.unwrap().path();
            let Some((format, _)) = FORMATS.iter().find(|(format, _)| folder.ends_with(format.name)) else { continue };
            for file in std::fs::read_dir(&folder).unwrap() {
                let file = file.unwrap().path();
                let bytes = std::fs::read(&file).unwrap();
                let Ok(alone) = parse(&Input::bytes("x", &bytes), Some(format)) else { continue };
                let reports = console::console(&Input::bytes("x", &bytes)).into_iter();
                let printed = reports.filter(|report| report.format == *format).map(|report| report.figures);
                assert_eq!(printed.collect::<Vec<_>>(), [alone.figures], "{}", file.display());
            }
        }
    }

    #[test]
    fn a_last_line_without_its_end_is_none() {
        let table =
            "Benchmark       Mode  Cnt   Score   Error  Units\nSumBench.sum    avgt    5  251.5 ± 2.0   ns/op\n";
        assert_eq!(told(table).len(), 1);
        assert_eq!(told(table.strip_suffix('\n').unwrap()), []);
    }
}
