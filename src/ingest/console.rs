//! What a command printed → every report in it that is certain. Several tools may speak in one stream, with colours,
//! progress bars and other text around them.
//!
//! While the tests of one tool run, no other tool speaks: what looks so was printed by a test, and is not believed. A run
//! that was killed there takes with it what followed. Only where a runner neither announces its tests nor marks what they
//! print can nobody tell the two apart: above the first line of `go test` without `-v`, of `python -m unittest`, and of
//! `pytest -q -s`; above the summary of gotestsum, Mocha, RSpec, Jasmine, AVA, busted, prove, Gradle, sbt, Catch2, Cucumber,
//! behave, Node's spec reporter, `mix test`, `dotnet test`, and the runners of `brief-test-text`.
//!
//! Agents pipe runs through `tail`. Where no run is open, the summary alone tells of one if nobody else writes such lines:
//! pytest's, Vitest's four, unittest's two, Node's comments of TAP. Above the end of a run of which nobody can tell the
//! two apart, it may be what a test printed (`Runs::doubt`): then it does not count, and a warning says so.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::rc::Rc;

use self::aside::Aside;
use self::crash::Crash;
use self::documents::{Document, Documents, Step};
pub(super) use self::documents::{begins_report, begins_xml};
use self::measurements::Measurements;
use self::packages::{Change, Packages};
use self::speakers::Mark;
use self::tables::Tables;
pub use self::withheld::Withheld;
use super::input::{Input, Invalid};
use super::lint::pre_commit_text::Margin;
use super::lint::rustc_json;
use super::merge::FROM_CONSOLE;
use super::test::runs::{self, RUNS_HELD, Run, Runs};
use super::test::text_runs::{Stream as Announcing, Summaries, Unmarked};
use super::test::{
    ava_text, boost_text, brief_test_text, bun_test_text, busted_text, cargo_test_text, catch2_text, ctest_text,
    cucumber_messages, dart_json, dart_test_text, deno_test_text, dotnet_test_text, exunit_text, forge_test_text,
    gherkin_text, go_test_json, go_test_text, gotestsum_text, gradle_text, gtest_text, jasmine_text, jest_text,
    karma_text, maven_text, meson_output, minitest_text, mocha_json, mocha_text, nextest_text, nim_test_text,
    node_test_text, phpunit_text, playwright_text, prove_text, pytest_text, qttest_text, rspec_text, rstest_md,
    rstest_text, sbt_text, swift_test_text, tap, teamcity, unittest_text, vitest_text, wdio_text, wtr_text,
    zig_test_text,
};
use super::text::{LONGEST_BYTES, Lines, LongLine, split_at};
use super::{Details, Format, Package, Parsed, checked};
use crate::error::Result;
use crate::model::figures::ReportKind;

mod aside;
mod attempts;
mod crash;
mod documents;
mod lint;
mod measurements;
mod packages;
mod speakers;
mod tables;
mod withheld;

/// Commands that speak side by side; where it seems to be more, the names are none.
const SPEAKERS_HELD: usize = 64;

/// How to read a test tool's runs in a stream.
struct Tool {
    /// What its runs are.
    format: &'static Format,
    reader: fn() -> Box<dyn Runs>,
    /// Its runs are one report: it has one for each package, or each program.
    is_joined: bool,
}

const fn each(format: &'static Format, reader: fn() -> Box<dyn Runs>) -> Tool {
    Tool { format, reader, is_joined: false }
}

const fn joined(format: &'static Format, reader: fn() -> Box<dyn Runs>) -> Tool {
    Tool { format, reader, is_joined: true }
}

