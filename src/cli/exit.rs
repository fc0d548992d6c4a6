//! What a command's end means to the shell.

use std::process::ExitCode;

use crate::error::ErrorKind;
use crate::model::verdict::{Action, Recommendation};

/// The exit codes. Never 2 (agent CLIs read it from a hook as "block"), 101 or 134.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, or the loop goes on.
    Done,
    /// 1: the machine said no: disk full, permission, a busy lock.
    Failed,
    /// 10: end the loop.
    Stop,
    /// 11: go back to the best iteration.
    Rollback,
    /// 12: ask a person.
    Escalate,
    /// 13: the iteration could not be measured.
    Unmeasured,
    /// 64: the command line was wrong.
    Usage,
    /// 65: an input was wrong.
    BadInput,
    /// 70: a bug of ours.
    Bug,
    /// The code of a child, as `run` hands it on.
    Child(u8),
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Stop => 10,
            Exit::Rollback => 11,
            Exit::Escalate => 12,
            Exit::Unmeasured => 13,
            Exit::Usage => 64,
            Exit::BadInput => 65,
            Exit::Bug => 70,
            Exit::Child(code) => code,
        }
    }

    /// What `gate` answers.
    pub fn of_recommendation(recommendation: &Recommendation) -> Exit {
        if recommendation.is_unmeasured() {
            return Exit::Unmeasured;
        }
        match recommendation.action {
            Action::Continue => Exit::Done,
            Action::Stop => Exit::Stop,
            Action::Rollback => Exit::Rollback,
            Action::Escalate => Exit::Escalate,
        }
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Exit {
        match kind {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::BadInput | ErrorKind::Report(_) => Exit::BadInput,
            ErrorKind::Unmeasured => Exit::Unmeasured,
            ErrorKind::Failed => Exit::Failed,
            ErrorKind::Bug => Exit::Bug,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_of_ours_is_2_101_or_134() {
        let all = [
            Exit::Done,
            Exit::Failed,
            Exit::Stop,
            Exit::Rollback,
            Exit::Escalate,
            Exit::Unmeasured,
            Exit::Usage,
            Exit::BadInput,
            Exit::Bug,
        ];
        assert_eq!(all.map(Exit::code), [0, 1, 10, 11, 12, 13, 64, 65, 70]);
    }
}
