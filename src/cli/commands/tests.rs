//! `tests`: the ledger of tests. Which iteration broke a test, what changed in it, and which tests flake.

use std::collections::{BTreeMap, HashMap};

use crate::analysis::ledger::{FailingAlone, Ledger};
use crate::cli::answers::{FileDifference, TestCounts, TestEvent, TestHistory, TestLine, Tests, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{TestLedger, Unnamed, change_name, changed_files, changed_in, failing_of, test_ledger, tests_of};
use crate::error::{Error, Result};
use crate::model::cases::{Outcome, TestCase, TestCases};
use crate::model::ids::{Iteration, LoopId};
use crate::model::ledger::TestStanding;
use crate::model::reruns::Runs;
use crate::report::terminal::{self, HistoryView, TestRow, TestsView};
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::Change;
use crate::store::Store;

/// Ids that an error names.
const NAMED: usize = 5;

/// What is asked for.
pub struct Asked {
    pub flaky: bool,
    pub broken: bool,
    pub history: Option<String>,
}

pub fn run(context: &Context, choice: &LoopChoice, asked: &Asked) -> Result<Exit> {
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let found = test_ledger(&context.layout, &store)?;
    context.say_left_out(&found.damaged);
    let ledger = Ledger::new(&found.points, &found.frames);
    let mut files =
        Files { store: &store, objects: Objects::open(&context.layout)?, found: &found, changes: BTreeMap::new() };
    if let Some(failing) = ledger.failing_alone().filter(|_| asked.history.is_none() && !asked.flaky) {
        list_failing(context, &failing, &mut files)?;
        return Ok(Exit::Done);
    }
    let newest = ledger.newest().ok_or_else(|| {
        Error::bad_input(format!("no report of loop {} names its tests", store.id()))
            .help("`highwater list formats` tells which formats do")
    })?;
    match &asked.history {
        Some(part) => {
            let id = one_id(&ledger, part)?;
            history(context, store.id(), &ledger, newest, &id, &mut files)?;
        }
        None => list(context, store.id(), &ledger, newest, asked, &mut files)?,
    }
    Ok(Exit::Done)
}

/// What each iteration changed, read once.
struct Files<'a> {
    store: &'a Store,
    objects: Objects,
    found: &'a TestLedger,
    changes: BTreeMap<Iteration, Vec<Change>>,
}

impl Files<'_> {
    fn of(&mut self, iteration: Iteration) -> Result<&[Change]> {
        if !self.changes.contains_key(&iteration) {
            let changes = changed_in(self.store, &self.objects, &self.found.points, iteration)?;
            self.changes.insert(iteration, changes);
        }
        Ok(self.changes.get(&iteration).map_or(&[], Vec::as_slice))
    }

    fn answer(&mut self, iteration: Option<Iteration>) -> Result<Vec<FileDifference>> {
        let Some(iteration) = iteration else { return Ok(Vec::new()) };
        let difference =
            |change: &Change| FileDifference { path: change.path.clone(), change: change_name(change).to_owned() };
        Ok(self.of(iteration)?.iter().map(difference).collect())
    }

    fn screen(&mut self, iteration: Option<Iteration>) -> Result<Vec<(char, String)>> {
        iteration.map_or(Ok(Vec::new()), |iteration| Ok(changed_files(self.of(iteration)?)))
    }
}

/// The one test that is meant: by its whole id, or by a part that no other has.
fn one_id(ledger: &Ledger<'_>, part: &str) -> Result<String> {
    let mut like = ledger.ids_like(part);
    if like.is_empty() {
        like = in_junits_words(part).map(|id| ledger.ids_like(&id)).unwrap_or_default();
    }
    match like.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Error::bad_input(format!("no test of this loop is called {part}"))
            .help("`highwater tests --jsonl` lists those that broke or flake; a part of a name will do")),
        _ => {
            let names: Vec<&str> = like.iter().take(NAMED).map(String::as_str).collect();
            let more = like.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            Err(Error::bad_input(format!("{} tests have {part} in their name", like.len()))
                .because(format!("{}{more}", names.join(", ")))
                .help("name one of them whole"))
        }
    }
}

