//! Report files → figures: found or named, checked for age, copied, parsed from the copy, merged.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use rayon::prelude::*;

use super::silence::{self, Listener};
use super::{Asked, Offer, Session, argv, transcript};
use crate::analysis::RULES;
use crate::disk::{self, spool::Spool};
use crate::error::{Error, ErrorKind, Reject, Result};
use crate::ingest::console::Withheld;
use crate::ingest::merge::{Measurement, merge};
use crate::ingest::{self, FileLines, Format, Input, Parsed, RawBytes};
use crate::model::activity::TranscriptPart;
use crate::model::config::{Limits, LoopConfig};
use crate::model::figures::ReportKind;
use crate::model::ids::{ObjectId, TreePath};
use crate::model::progress::Output;
use crate::model::record::{Command, IterationRecord, Source, SourceError};
use crate::snapshot::listings::Listings;
use crate::store::Store;
use crate::workspace::reports::{self, Found};

/// As `Source::path` names what the command printed.
pub(super) const CONSOLE: &str = "(console)";

/// What stands for standard input in which tools speak as on a console. One report on it is that of a file `-`.
const STDIN: &str = "(stdin)";

/// Why a report of a kind that is not wanted is passed over.
const LEFT_OUT: &str = "left out by --skip";
/// Why a report that `highwater report` wrote is passed over: it tells an iteration that is recorded already.
const OUR_OWN: &str = "written by `highwater report`, and no measurement";
/// Why an empty file of a tool that is silent where it finds nothing is passed over, as long as it never said anything.
const SILENT_YET: &str = "empty, as it is where nothing is found: unknown until it once said something";
/// Why an empty list is passed over: it is no tool's own.
const EMPTY_LIST: &str = "an empty list, which many tools write: unknown until it once held something";
/// Bytes of a report that tell whether it is of our own.
const OUR_HEAD: u16 = 8 << 10;
/// Bytes of what an agent said in one iteration: above it is a trace, and no text to compare.
pub(super) const OUTPUT_BYTES: u64 = 16 << 20;

/// How often a report that changes while it is copied is read again.
const TRIES: u32 = 3;

/// A file that looked like a report by its name and gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// The file.
    pub name: String,
    /// Why.
    pub why: String,
}

/// What the reports of one iteration came to.
#[derive(Default)]
pub(super) struct Measured {
    pub sources: Vec<Source>,
    /// Copies to keep, with their names in the iteration's folder.
    pub artifacts: Vec<(String, Spool)>,
    pub measurement: Measurement,
    pub passed_over: Vec<PassedOver>,
    /// Reports that could not be read.
    pub faults: Vec<Error>,
    /// As the record names them.
    pub report_files: Vec<TreePath>,
    /// What the agent said; its copy is among the artifacts.
    pub output: Option<Output>,
    /// What it did; the calls are among the artifacts.
    pub transcripts: Vec<TranscriptPart>,
}

impl Measured {
    /// What the agent said.
    ///
    /// # Errors
    /// If the copy cannot be read.
    pub fn output_text(&self) -> Result<Option<String>> {
        let Some(output) = &self.output else { return Ok(None) };
        let copy = self.artifacts.iter().find(|(name, _)| *name == output.artifact);
        let Some((_, spool)) = copy else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = spool.open().and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error| Error::failed("cannot read the output").because(error.to_string()))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// What there was before the iteration.
#[derive(Clone, Copy, Default)]
pub(super) struct Earlier<'a> {
    /// The sources of the record before.
    pub sources: &'a [Source],
    /// Tells what became of the tools that the same command had speak.
    pub listener: Option<&'a Listener<'a>>,
}

