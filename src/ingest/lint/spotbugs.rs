//! `spotbugs`: XML of SpotBugs and FindBugs.
//!
//! Written after SpotBugs' `bugcollection.xsd`: `BugCollection/BugInstance` with type and priority, whose first
//! `SourceLine` of its own is the place. Messages are there only if they were asked for (`-xml:withMessages`). The paths
//! are those of packages, not of the project. A bug with `last` was fixed in an earlier version: it is history. The Maven
//! plugins' `spotbugs.xml` has the bugs of a class in a `file`, with priorities by name, a message and no path.

use super::LintTally;
use super::elements::{Elements, append, inside, line_number, walk};
use super::lines::finding;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::xml::Element;
use crate::ingest::{Finding, Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// SpotBugs XML.
pub const FORMAT: Format = Format {
    name: "spotbugs",
    kind: ReportKind::Lint,
    about: "SpotBugs or FindBugs XML: bug instances",
    written_by: "SpotBugs, FindBugs",
    told_by: "root element BugCollection",
    has_end: true,
    counting: "Each bug instance that is not fixed by its priority: 1 (High) is an error, 2 (Normal) a warning, others are \
               notes; without one, an error. The totals of the summary are not used.",
    sniff: |head| head.by_root(&["BugCollection"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("spotbugs", Sort::Linter);
    walk(input, "BugCollection", "SpotBugs", &mut reader)?;
    reader.tally.finish(&FORMAT)
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    open: Option<Finding>,
    /// The place of the class, for a bug that has none of its own.
    class: (Option<String>, Option<u64>),
    short: String,
    long: String,
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        match (inside(open), element.name()) {
            (Some("BugCollection" | "file"), "BugInstance") => {
                let [priority, rule, last, message] = element.attributes(["priority", "type", "last", "message"])?;
                let is_fixed = last.is_some_and(|last| !last.trim().starts_with('-'));
                self.class = (None, None);
                self.short.clear();
                self.long.clear();
                let level = level(priority.as_deref())?;
                let message = message.unwrap_or_default();
                self.open = (!is_fixed).then(|| finding("spotbugs", level, (None, None), rule.as_deref(), &message));
            }
            (Some("BugInstance" | "Class"), "SourceLine") => {
                let [path, file, line] = element.attributes(["sourcepath", "sourcefile", "start"])?;
                let (path, line) = (path.or(file).map(|path| printable(&path, 1000)), line_number(line));
                if inside(open) == Some("Class") {
                    if self.class.0.is_none() {
                        self.class = (path, line);
                    }
                } else if let Some(bug) = self.open.as_mut().filter(|bug| bug.path.is_none()) {
                    (bug.path, bug.line) = (path, line);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, open: &[String], text: &str) {
        match inside(open) {
            Some("ShortMessage") => append(&mut self.short, text),
            Some("LongMessage") => append(&mut self.long, text),
            _ => {}
        }
    }

    fn end(&mut self, open: &[String]) -> Result<()> {
        if inside(open) != Some("BugInstance") {
            return Ok(());
        }
        let Some(mut bug) = self.open.take() else { return Ok(()) };
        if bug.path.is_none() {
            (bug.path, bug.line) = std::mem::take(&mut self.class);
        }
        if let Some(message) = first_lines(&self.long).or_else(|| first_lines(&self.short)) {
            bug.message = message;
        }
        self.tally.finding(bug, Sort::Linter)
    }
}

fn level(priority: Option<&str>) -> Result<Level> {
    let Some(priority) = priority.map(str::trim) else { return Ok(Level::Error) };
    match (priority, priority.parse::<u8>()) {
        ("High", _) | (_, Ok(1)) => Ok(Level::Error),
        ("Normal" | "Medium", _) | (_, Ok(2)) => Ok(Level::Warning),
        ("Low" | "Experimental" | "Ignore", _) | (_, Ok(_)) => Ok(Level::Note),
        (_, Err(_)) => {
            let why = format!("a bug has the priority {:?}, which is no number", printable(priority, 40));
            Err(Error::report(Reject::Malformed, why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(inner: &str) -> Result<Parsed> {
        let text = format!("\n<BugCollection version='4.8'><Project/>{inner}</BugCollection>");
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn bugs_have_their_own_place_or_that_of_their_class() {
        let parsed = read(
            "<BugInstance type='A' priority='1'><ShortMessage>short</ShortMessage><LongMessage>long &amp; wide</LongMessage>\
             <Class><SourceLine sourcepath='p/C.java' start='1'/></Class>\
             <Method><SourceLine sourcepath='p/D.java' start='7'/></Method>\
             <SourceLine sourcepath='p/C.java' start='9'/><SourceLine sourcepath='p/C.java' start='11'/></BugInstance>\
             <BugInstance type='B' priority='2'><Class><SourceLine sourcefile='E.java' start='4'/></Class></BugInstance>\
             <BugInstance type='C' priority='3'/><BugInstance type='D' priority='1' last='12'/>\
             <FindBugsSummary total_bugs='0'><PackageStats/></FindBugsSummary>",
        )
        .unwrap();
        let figures = &parsed.figures;
        assert_eq!((figures.errors, figures.warnings, figures.notes), (Some(1), Some(1), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details.findings.iter().map(|f| (f.path.as_deref(), f.line, f.message.as_str())).collect();
        assert_eq!(
            told,
            [(Some("p/C.java"), Some(9), "long & wide"), (Some("E.java"), Some(4), "B"), (None, None, "C")]
        );
        assert_eq!(read("<BugInstance priority='urgent'/>").unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn the_maven_plugins_list_bugs_by_class() {
        let bug = |priority| format!("<BugInstance type='A' priority='{priority}' message='m &lt;' lineNumber='3'/>");
        let bugs = ["High", "Normal", "Low"].map(bug).concat();
        let parsed = read(&format!("<file classname='p.C'>{bugs}</file><Error></Error>")).unwrap();
        let figures = &parsed.figures;
        assert_eq!((figures.errors, figures.warnings, figures.notes), (Some(1), Some(1), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!(details.findings.first().map(|first| first.message.as_str()), Some("m <"));
    }
}
