//! `jacoco`: JaCoCo's XML report, defined by its `report.dtd`; Kover, Pester and gcovr write it too. gcovr writes lines
//! without their hits.

use super::elements::{Elements, read};
use super::totals::{Part, Totals};
use super::{FileTally, Listed, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::whole;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// JaCoCo XML.
pub const FORMAT: Format = Format {
    name: "jacoco",
    kind: ReportKind::Coverage,
    about: "JaCoCo XML: counters of lines and branches of each source file",
    written_by: "JaCoCo (Gradle, Maven), Kover, Pester, gcovr",
    told_by: "root element report with package, group, sessioninfo or counter",
    has_end: true,
    counting: "The counters LINE and BRANCH of each source file; one without counters has its line elements, covered \
               where an instruction ran. A report without source files has the counters of its classes, else of its \
               packages, else its own. The counters of the whole report are only compared. Of classes compiled without \
               line numbers no lines are told.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let Some(xml) = head.rooted(&["report"]) else { return Sniff::No };
    match ["package", "group", "sessioninfo", "counter"].iter().find(|name| xml.has_child(name)) {
        // The document type comes before the root element, where nothing of the tool's output can stand.
        Some(child) => Sniff::Sure(format!("root element report with {child}")),
        None if xml.children.is_empty() && head.text().contains("DTD Report") => {
            Sniff::Sure("root element report with JaCoCo's document type".into())
        }
        None => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    read::<Reader>(input, "report", "a JaCoCo report")
}

/// What an open element is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Report,
    /// A module; groups may stand in groups.
    Group,
    Package,
    Class,
    Source,
    Other,
}

/// The counters of one sort of element.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    lines: Option<Part>,
    branches: Option<Part>,
}

impl Counters {
    fn add(sum: &mut Option<Part>, part: Part) -> Result<()> {
        sum.get_or_insert_default().add(part.covered, part.total)
    }
}

#[derive(Default)]
struct Reader {
    open: Vec<Kind>,
    package: String,
    /// The source file that is open.
    source: String,
    tally: FileTally,
    line_branches: Part,
    lines_have_hits: bool,
    source_counters: Counters,
    sources: Counters,
    classes: Counters,
    packages: Counters,
    groups: Counters,
    report: Counters,
    files: Listed,
    is_jacoco: bool,
    /// A counter of anything tells that there is something to cover.
    has_counts: bool,
    /// Counters without numbers, and lines without them.
    unusable: u64,
}

impl Elements for Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        let name = element.name();
        let kind = match (self.open.last(), name) {
            (None, _) => Kind::Report,
            (Some(Kind::Report | Kind::Group), "group") => Kind::Group,
            (Some(Kind::Report | Kind::Group), "package") => {
                self.package = element.attribute("name")?.unwrap_or_default();
                Kind::Package
            }
            (Some(Kind::Package), "class") => Kind::Class,
            (Some(Kind::Package), "sourcefile") => {
                self.source = element.attribute("name")?.unwrap_or_else(|| "(unnamed)".to_owned());
                Kind::Source
            }
            (Some(Kind::Source), "line") => {
                self.line(element)?;
                Kind::Other
            }
            (Some(owner), "counter") => {
                let owner = *owner;
                self.is_jacoco |= owner == Kind::Report;
                self.counter(element, owner)?;
                Kind::Other
            }
            (Some(Kind::Report), "sessioninfo") => {
                self.is_jacoco = true;
                Kind::Other
            }
            _ => Kind::Other,
        };
        self.is_jacoco |= matches!(kind, Kind::Group | Kind::Package);
        self.open.push(kind);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.open.pop() == Some(Kind::Source) { self.end_source() } else { Ok(()) }
    }

    fn finish(self) -> Result<Parsed> {
        if !self.is_jacoco {
            let why = "not a JaCoCo report: it has no package, group, session or counter";
            return Err(Error::report(Reject::NotThisFormat, why));
        }
        let levels = [self.sources, self.classes, self.packages, self.groups, self.report];
        let is_told = |level: &Counters| level.lines.is_some();
        let level = levels.iter().find(|level| is_told(level)).or(levels.iter().find(|level| level.branches.is_some()));
        let Counters { lines, branches } = level.copied().unwrap_or_default();
        let (lines, branches) = (Some(lines.unwrap_or_default()), branches.unwrap_or_default());
        let mut parsed = Totals { lines, branches, ..Totals::default() }.finish_listed(&FORMAT, self.files)?;
        if self.has_counts && !levels.iter().any(is_told) {
            tell_no_lines(&mut parsed);
        }
        let declared = Figures {
            lines_covered: self.report.lines.map(|lines| lines.covered),
            lines_total: self.report.lines.map(|lines| lines.total),
            branches_covered: self.report.branches.map(|branches| branches.covered),
            branches_total: self.report.branches.map(|branches| branches.total),
            ..Figures::default()
        };
        compare_declared(&mut parsed, declared);
        if self.unusable > 0 {
            parsed.warnings.push(format!("{} lines and counters without their numbers are left out", self.unusable));
        }
        Ok(parsed)
    }
}

