//! Ctrl-C, and being asked to end in other ways. A command that we run is waited for, so that what it says last is handed
//! on; a copy of ours goes; a restore that stops half way says how to go on. Then we end as the signal would have ended us.
//!
//! No promise depends on it: who is killed outright says nothing, and what is stored is as it has to be at every instant.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::diagnostic;
use super::output;
use crate::disk;
use crate::disk::layout::Layout;
use crate::error::Error;
use crate::snapshot::restore::{Reached, going_on, is_pending, reached};

/// What has to be known when a signal comes.
struct State {
    is_watching: bool,
    /// What is said where no restore was begun; `None` is nothing.
    before: Option<&'static str>,
    /// The command that runs.
    child: Option<Pid>,
    /// What came while it ran.
    asked: Option<i32>,
    /// A folder that is not to stay behind.
    scratch: Option<PathBuf>,
}

static STATE: Mutex<State> =
    Mutex::new(State { is_watching: false, before: None, child: None, asked: None, scratch: None });

static IS_ENDING: AtomicBool = AtomicBool::new(false);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on signals are told of; `before` is said if none of our restores has begun by then.
pub fn watch(before: &'static str) {
    let mut state = state();
    state.before = Some(before);
    start(&mut state);
}

/// The same where a restore that had been interrupted is gone on with; nothing is said before that, and where there is none,
/// no thread is started.
pub fn watch_pending(layout: &Layout) {
    if is_pending(layout) {
        start(&mut state());
    }
}

/// Removes the folder if a signal ends us, instead of the one that was named before.
pub fn remove_at_end(folder: &Path) {
    let mut state = state();
    state.scratch = Some(folder.to_path_buf());
    start(&mut state);
}

/// Whether a signal is about to end us: what fails now fails because of that, and is not to be told.
pub fn is_ending() -> bool {
    IS_ENDING.load(Ordering::Relaxed)
}

/// Where there is no thread to be had, signals end us as they always do.
fn start(state: &mut State) {
    if state.is_watching {
        return;
    }
    state.is_watching = true;
    let watching = || {
        let ignored = ignored();
        let is_ignored = |signal: i32| ignored.checked_shr(signal.unsigned_abs() - 1).is_some_and(|bits| bits & 1 == 1);
        let wanted = [SIGINT, SIGTERM, SIGHUP, SIGXFSZ].into_iter().filter(|signal| !is_ignored(*signal));
        let Ok(mut signals) = Signals::new(wanted) else { return };
        signals.forever().for_each(came);
    };
    let _ = std::thread::Builder::new().spawn(watching);
}

/// The signals that are to do nothing to us, a bit each from the first: we were started by `nohup`, or behind a shell's `&`.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.unwrap_or_default()
}

fn came(signal: i32) {
    // A file may not get longer: the call that tried it answers so, now that we are not killed for it.
    if signal == SIGXFSZ {
        return;
    }
    let mut state = state();
    let (Some(child), None) = (state.child, state.asked) else { end(state, signal) };
    state.asked = Some(signal);
    // Of Ctrl-C the terminal has told it; of what was sent to us alone it would not learn.
    let handed_on = match signal {
        SIGTERM => Signal::TERM,
        SIGHUP => Signal::HUP,
        _ => return,
    };
    let _ = kill_process(child, handed_on);
}

/// Starts a command that signals are to wait for: from its first instant on.
///
/// # Errors
/// As `spawn`.
pub fn start_child(spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    let mut state = state();
    start(&mut state);
    let child = spawn()?;
    state.child = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    Ok(child)
}

/// Waits for that command; what it answers is also the signal that came meanwhile.
///
/// # Errors
/// As `wait`.
pub fn wait_for_child(child: &mut Child) -> io::Result<(ExitStatus, Option<i32>)> {
    let running = state().child;
    if let Some(child) = running {
        // Until it is waited for, its number is its own.
        let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
    }
    let asked = {
        let mut state = state();
        state.child = None;
        state.asked.take()
    };
    Ok((child.wait()?, asked))
}

/// Ends us as the signal would have, and says `before` if nothing was begun.
pub fn end_by(signal: i32, before: &'static str) -> ! {
    let mut state = state();
    state.before.get_or_insert(before);
    end(state, signal)
}

/// The state stays locked, so that this is done once.
fn end(state: MutexGuard<'_, State>, signal: i32) -> ! {
    IS_ENDING.store(true, Ordering::Relaxed);
    if let Some(scratch) = &state.scratch {
        // Who still writes into it may put something there once more.
        let _ = (0..3).any(|_| disk::remove_folder(scratch).is_ok());
    }
    // From here on no restore gets further, so what is said stays true.
    let reached = reached();
    let error = match *reached {
        Reached::Nothing => state.before.map(|before| Error::failed("interrupted").because(before)),
        Reached::HalfWay => Some(going_on(Error::failed("interrupted"))),
        Reached::End => Some(Error::failed("interrupted").because("the restore itself had ended")),
    };
    if let Some(error) = error {
        output::err(&diagnostic::render(&error, false));
    }
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    std::process::exit(1)
}
