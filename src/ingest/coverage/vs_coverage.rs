//! `vs-coverage`: the XML of Microsoft's code coverage, as `dotnet-coverage -f xml` and Visual Studio export it. Defined by its
//! documentation, <https://learn.microsoft.com/dotnet/core/additional-tools/dotnet-coverage>; there is no .NET SDK at hand.

use std::collections::BTreeMap;

use super::elements::{Elements, read};
use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::whole;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::figures::ReportKind;

/// Microsoft's coverage XML.
pub const FORMAT: Format = Format {
    name: "vs-coverage",
    kind: ReportKind::Coverage,
    about: "XML of Microsoft's code coverage: sums of lines of each module",
    written_by: "dotnet-coverage -f xml, vstest with the format Xml, CodeCoverage.exe analyze",
    told_by: "root element results with modules",
    has_end: true,
    counting: "The lines of each module; one that is covered in part is covered.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.rooted(&["results"]).is_some_and(|xml| xml.has_child("modules")) {
        true => Sniff::Sure("root element results with modules".into()),
        false => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    read::<Reader>(input, "results", "a report of Microsoft's code coverage")
}

#[derive(Default)]
struct Reader {
    depth: u64,
    lines: Part,
    has_modules: bool,
}

impl Elements for Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        self.depth += 1;
        match (self.depth, element.name()) {
            (2, "modules") => self.has_modules = true,
            (3, "module") => self.module(element)?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        if !self.has_modules {
            return Err(Error::report(Reject::NotThisFormat, "not a report of code coverage: it has no modules"));
        }
        Totals { lines: Some(self.lines), ..Totals::default() }.finish(&FORMAT, BTreeMap::new())
    }
}

impl Reader {
    fn module(&mut self, element: &Element<'_>) -> Result<()> {
        let numbers = element.attributes(["lines_covered", "lines_partially_covered", "lines_not_covered"])?;
        let number = |value: Option<String>| {
            let value = value.unwrap_or_default();
            let bad = || Error::report(Reject::Malformed, format!("{:?} is no number of lines", printable(&value, 40)));
            whole(&value).ok_or_else(bad)
        };
        let [covered, in_part, missed] = numbers;
        let covered = add(number(covered)?, number(in_part)?)?;
        self.lines.add(covered, add(covered, number(missed)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_add_up() {
        let read = |modules: &str| {
            let text = format!("<results><modules>{modules}</modules><skipped_modules/></results>");
            let figures = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?.figures;
            Ok::<_, Error>((figures.lines_covered, figures.lines_total))
        };
        let module = "<module name='shop.dll' lines_covered='5' lines_partially_covered='1' lines_not_covered='2'><functions>\
                      <function lines_covered='9' lines_partially_covered='0' lines_not_covered='0'/></functions></module>";
        assert_eq!(read(&format!("{module}{module}")).unwrap(), (Some(12), Some(16)));
        assert_eq!(read("").unwrap(), (Some(0), Some(0)));
        assert_eq!(read("<module lines_covered='5'/>").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
