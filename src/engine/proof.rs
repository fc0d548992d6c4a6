//! Old tests on new code, and new tests on old code, each in a copy of the work tree: what proves or refutes that tests were
//! tampered with (ANALYSIS §12.4). Only where it is asked for, and only where something is suspected.
//!
//! A copy may not be what the tests run against: an installed package, or a path that is written down somewhere, leads back to
//! the work tree. So nothing is believed that a run on the other side does not bear out.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::edits::{Changes, compared_with, turned};
use super::evidence::named_ancestor;
use super::measure::{Earlier, measure};
use super::record::started_from;
use super::work::unless_damaged;
use super::{InCopy, Offer, Reran, Session};
use crate::analysis::tamper::{Belongs, Changed, belongs, is_read_by_tests, test_edits, with_tests_of};
use crate::analysis::{self, spelling};
use crate::disk::{self, layout::Layout};
use crate::error::{Error, Result};
use crate::ingest::merge::Measurement;
use crate::model::cases::{Outcome, TestCases};
use crate::model::config::{LoopConfig, TamperReplay};
use crate::model::edits::{EditKind, TestEdits};
use crate::model::ids::{Iteration, ObjectId, TreePath};
use crate::model::metrics::Metrics;
use crate::model::proof::{ProvenTest, TamperProof};
use crate::model::record::IterationRecord;
use crate::model::trajectory::Point;
use crate::model::verdict::OpenFinding;
use crate::snapshot::objects::Objects;
use crate::snapshot::restore::{Manifest, Options, write_into};
use crate::snapshot::tree::files;
use crate::store::{History, Store};

/// Tests that are told of.
const TESTS: usize = 200;

/// What no language that tests are written in can read.
const UNREADABLE: &[u8] = b"<?php )]}\n";

/// An iteration of which it is asked whether its tests were tampered with.
pub(super) struct Suspect<'a> {
    pub session: &'a Session<'a>,
    pub store: &'a Store,
    pub config: &'a LoopConfig,
    pub offer: &'a Offer,
    /// The new snapshot is among them.
    pub objects: &'a Objects,
    /// The record, as far as it is known before the verdict.
    pub draft: &'a IterationRecord,
    /// Its outcomes by test.
    pub cases: Option<&'a TestCases>,
}

/// Whether there is anything to ask after these iterations: most records need not wait for it.
pub(super) fn is_needed(config: &LoopConfig, offer: &Offer, points: &[Point]) -> bool {
    may_run(config, offer) || points.iter().flat_map(|point| &point.open_findings).any(is_open)
}

/// Whether it is asked for, and somebody runs commands.
fn may_run(config: &LoopConfig, offer: &Offer) -> bool {
    let is_asked = offer.replay.is_some() || config.tamper.replay == TamperReplay::OnSuspicion;
    is_asked && offer.run.is_some()
}

/// Whether it is a finding that only such runs close.
fn is_open(finding: &OpenFinding) -> bool {
    finding.accepted.is_none() && analysis::is_proven(&finding.alert.rule)
}