/// All of them. A line with which two may begin is the earlier's.
const TOOLS: &[Tool] = &[
    each(&pytest_text::FORMAT, || Box::new(pytest_text::Reader::default())),
    each(&nextest_text::FORMAT, || Box::new(nextest_text::Stream::default())),
    each(&cargo_test_text::FORMAT, || Box::new(cargo_test_text::Stream::default())),
    joined(&go_test_text::FORMAT, || Box::new(go_test_text::Stream::default())),
    each(&gotestsum_text::FORMAT, || Box::new(Summaries::<Unmarked<gotestsum_text::GoTestSum>>::default())),
    each(&jest_text::FORMAT, || Box::new(jest_text::Stream::default())),
    each(&vitest_text::FORMAT, || Box::new(vitest_text::Stream::default())),
    each(&rstest_md::FORMAT, || Box::new(Announcing::<rstest_md::Report>::default())),
    each(&rstest_text::FORMAT, || Box::new(Announcing::<rstest_text::Rstest>::default())),
    each(&unittest_text::FORMAT, || Box::new(unittest_text::Stream::default())),
    each(&tap::FORMAT, || Box::new(tap::stream::Stream::default())),
    each(&ctest_text::FORMAT, || Box::new(Announcing::<ctest_text::CTest>::default())),
    each(&brief_test_text::FORMAT, || Box::new(meson_output::Shown::default())),
    joined(&gtest_text::FORMAT, || Box::new(Announcing::<gtest_text::GTest>::default())),
    joined(&catch2_text::FORMAT, || Box::new(Summaries::<catch2_text::Catch2>::default())),
    each(&minitest_text::FORMAT, || Box::new(Announcing::<minitest_text::Minitest>::default())),
    each(&exunit_text::FORMAT, || Box::new(Summaries::<Unmarked<exunit_text::ExUnit>>::default())),
    each(&phpunit_text::FORMAT, || Box::new(Announcing::<phpunit_text::Told>::default())),
    each(&bun_test_text::FORMAT, || Box::new(Announcing::<bun_test_text::Told>::default())),
    each(&deno_test_text::FORMAT, || Box::new(Announcing::<deno_test_text::Told>::default())),
    each(&playwright_text::FORMAT, || Box::new(Announcing::<playwright_text::Playwright>::default())),
    each(&forge_test_text::FORMAT, || Box::new(Announcing::<forge_test_text::Forge>::default())),
    each(&gherkin_text::FORMAT, || Box::new(Summaries::<Unmarked<gherkin_text::Gherkin>>::default())),
    joined(&swift_test_text::FORMAT, || Box::new(Announcing::<swift_test_text::SwiftTest>::default())),
    each(&dart_test_text::FORMAT, || Box::new(Announcing::<dart_test_text::DartTest>::default())),
    joined(&qttest_text::FORMAT, || Box::new(Announcing::<qttest_text::QtTest>::default())),
    joined(&boost_text::FORMAT, || Box::new(Announcing::<boost_text::BoostTest>::default())),
    each(&karma_text::FORMAT, || Box::new(Announcing::<karma_text::Karma>::default())),
    each(&wtr_text::FORMAT, || Box::new(Announcing::<wtr_text::Wtr>::default())),
    each(&wdio_text::FORMAT, || Box::new(Announcing::<wdio_text::Wdio>::default())),
    each(&ava_text::FORMAT, || Box::new(Summaries::<ava_text::Ava>::default())),
    each(&zig_test_text::FORMAT, || Box::new(Announcing::<zig_test_text::ZigTest>::default())),
    each(&busted_text::FORMAT, || Box::new(Summaries::<Unmarked<busted_text::Busted>>::default())),
    joined(&nim_test_text::FORMAT, || Box::new(Summaries::<nim_test_text::Told>::default())),
    each(&prove_text::FORMAT, || Box::new(Summaries::<prove_text::Prove>::default())),
    each(&gradle_text::FORMAT, || Box::new(Summaries::<gradle_text::Gradle>::default())),
    each(&sbt_text::FORMAT, || Box::new(Summaries::<sbt_text::Told>::default())),
    each(&brief_test_text::FORMAT, || Box::new(Summaries::<brief_test_text::Told>::default())),
    each(&maven_text::FORMAT, || Box::new(maven_text::Stream::default())),
    each(&dotnet_test_text::FORMAT, || Box::new(Summaries::<dotnet_test_text::Reader>::default())),
    each(&mocha_text::FORMAT, || Box::new(Summaries::<mocha_text::Reader>::default())),
    each(&jasmine_text::FORMAT, || Box::new(Summaries::<Unmarked<jasmine_text::Jasmine>>::default())),
    each(&rspec_text::FORMAT, || Box::new(Summaries::<rspec_text::Told>::default())),
    each(&node_test_text::FORMAT, || Box::new(Summaries::<node_test_text::Told>::default())),
];

