//! Ranges of what is declared of metrics of the user's own.

use super::Fault;
use crate::model::config::{Effect, LoopConfig};

/// Noise and effects are sizes; a range has its lower end first.
pub(super) fn check(
    config: &LoopConfig,
    within: impl Fn(&str, f64, f64, f64) -> Result<(), Fault>,
    at_least: impl Fn(&str, u64, u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for (name, metric) in &config.metrics {
        let sizes = [("min_effect", metric.min_effect.map(Effect::size)), ("sigma", metric.sigma), ("cv", metric.cv)];
        for (key, size) in sizes {
            within(&format!("metrics.{name}.{key}"), size.unwrap_or(0.0), 0.0, f64::MAX)?;
        }
        at_least(&format!("metrics.{name}.repeats"), metric.repeats.unwrap_or(1).into(), 1)?;
        if let Some(bounds) = metric.bounds {
            let key = format!("metrics.{name}.bounds");
            let low = bounds.min.unwrap_or(f64::MIN);
            within(&format!("{key}.min"), low, f64::MIN, f64::MAX)?;
            within(&format!("{key}.max"), bounds.max.unwrap_or(f64::MAX), low, f64::MAX)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::config::load;

    #[test]
    fn sizes_are_not_negative_and_a_range_has_its_lower_end_first() {
        let read = |declared: &str| load(&format!("metrics: {{m: {{{declared}}}}}\n"), "x");
        let all = "direction: lower, unit: ms, min_effect: 2 %, repeats: 3, aggregate: mean, context: ci, sigma: 0.1, cv: 0.02, bounds: {min: 0, max: 9}, guard: true";
        let config = read(all).unwrap().config;
        let text = crate::config::to_yaml(&config).unwrap();
        assert_eq!(load(&text, "x").unwrap().config, config, "a frozen config is read as it was");
        for (bad, key) in [
            ("min_effect: -1", "metrics.m.min_effect"),
            ("min_effect: -2 %", "metrics.m.min_effect"),
            ("sigma: -1", "metrics.m.sigma"),
            ("cv: .nan", "metrics.m.cv"),
            ("repeats: 0", "metrics.m.repeats"),
            ("bounds: {min: 2, max: 1}", "metrics.m.bounds.max"),
        ] {
            let error = read(bad).unwrap_err();
            assert!(error.message.starts_with(key), "{bad}: {error}");
        }
        for bad in ["direction: up", "min_effect: x", "sigmas: 1", "aggregate: mode"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
