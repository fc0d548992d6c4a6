//! `open-test-reporting`: the XML of Open Test Reporting, whose definitions are the schemas `events` and `hierarchy` at
//! <https://github.com/ota4j-team/open-test-reporting>. The JUnit Platform writes events (`open-test-report.xml`,
//! `junit-platform-events-….xml`) with elements of its own that tell tests from containers; others leave that open.

use std::collections::BTreeMap;

use chrono::DateTime;

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, foreign, unknown_result, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// Open Test Reporting.
pub const FORMAT: Format = Format {
    name: "open-test-reporting",
    kind: ReportKind::Test,
    about: "Open Test Reporting XML, as events or as a hierarchy",
    written_by: "JUnit Platform (junit.platform.reporting.open.xml.enabled), converters of ota4j-team",
    told_by: "root element events or execution in a namespace of Open Test Reporting",
    has_end: true,
    counting: "Each node without children is one test, unless it says that it is a container or stands at the top: \
               SUCCESSFUL passed; FAILED failed, or errored if its throwable is no assertion; ERRORED errored; ABORTED \
               and SKIPPED skipped; one that never finished is errored. A container that failed though nothing in it \
               did is one errored test.",
    sniff,
    parse,
};

const ROOTS: &[&str] = &["events", "execution"];

fn sniff(head: &Head<'_>) -> Sniff {
    let namespace = head.rooted(ROOTS).and_then(|xml| xml.namespace.as_deref());
    if namespace.is_some_and(is_ours) { head.by_root(ROOTS) } else { Sniff::No }
}

fn is_ours(namespace: &str) -> bool {
    namespace.starts_with("https://schemas.opentest4j.org/reporting/")
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), open: BTreeMap::new(), nested: Vec::new(), node: None };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.finish()
}

struct Reader {
    tally: TestTally,
    /// Events: what has started and not finished, by its id.
    open: BTreeMap<String, Node>,
    /// A hierarchy: the nodes around the place that is read, the outermost first.
    nested: Vec<Node>,
    /// Events: the node of the event that is read, and its id.
    node: Option<(String, Node)>,
}

/// A test, or what holds tests.
#[derive(Default)]
struct Node {
    parent: Option<String>,
    name: String,
    /// As JUnit's older XML calls it.
    legacy_name: Option<String>,
    /// What it or the nearest one around it is in Java.
    class: Option<String>,
    /// The names from the top, and its own.
    path: String,
    is_top: bool,
    /// As JUnit says; absent if nobody does.
    is_container: Option<bool>,
    has_children: bool,
    /// Something in it failed.
    has_failed: bool,
    outcome: Option<Outcome>,
    message: Option<String>,
    place: (Option<String>, Option<u64>),
    /// When it started.
    since: Option<String>,
    duration_ms: Option<u64>,
}

impl Node {
    fn of(element: &Element<'_>, around: Option<&Node>) -> Result<Node> {
        let [name, time, duration] = element.attributes(["name", "time", "duration"])?;
        let name = name.unwrap_or_default();
        Ok(Node {
            path: around.map_or_else(|| name.clone(), |around| format!("{}::{name}", around.path)),
            is_top: around.is_none(),
            class: around.and_then(|around| around.class.clone()),
            since: time,
            duration_ms: duration.as_deref().and_then(milliseconds),
            name,
            ..Node::default()
        })
    }

