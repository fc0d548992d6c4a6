//! Ranges of what is judged beside reports: the progress score, the estimate and whom it may ask; and of what hooks do.

use super::Fault;
use crate::model::config::{Endpoint, Estimate, LoopConfig};

/// Milliseconds that estimators may take at most: nobody waits longer for an iteration to be recorded.
const MAX_TIMEOUT_MS: u64 = 10_000;

pub(super) fn check(
    config: &LoopConfig,
    within: impl Fn(&str, f64, f64, f64) -> Result<(), Fault>,
    at_least: impl Fn(&str, u64, u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    within("progress.threshold", config.progress.threshold, 0.0, 1.0)?;
    at_least("progress.stuck_after", config.progress.stuck_after.into(), 1)?;
    at_least("progress.talk_only_after", config.progress.talk_only_after.into(), 1)?;
    at_least("estimate.window", config.estimate.window.into(), 2)?;
    within("estimate.min_spread", config.estimate.min_spread, 0.0, 100.0)?;
    at_least("estimate.timeout_ms", config.estimate.timeout_ms, 1)?;
    at_least("hook.command_timeout_ms", config.hook.command_timeout_ms, 1)?;
    if config.hook.command.first().is_some_and(String::is_empty) {
        return Err(Fault { key: "hook.command".into(), must: "must begin with the program's name".into() });
    }
    check_estimators(&config.estimate)
}

/// Nothing here tells a value: a key may stand where it does not belong.
fn check_estimators(config: &Estimate) -> Result<(), Fault> {
    let fault = |key: &str, must: &str| Err(Fault { key: format!("estimate.{key}"), must: must.to_owned() });
    if config.timeout_ms > MAX_TIMEOUT_MS {
        return fault("timeout_ms", "must be at most 10000");
    }
    if config.command.first().is_some_and(String::is_empty) {
        return fault("command", "must begin with the program's name");
    }
    let Endpoint { base_url, model, key_env } = &config.endpoint;
    let is_name = |name: &String| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if key_env.as_ref().is_some_and(|name| !is_name(name)) {
        return fault("endpoint.key_env", "must be the name of an environment variable, not the key itself");
    }
    let Some(url) = base_url else { return Ok(()) };
    let rest = url.strip_prefix("https://").or(url.strip_prefix("http://"));
    match rest.and_then(|rest| rest.split('/').next()) {
        None | Some("") => return fault("endpoint.base_url", "must begin with https:// or http:// and name a host"),
        Some(host) if host.contains('@') => {
            return fault(
                "endpoint.base_url",
                "must hold no password: estimate.endpoint.key_env names where the key is",
            );
        }
        Some(_) => {}
    }
    if url.chars().any(|c| !c.is_ascii_graphic()) || url.contains(['?', '#']) {
        return fault("endpoint.base_url", "must be a plain URL without blanks and query");
    }
    if model.is_none() { fault("endpoint.base_url", "needs estimate.endpoint.model beside it") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use crate::config::load;

    #[test]
    fn an_endpoint_has_a_url_and_a_model_and_no_key_in_the_config() {
        let endpoint = |fields: &str| load(&format!("estimate:\n  endpoint: {{{fields}}}\n"), "x");
        endpoint("base_url: 'https://host:8080/v1', model: m, key_env: API_KEY").unwrap();
        for wrong in [
            "base_url: 'https://host/v1'",
            "base_url: 'ftp://host', model: m",
            "base_url: 'https://', model: m",
            "base_url: 'https://me:secret@host/v1', model: m",
            "base_url: 'https://host/v1?key=secret', model: m",
            "base_url: 'https://host/a b', model: m",
            "base_url: 'https://host', model: m, key_env: 'sk-123'",
        ] {
            let error = endpoint(wrong).unwrap_err();
            assert!(error.message.starts_with("estimate.endpoint."), "{wrong}: {error}");
            assert!(!error.to_string().contains("secret") && !error.to_string().contains("sk-"), "{error}");
        }
    }

    #[test]
    fn values_out_of_range_name_their_key() {
        for (text, key) in [
            ("estimate: {timeout_ms: 10001}", "estimate.timeout_ms"),
            ("estimate: {command: ['']}", "estimate.command"),
            ("estimate: {window: 1}", "estimate.window"),
            ("hook: {command: ['']}", "hook.command"),
            ("hook: {command_timeout_ms: 0}", "hook.command_timeout_ms"),
            ("progress: {threshold: 1.5}", "progress.threshold"),
            ("progress: {stuck_after: 0}", "progress.stuck_after"),
        ] {
            assert!(load(text, "x").unwrap_err().message.starts_with(key), "{text}");
        }
    }
}
