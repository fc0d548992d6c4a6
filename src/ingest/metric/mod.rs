//! Formats of metrics: benchmarks, load tests, mutation tests. What they tell becomes a metric of the user's own, with its
//! unit and with which way is better, so that no config is needed to judge it.
//!
//! Names are the same in every run: `bench.NAME.time`, where NAME is the benchmark's own name; `mutation.score` and
//! `mutation.survived`; `bundle.NAME.size`; `duplication.percent`; `k6.NAME.STATISTIC`; `wrk.latency.p50`.

use std::collections::BTreeMap;

use super::text::printable;
use super::{Details, Format, Parsed};
use crate::error::{Error, Reject, Result};
use crate::model::custom::median;
use crate::model::figures::{Figures, MetricFigure};
use crate::model::metrics::Direction;

pub mod autocannon_json;
pub mod bencher_text;
pub mod benchmark_dotnet_json;
pub mod benchmarkjs_text;
pub mod binutils_size_text;
pub mod brief_mutation_text;
pub mod bundle_text;
pub mod cargo_bloat_json;
pub mod cargo_mutants;
pub mod complexipy_json;
pub mod criterion;
pub mod criterion_text;
pub mod divan_text;
pub mod esbuild_metafile;
pub mod go_bench_text;
pub mod google_benchmark_json;
pub mod google_benchmark_text;
pub mod gremlins_json;
pub mod hyperfine;
pub mod hyperfine_csv;
pub mod hyperfine_markdown;
pub mod hyperfine_text;
pub mod infection_json;
pub mod jmh_json;
pub mod jmh_text;
pub mod jscpd_json;
pub mod jscpd_text;
pub mod k6_json;
pub mod lighthouse_json;
pub mod load_test_text;
pub mod locust_csv;
pub mod mitata_json;
pub mod mutmut_json;
pub mod pit_xml;
pub mod pyperf_json;
pub mod pyperf_text;
pub mod pytest_benchmark_json;
pub mod pytest_benchmark_text;
pub mod radon_mi_json;
pub mod size_limit_json;
pub mod size_limit_text;
pub mod stryker_json;
pub mod vite_build_text;
pub mod vitest_bench_json;
pub mod vitest_bench_text;
pub mod webpack_stats_json;

/// Metrics of one report that are kept; more of them are passed over, and said.
const METRICS_KEPT: usize = 1_000;

/// Samples of one report that are kept.
const SAMPLES_KEPT: usize = 500_000;

/// Longest name that is kept, in characters.
const LONGEST_NAME: usize = 200;

/// The metrics of one report.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Metrics {
    by_name: BTreeMap<String, MetricFigure>,
    samples: usize,
    dropped: usize,
}

impl Metrics {
    /// Adds a measurement. What comes again under one name is another run of the same.
    fn add(&mut self, name: &str, value: Option<f64>, unit: Option<&str>, direction: Option<Direction>) {
        let is_full = self.by_name.len() >= METRICS_KEPT && !self.by_name.contains_key(name);
        if is_full || self.samples >= SAMPLES_KEPT {
            self.dropped += 1;
            return;
        }
        let figure = self.by_name.entry(name.to_owned()).or_insert_with(|| MetricFigure {
            unit: unit.map(str::to_owned),
            direction,
            ..MetricFigure::default()
        });
        figure.samples.extend(value);
        self.samples += usize::from(value.is_some());
    }

    /// Adds the time of a benchmark, in seconds or in the unit that is told.
    pub(in crate::ingest) fn time(&mut self, benchmark: &str, value: Option<f64>, unit: &str) {
        self.add(&bench(benchmark, "time"), value, Some(unit), Some(Direction::Lower));
    }

    /// Whether the time of such a benchmark was added.
    fn has_time(&self, benchmark: &str) -> bool {
        self.by_name.contains_key(&bench(benchmark, "time"))
    }

    /// The report's figures.
    ///
    /// # Errors
    /// No result if nothing was measured.
    fn finish(self, format: &'static Format) -> Result<Parsed> {
        if self.by_name.is_empty() {
            return Err(Error::report(Reject::NoResult, "nothing was measured: the report has no result"));
        }
        let mut parsed = Parsed::new(format, Figures::default(), Details::Metrics);
        self.put_into(&mut parsed);
        Ok(parsed)
    }