impl Reader {
    fn counter(&mut self, element: &Element<'_>, owner: Kind) -> Result<()> {
        let in_group = self.open.iter().filter(|kind| **kind == Kind::Group).count() > 1;
        let counters = match owner {
            Kind::Source => &mut self.source_counters,
            Kind::Class => &mut self.classes,
            Kind::Package => &mut self.packages,
            // A group's counters hold those of the groups in it.
            Kind::Group if !in_group => &mut self.groups,
            Kind::Report => &mut self.report,
            Kind::Group | Kind::Other => return Ok(()),
        };
        let [kind, missed, covered] = element.attributes(["type", "missed", "covered"])?;
        let sum = match kind.as_deref() {
            Some("LINE") => &mut counters.lines,
            Some("BRANCH") => &mut counters.branches,
            _ => {
                let is_count = |count: &str| whole(count).is_some_and(|count| count > 0);
                self.has_counts |= [missed, covered].iter().flatten().any(|count| is_count(count));
                return Ok(());
            }
        };
        match (number("missed", missed)?, number("covered", covered)?) {
            (Some(missed), Some(covered)) => {
                Counters::add(sum, Part { covered, total: crate::ingest::add(missed, covered)? })
            }
            _ => {
                self.unusable += 1;
                Ok(())
            }
        }
    }

    fn line(&mut self, element: &Element<'_>) -> Result<()> {
        let [line, instructions, missed, taken] = element.attributes(["nr", "ci", "mb", "cb"])?;
        let Some(line) = number("nr", line)? else {
            self.unusable += 1;
            return Ok(());
        };
        let instructions = number("ci", instructions)?;
        self.lines_have_hits |= instructions.is_some();
        self.tally.line(line, instructions.unwrap_or(0) > 0)?;
        let (missed, taken) = (number("mb", missed)?.unwrap_or(0), number("cb", taken)?.unwrap_or(0));
        let all = crate::ingest::add(missed, taken)?;
        if all > 0 {
            self.tally.condition(line, taken, all)?;
        }
        self.line_branches.add(taken, all)
    }

    fn end_source(&mut self) -> Result<()> {
        let mut file = std::mem::take(&mut self.tally);
        let has_hits = std::mem::take(&mut self.lines_have_hits);
        let mut counters = std::mem::take(&mut self.source_counters);
        let line_branches = std::mem::take(&mut self.line_branches);
        if counters.lines.is_none() && has_hits {
            let [covered, total] = file.lines.count();
            counters.lines = Some(Part { covered, total });
            counters.branches = counters.branches.or(Some(line_branches));
        }
        if let Some(part) = counters.lines {
            Counters::add(&mut self.sources.lines, part)?;
        }
        let Part { covered, total } = counters.branches.unwrap_or_default();
        file.conditions_are(covered, total)?;
        if let Some(part) = counters.branches {
            Counters::add(&mut self.sources.branches, part)?;
        }
        let source = std::mem::take(&mut self.source);
        let path = if self.package.is_empty() { source } else { format!("{}/{source}", self.package) };
        self.files.add(printable(&path, usize::MAX), file);
        Ok(())
    }
}

/// Classes that were compiled without line numbers have no counters of lines: how many there are is not known.
pub(super) fn tell_no_lines(parsed: &mut Parsed) {
    (parsed.figures.lines_covered, parsed.figures.lines_total) = (None, None);
    parsed.warnings.push("it tells no lines: the classes were compiled without line numbers".to_owned());
}

