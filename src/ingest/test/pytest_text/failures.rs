//! Why tests failed, and where: what stands under `____ TestCart.test_sum ____`.

use std::collections::BTreeMap;

use super::super::stack;
use super::LONGEST_ID;
use crate::ingest::text::{first_lines, printable};

/// Failures that are kept.
const KEPT: usize = 10_000;
/// Lines of a message that are looked at, and bytes of each.
const LINES: usize = 4;
const LINE_BYTES: usize = 500;

/// How the heading of a report about a test's end begins.
pub(super) const TEARDOWN: &str = "ERROR at teardown of ";

/// What one failure tells.
#[derive(Debug)]
pub(super) struct Told {
    /// Line of the test's own frame.
    pub line: u64,
    pub message: Option<String>,
}

/// What is told of failures, by the ids of their tests.
#[derive(Debug, Default)]
pub(super) struct Failures {
    told: BTreeMap<String, Told>,
    open: Option<Open>,
}

/// The failure that is being told.
#[derive(Debug, Default)]
struct Open {
    /// As the heading writes it.
    test: String,
    is_teardown: bool,
    /// File and line of the test's own frame, which is the first.
    place: Option<(String, u64)>,
    message: Vec<String>,
}

impl Failures {
    /// Another failure, or none, is told from here.
    pub(super) fn begin(&mut self, title: Option<&str>) {
        self.end();
        let title = title.filter(|_| self.told.len() < KEPT);
        self.open = title.map(|title| Open {
            test: printable(&test(title), LONGEST_ID),
            is_teardown: title.starts_with(TEARDOWN),
            ..Open::default()
        });
    }

    /// A line of the failure.
    pub(super) fn line(&mut self, text: &str) {
        let Some(open) = &mut self.open else { return };
        if let Some(message) = text.strip_prefix("E  ") {
            if open.message.len() < LINES {
                open.message.push(message.chars().take(LINE_BYTES).collect());
            }
        } else if is_above_another(text) {
            open.message.clear();
        } else if open.place.is_none() {
            let place = stack::python(text).filter(|(file, _)| !file.starts_with(' '));
            open.place = place.map(|(file, line)| (printable(file, LONGEST_ID), line));
        }
    }

    /// What is told of a test. Of one that failed and whose teardown failed, too, that is its own failure.
    pub(super) fn take(&mut self, id: &str) -> Option<Told> {
        self.end();
        self.told.remove(id)
    }

    fn end(&mut self) {
        let Some(Open { test, is_teardown, place: Some((file, line)), message }) = self.open.take() else { return };
        let told = Told { line, message: first_lines(&message.join("\n")) };
        let id = format!("{file}::{test}");
        // pytest tells the teardowns first, pytest-sugar what comes first.
        if !(is_teardown && self.told.contains_key(&id)) {
            self.told.insert(id, told);
        }
    }
}

/// `TestCart::test_sum[a.b]` of `ERROR at teardown of TestCart.test_sum[a.b]`; a subtest's own words behind it are left out.
fn test(title: &str) -> String {
    let title = ["ERROR at setup of ", TEARDOWN].iter().find_map(|words| title.strip_prefix(words)).unwrap_or(title);
    let end = title.find(['[', ' ']).unwrap_or(title.len());
    let (name, rest) = title.split_at(end);
    let parameters = if rest.starts_with('[') { rest } else { "" };
    format!("{}{parameters}", name.replace('.', "::"))
}

/// Whether the exception above led to one that is told below, which is the one that ended the test.
fn is_above_another(text: &str) -> bool {
    text == "During handling of the above exception, another exception occurred:"
        || text == "The above exception was the direct cause of the following exception:"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_tells_its_line_and_the_last_exception() {
        let mut failures = Failures::default();
        for (title, lines) in [
            (
                "ERROR at teardown of test_two",
                ["E   OSError: teardown blew up", "", "tests/test_a.py:9: OSError", "", "", ""],
            ),
            ("test_two", ["E       assert 1 == 2", "", "tests/test_a.py:5: AssertionError", "", "", ""]),
            (
                "TestCart.test_sum[a.b c]",
                [
                    ">       total()",
                    "tests/test_a.py:12: ",
                    "E       KeyError: 'x'",
                    "During handling of the above exception, another exception occurred:",
                    "E       ValueError: no",
                    "src/cart.py:3: ValueError",
                ],
            ),
            (
                "Old.test_sub [msg] (i=1)",
                ["tests/test_a.py:20: in test_sub", "E   assert 3", "E    +  where", "", "", ""],
            ),
        ] {
            failures.begin(Some(title));
            lines.iter().for_each(|line| failures.line(line));
        }
        let mut told = |id: &str| failures.take(id).map(|told| (told.line, told.message.unwrap()));
        assert_eq!(told("tests/test_a.py::test_two"), Some((5, "assert 1 == 2".to_owned())));
        assert_eq!(told("tests/test_a.py::TestCart::test_sum[a.b c]"), Some((12, "ValueError: no".to_owned())));
        assert_eq!(told("tests/test_a.py::Old::test_sub"), Some((20, "assert 3 | +  where".to_owned())));
        assert_eq!(told("tests/test_a.py::test_one"), None);

        for titles in [["ERROR at teardown of test_a", "test_a"], ["test_a", "ERROR at teardown of test_a"]] {
            let mut failures = Failures::default();
            for title in titles {
                failures.begin(Some(title));
                failures.line(&format!("E   {title}"));
                failures.line("a.py:3: E");
            }
            assert_eq!(failures.take("a.py::test_a").unwrap().message.unwrap(), "test_a", "{titles:?}");
        }
    }

    #[test]
    fn what_is_no_row_of_a_frame_is_no_place() {
        for none in
            ["", "    tests/a.py:3: x", "tests/a.py", "tests/a.py:x: y", "tests/a.py:0: y", "E   a.py:3: b", "a.py:3:b"]
        {
            let mut failures = Failures::default();
            failures.begin(Some("test_a"));
            failures.line(none);
            assert_eq!(failures.open.unwrap().place, None, "{none}");
        }
    }
}
