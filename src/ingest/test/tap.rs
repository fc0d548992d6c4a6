//! `tap`: the Test Anything Protocol, versions 12 to 14 (testanything.org). Subtests stand before the point that sums
//! them up, four columns further in, or after it between braces.
//!
//! It has no end of its own: the plan tells how many points to expect. Files are told in YAML by some tools alone.

use self::description::{Description, Early};
use self::lines::{Line, Point, partial_directive, read};
use super::text_report::{KILLED_HELP, is_foreign_line};
use super::{TestTally, meson_output};
use crate::error::{Error, Reject, Result};
use crate::ingest::console::begins_xml;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

mod description;
mod lines;
pub(in crate::ingest) mod stream;
#[cfg(test)]
mod tests;

/// TAP.
pub const FORMAT: Format = Format {
    name: "tap",
    kind: ReportKind::Test,
    about: "Test Anything Protocol",
    written_by: "node --test, node-tap, tape, ava, bats, prove, vitest, mocha, pgTAP",
    told_by: "\"TAP version\", or numbered \"ok\" and \"not ok\" lines with a plan",
    has_end: false,
    counting: "Each test point without a subtest is one test: ok passed, not ok failed, with a SKIP or TODO directive \
               skipped. A point with a subtest counts, as errored, only if it failed and nothing in the subtest did. \
               Points that the plan promises and that did not come are errored, those beyond it failed, and a plan \
               below more points than it promises is one errored; so is a bail-out without such, and a file that, as \
               prove says, is not there, came to no test or failed though its tests passed, and a program that, as \
               Test::More or Deno says, did. Without plan and bail-out it was cut short; gotestsum's 1..N is a plan, \
               of an unknown number. What was thrown in a test (node-tap, tape) is a point, and none in a verdict.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() || head.text().trim_start().starts_with('{') {
        return Sniff::No;
    }
    // It tells what programs printed.
    if head.text().trim_start().starts_with(meson_output::LOG) {
        return Sniff::No;
    }
    let (mut plan, mut points, mut bail) = (false, 0u64, false);
    // Mocha puts its comments above the plan.
    let first = head.lines().find(|line| !line.trim().is_empty() && !line.starts_with("# "));
    if first.is_some_and(|line| matches!(read(line), Line::Plan(0, 0))) {
        return Sniff::Sure("a plan of no tests".into());
    }
    for line in head.lines() {
        match read(line) {
            Line::Version => return Sniff::Sure("line \"TAP version\"".into()),
            Line::Plan(0, _) => plan = true,
            Line::Point(0, point) if point.number == Some(points + 1) => points += 1,
            Line::Bail(_) => bail = true,
            // A test of another tool can print TAP, and its report tells that.
            _ if points == 0 && (is_foreign_line(line) || begins_xml(line)) => return Sniff::No,
            _ => {}
        }
    }
    let plan_at_end = || head.last_lines().any(is_plan);
    match points > 0 {
        true if plan || bail || plan_at_end() => Sniff::Sure("a plan and numbered \"ok\" or \"not ok\" lines".into()),
        true => Sniff::Maybe("numbered \"ok\" or \"not ok\" lines".into()),
        // Points need no numbers.
        false if plan && is_plan_and_point(head) => Sniff::Maybe("a plan above \"ok\" or \"not ok\"".into()),
        false => Sniff::No,
    }
}

/// Whether the report begins with a plan and a point.
fn is_plan_and_point(head: &Head<'_>) -> bool {
    let mut lines = head.lines().filter(|line| !line.trim().is_empty()).map(read);
    matches!((lines.next(), lines.next()), (Some(Line::Plan(0, _)), Some(Line::Point(0, _))))
}

/// Whether the line is a numbered point.
pub(super) fn is_point(line: &str) -> bool {
    matches!(read(line), Line::Point(0, point) if point.number.is_some())
}

/// Whether the line is the plan of a whole run.
pub(super) fn is_plan(line: &str) -> bool {
    matches!(read(line), Line::Plan(0, _))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::new();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut last, mut is_cut) = (1, false);
    while let Some(line) = lines.next()? {
        last = line.number;
        reader.line(&line.text).map_err(|error| error.line(last))?;
        is_cut = !line.ended && !reader.is_whole(&line.text);
    }
    if is_cut {
        return Err(Error::report(Reject::Malformed, "TAP ends inside a line").line(last).help(KILLED_HELP));
    }
    reader.finish().map_err(|error| error.line(last))
}

