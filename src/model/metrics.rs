//! The metrics of one iteration. A group that was not measured is absent, and so is a number inside it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::ObjectId;
use super::units::Percent;

/// All that was measured at one iteration (ANALYSIS §1).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Metrics {
    /// Tests, if a test report was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub testing: Option<TestMetrics>,
    /// Coverage, if a coverage report was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageMetrics>,
    /// Findings of linters, type checkers and compilers, if any report of them was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<QualityMetrics>,
    /// Our own census of the snapshot, and complexity if a report told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codebase: Option<CodebaseMetrics>,
    /// Metrics of the user's own, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, CustomMetric>,
}

/// Counts of tests. The five counts are absent together when nothing could be collected although earlier iterations had
/// tests: a suite that does not load is broken, not empty (ANALYSIS §4, `suite_not_run`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestMetrics {
    /// `passed + failed + errored + skipped`; unit failures are not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_count: Option<u64>,
    /// Passed, flaky ones among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<u64>,
    /// Failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_failed: Option<u64>,
    /// Set-up or run error of a collected test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_errored: Option<u64>,
    /// Skipped, or failed as expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_skipped: Option<u64>,
    /// Passed at a later attempt, where the format tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_flaky: Option<u64>,
    /// What failed to import, compile or set up as a whole. Never part of `test_count`.
    pub collection_errors: u64,
    /// Names of what failed to load, at most 1,000: tests in it are neither gone nor broken, only unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_units: Vec<String>,
    /// Where the reports do not name all their tests: those that failed or errored and are named, at most 20, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// `100·passed/(passed+failed+errored)`; absent if none ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<Percent>,
    /// The object that holds the outcomes by test id, if the reports named the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<ObjectId>,
}

/// Coverage of lines, else of statements, else as the percentage that was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CoverageMetrics {
    /// `100·covered/total`, exact.
    pub percentage: Percent,
    /// Lines (or statements) that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines_covered: Option<u64>,
    /// Lines (or statements) that could run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines_total: Option<u64>,
}

/// Whether the project built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BuildStatus {
    /// A compiler's or a compiled language's test report without a build error.
    Success,
    /// A build error, or a unit that did not build.
    Failed,
}

/// Findings by what found them. Each is absent if no tool of its sort reported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QualityMetrics {
    /// Errors of linters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lint_errors: Option<u64>,
    /// Warnings of all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lint_warnings: Option<u64>,
    /// Errors of type checkers (mypy, pyright, tsc).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_errors: Option<u64>,
    /// Errors of compilers (rustc but not clippy, gcc).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_errors: Option<u64>,
    /// Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_status: Option<BuildStatus>,
    /// `lint_errors + type_errors + build_errors`, those present; absent if none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_count: Option<u64>,
    /// The same errors by tool, so that two iterations compare over the tools that both have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors_by_tool: BTreeMap<String, u64>,
}

/// Size of the code base.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodebaseMetrics {
    /// Files in the snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_count: Option<u64>,
    /// Non-blank lines of text files in the snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loc_total: Option<u64>,
    /// Mean cyclomatic complexity per function, from size reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity_score: Option<f64>,
}

/// Which way a custom metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Less is better: a time, a size.
    Lower,
    /// More is better: a rate, an accuracy.
    Higher,
}

/// One value of the user's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CustomMetric {
    /// The value; absent with a `reason` if it could not be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The samples of this iteration, as they came, where there is more than one; `value` is made of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<f64>,
    /// As declared in the config, else as the report tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// As declared in the config, else as the report tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Where it was measured (a machine, a load), if that was said. Values of different contexts are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The command that was run with it. Values of different commands are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The format of the report that told it; absent if it was given by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

impl CustomMetric {
    /// What was measured in this iteration: the samples, or the one value; nothing if there is none.
    pub fn measured(&self) -> &[f64] {
        match &self.value {
            Some(_) if !self.samples.is_empty() => &self.samples,
            Some(value) => std::slice::from_ref(value),
            None => &[],
        }
    }

    /// Whether two values were measured alike, as far as that is known.
    pub fn is_comparable(&self, other: &CustomMetric) -> bool {
        let same_command = self.command.is_none() || other.command.is_none() || self.command == other.command;
        self.context == other.context && same_command
    }
}

