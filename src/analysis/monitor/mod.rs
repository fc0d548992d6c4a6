//! The tool-call monitor (ANALYSIS §10): calls, one by one, → what an agent should be told about how it works. It reports;
//! it never ends anything.
//!
//! [`Monitor::take`] gets every line; a detector is a function beside the others and its line in [`DETECTORS`]. What one call
//! costs does not depend on how many came before it.

mod activity;
mod call;
mod detectors;
mod policy;
mod reads;
mod turn;

pub use activity::{activity, alerts};
pub use call::settled;
pub use detectors::{CallDetector, DETECTORS};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::calls::{CallLine, Event, Watched};
use crate::model::config::LoopConfig;
use call::Call;
use policy::Told;
use turn::Turn;

/// What was seen since the user's last turn. Written down and read again, it goes on where it was.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Monitor {
    /// The work tree's absolute path, without a slash at its end.
    root: Option<String>,
    turn: Turn,
    told: Told,
}

impl Monitor {
    /// Nothing seen yet. `root` is the work tree's absolute path: absolute paths beneath it are taken as relative to it, and
    /// others lie outside, as all do without it.
    pub fn new(root: Option<&str>) -> Monitor {
        let root = root.map(|root| root.trim_end_matches('/').to_owned());
        Monitor { root, turn: Turn::default(), told: Told::default() }
    }

    /// Takes the next line, and says what is new.
    ///
    /// # Errors
    /// Bad input if a call names no tool, or a result no call; the line is then as if it had not come.
    pub fn take(&mut self, line: CallLine, config: &LoopConfig) -> Result<Watched> {
        let id = line.id.clone();
        let mut watched = Watched {
            schema_version: SCHEMA_VERSION,
            id: id.clone(),
            line: None,
            issues: Vec::new(),
            inject: Vec::new(),
            metrics: None,
        };
        match line.event {
            Event::NewTurn => {
                self.turn = Turn::default();
                self.told = Told::default();
                return Ok(watched);
            }
            Event::Metrics => {
                watched.metrics = Some(self.turn.metrics());
                return Ok(watched);
            }
            Event::Call => {
                let call = Call::new(line, self.root.as_deref())
                    .ok_or_else(|| Error::bad_input("the call names no tool").help("give the tool's name as `tool`"))?;
                self.turn.call(call, &config.monitor);
            }
            Event::Result => {
                let (Some(id), Some(result)) = (&line.id, &line.result) else {
                    return Err(Error::bad_input("the result names no call, or tells nothing")
                        .help("give the call's name as `id`, and what came of it as `result`"));
                };
                self.turn.result(id, result, &config.monitor);
            }
        }
        let found = detectors::detect_all(&self.turn, config);
        (watched.issues, watched.inject) = self.told.news(found, id.as_deref());
        Ok(watched)
    }
}

#[cfg(test)]
mod tests;