/// A block of points with the same indentation.
#[derive(Default)]
struct Level {
    /// Begins the ids of its points.
    path: String,
    plan: Option<u64>,
    points: u64,
    /// Tests in it and further in, and whether one of them failed.
    leaves: u64,
    failed: bool,
    /// A point that is followed by its subtest, between braces.
    owner: Option<Point>,
    /// The name in the last `# Subtest: …`.
    subtest: Option<String>,
}

struct Reader {
    tally: TestTally,
    /// From the outermost, four columns each.
    levels: Vec<Level>,
    /// The point that may still be described.
    last: Option<(String, TestCase)>,
    last_indent: usize,
    /// What is told below it.
    told_of: Description,
    /// What was told above its point.
    early: Early,
    /// The column of the YAML block that is open.
    yaml: Option<usize>,
    bailed: bool,
    /// Why, the point above it says, as QUnit has it.
    is_bail_told: bool,
    seen: bool,
    /// Subtests stand between braces, one of which may be what a cut took from a point.
    braced: bool,
    /// How many points there are, as a comment at the end tells.
    told: Option<u64>,
    sums: Sums,
    beside: Beside,
    /// The plan is `1..N`: gotestsum prints it before the first test has run, and never another.
    is_open: bool,
    /// A run with such a plan ended, or was killed.
    is_end_unknown: bool,
    /// Perl's `Test::More` or Deno said that the program failed beside its tests.
    has_exited: bool,
    prove: Prove,
}

/// Programs that write at the same time, as where scripts run side by side: the second begins before the first has told its plan.
/// Who wrote a point cannot be told, but all of their points together fulfil all of their plans.
#[derive(Debug, Default)]
struct Beside {
    is_below_version: bool,
    /// How many there are, if more than one, and how many of them have told their plan.
    runs: u32,
    plans: u32,
}

impl Beside {
    /// Takes a line before it is read. `is_open`: another that begins here does so before a plan was told.
    fn line(&mut self, line: &Line<'_>, text: &str, is_open: bool) {
        if matches!(line, Line::Version) && !text.starts_with(' ') {
            let are_two = std::mem::replace(&mut self.is_below_version, true) || is_open;
            self.runs = match self.runs {
                0 if are_two => 2,
                0 => 0,
                runs => runs.saturating_add(1),
            };
        } else if !text.trim().is_empty() && !text.starts_with("> ") {
            // Between them npm may name the other's script.
            self.is_below_version = false;
        }
        if self.are_several() && matches!(line, Line::Plan(0, _)) {
            self.plans = self.plans.saturating_add(1);
        }
    }

    fn are_several(&self) -> bool {
        self.runs > 0
    }

    fn is_complete(&self) -> bool {
        self.plans >= self.runs
    }
}

/// What comments at the end sum up: `# pass 4`, `# ⚠️ skip 1`, `# fail 3`. Supertape shows only the points that failed.
#[derive(Debug, Default)]
struct Sums {
    /// Those skipped are among them.
    passed: u64,
    skipped: u64,
    failed: u64,
}

impl Sums {
    fn line(&mut self, text: &str) {
        let Some(comment) = text.strip_prefix("# ") else { return };
        let Some((word, number)) = comment.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).split_once(' ')
        else {
            return;
        };
        let slot = match word {
            "pass" => &mut self.passed,
            "skip" => &mut self.skipped,
            "fail" => &mut self.failed,
            _ => return,
        };
        if let Some(number) = whole(number.trim()) {
            *slot = number;
        }
    }

    /// Points that passed and that were skipped, where all that are shown failed, and the others are in the sums.
    fn unshown(&self, level: &Level) -> Option<[u64; 2]> {
        let is_so = level.points == self.failed && self.passed.checked_add(self.failed) == level.plan;
        Some([self.passed.checked_sub(self.skipped)?, self.skipped]).filter(|_| is_so)
    }
}

/// The file in `t/cart.t ..`, which `prove -v` prints above its points.
fn file_of_prove(text: &str) -> Option<&str> {
    let (file, dots) = text.trim_end().split_once(' ')?;
    let dots = dots.trim_start();
    (file.contains('.') && dots.len() > 1 && dots.bytes().all(|byte| byte == b'.')).then_some(file)
}

