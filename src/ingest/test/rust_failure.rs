//! Why a Rust test failed, from what it printed: its panic, the error that it returned, or what libtest notes of it.

use super::stack;
use crate::ingest::text::{first_lines, is_number, printable};
use crate::model::cases::TestCase;

/// What the output of one test tells. Of several panics the first stands: later ones are of threads that waited for it.
#[derive(Debug, Default)]
pub(super) struct Failure {
    told: Option<FirstLines>,
    /// File and line of the panic.
    place: Option<(String, u64)>,
    /// Of all that was printed, for a harness that tells in another way.
    printed: FirstLines,
}

impl Failure {
    /// From all that a test printed.
    pub(super) fn of(output: &str) -> Failure {
        let mut failure = Failure::default();
        output.lines().for_each(|line| failure.line(line));
        failure
    }

    /// The next line that the test printed.
    pub(super) fn line(&mut self, line: &str) {
        let line = line.trim_end();
        self.printed.push(line);
        let is_end = line == "stack backtrace:" || line.starts_with("note: ") || panic(line).is_some();
        if let Some(told) = self.told.as_mut().filter(|_| is_end) {
            told.end();
        }
        // Of a test that should have panicked, this says more than its panic.
        if let Some(note) = line.strip_prefix("note: ").filter(|note| is_about_should_panic(note)) {
            self.told = Some(FirstLines::of(note));
        } else if self.told.is_some() {
            self.line_of_message(line);
        } else if let Some((_, told)) = panic(line) {
            self.told = Some(FirstLines::default());
            match told.strip_prefix('\'') {
                Some(message) => self.line_of_message(message),
                None => self.place = place(line).map(owned),
            }
        } else if line.starts_with("Error: ") {
            self.told = Some(FirstLines::of(line));
        }
    }

    /// What was printed so far is not the test's own.
    pub(super) fn forget_printed(&mut self) {
        self.printed = FirstLines::default();
    }

    fn line_of_message(&mut self, line: &str) {
        let Some(told) = self.told.as_mut().filter(|told| told.left > 0) else { return };
        // Before Rust 1.73 the message stood before its place: `panicked at 'no such key', src/lib.rs:77:9`.
        let before_place = || line.rsplit_once("', ").and_then(|(text, place)| Some((text, file_and_line(place)?)));
        match before_place().filter(|_| self.place.is_none()) {
            Some((text, place)) => {
                told.push(text);
                told.end();
                self.place = Some(owned(place));
            }
            None => told.push(line),
        }
    }

    /// Puts what was told, if anything was, into the result. A place that the result has stands.
    pub(super) fn tell(self, case: &mut TestCase) {
        let told = self.told.and_then(|told| first_lines(&told.text)).or_else(|| first_lines(&self.printed.text));
        case.message = told.or(case.message.take());
        if let (Some((file, line)), None) = (self.place, case.line) {
            (case.file, case.line) = (Some(file), Some(line));
        }
    }
}

fn is_about_should_panic(note: &str) -> bool {
    note.starts_with("test did not panic as expected") || note.starts_with("panic did not contain expected string")
}

/// As many lines as [`first_lines`] takes.
#[derive(Debug)]
struct FirstLines {
    text: String,
    left: u8,
}

impl Default for FirstLines {
    fn default() -> FirstLines {
        FirstLines { text: String::new(), left: 3 }
    }
}

impl FirstLines {
    fn of(line: &str) -> FirstLines {
        let mut lines = FirstLines::default();
        lines.push(line);
        lines
    }

    fn push(&mut self, line: &str) {
        if self.left > 0 && !line.trim().is_empty() {
            self.left -= 1;
            self.text.push_str(&printable(line.trim(), 400));
            self.text.push('\n');
        }
    }

    fn end(&mut self) {
        self.left = 0;
    }
}

/// The thread's name, and what follows, of `thread 'a::b' (4711) panicked at src/lib.rs:77:9:`.
pub(super) fn panic(line: &str) -> Option<(&str, &str)> {
    let (thread, told) = line.strip_prefix("thread '")?.split_once(" panicked at ")?;
    let (name, _) = thread.rsplit_once('\'')?;
    Some((name, told))
}

fn owned((file, line): (&str, u64)) -> (String, u64) {
    (printable(file, 1000), line)
}

/// Where the test panicked, of the line that says that it did.
pub(super) fn place(line: &str) -> Option<(&str, u64)> {
    file_and_line(panic(line)?.1.trim_end_matches(':'))
}

/// `src/lib.rs` and 77 of `src/lib.rs:77:9`.
fn file_and_line(place: &str) -> Option<(&str, u64)> {
    let (place, column) = place.rsplit_once(':')?;
    stack::numbered(place).filter(|_| is_number(column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cases::Outcome;

    fn told(output: &str) -> (Option<String>, Option<String>, Option<u64>) {
        let mut case = TestCase::new(Outcome::Failed);
        Failure::of(output).tell(&mut case);
        (case.message, case.file, case.line)
    }

    #[test]
    fn a_panic_tells_message_and_place() {
        for (output, message, place) in [
            (
                "thread 'tests::sum' (16221) panicked at src/lib.rs:77:9:\nassertion `left == right` failed: broken\n  \
                 left: 2\n right: 3\nstack backtrace:\n   0: __rustc::rust_begin_unwind\n",
                "assertion `left == right` failed: broken | left: 2 | right: 3",
                Some(("src/lib.rs", 77)),
            ),
            (
                "some output\n\nthread 'sum' panicked at src/lib.rs:7:9:\nno key\nnote: run with `RUST_BACKTRACE=1`\n",
                "no key",
                Some(("src/lib.rs", 7)),
            ),
            // Rust 1.72 and before.
            (
                "thread 'sum' panicked at 'can't, so', tests/it.rs:5:9\nnote: run\n",
                "can't, so",
                Some(("tests/it.rs", 5)),
            ),
            (
                "thread 'sum' panicked at 'assertion failed: `(left == right)`\n  left: `1`,\n right: `2`', src/a.rs:5:9\n",
                "assertion failed: `(left == right)` | left: `1`, | right: `2`",
                Some(("src/a.rs", 5)),
            ),
            // The first of two.
            (
                "thread '<unnamed>' panicked at src/a.rs:1:2:\none\nthread 'sum' panicked at src/b.rs:3:4:\ntwo\n",
                "one",
                Some(("src/a.rs", 1)),
            ),
        ] {
            let (file, line) = place.unzip();
            assert_eq!(told(output), (Some(message.to_owned()), file.map(str::to_owned), line), "{output}");
        }
    }

    #[test]
    fn what_is_no_panic_is_told_too() {
        for (output, message) in [
            ("printed\nError: \"typed error\"\n", "Error: \"typed error\""),
            ("Error: no shop\n\nCaused by:\n    no file\n    not found\n", "Error: no shop | Caused by: | no file"),
            (
                "note: test did not panic as expected at src/lib.rs:90:8\n",
                "test did not panic as expected at src/lib.rs:90:8",
            ),
            (
                "\nthread 'sum' panicked at src/lib.rs:7:9:\none\nnote: run with `RUST_BACKTRACE=1`\n\
                 note: panic did not contain expected string\n      panic message: \"one\"\n expected substring: \"two\"\n",
                "panic did not contain expected string | panic message: \"one\" | expected substring: \"two\"",
            ),
            ("a harness of its own\n1 is not 2\n", "a harness of its own | 1 is not 2"),
        ] {
            assert_eq!(told(output).0.as_deref(), Some(message), "{output}");
        }
        assert_eq!(told("\n \n"), (None, None, None));
    }
}