    /// Takes what an element inside it says. `true` if its text is wanted.
    fn take(&mut self, element: &Element<'_>) -> Result<bool> {
        match element.name() {
            "classSource" | "methodSource" => {
                self.class = element.attribute("className")?.or(self.class.take());
            }
            "fileSource" => self.place.0 = element.attribute("path")?.map(|path| printable(&path, 1000)),
            "filePosition" => {
                self.place.1 = element.attribute("line")?.and_then(|line| line.parse().ok()).filter(|line| *line > 0);
            }
            "result" => {
                let status = element.attribute("status")?.unwrap_or_default();
                self.outcome = Some(match status.as_str() {
                    "SUCCESSFUL" => Outcome::Passed,
                    "FAILED" => Outcome::Failed,
                    "ERRORED" => Outcome::Errored,
                    "ABORTED" | "SKIPPED" => Outcome::Skipped,
                    other => return Err(unknown_result(other, element.spot())),
                });
            }
            "throwable" => {
                let is_assertion = element.attribute("assertionError")?;
                if self.outcome == Some(Outcome::Failed) && is_assertion.as_deref() == Some("false") {
                    self.outcome = Some(Outcome::Errored);
                }
                return Ok(true);
            }
            "reason" | "type" | "legacyReportingName" => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    /// Takes the text of an element inside it.
    fn take_text(&mut self, name: &str, text: &str) {
        match name {
            "type" => self.is_container = Some(text.trim() == "CONTAINER"),
            "legacyReportingName" => self.legacy_name = Some(text.trim().to_owned()),
            "reason" | "throwable" if self.message.is_none() => self.message = Some(text.to_owned()),
            _ => {}
        }
    }

    fn is_bad(&self) -> bool {
        self.has_failed || self.outcome.is_some_and(Outcome::is_bad)
    }

    /// Counts it, once all of it is known.
    fn settle(self, tally: &mut TestTally) -> Result<()> {
        let outcome = self.outcome.unwrap_or(Outcome::Errored);
        let name = self.legacy_name.as_ref().unwrap_or(&self.name);
        let is_test = !self.has_children && !self.is_container.unwrap_or(self.is_top);
        if is_test {
            let id = self.class.as_ref().map_or(self.path, |class| format!("{class}::{name}"));
            let mut open = OpenCase::new(Some(id), None, None, outcome);
            (open.case.file, open.case.line) = self.place;
            open.case.duration_ms = self.duration_ms;
            open.message(self.message.as_deref());
            return open.done(tally);
        }
        if !self.has_failed && outcome.is_bad() {
            tally.unit_failure(self.class.as_ref().unwrap_or(&self.path));
        }
        Ok(())
    }
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            (_, None) if !element.namespace().is_some_and(|namespace| is_ours(&namespace)) => {
                return Err(foreign(&FORMAT, "its root element is in another namespace", element.spot()));
            }
            ("started", Some("events")) => {
                let [id, parent] = element.attributes(["id", "parentId"])?;
                let around = parent.as_ref().and_then(|parent| self.open.get_mut(parent));
                let mut node = Node::of(element, around.as_deref())?;
                if let Some(around) = around {
                    around.has_children = true;
                }
                node.parent = parent;
                self.node = Some((id.unwrap_or_default(), node));
            }
            ("finished" | "reported", Some("events")) => {
                let [id, time] = element.attributes(["id", "time"])?;
                let id = id.unwrap_or_default();
                let mut node = self.open.remove(&id).unwrap_or_default();
                node.duration_ms = node.since.as_deref().zip(time.as_deref()).and_then(between);
                self.node = Some((id, node));
            }
            ("root" | "child", Some(around)) if around != "metadata" => {
                let mut around = self.nested.last_mut();
                let node = Node::of(element, around.as_deref())?;
                if let Some(around) = &mut around {
                    around.has_children = true;
                }
                self.nested.push(node);
            }
            _ => {
                let node = self.node.as_mut().map(|(_, node)| node).or(self.nested.last_mut());
                return node.map_or(Ok(false), |node| node.take(element));
            }
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, self.node.take()) {
            ("started" | "reported", Some((id, node))) => {
                self.open.insert(id, node);
            }
            ("finished", Some((_, node))) => {
                if let Some(around) = node.parent.as_ref().and_then(|parent| self.open.get_mut(parent)) {
                    around.has_failed |= node.is_bad();
                }
                node.settle(&mut self.tally)?;
            }
            ("root" | "child", None) if text.is_none() => {
                let Some(node) = self.nested.pop() else { return Ok(()) };
                if let Some(around) = self.nested.last_mut() {
                    around.has_failed |= node.is_bad();
                }
                node.settle(&mut self.tally)?;
            }
            (_, node) => {
                self.node = node;
                if let (Some(text), Some(node)) =
                    (text, self.node.as_mut().map(|(_, node)| node).or(self.nested.last_mut()))
                {
                    node.take_text(name, text);
                }
            }
        }
        Ok(())
    }
}

impl Reader {
    fn finish(mut self) -> Result<Parsed> {
        // What is around a test that never finished did not finish either, and is no failure of its own.
        for node in std::mem::take(&mut self.open).into_values().filter(|node| !node.has_children) {
            node.settle(&mut self.tally)?;
        }
        self.tally.finish(&FORMAT)
    }
}

/// Milliseconds from one instant to another, both as RFC 3339 writes them.
fn between((since, until): (&str, &str)) -> Option<u64> {
    let [since, until] = [since, until].map(|time| DateTime::parse_from_rfc3339(time).ok());
    u64::try_from((until? - since?).num_milliseconds()).ok()
}

