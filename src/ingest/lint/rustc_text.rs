//! `rustc-text`: diagnostics as cargo and rustc print them for people.

use super::brief_web::is_of_typos;
use super::rustc::{Findings, is_summary};
use super::rustc_json;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::test::{cargo_test_text, pytest_text};
use crate::ingest::text::{Lines, LongLine, is_number, split_at};
use crate::ingest::{Finding, Format, Head, Level, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

/// What `cargo build`, `check`, `clippy` and `rustc` print.
pub const FORMAT: Format = Format {
    name: "rustc-text",
    kind: ReportKind::Lint,
    about: "terminal output of cargo or rustc: errors and warnings",
    written_by: "cargo build|check|clippy|test, rustc",
    told_by: "\"error[E0308]: …\", or \"warning: …\" above a line \"--> src/lib.rs:43:13\" or behind that place",
    has_end: false,
    counting: "Lines that begin with \"error\" or \"warning\", or with a place before that, without those that sum \
               others up (\"aborting due to\", \"could not compile\", \"generated 2 warnings\"); what these count \
               beyond the lines was cut away. Notes are not counted. What a test prints is passed over.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let mut reader = Reader::default();
    if head.xml().is_some()
        || head.lines().try_for_each(|line| reader.line(line)).and_then(|()| reader.close()).is_err()
    {
        return Sniff::No;
    }
    let is_ended = reader.finished || reader.not_compiled;
    if (reader.certain == 0 && !is_ended) || is_of_another(head) {
        return Sniff::No;
    }
    if reader.certain > 0 {
        Sniff::Sure("a diagnostic of rustc with its place in a .rs file, or its code".to_owned())
    } else {
        Sniff::Maybe("a line with which cargo ends a build".to_owned())
    }
}

/// The output of test runners has diagnostics above its results: it is told by the results; cargo's JSON, among which it
/// prints them as text, by its lines.
fn is_of_another(head: &Head<'_>) -> bool {
    let is_nextest = |line: &str| line.trim_start().starts_with("Nextest run ID ");
    head.lines().any(|line| is_nextest(line) || rustc_json::is_ours(line))
        || [&cargo_test_text::FORMAT, &pytest_text::FORMAT].iter().any(|f| matches!((f.sniff)(head), Sniff::Sure(_)))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let mut tests = cargo_test_text::Reader::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        if !line.ended && !is_whole(&line.text) {
            return Err(Error::report(Reject::Malformed, "the compiler's output ends inside a line")
                .line(line.number)
                .help("the build was probably killed; run it again"));
        }
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
    /// Cargo itself gave up, before any compiler.
    not_built: bool,
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
                self.findings.sum_up(message);
                let starts = ["could not ", "Could not ", "aborting due to "];
                self.not_compiled |= level == Level::Error && starts.iter().any(|start| message.starts_with(start));
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
        if let Some(open) = short(text) {
            self.close()?;
            self.open = Some(open);
            return self.close();
        }
        // Below what a build script warns of stands no blank line.
        if is_building(text) || is_end_of_build(text) {
            self.close()?;
        }
        if let Some(open) = &mut self.open {
            open.line(text);
        } else if is_end_of_build(text) {
            self.finished = true;
        } else if is_check(text) {
            self.findings.is_check = true;
        }
        Ok(())
    }

    /// Whether a build came to its end, well or not.
    pub(in crate::ingest) fn is_over(&self) -> bool {
        self.open.is_none() && (self.finished || self.not_compiled || self.not_built)
    }

    /// Whether all of it was built, so that nothing of the build can follow.
    pub(in crate::ingest) fn is_finished(&self) -> bool {
        self.is_over() && self.finished
    }

    /// See [`Findings::fail`].
    ///
    /// # Errors
    /// A count is too large.
    pub(super) fn fail(&mut self) -> Result<()> {
        self.close()?;
        self.findings.fail()
    }

    /// Ends the diagnostic that was open.
    fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let is_certain = open.is_certain();
        self.not_built |= open.is_by_cargo();
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
        let is_ended = self.finished || self.not_compiled || self.not_built;
        // A build that was killed has told of some findings only; in a file of its own they are what there is.
        if !is_ended && (self.only_certain || self.findings.total == 0) {
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
        let starts = |start: &str| self.finding.message.starts_with(start);
        let by_compiler = || starts("internal compiler error: ") || (self.has_frame && starts("linking with `"));
        self.has_code || in_rust || by_compiler() || self.is_by_build_script() || self.is_by_cargo()
    }

    /// `warning: br@0.1.0: no zlib found`.
    fn is_by_build_script(&self) -> bool {
        let package = self.finding.message.split_once(": ").and_then(|(package, _)| package.split_once('@'));
        let is_version = |version: &str| {
            let mut parts = version.splitn(3, '.');
            let begins = [parts.next(), parts.next()].into_iter().flatten().all(is_number);
            begins && parts.next().is_some_and(|rest| !rest.contains(' '))
        };
        let is_package = |(name, version): (&str, &str)| !name.contains(' ') && is_version(version);
        self.finding.level == Level::Warning && package.is_some_and(is_package)
    }

    /// Whether cargo itself gave up, before any compiler.
    fn is_by_cargo(&self) -> bool {
        let beginnings = [
            "could not find `Cargo.toml` in ",
            "failed to parse manifest at `",
            "failed to load manifest for ",
            "failed to select a version for ",
            "failed to run custom build command for `",
            "failed to parse lock file at",
            "no matching package named `",
        ];
        let Finding { level, path, message, .. } = &self.finding;
        let in_manifest = path.as_deref().is_some_and(|path| path.ends_with("Cargo.toml"));
        *level == Level::Error && (in_manifest || beginnings.iter().any(|beginning| message.starts_with(beginning)))
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

/// `src/lib.rs:28:51: error[E0308]: mismatched types`, of `--message-format short`.
fn short(text: &str) -> Option<Open> {
    let path = text.get(..split_at(text, ".rs:")?.0.len() + 3)?;
    let place = text.get(..path.len() + text.get(path.len()..)?.find(": ")?)?;
    let (level, code, message) =
        beginning(text.get(place.len() + 2..)?).filter(|(.., message)| !is_of_typos(message))?;
    let (_, line) = place_of(place);
    if line.is_none() || path.contains(char::is_whitespace) || place.len() - path.len() > 24 {
        return None;
    }
    let (rule, has_code) = (code.map(str::to_owned), code.is_some_and(is_error_code));
    let (path, message) = (Some(path.to_owned()), message.to_owned());
    Some(Open {
        finding: Finding { tool: String::new(), rule, level, path, line, message },
        has_code,
        has_frame: false,
    })
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

/// Whether a last line without a line end is one with which cargo ends, and not cut.
fn is_whole(line: &str) -> bool {
    let line = line.trim_end();
    let ends = [" previous error", " previous errors", " emitted"];
    (is_end_of_build(line) && line.ends_with('s'))
        || (line.starts_with("error: could not compile `") && ends.iter().any(|end| line.ends_with(end)))
}

/// Whether cargo says that it begins to build a package.
pub(in crate::ingest) fn is_building(text: &str) -> bool {
    is_step(text, "   Compiling ") || is_check(text)
}

/// `    Checking kvlog v0.1.0 (/home/dev/kvlog)`.
fn is_check(text: &str) -> bool {
    is_step(text, "    Checking ")
}

fn is_step(text: &str, step: &str) -> bool {
    let rest = text.strip_prefix(step).and_then(|rest| rest.split_once(" v"));
    rest.is_some_and(|(name, version)| !name.contains(' ') && version.starts_with(|c: char| c.is_ascii_digit()))
}

/// `    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.83s`.
fn is_end_of_build(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix("Finished ");
    text.starts_with(' ') && rest.is_some_and(|rest| rest.contains(" [") && rest.contains("] target(s) in "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    /// `cargo clippy | tail -2`.
    #[test]
    fn what_was_cut_away_is_told_by_cargo_s_sums() {
        let row = "warning: unused variable: `x`\n --> src/a.rs:1:1\n\n";
        let sums = "warning: `kv` (lib) generated 3 warnings (run `cargo clippy --fix --lib -p kv` to apply 2 suggestions)\n\
                    warning: `kv` (lib test) generated 4 warnings (3 duplicates)\n";
        let failed = "error: could not compile `kv` (lib) due to 2 previous errors; 3 warnings emitted\n\
                      error: could not compile `kv` (lib test) due to 2 previous errors; 4 warnings emitted\n";
        for (text, expected, missing) in [
            (format!("{row}{sums}"), [0, 4], "3 findings are"),
            (failed.to_owned(), [2, 0], "2 findings are"),
            (format!("{sums}{sums}{failed}"), [2, 4], "6 findings are"),
        ] {
            let parsed = read(&text).unwrap();
            let figures = &parsed.figures;
            assert_eq!([figures.errors, figures.warnings], expected.map(Some), "{text}");
            assert!(parsed.warnings.iter().any(|warning| warning.starts_with(missing)), "{:?}", parsed.warnings);
            let Details::Lint(lint) = parsed.details else { panic!("lint") };
            let told_of = if text.contains("clippy") { "clippy" } else { "rustc" };
            assert!(lint.by_tool.get(told_of).is_some_and(|counts| counts.errors + counts.warnings > 0), "{text}");
        }
        let all = format!("{row}warning: `kv` (lib) generated 1 warning\n");
        assert!(read(&all).unwrap().warnings.is_empty());
    }

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("log.txt", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn short_lines_begin_with_their_place() {
        let text = "    Checking shop v0.1.0 (/app)\nsrc/lib.rs:16:41: warning: unused variable: `unused`: help: if this is\n\
                    src/cart.rs:3:5: error[E0425]: cannot find value `x` in this scope\n\
                    warning: `shop` (lib) generated 1 warning\nerror: could not compile `shop` (lib) due to 1 previous error\n";
        let parsed = read(text).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(1), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let last = details.findings.last().unwrap();
        assert_eq!(
            (last.path.as_deref(), last.line, last.rule.as_deref()),
            (Some("src/cart.rs"), Some(3), Some("E0425"))
        );
        for other in ["see a.rs:3:5: error: x", "a.rs:3:5: note: x", "a.rs: error: x", "a.c:3:5: error: x", "a.rs:3:5:"]
        {
            assert!(short(other).is_none(), "{other}");
        }
    }

    #[test]
    fn places_codes_and_lints_are_read() {
        let text = "\
error[E0308]: mismatched types
  --> src/lib.rs:28:51
   |
28 |     let _s: String = 5;
   |

warning: unused variable: `unused`
  --> C:\\p\\src\\lib.rs:43:13
   |
   = note: `#[warn(unused_variables)]` (part of `#[warn(unused)]`) on by default

warning: needlessly taken reference of left operand
  --> src/lib.rs:35:16
   |
   = help: for further information visit https://rust-lang.github.io/rust-clippy/rust-1.95.0/index.html#op_ref
   = note: `#[warn(clippy::op_ref)]` on by default

error: length comparison to zero
  --> src/main.rs:5:8
   |
   = note: `-D clippy::len-zero` implied by `-D warnings`

";
        let Details::Lint(details) = read(text).unwrap().details else { panic!("lint") };
        let found: Vec<_> = details
            .findings
            .iter()
            .map(|f| {
                (
                    f.tool.as_str(),
                    f.rule.as_deref().unwrap_or_default(),
                    f.path.as_deref().unwrap_or_default(),
                    f.line.unwrap(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("rustc", "E0308", "src/lib.rs", 28),
                ("rustc", "unused_variables", "C:\\p\\src\\lib.rs", 43),
                ("clippy", "clippy::op_ref", "src/lib.rs", 35),
                ("clippy", "clippy::len_zero", "src/main.rs", 5),
            ]
        );
    }

    #[test]
    fn what_the_build_came_to() {
        let warning = "warning: unused\n --> src/a.rs:1:1\n\n";
        let finished = "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.83s\n";
        let denied = "error: needless\n --> src/a.rs:1:1\n  = note: `-D clippy::needless` implied by `-D warnings`\n\n";
        let not_compiled = "error: could not compile `x` (lib) due to 1 previous error\n";
        for (text, build) in [
            (finished.to_owned(), Some(BuildStatus::Success)),
            (format!("{warning}{finished}"), Some(BuildStatus::Success)),
            (warning.to_owned(), None),
            (not_compiled.to_owned(), Some(BuildStatus::Failed)),
            (format!("error[E0308]: no\n --> src/a.rs:1:1\n\n{not_compiled}"), Some(BuildStatus::Failed)),
            (format!("{denied}{not_compiled}"), None),
        ] {
            assert_eq!(read(&text).unwrap().build, build, "{text}");
        }
    }

    #[test]
    fn warnings_of_build_scripts_have_a_line_each() {
        let text = "   Compiling br v0.1.0 (/br)\nwarning: br@0.1.0: no zlib\nwarning: br@0.1.0: no zstd\n    Checking br v0.1.0 (/br)\n\
                    \x20   Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.40s\n";
        let parsed = crate::ingest::parse(&Input::bytes("log.txt", text.as_bytes()), None).unwrap();
        assert_eq!(
            (parsed.format.name, parsed.figures.warnings, parsed.build),
            ("rustc-text", Some(2), Some(BuildStatus::Success))
        );
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!(details.by_tool.into_keys().collect::<Vec<_>>(), ["clippy", "rustc"]);
        let mut reader = Reader::only_certain();
        text.replace("br@0.1.0", "br@next").lines().try_for_each(|line| reader.line(line)).unwrap();
        assert_eq!(reader.finish().unwrap().and_then(|parsed| parsed.figures.total), Some(0));
    }

    #[test]
    fn what_cargo_and_nextest_say_of_a_failure_at_last_is_no_second_one() {
        let undocumented = "error: unresolved link to `No`\n --> src/lib.rs:1:7\n\nerror: could not document `br`\n";
        let of_nextest = "error: failed to run custom build command for `br v0.1.0 (/br)`\n\nCaused by:\n  no lib\n\
                          error: command `/bin/cargo test --no-run --message-format json` exited with code 101\n";
        for text in [undocumented, of_nextest] {
            let parsed = read(text).unwrap();
            assert_eq!((parsed.figures.errors, parsed.build), (Some(1), Some(BuildStatus::Failed)), "{text}");
        }
        let mut reader = Reader::only_certain();
        undocumented.lines().try_for_each(|line| reader.line(line)).unwrap();
        assert_eq!(reader.finish().unwrap().and_then(|parsed| parsed.figures.errors), Some(1));
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let error = read("warning: unused\n --> src/a.rs:1:1\n\nerror: mismat").unwrap_err();
        assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(4)));
        assert_eq!(read("nothing of it\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert!(
            read("error: could not compile `x` (lib) due to 2 previous errors").is_ok(),
            "a whole line needs no line end"
        );
    }

    #[test]
    fn beside_other_tools_only_what_is_certain_counts() {
        let found = |text: &str| {
            let mut reader = Reader::only_certain();
            text.lines().try_for_each(|line| reader.line(line)).unwrap();
            reader.finish().unwrap().map(|parsed| parsed.figures.total.unwrap())
        };
        let end = "error: could not compile `x` (lib) due to 1 previous error";
        assert_eq!(found(&format!("error[E0308]: no\n --> src/a.rs:1:1\n\nerror: not ours\n\n{end}")), Some(1));
        assert_eq!(found("error[E0308]: no\n --> src/a.rs:1:1\n"), None, "the build did not come to its end");
        assert_eq!(found("error: could not find `Cargo.toml` in `/p` or any parent directory"), Some(1));
        assert_eq!(
            found(&format!("error: linking with `cc` failed: exit status: 1\n  |\n  = note: cc\n\n{end}")),
            Some(1)
        );
        assert_eq!(found("error: not ours\nwarning: nor this\n"), None);
    }
}