impl Suspect<'_> {
    /// Runs what it takes; `None` where it is not asked for, nothing was measured, or nothing is suspected. What keeps the runs from telling is in
    /// the answer.
    ///
    /// # Errors
    /// If stored outcomes cannot be read; as [`started_from`].
    pub fn prove(&self, history: &History) -> Result<Option<TamperProof>> {
        if self.draft.metrics.failures().is_none() {
            return Ok(None);
        }
        let points = &history.points;
        let Some(parent) = started_from(self.session, self.store, self.offer, history)? else { return Ok(None) };
        let open = self.open(points, parent)?;
        if !self.may_run() && open.tests.is_empty() {
            return Ok(None);
        }
        let named = match self.cases {
            Some(_) => named_ancestor(self.objects, points, Some(open.since.unwrap_or(parent)))?,
            None => None,
        };
        let since = match open.since {
            Some(since) => analysis::find(points, since),
            None => compared_with(points, Some(parent), named.as_ref().map(|(point, _)| *point)),
        };
        let Some(since) = since else { return Ok(None) };
        let before = named.filter(|(point, _)| point.iteration == since.iteration).map(|(_, cases)| cases);
        let Some(changes) = Changes::since(self.store, self.objects, since, self.draft)? else { return Ok(None) };
        let cases = (before.as_ref(), self.cases);
        let turned = unless_damaged(turned(self.objects, since, self.draft, cases.0, cases.1))?.unwrap_or_default();
        let edits = test_edits(since.iteration, &changes.files(), &turned);
        let is_suspected = is_suspicious(&edits) || self.has_fewer_tests(since, before.as_ref());
        let sides = Sides::of(&changes, &edits);
        let now = Run { cases: self.cases.cloned(), ..Run::of(self.draft.metrics.clone()) };
        let earlier = Run { cases: before, ..Run::of(since.metrics.clone()) };

        let mut proof = TamperProof { since: since.iteration, command: None, tests: Vec::new(), inconclusive: None };
        if sides.old_tests_stand() {
            // The iteration's own run is theirs.
            proof.tests.extend(open.tests.into_iter().map(|id| of_old(id, &earlier, &now)));
            return Ok((!proof.tests.is_empty()).then_some(proof));
        }
        if !self.may_run() || open.tests.is_empty() && !is_suspected {
            return Ok(None);
        }
        let asked = Question { now, earlier, turned, open: open.tests };
        if let Err(error) = self.run(asked, since, &changes, sides, &mut proof) {
            proof.inconclusive = Some(error.said());
        }
        proof.tests.truncate(TESTS);
        Ok(Some(proof))
    }

    fn may_run(&self) -> bool {
        may_run(self.config, self.offer)
    }

    /// What is open at `parent` that only such runs close.
    fn open(&self, points: &[Point], parent: Iteration) -> Result<Open> {
        let open = analysis::find(points, parent).into_iter().flat_map(|point| &point.open_findings);
        let open: Vec<&OpenFinding> = open.filter(|finding| is_open(finding)).collect();
        let tests = open.iter().flat_map(|finding| finding.alert.subjects()).cloned().collect();
        let Some(first) = open.iter().map(|finding| finding.since).min() else { return Ok(Open::default()) };
        let stored = unless_damaged(self.store.load(first))?;
        Ok(Open { since: stored.and_then(|stored| stored.record.proof).map(|proof| proof.since), tests })
    }

    fn has_fewer_tests(&self, since: &Point, before: Option<&TestCases>) -> bool {
        match (before, self.cases) {
            (Some(before), Some(now)) => !analysis::id_diff(before, now).gone.is_empty(),
            _ => {
                let counts = self.draft.metrics.test_count().zip(since.metrics.test_count());
                counts.is_some_and(|(now, before)| now < before)
            }
        }
    }

    /// Fills the proof.
    ///
    /// # Errors
    /// What keeps the runs from telling.
    fn run(
        &self,
        asked: Question,
        since: &Point,
        changes: &Changes,
        sides: Sides<'_>,
        proof: &mut TamperProof,
    ) -> Result<()> {
        let Question { now, earlier, turned, open } = asked;
        let command = Command::of(self)?;
        proof.command = Some(command.said());
        let copies = Copies { suspect: self, command, old_tree: since.tree, reports: &changes.reports, sides };
        let old_on_new = copies.run(Age::Old, Age::New)?;
        old_on_new.check("the old tests do not run on the new code", &now)?;
        // Where no code changed, they have run on the old code.
        let old_on_old = if copies.sides.has_code { Some(copies.run(Age::Old, Age::Old)?) } else { None };
        if let Some(run) = &old_on_old {
            run.check("the old tests do not run on the old code in a copy", &earlier)?;
        }
        let mut known = Known { copies, old_on_new, old_on_old, new_on_old: None, new_on_new: None, is_apart: None };
        let mut doubts = Vec::new();
        for id in turned {
            match known.of_turned(&id)? {
                Ok((old, new)) => proof.tests.push(ProvenTest {
                    id,
                    failed_before: true,
                    old_passes_on_new_code: Some(old),
                    new_passes_on_old_code: new,
                }),
                Err(doubt) => doubts.push(format!("{id}: {doubt}")),
            }
        }
        for id in known.hidden(&earlier, &now, &mut doubts)? {
            proof.tests.push(ProvenTest {
                failed_before: false,
                old_passes_on_new_code: Some(false),
                new_passes_on_old_code: known.new_on_old()?.fails(&id).map(|fails| !fails),
                id,
            });
        }
        for id in open.into_iter().filter(|id| known.old_on_new.passes(id) == Some(true)) {
            if !proof.tests.iter().any(|test| test.id == id) {
                proof.tests.push(of_old(id, &earlier, &known.old_on_new));
            }
        }
        proof.inconclusive = match doubts.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            [first, rest @ ..] => Some(format!("{first}, and {} more", rest.len())),
        };
        Ok(())
    }
}

