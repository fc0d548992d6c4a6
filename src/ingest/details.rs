//! What is behind a report's figures: tests, lines, findings.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use super::coverage::FileCoverage;
use crate::model::cases::TestCases;

/// What is behind the figures, by kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Details {
    /// Of a test report.
    Tests(TestDetails),
    /// Of a coverage report.
    Coverage(CoverageDetails),
    /// Of a report of findings.
    Lint(LintDetails),
    /// Of a report on size.
    Size(SizeDetails),
    /// Of a report of metrics: the figures are all there is.
    Metrics,
}

/// The tests behind a test report's figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestDetails {
    /// By id.
    pub cases: TestCases,
    /// Results whose id was met before; in the figures each is a test of its own.
    pub duplicates: u64,
    /// Names of what failed outside any test, at most 1,000 of them.
    pub failed_units: Vec<String>,
    /// How many units failed outside any test. They are part of `tests` and `errored` of the figures.
    pub unit_failures: u64,
    /// The language is compiled, so that results at all mean that the project built.
    pub compiled: bool,
    /// Results that are in the figures but not in `cases`: beyond [`super::test::CASES_KEPT`], or not named by a text.
    pub dropped: u64,
    /// Outcomes in the figures beyond one for each test.
    pub extra: Extra,
    /// Of the ids in `cases`, how many results of each are an error that was thrown in a test or around it, which node-tap and
    /// tape tell like an assertion: it has no counterpart once that passes. At most 1,000 ids.
    pub thrown: BTreeMap<String, u64>,
    /// Only what failed is in it: how many tests passed is not known, though the figures say none.
    pub only_failed: bool,
}

/// Outcomes of tests that have a worse one besides: they failed again when they were torn down, or in subtests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// Counted as passed.
    pub passed: u64,
    /// Counted as failed.
    pub failed: u64,
}

impl AddAssign for Extra {
    fn add_assign(&mut self, other: Extra) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
    }
}

/// The lines and branches behind a coverage report's figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoverageDetails {
    /// By file, as the report names it.
    pub files: BTreeMap<String, FileCoverage>,
}

/// What sort of tool a finding comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// A linter, a formatter, a scanner.
    Linter,
    /// A type checker.
    TypeChecker,
    /// A compiler.
    Compiler,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Below a warning.
    Note,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The tool's name, in lower case.
    pub tool: String,
    /// The rule, if it has a name: `E0308`, `no-unused-vars`.
    pub rule: Option<String>,
    /// How bad.
    pub level: Level,
    /// The file, as the report names it. Text only: never opened.
    pub path: Option<String>,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Its first lines, on one line, fit to be shown.
    pub message: String,
}

/// Findings of one tool: counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCounts {
    /// Of level error.
    pub errors: u64,
    /// Of level warning.
    pub warnings: u64,
    /// Below that.
    pub notes: u64,
    /// What sort of tool it is.
    pub sort: Sort,
}

/// The findings behind a lint report's figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintDetails {
    /// In the order of the report, at most [`super::lint::FINDINGS_KEPT`].
    pub findings: Vec<Finding>,
    /// Findings that were counted but, beyond that limit, not kept.
    pub dropped: u64,
    /// Exact counts by tool; a tool that found nothing has zeros.
    pub by_tool: BTreeMap<String, ToolCounts>,
}

/// What a report on size tells beyond its figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeDetails {
    /// Mean cyclomatic complexity of a function.
    pub complexity_mean: Option<f64>,
}
