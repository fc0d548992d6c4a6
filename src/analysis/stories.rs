//! The stories of `fixtures/stories`: for every rule, every detector and each of their thresholds one that trips it, and one
//! that just does not. Where there is a threshold, moving it by a notch makes the second trip as well: it is that key that
//! decides.

mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;
    use serde_yaml::Value;

    use crate::analysis::detect::{DETECTORS, History, Seen};
    use crate::analysis::monitor::Monitor;
    use crate::analysis::testing::{self, Story, cases, config, tests};
    use crate::analysis::{RULES, Verdict, monitor, steps};
    use crate::model::calls::CallLine;
    use crate::model::config::LoopConfig;
    use crate::model::edits::TestEdits;
    use crate::model::ids::{Iteration, ObjectId};
    use crate::model::lost_lines::LostLines;
    use crate::model::metrics::{Metrics, Signature};
    use crate::model::proof::TamperProof;
    use crate::model::tests_support::digest;

    use crate::model::reruns::Runs;
    use crate::model::steps::State;
    use crate::model::verdict::{Classification, Severity, Status};

    /// Detectors that are told of scores and numbers of iterations to the point, as no loop of few words would have them.
    const TOLD_OF_HISTORIES: [&str; 3] = ["stalled", "infinite_loop", "metric_cycling"];

    /// An entry of a rule's file.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pair {
        /// The key that decides, where a number does.
        #[serde(default)]
        threshold: String,
        /// What both stories set over the defaults.
        #[serde(default)]
        config: Value,
        /// The status that the finding has, where it is that which is decided.
        status: Option<Status>,
        trips: Value,
        silent: Value,
        /// What the threshold is moved to.
        #[serde(default)]
        notch: Value,
    }

    /// An iteration that is recorded, in few words. It has code of its own unless its tree is told.
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Recorded {
        /// 8 unless told.
        passed: Option<u64>,
        failed: u64,
        broken_units: Vec<String>,
        /// `id P`, `id F`, instead of counts.
        tests: Vec<String>,
        runs: BTreeMap<String, Again>,
        builds: Option<bool>,
        errors: BTreeMap<String, u64>,
        coverage: Option<f64>,
        complexity: Option<f64>,
        files: Option<u64>,
        latency: Option<f64>,
        context: Option<String>,
        tree: Option<u8>,
        says: Option<String>,
        changed_lines: u64,
        estimate: Option<f64>,
        test_edits: Option<TestEdits>,
        proof: Option<TamperProof>,
        lost_lines: Option<LostLines>,
        /// Lines that ran, and lines in all, instead of `coverage`.
        lines: Option<(u64, u64)>,
    }

    /// Further runs of a test.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Again {
        earlier: Runs,
        again: Runs,
    }

    impl Recorded {
        fn metrics(&self) -> Metrics {
            let is_good = |test: &&String| test.ends_with(" P");
            let count = |tests: usize| u64::try_from(tests).unwrap();
            let named = count(self.tests.iter().filter(is_good).count());
            let mut metrics = match self.tests.len() {
                0 => tests(self.passed.unwrap_or(8), self.failed),
                all => tests(named, count(all) - named),
            };
            metrics = testing::broken_units(metrics, &self.broken_units.iter().map(String::as_str).collect::<Vec<_>>());
            if let Some(builds) = self.builds {
                metrics = testing::with_build(metrics, builds);
            }
            if !self.errors.is_empty() {
                let errors: Vec<(&str, u64)> =
                    self.errors.iter().map(|(tool, errors)| (tool.as_str(), *errors)).collect();
                metrics = testing::with_errors(metrics, &errors);
            }
            if let Some(percent) = self.coverage {
                metrics = testing::with_coverage(metrics, percent);
            }
            if let Some((covered, total)) = self.lines {
                metrics = testing::with_lines(metrics, covered, total);
            }
            if let Some(complexity) = self.complexity {
                metrics = testing::with_complexity(metrics, complexity);
            }
            if let Some(files) = self.files {
                metrics = testing::with_files(metrics, files);
            }
            if let Some(value) = self.latency {
                metrics = testing::latency(metrics, value);
                metrics.custom.get_mut("latency").unwrap().context.clone_from(&self.context);
            }
            metrics
        }

        fn record(&self, story: &mut Story) -> Verdict {
            if let Some(tree) = self.tree {
                story.tree(tree);
            }
            if let Some(output) = &self.says {
                story.say(output, self.changed_lines);
            }
            if let Some(percent) = self.estimate {
                story.estimate(percent);
            }
            if let Some(edits) = &self.test_edits {
                story.edit_tests(edits.clone());
            }
            if let Some(proof) = &self.proof {
                story.prove(proof.clone());
            }
            if let Some(lost) = &self.lost_lines {
                story.lose_lines(lost.clone());
            }
            for (id, Again { earlier, again }) in &self.runs {
                story.runs(id, (earlier.runs, earlier.failed), (again.runs, again.failed));
            }
            match self.tests.is_empty() {
                true => story.record(self.metrics()),
                false => story.record_named(self.metrics(), cases(&self.tests)),
            }
        }
    }

    /// An iteration of a history as detectors see it.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Past {
        iteration: u32,
        class: Option<Classification>,
        score: Option<f64>,
        /// Equal counts are equal signatures.
        passed: Option<u64>,
    }

    impl Past {
        fn seen(&self) -> Seen {
            Seen {
                iteration: Iteration(self.iteration),
                signature: self.passed.and_then(|passed| Signature::of(&tests(passed, 0))),
                tree_key: ObjectId([0; 32]),
                base_class: self.class,
                score: self.score,
                progress: None,
                estimate: None,
            }
        }
    }

    /// Whether the end of the story tells of the rule.
    fn tells(rule: &str, status: Option<Status>, story: &Value, config: &LoopConfig) -> bool {
        if monitor::DETECTORS.iter().any(|detector| detector.issue_type.name() == rule) {
            of_calls(rule, entries(story), config)
        } else if steps::RULES.iter().any(|one| one.reason.name() == rule) {
            of_states(rule, &entries(story), config)
        } else if TOLD_OF_HISTORIES.contains(&rule) {
            of_history(rule, &entries(story), config)
        } else {
            of_iterations(rule, status, &entries(story), config)
        }
    }

    fn entries<T: DeserializeOwned>(story: &Value) -> Vec<T> {
        serde_yaml::from_value(story.clone()).unwrap()
    }

    fn of_iterations(rule: &str, status: Option<Status>, iterations: &[Recorded], config: &LoopConfig) -> bool {
        let mut story = Story::new();
        story.config = config.clone();
        let last = iterations.iter().map(|iteration| iteration.record(&mut story)).last().unwrap();
        last.alerts.iter().any(|alert| alert.rule == rule && status.is_none_or(|status| alert.status == status))
    }

    fn of_history(rule: &str, history: &[Past], config: &LoopConfig) -> bool {
        let detector = DETECTORS.iter().find(|detector| detector.name == rule).unwrap();
        let seen = history.iter().map(Past::seen).collect();
        !(detector.check)(&History { seen, steps: Vec::new(), gained: None, config }).is_empty()
    }

    fn of_states(rule: &str, states: &[State], config: &LoopConfig) -> bool {
        let mut run = steps::Run::default();
        let last = states.iter().map(|state| run.take(state, config, digest)).last().unwrap();
        last.stuck.is_some_and(|stuck| stuck.reason.name() == rule)
    }

    /// A low issue is a note, no finding.
    fn of_calls(rule: &str, calls: Vec<CallLine>, config: &LoopConfig) -> bool {
        let mut monitor = Monitor::new(None);
        let last = calls.into_iter().map(|call| monitor.take(call, config).unwrap()).last().unwrap();
        last.issues.iter().any(|issue| issue.issue_type.name() == rule && issue.severity > Severity::Low)
    }

    /// The pairs of each rule.
    fn stories() -> BTreeMap<String, Vec<Pair>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stories");
        let mut stories = BTreeMap::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                let text = std::fs::read_to_string(&path).unwrap();
                let pairs = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                stories.insert(path.file_stem().unwrap().to_str().unwrap().to_owned(), pairs);
            }
        }
        stories
    }

    /// The defaults with these values over them, the later ones over the earlier.
    fn with(values: &[&Value]) -> LoopConfig {
        let mut all = serde_yaml::to_value(config()).unwrap();
        values.iter().for_each(|over| lay(over, &mut all));
        serde_yaml::from_value(all).unwrap()
    }

    fn lay(over: &Value, under: &mut Value) {
        match (over, under) {
            (Value::Null, _) => {}
            (Value::Mapping(over), Value::Mapping(under)) => {
                for (key, value) in over {
                    match under.get_mut(key) {
                        Some(under) => lay(value, under),
                        None => drop(under.insert(key.clone(), value.clone())),
                    }
                }
            }
            (over, under) => *under = over.clone(),
        }
    }

    #[test]
    fn each_rule_and_threshold_has_a_story_on_either_side() {
        let mut faults = Vec::new();
        for (rule, pairs) in stories() {
            for pair in pairs {
                let config = with(&[&pair.config]);
                let tells = |story, config| tells(&rule, pair.status, story, config);
                let (trips, silent) = (tells(&pair.trips, &config), !tells(&pair.silent, &config));
                let decides = pair.notch.is_null() || tells(&pair.silent, &with(&[&pair.config, &pair.notch]));
                if !trips || !silent || !decides {
                    let key = pair.threshold;
                    faults.push(format!("{rule} {key}: trips {trips}, silent {silent}, the key decides {decides}"));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn no_rule_and_no_threshold_is_without_a_pair() {
        let rules = RULES.iter().map(|rule| (rule.name, rule.thresholds));
        let detectors = DETECTORS.iter().map(|detector| (detector.name, detector.thresholds));
        let calls = monitor::DETECTORS.iter().map(|detector| (detector.issue_type.name(), detector.thresholds));
        let steps = steps::RULES.iter().map(|rule| (rule.reason.name(), rule.thresholds));
        let mut stories = stories();
        let mut faults = Vec::new();
        for (rule, thresholds) in rules.chain(detectors).chain(calls).chain(steps) {
            let told: Vec<String> =
                stories.remove(rule).unwrap_or_default().into_iter().map(|pair| pair.threshold).collect();
            let wanted = if thresholds.is_empty() { &[""] } else { thresholds };
            faults.extend(
                wanted.iter().filter(|key| !told.iter().any(|told| told == *key)).map(|key| format!("{rule} {key}")),
            );
            faults.extend(
                told.iter().filter(|key| !wanted.contains(&key.as_str())).map(|key| format!("{rule} has no {key}")),
            );
        }
        faults.extend(stories.keys().map(|rule| format!("{rule} is no rule")));
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
