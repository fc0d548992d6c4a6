//! Running the user's command: its bytes go through unchanged, a copy is kept to be read as a report.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process_group};

use super::context::now;
use super::interrupt;
use crate::disk::{self, layout::Layout};
use crate::error::{Error, Reject, Result};
use crate::model::record::Command;

/// Where the command's output goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// Both streams to our stderr: our stdout is for data.
    Stderr,
    /// Each stream to our own of the same name, as if we were not there.
    Through,
    /// Nowhere, and it reads nothing. It is the first of a process group of its own, which is killed after this long.
    Nowhere(Duration),
}

/// A command that has ended.
pub struct Ran {
    /// For the record.
    pub command: Command,
    /// Everything it printed, at its first byte; or why there is no whole copy of it.
    pub console: Result<File>,
    /// Just before it began, by the clock of the work tree's file system; `None` if the store cannot be used.
    pub since: Option<SystemTime>,
    /// We were asked to end while it ran, and it ended in its own way. What it did may be half of it.
    pub is_interrupted: bool,
}

/// A grandchild that keeps the pipe open, and says nothing for this long after the command ended, is not waited for.
const LINGER: Duration = Duration::from_millis(500);

/// What is said of a command that was interrupted.
pub const NOT_RECORDED: &str = "nothing was recorded";

/// How often a command with a time limit is looked for.
const TICK: Duration = Duration::from_millis(5);

/// Runs the command where we are, without a shell, until it ends.
///
/// # Errors
/// Bad input if it cannot be started; a failure if the machine has no pipe for its output.
pub fn run(layout: &Layout, argv: &[OsString], folder: Option<&std::path::Path>, echo: Echo) -> Result<Ran> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(Error::usage("no command was given").help("it stands after --: highwater run -- CMD"));
    };
    // A store that cannot be used is told when the iteration is to be recorded; the command runs all the same.
    let since = disk::open_store(layout).and_then(|()| disk::time_on(&layout.cache())).ok();
    let started_at = now();
    let clock = Instant::now();

    let mut child = std::process::Command::new(program);
    child.args(arguments);
    if let Some(folder) = folder {
        child.current_dir(folder);
    }
    let no_pipe = |error: io::Error| Error::failed("cannot read a command's output").because(error.to_string());
    // Where both streams end in one file, they share one pipe: that alone keeps the order of their bytes.
    let streams = match echo {
        Echo::Through if !is_one_file() => vec![(Target::Stdout, true), (Target::Stderr, false)],
        Echo::Through => vec![(Target::Stdout, true)],
        Echo::Stderr => vec![(Target::Stderr, true)],
        Echo::Nowhere(_) => {
            child.stdin(Stdio::null()).process_group(0);
            vec![(Target::Nowhere, true)]
        }
    };
    let mut readers = Vec::new();
    for (target, is_first) in &streams {
        let (reader, writer) = io::pipe().map_err(no_pipe)?;
        if *is_first && streams.len() == 1 {
            child.stderr(Stdio::from(writer.try_clone().map_err(no_pipe)?));
        }
        if *is_first {
            child.stdout(Stdio::from(writer));
        } else {
            child.stderr(Stdio::from(writer));
        }
        readers.push((*target, reader));
    }
    let spawn = || child.spawn();
    let spawned = if matches!(echo, Echo::Nowhere(_)) { child.spawn() } else { interrupt::start_child(spawn) };
    let mut running = spawned.map_err(|error| cannot_start(program, &error))?;
    // Our ends of the pipes go, else they would never end.
    drop(child);

    let seen = Arc::new(AtomicU64::new(0));
    let (done, ended) = channel();
    let mut copies = Vec::new();
    for (target, reader) in readers {
        let copy = Kept::new();
        copies.push(copy.clone());
        let (done, seen) = (done.clone(), Arc::clone(&seen));
        std::thread::spawn(move || {
            relay(reader, target, &copy, &seen);
            let _ = done.send(());
        });
    }
    let status = match echo {
        Echo::Nowhere(limit) => wait_or_kill(&mut running, clock, limit).map(|status| (status, None)),
        Echo::Stderr | Echo::Through => interrupt::wait_for_child(&mut running),
    };
    let (status, asked) = status.map_err(|e| Error::failed("cannot wait for the command").because(e.to_string()))?;
    let duration = clock.elapsed();
    wait_for_relays(&ended, copies.len(), &seen);
    if let Some(signal) = asked.filter(|_| echo != Echo::Through || status.code().is_none()) {
        interrupt::end_by(signal, NOT_RECORDED);
    }
    Ok(Ran {
        command: Command {
            argv: argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            exit_code: Some(code_of(status)),
            started_at,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        },
        console: joined(copies.iter().map(Kept::take)).map_err(|error| not_whole(&error)),
        since,
        is_interrupted: asked.is_some(),
    })
}

fn cannot_start(program: &OsString, error: &io::Error) -> Error {
    Error::bad_input(format!("cannot run {}", program.to_string_lossy()))
        .because(error.to_string())
        .help("the command is run as it is, without a shell; for shell syntax use: -- sh -c '…'")
}

