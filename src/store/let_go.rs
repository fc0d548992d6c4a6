//! `pruned.json`: which snapshots `prune` let go after the end, so that their absence is no damage.

use serde::{Deserialize, Serialize};

use super::{Store, encode, parse};
use crate::disk;
use crate::error::Result;
use crate::model::SCHEMA_VERSION;
use crate::model::ids::{Iteration, LoopId};

/// `pruned.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LetGo {
    /// Version of this layout.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// Iterations whose files may be gone, ascending; their records and the names of their files stay.
    pub iterations: Vec<Iteration>,
}

impl Store {
    /// The iterations whose snapshots were let go, ascending.
    ///
    /// # Errors
    /// If the note cannot be read.
    pub fn let_go(&self) -> Result<Vec<Iteration>> {
        let path = self.paths.pruned();
        let Some(bytes) = disk::read_if_present(&path, super::MAX_BYTES)? else { return Ok(Vec::new()) };
        parse::<LetGo>(&bytes).map(|note| note.iterations).map_err(|error| error.at(&path))
    }

    /// Notes that these snapshots go, with those that went before; when it returns, the note survives a power loss.
    ///
    /// # Errors
    /// As [`Store::let_go`], and if the disk says no.
    pub fn note_let_go(&self, more: &[Iteration]) -> Result<()> {
        let before = self.let_go()?;
        let mut iterations = [&before, more].concat();
        iterations.sort_unstable();
        iterations.dedup();
        if iterations == before {
            return Ok(());
        }
        let note = LetGo { schema_version: SCHEMA_VERSION, loop_id: self.id.clone(), iterations };
        disk::replace_synced(&self.paths.pruned(), &encode(&note)?)
    }
}
