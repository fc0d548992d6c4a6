//! What tests of several formats read.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use crate::model::ids::ObjectId;

/// A hash that will do here: the crate's own lives below the disk.
pub fn digest(bytes: &[u8]) -> ObjectId {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    let mut id = [0; 32];
    id[..8].copy_from_slice(&hasher.finish().to_le_bytes());
    ObjectId(id)
}

/// The folder with a folder of captures for each format; `None`, and said, in the published crate, which has none of them.
pub fn captures() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports");
    let is_here = folder.join("README.md").exists();
    if !is_here {
        eprintln!("skipped: the captures are in the repository");
    }
    is_here.then_some(folder)
}