/// The file in `Cannot detect source of 't/no.t'! at …`: prove ends there, and its summary does not tell of that.
pub(super) fn undetected(text: &str) -> Option<&str> {
    text.strip_prefix("Cannot detect source of '")?.split_once("'! at ").map(|(file, _)| file)
}

/// What `prove -v` says of a file below its points.
#[derive(Default)]
struct Prove {
    /// The file that runs, until it failed by itself.
    file: Option<String>,
    /// Its own summary has not come yet.
    is_open: bool,
    /// It came: what a file lacks, prove has told.
    is_done: bool,
}

impl Prove {
    /// Whether it is prove that tells what a file without a plan lacks: below all files, or at once where no test ran.
    fn tells(&self, level: &Level) -> bool {
        self.is_done || (self.is_open && level.points == 0)
    }

    /// The file, if it failed by itself: it is not there, came to no test, or failed though its tests passed.
    fn line(&mut self, text: &str, has_failed: bool) -> Option<String> {
        let text = text.trim_end();
        if let Some(file) = undetected(text) {
            return Some(file.to_owned());
        }
        if let Some(file) = file_of_prove(text) {
            *self = Prove { file: Some(file.to_owned()), is_open: true, ..Prove::default() };
            return None;
        }
        // It says so only of a file that failed, perhaps for points beyond the plan.
        let passed = !has_failed && text.starts_with("All ") && text.ends_with(" subtests passed");
        self.is_done |= self.is_open && text.starts_with("Files=");
        self.is_open &= !self.is_done;
        if passed || text == "No subtests run" { self.file.take() } else { None }
    }
}

impl Reader {
    fn new() -> Reader {
        Reader {
            tally: TestTally::new(false),
            levels: vec![Level::default()],
            last: None,
            last_indent: 0,
            told_of: Description::default(),
            early: Early::default(),
            yaml: None,
            bailed: false,
            is_bail_told: false,
            seen: false,
            braced: false,
            told: None,
            sums: Sums::default(),
            beside: Beside::default(),
            is_open: false,
            is_end_unknown: false,
            has_exited: false,
            prove: Prove::default(),
        }
    }

    fn line(&mut self, text: &str) -> Result<()> {
        let indent = text.len() - text.trim_start_matches(' ').len();
        if self.in_yaml(text, indent) {
            return Ok(());
        }
        if let Some(told) = text.strip_prefix("# tests ") {
            self.told = told.trim().parse().ok();
        }
        self.sums.line(text);
        let line = read(text);
        let has_begun = |level: &Level| level.points > 0 || level.subtest.is_some();
        let is_open = self.levels.first().is_some_and(|level| has_begun(level) && level.plan.is_none());
        self.beside.line(&line, text, is_open && self.told.is_none() && self.prove.file.is_none());
        match (&line, &mut self.last) {
            (Line::Other, last) => {
                let last = last.as_mut().filter(|(_, case)| case.outcome == Outcome::Failed);
                let further_in = indent > self.last_indent;
                if !last.is_some_and(|(id, case)| self.told_of.prose(text, further_in, (id, case))) {
                    self.early.line(text);
                }
            }
            (Line::Yaml(_), _) => {}
            _ => self.told_of.end_prose(),
        }
        match line {
            Line::Version => self.version(indent),
            Line::Plan(indent, count) => self.plan(indent, count),
            Line::OpenPlan(indent) => {
                (self.seen, self.is_open) = (true, self.is_open || indent == 0);
                Ok(())
            }
            Line::Point(indent, point) => self.point(indent, point),
            Line::Open(indent) => {
                self.owns(indent);
                Ok(())
            }
            Line::Close(indent) => self.close_above(indent).map(|_| ()),
            Line::Subtest(indent, name) => {
                // Told before the block at the parent's indentation, or first in it.
                let is_inner = indent / 4 >= self.levels.len();
                if is_inner && self.levels.last().is_some_and(|level| level.subtest.is_some()) {
                    self.open(self.levels.len());
                }
                let level = if is_inner { self.levels.last_mut() } else { self.levels.get_mut(indent / 4) };
                if let Some(level) = level {
                    level.subtest = Some(printable(name, super::LONGEST_ID));
                }
                Ok(())
            }
            Line::Bail(reason) => {
                (self.seen, self.bailed) = (true, true);
                let has_failed = self.last.as_ref().is_some_and(|(_, case)| case.outcome == Outcome::Failed);
                self.is_bail_told = has_failed && self.told_of.error().as_deref() == Some(reason);
                Ok(())
            }
            Line::Yaml(indent) if self.last.is_some() && indent > self.last_indent => {
                self.yaml = Some(indent);
                Ok(())
            }
            Line::Yaml(_) | Line::Other => {
                if file_of_prove(text).is_some() {
                    // What the program said above all points, prove says below them.
                    self.has_exited &= self.levels.first().is_some_and(|level| level.points > 0);
                    self.end_file()?;
                }
                // prove says that, too. Deno's files that did not load are in no point.
                let says_so =
                    || text.starts_with("# Looks like your test exited with ") || text == "error: Test failed";
                self.has_exited |= !self.prove.is_open && says_so();
                let has_failed = self.levels.first().is_some_and(|level| level.failed);
                if let Some(file) = self.prove.line(text, has_failed) {
                    self.tally.unit_failure(&file);
                }
                Ok(())
            }
        }
    }

