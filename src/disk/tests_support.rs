//! What tests of several rooms put on a disk.

use std::path::Path;
use std::process::Command;

/// A FIFO. The system's own program makes it, because rustix has no call for it on macOS.
pub fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
