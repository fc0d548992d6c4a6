//! What tests of several rooms put on a disk.

use std::path::Path;
use std::process::{Command, Output};

/// A FIFO. The system's own program makes it, because rustix has no call for it on macOS.
pub fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// What git answers in this folder; `None`, and said, where there is no git. It knows nothing of a person's own settings, nor
/// of a repository in whose hook the tests may run.
pub fn git(folder: &Path, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("HOME", "/nonexistent").env("XDG_CONFIG_HOME", "/nonexistent");
    command.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]);
    match command.args(arguments).current_dir(folder).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: no git ({error})");
            None
        }
    }
}

/// Numbers that look random, from a seed: the same ones in every run.
pub struct Numbers(pub u64);

impl Numbers {
    /// One below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// One of these texts.
    pub fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}
