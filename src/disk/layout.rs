//! Every path under `.progress/`, and nowhere else.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::model::ids::{Iteration, LoopId, ObjectId};

/// Where the store of one work tree keeps its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
    git_user: GitUser,
}

/// Where git keeps what its user has told it for all repositories. The environment says where, and only who starts from a
/// command line reads that: to anybody else git has no user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitUser {
    /// What `~` is.
    pub home: Option<PathBuf>,
    /// The config files, those later that come before the others.
    pub configs: Vec<PathBuf>,
    /// The ignore rules, where no config names another file.
    pub excludes: Option<PathBuf>,
}

impl Layout {
    /// The layout of the store in the work tree `root`; nothing is looked at.
    pub fn new(root: &Path) -> Layout {
        Layout { root: root.to_path_buf(), git_user: GitUser::default() }
    }

    /// The same, for this user of git.
    pub fn with_git_user(self, git_user: GitUser) -> Layout {
        Layout { git_user, ..self }
    }

    /// Whose ignore rules hold in the work tree beside those that lie in it.
    pub fn git_user(&self) -> &GitUser {
        &self.git_user
    }

    /// The work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `.progress`, shared by all loops of the work tree.
    pub fn store(&self) -> PathBuf {
        self.root.join(".progress")
    }

    /// `.progress/.gitignore`, which keeps the store out of commits.
    pub fn gitignore(&self) -> PathBuf {
        self.store().join(".gitignore")
    }

    /// The folder of packs.
    pub fn objects(&self) -> PathBuf {
        self.store().join("objects")
    }

    /// The pack of that name.
    pub fn pack(&self, id: &ObjectId) -> PathBuf {
        self.objects().join(format!("{id}.pack"))
    }

    /// The extension of packs that were damaged and are no longer read.
    pub const SET_ASIDE: &str = "damaged";

    /// The folder of restores and their records.
    pub fn restores(&self) -> PathBuf {
        self.store().join("restores")
    }

    /// The working folder of restore `number`: stage, journal, trash, rescued files.
    pub fn restore_dir(&self, number: u64) -> PathBuf {
        self.restores().join(number.to_string())
    }

    /// The record of restore `number`: the way back.
    pub fn restore_record(&self, number: u64) -> PathBuf {
        self.restores().join(format!("{number}.json"))
    }

    /// The folder of what can be made again; deleting it costs time only.
    pub fn cache(&self) -> PathBuf {
        self.store().join("cache")
    }

    /// What was seen of each file at the last capture (derived).
    pub fn stat_cache(&self) -> PathBuf {
        self.cache().join("stat")
    }

    /// The indexes of many packs in one file (derived).
    pub fn pack_index(&self) -> PathBuf {
        self.cache().join("packs")
    }

    /// The folder of agents' configs as they were before hooks were installed. No loop's name begins with a dot.
    pub fn hooks(&self) -> PathBuf {
        self.store().join(".hooks")
    }

    /// Marks of events that agents' hooks have told of (deleting them costs nothing an hour later).
    pub fn deliveries(&self) -> PathBuf {
        self.cache().join("deliveries")
    }

    /// What was counted of the tool calls of a loop's iteration in progress (derived).
    pub fn watched_calls(&self, id: &LoopId) -> PathBuf {
        self.cache().join(format!("{id}.calls"))
    }

    /// What hooks swallowed while there was no loop. No loop's name begins with a dot.
    pub fn faults(&self) -> PathBuf {
        self.store().join(".faults.log")
    }

    /// The lock of the objects: captures share it, restore and prune hold it alone.
    pub fn lock(&self) -> PathBuf {
        self.store().join("lock")
    }

    /// The lock of who opens a loop.
    pub fn opening(&self) -> PathBuf {
        self.cache().join("lock")
    }

    /// Where one loop keeps its files.
    pub fn of_loop(&self, id: &LoopId) -> LoopLayout {
        LoopLayout { dir: self.store().join(id.as_str()) }
    }

    /// Where a loop is made that is imported, until all of it is there. No loop's name begins with a dot.
    pub fn of_import(&self, id: &LoopId) -> LoopLayout {
        LoopLayout { dir: self.store().join(format!(".import-{id}")) }
    }
}

/// Where one loop keeps its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopLayout {
    dir: PathBuf,
}

impl LoopLayout {
    /// `.progress/<loop_id>`.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The effective config, frozen at the baseline.
    pub fn config(&self) -> PathBuf {
        self.dir.join("config.yaml")
    }

    /// Best iteration so far (derived).
    pub fn best_tracker(&self) -> PathBuf {
        self.dir.join("best-tracker.json")
    }

    /// What `accept` was told, one line each.
    pub fn accepted(&self) -> PathBuf {
        self.dir.join("accepted.jsonl")
    }

    /// Written by `finish`: its appearing closes the loop.
    pub fn selection(&self) -> PathBuf {
        self.dir.join("selection.json")
    }