/// Milliseconds of a duration as ISO 8601 writes it, `PT1M2.5S`.
fn milliseconds(duration: &str) -> Option<u64> {
    let (mut rest, mut total) = (duration.strip_prefix("PT")?, 0_u64);
    for (unit, seconds) in [('H', 3600), ('M', 60)] {
        if let Some((number, after)) = rest.split_once(unit) {
            total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(seconds * 1000)?)?;
            rest = after;
        }
    }
    if rest.is_empty() { Some(total) } else { total.checked_add(super::milliseconds(rest.strip_suffix('S')?)?) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(root: &str, inside: &str) -> Result<Parsed> {
        let core = "xmlns='https://schemas.opentest4j.org/reporting/core/0.2.0'";
        let kind = if root == "events" { root } else { "hierarchy" };
        let ours = format!("xmlns:x='https://schemas.opentest4j.org/reporting/{kind}/0.2.0'");
        let text = format!("<x:{root} {core} {ours}>\n<infrastructure/>{inside}</x:{root}>");
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    fn started(id: u32, parent: u32, about: &str) -> String {
        let parent = if parent == 0 { String::new() } else { format!("parentId='{parent}'") };
        format!("<x:started id='{id}' {parent} name='n{id}' time='2026-01-05T10:00:00.100Z'>{about}</x:started>")
    }

    fn finished(id: u32, result: &str) -> String {
        format!("<x:finished id='{id}' time='2026-01-05T10:00:00.350Z'>{result}</x:finished>")
    }

    fn status(word: &str) -> String {
        format!("<result status='{word}'/>")
    }

    fn of_type(word: &str) -> String {
        format!("<metadata><j:type xmlns:j='j'>{word}</j:type></metadata>")
    }

    #[test]
    fn each_leaf_is_a_test_with_its_result() {
        let outcomes = [("SUCCESSFUL", [1, 1, 0, 0, 0]), ("FAILED", [1, 0, 1, 0, 0]), ("ERRORED", [1, 0, 0, 1, 0])];
        for (word, expected) in outcomes.into_iter().chain([("ABORTED", [1, 0, 0, 0, 1]), ("SKIPPED", [1, 0, 0, 0, 1])])
        {
            let top = if word == "FAILED" || word == "ERRORED" { word } else { "SUCCESSFUL" };
            let events = [started(1, 0, ""), started(2, 1, ""), finished(2, &status(word)), finished(1, &status(top))];
            assert_eq!(counts(&read("events", &events.concat()).unwrap()), expected, "{word}");
            let nodes =
                format!("<x:root name='a'>{}<x:child name='b'>{}</x:child></x:root>", status(top), status(word));
            assert_eq!(counts(&read("execution", &nodes).unwrap()), expected, "{word}");
        }
        let unknown = read("execution", "<x:root name='a'><x:child><result status='GREAT'/></x:child></x:root>");
        assert_eq!(unknown.unwrap_err().place.line, Some(2));
    }

    #[test]
    fn junit_says_what_a_container_is_and_which_failures_are_no_assertions() {
        let class = "<metadata><j:legacyReportingName xmlns:j='j'>a(int)[1]</j:legacyReportingName></metadata>\
                     <sources><j:methodSource xmlns:j='j' className='shop.CartTest' methodName='a'/></sources>";
        let broken = "<result status='FAILED'><j:throwable xmlns:j='j' assertionError='false'>java.lang.Error: no\n\tat x</j:throwable></result>";
        let events = [
            started(1, 0, &of_type("CONTAINER")),
            started(2, 1, &of_type("CONTAINER")),
            finished(2, &status("SKIPPED")),
            started(3, 1, class),
            finished(3, broken),
            finished(1, &status("SUCCESSFUL")),
            started(4, 0, &of_type("TEST")),
            finished(4, &status("SUCCESSFUL")),
        ];
        let parsed = read("events", &events.concat()).unwrap();
        assert_eq!(counts(&parsed), [2, 1, 0, 1, 0]);
        let details = details(&parsed);
        let case = &details.cases.cases["shop.CartTest::a(int)[1]"];
        assert_eq!((case.duration_ms, case.message.as_deref()), (Some(250), Some("java.lang.Error: no")));
        assert!(details.cases.cases.contains_key("n4"));
    }

    #[test]
    fn what_failed_outside_a_test_or_never_finished_is_errored() {
        let broken = [started(1, 0, ""), started(2, 1, &of_type("CONTAINER")), finished(2, &status("FAILED"))];
        let around = finished(1, &status("FAILED"));
        let parsed = read("events", &[broken.concat(), around].concat()).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).failed_units), ([1, 0, 0, 1, 0], vec!["n1::n2".to_owned()]));
        let unfinished = read("events", &[started(1, 0, ""), started(2, 1, "")].concat()).unwrap();
        assert_eq!(counts(&unfinished), [1, 0, 0, 1, 0]);
        let empty = read("execution", &format!("<x:root name='a'>{}</x:root>", status("SUCCESSFUL"))).unwrap();
        assert_eq!(counts(&empty)[0], 0);
    }

    #[test]
    fn places_and_durations_are_kept_and_other_roots_are_none_of_it() {
        let nodes = "<x:root name='a'><x:child name='b' duration='PT1M2.5S'><sources><fileSource path='a b.c'>\
                     <filePosition line='3'/></fileSource></sources><result status='FAILED'><reason>no</reason></result></x:child></x:root>";
        let case = details(&read("execution", nodes).unwrap()).cases.cases["a::b"].clone();
        assert_eq!((case.duration_ms, case.file.as_deref(), case.line), (Some(62_500), Some("a b.c"), Some(3)));
        assert_eq!(case.message.as_deref(), Some("no"));
        assert_eq!(["PT1H", "PT0S", "P1D", "PTxS"].map(milliseconds), [Some(3_600_000), Some(0), None, None]);
        for other in ["<events/>", "<execution xmlns='urn:x'/>"] {
            let input = Input::bytes("x", other.as_bytes());
            assert_eq!(crate::ingest::parse(&input, None).unwrap_err().reject(), Some(Reject::NotThisFormat));
            assert_eq!(parse(&input).unwrap_err().reject(), Some(Reject::NotThisFormat));
        }
    }
}
