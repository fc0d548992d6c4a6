//! `go-cover`: the cover profile of `go test -coverprofile`, one line a block of statements. Defined by the package
//! `golang.org/x/tools/cover`. It has statements, but no lines and no branches.

use std::collections::{BTreeMap, HashMap};

use super::totals::Totals;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::{whole, whole_or_below};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Cover profiles of Go.
pub const FORMAT: Format = Format {
    name: "go-cover",
    kind: ReportKind::Coverage,
    about: "Go cover profile: blocks of statements and how often each ran",
    written_by: "go test -coverprofile, go tool covdata textfmt",
    told_by: "first line mode: set, count or atomic",
    has_end: false,
    counting: "The statements of each distinct block, covered if any copy of it ran: with -coverpkg each test binary tells \
               every block.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(mode) = lines.next().and_then(|line| line.strip_prefix("mode:")) else { return Sniff::No };
    let mode = mode.trim();
    let is_profile = match lines.next() {
        Some(line) if block(line).is_some() => true,
        // What is damaged should be told; a setting `mode: set` of something else should not.
        Some(line) => is_mode(mode) && line.contains(".go:"),
        None => is_mode(mode),
    };
    if is_profile { Sniff::Sure(format!("first line mode: {}", printable(mode, 20))) } else { Sniff::No }
}

/// Whether it is a profile and nothing else, as far as is seen: no other tool speaks between its blocks.
pub(in crate::ingest) fn is_all(head: &Head<'_>) -> bool {
    sniff(head) != Sniff::No
        && head.uncut_lines().all(|line| line.is_empty() || line.starts_with("mode:") || block(line).is_some())
}

fn is_mode(mode: &str) -> bool {
    matches!(mode, "set" | "count" | "atomic")
}

/// Bytes of names and blocks that are held: some half a million blocks.
const HELD_BYTES: usize = 30 * 1024 * 1024;
/// What an entry of a map takes.
const ENTRY_BYTES: usize = 56;

/// A block's place: the number of its file, then line and column of its start and of its end.
type Place = (u32, [u32; 4]);

/// The distinct blocks of a profile.
#[derive(Default)]
struct Blocks {
    files: HashMap<Box<str>, u32>,
    /// Place → statements, and whether any copy ran.
    blocks: BTreeMap<Place, (u32, bool)>,
    /// Bytes of both.
    held: usize,
}

impl Blocks {
    fn add(&mut self, block: &Block<'_>) -> Result<()> {
        let file = match self.files.get(block.path) {
            Some(file) => *file,
            None => {
                let file = u32::try_from(self.files.len()).map_err(|_| too_large())?;
                self.held += ENTRY_BYTES + block.path.len();
                self.files.insert(block.path.into(), file);
                file
            }
        };
        let known = self.blocks.entry((file, block.range)).or_insert_with(|| {
            self.held += ENTRY_BYTES;
            (block.statements, false)
        });
        if known.0 != block.statements {
            let [line, column, ..] = block.range;
            let place = format!("{}:{line}.{column}", printable(block.path, 60));
            let why = format!("{place:?} has {} statements here and {} above", block.statements, known.0);
            return Err(Error::report(Reject::Malformed, why));
        }
        known.1 |= block.ran;
        if self.held > HELD_BYTES { Err(too_large()) } else { Ok(()) }
    }
}

fn too_large() -> Error {
    Error::report(Reject::Refused, "report is too large")
        .because(format!("its blocks take more than {} MiB", HELD_BYTES >> 20))
        .help("let go test write one profile for each part of the project")
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut blocks = Blocks::default();
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let mut has_mode = false;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        let malformed = |why: String| Error::report(Reject::Malformed, why).line(line.number);
        if text.is_empty() {
            continue;
        }
        // Profiles that were put one after the other each have theirs.
        if let Some(mode) = text.strip_prefix("mode:") {
            if !line.ended && !is_mode(mode.trim()) {
                return Err(malformed("report ends in its mode".to_owned()).help(CUT_HELP));
            }
            has_mode = true;
            continue;
        }
        if !has_mode {
            let why = "not a Go cover profile: its first line is no mode";
            return Err(Error::report(Reject::NotThisFormat, why).line(line.number));
        }
        let Some(block) = block(text) else {
            let error = malformed(format!("{:?} is no block of a cover profile", printable(text, 60)));
            return Err(if line.ended { error } else { error.help(CUT_HELP) });
        };
        blocks.add(&block).map_err(|error| error.line(line.number))?;
    }
    if !has_mode {
        return Err(Error::report(Reject::NotThisFormat, "not a Go cover profile: it has no mode").line(1));
    }
    let mut totals = Totals::default();
    for (statements, ran) in blocks.blocks.into_values() {
        let statements = u64::from(statements);
        totals.statements.add(if ran { statements } else { 0 }, statements)?;
    }
    totals.finish(&FORMAT, BTreeMap::new())
}

