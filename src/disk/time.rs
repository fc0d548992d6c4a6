//! The time as a file system tells it: what "older than" is asked against, since its clock and ours may differ.

use std::path::Path;
use std::time::SystemTime;

use super::Temporary;
use crate::error::{Error, Result};

/// Now, on the file system of `folder`: the time of a file that is made there and removed again.
///
/// # Errors
/// If the file cannot be made.
pub fn time_on(folder: &Path) -> Result<SystemTime> {
    super::make_directory(folder)?;
    let mut file = Temporary::new(folder)?;
    let meta = file.file().metadata().map_err(|error| Error::io("look at", folder, &error))?;
    meta.modified().map_err(|error| Error::io("read the time of", folder, &error))
}