/// What the old test's run on the new code tells by itself.
fn of_old(id: String, earlier: &Run, old_on_new: &Run) -> ProvenTest {
    ProvenTest {
        failed_before: earlier.fails(&id) == Some(true),
        old_passes_on_new_code: old_on_new.passes(&id),
        new_passes_on_old_code: None,
        id,
    }
}

/// What is open that only such runs close.
#[derive(Default)]
struct Open {
    /// The iteration whose tests were the old ones when the oldest of it was proven.
    since: Option<Iteration>,
    /// The tests that it is about.
    tests: Vec<String>,
}

/// What the runs are asked.
struct Question {
    /// The iteration's own run.
    now: Run,
    /// That of the iteration compared with.
    earlier: Run,
    /// Tests that failed then and do not now.
    turned: Vec<String>,
    open: Vec<String>,
}

/// Whether there is an edit that changes what tests tell.
fn is_suspicious(edits: &TestEdits) -> bool {
    let is_silent = |kind| matches!(kind, EditKind::FindingSuppressed | EditKind::CoverageExcluded);
    edits.edits.iter().any(|edit| !is_silent(edit.kind))
}

/// The runs so far, and those that only some tests need.
struct Known<'a> {
    copies: Copies<'a>,
    old_on_new: Run,
    /// Absent where no code changed: it is the same run.
    old_on_old: Option<Run>,
    new_on_old: Option<Run>,
    new_on_new: Option<Run>,
    /// Whether the tests read the code of the copy that they run in.
    is_apart: Option<bool>,
}

impl Known<'_> {
    /// Of a test that failed: whether it passes as it was on the new code, and as it is on the old; or why that is not known.
    fn of_turned(&mut self, id: &str) -> Result<std::result::Result<(bool, Option<bool>), &'static str>> {
        if self.old_on_old.as_ref().unwrap_or(&self.old_on_new).fails(id) != Some(true) {
            return Ok(Err("it failed, and does not in a copy"));
        }
        if self.old_on_new.passes(id) == Some(true) {
            return Ok(Ok((true, None)));
        }
        Ok(match self.new_on_old()?.fails(id) {
            // Code that is not the copy's own would be the new one, on which it passes anyway.
            Some(false) if self.old_on_old.is_some() && !self.is_apart()? => {
                Err("it does not run on the code of a copy")
            }
            Some(false) => Ok((false, Some(true))),
            Some(true) if self.old_on_old.is_some() && self.passes_in_a_copy(id)? => Ok((false, Some(false))),
            Some(true) => Err("it passed, and does not in a copy"),
            None => Err("nothing tells how it ends on the old code"),
        })
    }

    fn new_on_old(&mut self) -> Result<&Run> {
        self.copies.run_once(&mut self.new_on_old, Age::New, Age::Old)
    }

    fn passes_in_a_copy(&mut self, id: &str) -> Result<bool> {
        let run = self.copies.run_once(&mut self.new_on_new, Age::New, Age::New)?;
        Ok(run.fails(id) == Some(false))
    }

    /// The same tests end otherwise with other code, be it code that nothing can read.
    fn is_apart(&mut self) -> Result<bool> {
        if let Some(is_apart) = self.is_apart {
            return Ok(is_apart);
        }
        let differ = |one: &Run, other: &Run| one.counts() != other.counts() || one.failing() != other.failing();
        let is_apart = match (&self.old_on_old, &self.new_on_old) {
            (Some(old_on_old), _) if differ(old_on_old, &self.old_on_new) => true,
            (_, Some(new_on_old)) => differ(new_on_old, &self.copies.run_unreadable()?),
            _ => false,
        };
        self.is_apart = Some(is_apart);
        Ok(is_apart)
    }

    /// The tests that passed and, as they were, fail on the new code: twice, as a flake would not.
    fn hidden(&mut self, earlier: &Run, now: &Run, doubts: &mut Vec<String>) -> Result<Vec<String>> {
        let Some(failing) = self.old_on_new.failing() else {
            doubts.push("not all of the old tests that fail on the new code have names".to_owned());
            return Ok(Vec::new());
        };
        let passed = failing.into_iter().filter(|id| earlier.fails(id) != Some(true) && now.fails(id) != Some(true));
        let passes_there = |id: &String| self.old_on_old.as_ref().is_some_and(|run| run.passes(id) == Some(true));
        let (mut hidden, unlike): (Vec<String>, Vec<String>) = passed.partition(passes_there);
        doubts.extend(unlike.into_iter().map(|id| format!("{id}: it passed, and does not in a copy")));
        if !hidden.is_empty() {
            let again = self.copies.run(Age::Old, Age::New)?;
            hidden.retain(|id| again.fails(id) == Some(true));
        }
        let mut renamed = Vec::new();
        for id in &hidden {
            if self.old_on_new.asks_for_what_is_gone(id) && self.new_on_old()?.fails(id) != Some(false) {
                renamed.push(id.clone());
            }
        }
        hidden.retain(|id| !renamed.contains(id));
        doubts.extend(
            renamed.into_iter().map(|id| format!("{id}: as it was, it asks for what is gone, or has another name")),
        );
        Ok(hidden)
    }
}