/// pytest prints `tests/test_a.py::TestB::test_x` and writes `tests.test_a.TestB::test_x` into its JUnit file.
fn in_junits_words(id: &str) -> Option<String> {
    let (module, rest) = id.split_once(".py::")?;
    let module = module.replace('/', ".");
    // The brackets of a parameter may hold anything.
    let names = rest.split_once('[').map_or(rest, |(names, _)| names);
    match names.rfind("::") {
        Some(at) => {
            let (classes, name) = rest.split_at_checked(at)?;
            Some(format!("{module}.{}{name}", classes.replace("::", ".")))
        }
        None => Some(format!("{module}::{rest}")),
    }
}

fn list(
    context: &Context,
    loop_id: &LoopId,
    ledger: &Ledger<'_>,
    newest: Iteration,
    asked: &Asked,
    files: &mut Files<'_>,
) -> Result<()> {
    let standings = ledger.standings(newest);
    let flaking = ledger.flaking();
    let all = !asked.flaky && !asked.broken;
    let mut broken: Vec<(&String, &TestStanding)> =
        standings.iter().filter(|(_, standing)| standing.bad_since.is_some() && (all || asked.broken)).collect();
    broken.sort_by_key(|(id, standing)| (std::cmp::Reverse(standing.bad_since), *id));
    let flaky = || flaking.iter().filter(|_| all || asked.flaky);
    let counts = counts(&standings);
    let is_told = !broken.is_empty() || flaky().next().is_some();
    let cases = match is_told {
        true => tests_of(&context.layout, &files.objects, &files.found.points, newest)?,
        false => TestCases::default(),
    };
    if !context.json() {
        let mut rows = Vec::new();
        for (id, standing) in broken {
            // A test that never passed was not broken by the iteration that first ran it.
            let broke_in = standing.bad_since.filter(|_| standing.is_broken());
            rows.push(TestRow { id, standing: *standing, case: cases.cases.get(id), files: files.screen(broke_in)? });
        }
        let flaky: Vec<_> = flaky().collect();
        let view = TestsView {
            loop_id,
            iteration: newest,
            passed: counts.passed,
            failed: counts.failed.unwrap_or_default().saturating_add(counts.errored.unwrap_or_default()),
            skipped: counts.skipped,
            all_named: true,
            broken: (all || asked.broken).then_some(&rows),
            flaky: (all || asked.flaky).then_some(&flaky),
        };
        output::out(&terminal::tests(&view, context.screen()));
        return Ok(());
    }
    let mut lines: BTreeMap<&String, TestLine> = BTreeMap::new();
    for (id, standing) in broken {
        let broke_in = standing.bad_since.filter(|_| standing.is_broken());
        let line = lines.entry(id).or_insert_with(|| line(id, Some(standing)));
        line.files = files.answer(broke_in)?;
    }
    for (id, found) in flaky() {
        let line = lines.entry(id).or_insert_with(|| line(id, standings.get(id)));
        (line.same_tree, line.flaked_in) = (found.runs, found.iterations.clone());
    }
    for (id, line) in &mut lines {
        if let Some(case) = cases.cases.get(*id).filter(|case| case.outcome.is_bad()) {
            explain(line, case);
        }
    }
    let tests: Vec<TestLine> = lines.into_values().collect();
    answer(context, loop_id, newest, counts, tests)
}

fn answer(
    context: &Context,
    loop_id: &LoopId,
    iteration: Iteration,
    counts: TestCounts,
    tests: Vec<TestLine>,
) -> Result<()> {
    if context.jsonl() {
        return tests.iter().try_for_each(output::json);
    }
    output::json(&Tests { schema_version: VERSION, loop_id: loop_id.clone(), iteration, counts, tests })
}

fn line(id: &str, standing: Option<&TestStanding>) -> TestLine {
    TestLine {
        id: id.to_owned(),
        outcome: standing.map(|standing| standing.outcome),
        failing_since: standing.and_then(|standing| standing.bad_since),
        last_passed: standing.and_then(|standing| standing.last_passed),
        file: None,
        line: None,
        message: None,
        files: Vec::new(),
        same_tree: Runs::default(),
        flaked_in: Vec::new(),
    }
}

