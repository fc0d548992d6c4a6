//! An agent's transcript → an iteration's part of it: its tool calls since the iteration before.
//!
//! Where a part begins is told by the content, not by a clock: a transcript that begins with what an earlier iteration read is
//! the same one, and goes on from there; any other is a new one, and read from its beginning.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::measure::{Measured, artifact_name};
use super::{Offer, Session};
use crate::analysis::monitor::settled;
use crate::disk;
use crate::disk::hash::id_of;
use crate::disk::spool::Spool;
use crate::error::{Error, Result};
use crate::ingest::transcript::{Transcript, TranscriptFormat, parse_transcript};
use crate::ingest::{Input, RawBytes};
use crate::model::activity::{TranscriptMark, TranscriptPart};
use crate::model::calls::CallLine;
use crate::model::config::{Limits, LoopConfig};
use crate::model::ids::ObjectId;
use crate::workspace::reports::{self, Found};

/// Bytes of a transcript: all calls in it are held in memory at once.
const TRANSCRIPT_BYTES: u64 = 128 << 20;

/// Reads a transcript that the user named: a file, or a folder of events.
///
/// # Errors
/// If it is not there, no regular file, too large, or no transcript that is known.
pub fn read_transcript(
    root: &Path,
    folder: &Path,
    file: &Path,
    format: Option<&'static TranscriptFormat>,
    limits: &Limits,
) -> Result<Transcript> {
    let found = reports::describe(root, &folder.join(file), true);
    let limits = Limits { report_bytes: limits.report_bytes.min(TRANSCRIPT_BYTES), ..limits.clone() };
    let files = files(root, &found, &limits)?;
    let open =
        || -> io::Result<Box<dyn RawBytes>> { Ok(Box::new(Joined { rest: files.clone().into_iter(), open: None })) };
    parse_transcript(&Input::source(&found.name, &open, limits.report_bytes), format, id_of)
}

/// The files of all that are offered, as people are shown them: none of them is a report.
pub(super) fn shown(session: &Session<'_>, config: &LoopConfig, offer: &Offer) -> BTreeSet<String> {
    let root = session.layout.root();
    let named = offer.transcripts.iter().map(|name| reports::describe(root, &offer.folder.join(name), true));
    let files = named.flat_map(|found| files(root, &found, &config.limits).unwrap_or_default());
    files.map(|file| reports::describe(root, &file, true).name).collect()
}

/// Takes in what is offered: parts and their calls are added to what was measured. The answer is what people should know:
/// a transcript that cannot be read is told, and no reason to stop.
///
/// # Errors
/// If the calls cannot be kept.
pub(super) fn take(
    session: &Session<'_>,
    config: &LoopConfig,
    offer: &Offer,
    known: &[&TranscriptMark],
    measured: &mut Measured,
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let root = session.layout.root();
    for name in &offer.transcripts {
        let found = reports::describe(root, &offer.folder.join(name), true);
        // In the work tree it is no code, whatever is in it.
        let files = files(root, &found, &config.limits).unwrap_or_default();
        let inside = files.iter().filter_map(|file| reports::describe(root, file, true).tree_path);
        measured.report_files.extend(inside);
        let transcript = match read_transcript(root, &offer.folder, Path::new(name), None, &config.limits) {
            Ok(transcript) => transcript,
            Err(error) => {
                notes.push(format!("transcript {} is not read: {}", found.name, error.said()));
                continue;
            }
        };
        let (part, spool) = part(session, &found, transcript, known)?;
        if part.skipped > 0 {
            notes.push(format!("transcript {}: {} lines or steps are not understood", found.name, part.skipped));
        }
        measured.artifacts.push((part.artifact.clone(), spool));
        measured.transcripts.push(part);
    }
    measured.report_files.sort();
    measured.report_files.dedup();
    Ok(notes)
}

