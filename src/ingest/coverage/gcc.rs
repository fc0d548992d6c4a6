//! What gcov's and gcovr's JSON have in common: files with lines, and branches by their position on a line. A line may come
//! several times, once for each instance of a template.

use std::cell::RefCell;

use serde::de::{Deserialize, Deserializer};

use super::{FileTally, Files};
use crate::error::Result;
use crate::ingest::entries::{Fault, List, Required, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, each, items};
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Few};
use crate::ingest::{Format, Parsed};

/// One source file.
#[derive(serde::Deserialize)]
struct Source {
    file: String,
    lines: Lines,
}

/// A file's lines, as small as they get.
struct Lines(FileTally);

#[derive(serde::Deserialize)]
struct Line {
    line_number: Count,
    count: Count,
    #[serde(default)]
    branches: Few<Branch>,
    /// gcovr's: not compiled, or left out by a comment in the source.
    #[serde(default, rename = "gcovr/noncode")]
    is_no_code: bool,
    #[serde(default, rename = "gcovr/excluded")]
    is_excluded: bool,
}

#[derive(serde::Deserialize)]
struct Branch {
    count: Count,
    #[serde(default, rename = "gcovr/excluded")]
    is_excluded: bool,
}

impl Line {
    fn add_to(&self, tally: &mut FileTally) -> Result<()> {
        if self.is_no_code || self.is_excluded {
            return Ok(());
        }
        tally.line(self.line_number.0, self.count.0 > 0)?;
        for (place, branch) in self.branches.0.iter().enumerate().filter(|(_, branch)| !branch.is_excluded) {
            tally.branch(self.line_number.0, &format!("0,{place}"), branch.count.0 > 0)?;
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lines, D::Error> {
        let mut tally = FileTally::default();
        deserializer.deserialize_seq(items(|line: Line| line.add_to(&mut tally)))?;
        Ok(Lines(tally))
    }
}

/// How many documents a report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Documents {
    One,
    /// At least one.
    Any,
}

/// Reads the files of a report; one that is told twice has the lines of both.
///
/// # Errors
/// Malformed, cut, too large to be held.
pub(super) fn files(input: &Input<'_>, documents: Documents, format: &'static Format) -> Result<Parsed> {
    let (fault, files) = (Fault::default(), RefCell::new(Files::default()));
    let add = |source: Source| files.borrow_mut().join(&printable(&source.file, usize::MAX), source.lines.0);
    let seed = || Required(Key { name: "files", seed: List(each(|| take(&fault, add))) });
    fault.ours(match documents {
        Documents::One => json::object(input, seed()),
        Documents::Any => json::documents(input, seed),
    })?;
    files.into_inner().finish(format)
}

#[cfg(test)]
mod tests {
    use super::super::gcovr_json::FORMAT;
    use super::*;
    use crate::ingest::Details;

    fn read(sources: &str) -> Result<Parsed> {
        files(&Input::bytes("x", format!(r#"{{"files":[{sources}]}}"#).as_bytes()), Documents::One, &FORMAT)
    }

    #[test]
    fn a_line_told_twice_is_one_line_and_its_branches_add_up() {
        let source = |lines: &str| format!(r#"{{"file":"a","lines":[{lines}]}}"#);
        let one = r#"{"line_number":3,"count":0,"branches":[{"count":0},{"count":1,"throw":false}]},{"line_number":0,"count":1}"#;
        let two = r#"{"line_number":3,"count":2,"branches":[{"count":1},{"count":0},{"count":0}]},{"line_number":4,"count":-1}"#;
        for sources in [vec![source(&format!("{one},{two}"))], vec![source(one), source(two)]] {
            let parsed = read(&sources.join(",")).unwrap();
            assert_eq!((parsed.figures.branches_covered, parsed.figures.branches_total), (Some(2), Some(3)));
            let Details::Coverage(details) = parsed.details else { panic!("coverage") };
            assert_eq!(details.files["a"].lines.iter().collect::<Vec<_>>(), [(3, true), (4, false)]);
        }
    }

    #[test]
    fn what_gcovr_excludes_does_not_count() {
        let text = r#"{"file":"a","lines":[{"line_number":1,"count":0,"gcovr/excluded":true},{"line_number":2,"count":0,"gcovr/noncode":true},
            {"line_number":3,"count":1,"branches":[{"count":0,"gcovr/excluded":true},{"count":1}]}]}"#;
        let figures = read(text).unwrap().figures;
        assert_eq!((figures.branches_total, figures.lines_total), (Some(1), Some(1)));
        assert!(read(r#"{"file":"a","lines":[{"line_number":1}]}"#).is_err());
        assert!(files(&Input::bytes("x", b"{\"files\":null}"), Documents::One, &FORMAT).is_err());
    }
}