    /// Whose snapshots `prune` let go after the end.
    pub fn pruned(&self) -> PathBuf {
        self.dir.join("pruned.json")
    }

    /// The folder of records.
    pub fn progress(&self) -> PathBuf {
        self.dir.join("progress")
    }

    /// The record of an iteration: its appearing is the commit.
    pub fn record(&self, iteration: Iteration) -> PathBuf {
        let kind = if iteration == Iteration::BASELINE { "baseline" } else { "metrics" };
        self.progress().join(format!("iteration-{}-{kind}.json", iteration.padded()))
    }

    /// The whole loop in one file (derived).
    pub fn trajectory(&self) -> PathBuf {
        self.progress().join("trajectory.json")
    }

    /// What became of each test, for `tests` (derived).
    pub fn ledger(&self) -> PathBuf {
        self.progress().join("tests.jsonl")
    }

    /// The folder of iterations.
    pub fn iterations(&self) -> PathBuf {
        self.dir.join("iterations")
    }

    /// The folder of one iteration; without a record it is the one in progress.
    pub fn iteration(&self, iteration: Iteration) -> PathBuf {
        self.iterations().join(format!("iteration-{}", iteration.padded()))
    }

    /// The reports that were read, byte for byte.
    pub fn artifacts(&self, iteration: Iteration) -> PathBuf {
        self.iteration(iteration).join("artifacts")
    }

    /// The snapshot for people (derived).
    pub fn manifest(&self, iteration: Iteration) -> PathBuf {
        self.iteration(iteration).join("manifest.json")
    }

    /// The metrics alone (derived).
    pub fn metrics(&self, iteration: Iteration) -> PathBuf {
        self.iteration(iteration).join("metrics.json")
    }

    /// Tool calls as they happened, one line each.
    pub fn activity(&self, iteration: Iteration) -> PathBuf {
        self.iteration(iteration).join("activity.jsonl")
    }

    /// The folder of reports for people.
    pub fn reports(&self) -> PathBuf {
        self.dir.join("reports")
    }

    /// The report of one iteration.
    pub fn report(&self, iteration: Iteration) -> PathBuf {
        self.reports().join(format!("iteration-{}-report.md", iteration.padded()))
    }

    /// The report of the choice at the end.
    pub fn selection_report(&self) -> PathBuf {
        self.reports().join("output-selection-report.md")
    }

    /// What the whole loop came to, for people.
    pub fn summary(&self) -> PathBuf {
        self.reports().join("summary.md")
    }

    /// The same as a page.
    pub fn summary_page(&self) -> PathBuf {
        self.reports().join("summary.html")
    }

    /// What hooks swallowed.
    pub fn faults(&self) -> PathBuf {
        self.dir.join("faults.log")
    }

    /// How many ends of a turn were refused in a row, by session.
    pub fn sessions(&self) -> PathBuf {
        self.dir.join("sessions")
    }

    /// The lock that keeps two writers of this loop from doing the same work.
    pub fn lock(&self) -> PathBuf {
        self.dir.join("lock")
    }
}

/// The iteration whose record a file of that name is; `None` for every other file. Only the spelling that
/// [`LoopLayout::record`] makes counts, so that no iteration has two records.
pub fn record_number(file_name: &OsStr) -> Option<Iteration> {
    let name = file_name.to_str()?;
    let rest = name.strip_prefix("iteration-")?.strip_suffix(".json")?;
    let (digits, kind) = rest.split_once('-')?;
    let iteration: Iteration = digits.parse().ok()?;
    let expected = if iteration == Iteration::BASELINE { "baseline" } else { "metrics" };
    // As it is written: three digits, or more without a leading zero.
    let is_padded = digits.len() == 3 || (digits.len() > 3 && !digits.starts_with('0'));
    (kind == expected && is_padded).then_some(iteration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_names_are_read_by_number_and_only_as_they_are_written() {
        let number = |name: &str| record_number(OsStr::new(name)).map(|iteration| iteration.0);
        assert_eq!(number("iteration-000-baseline.json"), Some(0));
        assert_eq!(number("iteration-001-metrics.json"), Some(1));
        assert_eq!(number("iteration-1000-metrics.json"), Some(1000));
        for other in [
            "iteration-000-metrics.json",
            "iteration-001-baseline.json",
            "iteration-1-metrics.json",
            "iteration-0001-metrics.json",
            "iteration-001-metrics.json~",
            "iteration-001-metrics (conflicted copy).json",
            ".tmp-12-abc",
            "trajectory.json",
            "iteration--01-metrics.json",
            "iteration-+01-metrics.json",
        ] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    #[test]
    fn records_are_where_their_names_are_read() {
        let layout = Layout::new(Path::new("/w")).of_loop(&"auth".parse().unwrap());
        for number in [0, 1, 42, 999, 1000, u32::MAX] {
            let path = layout.record(Iteration(number));
            assert_eq!(record_number(path.file_name().unwrap()), Some(Iteration(number)));
            assert!(path.starts_with("/w/.progress/auth/progress"));
        }
    }
}
