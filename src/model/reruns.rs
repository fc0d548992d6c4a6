//! Tests run more than once on one and the same tree: what tells a flake from a break (ANALYSIS §12.2).

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::cases::Outcome;
use super::record::Command;

/// The word of a rerun command that stands for the tests.
pub const IDS: &str = "{ids}";

/// Runs of one test on one and the same code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Runs {
    /// How often it passed, failed or errored.
    pub runs: u32,
    /// How often it failed or errored.
    pub failed: u32,
}

impl Runs {
    /// Counts one run. A skip is none.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.runs = self.runs.saturating_add(1),
            Outcome::Failed | Outcome::Errored => {
                self.runs = self.runs.saturating_add(1);
                self.failed = self.failed.saturating_add(1);
            }
            Outcome::Skipped => {}
        }
    }

    /// Counts the runs of another.
    pub fn add_all(&mut self, other: Runs) {
        self.runs = self.runs.saturating_add(other.runs);
        self.failed = self.failed.saturating_add(other.failed);
    }

    /// How often it passed.
    pub fn passed(self) -> u32 {
        self.runs.saturating_sub(self.failed)
    }
}

/// One run of the rerun command, in a process of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rerun {
    /// With the tests in it.
    pub command: Command,
    /// The tests that were asked for, those that its reports name.
    pub outcomes: BTreeMap<String, Outcome>,
}

/// All runs of each test by rerun commands.
pub fn pooled(reruns: &[Rerun]) -> BTreeMap<String, Runs> {
    let mut pooled: BTreeMap<String, Runs> = BTreeMap::new();
    for (id, outcome) in reruns.iter().flat_map(|rerun| &rerun.outcomes) {
        pooled.entry(id.clone()).or_default().add(*outcome);
    }
    pooled
}

/// A command that runs the tests it is given, such as `pytest {ids}`: words, one of them [`IDS`]. It is no shell command;
/// each test becomes one word, whatever is in its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, schemars(with = "String"))]
pub struct RerunCommand {
    text: String,
    words: Vec<String>,
}

impl RerunCommand {
    /// The words, the tests in the place of [`IDS`].
    pub fn argv(&self, tests: &[String]) -> Vec<String> {
        let mut argv = Vec::new();
        for word in &self.words {
            if word == IDS {
                argv.extend_from_slice(tests);
            } else {
                argv.push(word.clone());
            }
        }
        argv
    }
}

impl FromStr for RerunCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<RerunCommand, String> {
        let words = words(text)?;
        if words.first().is_none_or(|program| program == IDS) {
            return Err(format!("a rerun command begins with a program, as in: pytest {IDS}"));
        }
        if !words.iter().any(|word| word == IDS) {
            return Err(format!("a rerun command has the word {IDS} where the tests go, as in: pytest {IDS}"));
        }
        Ok(RerunCommand { text: text.to_owned(), words })
    }
}

impl TryFrom<String> for RerunCommand {
    type Error = String;

    fn try_from(text: String) -> Result<RerunCommand, String> {
        text.parse()
    }
}

impl From<RerunCommand> for String {
    fn from(command: RerunCommand) -> String {
        command.text
    }
}

impl std::fmt::Display for RerunCommand {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)
    }
}

/// Words between white space. Quotes of both kinds keep what is between them together; there is nothing else to it.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() { Err("a quote is not closed".to_owned()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_is_one_word_whatever_is_in_its_name() {
        let command: RerunCommand = "pytest -k 'a b' \"\" {ids} -q".parse().unwrap();
        let tests = ["t.py::x[a b]".to_owned(), "$(reboot); `x` 'y".to_owned()];
        assert_eq!(command.argv(&tests), ["pytest", "-k", "a b", "", "t.py::x[a b]", "$(reboot); `x` 'y", "-q"]);
    }

    #[test]
    fn a_command_without_a_program_a_place_for_the_tests_or_a_closing_quote_is_none() {
        for bad in ["", "  ", "{ids}", "pytest", "pytest --only={ids}", "pytest '{ids}", "'' "] {
            assert!(bad.parse::<RerunCommand>().is_err(), "{bad}");
        }
    }

    #[test]
    fn skips_are_no_runs() {
        let mut runs = Runs::default();
        runs.add(Outcome::Failed);
        runs.add(Outcome::Skipped);
        runs.add(Outcome::Passed);
        assert_eq!((runs, runs.passed()), (Runs { runs: 2, failed: 1 }, 1));
    }
}
