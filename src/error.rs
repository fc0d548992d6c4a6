//! The one error type of the crate: what failed, where, how we came to think so, and what to do.
//!
//! Messages are lowercase fragments without a final period. An [`Error`] knows its *kind*, which alone decides the
//! exit code (`cli::exit`), and a *place*, which is never optional in spirit: leave it empty only where no file is involved.

use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a report was not turned into numbers. The first five are the report corpus's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reject {
    /// Nothing in it: no bytes, only white space, only a byte order mark.
    Empty,
    /// Not well-formed, or cut short.
    Malformed,
    /// Well-formed perhaps, but not a report of the format it was read as (or of any known one).
    NotThisFormat,
    /// A version of the format that is not read.
    UnsupportedVersion,
    /// A text log whose summary never came: the run was killed, or did not build.
    NoResult,
    /// Not read at all: over a limit, or not a regular file inside the work tree.
    Refused,
}

impl Reject {
    /// The code as `inspect --json` prints it.
    pub fn code(self) -> &'static str {
        match self {
            Reject::Empty => "empty",
            Reject::Malformed => "malformed",
            Reject::NotThisFormat => "not-this-format",
            Reject::UnsupportedVersion => "unsupported-version",
            Reject::NoResult => "no-result",
            Reject::Refused => "refused",
        }
    }
}

/// What sort of failure this is. Each maps to exactly one exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line was wrong (exit 64).
    Usage,
    /// Input that we read was wrong: a config, a stored file, a loop that does not exist (exit 65).
    BadInput,
    /// A report that did not become numbers (exit 65).
    Report(Reject),
    /// The iteration could not be measured (exit 13).
    Unmeasured,
    /// The machine said no: disk full, permission, a busy lock (exit 1).
    Failed,
    /// A fault of ours (exit 70).
    Bug,
}

/// Where in the input the fault lies. Lines and columns count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user would type it.
    pub path: Option<String>,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Column in characters, from 1.
    pub column: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path.as_deref().unwrap_or("(input)"))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

/// An error as a person will read it: a [`Fault`], whose fields are read and set through it. It is one pointer, since
/// nearly every step of a reader gives back a [`Result`], which is as large as its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Fault>);

/// What an [`Error`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Decides the exit code.
    pub kind: ErrorKind,
    /// What failed: a lowercase fragment, at most 100 characters on its first line.
    pub message: String,
    /// Where.
    pub place: Place,
    /// How we came to think so, or the system's own word ("no space left on device").
    pub cause: Option<String>,
    /// What to do next.
    pub help: Option<String>,
}

impl Error {
    /// An error of `kind` with its message; place, cause and help are added with the `with_` methods.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Box::new(Fault { kind, message: message.into(), place: Place::default(), cause: None, help: None }))
    }

    /// What it says and its cause, in one line, for where the place stands already.
    pub fn said(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{}: {cause}", self.message),
            None => self.message.clone(),
        }
    }

    /// What it says, to take it apart.
    pub fn into_fault(self) -> Fault {
        *self.0
    }

    /// Exit 64.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// Exit 65.
    pub fn bad_input(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::BadInput, message)
    }

    /// Exit 65, with the code that `inspect --json` prints.
    pub fn report(reject: Reject, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Report(reject), message)
    }

    /// Exit 1.
    pub fn failed(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Failed, message)
    }

    /// Exit 70.
    pub fn bug(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Bug, message)
    }

    /// A system call on `path` that failed (exit 1): the message is "cannot" and `doing`, the system's word is the cause.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Error {
        let failed = Error::failed(format!("cannot {doing}")).at(path).because(error.to_string());
        match error.kind() {
            io::ErrorKind::PermissionDenied => {
                failed.help("it may be another user's: run highwater as the user who began, or change owner or mode")
            }
            io::ErrorKind::StorageFull => failed.help("make room, then run the same command again"),
            io::ErrorKind::ReadOnlyFilesystem => failed.help("the file system takes no changes: mount it writable"),
            _ => failed,
        }
    }

    /// Names the file.
    #[must_use]
    pub fn at(mut self, path: &Path) -> Error {
        self.place.path = Some(path.display().to_string());
        self
    }

    /// Says where in its stead.
    #[must_use]
    pub fn placed(mut self, place: Place) -> Error {
        self.place = place;
        self
    }

    /// Names the file only if none is named yet.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Error {
        self.place.path.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Adds the line, from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> Error {
        self.place.line = Some(line);
        self
    }

    /// Adds line and column, both from 1.
    #[must_use]
    pub fn line_column(mut self, line: u64, column: u64) -> Error {
        self.place.line = Some(line);
        self.place.column = Some(column);
        self
    }

    /// Adds how we came to think so.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Error {
        self.cause = Some(cause.into());
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.help = Some(help.into());
        self
    }

    /// The reject code of a report error; `None` for every other kind.
    pub fn reject(&self) -> Option<Reject> {
        match self.kind {
            ErrorKind::Report(reject) => Some(reject),
            _ => None,
        }
    }
}

impl Deref for Error {
    type Target = Fault;

    fn deref(&self) -> &Fault {
        &self.0
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Fault {
        &mut self.0
    }
}

/// One line: message, place, cause. People are shown the long form by `cli::diagnostic`.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.place != Place::default() {
            write!(f, " ({})", self.place)?;
        }
        if let Some(cause) = &self.cause {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_refuses_says_what_to_do() {
        let told = |kind: io::ErrorKind| Error::io("read", Path::new("x"), &kind.into()).help.clone();
        assert!(told(io::ErrorKind::PermissionDenied).is_some_and(|help| help.contains("user")));
        assert!(told(io::ErrorKind::StorageFull).is_some_and(|help| help.contains("room")));
        assert!(told(io::ErrorKind::ReadOnlyFilesystem).is_some());
        assert_eq!(told(io::ErrorKind::Other), None);
    }

    #[test]
    fn display_names_message_place_and_cause_in_one_line() {
        let error = Error::report(Reject::Malformed, "coverage report ends early")
            .at(Path::new("cov.xml"))
            .line_column(214, 7)
            .because("read as cobertura, by its content")
            .help("run the tests again");
        assert_eq!(error.to_string(), "coverage report ends early (cov.xml:214:7): read as cobertura, by its content");
        assert_eq!(error.reject().map(Reject::code), Some("malformed"));
    }
}
