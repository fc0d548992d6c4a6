//! TAP in a stream in which other tools speak too. It begins with its version, or with a plan above the first point; its
//! points are numbered, so that a point out of turn was printed by a test. Of points above their plan, as Mocha and Perl's
//! `done_testing` have them, nobody knows that they are a run before it has ended: others are heard meanwhile, and
//! another run of tests is believed rather.

use std::collections::BTreeSet;

use super::lines::{Line, Point, read};
use super::{Reader, file_of_prove, undetected};
use crate::error::Result;
use crate::ingest::test::meson_output;
use crate::ingest::test::runs::{Run, Runs};
use crate::model::fixtures::around;

/// Lines of `prove -v` that are held before its first plan.
const HELD: usize = 5_000;
/// The comment with which Node goes on below its tests.
const COVERAGE_OF_NODE: &str = "# start of coverage report";

/// One run.
struct Open {
    reader: Reader,
    /// Outermost points, and how many the plan tells.
    points: u64,
    plan: Option<u64>,
    /// Hooks of Mocha's that failed: each of them has the number of the test after it.
    hooks: u64,
    bailed: bool,
    /// The last outermost test that was announced. Where one of several files fails, Node numbers its point by the file.
    subtest: Option<String>,
    /// It announces its tests, as Node does, which puts what a test prints behind a sign.
    is_nodes: bool,
    /// `prove -v` told it, and whether its own summary came: only that ends it, whatever becomes of a file.
    prove: Option<bool>,
}

impl Open {
    fn new() -> Open {
        Open {
            reader: Reader::new(),
            points: 0,
            plan: None,
            hooks: 0,
            bailed: false,
            subtest: None,
            is_nodes: false,
            prove: None,
        }
    }

    fn is_complete(&self) -> bool {
        if let Some(has_ended) = self.prove {
            return has_ended;
        }
        if self.reader.beside.are_several() {
            return self.reader.beside.is_complete() && self.reader.is_complete();
        }
        self.bailed || self.plan.is_some_and(|plan| self.points >= plan)
    }

    /// Whether it is the next point, or was announced.
    fn is_due(&self, point: &Point) -> bool {
        let next = self.points + 1;
        let is_next = point.number.is_none_or(|number| number == next || number == next.saturating_sub(self.hooks));
        is_next || self.is_beyond(point) || self.subtest.as_ref().is_some_and(|name| *name == point.name)
    }

    /// Whether the plan so far, of no tests, was that of a file, and the file's own point follows.
    fn is_followed(&self, next: &str) -> bool {
        self.plan == Some(0)
            && matches!(read(next), Line::Point(0, point) if self.subtest.as_ref().is_some_and(|name| *name == point.name))
    }

    /// Whether the point, directly below the last that the plan promises, is one more: what bats and cmocka tell of a set's
    /// tear-down, cmocka as number 0.
    fn is_beyond(&self, point: &Point) -> bool {
        let is_next = point.number.is_some_and(|number| number == 0 || number == self.points + 1);
        is_next && self.prove.is_none() && !self.bailed && self.plan.is_some_and(|plan| plan > 0 && self.points >= plan)
    }

    /// Whether `Test::More` says of this run that its program failed in the end.
    fn has_exited(&self, text: &str) -> bool {
        let is_program_s = text.starts_with("# Looks like your test exited with ");
        is_program_s && text.trim_end().ends_with(&format!(" just after {}.", self.points))
    }

    /// Whether the line may stand below the summary of `prove -v`, and is of it.
    fn is_below_prove(&self, text: &str) -> bool {
        self.prove == Some(true) && (text.starts_with("Result: ") || undetected(text).is_some())
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(has_ended) = &mut self.prove {
            *has_ended |= text.starts_with("Files=");
            return self.reader.line(text);
        }
        let line = read(text);
        self.is_nodes |= matches!(line, Line::Subtest(0, _));
        if self.reader.beside.are_several() {
            return self.reader.line(text);
        }
        match line {
            // Another program may begin to write; any other test may have printed it.
            Line::Version if self.plan.is_none() && (self.points == 0 || self.is_nodes) => {
                return self.reader.line(text);
            }
            Line::Version => return Ok(()),
            // A plan at the end counts the points above it.
            Line::Plan(0, count) if self.plan.is_some() || (self.points > 0 && count != self.points) => return Ok(()),
            Line::Plan(0, count) => self.plan = Some(count),
            Line::Point(0, point) if !self.is_due(&point) => return Ok(()),
            Line::Point(0, ref point) => {
                self.hooks += u64::from(around(&point.name).is_some());
                // A file in which no test matched has a plan of its own.
                self.plan = self.plan.filter(|plan| *plan > 0);
                self.subtest = None;
                self.points += 1;
            }
            Line::Subtest(0, name) => self.subtest = Some(name.to_owned()),
            Line::Bail(_) => self.bailed = true,
            _ => {}
        }
        self.reader.line(text)
    }
}

