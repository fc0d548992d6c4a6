//! Names of attributes and metrics: those of OpenTelemetry's conventions as of 1.44, and ours.

/// The loop.
pub const PIPELINE_NAME: &str = "cicd.pipeline.name";
/// One iteration of it.
pub const RUN_ID: &str = "cicd.pipeline.run.id";
/// `success`, `failure` (a regression) or `error` (it could not be measured).
pub const RESULT: &str = "cicd.pipeline.result";
/// Seconds that an iteration was measured.
pub const RUN_DURATION: &str = "cicd.pipeline.run.duration";
/// `success` or `failure`.
pub const SUITE_STATUS: &str = "test.suite.run.status";
/// `pass` or `fail`.
pub const CASE_STATUS: &str = "test.case.result.status";

/// The loop's id.
pub const LOOP_ID: &str = "highwater.loop.id";
/// Its number.
pub const ITERATION: &str = "highwater.iteration";
/// As recorded.
pub const CLASSIFICATION: &str = "highwater.classification";
/// 0–1.
pub const QUALITY_SCORE: &str = "highwater.quality_score";
/// What is recommended.
pub const RECOMMENDATION: &str = "highwater.recommendation";
/// Why.
pub const REASON: &str = "highwater.recommendation.reason";
/// An alert, as an event of the span.
pub const ALERT: &str = "highwater.alert";
/// Its rule.
pub const ALERT_RULE: &str = "highwater.alert.rule";
/// Its severity.
pub const ALERT_SEVERITY: &str = "highwater.alert.severity";
/// Its line for people.
pub const ALERT_MESSAGE: &str = "highwater.alert.message";
/// Tests that ran.
pub const TESTS: &str = "highwater.tests";
/// Percent.
pub const COVERAGE: &str = "highwater.coverage";
/// Of all tools.
pub const ERRORS: &str = "highwater.errors";
/// Of all tools.
pub const WARNINGS: &str = "highwater.warnings";
/// Alerts that count.
pub const ALERTS: &str = "highwater.alerts";
/// US dollars.
pub const COST: &str = "highwater.cost";
/// Tokens.
pub const TOKENS: &str = "highwater.tokens";
