//! `sonar-coverage`: SonarQube's generic coverage report.
//! <https://docs.sonarsource.com/sonarqube-server/analyzing-source-code/test-coverage/generic-test-data/>

use super::Files;
use super::elements::{Elements, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::{whole, whole_or_below};
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// SonarQube's generic coverage.
pub const FORMAT: Format = Format {
    name: "sonar-coverage",
    kind: ReportKind::Coverage,
    about: "SonarQube's generic coverage XML",
    written_by: "gcovr --sonarqube, ReportGenerator",
    told_by: "root element coverage with file in it",
    has_end: true,
    counting: "Each lineToCover of a file is one line, covered if it says true; branches are its branchesToCover and \
               coveredBranches. Of a line that is told twice, the larger numbers.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let first = head.rooted(&["coverage"]).and_then(|xml| xml.children.first());
    if first.is_some_and(|child| child == "file") {
        return Sniff::Sure("root element coverage with file".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    read::<Reader>(input, "coverage", "a coverage report for SonarQube")
}

#[derive(Default)]
struct Reader {
    depth: u64,
    files: Files,
    has_files: bool,
}

impl Elements for Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        self.depth += 1;
        match (self.depth, element.name()) {
            (2, "file") => {
                self.has_files = true;
                let path = element.attribute("path")?;
                self.files.open(&printable(path.as_deref().unwrap_or("(unnamed)"), usize::MAX))
            }
            (3, "lineToCover") => line(&mut self.files, element),
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> Result<()> {
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        if self.has_files {
            return self.files.finish(&FORMAT);
        }
        Err(Error::report(Reject::NotThisFormat, "not a coverage report for SonarQube: it has no files"))
    }
}

fn line(files: &mut Files, element: &Element<'_>) -> Result<()> {
    let names = ["lineNumber", "covered", "branchesToCover", "coveredBranches"];
    let [number, covered, branches, taken] = element.values(names)?;
    let bad =
        |what: &str, value: &str| Error::report(Reject::Malformed, format!("{what} is {:?}", printable(value, 40)));
    let number = number.unwrap_or_default();
    let number = whole_or_below(&number).ok_or_else(|| bad("a line number", &number))?;
    let covered = match covered.as_deref().unwrap_or_default() {
        "true" | "1" => true,
        "false" | "0" => false,
        other => return Err(bad("covered", other)),
    };
    let Some(file) = files.current() else { return Ok(()) };
    file.line(number, covered)?;
    let Some(branches) = branches else { return Ok(()) };
    let all = whole(&branches).ok_or_else(|| bad("branchesToCover", &branches))?;
    let taken = taken.unwrap_or_else(|| "0".into());
    let taken = whole(&taken).filter(|taken| *taken <= all).ok_or_else(|| bad("coveredBranches", &taken))?;
    file.condition(number, taken, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(lines: &str) -> Result<Vec<u64>> {
        let text = format!("<coverage version='1'>\n<file path='a.js'>{lines}</file></coverage>");
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?;
        assert_eq!(parsed.format.name, "sonar-coverage");
        Ok(parsed.figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    #[test]
    fn lines_and_branches_count_once() {
        let lines = "<lineToCover lineNumber='1' covered='true' branchesToCover='3' coveredBranches='1'/>\
                     <lineToCover lineNumber='2' covered='false'/><lineToCover lineNumber='2' covered='1'/>\
                     <lineToCover lineNumber='3' covered='false' branchesToCover='2'/>";
        assert_eq!(counts(lines).unwrap(), [2, 3, 1, 5]);
        assert_eq!(counts("").unwrap(), [0, 0]);
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_place() {
        for line in [
            "<lineToCover lineNumber='x' covered='true'/>",
            "<lineToCover lineNumber='1' covered='yes'/>",
            "<lineToCover lineNumber='1' covered='true' branchesToCover='1' coveredBranches='2'/>",
        ] {
            let error = counts(line).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)), "{line}");
        }
        let none = parse(&Input::bytes("x", b"<coverage><packages/></coverage>")).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NotThisFormat));
    }
}
