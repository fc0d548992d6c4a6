//! `cobertura`: XML by class, which coverage tools of many languages write.

use super::elements::{Elements, read};
use super::{Files, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::{is_hit, whole, whole_or_below};
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// Cobertura XML.
pub const FORMAT: Format = Format {
    name: "cobertura",
    kind: ReportKind::Coverage,
    about: "Cobertura XML: lines and conditions of each class",
    written_by: "coverage.py, gcovr, coverlet, dotnet-coverage, tarpaulin, llvm-cov, Istanbul, PHPUnit",
    told_by: "root element coverage with packages",
    has_end: true,
    counting: "The lines of each class, by file name and line number; those of its methods only where the class has \
               none. Branches from condition-coverage=\"50% (1/2)\", the larger numbers where a line is met twice. The \
               totals of the root are only compared.",
    sniff,
    parse,
};

/// Lines of one class's methods that are held until it is known whether the class has lines of its own.
const METHOD_LINES: usize = 400_000;

fn sniff(head: &Head<'_>) -> Sniff {
    let Some(xml) = head.rooted(&["coverage"]) else { return Sniff::No };
    // mypy tells so how precise the types of each line are, not whether it ran.
    if head.lines().any(|line| line.trim_start().starts_with("<line ") && line.contains(" precision=\"")) {
        return Sniff::No;
    }
    if xml.has_child("packages") {
        return Sniff::Sure("root element coverage with packages".into());
    }
    let may_be = xml.has_attribute("line-rate") || xml.has_child("sources");
    if may_be && !xml.has_child("project") {
        return Sniff::Sure("root element coverage with a line-rate or sources".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    read::<Reader>(input, "coverage", "a Cobertura report")
}

/// What an open element is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Root,
    Class,
    /// `lines` of a class.
    Lines,
    /// `methods` of a class, and what is in them but their lines.
    Methods,
    /// `lines` of a method.
    MethodLines,
    Other,
}

/// One line as the report has it.
#[derive(Clone, Copy)]
struct Line {
    number: u64,
    covered: bool,
    /// Conditions taken, of how many.
    conditions: Option<(u64, u64)>,
}

#[derive(Default)]
struct Reader {
    open: Vec<Kind>,
    files: Files,
    /// Lines of the open class's methods: used if it has none of its own.
    method_lines: Vec<Line>,
    own_lines: bool,
    has_packages: bool,
    used: u64,
    /// Lines without number or hits, and conditions that cannot be read.
    unusable: u64,
    odd_conditions: u64,
    declared: Figures,
}

impl Elements for Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        let name = element.name();
        let kind = match (self.open.last(), name) {
            (None, _) => {
                self.declare(element)?;
                Kind::Root
            }
            (Some(Kind::Root), "packages") => {
                self.has_packages = true;
                Kind::Other
            }
            (Some(Kind::Other), "class") => {
                self.begin_class(element)?;
                Kind::Class
            }
            (Some(Kind::Class), "lines") => Kind::Lines,
            (Some(Kind::Class), "methods") => Kind::Methods,
            (Some(Kind::Methods), "method") => Kind::Methods,
            (Some(Kind::Methods), "lines") => Kind::MethodLines,
            (Some(Kind::Lines), "line") => {
                if let Some(line) = self.line(element)? {
                    self.own_lines = true;
                    self.add(line)?;
                }
                Kind::Other
            }
            (Some(Kind::MethodLines), "line") => {
                // Those of a class that has its own are counted nowhere, so what is odd about them does not matter.
                if !self.own_lines
                    && let Some(line) = self.line(element)?
                {
                    if self.method_lines.len() >= METHOD_LINES {
                        let why = format!("the methods of one class have more than {METHOD_LINES} lines");
                        return Err(Error::report(Reject::Refused, "report is too large").because(why));
                    }
                    self.method_lines.push(line);
                }
                Kind::Other
            }
            _ => Kind::Other,
        };
        self.open.push(kind);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.open.pop() == Some(Kind::Class) && !self.own_lines {
            for line in std::mem::take(&mut self.method_lines) {
                self.add(line)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        if !self.has_packages {
            return Err(Error::report(Reject::NotThisFormat, "not a Cobertura report: it has no packages"));
        }
        if self.used == 0 && self.unusable > 0 {
            return Err(Error::report(Reject::Malformed, "no line has both a number and hits"));
        }
        let mut parsed = self.files.finish(&FORMAT)?;
        compare_declared(&mut parsed, self.declared);
        if self.unusable > 0 {
            parsed.warnings.push(format!("{} lines without number or hits are left out", self.unusable));
        }
        if self.odd_conditions > 0 {
            parsed
                .warnings
                .push(format!("{} condition-coverage values are not as expected and left out", self.odd_conditions));
        }
        Ok(parsed)
    }
}

impl Reader {
    fn begin_class(&mut self, element: &Element<'_>) -> Result<()> {
        let name = element.attribute("filename")?.or(element.attribute("name")?);
        self.files.open(&printable(name.as_deref().unwrap_or("(unnamed)"), usize::MAX))?;
        self.own_lines = false;
        self.method_lines.clear();
        Ok(())
    }

    /// `None` if it has no number or no hits: it says nothing.
    fn line(&mut self, element: &Element<'_>) -> Result<Option<Line>> {
        let (mut number, mut hits, mut conditions) = (None, None, None);
        // Told apart here, and not by `Element::values`: so a report takes 7 % less time.
        for (name, value) in element.pairs() {
            match name {
                "number" => number = Some(element.value(value)?),
                "hits" => hits = Some(element.value(value)?),
                "condition-coverage" => conditions = Some(element.value(value)?),
                _ => {}
            }
        }
        let (Some(number), Some(hits)) = (number, hits) else {
            self.unusable += 1;
            return Ok(None);
        };
        let bad = |what: &str, value: &str| {
            Error::report(Reject::Malformed, format!("{what} {:?} is no whole number", printable(value, 40)))
        };
        let number = whole_or_below(&number).ok_or_else(|| bad("line number", &number))?;
        let covered = is_hit(&hits).ok_or_else(|| bad("hits", &hits))?;
        let conditions = conditions.and_then(|text| {
            let conditions = fraction(&text);
            self.odd_conditions += u64::from(conditions.is_none());
            conditions
        });
        Ok(Some(Line { number, covered, conditions }))
    }

    fn add(&mut self, line: Line) -> Result<()> {
        self.used += 1;
        let Some(tally) = self.files.current() else { return Ok(()) };
        tally.line(line.number, line.covered)?;
        match line.conditions.filter(|_| line.number > 0) {
            Some((taken, all)) => tally.condition(line.number, taken, all),
            None => Ok(()),
        }
    }

    fn declare(&mut self, root: &Element<'_>) -> Result<()> {
        let count = |name| -> Result<Option<u64>> { Ok(root.attribute(name)?.as_deref().and_then(whole)) };
        self.declared = Figures {
            lines_covered: count("lines-covered")?,
            lines_total: count("lines-valid")?,
            branches_covered: count("branches-covered")?,
            branches_total: count("branches-valid")?,
            ..Figures::default()
        };
        Ok(())
    }
}

/// The numbers of `50% (1/2)`.
fn fraction(text: &str) -> Option<(u64, u64)> {
    let (_, inner) = text.split_once('(')?;
    let (taken, all) = inner.strip_suffix(')')?.split_once('/')?;
    Some((whole(taken.trim())?, whole(all.trim())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(classes: &str) -> [Option<u64>; 4] {
        let text = format!("<coverage><packages><package><classes>{classes}</classes></package></packages></coverage>");
        let Figures { lines_covered, lines_total, branches_covered, branches_total, .. } =
            parse(&Input::bytes("x", text.as_bytes())).unwrap().figures;
        [lines_covered, lines_total, branches_covered, branches_total]
    }

    #[test]
    fn methods_lines_count_only_where_the_class_has_none() {
        let methods =
            "<methods><method><lines><line number='1' hits='1'/><line number='9' hits='1'/></lines></method></methods>";
        let lines = "<lines><line number='2' hits='0'/></lines>";
        assert_eq!(counts(&format!("<class filename='a'>{methods}</class>"))[..2], [Some(2), Some(2)]);
        for both in [format!("{methods}{lines}"), format!("{lines}{methods}")] {
            assert_eq!(counts(&format!("<class filename='a'>{both}</class>"))[..2], [Some(0), Some(1)]);
        }
        let next = format!("<class filename='a'>{methods}</class><class filename='b'><lines/></class>");
        assert_eq!(counts(&next)[..2], [Some(2), Some(2)], "one class's methods are not the next one's");
    }

    #[test]
    fn classes_of_one_file_share_its_lines_and_the_larger_conditions() {
        let line = |hits, conditions| {
            format!(
                "<class filename='a'><lines><line number='3' hits='{hits}' condition-coverage='{conditions}'/></lines></class>"
            )
        };
        let twice = line(0, "50% (1/2)") + &line(4, "0% ( 0 / 4 )");
        assert_eq!(counts(&twice), [Some(1), Some(1), Some(1), Some(4)]);
        assert_eq!(
            counts("<class name='A'><lines><line number='0' hits='1'/><line number='-1' hits='1'/></lines></class>")[1],
            Some(0)
        );
    }

    #[test]
    fn conditions_that_cannot_be_read_are_warned_of() {
        assert_eq!(fraction("50% (1/2)"), Some((1, 2)));
        for odd in ["50%", "(1/2", "(1)", "(-1/2)", "(1.0/2)", ""] {
            assert_eq!(fraction(odd), None, "{odd}");
        }
        let text = "<coverage><packages><p><class filename='a'><lines><line number='1' hits='1' condition-coverage='?'/></lines></class></p></packages></coverage>";
        assert_eq!(parse(&Input::bytes("x", text.as_bytes())).unwrap().warnings.len(), 1);
    }

    #[test]
    fn faults_name_the_line_they_are_in() {
        let text = "<coverage>\n<packages><p><class filename='a'><lines>\n  <line number='1' hits='x'/></lines></class></p></packages></coverage>";
        let error = parse(&Input::bytes("x", text.as_bytes())).unwrap_err();
        assert_eq!((error.place.line, error.place.column), (Some(3), Some(3)));
    }
}
