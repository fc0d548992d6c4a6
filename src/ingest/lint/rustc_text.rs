//! `rustc-text`: diagnostics as cargo and rustc print them for people.

use super::rustc::{Findings, is_summary};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::test::cargo_test_text;
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{Finding, Format, Head, Level, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

/// What `cargo build`, `check`, `clippy` and `rustc` print.
pub const FORMAT: Format = Format {
    name: "rustc-text",
    kind: ReportKind::Lint,
    about: "terminal output of cargo or rustc: errors and warnings",
    written_by: "cargo build|check|clippy|test, rustc",
    told_by: "\"error[E0308]: …\", or \"warning: …\" above a line \"--> src/lib.rs:43:13\"",
    has_end: false,
    counting: "Lines that begin with \"error\" or \"warning\", without those that sum others up (\"aborting due to\", \
               \"could not compile\", \"generated 2 warnings\"). Notes are not counted. What a test prints is passed over.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // The output of cargo test has diagnostics above its results: it is told by the results.
    if head.xml().is_some() || matches!((cargo_test_text::FORMAT.sniff)(head), Sniff::Sure(_)) {
        return Sniff::No;
    }
    let mut reader = Reader::default();
    if head.lines().try_for_each(|line| reader.line(line)).and_then(|()| reader.close()).is_err() {
        return Sniff::No;
    }
    if reader.certain > 0 {
        return Sniff::Sure("a diagnostic of rustc with its place in a .rs file, or its code".to_owned());
    }
    if reader.finished || reader.not_compiled {
        return Sniff::Maybe("a line with which cargo ends a build".to_owned());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let mut tests = cargo_test_text::Reader::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        let is_inside = tests.is_inside();
        tests.line(&line.text).map_err(|error| error.line(line.number))?;
        if !is_inside {
            reader.line(&line.text)?;
        }
    }
    reader.finish()?.ok_or_else(|| Error::report(Reject::NotThisFormat, "nothing that cargo or rustc prints is in it"))
}

/// A diagnostic whose lines are being read.
#[derive(Debug)]
struct Open {
    finding: Finding,
    has_code: bool,
    has_frame: bool,
}

/// Reads lines.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Reader {
    findings: Findings,
    open: Option<Open>,
    /// Keep only what nobody but cargo and rustc writes.
    only_certain: bool,
    certain: u64,
    finished: bool,
    not_compiled: bool,
}

impl Reader {
    /// For output in which other tools speak too.
    pub(in crate::ingest) fn only_certain() -> Reader {
        Reader { only_certain: true, ..Reader::default() }
    }

    /// The next line.
    ///
    /// # Errors
    /// A count is too large.
    pub(in crate::ingest) fn line(&mut self, text: &str) -> Result<()> {
        let text = text.trim_end();
        if let Some((level, code, message)) = beginning(text) {
            self.close()?;
            if is_summary(message) {
                self.not_compiled |= level == Level::Error && message.starts_with("could not compile `");
                self.finished |= message.ends_with(" emitted") && level == Level::Warning;
                return Ok(());
            }
            let has_code = code.is_some_and(is_error_code);
            let rule = code.map(str::to_owned);
            let finding =
                Finding { tool: String::new(), rule, level, path: None, line: None, message: message.to_owned() };
            self.open = Some(Open { finding, has_code, has_frame: false });
            return Ok(());
        }
        if text.is_empty() {
            return self.close();
        }
        if let Some(open) = &mut self.open {
            open.line(text);
        } else if is_end_of_build(text) {
            self.finished = true;
        }
        Ok(())
    }

    /// Ends the diagnostic that was open.
    fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let is_certain = open.is_certain();
        self.certain += u64::from(is_certain);
        if is_certain || !self.only_certain {
            self.findings.add(open.finding)?;
        }
        Ok(())
    }

    /// The report; none if nothing of cargo or rustc was there.
    ///
    /// # Errors
    /// A count is too large.
    pub(in crate::ingest) fn finish(mut self) -> Result<Option<Parsed>> {
        self.close()?;
        if self.findings.total == 0 && !self.finished && !self.not_compiled {
            return Ok(None);
        }
        let build = if self.findings.build_errors > 0 || (self.not_compiled && self.findings.errors == 0) {
            Some(BuildStatus::Failed)
        } else if self.finished && !self.not_compiled {
            Some(BuildStatus::Success)
        } else {
            // Warnings alone may be all that came before the build was killed; denied lints tell nothing of the build.
            None
        };
        self.findings.parsed(&FORMAT, build, None).map(Some)
    }
}

