//! `junit`: the XML that nearly every test runner can write, each in its own way.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::rust_failure::Failure;
use super::{TestTally, milliseconds, rust_failure, stack, texts};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::{first_lines, printable, trimmed};
use crate::ingest::xml::{Element, Event, Xml, unescaped};
use crate::ingest::{Extra, Format, Head, Parsed, Sniff};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// JUnit XML.
pub const FORMAT: Format = Format {
    name: "junit",
    kind: ReportKind::Test,
    about: "JUnit XML: one element a test",
    written_by: "pytest --junitxml, cargo nextest, jest-junit, vitest, mocha, node --test, surefire, Gradle, \
                 gotestsum, PHPUnit, gtest, Catch2, ctest, bats, bazel, Playwright, Cypress, Swift, RSpec, bun, deno, \
                 cucumber, behave, Robot Framework",
    told_by: "root element testsuites, testsuite or testcase",
    has_end: true,
    counting: "Each testcase is one test. An error makes it errored, else a failure failed, else skipped, disabled, \
               ignored (or such a status) skipped, else it passed; with flakyFailure or flakyError alone it passed and \
               is flaky. An error or a failure of a suite itself is one errored test, as is a suite of no tests that \
               has an error by its own count. In a suite that pytest wrote, repeated tests are reruns if the suite's \
               own count says so, and one without a name, in which pytest was stopped, is errored. All other totals \
               are only compared.",
    sniff,
    parse,
};

/// Text of a failure that is kept until its first lines are taken.
const MESSAGE_BYTES: usize = 4096;
/// What pytest calls its suites.
const PYTEST: &str = "pytest";
/// Names of suites are cut to this many characters: an id is not longer.
const NAME_CHARS: usize = 1_001;
/// What a result that is held takes beside its texts.
const HELD_BYTES: usize = 280;

fn sniff(head: &Head<'_>) -> Sniff {
    // Check's XML has the same root, and so has DejaGnu's.
    let is_anothers = head.xml().is_some_and(|xml| xml.has_child("suite") || xml.has_child("test"));
    if is_anothers { Sniff::No } else { head.by_root(ROOTS) }
}

const ROOTS: &[&str] = &["testsuites", "testsuite", "testcase"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut xml = Xml::new(input)?;
    let mut reader = Reader::new();
    loop {
        match xml.next()? {
            Event::Start(element) => reader.start(&element)?,
            Event::Text(text, as_is) => reader.text(text, as_is),
            Event::End => reader.end()?,
            Event::Done => return reader.finish(),
        }
    }
}

/// What an open element is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Suites,
    Suite,
    Case,
    /// An error or failure of a test, whose text may be its message.
    Fault,
    /// What a test printed of which a failure told no message.
    Output,
    Other,
}

/// An open suite.
#[derive(Default)]
struct Suite {
    name: String,
    file: Option<String>,
    /// Its `tests` attribute.
    tests: Option<u64>,
    /// It says that it has no tests and an error, which no element has told yet.
    is_broken: bool,
    /// In a suite that pytest wrote: what was met under each id, until it is known whether repeats are reruns.
    held: Option<BTreeMap<String, Held>>,
    /// Bytes of what is held.
    held_bytes: usize,
    elements: u64,
    /// Tests and suites that stand in it directly, and whether one of the suites has more than one or none.
    children: u64,
    has_lists: bool,
}

/// All results of one id.
struct Held {
    last: TestCase,
    /// The worst, if a later one was better.
    worst: Option<Box<TestCase>>,
    counts: [(Outcome, u64); 4],
}

impl Held {
    fn new(case: TestCase) -> Held {
        let counts = [Outcome::Passed, Outcome::Skipped, Outcome::Failed, Outcome::Errored].map(|outcome| (outcome, 0));
        Held { last: case, worst: None, counts }
    }

    /// Bytes of what it points to.
    fn bytes(&self) -> usize {
        texts(&self.last) + self.worst.as_ref().map_or(0, |worst| size_of::<TestCase>() + texts(worst))
    }

    /// pytest has a further result for a test that had failed when it failed again in its teardown.
    fn extra(&self) -> Extra {
        let worst = self.worst.as_deref().unwrap_or(&self.last);
        let is_of_pytest = |message: &str| message.starts_with("failed on teardown with ");
        if worst.outcome != Outcome::Errored || !worst.message.as_deref().is_some_and(is_of_pytest) {
            return Extra::default();
        }
        let [(_, passed), _, (_, failed), (_, errored)] = self.counts;
        let failed = failed.min(errored);
        Extra { failed, passed: passed.min(errored.saturating_sub(failed)) }
    }

