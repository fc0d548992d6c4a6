//! What is acknowledged was synced before, content before name and name before what relies on it (PROMISES H2, W2, §4, §5):
//! every command's calls are read back from strace, in their order. A power loss shows a missing sync too, but only as root,
//! and only where the disk happens to need it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::faults::{finished, prepared};
use crate::support::work::Work;
use crate::support::{Project, can_trace};

/// What the kernel has and the disk may not have.
#[derive(Default)]
struct Unsynced {
    /// Files that were written.
    content: BTreeSet<PathBuf>,
    /// Names that came or went.
    names: BTreeSet<PathBuf>,
    /// Files and directories that were there before and have another mode.
    modes: BTreeSet<PathBuf>,
    /// Names by which something became binding, in order.
    commits: Vec<PathBuf>,
    /// All is where it belongs; what is left is to end the restore.
    is_restored: bool,
}

/// Made again from what is synced, or of no use to anybody once the command has ended.
fn is_derived(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let is_below = |folder: &str| path.parent().unwrap().ends_with(folder);
    let names = ["trajectory.json", "best-tracker.json", "metrics.json", "manifest.json", "lock"];
    names.contains(&name) || name.starts_with(".tmp-") || is_below("cache") || is_below("reports")
}

/// Everything before it must be there when it appears (or, of the journal, when it goes).
fn is_commit(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let is_record = name.starts_with("iteration-") && name.ends_with(".json");
    let is_restore = path.parent().unwrap().ends_with("restores") && name.ends_with(".json");
    is_record || is_restore || ["journal", "selection.json", "pruned.json"].contains(&name)
}

impl Unsynced {
    /// Follows one call: its name and its arguments, descriptors with their paths as `strace -y` tells them.
    fn follow(&mut self, name: &str, arguments: &str, at: &str) {
        let open = || {
            let path = arguments.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
            PathBuf::from(path.unwrap_or_else(|| panic!("{at}")).0)
        };
        let paths = paths(arguments);
        match name {
            "write" => drop(self.content.insert(open())),
            // Of what is new, the mode comes with the name.
            "fchmod" if !self.names.contains(&open()) => drop(self.modes.insert(open())),
            "fsync" => {
                let synced = open();
                self.content.remove(&synced);
                self.modes.remove(&synced);
                self.names.retain(|path| path.parent() != Some(&synced));
            }
            "open" | "openat" if arguments.contains("O_CREAT") => drop(self.names.insert(paths[0].clone())),
            "mkdir" | "mkdirat" | "symlinkat" => drop(self.names.insert(paths[paths.len() - 1].clone())),
            "unlink" | "unlinkat" | "rmdir" => self.gone(&paths[0], at),
            "link" | "linkat" | "rename" | "renameat" | "renameat2" => {
                let (from, to) = (&paths[0], &paths[1]);
                let is_synced = !self.content.contains(from);
                assert!(is_derived(to) || is_synced, "{at}: it gets its name before its content is synced");
                self.appears(to, at);
                if name.starts_with("rename") {
                    self.names.insert(from.clone());
                }
            }
            _ => {}
        }
    }

    fn appears(&mut self, path: &Path, at: &str) {
        if is_commit(path) {
            self.assert_none(at);
            self.commits.push(path.to_owned());
        }
        self.names.insert(path.to_owned());
    }

    fn gone(&mut self, path: &Path, at: &str) {
        if path.ends_with("journal") {
            self.is_restored = true;
            self.assert_none(at);
        }
        // What came and went in between was never there, and what was in a folder went with it; but a journal that comes
        // back is a restore that has not ended.
        let was_there = !self.names.remove(path);
        self.names.retain(|name| !name.starts_with(path) || name.ends_with("journal"));
        if was_there {
            self.names.insert(path.to_owned());
        }
    }

