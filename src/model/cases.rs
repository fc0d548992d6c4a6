//! The outcomes of one run by test id: what later tells *which* test was lost, not only that one was.

use std::collections::BTreeMap;
use std::fmt::{self, Formatter};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// What a test came to. Ordered from best to worst: where several results meet in one id, the worst stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran and passed (at its last attempt).
    Passed,
    /// It did not run, or was expected to fail and did.
    Skipped,
    /// It ran and an expectation did not hold.
    Failed,
    /// It could not be run to its end: set-up, crash, time limit.
    Errored,
}

impl Outcome {
    /// Whether it failed, one way or the other.
    pub fn is_bad(self) -> bool {
        matches!(self, Outcome::Failed | Outcome::Errored)
    }
}

/// One test of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestCase {
    /// Outcome of the last attempt.
    pub outcome: Outcome,
    /// How often it was run until it came to that, all before the last having failed; 1 unless the report tells of
    /// retries.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub attempts: u32,
    /// Milliseconds, if the report gave a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Source file as the report names it. Text only: never opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// First lines of the failure's message, control characters escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

fn one() -> u32 {
    1
}

fn is_one(attempts: &u32) -> bool {
    *attempts == 1
}

impl TestCase {
    /// A test of which only the outcome is known.
    pub fn new(outcome: Outcome) -> TestCase {
        TestCase { outcome, attempts: 1, duration_ms: None, file: None, line: None, message: None }
    }
}

/// All tests of one iteration: id (`suite path :: class :: name [params]`) → what it came to. Stored as an object of
/// the iteration's pack, named by [`crate::model::metrics::TestMetrics::cases`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestCases {
    /// Version of this layout.
    pub schema_version: u32,
    /// By id. An id that met twice holds its worst outcome.
    #[serde(deserialize_with = "in_order")]
    pub cases: BTreeMap<String, TestCase>,
}

/// A map is stored in order, and made from ordered pairs at once where entry after entry would each be looked up.
fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, TestCase>, D::Error> {
    struct Pairs;
    impl<'de> Visitor<'de> for Pairs {
        type Value = BTreeMap<String, TestCase>;

        fn expecting(&self, text: &mut Formatter<'_>) -> fmt::Result {
            text.write_str("tests by id")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            std::iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }
    deserializer.deserialize_map(Pairs)
}

impl TestCases {
    /// Adds one result. An id that is there already keeps the worse outcome; `true` if it was there.
    pub fn add(&mut self, id: String, case: TestCase) -> bool {
        match self.cases.entry(id) {
            std::collections::btree_map::Entry::Vacant(slot) => {
                slot.insert(case);
                false
            }
            std::collections::btree_map::Entry::Occupied(mut slot) => {
                if case.outcome > slot.get().outcome {
                    slot.insert(case);
                }
                true
            }
        }
    }

    /// The outcome of `id`, if it was met.
    pub fn outcome(&self, id: &str) -> Option<Outcome> {
        self.cases.get(id).map(|case| case.outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_met_twice_keeps_its_worst_outcome() {
        let mut cases = TestCases::default();
        assert!(!cases.add("a".into(), TestCase::new(Outcome::Failed)));
        assert!(cases.add("a".into(), TestCase::new(Outcome::Passed)));
        assert_eq!(cases.outcome("a"), Some(Outcome::Failed));
        assert!(cases.add("a".into(), TestCase::new(Outcome::Errored)));
        assert_eq!(cases.outcome("a"), Some(Outcome::Errored));
    }
}
