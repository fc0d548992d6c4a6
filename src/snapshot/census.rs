//! Our own census of a snapshot: how many files, and how many lines of text that are not blank.

use std::io::{self, Write};

use rayon::prelude::*;

use super::objects::Objects;
use super::tree::entries_below;
use crate::error::{Error, Result};
use crate::model::ids::{ObjectId, TreePath};
use crate::model::tree::EntryKind;

/// What the census counted. Links and directories are not files here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Files, those that could not be kept among them.
    pub file_count: u64,
    /// Non-blank lines of the text files that were kept.
    pub loc_total: u64,
}

/// A NUL among so many first bytes makes a file binary.
const PROBED_BYTES: u64 = 8 << 10;

/// Counts the non-blank lines of one file whose bytes come in pieces.
#[derive(Clone, Debug, Default)]
pub struct LineCounter {
    lines: u64,
    bytes: u64,
    is_binary: bool,
    /// The line so far has something else than white space.
    is_filled: bool,
}

impl LineCounter {
    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        if self.is_binary {
            return;
        }
        let probed = usize::try_from(PROBED_BYTES.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
        self.is_binary = memchr::memchr(0, bytes.get(..probed).unwrap_or(bytes)).is_some();
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.is_filled |= is_filled(bytes.get(begin..end).unwrap_or_default());
            self.lines += u64::from(std::mem::take(&mut self.is_filled));
            begin = end + 1;
        }
        self.is_filled |= is_filled(bytes.get(begin..).unwrap_or_default());
    }

    /// Lines that are not blank, the last one also without a line break; `None` for a binary file.
    pub fn finish(&self) -> Option<u64> {
        (!self.is_binary).then(|| self.lines + u64::from(self.is_filled))
    }
}

/// Whether there is something else than white space.
fn is_filled(line: &[u8]) -> bool {
    line.iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c))
}

impl Write for LineCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts a stored snapshot again, without the files of `not_code`: it must give what was counted when it was taken.
///
/// # Errors
/// Bad input that names the pack if an object is missing or damaged.
pub fn of_tree(objects: &Objects, root: &ObjectId, not_code: &[TreePath]) -> Result<Census> {
    let mut census = Census::default();
    let mut files = Vec::new();
    for entry in entries_below(objects, root)? {
        let (path, entry) = entry?;
        if not_code.contains(&path) {
            continue;
        }
        match entry.kind {
            EntryKind::File => files.push(entry.object),
            EntryKind::Unheld => census.file_count += 1,
            EntryKind::Link | EntryKind::Directory => {}
        }
    }
    census.file_count += u64::try_from(files.len()).unwrap_or(u64::MAX);
    let lines = files.par_iter().map(|id| {
        let mut counter = LineCounter::default();
        objects.write_to(id, &mut counter)?;
        Ok::<u64, Error>(counter.finish().unwrap_or_default())
    });
    census.loc_total = lines.try_reduce(|| 0, |one, other| Ok(one.saturating_add(other)))?;
    Ok(census)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Option<u64> {
        let mut counter = LineCounter::default();
        pieces.iter().for_each(|piece| counter.update(piece));
        counter.finish()
    }

    #[test]
    fn blank_lines_do_not_count_and_the_last_needs_no_end() {
        assert_eq!(lines(&[b""]), Some(0));
        assert_eq!(lines(&[b"a\n\n  \t\r\nb\r\n\x0c\n"]), Some(2));
        assert_eq!(lines(&[b"a\nb"]), Some(2));
        assert_eq!(lines(&[b"a", b"b\n", b" ", b"\n", b" ", b"c"]), Some(2));
        assert_eq!(lines(&["ü\n".as_bytes(), b"\xff\n"]), Some(2));
    }

    #[test]
    fn a_nul_early_on_makes_it_binary_in_whatever_pieces_it_comes() {
        assert_eq!(lines(&[b"a\n\0"]), None);
        assert_eq!(lines(&[b"a\n", b"b\0\n"]), None);
        let late = [b"x\n".repeat(4096), b"\0\n".to_vec()].concat();
        assert_eq!(lines(&[&late]), Some(4097));
        assert_eq!(lines(&[&late[..5000], &late[5000..]]), Some(4097));
        assert_eq!(lines(&[&late[..8191], &[0]]), None);
    }
}