    /// Adds a later result.
    fn add(&mut self, case: TestCase) {
        let before = std::mem::replace(&mut self.last, case);
        let worst = self.worst.as_ref().map_or(before.outcome, |worst| worst.outcome.max(before.outcome));
        if self.last.outcome > worst {
            self.worst = None;
        } else if self.worst.as_ref().is_none_or(|known| before.outcome > known.outcome) {
            self.worst = Some(Box::new(before));
        }
    }
}

/// An open test, or memory for the next.
struct Case {
    id: String,
    /// Where in the id the name of a unit begins.
    unit: usize,
    /// It has no name but that of its class: where it failed, the class did.
    is_class: bool,
    case: TestCase,
    seen: Seen,
    fault_text: String,
}

/// What the children of a test told so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    errored: bool,
    failed: bool,
    skipped: bool,
    flaky: bool,
    todo: bool,
    not_collected: bool,
}

struct Reader {
    tally: TestTally,
    open: Vec<Kind>,
    suites: Vec<Suite>,
    /// The open ones come first. All stay where they are: moving them took a tenth of the time.
    cases: Vec<Case>,
    open_cases: usize,
    declared: Figures,
    root_declares: bool,
    /// The totals are not those of all tests, so that nothing compares with them: Node's runner has tests beside its suites, and
    /// counts a suite in another as one test.
    is_partial: bool,
}

