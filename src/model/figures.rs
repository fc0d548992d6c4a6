//! The figures of one report, under the keys that `inspect --json` prints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::metrics::Direction;

/// What a report tells about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReportKind {
    /// Test results.
    Test,
    /// Code coverage.
    Coverage,
    /// Findings of linters, type checkers, compilers.
    Lint,
    /// Lines of code, complexity.
    Size,
    /// Metrics by name: benchmarks, load tests, mutation tests.
    Metric,
}

impl ReportKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [ReportKind; 5] =
        [ReportKind::Test, ReportKind::Coverage, ReportKind::Lint, ReportKind::Size, ReportKind::Metric];

    /// As typed on the command line and stored.
    pub fn name(self) -> &'static str {
        match self {
            ReportKind::Test => "test",
            ReportKind::Coverage => "coverage",
            ReportKind::Lint => "lint",
            ReportKind::Size => "size",
            ReportKind::Metric => "metric",
        }
    }
}

/// Findings before de-duplication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RawFindings {
    /// Findings of level error.
    pub errors: u64,
    /// Findings of level warning.
    pub warnings: u64,
    /// Findings below that.
    pub notes: u64,
}

/// One metric that a report tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MetricFigure {
    /// Absent if the report names the metric and has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Measurements that are independent runs, where there is more than one; `value` is their median.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<f64>,
    /// As the report has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which way is better, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

macro_rules! figures {
    ($($(#[$doc:meta])* $key:ident,)*) => {
        /// The figures of one report: the keys of its kind, each absent where the report does not tell it. Counts.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub struct Figures {
            $($(#[$doc])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $key: Option<u64>,)*
            /// Lint: counts before de-duplication, where they differ.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub raw: Option<RawFindings>,
            /// Coverage: percentage of lines, else of statements, of a report that tells no counts of them.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub percent_covered: Option<crate::model::units::Percent>,
            /// Size: sum of the cyclomatic complexity of all functions.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ccn_total: Option<crate::model::units::Quantity>,
            /// Size: the largest cyclomatic complexity of a function.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ccn_max: Option<crate::model::units::Quantity>,
            /// Metric: each by its name.
            #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
            pub metrics: BTreeMap<String, MetricFigure>,
        }

        impl Figures {
            /// The counts that are there, by key, in the order of the corpus's README.
            pub fn counts(&self) -> Vec<(&'static str, u64)> {
                [$((stringify!($key), self.$key),)*].into_iter().filter_map(|(key, count)| Some((key, count?))).collect()
            }
        }
    };
}

figures! {
    /// Tests: `passed + failed + errored + skipped`, always.
    tests,
    /// Tests that passed (at their last attempt).
    passed,
    /// Tests that failed.
    failed,
    /// Tests that could not be run to their end, and units that failed as a whole.
    errored,
    /// Tests that were skipped, or failed as expected.
    skipped,
    /// Of the passed, those that failed before in the same run.
    flaky,
    /// Lines that ran.
    lines_covered,
    /// Lines that could run.
    lines_total,
    /// Branches that were taken.
    branches_covered,
    /// Branches that could be taken.
    branches_total,
    /// Functions that were called.
    functions_covered,
    /// Functions that could be called.
    functions_total,
    /// Statements that ran.
    statements_covered,
    /// Statements that could run.
    statements_total,
    /// Regions that ran.
    regions_covered,
    /// Regions that could run.
    regions_total,
    /// Findings of level error.
    errors,
    /// Findings of level warning.
    warnings,
    /// Findings below that.
    notes,
    /// Findings in all: `errors + warnings + notes`.
    total,
    /// Findings that a comment or a baseline in the project silenced; not in `total`.
    suppressed,
    /// Source files.
    files,
    /// Lines.
    lines,
    /// Lines of code.
    code,
    /// Lines of comment.
    comments,
    /// Blank lines.
    blanks,
    /// Functions.
    functions,
    /// Lines of code inside functions.
    nloc,
}