/// Reads everything that is offered.
///
/// # Errors
/// If a named report is not there, a limit is exceeded, or the disk says no. A report that is there and broken is a
/// fault in the answer, not an error.
pub(super) fn measure(
    session: &Session<'_>,
    config: &LoopConfig,
    offer: &Offer,
    since: Option<SystemTime>,
    earlier: Earlier<'_>,
) -> Result<Measured> {
    let mut sources_before: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in earlier.sources {
        sources_before.entry(&source.path).or_default().push(source);
    }
    let mut reading = Reading {
        session,
        config,
        offer,
        since,
        listener: earlier.listener,
        sources_before,
        seen: BTreeSet::new(),
        steps: Vec::new(),
        measured: Measured::default(),
        parsed: Vec::new(),
        withheld: None,
    };
    let output = offer.output.as_ref().map(|path| reading.output(path)).transpose()?;
    let mut told = transcript::shown(session, config, offer);
    told.extend(output);
    for asked in &offer.reports {
        reading.named(asked)?;
    }
    let listings = Listings::open(session.layout);
    let known = |folder: &Path, take: &mut dyn FnMut(&OsStr, bool)| listings.each(folder, take);
    for found in reports::find(session.layout.root(), &config.reports, &config.limits, &known)? {
        // What the agent says of its tests is no report of them.
        if told.contains(&found.name) {
            continue;
        }
        if offer.discover {
            reading.file(&found, None)?;
        } else {
            reading.leave(&found);
        }
    }
    let console = match &offer.console {
        Some(Ok(console)) => Some(reading.printed(console)?),
        _ => None,
    };
    if offer.discover {
        reading.written(&told, console.as_ref())?;
    }
    reading.parse_copies()?;
    match (&offer.console, console) {
        (_, Some(console)) => reading.console(console),
        (Some(Err(error)), None) => reading.fault(Source::named(CONSOLE), error.clone()),
        _ => {}
    }
    Ok(reading.finish())
}

struct Reading<'a> {
    session: &'a Session<'a>,
    config: &'a LoopConfig,
    offer: &'a Offer,
    since: Option<SystemTime>,
    listener: Option<&'a Listener<'a>>,
    /// Those of the record before, by path.
    sources_before: BTreeMap<&'a str, Vec<&'a Source>>,
    /// Names of the files that were looked at: what is asked for twice is read once.
    seen: BTreeSet<String>,
    /// What became of each file, in the order in which they were found.
    steps: Vec<Step>,
    measured: Measured,
    /// With the place of its source.
    parsed: Vec<(usize, Parsed)>,
    /// Nothing was read of what the command printed, and it said that it left something out.
    withheld: Option<Withheld>,
}

/// Whether `highwater report` wrote the file, in a form that is read as a report, too.
fn is_our_own(found: &Found) -> bool {
    let mut head = Vec::with_capacity(OUR_HEAD.into());
    let read = File::open(&found.path).and_then(|file| file.take(OUR_HEAD.into()).read_to_end(&mut head));
    // A file that cannot be read is told of where it is copied.
    read.is_ok() && is_ours(&String::from_utf8_lossy(&head))
}

/// By what the forms say of the tool; a code quality report names no tool, but a rule.
fn is_ours(head: &str) -> bool {
    let is_junit = head.contains("<testsuites name=\"highwater\" ") && head.contains("<testsuite name=\"highwater: ");
    let names_us = |key: &str| head.starts_with('{') && head.contains(key);
    let first_check = || head.split_once("\",\"check_name\":\"")?.1.split_once('"').map(|(name, _)| name);
    let is_issues =
        || head.starts_with("[{") && first_check().is_some_and(|name| RULES.iter().any(|known| known.name == name));
    is_junit
        || names_us("\"tool\":{\"driver\":{\"name\":\"highwater\",")
        || names_us("\"tool\":{\"name\":\"highwater\",")
        || is_issues()
}

/// What became of one file so far.
enum Step {
    /// It is to be parsed from its copy.
    Copied {
        source: Source,
        spool: Spool,
        format: Option<&'static Format>,
        /// As what an empty list or text is read, because the file was that in the record before.
        clean: Option<&'static Format>,
    },
    /// It was there before the iteration began.
    Stale(Source),
    /// It could not be read.
    Fault(Source, Error),
    PassedOver(PassedOver),
}

