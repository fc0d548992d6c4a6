//! `rustc-json`: diagnostics as JSON lines, from cargo (`--message-format=json`) or from rustc itself.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::rustc::{Findings, is_summary};
use super::rustc_text;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::values::Few;
use crate::ingest::{Details, Finding, Format, Head, Level, Parsed, Sniff};
use crate::model::figures::{RawFindings, ReportKind};
use crate::model::metrics::BuildStatus;

/// What `cargo build`, `check` and `clippy` write with `--message-format=json`.
pub const FORMAT: Format = Format {
    name: "rustc-json",
    kind: ReportKind::Lint,
    about: "JSON lines of cargo or rustc diagnostics",
    written_by: "cargo build|check|clippy|test --message-format=json, rustc --error-format=json",
    told_by: "lines with \"reason\":\"compiler-…\" or \"build-finished\", or with \"$message_type\":\"diagnostic\"",
    has_end: false,
    counting: "Top-level diagnostics by level; failure notes and summaries are none, notes inside a diagnostic neither. \
               The same text at the same level twice (the library and its tests) is one; raw has the count before. \
               A build that failed without an error among them is one error, or those that cargo prints beside its JSON. \
               Lines that are no JSON are skipped, but where cargo prints the diagnostics as text among its JSON \
               (json-render-diagnostics).",
    sniff,
    parse,
};

/// Beginnings of lines that nothing but cargo and rustc writes.
const BEGINNINGS: [&str; 6] = [
    "{\"reason\":\"compiler-message\"",
    "{\"reason\":\"compiler-artifact\"",
    "{\"reason\":\"build-script-executed\"",
    "{\"reason\":\"build-finished\"",
    "{\"$message_type\":\"diagnostic\"",
    "{\"$message_type\":\"artifact\"",
];

/// Whether the line was begun by cargo or rustc.
pub(in crate::ingest) fn is_ours(line: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

fn sniff(head: &Head<'_>) -> Sniff {
    match head.lines_of_both_ends().find(|line| is_ours(line)) {
        Some(line) if line.starts_with("{\"reason\"") => {
            Sniff::Sure("lines with reason, as cargo writes them".to_owned())
        }
        Some(_) => Sniff::Sure("lines with $message_type, as rustc writes them".to_owned()),
        None => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let mut rendered = rustc_text::Reader::only_certain();
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::EscapedTwice)?;
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        if !line.ended && line.text.starts_with('{') && serde_json::from_str::<IgnoredAny>(&line.text).is_err() {
            return Err(cut().line(last));
        }
        reader.line(&line.text).map_err(|error| error.line(last))?;
        if !line.text.starts_with('{') {
            rendered.line(&line.text).map_err(|error| error.line(last))?;
        }
    }
    if reader.has_failed() {
        rendered.fail()?;
    }
    let rendered = rendered.finish()?.filter(|parsed| reader.lines > 0 && parsed.figures.total > Some(0));
    if let Some(parsed) = rendered {
        if reader.raw == RawFindings::default() {
            let build = reader.finish().map_err(|error| error.line(last))?.and_then(|parsed| parsed.build);
            return Ok(Parsed { format: &FORMAT, build: parsed.build.or(build), ..parsed });
        }
        reader.fail_by(parsed)?;
    }
    reader.finish().map_err(|error| error.line(last))?.ok_or_else(|| {
        Error::report(Reject::NotThisFormat, "no line of cargo's or rustc's JSON is in it")
            .help("cargo writes it with --message-format=json")
    })
}

/// A line of cargo's.
#[derive(Deserialize)]
struct CargoLine {
    reason: String,
    message: Option<Diagnostic>,
    success: Option<bool>,
    filenames: Option<Few<String>>,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    code: Option<Code>,
    level: String,
    spans: Few<Span>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u64,
    is_primary: bool,
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    findings: Findings,
    raw: RawFindings,
    met: HashSet<(u64, u64)>,
    /// Lines that were read.
    lines: u64,
    from_cargo: bool,
    finished: Option<bool>,
}