/// What runtimes say of a name that is not there.
const GONE: [&str; 14] = [
    "AttributeError",
    "ImportError",
    "ModuleNotFoundError",
    "NameError",
    "ReferenceError",
    "NoMethodError",
    "ArgumentError",
    "has no attribute",
    "is not a function",
    "is not a constructor",
    "positional argument",
    "keyword argument",
    "undefined method",
    "Call to undefined",
];

/// Where they say it of a value that is nothing, the code is at fault.
const NOTHING: [&str; 4] = ["NoneType", "for nil", "NilClass", " null"];

/// How tests ended.
struct Run {
    metrics: Metrics,
    /// By test, where the reports name all.
    cases: Option<TestCases>,
    /// What tests failed with, as far as that is known where not all have names.
    messages: BTreeMap<String, String>,
}

impl Run {
    fn of(metrics: Metrics) -> Run {
        Run { metrics, cases: None, messages: BTreeMap::new() }
    }

    /// Whether a test fails because of a name that the code does not have, as it does where a language that is compiled would
    /// not have built it.
    fn asks_for_what_is_gone(&self, id: &str) -> bool {
        let named = self.cases.as_ref().and_then(|cases| cases.cases.get(id)?.message.as_deref());
        let message = named.or(self.messages.get(id).map(String::as_str)).unwrap_or_default();
        GONE.iter().any(|words| message.contains(words)) && !NOTHING.iter().any(|words| message.contains(words))
    }

    /// The tests that fail, where all of them are named.
    fn failing(&self) -> Option<Vec<String>> {
        if let Some(cases) = &self.cases {
            let bad = cases.cases.iter().filter(|(_, case)| case.outcome.is_bad());
            return Some(bad.map(|(id, _)| id.clone()).collect());
        }
        let failing = self.metrics.failing();
        (self.metrics.failures() == u64::try_from(failing.len()).ok()).then(|| failing.to_vec())
    }

    fn counts(&self) -> (Option<u64>, u64) {
        (self.metrics.test_count(), self.units_failed())
    }

    fn units_failed(&self) -> u64 {
        self.metrics.testing.as_ref().map_or(0, |testing| testing.collection_errors)
    }

    /// `None` where nothing tells. Of a test without a name, in a run that names all that fail, it is told by that.
    fn fails(&self, id: &str) -> Option<bool> {
        self.outcome(id).map(Outcome::is_bad)
    }

    /// As [`Run::fails`]; a test that is skipped does neither.
    fn passes(&self, id: &str) -> Option<bool> {
        self.outcome(id).map(|outcome| outcome == Outcome::Passed)
    }

