//! Checking everything that a store holds, by its packs alone.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{Objects, pack_files};
use crate::disk;
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::model::ids::ObjectId;
use crate::snapshot::pack::{self, Frames};

/// What checking the objects of a store found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Objects that are sound, each counted once for every pack that holds it.
    pub objects: u64,
    /// All that is wrong, with its pack.
    pub faults: Vec<(PathBuf, String)>,
    /// Objects that are damaged in some pack; another one may hold them too.
    pub damaged: Vec<ObjectId>,
}

impl Objects {
    /// Checks every pack: every byte against the pack's checksum, the checksum against its name, and every object
    /// against its id. Nothing that is derived is used. Other files in the folder of packs are no packs.
    ///
    /// # Errors
    /// The folder of packs cannot be listed.
    pub fn check(layout: &Layout) -> Result<Checked> {
        let mut checked = Checked::default();
        let objects = Objects::open_from_packs(layout)?;
        for (id, _) in pack_files(layout)? {
            let path = layout.pack(&id);
            match disk::open_regular(&path) {
                Ok(file) => checked.check_pack(&id, &path, &file, &objects),
                // Pruned since the folder was listed; what is needed of it is in another pack.
                Err(_) if disk::metadata(&path)?.is_none() => {}
                Err(error) => checked.faults.push((path, told(error))),
            }
        }
        Ok(checked)
    }
}

impl Checked {
    /// `objects` are asked for bases.
    fn check_pack(&mut self, id: &ObjectId, path: &Path, file: &File, objects: &Objects) {
        let mut fault = |why: String| self.faults.push((path.to_path_buf(), why));
        let mut is_named_right = true;
        let index = pack::read_index(file, |id, frame| (id, frame));
        let index = index.unwrap_or_else(|error| Err(format!("its index cannot be read ({error})")));
        let mut frames: Frames = match index {
            Ok(index) => {
                is_named_right = index.checksum == *id;
                index.entries
            }
            Err(why) => {
                fault(format!("pack is damaged: {why}"));
                pack::scan(file)
            }
        };
        let checksum = pack::checksum(file);
        let is_sound = is_named_right && checksum.as_ref().is_ok_and(|found| found == id);
        match checksum {
            Ok(_) if is_sound => {}
            Ok(_) => fault("pack is damaged: its bytes are not those that its name says".to_owned()),
            Err(error) => fault(format!("pack cannot be read: {error}")),
        }
        frames.sort_unstable_by_key(|(_, frame)| frame.offset);
        for (id, frame) in frames {
            let base = objects.base_bytes(&id, path, file, frame).map_err(told);
            let unpack = |base: Option<Vec<u8>>| {
                pack::unpack(file, frame, &id, base.as_deref(), &mut io::sink())
                    .map_err(|error| format!("object {} is damaged: {error}", id.short()))
            };
            match base.and_then(unpack) {
                Ok(()) => self.objects += 1,
                // The pack is as it was written, and what only its base is missing to is stored elsewhere.
                Err(_) if is_sound && frame.is_difference && objects.write_to(&id, &mut io::sink()).is_ok() => {
                    self.objects += 1;
                }
                Err(why) => {
                    self.faults.push((path.to_path_buf(), why));
                    self.damaged.push(id);
                }
            }
        }
    }
}

/// What is said of a pack whose file is named beside it.
fn told(error: Error) -> String {
    match &error.cause {
        Some(cause) => format!("{}: {cause}", error.message),
        None => error.into_fault().message,
    }
}