impl Reader {
    fn new() -> Reader {
        Reader {
            tally: TestTally::new(false),
            open: Vec::new(),
            suites: Vec::new(),
            cases: Vec::new(),
            open_cases: 0,
            declared: Figures::default(),
            root_declares: false,
            is_partial: false,
        }
    }

    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        let name = element.name();
        if self.open.is_empty() && !ROOTS.contains(&name) {
            let why = format!("not a JUnit report: its root element is {:?}", printable(name, 40));
            let spot = element.spot();
            return Err(Error::report(Reject::NotThisFormat, why).line_column(spot.line, spot.column));
        }
        let kind = match (name, self.open.last()) {
            ("testsuites", _) => {
                self.root_declares = element.attribute("tests")?.is_some() && self.open.is_empty();
                if self.root_declares {
                    self.declare(element)?;
                }
                Kind::Suites
            }
            ("testsuite", _) => {
                if let Some(around) = self.suites.last_mut() {
                    around.children = around.children.saturating_add(1);
                }
                self.begin_suite(element)?;
                Kind::Suite
            }
            ("testcase", parent) => {
                self.is_partial |= parent == Some(&Kind::Suites) && !self.root_declares;
                if let Some(around) = self.suites.last_mut() {
                    around.children = around.children.saturating_add(1);
                }
                self.begin_case(element)?;
                Kind::Case
            }
            (name, Some(Kind::Case)) => self.result(name, element)?,
            ("suite", Some(Kind::Suites)) | ("test", Some(Kind::Suite)) => {
                let why = "not a JUnit report: suite in its testsuites is Check's, test in its testsuite DejaGnu's";
                let spot = element.spot();
                return Err(Error::report(Reject::NotThisFormat, why).line_column(spot.line, spot.column));
            }
            ("error" | "failure", Some(Kind::Suite | Kind::Suites)) => {
                self.suite_failure();
                if let Some(suite) = self.suites.last_mut() {
                    suite.is_broken = false;
                }
                Kind::Other
            }
            _ => Kind::Other,
        };
        self.open.push(kind);
        Ok(())
    }

    fn begin_suite(&mut self, element: &Element<'_>) -> Result<()> {
        let [name, tests, errors, file, path] = element.attributes(["name", "tests", "errors", "file", "filepath"])?;
        if !self.root_declares && !self.open.contains(&Kind::Suite) {
            self.declare(element)?;
        }
        let name = name.unwrap_or_default();
        let tests = tests.and_then(|tests| tests.parse().ok());
        let is_broken = has_failed_without_tests(tests, errors.and_then(|errors| errors.parse().ok()));
        let held = (name == PYTEST).then(BTreeMap::new);
        let file = file.or(path).map(|file| printable(&file, 1000));
        self.suites.push(Suite { name: cut(name), file, tests, is_broken, held, ..Suite::default() });
        Ok(())
    }

    /// Adds a suite's own totals up.
    fn declare(&mut self, element: &Element<'_>) -> Result<()> {
        let declared = &mut self.declared;
        for (attribute, sum) in [
            ("tests", &mut declared.tests),
            ("failures", &mut declared.failed),
            ("errors", &mut declared.errored),
            ("skipped", &mut declared.skipped),
        ] {
            // What is no count there says nothing; no figure comes from it.
            let count = element.attribute(attribute)?.and_then(|value| value.trim().parse().ok());
            if let Some(count) = count {
                *sum = Some(crate::ingest::add(sum.unwrap_or(0), count)?);
            }
        }
        Ok(())
    }

    /// What failed is no test, but the innermost suite.
    fn suite_failure(&mut self) {
        self.tally.unit_failure(&self.suite_path().unwrap_or_else(|| "(unnamed suite)".to_owned()));
    }

    fn suite_path(&self) -> Option<String> {
        let names: Vec<&str> =
            self.suites.iter().map(|suite| suite.name.trim()).filter(|name| !name.is_empty()).collect();
        (!names.is_empty()).then(|| names.join("::"))
    }

    fn begin_case(&mut self, element: &Element<'_>) -> Result<()> {
        let (mut classname, mut class, mut name) = (None, None, Cow::Borrowed(""));
        let (mut time, mut file, mut line, mut skipped) = (None, None, None, false);
        for (attribute, value) in element.pairs() {
            match attribute {
                "classname" => classname = Some(element.value(value)?),
                "class" => class = Some(element.value(value)?),
                "name" => name = element.value(value)?,
                "time" => time = milliseconds(&element.value(value)?),
                "file" => file = Some(printable(&element.value(value)?, 1000)),
                "line" => line = element.value(value)?.parse().ok(),
                "status" | "result" => skipped |= tells_of_skipping(&element.value(value)?),
                _ => {}
            }
        }
        let class = classname.or(class).unwrap_or_default();
        let (class, name) = (trimmed(&class), trimmed(&name));
        // A suite's name may hold the time of the run, so that it is part of the id only where the class does not tell
        // tests apart: absent, or "test", which is all that node says.
        let group =
            if matches!(class, "" | "test") { self.suite_path().map(Cow::Owned) } else { Some(Cow::Borrowed(class)) };
        // Ends in the name, if there is one.
        let parts = match &group {
            Some(group) if name.is_empty() || group == name => [group, "", ""],
            Some(group) => [group, "::", name],
            None if name.is_empty() => ["(unnamed)", "", ""],
            None => [name, "", ""],
        };
        if self.cases.len() <= self.open_cases {
            let (id, case, fault_text) = (String::new(), TestCase::new(Outcome::Passed), String::new());
            self.cases.push(Case { id, unit: 0, is_class: false, case, seen: Seen::default(), fault_text });
        }
        let Some(open) = self.cases.get_mut(self.open_cases) else { return Ok(()) };
        self.open_cases += 1;
        open.id.clear();
        parts.iter().for_each(|part| open.id.push_str(part));
        open.is_class = name.is_empty() && !class.is_empty();
        open.unit = if name.is_empty() { 0 } else { open.id.len() - name.len() };
        // pytest names a test when it has ended.
        let is_cut =
            name.is_empty() && class.is_empty() && self.suites.last().is_some_and(|suite| suite.name == PYTEST);
        open.seen = Seen { skipped, errored: is_cut, ..Seen::default() };
        let case = &mut open.case;
        case.attempts = 1;
        case.duration_ms = time;
        case.file = file.or_else(|| self.suites.iter().rev().find_map(|suite| suite.file.clone()));
        // pytest counts lines from 0.
        let first = || u64::from(self.suites.last().is_some_and(|suite| suite.name == PYTEST));
        case.line = line.and_then(|line: u64| line.checked_add(first())).filter(|line| *line > 0);
        case.message = None;
        Ok(())
    }

    /// The innermost test that is open.
    fn case(&mut self) -> Option<&mut Case> {
        self.cases.get_mut(self.open_cases.checked_sub(1)?)
    }

    /// A child of a test that may say what it came to.
    fn result(&mut self, name: &str, element: &Element<'_>) -> Result<Kind> {
        let Some(case) = self.case() else { return Ok(Kind::Other) };
        let is_attempt = name.starts_with("rerun") || name.starts_with("flaky");
        match name {
            "error" | "rerunError" => case.seen.errored = true,
            "failure" | "rerunFailure" => case.seen.failed = true,
            "flakyFailure" | "flakyError" => case.seen.flaky = true,
            "skipped" | "disabled" | "ignored" => {
                case.seen.skipped = true;
                case.seen.todo |= name == "skipped" && element.attribute("type")?.as_deref() == Some("todo");
                return Ok(Kind::Other);
            }
            "system-out" if case.seen.failed && case.case.message.is_none() => {
                case.fault_text.clear();
                return Ok(Kind::Output);
            }
            _ => return Ok(Kind::Other),
        }
        if is_attempt {
            case.case.attempts = case.case.attempts.saturating_add(1);
        }
        if case.case.message.is_none() {
            let message = element.attribute("message")?;
            case.seen.not_collected |= name == "error" && message.as_deref() == Some("collection failure");
            case.case.message = message.as_deref().and_then(first_lines);
        }
        case.fault_text.clear();
        Ok(Kind::Fault)
    }

    fn text(&mut self, text: &str, as_is: bool) {
        let Some(kind @ (Kind::Fault | Kind::Output)) = self.open.last().copied() else { return };
        let Some(case) = self.case() else { return };
        let is_wanted = case.case.message.is_none() || case.case.line.is_none();
        if is_wanted && case.fault_text.len() < MESSAGE_BYTES {
            // Cut before the references are looked at, a piece may end inside one: then it stays as it stands.
            let piece: Cow<'_, str> = match text.len() > MESSAGE_BYTES {
                true => text.chars().take(MESSAGE_BYTES).collect(),
                false => text.into(),
            };
            let plain = if as_is { None } else { unescaped(&piece).ok() };
            let plain = plain.as_deref().unwrap_or(&piece);
            // libtest tells why in the output alone, line by line.
            let is_message = ["thread '", "Error: "].iter().any(|begin| plain.starts_with(begin));
            if kind == Kind::Fault || is_message || !case.fault_text.is_empty() {
                case.fault_text.push_str(plain);
            }
        }
    }

    fn end(&mut self) -> Result<()> {
        match self.open.pop() {
            Some(Kind::Fault) => {
                if let Some(Case { id, unit, case, fault_text, .. }) = self.case() {
                    // Of a panic, nextest's message is where it was, and why stands below that.
                    if case.message.as_deref().is_none_or(tells_of_panic) && tells_of_panic(fault_text) {
                        Failure::of(fault_text).tell(case);
                    }
                    let whole = case.message.as_deref().and_then(|cut| uncut(cut, fault_text)).and_then(first_lines);
                    // PHPUnit names the test once more.
                    let named = fault_text.strip_prefix(id.as_str()).and_then(|named| named.split_once('\n'));
                    let text = named.map_or(fault_text.as_str(), |(_, text)| text);
                    case.message = whole.or_else(|| case.message.take()).or_else(|| first_lines(text));
                    stack::place(case, fault_text, id.get(..*unit).unwrap_or_default().trim_end_matches("::"));
                }
                Ok(())
            }
            Some(Kind::Output) => {
                if let Some(Case { case, fault_text, .. }) = self.case() {
                    Failure::of(fault_text).tell(case);
                }
                Ok(())
            }
            Some(Kind::Case) => self.end_case(),
            Some(Kind::Suite) => {
                // cmocka's, of which the set-up failed.
                if self.suites.last().is_some_and(|suite| suite.is_broken && suite.children == 0) {
                    self.suite_failure();
                }
                self.suites.pop().map_or(Ok(()), |suite| self.end_suite(suite))
            }
            _ => Ok(()),
        }
    }

    fn end_case(&mut self) -> Result<()> {
        self.open_cases = self.open_cases.saturating_sub(1);
        let Some(Case { id, unit, is_class, case, seen, .. }) = self.cases.get_mut(self.open_cases) else {
            return Ok(());
        };
        if seen.not_collected {
            self.tally.unit_failure(id.get(*unit..).unwrap_or_default());
            if let Some(suite) = self.suites.last_mut() {
                suite.elements = suite.elements.saturating_add(1);
                suite.tests = suite.tests.map(|tests| tests.saturating_sub(1));
            }
            return Ok(());
        }
        let outcome = match seen {
            Seen { todo: true, .. } => Outcome::Skipped,
            Seen { errored: true, .. } => Outcome::Errored,
            Seen { failed: true, .. } => Outcome::Failed,
            Seen { skipped: true, .. } => Outcome::Skipped,
            _ => Outcome::Passed,
        };
        if *is_class && outcome == Outcome::Errored {
            self.tally.unit_failure(id);
            return Ok(());
        }
        if outcome == Outcome::Passed && seen.flaky {
            self.tally.count_flaky();
        }
        let (file, message) = (case.file.take(), case.message.take());
        let result = TestCase { outcome, file, message, ..*case };
        match self.suites.last_mut() {
            Some(suite) if suite.held.is_some() => suite.hold(std::mem::take(id), result, &mut self.tally),
            _ => self.tally.case(id, result),
        }
    }

    fn end_suite(&mut self, suite: Suite) -> Result<()> {
        self.is_partial |= suite.has_lists && suite.tests == Some(suite.children) && !self.root_declares;
        if let Some(around) = self.suites.last_mut() {
            around.has_lists |= suite.children != 1;
        }
        let Some(held) = &suite.held else { return Ok(()) };
        let different = u64::try_from(held.len()).unwrap_or(u64::MAX);
        // What failed while it was torn down counts once more.
        let reruns = suite.tests.is_some_and(|tests| (different..suite.elements).contains(&tests));
        suite.settle(reruns, &mut self.tally)
    }

    fn finish(mut self) -> Result<Parsed> {
        // gotestsum's, of packages that do not build.
        let is_broken = self.root_declares && has_failed_without_tests(self.declared.tests, self.declared.errored);
        if is_broken && !self.tally.has_failed() {
            self.tally.unit_failure("(what ran the tests)");
        }
        let mut parsed = self.tally.finish(&FORMAT)?;
        let declared = if self.is_partial { Vec::new() } else { self.declared.counts() };
        for (key, said) in declared {
            let found = parsed.figures.counts().into_iter().find(|(other, _)| *other == key).map(|(_, count)| count);
            if let Some(found) = found.filter(|found| *found != said) {
                let warning = format!("the report's own totals say {key} {said}, but its elements add up to {found}");
                parsed.warnings.push(warning);
                parsed.declared = Some(self.declared.clone());
            }
        }
        Ok(parsed)
    }
}