impl Open {
    fn line(&mut self, text: &str) {
        let trimmed = text.trim_start();
        if let Some(place) = trimmed.strip_prefix("--> ") {
            self.has_frame = true;
            if self.finding.path.is_none() {
                (self.finding.path, self.finding.line) = place_of(place);
            }
        } else if let Some((_, rest)) = trimmed.split_once("rust-clippy/").filter(|_| trimmed.starts_with("= help: ")) {
            let lint = rest.split_once("index.html#").map(|(_, lint)| lint);
            self.finding.rule = lint.map(|lint| format!("clippy::{lint}")).or(self.finding.rule.take());
        } else if let Some(note) = trimmed.strip_prefix("= note: ") {
            self.has_frame = true;
            if self.finding.rule.is_none() {
                self.finding.rule = lint_of(note);
            }
        }
    }

    /// Whether nobody but rustc or cargo writes this.
    fn is_certain(&self) -> bool {
        let in_rust = self.finding.path.as_deref().is_some_and(|path| path.ends_with(".rs"));
        let by_cargo = || {
            let beginnings = [
                "could not find `Cargo.toml` in ",
                "failed to parse manifest at `",
                "failed to load manifest for ",
                "failed to select a version for ",
                "failed to run custom build command for `",
                "failed to parse lock file at",
                "no matching package named `",
                "internal compiler error: ",
            ];
            let message = &self.finding.message;
            self.finding.level == Level::Error && beginnings.iter().any(|beginning| message.starts_with(beginning))
        };
        let linker = || self.has_frame && self.finding.message.starts_with("linking with `");
        self.has_code || in_rust || by_cargo() || linker()
    }
}

/// Level, code and message of a line that begins a diagnostic.
fn beginning(text: &str) -> Option<(Level, Option<&str>, &str)> {
    let (level, rest) = match text.strip_prefix("error") {
        Some(rest) => (Level::Error, rest),
        None => (Level::Warning, text.strip_prefix("warning")?),
    };
    if let Some(message) = rest.strip_prefix(": ") {
        return Some((level, None, message));
    }
    let (code, message) = rest.strip_prefix('[')?.split_once("]: ")?;
    (!code.contains(char::is_whitespace)).then_some((level, Some(code), message))
}

/// `E0308`.
fn is_error_code(code: &str) -> bool {
    code.strip_prefix('E').is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Path and line of `src/lib.rs:43:13`.
fn place_of(place: &str) -> (Option<String>, Option<u64>) {
    let mut parts = place.rsplitn(3, ':');
    let (column, line, path) = (parts.next(), parts.next(), parts.next());
    match (column.map(str::parse::<u64>), line.map(str::parse::<u64>), path) {
        (Some(Ok(_)), Some(Ok(line)), Some(path)) => (Some(path.to_owned()), Some(line).filter(|line| *line > 0)),
        _ => (Some(place.to_owned()), None),
    }
}

/// The lint that a note names: `` `#[warn(unused_variables)]` on by default ``, `` `-D clippy::len-zero` implied by … ``.
fn lint_of(note: &str) -> Option<String> {
    let quoted = note.split('`').skip(1).step_by(2);
    let mut lints = quoted.filter_map(|quoted| {
        let attribute = ["warn", "deny", "forbid"]
            .iter()
            .find_map(|level| quoted.strip_prefix("#[")?.strip_prefix(level)?.strip_prefix('(')?.strip_suffix(")]"));
        let flag = || ["-W ", "-D ", "-F "].iter().find_map(|flag| quoted.strip_prefix(flag));
        attribute.or_else(flag).map(|lint| lint.replace('-', "_"))
    });
    lints.next()
}

/// `    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.83s`.
fn is_end_of_build(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix("Finished ");
    text.starts_with(' ') && rest.is_some_and(|rest| rest.contains(" [") && rest.contains("] target(s) in "))
}
