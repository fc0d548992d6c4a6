//! The ranges of what a config may say.

mod metrics;
mod progress;

use crate::model::config::{LoopConfig, Weights, is_plain_glob};
use crate::model::verdict::Dimension;

/// A value that is out of its range.
pub(super) struct Fault {
    /// Its dotted key.
    pub key: String,
    /// What must be true of it.
    pub must: String,
}

/// The first value that is out of its range.
pub(super) fn check(config: &LoopConfig) -> Result<(), Fault> {
    let within = |key: &str, value: f64, low: f64, high: f64| {
        if (low..=high).contains(&value) {
            Ok(())
        } else {
            Err(Fault { key: key.to_owned(), must: format!("must be between {low} and {high}, not {value}") })
        }
    };
    let at_least = |key: &str, value: u64, low: u64| {
        if value >= low {
            Ok(())
        } else {
            Err(Fault { key: key.to_owned(), must: format!("must be at least {low}, not {value}") })
        }
    };
    check_weights(&config.quality.weights, within)?;
    within("quality.cap", config.quality.cap, 1.0, 100.0)?;
    within("quality.min_weight", config.quality.min_weight, 0.0, 1.0)?;
    within("quality.acceptance", config.quality.acceptance, 0.0, 1.0)?;
    within("classify.pass_rate_drop", config.classify.pass_rate_drop, 0.0, 100.0)?;
    within("classify.coverage_drop", config.classify.coverage_drop, 0.0, 100.0)?;
    within("classify.band", config.classify.band, 0.0, 100.0)?;
    within("classify.healthy_pass_rate", config.classify.healthy_pass_rate, 0.0, 100.0)?;
    within("classify.score_step", config.classify.score_step, 0.0, 1.0)?;
    within("alerts.complexity_increase", config.alerts.complexity_increase, 0.0, 1000.0)?;
    within("alerts.coverage_drift", config.alerts.coverage_drift, 0.0, 100.0)?;
    at_least("stall.window", config.stall.window.into(), 2)?;
    within("stall.max_variance", config.stall.max_variance, 0.0, 1.0)?;
    within("stall.min_gain", config.stall.min_gain, 0.0, 1.0)?;
    at_least("loop.window", config.looping.window.into(), 2)?;
    within("terminate.rollback_gap", config.terminate.rollback_gap, 0.0, 1.0)?;
    within("terminate.min_confidence", config.terminate.min_confidence, 0.0, 1.0)?;
    if let Some(target) = config.terminate.target {
        within("terminate.target", target, 0.0, 1.0)?;
    }
    if let Some(cost) = config.terminate.max_cost {
        within("terminate.max_cost", cost, 0.0, 1e12)?;
    }
    within("select.threshold", config.select.threshold, 0.0, 1.0)?;
    at_least("select.max_attempts", config.select.max_attempts.into(), 1)?;
    within("flake.prior_break", config.flake.prior_break, 1e-6, 0.5)?;
    within("flake.prior_rate", config.flake.prior_rate, 1e-6, 0.5)?;
    within("flake.confirmed", config.flake.confirmed, 0.5, 1.0)?;
    within("flake.refuted", config.flake.refuted, 0.0, 0.5)?;
    check_watching(config, within, at_least)?;
    progress::check(config, within, at_least)?;
    at_least("limits.reports", config.limits.reports, 1)?;
    at_least("limits.report_bytes", config.limits.report_bytes, 1)?;
    metrics::check(config, within, at_least)?;
    let globs = [
        // What stands after `!` is a glob, too: of files that are no reports.
        ("reports.globs", &config.reports.globs, "!"),
        ("capture.include", &config.capture.include, ""),
        ("capture.exclude", &config.capture.exclude, ""),
    ];
    for (key, globs, sign) in globs {
        for glob in globs {
            check_glob(glob.strip_prefix(sign).unwrap_or(glob))
                .map_err(|why| Fault { key: key.to_owned(), must: format!("has the glob {glob:?}, which {why}") })?;
        }
    }
    Ok(())
}

fn check_weights(weights: &Weights, within: impl Fn(&str, f64, f64, f64) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut sum = 0.0;
    for dimension in Dimension::ALL {
        within(&format!("quality.weights.{}", dimension.name()), weights.of(dimension), 0.0, 1.0)?;
        sum += weights.of(dimension);
    }
    if (sum - 1.0).abs() > 1e-6 {
        return Err(Fault { key: "quality.weights".into(), must: format!("must sum to 1, not {sum}") });
    }
    Ok(())
}

/// Counts below these would fire on a healthy run's first steps.
fn check_watching(
    config: &LoopConfig,
    within: impl Fn(&str, f64, f64, f64) -> Result<(), Fault>,
    at_least: impl Fn(&str, u64, u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let controller = &config.controller;
    at_least("controller.max_steps", controller.max_steps, 1)?;
    at_least("controller.repeats", controller.repeats.into(), 2)?;
    at_least("controller.window", controller.window.into(), controller.repeats.into())?;
    at_least("controller.patience", controller.patience.into(), 1)?;
    // Twelve snapshots are two rounds of the longest period, and patience looks one further back.
    at_least("controller.history", controller.history.into(), 12)?;
    at_least("controller.history", controller.history.into(), controller.window.into())?;
    at_least("controller.history", controller.history.into(), u64::from(controller.patience) + 1)?;
    let monitor = &config.monitor;
    at_least("monitor.cycle", monitor.cycle.into(), 2)?;
    at_least("monitor.waits", monitor.waits.into(), monitor.cycle.into())?;
    at_least("monitor.window", monitor.window.into(), monitor.waits.max(monitor.similar_calls).into())?;
    at_least("monitor.file_reads", monitor.file_reads.into(), 2)?;
    at_least("monitor.similar_calls", monitor.similar_calls.into(), 2)?;
    within("monitor.similarity", monitor.similarity, 0.0, 1.0)?;
    at_least("monitor.searches", monitor.searches.into(), 1)?;
    within("monitor.hit_rate", monitor.hit_rate, 0.0, 1.0)?;
    at_least("monitor.directories", monitor.directories.into(), 2)?;
    at_least("monitor.empty_streak", monitor.empty_streak.into(), 2)?;
    at_least("monitor.no_edit", monitor.no_edit.into(), 2)
}

/// Globs are relative to the work tree and stay in it.
fn check_glob(glob: &str) -> Result<(), String> {
    if glob.is_empty() {
        return Err("is empty".into());
    }
    if glob.starts_with('/') || glob.starts_with('\\') || glob.get(1..2) == Some(":") {
        return Err("is absolute".into());
    }
    if glob.split('/').any(|part| part == "..") {
        return Err("leaves the work tree".into());
    }
    if is_plain_glob(glob) {
        return Ok(());
    }
    globset::Glob::new(glob).map(|_| ()).map_err(|error| format!("is not a glob: {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_need_not_be_tried_is_a_glob() {
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            let longer = texts.iter().flat_map(|text| "*?/a!-,^".chars().map(move |c| format!("{text}{c}")));
            texts = longer.collect();
            assert!(texts.iter().all(|text| is_plain_glob(text) && globset::Glob::new(text).is_ok()));
        }
        assert!(["[", "a{b", "}", "\\"].iter().all(|text| !is_plain_glob(text)));
    }
}