    /// Takes a line of a YAML block. `false`: it is none.
    fn in_yaml(&mut self, text: &str, indent: usize) -> bool {
        let Some(yaml) = self.yaml else { return false };
        let content = text.trim();
        if content.is_empty() {
            return true;
        }
        if indent < yaml || (indent == yaml && content == "...") {
            self.yaml = None;
            return content == "...";
        }
        if let Some((_, case)) = &mut self.last {
            self.told_of.yaml(content, indent, case);
        }
        true
    }

    /// A second run in the same stream.
    fn version(&mut self, indent: usize) -> Result<()> {
        let began = self.levels.first().is_some_and(|level| level.points > 0 || level.plan.is_some());
        self.seen = true;
        if indent == 0 && began && !self.beside.are_several() { self.end_run() } else { Ok(()) }
    }

    fn plan(&mut self, indent: usize, count: u64) -> Result<()> {
        let Some(depth) = self.depth(indent) else { return Ok(()) };
        self.seen = true;
        if depth == 0 && self.beside.are_several() {
            let level = self.levels.first_mut();
            let plan = level.map(|level| &mut level.plan);
            return plan.map_or(Ok(()), |plan| add(plan.unwrap_or(0), count).map(|sum| *plan = Some(sum)));
        }
        if depth == 0 && self.levels.first().is_some_and(|level| level.plan.is_some()) {
            self.close_above(0)?;
            self.end_run()?;
        }
        self.open(depth);
        let Some(level) = self.levels.get_mut(depth) else { return Ok(()) };
        level.plan = Some(count);
        if level.points > count {
            level.failed = true;
            self.tally.unit_failure("(more tests than planned)");
        }
        Ok(())
    }

    /// How many levels an indentation is in; `None` for what is only output.
    fn depth(&self, indent: usize) -> Option<usize> {
        let depth = indent / 4;
        (indent.is_multiple_of(4) && depth <= self.levels.len()).then_some(depth)
    }

    /// Makes sure that there is a level so deep.
    fn open(&mut self, depth: usize) {
        if depth < self.levels.len() {
            return;
        }
        let name = self.levels.last_mut().and_then(|level| {
            let braced = level.owner.as_ref().map(|owner| owner.name.clone());
            braced.or_else(|| level.subtest.take())
        });
        let outer = self.levels.last().map(|level| level.path.as_str()).unwrap_or_default();
        let path = match (outer.is_empty(), name.filter(|name| !name.is_empty())) {
            (_, None) => outer.to_owned(),
            (true, Some(name)) => name,
            (false, Some(name)) => format!("{outer}::{name}"),
        };
        self.levels.push(Level { path, ..Level::default() });
    }

    fn point(&mut self, indent: usize, mut point: Point) -> Result<()> {
        let Some(depth) = self.depth(indent) else { return Ok(()) };
        self.seen = true;
        self.flush();
        let inner = self.close_above(indent)?;
        let are_mingled = depth == 0 && self.beside.are_several();
        if depth == 0 && !are_mingled && self.is_after_the_plan(&point) {
            return Ok(());
        }
        if depth == 0 && !are_mingled && point.number == Some(1) && self.is_complete() {
            self.end_run()?;
        }
        self.open(depth);
        self.last_indent = indent;
        let Some(level) = self.levels.get_mut(depth) else { return Ok(()) };
        level.points += 1;
        level.subtest = None;
        let number = point.number.unwrap_or(level.points);
        let is_beyond = !are_mingled && level.plan.is_some_and(|plan| number > plan);
        if point.outcome == Outcome::Passed && is_beyond {
            point.outcome = Outcome::Failed;
        }
        if point.opens {
            self.braced = true;
            level.owner = Some(point);
            return Ok(());
        }
        self.settle(depth, point, inner)
    }