/// Whether the counts that a file gives are of no tests, and yet of errors.
fn has_failed_without_tests(tests: Option<u64>, errors: Option<u64>) -> bool {
    tests == Some(0) && errors.is_some_and(|errors| errors > 0)
}

fn tells_of_panic(text: &str) -> bool {
    text.lines().any(|line| rust_failure::panic(line).is_some())
}

/// Where the text has what a message is the beginning of: Minitest's is its first line and `...`.
fn uncut<'a>(message: &str, text: &'a str) -> Option<&'a str> {
    let begin = message.strip_suffix("...").filter(|begin| !begin.is_empty())?;
    let at = text.match_indices(begin).find(|(at, _)| text.get(..*at).is_some_and(|before| before.ends_with('\n')))?.0;
    text.get(at..)
}

/// Whether a test of such a status or result did not run.
fn tells_of_skipping(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    matches!(value.as_str(), "notrun" | "disabled" | "skipped" | "suppressed" | "pending" | "ignored")
}

fn cut(name: String) -> String {
    if name.len() <= NAME_CHARS { name } else { name.chars().take(NAME_CHARS).collect() }
}

impl Suite {
    fn hold(&mut self, id: String, case: TestCase, tally: &mut TestTally) -> Result<()> {
        self.elements = self.elements.saturating_add(1);
        let Some(held) = &mut self.held else { return tally.case(&id, case) };
        let outcome = case.outcome;
        let length = id.len();
        let (entry, bytes) = match held.entry(id) {
            Entry::Vacant(slot) => {
                let held = slot.insert(Held::new(case));
                let bytes = HELD_BYTES + length + held.bytes();
                (held, bytes)
            }
            Entry::Occupied(slot) => {
                let held = slot.into_mut();
                let before = held.bytes();
                held.add(case);
                let bytes = held.bytes().saturating_sub(before);
                (held, bytes)
            }
        };
        if let Some((_, count)) = entry.counts.iter_mut().find(|(one, _)| *one == outcome) {
            *count = crate::ingest::add(*count, 1)?;
        }
        self.held_bytes += bytes;
        if !tally.hold(bytes) {
            // Too many to find reruns among: from here on, each result is a test.
            let suite = std::mem::take(self);
            (self.name, self.file) = (suite.name.clone(), suite.file.clone());
            suite.settle(false, tally)?;
        }
        Ok(())
    }

    /// Counts what was held: the last attempt of each, or every result.
    fn settle(self, reruns: bool, tally: &mut TestTally) -> Result<()> {
        tally.release(self.held_bytes);
        for (id, held) in self.held.into_iter().flatten() {
            let results = held.counts.iter().map(|(_, count)| *count).try_fold(0, crate::ingest::add)?;
            if reruns {
                let attempts = u32::try_from(results).unwrap_or(u32::MAX);
                if attempts > 1 && held.last.outcome == Outcome::Passed {
                    tally.count_flaky();
                }
                tally.case(&id, TestCase { attempts, ..held.last })?;
            } else {
                for (outcome, count) in &held.counts {
                    tally.count(*outcome, *count)?;
                }
                let extra = held.extra();
                tally.add_extra(extra);
                let tests = results.saturating_sub(extra.passed).saturating_sub(extra.failed);
                tally.keep_all(&id, held.worst.map_or(held.last, |worst| *worst), tests);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