impl Reader {
    /// The next line.
    ///
    /// # Errors
    /// Malformed: a line that cargo or rustc began is not whole.
    pub(in crate::ingest) fn line(&mut self, text: &str) -> Result<()> {
        if !text.starts_with('{') {
            return Ok(());
        }
        let told = match serde_json::from_str::<CargoLine>(text) {
            Ok(line) => return self.cargo(line),
            Err(told) => told,
        };
        match serde_json::from_str::<Diagnostic>(text) {
            Ok(diagnostic) => {
                self.lines += 1;
                self.diagnostic(diagnostic)
            }
            Err(_) if begins_alike(text) && (told.is_eof() || told.is_syntax()) => Err(cut()),
            Err(_)
                if text.starts_with("{\"reason\":\"compiler-message\"")
                    || text.starts_with("{\"reason\":\"build-finished\"") =>
            {
                Err(Error::report(Reject::Malformed, "a line of the report is not as cargo writes it"))
            }
            // Artifacts, and other programs' JSON.
            Err(_) => Ok(()),
        }
    }

    fn cargo(&mut self, line: CargoLine) -> Result<()> {
        match (line.reason.as_str(), line.message, line.success) {
            ("compiler-message", Some(diagnostic), _) => self.diagnostic(diagnostic)?,
            ("build-finished", _, Some(success)) => self.finished = Some(success && self.finished.unwrap_or(true)),
            ("compiler-artifact", ..) => {
                let files = line.filenames.unwrap_or_default().0;
                self.findings.is_check |= !files.is_empty() && files.iter().all(|file| file.ends_with(".rmeta"));
            }
            ("build-script-executed", ..) => {}
            _ => return Ok(()),
        }
        self.from_cargo = true;
        self.lines += 1;
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> Result<()> {
        let level = match diagnostic.level.as_str() {
            level if level.starts_with("error") => Level::Error,
            "warning" => Level::Warning,
            "failure-note" => return Ok(()),
            _ => Level::Note,
        };
        if is_summary(&diagnostic.message) {
            return Ok(());
        }
        let count = match level {
            Level::Error => &mut self.raw.errors,
            Level::Warning => &mut self.raw.warnings,
            Level::Note => &mut self.raw.notes,
        };
        *count = count.saturating_add(1);
        if !self.met.insert(fingerprint(&diagnostic)) {
            return Ok(());
        }
        let place = diagnostic.spans.0.iter().find(|span| span.is_primary).or(diagnostic.spans.0.first());
        self.findings.add(Finding {
            tool: String::new(),
            rule: diagnostic.code.map(|code| code.code),
            level,
            path: place.map(|span| span.file_name.clone()),
            line: place.map(|span| span.line_start).filter(|line| *line > 0),
            message: diagnostic.message,
        })
    }

    /// Whether the build failed, and no diagnostic is an error: a build script may have failed, or a dependency is missing.
    fn has_failed(&self) -> bool {
        self.finished == Some(false) && self.raw.errors == 0
    }

    /// Takes the errors that cargo printed beside its JSON, if none of that tells why the build failed.
    fn fail_by(&mut self, rendered: Parsed) -> Result<()> {
        if let Details::Lint(told) = rendered.details
            && self.has_failed()
        {
            for error in told.findings.into_iter().filter(|finding| finding.level == Level::Error) {
                self.raw.errors = self.raw.errors.saturating_add(1);
                self.findings.add(error)?;
            }
        }
        Ok(())
    }

    /// The report, if there was a line of ours.
    ///
    /// # Errors
    /// Malformed: cargo's lines lack the one that ends them.
    pub(in crate::ingest) fn finish(mut self) -> Result<Option<Parsed>> {
        if self.lines == 0 {
            return Ok(None);
        }
        if self.has_failed() {
            self.findings.fail()?;
            self.raw.errors = 1;
        }
        if self.from_cargo && self.finished.is_none() {
            return Err(Error::report(Reject::Malformed, "cargo's JSON ends before its line \"build-finished\"")
                .help("the build was probably cut short; run it again, or keep that line when filtering"));
        }
        let build = match self.finished {
            _ if self.findings.build_errors > 0 => Some(BuildStatus::Failed),
            Some(true) => Some(BuildStatus::Success),
            // Lints of clippy that are denied stop cargo as well, and tell nothing of the build.
            Some(false) if self.findings.errors > 0 => None,
            Some(false) => Some(BuildStatus::Failed),
            None => Some(BuildStatus::Success),
        };
        self.findings.parsed(&FORMAT, build, Some(self.raw)).map(Some)
    }
}

fn cut() -> Error {
    Error::report(Reject::Malformed, "a line of the report is cut or no JSON")
        .help("the build was probably cut short; run it again")
}

/// Whether a line that does not parse was meant to be one of ours.
fn begins_alike(text: &str) -> bool {
    is_ours(text) || BEGINNINGS.iter().any(|beginning| text.len() > 8 && beginning.starts_with(text))
}

/// 128 bits of the text and level that make two diagnostics one.
fn fingerprint(diagnostic: &Diagnostic) -> (u64, u64) {
    let hash = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        diagnostic.level.hash(&mut hasher);
        match &diagnostic.rendered {
            Some(rendered) => rendered.hash(&mut hasher),
            None => {
                diagnostic.message.hash(&mut hasher);
                for span in &diagnostic.spans.0 {
                    (&span.file_name, span.line_start, span.is_primary).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    };
    (hash(1), hash(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::console::console;

    fn message(level: &str, code: &str, text: &str) -> String {
        format!(
            r#"{{"reason":"compiler-message","message":{{"rendered":"{level}: {text}","children":[],"level":"{level}","message":"{text}","spans":[{{"file_name":"src/a.rs","line_start":3,"is_primary":true}}],"code":{{"code":"{code}","explanation":null}}}}}}"#
        ) + "\n"
    }

    const FINISHED: &str = "{\"reason\":\"build-finished\",\"success\":true}\n";
    const NOT_FINISHED: &str = "{\"reason\":\"build-finished\",\"success\":false}\n";

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x.jsonl", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn clippy_is_told_from_rustc_and_copies_count_once() {
        let lint = message("warning", "clippy::op_ref", "needless");
        let text = lint.clone()
            + &lint
            + &message("error", "E0308", "mismatched")
            + &message("error", "x", "aborting due to 1")
            + NOT_FINISHED;
        let parsed = read(&text).unwrap();
        assert_eq!(
            (parsed.figures.errors, parsed.figures.warnings, parsed.build),
            (Some(1), Some(1), Some(BuildStatus::Failed))
        );
        assert_eq!(parsed.figures.raw, Some(RawFindings { errors: 1, warnings: 2, notes: 0 }));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let found: Vec<_> =
            details.findings.iter().map(|f| (f.tool.as_str(), f.rule.as_deref(), f.path.as_deref(), f.line)).collect();
        let path = Some("src/a.rs");
        assert_eq!(found, [("clippy", Some("clippy::op_ref"), path, Some(3)), ("rustc", Some("E0308"), path, Some(3))]);
    }

    #[test]
    fn what_the_build_came_to() {
        let denied = message("error", "clippy::op_ref", "needless");
        for (text, build) in [
            (FINISHED.to_owned(), Some(BuildStatus::Success)),
            (NOT_FINISHED.to_owned(), Some(BuildStatus::Failed)),
            (denied + NOT_FINISHED, None),
            (message("error", "E0308", "no") + NOT_FINISHED, Some(BuildStatus::Failed)),
            (FINISHED.to_owned() + NOT_FINISHED, Some(BuildStatus::Failed)),
        ] {
            assert_eq!(read(&text).unwrap().build, build, "{text}");
        }
    }

    #[test]
    fn diagnostics_may_be_text_among_the_json() {
        let text = "warning: unused import: `std::fmt`\n --> src/lib.rs:1:5\n  |\n1 | use std::fmt;\n\n\
            {\"reason\":\"compiler-artifact\",\"filenames\":[]}\nwarning: `a` (lib) generated 1 warning\n\
            error[E0308]: mismatched types\n --> src/main.rs:1:26\n\nerror: could not compile `a` (bin \"a\") due to 1 previous error\n";
        let parsed = read(&format!("{text}{NOT_FINISHED}")).unwrap();
        assert_eq!(
            (parsed.figures.errors, parsed.figures.warnings, parsed.build, parsed.format.name),
            (Some(1), Some(1), Some(BuildStatus::Failed), "rustc-json")
        );
        assert_eq!(read(text).unwrap_err().reject(), Some(Reject::Malformed));
        let both = read(&format!("{}{text}{NOT_FINISHED}", message("warning", "x", "y"))).unwrap();
        assert_eq!((both.figures.errors, both.figures.warnings), (Some(1), Some(1)));
        let finished = read(&format!("{}{text}{FINISHED}", message("warning", "x", "y"))).unwrap();
        assert_eq!((finished.figures.errors, finished.figures.warnings), (Some(0), Some(1)));
    }

    #[test]
    fn a_build_that_failed_has_an_error() {
        let artifact = "{\"reason\":\"compiler-artifact\",\"filenames\":[]}\n";
        let warning = message("warning", "x", "y");
        let cargo = "error: failed to run custom build command for `br v0.1.0 (/br)`\n\nCaused by:\n  no lib\n";
        let rendered = "warning: unused\n --> src/a.rs:1:1\n\nerror: could not compile `a` (lib)\n";
        for (text, errors, warnings) in [
            (format!("{artifact}{NOT_FINISHED}"), 1, 0),
            (format!("{cargo}{artifact}{NOT_FINISHED}"), 1, 0),
            (format!("{artifact}{warning}{NOT_FINISHED}"), 1, 1),
            (format!("{cargo}{artifact}{warning}{NOT_FINISHED}"), 1, 1),
            (format!("{artifact}{rendered}{NOT_FINISHED}"), 1, 1),
            (format!("{artifact}{warning}{FINISHED}"), 0, 1),
        ] {
            let parsed = read(&text).unwrap();
            assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(errors), Some(warnings)), "{text}");
            // In a command's output, what cargo prints as text is heard once more.
            let quality = crate::ingest::merge::merge(&console(&Input::bytes("x", text.as_bytes()))).quality.unwrap();
            assert_eq!((quality.error_count, quality.build_status), (Some(errors), parsed.build), "{text}");
        }
    }

    #[test]
    fn a_clean_check_names_clippy_and_a_clean_build_does_not() {
        let tools = |files: &str| {
            let artifact = format!("{{\"reason\":\"compiler-artifact\",\"filenames\":{files}}}\n");
            let Details::Lint(details) = read(&(artifact + FINISHED)).unwrap().details else { panic!("lint") };
            details.by_tool.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(tools(r#"["t/liba.rmeta"]"#), ["clippy", "rustc"]);
        assert_eq!(tools(r#"["t/liba.rlib","t/liba.rmeta"]"#), ["rustc"]);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let warning = message("warning", "x", "y");
        for (text, reject) in [
            (warning.clone(), Reject::Malformed),
            (format!("{}\n{FINISHED}", warning.get(..40).unwrap()), Reject::Malformed),
            (FINISHED.get(..20).unwrap().to_owned(), Reject::Malformed),
            ("{\"reason\":\"compiler-message\",\"message\":7}\n".to_owned() + FINISHED, Reject::Malformed),
            (FINISHED.replace("\"success\"", "\"success\":true,\"success\""), Reject::Malformed),
            ("{\"reason\":\"because\"}\nwarning: x\n".to_owned(), Reject::NotThisFormat),
        ] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(reject), "{text}");
        }
        let noise = format!("   Compiling x\n{{\"a\":1}}\n{{ not json\n{warning}{FINISHED}");
        assert_eq!(read(&noise).unwrap().figures.warnings, Some(1));
    }
}