    /// The last point, which was counted, has a subtest: it counts as that does.
    fn owns(&mut self, indent: usize) {
        let Some(level) = self.levels.get_mut(indent / 4).filter(|_| indent == self.last_indent) else { return };
        let Some((id, TestCase { outcome, duration_ms, .. })) = self.last.take() else { return };
        self.tally.uncount(outcome);
        level.leaves = level.leaves.saturating_sub(1);
        let path = format!("{}::", level.path);
        let name = id.strip_prefix(&path).unwrap_or(&id).to_owned();
        level.owner = Some(Point { number: None, name, outcome, duration_ms, opens: true });
        self.braced = true;
    }

    /// Whether the plan is known and all of it came.
    fn is_complete(&self) -> bool {
        self.levels.first().is_some_and(|level| level.plan.is_some_and(|plan| level.points >= plan))
    }

    /// `prove -v` ends each file's points with a bare `ok` or `not ok` of its own.
    fn is_after_the_plan(&self, point: &Point) -> bool {
        point.number.is_none() && point.name.is_empty() && self.is_complete()
    }

    /// Ends all levels further in than `indent`, and settles the point there that owns them. What they held.
    fn close_above(&mut self, indent: usize) -> Result<Option<Level>> {
        let depth = indent / 4;
        let mut inner = None;
        while self.levels.len() > depth + 1 {
            self.flush();
            let Some(level) = self.end_level()? else { break };
            let at = self.levels.len().saturating_sub(1);
            inner = Some(level);
            if let Some(owner) = self.levels.last_mut().and_then(|level| level.owner.take()) {
                self.settle(at, owner, inner.take())?;
            } else if at > depth {
                // Points without the one that sums them up: what failed in them is known to have failed.
                self.merge(at, inner.take());
            }
        }
        if let Some(owner) = self.levels.get_mut(depth).and_then(|level| level.owner.take()) {
            self.settle(depth, owner, None)?;
        }
        Ok(inner)
    }

    /// Ends the innermost level: what its plan promised and did not come is errored, unless the sums tell of it.
    fn end_level(&mut self) -> Result<Option<Level>> {
        let Some(mut level) = self.levels.pop() else { return Ok(None) };
        let missing = level.plan.unwrap_or(0).saturating_sub(level.points);
        let sums = if self.levels.is_empty() { std::mem::take(&mut self.sums) } else { Sums::default() };
        if missing > 0 {
            let unshown = sums.unshown(&level).filter(|unshown| unshown.iter().sum::<u64>() == missing);
            if let Some([passed, skipped]) = unshown {
                self.tally.count(Outcome::Passed, passed)?;
                self.tally.count(Outcome::Skipped, skipped)?;
            } else {
                self.tally.count(Outcome::Errored, missing)?;
                level.failed = true;
            }
            self.tally.details.dropped = self.tally.details.dropped.saturating_add(missing);
            level.leaves = level.leaves.saturating_add(missing);
        }
        Ok(Some(level))
    }

    fn merge(&mut self, depth: usize, inner: Option<Level>) {
        if let (Some(level), Some(inner)) = (self.levels.get_mut(depth), inner) {
            level.leaves = level.leaves.saturating_add(inner.leaves);
            level.failed |= inner.failed;
        }
    }