impl Step {
    fn copied(
        name: &str,
        spool: Spool,
        format: Option<&'static Format>,
        clean: Option<&'static Format>,
        modified_at: Option<DateTime<Utc>>,
    ) -> Step {
        let artifact = Some(artifact_name(&spool.id, name));
        let source = Source { blake3: Some(spool.id), artifact, modified_at, ..Source::named(name) };
        Step::Copied { source, spool, format, clean }
    }

    fn stale(found: &Found, told: Option<&Format>, modified: SystemTime, id: Option<ObjectId>) -> Step {
        Step::Stale(Source {
            format: told.map(|format| format.name.to_owned()),
            kind: told.map(|format| format.kind),
            blake3: id,
            modified_at: Some(modified.into()),
            stale: true,
            ..Source::named(&found.name)
        })
    }

    fn passed_over(found: &Found, why: &str) -> Step {
        Step::PassedOver(passed_over(&found.name, why))
    }
}

impl Reading<'_> {
    fn named(&mut self, asked: &Asked) -> Result<()> {
        if asked.path == "-" {
            let spool = self.copy(&mut std::io::stdin().lock())?;
            let spoken = if asked.format.is_none() { self.piped(&spool) } else { None };
            match spoken {
                Some(spoken) => self.keep_spoken(STDIN, spool, spoken),
                None => self.steps.push(Step::copied("-", spool, asked.format, None, None)),
            }
            return Ok(());
        }
        for found in reports::named(self.session.layout.root(), &self.offer.folder, &asked.path, &self.config.limits)? {
            self.file(&found, asked.format)?;
        }
        Ok(())
    }

    /// What the agent said; the answer is how people are shown the file. In the work tree it is no code.
    fn output(&mut self, name: &str) -> Result<String> {
        let path = self.offer.folder.join(name);
        let found = reports::describe(self.session.layout.root(), &path, true);
        if crate::disk::metadata(&path)?.is_none() {
            return Err(Error::bad_input("no such output")
                .in_file(&found.name)
                .help("--output names what the agent said"));
        }
        let limits = Limits { report_bytes: OUTPUT_BYTES, ..self.config.limits.clone() };
        let opened = reports::open(self.session.layout.root(), &found, &limits);
        match opened.and_then(|_| self.copy_unchanged(&found)) {
            Ok((spool, _)) => {
                let artifact = artifact_name(&spool.id, &found.name);
                self.measured.report_files.extend(found.tree_path.clone());
                self.measured.output =
                    Some(Output { path: found.name.clone(), artifact: artifact.clone(), blake3: spool.id });
                self.measured.artifacts.push((artifact, spool));
            }
            Err(error) if matches!(error.kind, ErrorKind::Report(_)) => {
                let mib = OUTPUT_BYTES >> 20;
                let refused = Error::report(Reject::Refused, "output is not read").in_file(&found.name);
                let why = format!("a regular file of at most {mib} MiB is: {}", error.message);
                self.measured.faults.push(refused.because(why));
            }
            Err(error) => return Err(error),
        }
        Ok(found.name)
    }

    /// The format that the file's content tells.
    fn detect(&self, found: &Found) -> Result<Option<&'static Format>> {
        self.as_input(found, |input| Ok(ingest::detect(input)?.map(|(format, _)| format)))
    }

    /// The format that the file had in the record before, if it says no more now than that nothing was found: an empty list
    /// is no format's own.
    fn clean(&self, found: &Found) -> Option<&'static Format> {
        let before = self.before(found).next()?;
        let format = ingest::format(before.format.as_deref()?)?;
        self.as_input(found, |input| ingest::parse_clean(input, format)).map(|_| format)
    }

    fn is_empty_list(&self, found: &Found) -> bool {
        self.as_input(found, ingest::holds_an_empty_list)
    }

    fn as_input<T>(&self, found: &Found, read: impl FnOnce(&Input<'_>) -> T) -> T {
        let open = || -> std::io::Result<Box<dyn RawBytes>> { Ok(Box::new(std::fs::File::open(&found.path)?)) };
        read(&Input::source(&found.name, &open, self.config.limits.report_bytes))
    }

    /// The sources of that name in the record before.
    fn before(&self, found: &Found) -> impl Iterator<Item = &'_ Source> {
        self.sources_before.get(found.name.as_str()).into_iter().flatten().copied()
    }

    fn is_report(&self, found: &Found) -> bool {
        reports::open(self.session.layout.root(), found, &self.config.limits).is_ok()
            && (matches!(self.detect(found), Ok(Some(_))) || self.clean(found).is_some())
    }

    /// A report that was found and not asked for: not read, and no code either.
    fn leave(&mut self, found: &Found) {
        if let (true, Some(path)) = (self.is_report(found), &found.tree_path) {
            self.measured.report_files.push(path.clone());
        }
    }

    /// Whether a file that was found is empty because its tool found nothing, or was not started: which of them cannot be
    /// told, as long as it never said anything.
    fn is_silent_yet(&self, found: &Found, error: &Error) -> bool {
        let is_known = self.before(found).any(|source| source.figures.is_some());
        !found.named && error.reject() == Some(Reject::Empty) && !is_known && ingest::is_of_a_silent_tool(&found.name)
    }

    /// A file that is no code and tells nothing; why is said while it is new.
    fn pass_over(&mut self, found: &Found, why: &'static str, is_stale: bool) -> Option<Step> {
        self.measured.report_files.extend(found.tree_path.clone());
        (!is_stale).then(|| Step::passed_over(found, why))
    }

    /// One report file, unless it was looked at already.
    fn file(&mut self, found: &Found, format: Option<&'static Format>) -> Result<()> {
        if self.seen.insert(found.name.clone()) {
            let step = self.look(found, format)?;
            self.steps.extend(step);
        }
        Ok(())
    }

    /// What becomes of a file; `None` if it is gone, or was taken for no report before.
    fn look(&mut self, found: &Found, format: Option<&'static Format>) -> Result<Option<Step>> {
        let open = match reports::open(self.session.layout.root(), found, &self.config.limits) {
            Ok(open) => open,
            // Gone between the search and now: as if it had not been found.
            Err(_)
                if !found.named
                    && std::fs::metadata(&found.path).is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound) =>
            {
                return Ok(None);
            }
            Err(error) => return Ok(Some(Step::Fault(Source::named(&found.name), error))),
        };
        let is_stale = self.since.is_some_and(|since| open.modified < since);
        if !found.named && is_our_own(found) {
            return Ok(self.pass_over(found, OUR_OWN, is_stale));
        }
        let clean = if format.is_none() { self.clean(found) } else { None };
        let told = match format.or(clean) {
            Some(format) => Some(format),
            None => match self.detect(found) {
                Ok(Some(format)) => Some(format),
                Ok(None) if found.named => None,
                Ok(None) if self.is_empty_list(found) => return Ok(self.pass_over(found, EMPTY_LIST, is_stale)),
                // Told while it is new: that a tool's config has the name of a report is no news at each iteration.
                Ok(None) if is_stale => return Ok(None),
                Ok(None) => return Ok(Some(Step::passed_over(found, "no report in a format that is known"))),
                Err(error) if self.is_silent_yet(found, &error) => {
                    return Ok(self.pass_over(found, SILENT_YET, is_stale));
                }
                // It will not parse either, and parsing says it best.
                Err(_) => None,
            },
        };
        self.measured.report_files.extend(found.tree_path.clone());
        if told.is_some_and(|format| self.offer.skip.contains(&format.kind)) {
            return Ok(Some(Step::passed_over(found, LEFT_OUT)));
        }
        if is_stale {
            return Ok(Some(Step::stale(found, told, open.modified, None)));
        }
        let (spool, modified) = match self.copy_unchanged(found) {
            Ok(copied) => copied,
            Err(error) if matches!(error.kind, ErrorKind::Report(_)) => {
                let source = Source { modified_at: Some(open.modified.into()), ..Source::named(&found.name) };
                return Ok(Some(Step::Fault(source, error)));
            }
            Err(error) => return Err(error.in_file(&found.name)),
        };
        let modified_at: DateTime<Utc> = modified.into();
        let is_the_same = |source: &Source| source.blake3 == Some(spool.id) && source.modified_at == Some(modified_at);
        if self.before(found).any(is_the_same) {
            return Ok(Some(Step::stale(found, told, modified, Some(spool.id))));
        }
        Ok(Some(Step::copied(&found.name, spool, format, clean, Some(modified_at))))
    }

    /// Reports that the command wrote while it ran, into files that it, or a script whose text was printed, names; and what is left
    /// of those that it wrote the last time. Those in `told` are none.
    fn written(&mut self, told: &BTreeSet<String>, printed: Option<&Spool>) -> Result<()> {
        let (Some(command), Some(since)) = (&self.offer.command, self.since) else { return Ok(()) };
        let printed = printed.and_then(silence::text_of).unwrap_or_default();
        let mut argv = command.argv.clone();
        argv.extend(argv::scripts(&printed).map(String::from));
        let root = self.session.layout.root();
        for found in reports::mentioned(root, &self.offer.folder, &self.config.reports, argv::files(&argv))? {
            // A word that can be no path is none.
            let Some(file) = disk::metadata(&found.path).ok().flatten().filter(Metadata::is_file) else { continue };
            let is_new = || file.modified().is_ok_and(|at| at >= since);
            let is_done = told.contains(&found.name) || self.seen.contains(&found.name);
            let may_be_one = !is_done && (self.before(&found).next().is_some() || is_new());
            if may_be_one && self.is_report(&found) {
                self.file(&found, None)?;
            }
        }
        Ok(())
    }

    /// A copy of what the command printed.
    fn printed(&self, console: &File) -> Result<Spool> {
        let mut reader =
            console.try_clone().map_err(|e| Error::failed("cannot read the output").because(e.to_string()))?;
        self.copy(&mut reader)
    }

    /// Every report in what the command printed.
    fn console(&mut self, spool: Spool) {
        let (mut spoken, withheld) = self.spoken(CONSOLE, &spool);
        self.withheld = withheld.filter(|_| spoken.is_empty());
        if self.is_ty_s() {
            for one in &mut spoken {
                if let Some(ty) = ingest::as_ty_s(one) {
                    *one = ty;
                }
            }
        }
        if has_built(self.offer.command.as_ref(), spoken.iter()) {
            spoken.iter_mut().for_each(ingest::say_that_it_built);
        }
        let files = self.parsed.iter().map(|(_, one)| one);
        let silent = self.listener.map(|listener| listener.silent(&spoken, files, (&spool, withheld)));
        self.keep_spoken(CONSOLE, spool, spoken);
        for (source, clean) in silent.into_iter().flatten() {
            match clean {
                _ if source.kind.is_some_and(|kind| self.offer.skip.contains(&kind)) => {}
                Some(clean) => self.keep(source, clean),
                None => self.measured.sources.push(source),
            }
        }
    }

    /// Whether a run without findings, which ruff and ty tell in the same words, is ty's: by the command, or by what it had
    /// speak before.
    fn is_ty_s(&self) -> bool {
        let command = self.offer.command.iter();
        let programs: Vec<&str> = command.flat_map(|command| argv::programs(&command.argv)).collect();
        let ty_spoke = |earlier: &Listener<'_>| earlier.has_heard("ty-text") && !earlier.has_heard("ruff-text");
        !programs.contains(&"ruff") && (programs.contains(&"ty") || self.listener.is_some_and(ty_spoke))
    }

    /// What tools say in standard input, if it is not one report, but a pipe from several of them, or has other text around
    /// a report.
    fn piped(&self, spool: &Spool) -> Option<Vec<Parsed>> {
        let (spoken, _) = self.spoken(STDIN, spool);
        let open = || copy_of(spool);
        let is_a_pipe = match ingest::detect(&Input::source("-", &open, self.config.limits.report_bytes)) {
            Ok(Some((alone, _))) => spoken.len() > 1 && spoken.iter().any(|one| one.format.name == alone.name),
            Ok(None) | Err(_) => !spoken.is_empty(),
        };
        is_a_pipe.then_some(spoken)
    }

    fn spoken(&self, name: &str, spool: &Spool) -> (Vec<Parsed>, Option<Withheld>) {
        let open = || copy_of(spool);
        let output = Input::source(name, &open, self.config.limits.report_bytes);
        let is_ended = name == CONSOLE && self.offer.command.as_ref().is_some_and(ended_by_itself);
        let (mut found, withheld) = ingest::console::listen(&output, is_ended);
        found.retain(|parsed| !self.offer.skip.contains(&parsed.format.kind));
        (found, withheld)
    }

    fn keep_spoken(&mut self, name: &str, spool: Spool, spoken: Vec<Parsed>) {
        if spoken.is_empty() {
            return;
        }
        let artifact = format!("{}-console.txt", spool.id);
        for parsed in spoken {
            let source = Source { blake3: Some(spool.id), artifact: Some(artifact.clone()), ..Source::named(name) };
            self.keep(source, parsed);
        }
        self.measured.artifacts.push((artifact, spool));
    }

    /// Parses the copies side by side, and then takes what they came to in the order in which they were found.
    fn parse_copies(&mut self) -> Result<()> {
        let limit = self.config.limits.report_bytes;
        let parse = |step: &Step| match step {
            Step::Copied { source, spool, format, clean } => {
                let open = || copy_of(spool);
                let input = Input::source(&source.path, &open, limit);
                let parsed = clean.and_then(|clean| ingest::parse_clean(&input, clean));
                Some(parsed.map_or_else(|| ingest::parse_all(&input, *format), |parsed| Ok(vec![parsed])))
            }
            _ => None,
        };
        let steps = std::mem::take(&mut self.steps);
        let outcomes: Vec<Option<Result<Vec<Parsed>>>> = steps.par_iter().with_max_len(1).map(parse).collect();
        for (step, outcome) in steps.into_iter().zip(outcomes) {
            match (step, outcome) {
                (Step::Copied { source, spool, .. }, Some(outcome)) => self.take(source, spool, outcome)?,
                (Step::Copied { .. }, None) => {}
                (Step::Stale(source), _) => self.measured.sources.push(source),
                (Step::Fault(source, error), _) => self.fault(source, error),
                (Step::PassedOver(passed_over), _) => self.measured.passed_over.push(passed_over),
            }
        }
        Ok(())
    }

    fn take(&mut self, source: Source, spool: Spool, outcome: Result<Vec<Parsed>>) -> Result<()> {
        let artifact = source.artifact.clone();
        match outcome {
            Ok(mut parsed) => {
                parsed.retain(|one| !self.offer.skip.contains(&one.format.kind));
                if parsed.is_empty() {
                    self.measured.passed_over.push(passed_over(&source.path, LEFT_OUT));
                    return Ok(());
                }
                for one in parsed {
                    self.keep(Source { spoken: one.is_spoken(), ..source.clone() }, one);
                }
            }
            Err(error) if matches!(error.kind, ErrorKind::Report(_) | ErrorKind::BadInput) => self.fault(source, error),
            Err(error) => return Err(error.in_file(&source.path)),
        }
        self.measured.artifacts.extend(artifact.map(|artifact| (artifact, spool)));
        Ok(())
    }

    fn keep(&mut self, source: Source, mut parsed: Parsed) {
        parsed.content = source.blake3;
        self.measured.sources.push(Source {
            format: Some(parsed.format.name.to_owned()),
            kind: Some(parsed.format.kind),
            figures: Some(parsed.figures.clone()),
            warnings: parsed.warnings.clone(),
            ..source
        });
        self.parsed.push((self.measured.sources.len() - 1, parsed));
    }

    fn fault(&mut self, source: Source, error: Error) {
        let error = if error.place.path.is_none() { error.in_file(&source.path) } else { error };
        self.measured.sources.push(Source { error: Some(SourceError::of(&error)), ..source });
        self.measured.faults.push(error);
    }

    fn copy(&self, reader: &mut dyn Read) -> Result<Spool> {
        Spool::copy(&self.session.layout.cache(), reader, self.config.limits.report_bytes)
    }

    /// A copy of a file that did not change meanwhile.
    fn copy_unchanged(&self, found: &Found) -> Result<(Spool, SystemTime)> {
        for _ in 0..TRIES {
            let mut open = reports::open(self.session.layout.root(), found, &self.config.limits)?;
            let spool = self.copy(&mut open.file)?;
            if open.is_unchanged() && spool.bytes == open.length {
                return Ok((spool, open.modified));
            }
        }
        Err(Error::report(Reject::Refused, "report changes while it is read")
            .in_file(&found.name)
            .because(format!("it was read {TRIES} times, and was another each time"))
            .help("wait until the tool that writes it has ended"))
    }

    fn finish(mut self) -> Measured {
        let (places, parsed): (Vec<usize>, Vec<Parsed>) = self.parsed.into_iter().unzip();
        let measurement = merge(&parsed);
        for (place, same) in places.iter().zip(&measurement.same_run_as) {
            let other = same.and_then(|at| places.get(at)).and_then(|at| self.measured.sources.get(*at));
            let path = other.map(|source| source.path.clone());
            if let (Some(path), Some(source)) = (path, self.measured.sources.get_mut(*place)) {
                source.same_run_as = Some(path);
            }
        }
        self.measured.measurement = measurement;
        self.measured.measurement.warnings.extend(self.withheld.map(Withheld::warning));
        self.measured.report_files.sort();
        self.measured.report_files.dedup();
        self.measured
    }
}

