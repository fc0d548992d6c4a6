//! YAML text over the built-in defaults → one valid [`LoopConfig`]; unknown keys are named and refused.
//!
//! `default.yaml` holds every default with its unit and its reason; `default.json` is made from it, because the program reads
//! the defaults at each start, and YAML takes twenty times as long. A user's file is read into patches (all keys
//! optional) straight from its text, so that errors carry line and column and `1e3`, where text is meant, stays text.

mod check;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::model::config::{
    Alerts, Capture, Classify, Controller, Endpoint, Estimate, Flake, Hook, HookPolicy, Keep, Limits, LoopConfig,
    Looping, MetricConfig, Monitor, Progress, Quality, Reports, RuleMode, Select, Stall, Tamper, TamperReplay,
    Terminate, Weights,
};
use crate::model::reruns::RerunCommand;

/// The reference: every key, its default, unit and reason.
pub const DEFAULT_YAML: &str = include_str!("default.yaml");

/// The values of [`DEFAULT_YAML`].
const DEFAULT_JSON: &str = include_str!("default.json");

/// A config file is text written by people; over this it is something else.
const MAX_BYTES: usize = 1 << 20;

/// A configuration and where its values come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// Defaults, with the file's values over them.
    pub config: LoopConfig,
    /// Dotted keys that the file sets: `stall.window`.
    pub given: BTreeSet<String>,
}

/// The built-in defaults.
///
/// # Errors
/// None in a released build: a test reads them.
pub fn defaults() -> Result<LoopConfig> {
    serde_json::from_slice(DEFAULT_JSON.as_bytes())
        .map_err(|error| Error::bug("the built-in defaults do not load").because(error.to_string()))
}

/// The text of a config file over the defaults. Empty text is the defaults.
///
/// # Errors
/// Bad input with line and column: not YAML, an unknown key (with the nearest known one), a wrong type, a key that is
/// there twice, a value out of its range. Every error names `name`.
pub fn load(text: &str, name: &str) -> Result<Effective> {
    let config = read(text, name)?;
    let mut given = BTreeSet::new();
    if let (false, Ok(value)) = (is_empty(text), serde_yaml::from_str::<serde_json::Value>(text)) {
        collect_keys(&value, "", &mut given);
    }
    Ok(Effective { config, given })
}

/// Whether a text sets nothing.
fn is_empty(text: &str) -> bool {
    text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
}

/// As [`load`], where nobody asks which keys were set.
///
/// # Errors
/// As [`load`].
pub fn read(text: &str, name: &str) -> Result<LoopConfig> {
    let mut config = defaults()?;
    if text.len() > MAX_BYTES {
        return Err(Error::bad_input("config is larger than 1 MiB")
            .in_file(name)
            .help("`highwater config show` lists the keys; is this the file that you mean?"));
    }
    if is_empty(text) {
        return Ok(config);
    }
    let patch: LoopConfigPatch = serde_yaml::from_str(text).map_err(|error| {
        // What is no YAML at all may look like an unknown key first.
        let not_yaml = serde_yaml::from_str::<serde::de::IgnoredAny>(text).err();
        explain(not_yaml.as_ref().unwrap_or(&error), name)
    })?;
    patch.apply(&mut config);
    check::check(&config).map_err(|fault| {
        let error = Error::bad_input(format!("{} {}", fault.key, fault.must)).in_file(name);
        let error = match line_of(text, &fault.key) {
            Some(line) => error.line(line),
            None => error,
        };
        error.help("`highwater config show` prints every key with its value; the defaults say why each is as it is")
    })?;
    Ok(config)
}

/// The configuration as YAML text that every YAML version reads alike: strings are always quoted (a bare `no` or `12:30`
/// is a boolean and a number to YAML 1.1), keys sorted.
///
/// # Errors
/// None in practice: all values are finite.
pub fn to_yaml(config: &LoopConfig) -> Result<String> {
    let value = serde_json::to_value(config)
        .map_err(|error| Error::bug("the configuration does not serialize").because(error.to_string()))?;
    let mut text = String::new();
    write_yaml(&value, 0, &mut text);
    Ok(text)
}

fn write_yaml(value: &serde_json::Value, depth: usize, text: &mut String) {
    let serde_json::Value::Object(map) = value else { return };
    for (key, value) in map {
        text.push_str(&"  ".repeat(depth));
        let is_plain = key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
            && !matches!(key.as_str(), "y" | "n" | "no" | "yes" | "on" | "off" | "null" | "true" | "false");
        if is_plain {
            text.push_str(key);
        } else {
            text.push_str(&serde_json::Value::from(key.as_str()).to_string());
        }
        match value {
            serde_json::Value::Object(inner) if !inner.is_empty() => {
                text.push_str(":\n");
                write_yaml(value, depth + 1, text);
            }
            // JSON is YAML: lists and scalars need no layout of their own.
            other => text.push_str(&format!(": {other}\n")),
        }
    }
}