/// What comes after the latest of the marks that the transcript has passed.
fn part(
    session: &Session<'_>,
    found: &Found,
    transcript: Transcript,
    known: &[&TranscriptMark],
) -> Result<(TranscriptPart, Spool)> {
    let known: BTreeMap<(u64, ObjectId), &TranscriptMark> =
        known.iter().map(|mark| ((mark.lines, mark.hash), *mark)).collect();
    let mut end = TranscriptMark { lines: 0, hash: id_of(b""), tokens: transcript.tokens, cost: transcript.cost };
    let mut before: Option<&TranscriptMark> = None;
    let mut bytes = Vec::new();
    for line in transcript.lines {
        end.hash = id_of(format!("{} {}", end.hash, identity(&line)).as_bytes());
        end.lines += 1;
        encode(&settled(line, session.layout.root().to_str(), id_of), &mut bytes)?;
        if let Some(mark) = known.get(&(end.lines, end.hash)) {
            before = Some(mark);
            bytes.clear();
        }
    }
    let spool = Spool::copy(&session.layout.cache(), &mut bytes.as_slice(), u64::MAX)?;
    let tokens = match (end.tokens, before) {
        (Some(tokens), Some(mark)) => mark.tokens.and_then(|before| tokens.checked_sub(before)),
        (tokens, _) => tokens,
    };
    let cost = match (end.cost, before) {
        (Some(cost), Some(mark)) => mark.cost.map(|before| cost - before).filter(|cost| *cost >= 0.0),
        (cost, _) => cost,
    };
    let part = TranscriptPart {
        path: found.name.clone(),
        format: transcript.format.name.to_owned(),
        artifact: artifact_name(&spool.id, "calls.jsonl"),
        blake3: spool.id,
        end,
        skipped: transcript.skipped,
        tokens,
        cost,
    };
    Ok((part, spool))
}

/// What of a line stays the same however the transcript goes on: not its result, which may come later.
fn identity(line: &CallLine) -> String {
    serde_json::json!([line.event, line.id, line.tool, line.args]).to_string()
}

fn encode(line: &CallLine, bytes: &mut Vec<u8>) -> Result<()> {
    let written = serde_json::to_writer(&mut *bytes, line);
    written.map_err(|error| Error::bug("a call does not serialize").because(error.to_string()))?;
    bytes.push(b'\n');
    Ok(())
}

/// Calls as they were kept.
///
/// # Errors
/// Bad input if a line is none.
pub(super) fn decoded(bytes: &[u8]) -> Result<Vec<CallLine>> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let line = |line| {
        serde_json::from_slice(line)
            .map_err(|error| Error::bad_input("a kept call is no call").because(error.to_string()))
    };
    lines.map(line).collect()
}

/// Tokens of an iteration; `None` unless all of its transcripts tell.
pub(super) fn tokens(parts: &[TranscriptPart]) -> Option<u64> {
    let mut tokens = parts.iter().map(|part| part.tokens);
    let first = tokens.next()?;
    tokens.fold(first, |sum, tokens| Some(sum?.saturating_add(tokens?)))
}

/// US dollars of an iteration; `None` unless all of its transcripts tell.
pub(super) fn cost(parts: &[TranscriptPart]) -> Option<f64> {
    let mut costs = parts.iter().map(|part| part.cost);
    let first = costs.next()?;
    costs.fold(first, |sum, cost| Some(sum? + cost?))
}

/// The files of a transcript: the one that is named, or those of the folder that hold events, by name.
fn files(root: &Path, found: &Found, limits: &Limits) -> Result<Vec<PathBuf>> {
    match disk::metadata(&found.path)? {
        Some(metadata) if metadata.is_dir() => {}
        Some(_) => {
            reports::open(root, found, limits)?;
            return Ok(vec![found.path.clone()]);
        }
        None => {
            return Err(Error::bad_input("no such file or folder")
                .at(&found.path)
                .help("--transcript names what the agent did: a file, or a folder of event-*.json"));
        }
    }
    let io = |error: &io::Error| Error::io("list", &found.path, error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&found.path).map_err(|error| io(&error))? {
        let entry = entry.map_err(|error| io(&error))?;
        let name = entry.file_name();
        let is_event = name.to_str().is_some_and(|name| name.starts_with("event-") && name.ends_with(".json"));
        if is_event && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            files.push(entry.path());
        }
    }
    if files.is_empty() {
        return Err(Error::bad_input("no event-*.json is in the folder")
            .at(&found.path)
            .help("only OpenHands keeps a transcript as a folder; of the others, name the file"));
    }
    files.sort();
    Ok(files)
}

/// Files one after the other, a line end after each. One is open at a time.
struct Joined {
    rest: std::vec::IntoIter<PathBuf>,
    open: Option<io::Chain<File, &'static [u8]>>,
}

impl RawBytes for Joined {}

impl Read for Joined {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(open) = &mut self.open {
                let read = open.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
            }
            match self.rest.next() {
                Some(path) => self.open = Some(File::open(path)?.chain(&b"\n"[..])),
                None => return Ok(0),
            }
        }
    }
}