/// Whether nobody ended the command: no signal, nor `timeout`, which answers 124.
fn ended_by_itself(command: &Command) -> bool {
    command.exit_code.is_some_and(|code| (0..124).contains(&code))
}

/// Whether a command with compilers in it came to the end of its build: it did not fail, or went on to the tests.
pub(super) fn has_built<'a>(command: Option<&Command>, mut spoken: impl Iterator<Item = &'a Parsed>) -> bool {
    let is_over = command.is_some_and(|command| command.exit_code == Some(0));
    is_over || spoken.any(|one| one.format.kind == ReportKind::Test)
}

fn passed_over(name: &str, why: &str) -> PassedOver {
    PassedOver { name: name.to_owned(), why: why.to_owned() }
}

fn copy_of(spool: &Spool) -> std::io::Result<Box<dyn RawBytes>> {
    Ok(Box::new(spool.open()?))
}

/// The stored name of a report's bytes: their hash first, so that two writers never replace each other's.
pub(super) fn artifact_name(id: &ObjectId, name: &str) -> String {
    let base = name.rsplit('/').next().unwrap_or(name);
    let plain: String =
        base.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' }).collect();
    let plain: String = plain.chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{id}-{plain}")
}

/// Opens a stored copy by its name in the iteration's folder.
pub(super) type OpenArtifact<'a> = dyn Fn(&str) -> Result<File> + Sync + 'a;

