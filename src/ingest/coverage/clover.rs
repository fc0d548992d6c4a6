//! `clover`: the XML of Atlassian's Clover, now OpenClover, which PHPUnit, Istanbul and gcovr write too. Defined by
//! OpenClover's `clover.xsd`. It counts statements and conditions; what it calls a line may be a method or a condition.

use super::elements::{Elements, read};
use super::lines::Condition;
use super::totals::{Part, Totals};
use super::{FileTally, Listed, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::{whole, whole_or_below};
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// Clover XML.
pub const FORMAT: Format = Format {
    name: "clover",
    kind: ReportKind::Coverage,
    about: "Clover XML: statements and conditions of each file",
    written_by: "PHPUnit, OpenClover, Istanbul (nyc, jest, vitest), gcovr",
    told_by: "root element coverage with project",
    has_end: true,
    counting: "The statements of each file's metrics, as lines, and its conditionals, as branches; a file whose \
               metrics tell none has its line elements other than methods. What is in testproject is left out. The \
               metrics of the project are only compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let Some(xml) = head.rooted(&["coverage"]) else { return Sniff::No };
    if xml.has_child("packages") || xml.has_child("sources") {
        return Sniff::No;
    }
    if xml.has_child("project") || xml.has_child("testproject") {
        return Sniff::Sure("root element coverage with project".into());
    }
    if xml.has_attribute("clover") && !xml.has_attribute("line-rate") {
        return Sniff::Sure("root element coverage with the attribute clover".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    read::<Reader>(input, "coverage", "a Clover report")
}

/// What an open element is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Root,
    Project,
    /// A package, or anything else between a project and its files.
    Between,
    File,
    /// Nothing in it is read.
    Other,
}

#[derive(Default)]
struct Reader {
    open: Vec<Kind>,
    /// The file that is open: its name, its lines, and the sums of its own metrics.
    file: String,
    tally: FileTally,
    metrics: Option<Metrics>,
    files: Listed,
    lines: Part,
    branches: Part,
    has_project: bool,
    /// Lines without number or count.
    unusable: u64,
    declared: Figures,
}

/// Statements and conditionals, each covered and in all.
#[derive(Clone, Copy)]
struct Metrics {
    statements: (u64, u64),
    conditionals: Option<(u64, u64)>,
}

impl Elements for Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        let name = element.name();
        let kind = match (self.open.last(), name) {
            (None, _) => Kind::Root,
            (Some(Kind::Root), "project") => {
                self.has_project = true;
                Kind::Project
            }
            (Some(Kind::Root), "testproject") => {
                self.has_project = true;
                Kind::Other
            }
            (Some(Kind::Project | Kind::Between), "file") => {
                let [path, name] = element.attributes(["path", "name"])?;
                let name = path.filter(|path| !path.is_empty()).or(name);
                self.file = printable(name.as_deref().unwrap_or("(unnamed)"), usize::MAX);
                Kind::File
            }
            (Some(Kind::Project), "metrics") => {
                if let Some(metrics) = metrics(element)? {
                    self.declare(metrics);
                }
                Kind::Between
            }
            (Some(Kind::Project | Kind::Between), _) => Kind::Between,
            (Some(Kind::File), "metrics") => {
                self.metrics = metrics(element)?.or(self.metrics);
                Kind::Other
            }
            (Some(Kind::File), "line") => {
                self.line(element)?;
                Kind::Other
            }
            _ => Kind::Other,
        };
        self.open.push(kind);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.open.pop() != Some(Kind::File) {
            return Ok(());
        }
        let mut file = std::mem::take(&mut self.tally);
        match self.metrics.take() {
            Some(Metrics { statements, conditionals }) => {
                self.lines.add(statements.0, statements.1)?;
                let (covered, total) = conditionals.unwrap_or_default();
                self.branches.add(covered, total)?;
                if file.conditions_in_all() != (covered, total) {
                    file.conditions.lines().iter_mut().for_each(as_clover_writes);
                }
                file.conditions_are(covered, total)?;
            }
            None => {
                let [covered, total] = file.lines.count();
                self.lines.add(covered, total)?;
            }
        }
        self.files.add(std::mem::take(&mut self.file), file);
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        if !self.has_project {
            return Err(Error::report(Reject::NotThisFormat, "not a Clover report: it has no project"));
        }
        let totals = Totals { lines: Some(self.lines), branches: self.branches, ..Totals::default() };
        let mut parsed = totals.finish_listed(&FORMAT, self.files)?;
        compare_declared(&mut parsed, self.declared);
        if self.unusable > 0 {
            parsed.warnings.push(format!("{} lines without number or count are left out", self.unusable));
        }
        Ok(parsed)
    }
}

/// Istanbul writes how many ways of a line were taken and how many were not, Clover how often each of its two was.
fn as_clover_writes(line: &mut Condition) {
    let ways = [line.taken, line.all.saturating_sub(line.taken)].map(|hits| u64::from(hits > 0));
    (line.taken, line.all) = (ways[0] + ways[1], 2);
}

