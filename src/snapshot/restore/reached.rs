//! How far this process has come with a restore, for whoever ends it in between and is to say how to go on.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far a restore is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// None has changed anything.
    Nothing,
    /// One is pending.
    HalfWay,
    /// The last one has ended.
    End,
}

static REACHED: Mutex<Reached> = Mutex::new(Reached::Nothing);

/// How far it is. As long as this is held, no restore gets from one to the next.
pub fn reached() -> MutexGuard<'static, Reached> {
    REACHED.lock().unwrap_or_else(PoisonError::into_inner)
}