type IsEvent = fn(&str) -> bool;

/// Formats whose lines no other tool writes, and whether a line is one: read out of the whole output.
const EVENTS: [(&Format, IsEvent); 6] = [
    (&rustc_json::FORMAT, rustc_json::is_ours),
    (&go_test_json::FORMAT, is_go_event),
    (&teamcity::FORMAT, |text| text.starts_with("##teamcity[test")),
    (&dart_json::FORMAT, dart_json::is_event),
    (&mocha_json::FORMAT, mocha_json::is_event),
    (&cucumber_messages::FORMAT, cucumber_messages::is_message),
];

/// What was heard, and is not among the reports: runs of this format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unread {
    /// One was begun and never ended.
    Unended(&'static str),
    /// They do not count beside those that are certain.
    Doubted(&'static str),
}

impl Unread {
    fn warning(self) -> String {
        match self {
            Unread::Unended(name) => {
                format!("a run of {name} was begun and never ended: it, and what was printed after that, is not read")
            }
            Unread::Doubted(name) => {
                format!("what looks like a run of {name} in it may have been printed by a test: it is not counted")
            }
        }
    }
}

/// What was heard.
#[derive(Default)]
struct Heard {
    reports: Vec<Parsed>,
    unread: BTreeSet<Unread>,
    crash: Option<String>,
    withheld: Option<Withheld>,
}

impl Heard {
    /// The reports; the first says what is not among them.
    fn told(mut self) -> Vec<Parsed> {
        if self.withheld.is_some() {
            for report in &mut self.reports {
                if let Details::Tests(tests) = &mut report.details {
                    tests.only_failed = true;
                }
            }
        }
        if let Some(line) = &self.crash {
            crash::count(line, &mut self.reports);
        }
        if let Some(first) = self.reports.first_mut() {
            first.warnings.extend(self.unread.into_iter().map(Unread::warning));
            first.warnings.extend(self.withheld.map(Withheld::warning));
        }
        self.reports
    }
}

/// The reports that stand in a command's output. Nothing found, or not readable: none.
///
/// Of a tool that ran a test again, the later result; of a run that was killed before its summary, none. What a runner
/// marks with who wrote it is read for each by itself.
pub fn console(input: &Input<'_>) -> Vec<Parsed> {
    listen(input, false).0
}

/// The same, and who left something out of the output. `is_ended`: the command came to its end by itself.
pub fn listen(input: &Input<'_>, is_ended: bool) -> (Vec<Parsed>, Option<Withheld>) {
    let heard = heard(input, marked(input), is_ended);
    let withheld = heard.withheld;
    (heard.told(), withheld)
}

/// The same of what is marked with names or times, if that is certain and there is any, or of hooks, which prek indents. Of a
/// run behind times that did not come to its end its own reader says more.
pub(super) fn of_marked(input: &Input<'_>, has_hooks: bool) -> Option<Vec<Parsed>> {
    let mark = marked(input).filter(|(_, is_certain)| *is_certain);
    if mark.is_none() && !has_hooks {
        return None;
    }
    let heard = heard(input, mark, false);
    let is_cut = heard.unread.iter().any(|unread| matches!(unread, Unread::Unended(_)));
    let is_of_packages = mark.is_some_and(|(mark, _)| mark.is_of_packages());
    let is_told = !heard.reports.is_empty() && (is_of_packages || !is_cut);
    is_told.then(|| heard.told())
}

/// How lines are marked, and whether that is certain.
fn marked(input: &Input<'_>) -> Option<(Mark, bool)> {
    Mark::of(input).ok().flatten()
}

fn heard(input: &Input<'_>, mark: Option<(Mark, bool)>, is_ended: bool) -> Heard {
    let mut heard = match mark {
        Some((mark, true)) => rather(apart(input, mark).unwrap_or_default(), || together(input)),
        Some((mark, false)) => rather(together(input), || apart(input, mark).unwrap_or_default()),
        None => together(input),
    };
    let possible = heard.reports.into_iter().filter_map(|report| checked(report).ok());
    let told = possible.map(|mut report| {
        report.sniffed_by = format!("{FROM_CONSOLE}: {}", report.format.told_by);
        report
    });
    heard.reports = told.collect();
    if !is_ended {
        let open = heard.reports.extract_if(.., |report| report.is_open_ended);
        heard.unread.extend(open.map(|report| Unread::Unended(report.format.name)));
    }
    heard.withheld = Withheld::of(input).unwrap_or_default();
    if heard.withheld.is_some() {
        // Of a part it would be another number.
        heard.reports.retain(|report| report.format.kind != ReportKind::Coverage);
    }
    heard
}

/// The first, unless it tells nothing, or there are tests only in the other.
fn rather(first: Heard, other: impl FnOnce() -> Heard) -> Heard {
    if has_tests(&first.reports) {
        return first;
    }
    let other = other();
    if has_tests(&other.reports) || first.reports.is_empty() { other } else { first }
}

fn has_tests(reports: &[Parsed]) -> bool {
    reports.iter().any(is_of_tests)
}

fn is_of_tests(report: &Parsed) -> bool {
    report.format.kind == ReportKind::Test
}

/// The output as that of one command.
fn together(input: &Input<'_>) -> Heard {
    let Ok((mut reports, stream)) = read(input) else { return Heard::default() };
    if reports.iter().any(|report| report.format.name == "nextest-text") {
        // cargo-nextest tells what it says in events, too: some of them stand below its summary.
        reports.retain(|report| report.format.name != "libtest-json");
    }
    let met = |format: &'static Format| stream.events.contains(format.name).then(|| whole(format, input)).flatten();
    if let Some(json) = met(&go_test_json::FORMAT) {
        // Beside its JSON, go prints `FAIL` and a package, too.
        let tells_tests = |report: &Parsed| report.figures.tests != report.figures.errored;
        reports.retain(|report| report.format.name != "go-test-text" || tells_tests(report));
        reports.push(json);
    }
    // Where another told of tests, it may be the same run, or a test that printed these lines.
    if !has_tests(&reports) {
        let of_tests = EVENTS.iter().map(|(format, _)| *format).filter(|format| format.kind == ReportKind::Test);
        reports.extend(of_tests.filter_map(met));
    }
    if let Some(json) = met(&rustc_json::FORMAT) {
        // Beside its JSON, cargo prints no more than summaries.
        let lists_none = |details: &Details| matches!(details, Details::Lint(lint) if lint.findings.is_empty());
        reports.retain(|report| report.format.name != "rustc-text" || !lists_none(&report.details));
        reports.push(json);
    }
    Heard { reports, unread: stream.unread, crash: stream.crash.told(), ..Heard::default() }
}

/// The output as that of all who marked their lines.
fn apart(input: &Input<'_>, mark: Mark) -> Result<Heard> {
    let mut streams: BTreeMap<String, Stream> = BTreeMap::new();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut next = || lines.next().map(|line| line.map(|line| (line.text.into_owned(), line.ended)));
    let mut ahead = next()?;
    while let Some((mut text, mut ended)) = ahead {
        ahead = next()?;
        while let Some((more, more_ended)) = ahead.take_if(|(more, _)| text.len() < LONGEST_BYTES && mark.goes_on(more))
        {
            text.push_str(mark.split(&more).map_or("", |(_, more)| more));
            ended = more_ended;
            ahead = next()?;
        }
        let (name, text) = mark.split(&text).unwrap_or(("", &text));
        if !streams.contains_key(name) {
            if streams.len() == SPEAKERS_HELD {
                return Ok(Heard::default());
            }
            streams.insert(name.to_owned(), Stream::new());
        }
        if let Some(stream) = streams.get_mut(name) {
            stream.line(text);
            stream.is_cut = !ended;
        }
    }
    let mut heard = Heard::default();
    for (name, mut stream) in streams {
        let told = stream.finish().into_iter();
        heard.reports.extend(told.map(|report| match mark.package(&name) {
            _ if name.is_empty() || !mark.is_name() => report,
            package => named_by(report, &name, package),
        }));
        heard.unread.append(&mut stream.unread);
        heard.crash = heard.crash.or(stream.crash.told());
    }
    Ok(heard)
}

/// Puts who wrote it before the names of tests and covered files: two packages may have some in common.
fn named_by(mut report: Parsed, name: &str, package: Option<&str>) -> Parsed {
    // It may have called those of other packages.
    let inner = report.package.take();
    let called = inner.as_ref().filter(|inner| !inner.is_first).map(|inner| inner.name.as_str());
    let named = |id: String| match called {
        Some(called) => format!("{name}: {called}: {id}"),
        None => format!("{name}: {id}"),
    };
    let of = |package: &str| called.map_or_else(|| package.to_owned(), |called| format!("{package}: {called}"));
    let package = package.map(of).or_else(|| inner.as_ref().map(|inner| inner.name.clone()));
    report.package = package.map(|name| Package { name, is_first: true });
    match &mut report.details {
        Details::Tests(tests) => {
            let cases = std::mem::take(&mut tests.cases.cases).into_iter();
            tests.cases.cases = cases.map(|(id, case)| (named(id), case)).collect();
            tests.failed_units = std::mem::take(&mut tests.failed_units).into_iter().map(named).collect();
        }
        Details::Coverage(coverage) => {
            let files = std::mem::take(&mut coverage.files).into_iter();
            coverage.files = files.map(|(path, lines)| (named(path), lines)).collect();
        }
        Details::Lint(_) | Details::Size(_) | Details::Metrics => {}
    }
    report
}

/// The output read as one format whose lines no other tool writes.
fn whole(format: &'static Format, input: &Input<'_>) -> Option<Parsed> {
    (format.parse)(input).ok()
}

fn read(input: &Input<'_>) -> Result<(Vec<Parsed>, Stream)> {
    let (reports, stream) = read_as(input, false)?;
    if stream.is_interrupted { read_as(input, true) } else { Ok((reports, stream)) }
}

/// `is_mixed`: scripts ran at the same time, so that what stands in one tool's run may be another's.
fn read_as(input: &Input<'_>, is_mixed: bool) -> Result<(Vec<Parsed>, Stream)> {
    let mut stream = Stream { is_mixed, ..Stream::new() };
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut margin = Margin::default();
    while let Some(line) = lines.next()? {
        stream.line(margin.without(&line.text));
        stream.is_cut = !line.ended;
    }
    let reports = stream.finish();
    Ok((reports, stream))
}

/// Up to which run of a tool all are of a package.
type UpTo = (usize, Option<(usize, Rc<str>)>);

/// All readers. One that met something impossible is given up, the others go on.
struct Stream {
    tools: Vec<Option<Box<dyn Runs>>>,
    packages: Packages,
    /// Of each tool, the packages that were left; `None` if it does not tell where its runs end.
    left: Vec<Option<Vec<UpTo>>>,
    findings: Aside,
    tables: Tables,
    measurements: Measurements,
    /// The last line has no end.
    is_cut: bool,
    crash: Crash,
    document: Document,
    documents: Documents,
    /// Of which of [`EVENTS`] a line came.
    events: BTreeSet<&'static str>,
    /// Of environments that were left.
    reports: Vec<Parsed>,
    is_mixed: bool,
    /// In a tool's run a script failed, which is none that the tool runs in.
    is_interrupted: bool,
    /// Of each tool, [`Runs::enclosing`].
    enclosing: Vec<usize>,
    unread: BTreeSet<Unread>,
}

impl Stream {
    fn new() -> Stream {
        Stream {
            tools: TOOLS.iter().map(|tool| Some((tool.reader)())).collect(),
            packages: Packages::default(),
            left: TOOLS.iter().map(|_| Some(Vec::new())).collect(),
            findings: Aside::default(),
            tables: Tables::default(),
            measurements: Measurements::default(),
            is_cut: false,
            crash: Crash::default(),
            document: Document::default(),
            documents: Documents::default(),
            events: BTreeSet::new(),
            reports: Vec::new(),
            is_mixed: false,
            is_interrupted: false,
            enclosing: vec![0; TOOLS.len()],
            unread: BTreeSet::new(),
        }
    }

    fn line(&mut self, text: &str) {
        self.crash.line(text);
        if self.is_mixed {
            return self.outside(text);
        }
        let inside = self.tools.iter().position(|tool| tool.as_ref().is_some_and(|tool| tool.holds(text)));
        self.is_interrupted |= inside.is_some() && packages::is_of_failed_script(text);
        match inside {
            Some(at) => {
                let runner = self.tools.get(at).and_then(Option::as_deref);
                self.tables.line(text, runner);
                if runner.is_some_and(|runner| runner.prints_measurement(text)) {
                    self.measurements.line(text);
                }
                self.feed(at, text);
            }
            None => self.outside(text),
        }
    }

    fn feed(&mut self, at: usize, text: &str) {
        if let Some(slot) = self.tools.get_mut(at)
            && slot.as_mut().is_some_and(|tool| tool.line(text).is_err() || tool.count() > RUNS_HELD)
        {
            *slot = None;
        }
        let (Some(Some(tool)), Some(known)) = (self.tools.get(at), self.enclosing.get_mut(at)) else { return };
        let before = std::mem::replace(known, tool.enclosing());
        if before != *known {
            let others = self.tools.iter_mut().enumerate().filter(|(other, _)| *other != at);
            others.filter_map(|(_, tool)| tool.as_mut()).for_each(|tool| tool.doubt());
        }
    }

    /// A line that stands in no tool's tests.
    fn outside(&mut self, text: &str) {
        if let Some((format, _)) =
            EVENTS.iter().find(|(_, is_event)| text.starts_with(['{', '[', '#']) && is_event(text))
        {
            self.events.insert(format.name);
            return;
        }
        match self.document.line(text) {
            Step::Text => self.text(text),
            Step::Open => {}
            Step::Whole(format, document, rest) => {
                self.documents.add(format, document);
                if !rest.is_empty() {
                    self.line(&rest);
                }
            }
            Step::Broken(text) => self.give_back(&text),
        }
    }

    /// Lines that are no document after all. A document may begin in any but the first of them.
    fn give_back(&mut self, text: &str) {
        let mut lines: VecDeque<&str> = text.lines().collect();
        if let Some(first) = lines.pop_front() {
            self.text(first);
        }
        lines.into_iter().for_each(|line| self.line(line));
    }

    fn text(&mut self, text: &str) {
        self.tables.line(text, None);
        if !text.trim().is_empty() {
            self.documents.close();
        }
        if enters_environment(text) {
            self.close();
        }
        for at in 0..self.tools.len() {
            self.feed(at, text);
            let holds = |tool: &Option<Box<dyn Runs>>| tool.as_ref().is_some_and(|tool| tool.holds(""));
            if !self.is_mixed && self.tools.get(at).is_some_and(holds) {
                self.findings.end_runs();
                return;
            }
        }
        let before = self.packages.current();
        match self.packages.line(text) {
            Change::None => {}
            Change::Folder => self.leave(before.as_ref()),
            Change::Script => {
                self.leave(before.as_ref());
                let told = self.findings.leave();
                self.reports.extend(of_package(told, before));
            }
        }
        self.findings.line(text);
        self.measurements.line(text);
    }

    /// Another package's tests may run next.
    fn leave(&mut self, package: Option<&(usize, Rc<str>)>) {
        for (slot, left) in self.tools.iter_mut().zip(&mut self.left) {
            let Some(tool) = slot else { continue };
            match tool.leave() {
                Ok(true) => {
                    let count = tool.count();
                    if let Some(left) = left.as_mut().filter(|left| left.last().map_or(0, |(to, _)| *to) < count) {
                        left.push((count, package.cloned()));
                    }
                }
                Ok(false) => *left = None,
                Err(_) => *slot = None,
            }
        }
    }

    /// Says of which package's script each run is.
    fn tell_scripts(&mut self, told: &mut [Vec<Run>]) {
        for (runs, left) in told.iter_mut().zip(&mut self.left) {
            let Some(left) = left.replace(Vec::new()) else { continue };
            let mut left = left.into_iter().peekable();
            for (at, run) in runs.iter_mut().enumerate() {
                while left.next_if(|(to, _)| *to <= at).is_some() {}
                run.script = left.peek().map_or_else(|| self.packages.current(), |(_, package)| package.clone());
            }
        }
    }

    /// Ends all that was told so far. What runs in another environment is no second attempt.
    fn close(&mut self) {
        self.reports.extend(self.documents.take());
        if !self.is_mixed {
            let open =
                self.tools.iter().zip(TOOLS).filter(|(tool, _)| tool.as_ref().is_some_and(|tool| tool.holds("")));
            self.unread.extend(open.map(|(_, tool)| Unread::Unended(tool.format.name)));
        }
        let new = TOOLS.iter().map(|tool| Some((tool.reader)())).collect();
        let tools = std::mem::replace(&mut self.tools, new).into_iter();
        let runs_of = |tool: Option<Box<dyn Runs>>| runs::settle_alone(tool.map(Runs::finish).unwrap_or_default());
        let mut told: Vec<Vec<Run>> = tools.map(runs_of).collect();
        let enclosing = std::mem::replace(&mut self.enclosing, vec![0; TOOLS.len()]);
        if told.iter().zip(enclosing).any(|(runs, known)| runs::enclosing(runs) != known) {
            told.iter_mut().for_each(|runs| runs::doubt(runs));
        }
        self.tell_scripts(&mut told);
        // Beside benchmarks, cargo and go tell of the tests that they left out.
        let is_of_benchmarks = |run: &Run| {
            let benchmarks: &[&str] = match run.parsed.format.name {
                "cargo-test-text" => &["criterion-text", "divan-text"],
                "go-test-text" => &["go-bench-text"],
                _ => &[],
            };
            run.parsed.figures.tests == run.parsed.figures.skipped && self.measurements.has_any(benchmarks)
        };
        told.iter_mut().for_each(|runs| runs.retain(|run| !is_of_benchmarks(run)));
        let is_any_certain = told.iter().flatten().any(|run| run.is_certain);
        for runs in &mut told {
            // What is not certain counts if nothing is, and the last of it.
            if is_any_certain {
                let doubted = runs.iter().filter(|run| !run.is_certain);
                self.unread.extend(doubted.map(|run| Unread::Doubted(run.parsed.format.name)));
                runs.retain(|run| run.is_certain);
            } else {
                runs.drain(..runs.len().saturating_sub(1));
            }
        }
        packages::tell(&mut told);
        for (tool, runs) in TOOLS.iter().zip(told) {
            let reports = attempts::settle(runs);
            if tool.is_joined {
                self.reports.extend(attempts::join_each(reports));
            } else {
                self.reports.extend(reports);
            }
        }
        let found = self.findings.take();
        self.reports.extend(of_package(found, self.packages.current()));
    }

    fn finish(&mut self) -> Vec<Parsed> {
        loop {
            let held = self.document.take();
            if held.is_empty() {
                break;
            }
            self.give_back(&held);
        }
        self.close();
        self.reports.extend(self.tables.take());
        self.reports.extend(self.measurements.take(self.is_cut));
        let failed = |report: &Parsed| report.figures.failed.unwrap_or(0);
        let by_sum = self.reports.iter().filter(|report| report.format.name == "gotestsum-text").map(failed);
        if let Some(told) = by_sum.reduce(u64::saturating_add) {
            // It tells all that it lets go test say: more is what another run came to.
            self.reports.retain(|report| report.format.name != "go-test-text" || failed(report) > told);
        }
        std::mem::take(&mut self.reports)
    }
}

/// What a file is, and what else was heard in it: other tools, and other runs of the same, of which a reader of files takes
/// the last.
pub(super) fn beside(alone: Parsed, input: &Input<'_>) -> Vec<Parsed> {
    let Heard { reports: mut spoken, mut unread, crash, withheld } = heard(input, marked(input), false);
    if alone.format.name == "libtest-json" && alone.figures.failed.is_some_and(|failed| failed > 0) {
        // Beside the JSON of libtest cargo says no more than that a program of tests failed.
        spoken.retain(|one| one.format.name != "cargo-test-text" || one.figures.tests != one.figures.errored);
    }
    let runs = spoken.iter().filter(|one| one.format == alone.format).count();
    // Events count on the console where nobody else told of tests.
    let is_text = is_of_tests(&alone) && EVENTS.iter().all(|(format, _)| *format != alone.format);
    if is_text && runs == 0 && has_tests(&spoken) {
        unread.insert(Unread::Doubted(alone.format.name));
        return Heard { reports: spoken, unread, crash, withheld }.told();
    }
    // Its own reader found its end; and if it is not certain there what the file is, nothing else is either.
    let is_of_another = |unread: &Unread| runs > 0 && *unread != Unread::Unended(alone.format.name);
    unread.retain(is_of_another);
    let is_alone = |one: &Parsed| one.format == alone.format && one.figures == alone.figures;
    // Its own reader took what others wrote alike.
    let is_of_text = |one: &Parsed| one.format.is_text() && one.format.kind == ReportKind::Lint;
    let has_others = is_of_text(&alone) && spoken.iter().any(|one| is_of_text(one) && one.format != alone.format);
    let is_settled =
        |one: &Parsed| one.format == alone.format && (is_alone(one) && runs > 1 || one.is_of_several || has_others);
    // A linter says around its JSON what stands in it.
    let is_linter_s = !alone.format.is_text() && alone.format.kind == ReportKind::Lint;
    let first = match spoken.iter().position(is_settled) {
        Some(at) => Parsed { sniffed_by: alone.sniffed_by, ..spoken.remove(at) },
        None => {
            let is_found = |one: &Parsed| one.figures.total.is_some_and(|total| total > 0);
            if runs == 0 && is_of_tests(&alone) {
                let doubted = spoken.iter().filter(|one| is_of_text(one) && is_found(one));
                unread.extend(doubted.map(|one| Unread::Doubted(one.format.name)));
            }
            // A linter's reader of files may have counted what others wrote alike; what it did not is theirs.
            let is_apart = |one: &Parsed| is_of_text(&alone) && is_of_text(one) && has_other_places(one, &alone);
            spoken.retain(|one| one.format != alone.format && (runs > 0 || is_apart(one)));
            alone
        }
    };
    spoken.retain(|one| !(is_linter_s && one.format.kind == ReportKind::Lint));
    spoken.insert(0, first);
    Heard { reports: spoken, unread, crash, withheld }.told()
}

/// Whether one has findings, and none of them in the same line of a file as one of the other's.
fn has_other_places(one: &Parsed, other: &Parsed) -> bool {
    fn places(report: &Parsed) -> HashSet<(Option<&str>, Option<u64>)> {
        let Details::Lint(details) = &report.details else { return HashSet::new() };
        details.findings.iter().map(|found| (found.path.as_deref(), found.line)).collect()
    }
    let found = places(one);
    !found.is_empty() && found.is_disjoint(&places(other))
}

/// Findings of the package whose script found them.
fn of_package(mut found: Vec<Parsed>, package: Option<(usize, Rc<str>)>) -> Vec<Parsed> {
    let package = package.map(|(_, name)| Package { name: name.to_string(), is_first: true });
    found.iter_mut().for_each(|report| report.package.clone_from(&package));
    found
}

/// `py312: commands[0]> pytest` of tox, `nox > Running session tests-3.12`.
fn enters_environment(text: &str) -> bool {
    let is_tox =
        || split_at(text, ": commands[").is_some_and(|(name, rest)| !name.contains(' ') && rest.contains("]> "));
    text.starts_with("nox > Running session ") || is_tox()
}

/// `{"Time":…,"Action":"run","Package":…}`.
fn is_go_event(text: &str) -> bool {
    let begins = ["{\"Time\":\"", "{\"Action\":\"", "{\"ImportPath\":\""];
    begins.iter().any(|begin| text.starts_with(begin))
        && text.contains("\"Action\":\"")
        && ["\"Package\":\"", "\"Test\":\"", "\"ImportPath\":\""].iter().any(|key| text.contains(key))
}
