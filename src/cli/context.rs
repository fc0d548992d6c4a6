//! What every command starts from: the work tree, its config, the screen.

use std::io::{ErrorKind, IsTerminal};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use chrono::{DateTime, Utc};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::{Common, LoopChoice};
use super::diagnostic::printable;
use super::output;
use crate::config::{self, Effective};
use crate::disk::{
    self,
    layout::{GitUser, Layout},
    lock::Lock,
};
use crate::engine::{self, Session, Unnamed};
use crate::error::{self, Error, Result};
use crate::model::config::LoopConfig;
use crate::model::ids::LoopId;
use crate::report::Screen;
use crate::store::{Damaged, Store};

/// How long a command waits for another writer.
pub const WAIT: Duration = Duration::from_secs(10);

/// A bar is drawn for what takes longer than this.
const PATIENCE: Duration = Duration::from_millis(500);

/// Widths of screens that tables are made for, in columns.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=200;

/// What a work tree is known by.
const STORE: &str = ".progress";
const REPOSITORY: &str = ".git";

/// The config at the root of a work tree.
const CONFIG: &str = "highwater.yaml";

/// Everything that the options of every command come to.
#[derive(Clone)]
pub struct Context {
    /// The work tree and its store.
    pub layout: Layout,
    /// Where the command was typed.
    pub folder: PathBuf,
    common: Common,
}

impl Context {
    /// Finds the work tree.
    ///
    /// # Errors
    /// Bad input if the current directory is gone, or lies inside a store.
    pub fn new(common: Common) -> Result<Context> {
        let folder = std::env::current_dir().map_err(|error| {
            Error::bad_input("the current directory cannot be used")
                .because(error.to_string())
                .help("change into the work tree, then try again")
        })?;
        Context::in_folder(common, folder)
    }

    /// The current directory as it is, for a command that learns later where its work tree is: see [`Context::moved_to`].
    pub fn anywhere(common: Common) -> Context {
        let folder = std::env::current_dir().unwrap_or_default();
        Context { layout: Layout::new(&folder), folder, common }
    }

