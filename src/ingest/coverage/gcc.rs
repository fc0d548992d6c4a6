//! What gcov's and gcovr's JSON have in common: files with lines, and branches by their position on a line. A line may come
//! several times, once for each instance of a template.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{FileTally, mark};
use crate::error::{Error, Result};
use crate::ingest::text::printable;
use crate::ingest::values::Count;

/// One source file.
#[derive(Deserialize)]
pub(super) struct Source {
    file: String,
    lines: Lines,
}

/// A file's lines, as small as they get.
#[derive(Deserialize)]
#[serde(try_from = "Vec<Line>")]
struct Lines(FileTally);

#[derive(Deserialize)]
struct Line {
    line_number: Count,
    count: Count,
    #[serde(default)]
    branches: Vec<Branch>,
    /// gcovr's: not compiled, or left out by a comment in the source.
    #[serde(default, rename = "gcovr/noncode")]
    is_no_code: bool,
    #[serde(default, rename = "gcovr/excluded")]
    is_excluded: bool,
}

#[derive(Deserialize)]
struct Branch {
    count: Count,
    #[serde(default, rename = "gcovr/excluded")]
    is_excluded: bool,
}

impl TryFrom<Vec<Line>> for Lines {
    type Error = Error;

    fn try_from(lines: Vec<Line>) -> Result<Lines> {
        let mut tally = FileTally::default();
        for line in lines.into_iter().filter(|line| !line.is_no_code && !line.is_excluded) {
            tally.line(line.line_number.0, line.count.0 > 0)?;
            for (place, branch) in line.branches.iter().enumerate().filter(|(_, branch)| !branch.is_excluded) {
                mark(&mut tally.branches, (line.line_number.0, place.to_string().into()), branch.count.0 > 0);
            }
        }
        Ok(Lines(tally))
    }
}

/// The files by name; one that is told twice has the lines of both.
pub(super) fn by_name(sources: Vec<Source>) -> BTreeMap<String, FileTally> {
    let mut files: BTreeMap<String, FileTally> = BTreeMap::new();
    for source in sources {
        let tally = files.entry(printable(&source.file, usize::MAX)).or_default();
        let Lines(FileTally { lines, branches, .. }) = source.lines;
        for (line, covered) in lines.finish().iter() {
            tally.lines.push(line, covered);
        }
        for (branch, taken) in branches {
            mark(&mut tally.branches, branch, taken);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_told_twice_is_one_line_and_its_branches_add_up() {
        let source = |lines: &str| serde_json::from_str(&format!(r#"{{"file":"a","lines":[{lines}]}}"#)).unwrap();
        let one = r#"{"line_number":3,"count":0,"branches":[{"count":0},{"count":1,"throw":false}]},{"line_number":0,"count":1}"#;
        let two = r#"{"line_number":3,"count":2,"branches":[{"count":1},{"count":0},{"count":0}]},{"line_number":4,"count":-1}"#;
        for sources in [vec![source(&format!("{one},{two}"))], vec![source(one), source(two)]] {
            let mut files = by_name(sources);
            let tally = files.remove("a").unwrap();
            assert_eq!(tally.branches.values().copied().collect::<Vec<_>>(), [true, true, false]);
            assert_eq!(tally.lines.finish().iter().collect::<Vec<_>>(), [(3, true), (4, false)]);
        }
    }

    #[test]
    fn what_gcovr_excludes_does_not_count() {
        let text = r#"{"file":"a","lines":[{"line_number":1,"count":0,"gcovr/excluded":true},{"line_number":2,"count":0,"gcovr/noncode":true},
            {"line_number":3,"count":1,"branches":[{"count":0,"gcovr/excluded":true},{"count":1}]}]}"#;
        let tally = by_name(vec![serde_json::from_str(text).unwrap()]).remove("a").unwrap();
        assert_eq!((tally.branches.len(), tally.lines.finish().total()), (1, 1));
        assert!(serde_json::from_str::<Source>(r#"{"file":"a","lines":[{"line_number":1}]}"#).is_err());
    }
}
