//! The ledger of tests as it is kept: what each iteration changed, so that a loop of many tests takes little room.

use serde::{Deserialize, Serialize};

use super::cases::Outcome;
use super::ids::{Iteration, ObjectId};
use super::reruns::Runs;

/// Ids in order, each as the number of characters that it shares with the one before, and the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Ids(Vec<(usize, String)>);

impl Ids {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ids, whole, in order.
    pub fn iter(&self) -> impl Iterator<Item = String> + '_ {
        let mut last = String::new();
        self.0.iter().map(move |(shared, rest)| {
            let kept = last.char_indices().nth(*shared).map_or(last.len(), |(at, _)| at);
            last.truncate(kept);
            last.push_str(rest);
            last.clone()
        })
    }
}

impl<'a> FromIterator<&'a str> for Ids {
    /// Ids that are in order take the least room.
    fn from_iter<I: IntoIterator<Item = &'a str>>(ids: I) -> Ids {
        let mut last = "";
        let entry = |id: &'a str| {
            let shared = last.chars().zip(id.chars()).take_while(|(a, b)| a == b).count();
            last = id;
            (shared, id.chars().skip(shared).collect())
        };
        Ids(ids.into_iter().map(entry).collect())
    }
}

/// Tests whose outcome at an iteration is another than where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Changed {
    /// No longer there.
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub gone: Ids,
    /// Pass now.
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub passed: Ids,
    /// Are skipped now.
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub skipped: Ids,
    /// Fail now.
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub failed: Ids,
    /// Cannot be run to their end now.
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub errored: Ids,
}

impl Changed {
    /// Every list with the outcome that it stands for; `None` is gone.
    pub fn lists(&self) -> [(Option<Outcome>, &Ids); 5] {
        [
            (None, &self.gone),
            (Some(Outcome::Passed), &self.passed),
            (Some(Outcome::Skipped), &self.skipped),
            (Some(Outcome::Failed), &self.failed),
            (Some(Outcome::Errored), &self.errored),
        ]
    }
}

/// One iteration of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Frame {
    /// Its number.
    pub iteration: Iteration,
    /// The object of outcomes that it was made from.
    pub cases: ObjectId,
    /// The ancestor that it is told against, the latest that names its tests; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Iteration>,
    /// The tests that changed.
    pub changed: Changed,
    /// Tests under another id: before, now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<(String, String)>,
    /// Tests that ran more than once on its tree at this iteration, all these runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<(String, Runs)>,
}

/// The first line of the ledger's file; a frame a line follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LedgerHead {
    /// Version of this layout.
    pub schema_version: u32,
    /// BLAKE3 of all further lines.
    pub frames: ObjectId,
}

/// What became of one test by the iteration that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestStanding {
    /// What it came to there.
    pub outcome: Outcome,
    /// Failing or erroring: the iteration from which on it does, without a pass or a skip since.
    pub bad_since: Option<Iteration>,
    /// The last iteration of the lineage at which it passed.
    pub last_passed: Option<Iteration>,
}

impl TestStanding {
    /// Whether it passed once and fails or errors now.
    pub fn is_broken(&self) -> bool {
        self.bad_since.is_some() && self.last_passed.is_some()
    }
}

/// A change of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The iteration at which it changed.
    pub iteration: Iteration,
    /// Its id then.
    pub id: String,
    /// What it was where the iteration came from; absent if it was not there.
    pub was: Option<Outcome>,
    /// What it came to; absent if it is gone.
    pub now: Option<Outcome>,
}

/// All that is known of one test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestHistory {
    /// Its ids, the latest first.
    pub ids: Vec<String>,
    /// In order of recording.
    pub events: Vec<Event>,
    /// Its runs on single trees.
    pub on_one_tree: Flaking,
}

/// How often a test failed on trees that it passed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaking {
    /// Runs on trees with more than one run of which one passed.
    pub runs: Runs,
    /// The iterations with such a failure.
    pub iterations: Vec<Iteration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_whole_in_any_order_and_script() {
        let ids = ["t::a", "t::ab", "t::ab[ü]", "t::ab[ü-x]", "u", "", "t::ab[ö]"];
        let kept: Ids = ids.into_iter().collect();
        assert_eq!(kept.iter().collect::<Vec<_>>(), ids);
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(text, r#"[[0,"t::a"],[4,"b"],[5,"[ü]"],[7,"-x]"],[0,"u"],[0,""],[0,"t::ab[ö]"]]"#);
        assert_eq!(serde_json::from_str::<Ids>(&text).unwrap(), kept);
    }
}