/// Parses the stored copies of a record's sources again and merges them as it was done then.
///
/// # Errors
/// As [`parse_again`].
pub(super) fn measure_again(
    sources: &[Source],
    command: Option<&Command>,
    artifact: &OpenArtifact<'_>,
) -> Result<Measurement> {
    let sources: Vec<&Source> = sources.iter().filter(|source| source.figures.is_some()).collect();
    let mut parsed = parse_again(&sources, artifact)?;
    let is_spoken = |source: &Source| source.path == CONSOLE;
    let spoken = parsed.iter().zip(&sources).filter(|(_, source)| is_spoken(source));
    if has_built(command, spoken.map(|(one, _)| one)) {
        let spoken = parsed.iter_mut().zip(&sources).filter(|(_, source)| is_spoken(source));
        spoken.for_each(|(one, _)| ingest::say_that_it_built(one));
    }
    Ok(merge(&parsed))
}

/// The stored reports of a kind, parsed again, one for each run; none if one of them was let go or is damaged.
pub(super) fn stored_reports(store: &Store, record: &IterationRecord, kind: ReportKind) -> Vec<Parsed> {
    let counts =
        |source: &&Source| source.kind == Some(kind) && source.figures.is_some() && source.same_run_as.is_none();
    let sources: Vec<&Source> = record.sources.iter().filter(counts).collect();
    let folder = store.paths().artifacts(record.iteration);
    parse_again(&sources, &|name| disk::open_regular(&folder.join(name))).unwrap_or_default()
}