    fn assert_none(&self, at: &str) {
        let is_useless = |path: &Path| is_derived(path) || self.is_restored && is_left_over(path);
        let unsynced = self.names.iter().chain(&self.modes).filter(|path| !is_useless(path));
        assert_eq!(unsynced.collect::<Vec<_>>(), Vec::<&PathBuf>::new(), "{at}: not synced yet");
    }
}

/// What a restore leaves in its own folder is of no use when all is where it belongs, but for the journal.
fn is_left_over(path: &Path) -> bool {
    let is_folder_of_one =
        |folder: &Path| folder.extension().is_none() && folder.parent().is_some_and(|all| all.ends_with("restores"));
    !path.ends_with("journal") && path.ancestors().any(is_folder_of_one)
}

/// The paths among a call's arguments, each below the directory that stands before it.
fn paths(arguments: &str) -> Vec<PathBuf> {
    let mut folder = PathBuf::new();
    let mut found = Vec::new();
    for part in arguments.split(", ") {
        if let Some(text) = part.strip_prefix('"').and_then(|rest| rest.split('"').next()) {
            found.push(folder.join(text));
        } else if let Some((_, path)) = part.split_once('<') {
            folder = PathBuf::from(path.split('>').next().unwrap());
        }
    }
    found
}

/// Runs a command and follows its calls; answers the names by which something became binding.
fn followed(work: &Work, arguments: &[&str]) -> Vec<String> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = work.traced(&["-y", "-o", log.path().to_str().unwrap()], arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let mut unsynced = Unsynced::default();
    for line in std::fs::read_to_string(log.path()).unwrap().lines() {
        let Some((name, rest)) = line.split_once(' ').and_then(|(_, call)| call.trim_start().split_once('(')) else {
            continue;
        };
        let root = work.layout.root().to_str().unwrap();
        if name.contains(' ') || rest.contains(") = -1 ") || !rest.contains(root) {
            continue;
        }
        unsynced.follow(name, rest, &format!("{arguments:?}, {line}"));
    }
    unsynced.assert_none(&format!("{arguments:?} ended"));
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    unsynced.commits.into_iter().map(name).collect()
}

/// Half way through its steps.
fn kill_a_restore(work: &Work) {
    let kill = "inject=renameat2:signal=KILL:when=2";
    let output = work.traced(&["-o", "/dev/null", "-e", "trace=renameat2", "-e", kill], &["restore", "0"]);
    assert!(!output.status.success(), "it was not killed");
}

/// Changes a byte of a pack's index, which is made again.
fn damage_an_index(work: &Work) {
    let pack = std::fs::read_dir(work.layout.objects()).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&pack).unwrap();
    let footer = bytes.len() - 88;
    bytes[footer - 1] ^= 1;
    std::fs::remove_file(&pack).unwrap();
    std::fs::write(&pack, bytes).unwrap();
}

#[test]
fn what_is_binding_was_synced_before() {
    if !can_trace() {
        return;
    }
    let project = Project::new();
    project.tests(&[("a", true)]);
    let new = Work::of(project.root());
    assert_eq!(followed(&new, &["begin", "--loop", "loop"]), ["iteration-000-baseline.json"]);
    let work = Work::of(prepared().root());
    assert_eq!(followed(&work, &["record"]), ["iteration-002-metrics.json"]);
    assert_eq!(followed(&work, &["restore", "0"]), ["journal", "1.json"]);
    assert_eq!(followed(&work, &["undo"]), ["journal", "2.json"]);
    kill_a_restore(&work);
    assert_eq!(followed(&work, &["restore", "--abort"]), ["journal"]);
    kill_a_restore(&work);
    assert_eq!(followed(&work, &["restore", "--resume"]), ["journal", "3.json"]);
    assert_eq!(followed(&work, &["finish"]), ["journal", "4.json", "selection.json"]);
    assert_eq!(followed(&finished(), &["prune"]), ["pruned.json"]);
    damage_an_index(&work);
    assert!(followed(&work, &["verify", "--repair"]).is_empty());
    assert!(work.verified().0.is_empty());
}