    fn outcome(&self, id: &str) -> Option<Outcome> {
        let is_it = |other: &&String| spelling(other) == spelling(id);
        if let Some(cases) = &self.cases {
            return cases.outcome(id).or_else(|| cases.outcome(cases.cases.keys().find(is_it)?));
        }
        let failing = self.failing()?;
        match failing.iter().find(is_it) {
            Some(_) => Some(Outcome::Failed),
            None => self.ran().then_some(Outcome::Passed),
        }
    }

    /// Whether tests ran. A tool that does not count them tells that none failed.
    fn ran(&self) -> bool {
        self.metrics.test_count().map_or(self.metrics.failures().is_some(), |count| count > 0)
    }

    /// Whether as much of the suite runs as in the run of the work tree.
    ///
    /// # Errors
    /// If it does not: `what`.
    fn check(&self, what: &str, in_tree: &Run) -> Result<()> {
        match self.ran() && self.units_failed() <= in_tree.units_failed() {
            true => Ok(()),
            false => Err(Error::bad_input(what.to_owned())),
        }
    }
}

/// Whose tests, or whose code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    /// As at the iteration compared with.
    Old,
    /// As now.
    New,
}

/// What is run in each copy.
enum Command {
    /// A shell's line, at the copy's root.
    Line(String),
    /// The iteration's own command, in the folder below the copy's root where it ran.
    Own(Vec<String>, PathBuf),
}

impl Command {
    /// As it was asked for; else the iteration's own.
    fn of(suspect: &Suspect<'_>) -> Result<Command> {
        let Suspect { session, config, offer, .. } = suspect;
        if let Some(line) = offer.replay.as_ref().or(config.tamper.command.as_ref()) {
            return Ok(Command::Line(line.clone()));
        }
        let none = || Error::bad_input("no command is known: `--replay CMD` or tamper.command tells one");
        let argv = offer.command.as_ref().map(|command| command.argv.clone()).ok_or_else(none)?;
        let root = session.layout.root();
        let named = root.to_string_lossy();
        if argv.iter().any(|word| word.contains(&*named)) {
            return Err(Error::bad_input("the command names the work tree by its whole path, and not a copy"));
        }
        let folder = offer.folder.strip_prefix(root).unwrap_or(Path::new("")).to_path_buf();
        Ok(Command::Own(argv, folder))
    }

    fn said(&self) -> String {
        match self {
            Command::Line(line) => line.clone(),
            Command::Own(argv, _) => argv.join(" "),
        }
    }
}

/// The files that changed, by whose they are.
struct Sides<'a> {
    /// The tests'.
    of_tests: BTreeSet<&'a TreePath>,
    /// Both the code's and the tests'.
    of_both: Vec<Changed<'a>>,
    /// Code changed.
    has_code: bool,
}

impl<'a> Sides<'a> {
    fn of(changes: &'a Changes, edits: &TestEdits) -> Sides<'a> {
        let mut sides = Sides { of_tests: BTreeSet::new(), of_both: Vec::new(), has_code: edits.code_changed };
        for file in changes.files() {
            match belongs(&file, edits) {
                Belongs::ToTests => sides.of_tests.extend([file.path]),
                Belongs::ToBoth => sides.of_both.push(file),
                Belongs::ToCode => {}
            }
        }
        sides
    }

    /// Nothing changed that is the tests'.
    fn old_tests_stand(&self) -> bool {
        let is_same = |file: &Changed<'_>| {
            let (old, new) = (file.before.text(), file.now.text());
            with_tests_of(file.path, new, old) == new
        };
        self.of_tests.is_empty() && self.of_both.iter().all(is_same)
    }
}

/// Makes copies of the work tree, with the tests of one iteration and the code of another, and runs the tests there.
struct Copies<'a> {
    suspect: &'a Suspect<'a>,
    command: Command,
    old_tree: ObjectId,
    reports: &'a BTreeSet<TreePath>,
    sides: Sides<'a>,
}