fn number(name: &str, value: Option<String>) -> Result<Option<u64>> {
    let bad =
        |value: &str| Error::report(Reject::Malformed, format!("{name} {:?} is no whole number", printable(value, 40)));
    value.map(|value| whole(&value).ok_or_else(|| bad(&value))).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(inside: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", format!("<report name='x'>{inside}</report>").as_bytes()))
    }

    fn counts(inside: &str) -> Vec<u64> {
        read(inside).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect()
    }

    fn line(missed: u64, covered: u64) -> String {
        format!("<counter type='LINE' missed='{missed}' covered='{covered}'/>")
    }

    #[test]
    fn counters_of_source_files_come_before_those_of_anything_else() {
        let (source, class) = (format!("<sourcefile name='a'>{}</sourcefile>", line(1, 2)), line(3, 4));
        let class = format!("<class name='A'><method name='m'>{}</method>{class}</class>", line(9, 9));
        let all = |inside: &str| format!("<package name='p'>{inside}{}</package>{}", line(5, 6), line(7, 8));
        assert_eq!(counts(&all(&format!("{class}{source}"))), [2, 3]);
        assert_eq!(counts(&all(&class)), [4, 7]);
        assert_eq!(counts(&all("")), [6, 11]);
        assert_eq!(counts(&line(7, 8)), [8, 15]);
        let group = |inside: &str| format!("<group name='g'>{inside}{}</group>", line(1, 1));
        assert_eq!(counts(&group(&group(""))), [1, 2], "a group's counters hold those of its groups");
        assert_eq!(counts("<sessioninfo id='x'/>"), [0, 0]);
    }

    #[test]
    fn lines_count_where_a_source_file_has_no_counters() {
        let lines = "<line nr='1' mi='0' ci='2' mb='1' cb='1'/><line nr='2' mi='1' ci='0' mb='0' cb='0'/>";
        let package = |inside: &str| format!("<package name='p'><sourcefile name='a'>{inside}</sourcefile></package>");
        assert_eq!(counts(&package(lines)), [1, 2, 1, 2]);
        assert_eq!(counts(&package(&format!("{lines}{}", line(0, 2)))), [2, 2]);
        assert_eq!(counts(&format!("{}{}", package("<line nr='1'/>"), line(3, 4))), [4, 7], "lines without hits");
        let files = |inside: &str| match read(inside).unwrap().details {
            Details::Coverage(details) => details.files.into_keys().collect::<Vec<_>>(),
            _ => panic!("coverage"),
        };
        assert_eq!(files(&package(lines)), ["p/a"]);
        assert!(files(&package(&format!("{lines}{}", line(0, 2)))).is_empty());
    }

    #[test]
    fn lines_of_classes_without_line_numbers_are_unknown() {
        let counter = |kind: &str, missed: u64| format!("<counter type='{kind}' missed='{missed}' covered='3'/>");
        let class = |inside: &str| format!("<package name='p'><class name='A'>{inside}</class></package>{inside}");
        let told = read(&class(&format!("{}{}", counter("INSTRUCTION", 4), counter("BRANCH", 1)))).unwrap();
        assert_eq!(told.figures.counts(), [("branches_covered", 3), ("branches_total", 4)]);
        assert_eq!((told.warnings.len(), told.declared), (1, None));
        assert!(counts(&class(&counter("METHOD", 0))).is_empty());
    }

    #[test]
    fn what_is_no_number_is_malformed_and_what_is_absent_is_warned_of() {
        for bad in ["missed='x' covered='1'", "missed='-1' covered='1'", "missed='1.0' covered='1'"] {
            assert!(read(&format!("<counter type='LINE' {bad}/>")).is_err(), "{bad}");
        }
        assert_eq!(read("<counter type='LINE' missed='1'/>").unwrap().warnings.len(), 1);
        assert!(read("<counter type='LINE' missed='18446744073709551615' covered='1'/>").is_err());
        assert_eq!(read("<stats/>").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let declared = format!("<package name='p'>{}</package>{}", line(1, 1), line(1, 2));
        assert_eq!(read(&declared).unwrap().warnings.len(), 2);
    }
}