/// The lines of files behind some reports.
pub(super) fn measure_lines(parsed: &[Parsed]) -> BTreeMap<String, FileLines> {
    merge(parsed).lines
}

/// Parses the stored copies of sources that gave figures.
///
/// # Errors
/// If an artifact is missing, damaged or does not parse any more.
pub(super) fn parse_again(sources: &[&Source], artifact: &OpenArtifact<'_>) -> Result<Vec<Parsed>> {
    let mut parsed = Vec::new();
    let mut spoken: BTreeMap<(&str, &str), Vec<Parsed>> = BTreeMap::new();
    for source in sources {
        let format = source.format.as_deref().and_then(ingest::format);
        if let (Some(silence), Some(format)) = (&source.silence, format) {
            parsed.push(ingest::silence(format, &silence.tools)?);
            continue;
        }
        let (Some(name), Some(format)) = (&source.artifact, format) else {
            return Err(Error::bad_input(format!("source {} names no stored report or no known format", source.path)));
        };
        // What is missing is told before it is read, as what it is.
        drop(artifact(name)?);
        let open = || -> std::io::Result<Box<dyn RawBytes>> {
            artifact(name).map(|file| Box::new(file) as _).map_err(|error| std::io::Error::other(error.said()))
        };
        let input = Input::source(source.path.as_str(), &open, u64::MAX);
        if source.spoken || matches!(source.path.as_str(), CONSOLE | STDIN) {
            // What counted then came to its end.
            let read = || ingest::console::listen(&input, true).0;
            let found = spoken.entry((&source.path, name)).or_insert_with(read);
            let is_it = |parsed: &Parsed| parsed.format == format && Some(&parsed.figures) == source.figures.as_ref();
            let one = found
                .iter()
                .position(is_it)
                .or_else(|| found.iter().position(|parsed| parsed.format == format))
                .map(|at| found.remove(at))
                .or_else(|| found.iter().find_map(ingest::as_ty_s).filter(|parsed| parsed.format == format))
                .ok_or_else(|| Error::bad_input(format!("the stored output holds no {} any more", format.name)))?;
            parsed.push(one);
        } else {
            parsed.push(ingest::parse_clean(&input, format).map_or_else(|| ingest::parse(&input, Some(format)), Ok)?);
        }
        if let Some(last) = parsed.last_mut() {
            last.content = source.blake3;
        }
    }
    Ok(parsed)
}