/// Reads the runs in a stream.
#[derive(Default)]
pub(in crate::ingest) struct Stream {
    open: Option<Open>,
    /// A plan that the first point must follow.
    plan: Option<String>,
    /// Points without a plan so far.
    unplanned: Option<Open>,
    /// From the first file that `prove` tells of.
    held: Vec<String>,
    /// Outermost points below the last file, once another line than its plan stood there.
    points: Option<u64>,
    /// There were more lines: the run is not read.
    is_too_long: bool,
    /// It is Meson's log so far, which tells what each test printed.
    is_mesons: bool,
    /// The last run, of which its program's end may yet be told, and whether it is certain.
    last: Option<(Open, bool)>,
    runs: Vec<Run>,
}

impl Stream {
    /// Begins a run of `prove -v` with the first plan directly below a file's line, or below all points that it plans:
    /// without `-v` there is no plan.
    fn begin_prove(&mut self, text: &str) -> Result<()> {
        if text.starts_with("Files=") || self.held.len() >= HELD {
            self.is_too_long = !text.starts_with("Files=");
            self.held.clear();
        }
        let is_file = file_of_prove(text).is_some();
        if self.is_too_long || text.trim().is_empty() || (self.held.is_empty() && !is_file) {
            return Ok(());
        }
        self.held.push(text.to_owned());
        let points = self.points.take();
        match read(text) {
            _ if is_file => return Ok(()),
            Line::Plan(0, count) if points.is_none_or(|points| points == count) => {
                let mut open = Open { prove: Some(false), ..Open::new() };
                self.held.drain(..).try_for_each(|line| open.line(&line))?;
                self.open = Some(open);
            }
            Line::Point(0, _) => self.points = Some(points.unwrap_or(0).saturating_add(1)),
            _ => self.points = Some(points.unwrap_or(0)),
        }
        Ok(())
    }

    /// Follows points whose plan is still to come: it ends them.
    fn go_on_unplanned(&mut self, text: &str) {
        if matches!(read(text), Line::Point(0, point) if point.number == Some(1)) {
            self.unplanned = Some(Open::new());
        }
        let Some(mut open) = self.unplanned.take().filter(|_| self.open.is_none()) else { return };
        let is_followed = open.line(text).is_ok();
        if open.plan.is_none() && is_followed {
            self.unplanned = Some(open);
        } else if open.is_complete() {
            self.settle();
            self.last = Some((open, false));
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take().filter(Open::is_complete) {
            self.settle();
            self.last = Some((open, true));
        }
    }

    /// Of the last run no more will be told.
    fn settle(&mut self) {
        let Some((open, is_certain)) = self.last.take() else { return };
        let parsed = open.reader.finish().ok();
        self.runs.extend(parsed.map(|parsed| Run { is_certain, ..Run::of(parsed, BTreeSet::new()) }));
    }
}

impl Runs for Stream {
    fn line(&mut self, text: &str) -> Result<()> {
        if !self.holds(text) && !self.open.as_ref().is_some_and(|open| open.is_below_prove(text)) {
            self.close();
        }
        // gotestsum tells its sum below the points, and the plan never: that sum is read.
        let may_be_gotestsum = |open: &mut Open| open.points == 0 && open.plan.is_none() && open.prove.is_none();
        self.open.take_if(|open| may_be_gotestsum(open) && matches!(read(text), Line::OpenPlan(0)));
        if let Some(open) = &mut self.open {
            return open.line(text);
        }
        if let Some((last, _)) = self.last.as_mut().filter(|(last, _)| last.has_exited(text)) {
            return last.line(text);
        }
        let is_end = text.starts_with(meson_output::LOG_END);
        self.is_mesons = text.starts_with(meson_output::LOG) || (self.is_mesons && !is_end);
        if self.is_mesons {
            return Ok(());
        }
        self.begin_prove(text)?;
        if self.open.is_some() {
            self.unplanned = None;
            return Ok(());
        }
        let plan = self.plan.take();
        match (read(text), plan) {
            (Line::Version, _) => {
                let mut open = Open::new();
                open.line(text)?;
                self.open = Some(open);
            }
            (Line::Plan(0, _), _) => self.plan = Some(text.to_owned()),
            (Line::Point(0, point), Some(plan)) if point.number == Some(1) => {
                let mut open = Open::new();
                open.line(&plan)?;
                open.line(text)?;
                self.open = Some(open);
            }
            (_, plan) if text.trim().is_empty() => self.plan = plan,
            _ => {}
        }
        self.go_on_unplanned(text);
        Ok(())
    }

    /// The line that says so has ended it.
    fn leave(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn count(&self) -> usize {
        self.runs.len() + usize::from(self.last.is_some())
    }

    fn holds(&self, next: &str) -> bool {
        let is_one_more = |open: &Open| matches!(read(next), Line::Point(0, point) if open.is_beyond(&point));
        let is_of_tests = |open: &Open| open.reader.goes_on(next) && next != COVERAGE_OF_NODE || is_one_more(open);
        self.open.as_ref().is_some_and(|open| !open.is_complete() || is_of_tests(open) || open.is_followed(next))
    }

    fn finish(mut self: Box<Self>) -> Vec<Run> {
        self.close();
        self.settle();
        self.runs
    }
}
