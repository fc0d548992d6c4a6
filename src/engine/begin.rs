//! Opening a loop: its config is frozen, its baseline recorded.

use super::record::{Kept, Recorded, keep};
use super::{Offer, Session};
use crate::config;
use crate::disk;
use crate::error::{Error, Result};
use crate::model::config::LoopConfig;
use crate::model::ids::LoopId;
use crate::store::Store;

/// The loop that is opened.
pub struct Opening {
    /// Its name.
    pub id: LoopId,
    /// Frozen from here on.
    pub config: LoopConfig,
    /// What the loop is for, in the user's words; it becomes the baseline's label if that has none.
    pub goal: Option<String>,
}

/// Measures the baseline, iteration 0, and keeps it.
///
/// # Errors
/// Bad input if the loop has a baseline already, or a report cannot be read: then nothing is opened.
pub fn begin(session: &Session<'_>, opening: &Opening, offer: Offer) -> Result<Recorded> {
    disk::open_store(session.layout)?;
    let store = Store::new(session.layout, opening.id.clone());
    let taken = || {
        // A closed loop takes no further iteration.
        let help = match store.is_closed() {
            Ok(true) => "it is closed; `highwater begin --loop OTHER` opens another loop",
            _ => "`highwater record` adds an iteration; `highwater begin --loop OTHER` opens another loop",
        };
        Error::bad_input(format!("loop {} has a baseline already", opening.id)).at(store.paths().dir()).help(help)
    };
    if !store.numbers()?.is_empty() {
        return Err(taken());
    }
    let label = offer.label.clone().or_else(|| opening.goal.clone());
    let text = config::to_yaml(&opening.config)?;
    let goal = opening.goal.clone();
    match keep(session, &store, &opening.config, text, Offer { label, goal, ..offer }, None)? {
        Kept::Recorded(recorded) => Ok(*recorded),
        Kept::BaselineTaken => Err(taken()),
    }
}