/// Every leaf of the configuration by its dotted key, in order.
///
/// # Errors
/// As [`to_yaml`].
pub fn leaves(config: &LoopConfig) -> Result<BTreeMap<String, serde_json::Value>> {
    let value = serde_json::to_value(config)
        .map_err(|error| Error::bug("the configuration does not serialize").because(error.to_string()))?;
    let mut leaves = BTreeMap::new();
    collect_leaves(&value, "", &mut leaves);
    Ok(leaves)
}

fn collect_leaves(value: &serde_json::Value, prefix: &str, leaves: &mut BTreeMap<String, serde_json::Value>) {
    match value {
        serde_json::Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let dotted = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                collect_leaves(value, &dotted, leaves);
            }
        }
        other => {
            leaves.insert(prefix.to_owned(), other.clone());
        }
    }
}

fn collect_keys(value: &serde_json::Value, prefix: &str, keys: &mut BTreeSet<String>) {
    let mut leaves = BTreeMap::new();
    collect_leaves(value, prefix, &mut leaves);
    keys.extend(leaves.into_keys());
}

const WHOLE: &str = "a whole number of 0 or more";

/// The parser's own word, with its place, and the nearest known key where a key is unknown.
fn explain(error: &serde_yaml::Error, name: &str) -> Error {
    let text = error.to_string();
    // The place is told apart from the message; it stands at the message's end too.
    let mut message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    for (of_rust, of_people) in [("f64", "a number"), ("u32", WHOLE), ("u64", WHOLE)] {
        message = message.replace(&format!("expected {of_rust}"), &format!("expected {of_people}"));
    }
    if let Some((value, of_rust)) = message.split_once("expected struct ") {
        let rest = of_rust.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        message = format!("{value}expected keys of its own{rest}");
    }
    let mut explained = Error::bad_input(format!("config is not understood: {message}")).in_file(name);
    if let Some(place) = error.location() {
        let one_based = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        explained = explained.line_column(one_based(place.line()), one_based(place.column()));
    }
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (true, Some((unknown, known))) = (message.contains("unknown field"), quoted.split_first()) {
        explained.message = format!("config has an unknown key `{unknown}`");
        if let Some(nearest) = nearest(unknown, known) {
            return explained.help(format!("did you mean `{nearest}`? `highwater config show` prints every key"));
        }
    }
    explained.help("`highwater config show` prints every key with its value")
}

/// The known name that differs least from what was typed.
pub fn nearest<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |name: &str| edit_distance(typed, name);
    let best = known.iter().copied().min_by_key(|name| distance(name))?;
    (distance(best) <= typed.chars().count().max(3) / 2 + 1).then_some(best)
}

/// Levenshtein distance in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (above, to) in row.iter().skip(1).zip(&b) {
            let value = (diagonal + usize::from(from != *to)).min(left + 1).min(above + 1);
            diagonal = *above;
            left = value;
            next.push(value);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

/// The line, from 1, on which the last part of a dotted key stands below its first parts.
fn line_of(text: &str, dotted: &str) -> Option<u64> {
    let mut lines = text.lines().enumerate();
    let mut found = None;
    for part in dotted.split('.') {
        let is_key = |line: &str| {
            line.split('#').next().is_some_and(|code| {
                code.split([' ', '{', ',', '"', '\'', '-'])
                    .any(|word| word.strip_suffix(':') == Some(part) || word.starts_with(&format!("{part}:")))
            })
        };
        // A flow mapping holds several parts on one line.
        let same_line = found.and_then(|at| text.lines().nth(at)).is_some_and(is_key);
        if !same_line {
            found = Some(lines.find(|(_, line)| is_key(line))?.0);
        }
    }
    found.and_then(|at| u64::try_from(at + 1).ok())
}

