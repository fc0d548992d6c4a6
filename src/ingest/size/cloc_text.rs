//! `cloc-text`: the table that cloc prints, plain or as Markdown, by language or, with `--by-file`, by file; and that of
//! gocloc, which draws the same. Defined by cloc's manual.

use super::compare_declared;
use super::table::{self, Column, Layout, several, tables};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// cloc's table.
pub const FORMAT: Format = Format {
    name: "cloc-text",
    kind: ReportKind::Size,
    about: "table of cloc: code, comments and blank lines of each language or file",
    written_by: "cloc, cloc --by-file, cloc --md, cloc --sum-reports, gocloc",
    told_by: "a table with the columns Language or File, files, blank, comment and code",
    has_end: true,
    counting: "The rows added up; SUM is only compared. Of a table of files and one of languages the latter, of \
               several the last. Percentages (--by-percent), scaled lines (--3) and differences are not read.",
    sniff,
    parse,
};

const LAYOUT: Layout = Layout { tool: "cloc", heading, sums: &["SUM:", "TOTAL"], is_plain: true };

fn heading(cells: &[&str]) -> Option<Vec<Column>> {
    let (blank, comment, code) = (Column::Blanks, Column::Comments, Column::Code);
    match cells {
        ["Language" | "File", "files", "blank", "comment", "code"] => Some(vec![Column::Files, blank, comment, code]),
        ["File", "blank", "comment", "code"] => Some(vec![blank, comment, code]),
        _ => None,
    }
}

fn sniff(head: &Head<'_>) -> Sniff {
    if table::is_in(head, &LAYOUT) { Sniff::Sure("a table of cloc's columns".into()) } else { Sniff::No }
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    table::begins(line, &LAYOUT)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut told = tables(input, &LAYOUT)?;
    if told.iter().any(|table| table.by_language) {
        // `--by-file-by-lang` and `--sum-reports` tell everything twice.
        told.retain(|table| table.by_language);
    }
    let count = told.len();
    let table = told.pop().unwrap_or_default();
    let mut parsed = table.rows.sizes.finish(&FORMAT);
    if let Some(said) = table.said {
        compare_declared(&mut parsed, said.sizes);
    }
    parsed.warnings.extend(several(count));
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    fn counts(text: &str) -> Vec<u64> {
        read(text).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect()
    }

    const BY_LANGUAGE: &str = "github.com/AlDanial/cloc v 1.96  T=0.01 s\n-----\nLanguage files blank comment code\n-----\n\
        Bourne Shell 2 1 2 30\nC 1 4 5 60\n-----\nSUM: 3 5 7 90\n-----\n";

    #[test]
    fn every_table_tells_the_same() {
        assert_eq!(counts(BY_LANGUAGE), [3, 90, 7, 5]);
        let by_file = "-----\nFile blank comment code\n-----\na b.sh 1 1 20\nb.sh 0 1 10\nc.c 4 5 60\n-----\nSUM: 5 7 90\n-----\n";
        assert_eq!(counts(by_file), [3, 90, 7, 5]);
        let both = read(&format!("{by_file}{BY_LANGUAGE}")).unwrap();
        assert_eq!((both.figures.files, both.warnings.len()), (Some(3), 0));
        let markdown = "cloc|github.com/AlDanial/cloc v 1.96\n--- | ---\n\nLanguage|files|blank|comment|code\n:---|---:|---:|---:|---:\n\
            Bourne Shell|2|1|2|30\nC|1|4|5|60\n---|---|---|---|---\nSUM:|3|5|7|90\n";
        assert_eq!(counts(markdown), [3, 90, 7, 5]);
        let gocloc = BY_LANGUAGE.replace("SUM:", "TOTAL");
        assert_eq!(counts(&gocloc), [3, 90, 7, 5]);
    }

    #[test]
    fn sums_that_differ_and_several_tables_are_warned_of() {
        let other = BY_LANGUAGE.replace("SUM: 3 5 7 90", "SUM: 3 5 7 99");
        assert_eq!(read(&other).unwrap().warnings.len(), 1);
        assert_eq!(read(&format!("{BY_LANGUAGE}{BY_LANGUAGE}")).unwrap().warnings.len(), 1);
        let percent = BY_LANGUAGE.replace("C 1 4 5 60", "C 1 4.50 5.50 60");
        assert_eq!(read(&percent).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