impl Copies<'_> {
    /// The run that is kept, or that is made and kept now.
    fn run_once<'r>(&self, kept: &'r mut Option<Run>, tests: Age, code: Age) -> Result<&'r Run> {
        let run = match kept.take() {
            Some(run) => run,
            None => self.run(tests, code)?,
        };
        Ok(kept.insert(run))
    }

    fn run(&self, tests: Age, code: Age) -> Result<Run> {
        let what = match (tests, code) {
            (Age::Old, Age::New) => "old tests on new code",
            (Age::New, Age::Old) => "new tests on old code",
            (Age::Old, Age::Old) => "old tests on old code",
            (Age::New, Age::New) => "new tests on new code",
        };
        self.run_in_copy(what, tests, code, |_| Ok(()))
    }

    /// New tests, and code that nothing can read.
    fn run_unreadable(&self) -> Result<Run> {
        self.run_in_copy("new tests on code that cannot be read", Age::New, Age::Old, |copy| {
            for file in files(self.suspect.objects, &self.old_tree)? {
                let (path, _) = file?;
                let at = copy.join(OsStr::from_bytes(path.as_bytes()));
                let is_file = disk::metadata(&at)?.is_some_and(|meta| meta.is_file());
                if is_file && is_read_by_tests(&path.to_string()) {
                    disk::write_named(&at, UNREADABLE)?;
                }
            }
            Ok(())
        })
    }

    fn run_in_copy(&self, what: &str, tests: Age, code: Age, change: impl FnOnce(&Path) -> Result<()>) -> Result<Run> {
        let Suspect { session, config, offer, objects, .. } = self.suspect;
        let nobody = || Error::bug("nobody runs commands in copies");
        let (run, scratch) = offer.run.as_ref().zip(offer.scratch.as_ref()).ok_or_else(nobody)?;
        let folder = scratch()?;
        let copy = folder.path();
        let options = Options {
            paths: &[],
            into: Some(copy),
            dry_run: false,
            origin: None,
            capture: &config.capture,
            limits: &config.limits,
            now: session.now,
            wait: session.wait,
        };
        write_into(session.layout, objects, &self.tree(tests, code)?, copy, &options)?;
        for file in &self.sides.of_both {
            let of = |age| if age == Age::Old { file.before.text() } else { file.now.text() };
            if !of(code).is_empty() {
                let text = with_tests_of(file.path, of(code), of(tests));
                disk::write_named(&copy.join(OsStr::from_bytes(file.path.as_bytes())), text.as_bytes())?;
            }
        }
        change(copy)?;

        let layout = Layout::new(copy);
        let (words, folder) = match &self.command {
            Command::Line(line) => (["sh", "-c", line].map(str::to_owned).to_vec(), copy.to_path_buf()),
            Command::Own(argv, below) => (argv.clone(), copy.join(below)),
        };
        let Reran { command, console, since } = run(&words, Some(InCopy { layout: &layout, folder: &folder, what }))?;
        let is_in_copy = |path: &str| path != "-" && !Path::new(path).is_absolute();
        let again = Offer {
            reports: offer.reports.iter().filter(|asked| is_in_copy(&asked.path)).cloned().collect(),
            discover: true,
            folder,
            console: Some(console),
            command: Some(command),
            since,
            ..Offer::default()
        };
        let session = Session { layout: &layout, ..**session };
        let measured = measure(&session, config, &again, since, Earlier::default())?;
        match measured.faults.into_iter().next() {
            Some(fault) => Err(fault),
            None => {
                let Measurement { testing, cases, messages, .. } = measured.measurement;
                Ok(Run { cases, messages, ..Run::of(Metrics { testing, ..Metrics::default() }) })
            }
        }
    }

    /// The tree of `code`, and in it the tests of `tests`.
    fn tree(&self, tests: Age, code: Age) -> Result<Manifest> {
        let load = |age| {
            let root = if age == Age::Old { &self.old_tree } else { &self.suspect.draft.tree };
            Manifest::load(self.suspect.objects, root)
        };
        let mut tree = load(code)?;
        tree.retain(|path, _| !self.reports.contains(path));
        if tests == code {
            return Ok(tree);
        }
        tree.retain(|path, _| !self.sides.of_tests.contains(path));
        let other = load(tests)?;
        for path in &self.sides.of_tests {
            let mut at = Some((*path).clone());
            while let Some(path) = at {
                if let (None, Some(state)) = (tree.get(&path), other.get(&path)) {
                    tree.insert(path.clone(), *state);
                }
                at = path.parent();
            }
        }
        Ok(tree)
    }
}