impl TestMetrics {
    /// Tests that ran: passed, failed or errored. `None` if the counts are unknown.
    pub fn ran(&self) -> Option<u64> {
        self.tests_passed?.checked_add(self.tests_failed?)?.checked_add(self.tests_errored?)
    }

    /// Whether a suite reported at all, with tests or with the failure to collect any.
    pub fn is_measured(&self) -> bool {
        self.test_count.is_some()
    }
}

/// Readers of single metrics, so that rules do not repeat the path through the groups.
impl Metrics {
    /// Tests in the suite.
    pub fn test_count(&self) -> Option<u64> {
        self.testing.as_ref()?.test_count
    }

    /// Tests that passed.
    pub fn tests_passed(&self) -> Option<u64> {
        self.testing.as_ref()?.tests_passed
    }

    /// Tests that ran to an outcome: passed, failed or errored.
    pub fn tests_ran(&self) -> Option<u64> {
        self.testing.as_ref()?.ran()
    }

    /// The object with the outcomes of all tests by name, where reports name them.
    pub fn cases(&self) -> Option<ObjectId> {
        self.testing.as_ref()?.cases
    }

    /// Tests that failed or errored.
    pub fn failures(&self) -> Option<u64> {
        let testing = self.testing.as_ref()?;
        testing.tests_failed?.checked_add(testing.tests_errored.unwrap_or_default())
    }

    /// The names of those, where reports name them and not the tests that pass; at most 20.
    pub fn failing(&self) -> &[String] {
        self.testing.as_ref().map_or(&[], |testing| &testing.failing)
    }

    /// The failures where nothing else is known of the tests: the report tells failures alone.
    pub fn failures_alone(&self) -> Option<u64> {
        self.failures().filter(|_| self.tests_passed().is_none())
    }

    /// Percent of the tests that ran.
    pub fn pass_rate(&self) -> Option<f64> {
        Some(self.testing.as_ref()?.pass_rate?.get())
    }

    /// Percent.
    pub fn coverage(&self) -> Option<f64> {
        Some(self.coverage.as_ref()?.percentage.get())
    }

    /// Errors of all tools together.
    pub fn error_count(&self) -> Option<u64> {
        self.quality.as_ref()?.error_count
    }

    /// Errors of linters.
    pub fn lint_errors(&self) -> Option<u64> {
        self.quality.as_ref()?.lint_errors
    }

    /// Warnings of all tools.
    pub fn lint_warnings(&self) -> Option<u64> {
        self.quality.as_ref()?.lint_warnings
    }

    /// Whether the project built.
    pub fn build_status(&self) -> Option<BuildStatus> {
        self.quality.as_ref()?.build_status
    }

    /// Files in the snapshot.
    pub fn file_count(&self) -> Option<u64> {
        self.codebase.as_ref()?.file_count
    }

    /// Non-blank lines of text files.
    pub fn loc_total(&self) -> Option<u64> {
        self.codebase.as_ref()?.loc_total
    }

    /// Mean cyclomatic complexity per function.
    pub fn complexity(&self) -> Option<f64> {
        self.codebase.as_ref()?.complexity_score
    }
}

/// The signature whose repetition shows a cycle (ANALYSIS §5): rates in tenths, so that equality is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Tests.
    pub test_count: Option<u64>,
    /// Pass rate in tenths of a percent.
    pub pass_rate_tenths: Option<u64>,
    /// Coverage in tenths of a percent.
    pub coverage_tenths: Option<u64>,
    /// Errors.
    pub error_count: Option<u64>,
}

impl Signature {
    /// The signature of an iteration; `None` if fewer than two of its parts are known.
    pub fn of(metrics: &Metrics) -> Option<Signature> {
        let signature = Signature {
            test_count: metrics.test_count(),
            pass_rate_tenths: metrics.pass_rate().map(tenths),
            coverage_tenths: metrics.coverage().map(tenths),
            error_count: metrics.error_count(),
        };
        let known =
            [signature.test_count, signature.pass_rate_tenths, signature.coverage_tenths, signature.error_count];
        (known.iter().flatten().count() >= 2).then_some(signature)
    }
}

/// A percentage in tenths, half up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the argument is a Percent, so the product is between 0 and 1000"
)]
fn tenths(percent: f64) -> u64 {
    (percent * 10.0 + 0.5 + super::units::EPS).floor() as u64
}