/// A struct with every key optional, and its application to the full one. The destructuring in `apply` is exhaustive: a
/// key that is added to a group does not compile until it can be set.
macro_rules! patch {
    ($patch:ident for $target:ident { $($key:ident: $type:ty),* $(,)? } groups { $($group:ident: $inner:ident $(as $name:literal)?),* $(,)? }) => {
        #[derive(Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct $patch {
            $($key: Option<$type>,)*
            $($(#[serde(rename = $name)])? $group: Option<$inner>,)*
        }

        impl $patch {
            fn apply(self, target: &mut $target) {
                let $target { $($key,)* $($group,)* } = target;
                $(if let Some(value) = self.$key { *$key = value.into(); })*
                $(if let Some(patch) = self.$group { patch.apply($group); })*
            }
        }
    };
}

patch!(LoopConfigPatch for LoopConfig { rules: BTreeMap<String, RuleMode>, metrics: BTreeMap<String, MetricConfig> } groups {
    quality: QualityPatch, classify: ClassifyPatch, alerts: AlertsPatch, stall: StallPatch, looping: LoopingPatch as "loop",
    terminate: TerminatePatch, select: SelectPatch, flake: FlakePatch, tamper: TamperPatch, controller: ControllerPatch, monitor: MonitorPatch,
    progress: ProgressPatch, estimate: EstimatePatch, hook: HookPatch,
    reports: ReportsPatch, limits: LimitsPatch, capture: CapturePatch,
});
patch!(QualityPatch for Quality { cap: f64, min_weight: f64, acceptance: f64 } groups { weights: WeightsPatch });
patch!(WeightsPatch for Weights { validation: f64, completeness: f64, correctness: f64, readability: f64, efficiency: f64 } groups {});
patch!(ClassifyPatch for Classify { pass_rate_drop: f64, coverage_drop: f64, band: f64, healthy_pass_rate: f64, score_step: f64 } groups {});
patch!(AlertsPatch for Alerts { error_increase: u64, complexity_increase: f64, coverage_drift: f64 } groups {});
patch!(StallPatch for Stall { window: u32, max_variance: f64, min_gain: f64 } groups {});
patch!(LoopingPatch for Looping { window: u32, min_iteration: u32 } groups {});
patch!(TerminatePatch for Terminate {
    max_rollbacks_per_best: u32, rollback_gap: f64, min_confidence: f64, max_iterations: u32, max_cost: f64, max_tokens: u64, target: f64,
} groups {});
patch!(SelectPatch for Select {
    threshold: f64, primary: String, objectives: Vec<String>, revalidate: u32, reruns: u32, max_attempts: u32, keep_after_finish: Vec<Keep>,
} groups {});
patch!(FlakePatch for Flake {
    prior_break: f64, prior_rate: f64, confirmed: f64, refuted: f64, rerun: RerunCommand, max_reruns: u32, max_tests: u32,
} groups {});
patch!(TamperPatch for Tamper { replay: TamperReplay, command: String } groups {});
patch!(ControllerPatch for Controller {
    max_steps: u64, repeats: u32, window: u32, patience: u32, history: u32, allow_widen: bool, profiles: Vec<String>,
} groups {});
patch!(MonitorPatch for Monitor {
    window: u32, cycle: u32, waits: u32, file_reads: u32, similar_calls: u32, similarity: f64, searches: u32, hit_rate: f64,
    directories: u32, empty_streak: u32, no_edit: u32, refine: bool,
} groups {});
patch!(ProgressPatch for Progress {
    threshold: f64, stuck_after: u32, talk_only_after: u32, max_codepoints: u32, autojunk: bool, mask_volatile: bool,
} groups {});
patch!(EstimatePatch for Estimate { window: u32, min_spread: f64, command: Vec<String>, timeout_ms: u64 } groups { endpoint: EndpointPatch });
patch!(EndpointPatch for Endpoint { base_url: String, model: String, key_env: String } groups {});
patch!(HookPatch for Hook {
    policy: HookPolicy, command: Vec<String>, command_timeout_ms: u64, max_consecutive_blocks: u32,
} groups {});
patch!(ReportsPatch for Reports { globs: Vec<String>, skip_directories: Vec<String> } groups {});
patch!(LimitsPatch for Limits { reports: u64, report_bytes: u64, file_bytes: u64 } groups {});
patch!(CapturePatch for Capture { include: Vec<String>, exclude: Vec<String> } groups {});

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Error {
        load(text, "highwater.yaml").expect_err(text)
    }

    #[test]
    fn no_text_and_comments_alone_are_the_defaults() {
        for text in ["", "  \n\n", "# nothing set\n"] {
            let effective = load(text, "x").unwrap();
            assert_eq!(effective.config, defaults().unwrap());
            assert!(effective.given.is_empty());
        }
    }

    #[test]
    fn the_default_file_is_itself_a_valid_config_file() {
        assert_eq!(load(DEFAULT_YAML, "default.yaml").unwrap().config, defaults().unwrap());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test writes the file if it is asked to")]
    fn defaults_as_json_are_those_of_the_reference() {
        let reference: LoopConfig = serde_yaml::from_str(DEFAULT_YAML).unwrap();
        let json = serde_json::to_string_pretty(&reference).unwrap() + "\n";
        if std::env::var_os("HIGHWATER_UPDATE_DEFAULTS").is_some() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/config/default.json"), &json).unwrap();
            return;
        }
        assert_eq!(DEFAULT_JSON, json, "HIGHWATER_UPDATE_DEFAULTS=1 cargo test --lib defaults_as_json writes it");
    }

    #[test]
    fn a_file_changes_only_what_it_names() {
        let effective =
            load("stall: {window: 4}\nterminate:\n  target: 0.9\nrules: {file_deletion: off}\n", "x").unwrap();
        let mut expected = defaults().unwrap();
        expected.stall.window = 4;
        expected.terminate.target = Some(0.9);
        expected.rules.insert("file_deletion".into(), RuleMode::Off);
        assert_eq!(effective.config, expected);
        let given: Vec<&str> = effective.given.iter().map(String::as_str).collect();
        assert_eq!(given, ["rules.file_deletion", "stall.window", "terminate.target"]);
    }

    #[test]
    fn p44_unknown_keys_wrong_types_and_tabs_name_their_line_and_the_nearest_key() {
        let error = fault("stall:\n  windw: 4\n");
        assert_eq!(error.place.line, Some(2));
        assert!(error.message.contains("windw"), "{error}");
        assert!(error.help.as_deref().unwrap_or_default().contains("`window`"), "{error:?}");
        assert_eq!(fault("quality:\n  cap: many\n").place.line, Some(2));
        assert!(fault("stall:\n\twindow: 4\n").place.line.is_some());
        assert!(fault("- 1\n").place.path.is_some());
        assert!(fault("stall: {window: -1}").message.ends_with("expected a whole number of 0 or more"));
        let flat = fault("estimate:\n  endpoint: http://host\n");
        assert!(
            flat.message.ends_with("estimate.endpoint: invalid type: string \"http://host\", expected keys of its own"),
            "{flat}"
        );
        let cut = fault("windw: [\n");
        assert!(cut.message.starts_with("config is not understood") && !cut.message.contains("windw"), "{cut}");
    }

    #[test]
    fn p46_values_out_of_range_name_their_key_and_line() {
        let sum = fault("quality:\n  weights:\n    validation: 0.5\n");
        assert!(sum.message.contains("sum to 1"), "{sum}");
        assert_eq!(sum.place.line, Some(2));
        let negative = fault("quality:\n  weights: {validation: -0.3}\n");
        assert!(negative.message.contains("quality.weights.validation"), "{negative}");
        assert_eq!(negative.place.line, Some(2));
        for text in [
            "quality: {cap: .nan}",
            "select: {threshold: 1.1}",
            "terminate: {target: .inf}",
            "stall: {window: 1}",
            "stall: {window: -1}",
        ] {
            fault(text);
        }
    }

    #[test]
    fn p47_bombs_and_duplicates_are_refused() {
        fault("stall: {window: 3}\nstall: {window: 4}\n");
        fault(&format!("rules: {}", "[".repeat(10_000)));
        fault(&"#".repeat(2_000_000));
        let mut bomb = String::from("a0: &a0 [x, x]\n");
        for level in 1..30 {
            bomb.push_str(&format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1));
        }
        fault(&bomb);
    }

    #[test]
    fn p48_text_stays_text() {
        let effective = load("capture:\n  include: [no, 12:30, 1e3, 010, yes]\n", "x").unwrap();
        assert_eq!(effective.config.capture.include, ["no", "12:30", "1e3", "010", "yes"]);
    }

    #[test]
    fn p49_globs_stay_in_the_work_tree() {
        for glob in ["/**", "../x", "a/../../x", "C:/x", "", "a[", "{a", "!../x", "!", "!["] {
            let error = fault(&format!("reports:\n  globs: [{glob:?}]\n"));
            assert_eq!(error.place.line, Some(2), "{glob}: {error}");
        }
    }

    #[test]
    fn what_is_written_reads_back_the_same_in_every_yaml() {
        let mut config = defaults().unwrap();
        config.capture.include = ["no", "12:30", "on", "ü\"\n"].map(str::to_owned).to_vec();
        config.rules.insert("off".into(), RuleMode::Off);
        let text = to_yaml(&config).unwrap();
        assert_eq!(load(&text, "x").unwrap().config, config);
        assert!(text.contains("\"no\"") && text.contains("\"off\": \"off\""), "{text}");
    }

    #[test]
    fn nearest_is_silent_when_nothing_is_near() {
        assert_eq!(nearest("windw", &["window", "max_variance"]), Some("window"));
        assert_eq!(nearest("x", &["max_variance"]), None);
    }
}