/// What was cut short could be read as fewer findings than there were.
fn not_whole(error: &io::Error) -> Error {
    Error::report(Reject::Refused, "what the command printed could not be kept whole")
        .because(error.to_string())
        .help("make room where temporary files are kept (TMPDIR), and record again")
}

/// The copy of a stream; where something went wrong with it, that. A fault costs the copy, not the command.
#[derive(Clone)]
struct Kept(Arc<Mutex<io::Result<File>>>);

impl Kept {
    fn new() -> Kept {
        Kept(Arc::new(Mutex::new(tempfile::tempfile())))
    }

    fn add(&self, chunk: &[u8]) {
        let mut copy = self.lock();
        let written = copy.as_mut().map(|file| file.write_all(chunk));
        if let Ok(Err(error)) = written {
            *copy = Err(error);
        }
    }

    fn fail(&self, error: io::Error) {
        *self.lock() = Err(error);
    }

    /// Ends the copy: what comes later, from a process that was not waited for, is handed on and not kept.
    fn take(&self) -> io::Result<File> {
        std::mem::replace(&mut *self.lock(), Err(io::Error::other("the command has ended")))
    }

    fn lock(&self) -> MutexGuard<'_, io::Result<File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy)]
enum Target {
    Stdout,
    Stderr,
    Nowhere,
}

/// Waits for a command that is the first of its process group; when its time is over, the whole group is killed.
fn wait_or_kill(running: &mut Child, started: Instant, limit: Duration) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = running.try_wait()? {
            return Ok(status);
        }
        if started.elapsed() >= limit {
            // It is not waited for yet, so that its number is still its own.
            if let Some(group) = i32::try_from(running.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            return running.wait();
        }
        std::thread::sleep(TICK);
    }
}

/// Hands on what comes, as it comes, and keeps a copy.
fn relay(mut reader: io::PipeReader, target: Target, copy: &Kept, seen: &AtomicU64) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = match reader.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return copy.fail(error),
        };
        let chunk = buffer.get(..read).unwrap_or_default();
        seen.fetch_add(1, Ordering::Relaxed);
        copy.add(chunk);
        let handed_on = match target {
            Target::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(chunk).and_then(|()| out.flush())
            }
            Target::Stderr => io::stderr().lock().write_all(chunk),
            Target::Nowhere => Ok(()),
        };
        // Nobody reads our stdout any more: the command is to learn it as it would without us.
        if let (Err(error), Target::Stdout) = (handed_on, target) {
            return copy.fail(error);
        }
    }
}

fn wait_for_relays(ended: &std::sync::mpsc::Receiver<()>, count: usize, seen: &AtomicU64) {
    let mut left = count;
    while left > 0 {
        let before = seen.load(Ordering::Relaxed);
        match ended.recv_timeout(LINGER) {
            Ok(()) => left -= 1,
            Err(RecvTimeoutError::Timeout) if seen.load(Ordering::Relaxed) != before => {}
            Err(_) => return,
        }
    }
}

/// The copies, one after the other.
fn joined(mut copies: impl Iterator<Item = io::Result<File>>) -> io::Result<File> {
    let mut console = copies.next().unwrap_or_else(|| Err(io::Error::other("a command ran without an output")))?;
    for copy in copies {
        let mut copy = copy?;
        copy.rewind()?;
        console.seek(io::SeekFrom::End(0))?;
        console.write_all(b"\n")?;
        io::copy(&mut copy, &mut console)?;
    }
    console.rewind()?;
    Ok(console)
}

/// Whether our stdout and stderr are one file: a terminal, or `2>&1`.
fn is_one_file() -> bool {
    let same = |a: &rustix::fs::Stat, b: &rustix::fs::Stat| a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    match (rustix::fs::fstat(io::stdout().as_fd()), rustix::fs::fstat(io::stderr().as_fd())) {
        (Ok(out), Ok(err)) => same(&out, &err),
        _ => false,
    }
}

/// As a shell tells it: 128+n where signal n ended the command.
fn code_of(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(mut copy: File) -> String {
        copy.rewind().unwrap();
        io::read_to_string(copy).unwrap()
    }

    #[test]
    fn what_comes_after_the_copy_was_taken_is_not_in_it() {
        let kept = Kept::new();
        kept.add(b"in time");
        let copy = kept.take().unwrap();
        kept.add(b", late");
        assert_eq!(text(copy), "in time");
    }

    #[test]
    fn a_copy_that_could_not_be_written_once_stays_a_fault() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let kept = Kept(Arc::new(Mutex::new(File::open(file.path()))));
        kept.add(b"not to be written");
        kept.add(b"");
        assert!(kept.take().is_err());
        let whole = || {
            let kept = Kept::new();
            kept.add(b"one");
            kept.take()
        };
        assert_eq!(text(joined([whole(), whole()].into_iter()).unwrap()), "one\none");
        assert!(joined([whole(), kept.take()].into_iter()).is_err());
        assert!(joined(std::iter::empty()).is_err());
    }
}