    /// Puts them into a report, which may tell of other things too.
    pub(in crate::ingest) fn put_into(mut self, report: &mut Parsed) {
        for figure in self.by_name.values_mut() {
            figure.value = median(&figure.samples);
            if figure.samples.len() < 2 {
                figure.samples.clear();
            }
        }
        report.figures.metrics = self.by_name;
        if self.dropped > 0 {
            report.warnings.push(format!(
                "{} results beyond the first {METRICS_KEPT} metrics or {SAMPLES_KEPT} samples are left out",
                self.dropped
            ));
        }
    }
}

/// The name of a benchmark's metric.
fn bench(benchmark: &str, what: &str) -> String {
    format!("bench.{}.{what}", printable(benchmark, LONGEST_NAME))
}

/// A time in seconds, by the usual names of units.
fn seconds(value: f64, unit: &str) -> Option<f64> {
    let parts_of_a_second = match unit {
        "ps" => 1e12,
        "ns" | "nsec" => 1e9,
        "us" | "µs" | "μs" | "usec" => 1e6,
        "ms" | "msec" => 1e3,
        "s" | "sec" => 1.0,
        _ => return None,
    };
    value.is_finite().then_some(value / parts_of_a_second)
}

/// Mutants that were decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mutants {
    /// Tests failed, or did not end.
    detected: u64,
    /// Tests passed, or none covers them.
    undetected: u64,
}

impl Mutants {
    /// `mutation.score`, the percentage that was detected, and `mutation.survived`. Without mutants there is no score.
    fn finish(self, format: &'static Format) -> Result<Parsed> {
        let real = |count: u64| crate::model::units::Quantity::from(count).as_f64();
        let all = self.detected.saturating_add(self.undetected);
        let score = (all > 0).then(|| 100.0 * real(self.detected) / real(all));
        let mut metrics = Metrics::default();
        metrics.add("mutation.score", score, Some("%"), Some(Direction::Higher));
        metrics.add("mutation.survived", Some(real(self.undetected)), Some("mutants"), Some(Direction::Lower));
        metrics.finish(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_is_a_sample_and_nothing_is_no_result() {
        let mut metrics = Metrics::default();
        for value in [Some(3.0), Some(1.0), None, Some(2.0)] {
            metrics.time("a", value, "s");
        }
        metrics.time("b", None, "s");
        let parsed = metrics.finish(&hyperfine::FORMAT).unwrap();
        let figure = &parsed.figures.metrics["bench.a.time"];
        assert_eq!((figure.value, figure.samples.as_slice()), (Some(2.0), &[3.0, 1.0, 2.0][..]));
        assert_eq!(parsed.figures.metrics["bench.b.time"].value, None);
        let error = Metrics::default().finish(&hyperfine::FORMAT).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NoResult));
    }

    #[test]
    fn a_report_of_too_many_is_cut_and_says_so() {
        let mut metrics = Metrics::default();
        (0..METRICS_KEPT + 3).for_each(|number| metrics.time(&number.to_string(), Some(1.0), "s"));
        metrics.time("0", Some(2.0), "s");
        let parsed = metrics.finish(&hyperfine::FORMAT).unwrap();
        assert_eq!((parsed.figures.metrics.len(), parsed.warnings.len()), (METRICS_KEPT, 1));
        assert_eq!(parsed.figures.metrics["bench.0.time"].samples, [1.0, 2.0]);
        let mut metrics = Metrics::default();
        (0..SAMPLES_KEPT + 2).for_each(|_| metrics.time("a", Some(1.0), "s"));
        assert_eq!((metrics.samples, metrics.dropped), (SAMPLES_KEPT, 2));
    }

    #[test]
    fn the_score_is_absent_without_mutants() {
        let score =
            |mutants: Mutants| mutants.finish(&stryker_json::FORMAT).unwrap().figures.metrics["mutation.score"].value;
        assert_eq!(score(Mutants { detected: 3, undetected: 1 }), Some(75.0));
        assert_eq!(score(Mutants::default()), None);
    }
}