impl Reader {
    fn line(&mut self, element: &Element<'_>) -> Result<()> {
        let [number, count, kind, if_true, if_false] =
            element.attributes(["num", "count", "type", "truecount", "falsecount"])?;
        if kind.as_deref() == Some("method") {
            return Ok(());
        }
        let (Some(number), Some(count)) = (number, count) else {
            self.unusable += 1;
            return Ok(());
        };
        let line = whole_or_below(&number).ok_or_else(|| bad("line number", &number))?;
        let hits = whole_or_below(&count).ok_or_else(|| bad("count", &count))?;
        let [if_true, if_false] = [if_true, if_false].map(|hits| hits.and_then(|hits| whole_or_below(&hits)));
        if let (Some(if_true), Some(if_false)) = (if_true, if_false) {
            self.tally.condition(line, if_true, if_true.saturating_add(if_false))?;
        }
        self.tally.line(line, hits > 0)
    }

    fn declare(&mut self, metrics: Metrics) {
        let (statements, conditionals) = (metrics.statements, metrics.conditionals.filter(|(_, total)| *total > 0));
        (self.declared.lines_covered, self.declared.lines_total) = (Some(statements.0), Some(statements.1));
        self.declared.branches_covered = conditionals.map(|(covered, _)| covered);
        self.declared.branches_total = conditionals.map(|(_, total)| total);
    }
}

/// `None` if it tells neither statements nor conditionals: gcovr 7, which does not count them, says that there are 0.
fn metrics(element: &Element<'_>) -> Result<Option<Metrics>> {
    let names = ["coveredstatements", "statements", "coveredconditionals", "conditionals"];
    let values = element.attributes(names)?;
    let mut counts = [None; 4];
    for ((count, value), name) in counts.iter_mut().zip(values).zip(names) {
        *count = value.map(|value| whole(&value).ok_or_else(|| bad(name, &value))).transpose()?;
    }
    let [covered, total, taken, conditions] = counts;
    let metrics = |statements| Metrics { statements, conditionals: taken.zip(conditions) };
    let is_counted = |total: u64| total > 0 || conditions.is_some_and(|conditions| conditions > 0);
    Ok(covered.zip(total).filter(|(_, total)| is_counted(*total)).map(metrics))
}

fn bad(what: &str, value: &str) -> Error {
    Error::report(Reject::Malformed, format!("{what} {:?} is no whole number", printable(value, 40)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(inside: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", format!("<coverage>{inside}</coverage>").as_bytes()))
    }

    fn counts(inside: &str) -> Vec<u64> {
        read(inside).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect()
    }

    #[test]
    fn a_file_s_metrics_count_and_its_lines_only_without_them() {
        let metrics = "<metrics statements='3' coveredstatements='2' conditionals='4' coveredconditionals='1'/>";
        let lines = "<line num='1' type='method' count='1'/><line num='2' type='stmt' count='0'/><line num='3' type='cond' count='1'/>";
        assert_eq!(counts(&format!("<project><file name='a'>{lines}{metrics}</file></project>")), [2, 3, 1, 4]);
        assert_eq!(counts(&format!("<project><package><file name='a'>{lines}</file></package></project>")), [1, 2]);
        let class = format!("<class name='A'>{metrics}</class>");
        assert_eq!(counts(&format!("<project><file name='a'>{class}{lines}</file>{metrics}</project>")), [1, 2]);
        let none = metrics.replace(|c: char| c.is_ascii_digit(), "0");
        assert_eq!(counts(&format!("<project><file name='a'>{none}{lines}</file>{none}</project>")), [1, 2]);
        let conditions = "<metrics statements='0' coveredstatements='0' conditionals='2' coveredconditionals='1'/>";
        assert_eq!(counts(&format!("<project><file name='a'>{lines}{conditions}</file></project>")), [0, 0, 1, 2]);
        assert_eq!(counts("<project/>"), [0, 0]);
    }

    #[test]
    fn tests_of_the_project_are_left_out() {
        let file = "<file name='a'><line num='1' count='1'/></file>";
        assert_eq!(counts(&format!("<project>{file}</project><testproject>{file}{file}</testproject>")), [1, 1]);
    }

    #[test]
    fn lines_are_told_where_they_come_to_the_sums() {
        let file = |covered: u64| {
            format!(
                "<project><file name='a' path='/x/a'><metrics statements='2' coveredstatements='{covered}'/><line num='1' count='1'/><line num='4' count='0'/></file></project>"
            )
        };
        for (covered, files) in [(1, 1), (2, 0)] {
            let Details::Coverage(details) = read(&file(covered)).unwrap().details else { panic!("coverage") };
            assert_eq!(details.files.len(), files);
            assert!(details.files.keys().all(|path| path == "/x/a"));
        }
    }

    #[test]
    fn what_is_no_number_is_malformed_with_its_place() {
        for inside in [
            "<project><file name='a'>\n<line num='x' count='1'/></file></project>",
            "<project><file name='a'>\n<line num='1' count='1.5'/></file></project>",
            "<project><file name='a'>\n<metrics statements='1,000' coveredstatements='1'/></file></project>",
            "<project><file name='a'>\n<line num='99999999999' count='1'/></file></project>",
        ] {
            let error = read(inside).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)), "{inside}");
        }
        let error = read("<packages/>").unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("<project><file name='a'><line num='1'/></file></project>").unwrap().warnings.len(), 1);
    }
}
