//! Copies of a prepared work tree with its loop, one a case, and what is in them.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use highwater::disk::layout::Layout;
use highwater::engine::{self, Session};
use highwater::model::ids::Iteration;
use highwater::snapshot::restore;
use highwater::store::Store;

use super::{Answer, answer, leave_home};

/// Files and links with modes and contents, without the store.
pub type Listing = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Calls that cannot be stopped, or that are the loader's; and those of threads that wait for each other, which are more or
/// fewer each time.
const NEITHER: [&str; 7] = ["execve", "exit", "exit_group", "exited", "killed", "futex", "sched_yield"];

/// A copy of a prepared work tree.
pub struct Work {
    root: PathBuf,
    pub layout: Layout,
    /// Goes with it, if it is its own.
    _folder: Option<tempfile::TempDir>,
}

impl Work {
    /// What a command reads on its standard input, if it is there.
    pub const INPUT: &str = ".progress/.input";

    /// A copy of a work tree with its store.
    pub fn of(base: &Path) -> Work {
        let folder = in_memory();
        let root = folder.path().to_owned();
        copy(base, &root);
        Work { _folder: Some(folder), ..Work::at(&root) }
    }

    /// A work tree that is somewhere already, and stays there.
    pub fn at(root: &Path) -> Work {
        let layout = Layout::new(&root.canonicalize().unwrap());
        Work { root: root.to_owned(), layout, _folder: None }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// A command about to run here, free of whatever the environment says.
    pub fn command(&self, mut command: Command, arguments: &[&str]) -> Command {
        for name in ["HIGHWATER_CONFIG", "HIGHWATER_LOOP", "COLUMNS", "LD_LIBRARY_PATH", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        leave_home(&mut command);
        command.env("HIGHWATER_ROOT", self.root()).env("RAYON_NUM_THREADS", "1");
        if let Ok(input) = std::fs::File::open(self.path(Work::INPUT)) {
            command.stdin(input);
        }
        command.args(arguments).current_dir(self.root());
        command
    }

    fn program(&self, command: Command, arguments: &[&str]) -> Output {
        self.command(command, arguments).output().unwrap()
    }

    /// Runs the program here.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        answer(&self.program(Command::new(assert_cmd::cargo::cargo_bin!("highwater")), arguments))
    }

    /// Makes the copy another user's.
    pub fn give_to(&self, user: u32) {
        let given = Command::new("chown").arg("-R").arg(user.to_string()).arg(self.root()).status().unwrap();
        assert!(given.success());
    }

    /// Runs the program here as another user, who may do nothing else.
    pub fn run_as(&self, user: u32, arguments: &[&str]) -> Answer {
        let mut command = Command::new("setpriv");
        command.args([&format!("--reuid={user}"), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]);
        command.arg(assert_cmd::cargo::cargo_bin!("highwater"));
        match self.command(command, arguments).output() {
            Ok(output) => answer(&output),
            Err(error) => Answer { code: 127, stdout: String::new(), stderr: error.to_string() },
        }
    }

    /// Runs the program under strace.
    pub fn traced(&self, options: &[&str], arguments: &[&str]) -> Output {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq"]).args(options).arg(assert_cmd::cargo::cargo_bin!("highwater"));
        self.program(strace, arguments)
    }

    pub fn listing(&self) -> Listing {
        listing(self.root())
    }

    pub fn store(&self) -> Store {
        Store::new(&self.layout, "loop".parse().unwrap())
    }

    /// A session in this process.
    pub fn session(&self) -> Session<'_> {
        Session {
            layout: &self.layout,
            now: std::time::SystemTime::now().into(),
            wait: Duration::ZERO,
            on_progress: &|_, _| {},
        }
    }

    /// What `verify --recompute` finds, and which iterations it says are whole.
    pub fn verified(&self) -> (Vec<String>, Vec<u32>) {
        let verified = engine::verify(&self.session(), &self.store(), None, true).unwrap();
        let findings = verified.findings.iter().map(|finding| format!("{}: {}", finding.file, finding.fault)).collect();
        (findings, verified.restorable.iter().map(|iteration| iteration.0).collect())
    }

    /// The files of an iteration, as a restore writes them elsewhere.
    pub fn iteration(&self, number: u32) -> Listing {
        let place = tempfile::tempdir().unwrap();
        let config = highwater::config::defaults().unwrap();
        let options = restore::Options {
            paths: &[],
            into: Some(place.path()),
            dry_run: false,
            origin: None,
            capture: &config.capture,
            limits: &config.limits,
            wait: std::time::Duration::from_secs(10),
            now: std::time::SystemTime::now().into(),
        };
        let record = self.store().load(Iteration(number)).unwrap().record;
        restore::restore(&self.layout, record.tree, &options).unwrap();
        listing(place.path())
    }

    /// Files of writers that were killed.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let files = walkdir::WalkDir::new(self.layout.store()).into_iter().map(|entry| entry.unwrap().into_path());
        files.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(".tmp-")).collect()
    }
}

/// Copies what is in a folder into another one.
pub fn copy(from: &Path, into: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(into).status().unwrap();
    assert!(copied.success(), "{} into {}", from.display(), into.display());
}

/// A folder where syncing costs nothing, where there is one.
pub fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Files, links and directories below `root`.
pub fn listing(root: &Path) -> Listing {
    let mut found = Listing::new();
    let entries = walkdir::WalkDir::new(root).into_iter().filter_entry(|entry| entry.file_name() != ".progress");
    for entry in entries.map(Result::unwrap) {
        let meta = entry.path().symlink_metadata().unwrap();
        let content = if meta.is_symlink() {
            std::fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes()
        } else if meta.is_file() {
            std::fs::read(entry.path()).unwrap()
        } else {
            Vec::new()
        };
        let name = entry.path().strip_prefix(root).unwrap().to_owned();
        if name != Path::new("") {
            found.insert(name, (meta.permissions().mode(), content));
        }
    }
    found
}

/// The calls that a clean run makes: name and the count of that name in its thread, each once, in order. `chosen` picks.
pub fn points(base: &Path, arguments: &[&str], chosen: impl Fn(&str, &str) -> bool) -> Vec<(String, usize)> {
    points_of(&Work::of(base), arguments, chosen)
}

/// As [`points`], of a run in this work tree.
pub fn points_of(work: &Work, arguments: &[&str], chosen: impl Fn(&str, &str) -> bool) -> Vec<(String, usize)> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = work.traced(&["-o", log.path().to_str().unwrap()], arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let (mut seen, mut points) = (BTreeSet::new(), Vec::new());
    for line in std::fs::read_to_string(log.path()).unwrap_or_default().lines() {
        let (thread, rest) = line.split_once(' ').unwrap_or_default();
        let Some((name, call)) = rest.trim_start().split_once('(') else { continue };
        // The second half of a call that another thread interrupted.
        if name.contains(' ') || NEITHER.contains(&name) {
            continue;
        }
        let count = counts.entry((thread.to_owned(), name.to_owned())).or_default();
        *count += 1;
        if chosen(name, call) && seen.insert((name.to_owned(), *count)) {
            points.push((name.to_owned(), *count));
        }
    }
    points
}