    /// Counts a point of the level `depth` whose subtest is `inner`.
    fn settle(&mut self, depth: usize, point: Point, inner: Option<Level>) -> Result<()> {
        let path = self.levels.get(depth).map(|level| level.path.clone()).unwrap_or_default();
        let name = if point.name.is_empty() { format!("({})", point.number.unwrap_or(0)) } else { point.name };
        let failed = point.outcome == Outcome::Failed;
        let told = if failed { self.early.take(&name, self.prove.file.as_deref()) } else { None };
        let (told_of, told) = told.unwrap_or_else(|| (Description::default(), TestCase::new(point.outcome)));
        let id = if path.is_empty() { name } else { format!("{path}::{name}") };
        let mut counted = inner.unwrap_or_default();
        if counted.leaves == 0 {
            self.tally.count(point.outcome, 1)?;
            counted.leaves = 1;
            let case = TestCase { duration_ms: point.duration_ms, ..told };
            (self.last, self.told_of) = (Some((id, case)), told_of);
        } else if failed && !counted.failed {
            self.tally.unit_failure(&id);
        }
        counted.failed |= failed;
        self.merge(depth, Some(counted));
        Ok(())
    }

    /// Keeps the last test, which nothing more is said about.
    fn flush(&mut self) {
        if let Some((id, mut case)) = self.last.take() {
            let told_of = std::mem::take(&mut self.told_of);
            let is_thrown = told_of.is_thrown;
            told_of.finish(&mut case);
            self.tally.keep(&id, case);
            if is_thrown {
                self.tally.thrown(&id);
            }
        }
    }

    /// Whether a line after the last point is still of it: what describes that point, and the comments at the end.
    fn goes_on(&self, text: &str) -> bool {
        let is_open = self.levels.len() > 1 || self.levels.first().is_some_and(|level| level.owner.is_some());
        let is_inner = text.starts_with(' ') && (is_open || self.yaml.is_some() || text.trim() == "---");
        is_inner || text.starts_with(['#', '{', '}'])
    }

    /// Whether a last line without a line end is all of it: the point with the plan's number, or what fulfils the plan.
    fn is_whole(&self, text: &str) -> bool {
        let level = self.levels.first();
        let (points, plan) = level.map_or((0, None), |level| (level.points, level.plan));
        let in_subtest = self.levels.len() > 1 || level.is_some_and(|level| level.owner.is_some());
        match read(text) {
            Line::Bail(_) => true,
            _ if in_subtest || self.prove.is_open => false,
            Line::Plan(0, count) => points == count,
            Line::Point(0, point) => {
                let is_last = point.number.map_or(plan == Some(points), |number| Some(number) == plan);
                is_last && !self.braced && !partial_directive(text)
            }
            // Below the plan, or the sum of what has none, comments come.
            _ => plan.or(self.told.filter(|_| text.starts_with("# "))).is_some_and(|plan| points >= plan),
        }
    }

    /// Ends the points of the file before another of `prove -v`, which tells itself if they have no plan.
    fn end_file(&mut self) -> Result<()> {
        self.close_above(0)?;
        self.flush();
        self.end_level()?;
        self.levels.push(Level::default());
        Ok(())
    }

    /// Ends one run of several in a stream, or the only one.
    fn end_run(&mut self) -> Result<()> {
        self.close_above(0)?;
        self.flush();
        let level = self.end_level()?.unwrap_or_default();
        self.levels.push(Level::default());
        let beside = std::mem::take(&mut self.beside);
        if !beside.is_complete() || beside.are_several() && level.plan.is_some_and(|plan| level.points > plan) {
            let why = "TAP of several programs that write at the same time, not all of which came to their end";
            return Err(Error::report(Reject::Malformed, why).help(KILLED_HELP));
        }
        let missing = level.plan.unwrap_or(0) > level.points;
        let is_open = std::mem::take(&mut self.is_open) && level.plan.is_none();
        if std::mem::take(&mut self.has_exited) && !level.failed {
            self.tally.unit_failure("(the program that ran the tests)");
        }
        if std::mem::take(&mut self.bailed) {
            if !missing && !self.is_bail_told {
                self.tally.unit_failure("Bail out!");
            }
        } else if is_open {
            self.is_end_unknown = true;
        } else if level.plan.is_none() && !self.prove.tells(&level) && self.told.take() != Some(level.points) {
            let why = format!("TAP ends after {} points without a plan", level.points);
            return Err(Error::report(Reject::Malformed, why).help(KILLED_HELP));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Parsed> {
        if !self.seen {
            return Err(Error::report(Reject::NotThisFormat, "not TAP: no plan and no test point is in it"));
        }
        self.end_run()?;
        let mut parsed = self.tally.finish(&FORMAT)?;
        if self.is_end_unknown {
            parsed.warnings.push("the plan 1..N tells no number: whether every test came is unknown".into());
        }
        Ok(parsed)
    }
}