/// A line of a profile.
struct Block<'a> {
    path: &'a str,
    range: [u32; 4],
    statements: u32,
    ran: bool,
}

/// `path.go:5.33,6.12 1 4`: place, statements, how often it ran. Numbers of 2³² and more are none of Go's.
fn block(line: &str) -> Option<Block<'_>> {
    let number = |text: &str| u32::try_from(whole(text)?).ok();
    let (rest, count) = line.rsplit_once(' ')?;
    let (place, statements) = rest.rsplit_once(' ')?;
    let (path, range) = place.rsplit_once(':')?;
    let (start, end) = range.split_once(',')?;
    let ((line, column), (last_line, last_column)) = (start.split_once('.')?, end.split_once('.')?);
    let range = [number(line)?, number(column)?, number(last_line)?, number(last_column)?];
    let (statements, ran) = (number(statements)?, whole_or_below(count)? > 0);
    (!path.is_empty()).then_some(Block { path, range, statements, ran })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<[Option<u64>; 2]> {
        let figures = parse(&Input::bytes("x", text.as_bytes()))?.figures;
        Ok([figures.statements_covered, figures.statements_total])
    }

    #[test]
    fn a_block_counts_once_and_is_covered_if_a_copy_ran() {
        let text = "mode: set\na b.go:1.2,3.4 3 0\nc:\\d.go:1.2,3.4 2 1\n\nmode: set\na b.go:1.2,3.4 3 1\na b.go:5.1,5.9 4 0\n";
        assert_eq!(read(text).unwrap(), [Some(5), Some(9)]);
        assert_eq!(read("mode: count\n").unwrap(), [Some(0), Some(0)]);
        assert_eq!(read("mode: foo\na:1.1,2.2 1 -1\n").unwrap(), [Some(0), Some(1)]);
    }

    #[test]
    fn a_setting_is_no_profile() {
        let is_sure = |text: &str| {
            let head = Head::read(&Input::bytes("x", text.as_bytes())).unwrap();
            matches!(sniff(&head), Sniff::Sure(_))
        };
        for yes in ["mode: set\n", "mode: foo\na.x:1.2,3.4 1 1\n", "\r\nmode: atomic\r\nexample.org/a/b.go:1.2,"] {
            assert!(is_sure(yes), "{yes}");
        }
        for no in ["mode: count\nlevel: 3\n", "mode: foo\n", "x\nmode: set\n", "mode\n"] {
            assert!(!is_sure(no), "{no}");
        }
    }

    #[test]
    fn what_is_no_block_is_refused_with_its_line() {
        for bad in [
            "a.go:1.2,3.4 1",
            "a.go:1.2,3.4 1 ",
            "a.go:1.2,3 1 1",
            "a.go 1 1",
            ":1.2,3.4 1 1",
            "a.go:1.2,3.4 x 1",
            "ok",
        ] {
            let error = read(&format!("mode: set\n{bad}\n")).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)), "{bad}");
        }
        assert_eq!(read("a.go:1.2,3.4 1 1\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert!(read("mode: se").is_err() && read("mode: set").is_ok());
        let two = read("mode: set\na.go:1.2,3.4 1 1\na.go:1.2,3.4 2 1\n").unwrap_err();
        assert_eq!(two.place.line, Some(3));
    }

    #[test]
    fn p19_more_blocks_than_can_be_held_are_refused() {
        let blocks: String = (1..=600_000).map(|line| format!("a.go:{line}.1,{line}.9 1 1\n")).collect();
        assert_eq!(read(&format!("mode: set\n{blocks}")).unwrap_err().reject(), Some(Reject::Refused));
        let copies = "a.go:1.1,1.9 2 1\n".repeat(600_000);
        assert_eq!(read(&format!("mode: set\n{copies}")).unwrap(), [Some(2), Some(2)]);
    }
}