    /// As [`Context::new`], as if the command had been typed in `folder`, and with nothing said on stderr.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub fn moved_to(&self, folder: PathBuf) -> Result<Context> {
        let common = Common { quiet: true, ..self.common.clone() };
        Context::in_folder(common, folder)
    }

    fn in_folder(common: Common, folder: PathBuf) -> Result<Context> {
        let start = match &common.root {
            Some(root) => folder.join(root),
            None => folder.clone(),
        };
        let start = std::fs::canonicalize(&start).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied => {
                Error::bad_input("no such work tree")
                    .at(&start)
                    .because(error.to_string())
                    .help("name one that is there with --root, or change into it")
            }
            _ => Error::io("look at the work tree", &start, &error),
        })?;
        let store_name = start
            .components()
            .find(|part| matches!(part, Component::Normal(name) if *name == REPOSITORY || *name == STORE));
        if let Some(name) = store_name {
            return Err(Error::bad_input(format!(
                "this is inside {}, which is no work tree",
                name.as_os_str().display()
            ))
            .at(&start)
            .help("change into the work tree, then try again, or name it with --root"));
        }
        let root = if common.root.is_some() { start } else { nearest_root(&start)? };
        if root.parent().is_none() {
            return Err(Error::bad_input("the file system's root is no work tree")
                .at(&root)
                .help("change into the work tree, or name it with --root"));
        }
        if is_bare_repository(&root)? {
            return Err(Error::bad_input("this is a bare git repository, which is no work tree")
                .at(&root)
                .because("its files are git's own: giving back an earlier state of them would take branches and commits back")
                .help("change into a work tree of it (`git worktree add`), or name one with --root"));
        }
        Ok(Context { layout: Layout::new(&root).with_git_user(git_user()), folder, common })
    }

    /// Whether the work tree is the user's home or holds it, and nothing says that it is meant: who named it, a store, a
    /// repository, or a config of ours.
    ///
    /// # Errors
    /// A failure that names what cannot be looked at.
    pub fn is_mere_home(&self) -> Result<bool> {
        let home = self.layout.git_user().home.as_ref().and_then(|home| home.canonicalize().ok());
        let root = self.layout.root().canonicalize().ok();
        if self.common.root.is_some() || !home.zip(root).is_some_and(|(home, root)| home.starts_with(root)) {
            return Ok(false);
        }
        Ok(!has_any(self.layout.root(), &[STORE, REPOSITORY, CONFIG])?)
    }

    /// Whether the answer is JSON.
    pub fn json(&self) -> bool {
        self.common.json || self.common.jsonl
    }

    /// Whether a list is answered one JSON object a line.
    pub fn jsonl(&self) -> bool {
        self.common.jsonl
    }

    /// The screen that stdout is.
    pub fn screen(&self) -> Screen {
        let is_terminal = std::io::stdout().is_terminal();
        Screen { width: width(is_terminal), colour: is_terminal && colour_is_wanted() }
    }

    /// Says something that is no data, on stderr, unless `--quiet`.
    pub fn say(&self, line: &str) {
        if !self.common.quiet {
            output::err(&format!("{}\n", printable(line)));
        }
    }

    /// Names the iterations whose records cannot be read, and which what is printed leaves out.
    pub fn say_left_out(&self, damaged: &[Damaged]) {
        for Damaged { iteration, error } in damaged {
            // A disk that does not give a record says nothing about it.
            let what = if error.kind == error::ErrorKind::Failed { "unread" } else { "damaged" };
            self.say(&format!("{what}: iteration {iteration} is left out: {error}"));
        }
    }

    /// The config that a new loop would freeze: `--config`, else `HIGHWATER_CONFIG`, else `highwater.yaml` at the root,
    /// over the defaults. The path is the file's, if there is one.
    ///
    /// # Errors
    /// Bad input if the file is named and not there, cannot be read, or does not load; also if it says what to run or whom
    /// to ask, and somebody else could have written that.
    pub fn config(&self) -> Result<(Effective, Option<PathBuf>)> {
        /// A config is text that people write.
        const MAX_BYTES: u64 = 2 << 20;
        let path = match &self.common.config {
            Some(path) => self.folder.join(path),
            None => self.layout.root().join(CONFIG),
        };
        if self.common.config.is_none() && disk::metadata(&path)?.is_none() {
            return Ok((config::load("", "")?, None));
        }
        let unreadable = |error: Error| {
            Error::bad_input("config cannot be read").at(&path).because(match &error.cause {
                Some(cause) => format!("{}: {cause}", error.message),
                None => error.into_fault().message,
            })
        };
        let bytes = disk::read_named(&path, MAX_BYTES).map_err(unreadable)?;
        let name = path.strip_prefix(self.layout.root()).unwrap_or(&path).display().to_string();
        let text = String::from_utf8(bytes).map_err(|_| Error::bad_input("config is not UTF-8 text").in_file(&name))?;
        let effective = config::load(&text, &name)?;
        let LoopConfig { flake, tamper, hook, .. } = &effective.config;
        let names_a_command = flake.rerun.is_some() || tamper.command.is_some() || !hook.command.is_empty();
        self.check_permissions(&path, names_a_command || effective.config.estimate.asks())?;
        Ok((effective, Some(path)))
    }

    /// The config that `--config` or `HIGHWATER_CONFIG` names, over the defaults, and its file; `None` if neither is given.
    ///
    /// # Errors
    /// As [`Context::config`].
    pub fn named_config(&self) -> Result<Option<(LoopConfig, PathBuf)>> {
        if self.common.config.is_none() {
            return Ok(None);
        }
        let (effective, path) = self.config()?;
        Ok(path.map(|path| (effective.config, path)))
    }

    /// Somebody else's config may set thresholds, which is told; it may not name what to run or whom to ask.
    fn check_permissions(&self, path: &Path, asks: bool) -> Result<()> {
        use std::os::unix::fs::MetadataExt;
        let Ok(meta) = std::fs::metadata(path) else { return Ok(()) };
        let caller = rustix::process::geteuid().as_raw();
        let mut faults = Vec::new();
        if meta.mode() & 0o002 != 0 {
            faults.push(format!("everybody can write {}", path.display()));
        }
        if meta.uid() != caller && meta.uid() != 0 {
            faults.push(format!("{} belongs to user {}", path.display(), meta.uid()));
        }
        match faults.first() {
            Some(fault) if asks => {
                Err(Error::bad_input("config names a command or an endpoint, and is not yours alone")
                    .at(path)
                    .because(fault.clone())
                    .help("make it your own file that only you can write (chown, chmod o-w), then try again"))
            }
            _ => {
                faults.iter().for_each(|fault| self.say(&format!("warning: {fault}")));
                Ok(())
            }
        }
    }

    /// The loop that is meant.
    ///
    /// # Errors
    /// Bad input if there is none.
    pub fn store(&self, choice: &LoopChoice, unnamed: Unnamed) -> Result<Store> {
        if !disk::check_store(&self.layout)? {
            return Err(Error::bad_input("no loop has been begun here")
                .at(&self.layout.store())
                .help("`highwater begin -- CMD` opens one, with CMD the project's test command"));
        }
        engine::resolve(&self.layout, choice.id.as_ref(), unnamed)
    }

    /// The name of a loop that is to be opened: the one that was given, else the first free one, which is nobody else's as
    /// long as the lock is held.
    ///
    /// # Errors
    /// If the store cannot be made or read, or somebody else opens a loop and does not come to an end.
    pub fn new_loop(&self, choice: &LoopChoice) -> Result<(LoopId, Option<Lock>)> {
        if let Some(id) = &choice.id {
            return Ok((id.clone(), None));
        }
        let alone = engine::opening(&self.layout, WAIT)?;
        Ok((engine::new_name(&self.layout)?, Some(alone)))
    }

    /// Runs a stage of the engine, with a progress bar on stderr if it takes long and somebody looks.
    pub fn with_session<T>(&self, stage: impl FnOnce(&Session<'_>) -> T) -> T {
        self.with_patience(WAIT, stage)
    }

    /// As [`Context::with_session`], and another writer is waited for at most this long.
    pub fn with_patience<T>(&self, wait: Duration, stage: impl FnOnce(&Session<'_>) -> T) -> T {
        let bar = OnceLock::new();
        let started = std::time::Instant::now();
        let shows = std::io::stderr().is_terminal() && !self.common.quiet;
        let on_progress = |done: u64, all: u64| {
            if shows && started.elapsed() > PATIENCE {
                let bar = bar.get_or_init(new_bar);
                bar.set_length(all.max(done));
                bar.set_position(done);
            }
        };
        let answer = stage(&Session { layout: &self.layout, now: now(), wait, on_progress: &on_progress });
        if let Some(bar) = bar.get() {
            bar.finish_and_clear();
        }
        answer
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("keeping the work tree {bar:30} {pos}/{len} files") {
        bar.set_style(style);
    }
    bar
}

/// The nearest folder upward that holds a store or a repository, or is one, else where we are.
pub fn nearest_root(start: &Path) -> Result<PathBuf> {
    for folder in start.ancestors() {
        if has_any(folder, &[STORE, REPOSITORY])? || is_bare_repository(folder)? {
            return Ok(folder.to_path_buf());
        }
    }
    Ok(start.to_path_buf())
}

fn has_any(folder: &Path, names: &[&str]) -> Result<bool> {
    for name in names {
        if disk::metadata(&folder.join(name))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What git itself looks for.
fn is_bare_repository(folder: &Path) -> Result<bool> {
    let is_folder = |name: &str| disk::metadata(&folder.join(name)).map(|meta| meta.is_some_and(|meta| meta.is_dir()));
    let has_no = |name: &str| disk::metadata(&folder.join(name)).map(|meta| meta.is_none());
    Ok(is_folder("objects")? && is_folder("refs")? && !has_no("HEAD")? && has_no(".git")?)
}

/// Whether colours are wanted where a terminal could show them.
pub fn colour_is_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn width(is_terminal: bool) -> usize {
    let from_terminal = || {
        use std::os::fd::AsFd;
        let size = rustix::termios::tcgetwinsize(std::io::stdout().as_fd()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    };
    let from_environment = || std::env::var("COLUMNS").ok()?.parse::<usize>().ok();
    let columns = if is_terminal { from_terminal().or_else(from_environment) } else { from_environment() };
    columns.unwrap_or(100).clamp(*WIDTHS.start(), *WIDTHS.end())
}

/// Now. The clock's own call gives up where it stands before 1970.
pub fn now() -> DateTime<Utc> {
    std::time::SystemTime::now().into()
}

/// Where git's user has its settings, by the environment, as git looks for them.
fn git_user() -> GitUser {
    let given = |name| std::env::var_os(name).map(PathBuf::from);
    let set = |name| given(name).filter(|path| !path.as_os_str().is_empty());
    let home = set("HOME");
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let below = |name| folder.as_ref().map(|folder| folder.join(name));
    let is_without_system = std::env::var_os("GIT_CONFIG_NOSYSTEM")
        .is_some_and(|value| !["", "0", "false", "no", "off"].iter().any(|no| value.eq_ignore_ascii_case(no)));
    let system = given("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
    let own = match given("GIT_CONFIG_GLOBAL") {
        Some(file) => [Some(file), None],
        None => [below("git/config"), home.as_ref().map(|home| home.join(".gitconfig"))],
    };
    let configs = Some(system).filter(|_| !is_without_system).into_iter().chain(own.into_iter().flatten()).collect();
    GitUser { configs, excludes: below("git/ignore"), home }
}
