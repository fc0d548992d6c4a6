//! What a command printed → every report in it that is certain. Several tools may speak in one stream, with colours,
//! progress bars and other text around them; what a test printed is not believed.

use super::input::{Input, Invalid};
use super::lint::{rustc_json, rustc_text};
use super::merge::FROM_CONSOLE;
use super::test::{cargo_test_text, go_test_json, pytest_text};
use super::text::{Lines, LongLine};
use super::{Format, Parsed};
use crate::error::Result;

/// The reports that stand in a command's output. Nothing found, or not readable: none.
///
/// Results of pytest and cargo test, diagnostics of cargo and rustc, the events of `go test -json`. A run that was
/// killed before its summary is none.
pub fn console(input: &Input<'_>) -> Vec<Parsed> {
    let Ok(mut readers) = Readers::read(input) else { return Vec::new() };
    let mut reports = Vec::new();
    for run in readers.pytest.take().map(|pytest| pytest.finish().0).unwrap_or_default() {
        if run.is_certain() {
            reports.push(run.parsed());
        }
    }
    reports.extend(readers.cargo.take().and_then(|cargo| cargo.finish().ok()?));
    if readers.go_events {
        reports.extend(whole(&go_test_json::FORMAT, input));
    }
    let json = if readers.cargo_json { whole(&rustc_json::FORMAT, input) } else { None };
    let has_json = json.is_some();
    reports.extend(json);
    // Beside its JSON, cargo prints no more than summaries.
    let rustc = readers.rustc.take().and_then(|rustc| rustc.finish().ok()?);
    reports.extend(rustc.filter(|rustc| !has_json || rustc.figures.total != Some(0)));
    for report in &mut reports {
        report.sniffed_by = format!("{FROM_CONSOLE}: {}", report.format.told_by);
    }
    reports
}

/// The output read as one format whose lines no other tool writes.
fn whole(format: &'static Format, input: &Input<'_>) -> Option<Parsed> {
    (format.parse)(input).ok()
}

/// One reader a tool. A reader that met something impossible is given up, the others go on.
struct Readers {
    pytest: Option<pytest_text::Reader>,
    cargo: Option<cargo_test_text::Reader>,
    rustc: Option<rustc_text::Reader>,
    go_events: bool,
    cargo_json: bool,
}

impl Readers {
    fn read(input: &Input<'_>) -> Result<Readers> {
        let mut readers = Readers {
            pytest: Some(pytest_text::Reader::default()),
            cargo: Some(cargo_test_text::Reader::default()),
            rustc: Some(rustc_text::Reader::only_certain()),
            go_events: false,
            cargo_json: false,
        };
        let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
        while let Some(line) = lines.next()? {
            readers.line(&line.text);
        }
        Ok(readers)
    }

    /// Inside the tests of one tool, no other tool speaks: what looks so was printed by a test.
    fn line(&mut self, text: &str) {
        let in_pytest = self.pytest.as_ref().is_some_and(pytest_text::Reader::is_inside);
        let in_cargo = self.cargo.as_ref().is_some_and(cargo_test_text::Reader::is_inside);
        if !in_cargo {
            feed(&mut self.pytest, |pytest| pytest.line(text));
        }
        if !in_pytest {
            feed(&mut self.cargo, |cargo| cargo.line(text));
        }
        if !in_cargo && !in_pytest {
            feed(&mut self.rustc, |rustc| rustc.line(text));
            self.go_events |= is_go_event(text);
            self.cargo_json |= rustc_json::is_ours(text);
        }
    }
}

fn feed<R>(reader: &mut Option<R>, line: impl FnOnce(&mut R) -> Result<()>) {
    if reader.as_mut().is_some_and(|reader| line(reader).is_err()) {
        *reader = None;
    }
}

/// `{"Time":…,"Action":"run","Package":…}`.
fn is_go_event(text: &str) -> bool {
    let begins = ["{\"Time\":\"", "{\"Action\":\"", "{\"ImportPath\":\""];
    begins.iter().any(|begin| text.starts_with(begin))
        && text.contains("\"Action\":\"")
        && ["\"Package\":\"", "\"Test\":\"", "\"ImportPath\":\""].iter().any(|key| text.contains(key))
}