/// Where it fails and why.
fn explain(line: &mut TestLine, case: &TestCase) {
    (line.file, line.line, line.message) = (case.file.clone(), case.line, case.message.clone());
}

fn counts(standings: &HashMap<String, TestStanding>) -> TestCounts {
    let of = |outcome| {
        let count = standings.values().filter(|standing| standing.outcome == outcome).count();
        u64::try_from(count).ok()
    };
    TestCounts {
        passed: of(Outcome::Passed),
        failed: of(Outcome::Failed),
        errored: of(Outcome::Errored),
        skipped: of(Outcome::Skipped),
    }
}

/// The tests that fail, where nothing is known of the others but their number. Earlier iterations may have named them.
fn list_failing(context: &Context, failing: &FailingAlone<'_>, files: &mut Files<'_>) -> Result<()> {
    let FailingAlone { point, tests } = failing;
    let cases = failing_of(&context.layout, files.store, &files.store.load(point.iteration)?.record);
    let testing = point.metrics.testing.as_ref();
    let counts = testing.map_or_else(TestCounts::default, |testing| TestCounts {
        passed: testing.tests_passed,
        failed: testing.tests_failed,
        errored: testing.tests_errored,
        skipped: testing.tests_skipped,
    });
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for (id, standing) in tests {
        let case = cases.cases.get(*id);
        let broke_in = standing.bad_since.filter(|_| standing.is_broken());
        if context.json() {
            let mut line = TestLine { files: files.answer(broke_in)?, ..line(id, Some(standing)) };
            line.outcome = case.map(|case| case.outcome);
            case.iter().for_each(|case| explain(&mut line, case));
            lines.push(line);
        } else {
            let standing = TestStanding { outcome: case.map_or(standing.outcome, |case| case.outcome), ..*standing };
            rows.push(TestRow { id, standing, case, files: files.screen(broke_in)? });
        }
    }
    if context.json() {
        return answer(context, files.store.id(), point.iteration, counts, lines);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.standing.bad_since));
    let view = TestsView {
        loop_id: files.store.id(),
        iteration: point.iteration,
        passed: counts.passed,
        failed: point.metrics.failures().unwrap_or_default(),
        skipped: counts.skipped,
        all_named: false,
        broken: Some(&rows),
        flaky: None,
    };
    output::out(&terminal::tests(&view, context.screen()));
    Ok(())
}

fn history(
    context: &Context,
    loop_id: &LoopId,
    ledger: &Ledger<'_>,
    newest: Iteration,
    id: &str,
    files: &mut Files<'_>,
) -> Result<()> {
    let told = ledger.history(id);
    if !context.json() {
        let mut changed = Vec::new();
        for event in &told.events {
            changed.push(files.screen(Some(event.iteration))?);
        }
        let view = HistoryView { loop_id, history: &told, files: &changed };
        output::out(&terminal::test_history(&view, context.screen()));
        return Ok(());
    }
    let mut events = Vec::new();
    for event in &told.events {
        events.push(TestEvent {
            iteration: event.iteration,
            id: event.id.clone(),
            was: event.was,
            now: event.now,
            files: files.answer(Some(event.iteration))?,
        });
    }
    if context.jsonl() {
        return events.iter().try_for_each(output::json);
    }
    let standings = ledger.standings(newest);
    let standing = told.ids.first().and_then(|id| standings.get(id));
    output::json(&TestHistory {
        schema_version: VERSION,
        loop_id: loop_id.clone(),
        id: told.ids.first().cloned().unwrap_or_else(|| id.to_owned()),
        earlier_ids: told.ids.iter().skip(1).cloned().collect(),
        outcome: standing.map(|standing| standing.outcome),
        failing_since: standing.and_then(|standing| standing.bad_since),
        last_passed: standing.and_then(|standing| standing.last_passed),
        same_tree: told.on_one_tree.runs,
        flaked_in: told.on_one_tree.iterations,
        events,
    })
}
