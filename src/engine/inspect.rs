//! Reading one report by itself, outside any loop.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::disk::{self, spool::Spool};
use crate::error::{Error, Result};
use crate::ingest::{self, Format, Input, Parsed, RawBytes};
use crate::model::config::Limits;
use crate::workspace::reports;

/// Bytes of standard input that are held in memory; more go to a file in the folder for temporary ones.
const HELD_BYTES: u64 = 16 * 1024 * 1024;

/// Parses a report file that the user named; `-` is standard input. Without a format, all that stands in it: the report that
/// it is comes first.
///
/// # Errors
/// A report error with file, place, cause and help; `refused` for what is no regular file or too large.
pub fn read_reports(
    root: &Path,
    folder: &Path,
    file: &Path,
    format: Option<&'static Format>,
    limits: &Limits,
) -> Result<Vec<Parsed>> {
    let name = file.display().to_string();
    if name == "-" {
        let held = HELD_BYTES.min(limits.report_bytes.saturating_add(1));
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(held).read_to_end(&mut bytes);
        let read = read.map_err(|error| Error::failed("cannot read standard input").because(error.to_string()))?;
        if u64::try_from(read).is_ok_and(|read| read < held) {
            return ingest::parse_all(&Input::bytes("-", &bytes), format);
        }
        // It is read more than once.
        let mut all = bytes.as_slice().chain(io::stdin().lock());
        let spool = Spool::copy(&std::env::temp_dir(), &mut all, limits.report_bytes);
        let spool = spool.map_err(|error| if error.place.path.is_none() { error.in_file("-") } else { error })?;
        drop(bytes);
        let open = || -> io::Result<Box<dyn RawBytes>> { Ok(Box::new(spool.open()?)) };
        return ingest::parse_all(&Input::source("-", &open, limits.report_bytes), format);
    }
    let found = reports::describe(root, &folder.join(file), true);
    if disk::metadata(&found.path)?.is_none() {
        return Err(reports::no_such_report(file));
    }
    reports::open(root, &found, limits).map_err(|error| error.at(file))?;
    let open = || -> io::Result<Box<dyn RawBytes>> { Ok(Box::new(File::open(&found.path)?)) };
    ingest::parse_all(&Input::source(&name, &open, limits.report_bytes), format)
}

// Here, and not beside the trait: the readers of reports have no disk.
impl RawBytes for File {
    fn skip_to_last(&mut self, chunk: u64) -> io::Result<u64> {
        let last = self.metadata()?.len().saturating_sub(1) / chunk;
        let (here, there) = (self.stream_position()?, last.saturating_sub(1) * chunk);
        Ok(if there > here { self.seek(SeekFrom::Start(there))? - here } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_last_two_chunks_are_read_and_nothing_before_them() {
        let bytes: Vec<u8> = (0..25).collect();
        let whole = |number: usize| u64::try_from(number).unwrap();
        for length in 0..bytes.len() {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes[..length]).unwrap();
            file.seek(SeekFrom::Start(0)).unwrap();
            let mut first = Vec::new();
            Read::by_ref(&mut file).take(4).read_to_end(&mut first).unwrap();
            let passed = file.skip_to_last(4).unwrap();
            let mut rest = Vec::new();
            file.read_to_end(&mut rest).unwrap();
            assert_eq!(whole(first.len()) + passed + whole(rest.len()), whole(length));
            assert!(bytes[..length].ends_with(&rest));
            match length {
                0..=8 => assert_eq!(passed, 0, "{length}"),
                length => assert_eq!(rest.len(), 4 + (length - 1) % 4 + 1, "{length}"),
            }
        }
    }
}
