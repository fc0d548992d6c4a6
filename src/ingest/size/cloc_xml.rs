//! `cloc-xml`: what `cloc --xml` writes, by language or, with `--by-file`, by file; pygount and gocloc write it too. Defined by
//! cloc's manual.

use super::{Sizes, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{LONGEST_BYTES, Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::xml::{Element, Event, Xml};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// XML of cloc.
pub const FORMAT: Format = Format {
    name: "cloc-xml",
    kind: ReportKind::Size,
    about: "cloc XML: code, comments and blank lines of each language or file",
    written_by: "cloc --xml, cloc --by-file --xml, pygount --format cloc-xml, gocloc --output-type cloc-xml",
    told_by: "root element results with files or languages, and nothing but a header before them",
    has_end: true,
    counting: "The languages added up, or the files where no languages are told; total is only compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |name: &String| matches!(name.as_str(), "header" | "files" | "languages");
    if head
        .rooted(&["results"])
        .is_some_and(|xml| xml.attributes.is_empty() && !xml.children.is_empty() && xml.children.iter().all(is_ours))
    {
        return Sniff::Sure("root element results with files or languages".into());
    }
    let has_url = head.xml().is_none() && head.lines().any(|line| line.contains("<cloc_url"));
    if has_url && !head.is_of_tests() { Sniff::Sure("a header with cloc_url".into()) } else { Sniff::No }
}

/// What `files` or `languages` holds.
#[derive(Default)]
struct List {
    rows: Sizes,
    said: Option<Sizes>,
}

#[derive(Default)]
struct Reader {
    /// The names of the open elements.
    open: Vec<String>,
    files: Option<List>,
    languages: Option<List>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let mut is_first = true;
    while let Some(line) = lines.next()? {
        if line.text.trim_start().starts_with('<') {
            break;
        }
        is_first &= line.text.trim().is_empty();
    }
    if is_first {
        return read(input);
    }
    // What cloc says of its progress goes where the report goes, unless it is told to be quiet.
    let mut text = String::new();
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        if text.is_empty() && !line.text.trim_start().starts_with('<') {
            continue;
        }
        text.push_str(&line.text);
        text.push('\n');
        if text.len() > LONGEST_BYTES {
            return Err(Error::report(Reject::Malformed, "text stands before XML of more than 8 MiB")
                .line(1)
                .help("let cloc write the report itself: --out FILE"));
        }
    }
    read(&Input::bytes(input.name(), text.as_bytes()))
}

fn read(input: &Input<'_>) -> Result<Parsed> {
    let mut xml = Xml::new(input)?;
    let mut reader = Reader::default();
    loop {
        match xml.next()? {
            Event::Start(element) => {
                let spot = element.spot();
                reader.start(&element).map_err(|error| error.line_column(spot.line, spot.column))?;
            }
            Event::Text(..) => {}
            Event::End => drop(reader.open.pop()),
            Event::Done => return reader.finish(),
        }
    }
}

impl Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        let name = element.name().to_owned();
        let open: Vec<&str> = self.open.iter().map(String::as_str).collect();
        match (open.as_slice(), name.as_str()) {
            ([], "results") => {}
            ([], _) => {
                let why = format!("not a report of cloc: its root element is {:?}", printable(&name, 40));
                return Err(Error::report(Reject::NotThisFormat, why));
            }
            (["results"], "files") => drop(self.files.get_or_insert_default()),
            (["results"], "languages") => drop(self.languages.get_or_insert_default()),
            (["results", "files"], _) => take(self.files.get_or_insert_default(), element)?,
            (["results", "languages"], _) => take(self.languages.get_or_insert_default(), element)?,
            _ => {}
        }
        self.open.push(name);
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        // With `--by-file-by-lang` everything is told twice.
        let Some(list) = self.languages.or(self.files) else {
            let why = "cloc counted nothing: neither files nor languages are in it";
            return Err(Error::report(Reject::NoResult, why).help("was it given the folder with the sources?"));
        };
        let mut parsed = list.rows.finish(&FORMAT);
        if let Some(said) = list.said {
            compare_declared(&mut parsed, said);
        }
        Ok(parsed)
    }
}

/// A file, a language, or the sum.
fn take(list: &mut List, element: &Element<'_>) -> Result<()> {
    let name = element.name();
    if !matches!(name, "file" | "language" | "total") {
        return Ok(());
    }
    let [files, code, comments, blanks] = element.attributes(["files_count", "code", "comment", "blank"])?;
    let count = |value: Option<String>, what: &str| {
        let bad = || Error::report(Reject::Malformed, format!("{what} of {name} is no whole number"));
        value.as_deref().and_then(whole).ok_or_else(bad)
    };
    let files = if name == "language" { count(files, "files_count")? } else { 1 };
    let (code, comments, blanks) = (count(code, "code")?, count(comments, "comment")?, count(blanks, "blank")?);
    let sizes = Sizes { files, code, comments, blanks };
    if name == "total" {
        list.said = Some(sizes);
        return Ok(());
    }
    list.rows.add(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inside: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", format!("<results><header><code>9</code></header>{inside}</results>").as_bytes()))
    }

    const FILES: &str = "<files><file name='a' blank='1' comment='2' code='30' language='C'/><file name='b' blank='3' comment='0' code='10'/>\
        <total blank='4' comment='2' code='40'/></files>";

    #[test]
    fn what_is_told_twice_counts_once() {
        let languages = "<languages><language name='C' files_count='2' blank='4' comment='2' code='40'/><total sum_files='2' blank='4' \
            comment='2' code='40'/></languages>";
        for inside in [FILES, languages, &format!("{FILES}{languages}")] {
            let parsed = read(inside).unwrap();
            let counts: Vec<u64> = parsed.figures.counts().into_iter().map(|(_, count)| count).collect();
            assert_eq!((counts, parsed.warnings.len()), (vec![2, 40, 2, 4], 0), "{inside}");
        }
        assert_eq!(read(&FILES.replace("code='40'", "code='41'")).unwrap().warnings.len(), 1);
        let progress = format!(
            "       5 text files.\n\n<?xml version='1.0'?><results>\n<header>\n<cloc_url>x</cloc_url></header>{FILES}</results>\n"
        );
        let parsed = crate::ingest::parse(&Input::bytes("x", progress.as_bytes()), None).unwrap();
        assert_eq!((parsed.format, parsed.figures.files), (&FORMAT, Some(2)));
    }

    #[test]
    fn what_does_not_tell_its_lines_is_refused() {
        for bad in
            [FILES.replace("30", "8.33"), FILES.replace("comment='0'", ""), "<languages><language code='1'/>".into()]
        {
            assert_eq!(read(&bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        assert_eq!(read("").unwrap_err().reject(), Some(Reject::NoResult));
        let other = parse(&Input::bytes("x", b"<diff_results/>")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
