//! `findings-csv`: findings as linters write them into CSV, one a row, told apart by their headings.
//!
//! PHP_CodeSniffer's report `csv`, Bandit's, PMD's, SwiftLint's, Flawfinder's, Brakeman's and Gitleaks's; without a
//! heading CodeQL's and gosec's. None of them has an end: a cut shows inside a row only.
//! <https://github.com/PHPCSStandards/PHP_CodeSniffer/wiki/Reporting>,
//! <https://bandit.readthedocs.io/en/latest/formatters/csv.html>, <https://docs.pmd-code.org/latest/pmd_userdocs_report_formats.html>,
//! <https://docs.github.com/en/code-security/codeql-cli/using-the-advanced-functionality-of-the-codeql-cli/csv-output>

use super::LintTally;
use super::lines::finding;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, fields};
use crate::ingest::values::{leading_in, whole};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// CSV of linters.
pub const FORMAT: Format = Format {
    name: "findings-csv",
    kind: ReportKind::Lint,
    about: "findings as linters write them into CSV",
    written_by: "phpcs --report=csv, bandit -f csv, pmd -f csv, swiftlint --reporter csv, flawfinder --csv, brakeman \
                 -f csv, gitleaks -f csv, codeql database analyze --format=csv, gosec -fmt=csv",
    told_by: "the heading of one of them, or nine columns as CodeQL writes them, or gosec's",
    has_end: false,
    counting: "Rows by level, as in the JSON of each tool. Of Flawfinder risks from 4 on are errors, 3 is a warning, \
               what is below a note, as in its SARIF.",
    sniff: |head| match Table::of(&first_row(head)) {
        Some(table) => Sniff::Sure(format!("a row as {} writes it", table.tool)),
        None => Sniff::No,
    },
    parse,
};

/// Longest row of several lines, in bytes: Gitleaks and gosec quote code.
const LONGEST_ROW: usize = 1024 * 1024;

/// The first row, as far as it stands in one line.
fn first_row(head: &Head<'_>) -> Vec<String> {
    let first = head.first_line().unwrap_or_default();
    // gosec's first row may go on below.
    fields(first, ',').or_else(|| fields(&format!("{first}\""), ',')).unwrap_or_default()
}

/// How a tool's rows are told and read.
#[derive(Clone, Copy)]
struct Table {
    tool: &'static str,
    /// How its heading begins; empty if it has none.
    heading: &'static [&'static str],
    path: &'static str,
    line: &'static str,
    level: &'static str,
    rule: &'static str,
    message: &'static str,
    /// Its headings, where the file has none.
    columns: &'static [&'static str],
}

const TABLES: [Table; 9] = [
    Table {
        tool: "phpcs",
        heading: &["File", "Line", "Column", "Type", "Message", "Source"],
        path: "File",
        line: "Line",
        level: "Type",
        rule: "Source",
        message: "Message",
        columns: &[],
    },
    Table {
        tool: "bandit",
        heading: &["filename", "test_name", "test_id", "issue_severity"],
        path: "filename",
        line: "line_number",
        level: "issue_severity",
        rule: "test_id",
        message: "issue_text",
        columns: &[],
    },
    Table {
        tool: "pmd",
        heading: &["Problem", "Package", "File", "Priority", "Line"],
        path: "File",
        line: "Line",
        level: "Priority",
        rule: "Rule",
        message: "Description",
        columns: &[],
    },
    Table {
        tool: "swiftlint",
        heading: &["file", "line", "character", "severity", "type", "reason"],
        path: "file",
        line: "line",
        level: "severity",
        rule: "rule_id",
        message: "reason",
        columns: &[],
    },
    Table {
        tool: "flawfinder",
        heading: &["File", "Line", "Column", "DefaultLevel", "Level"],
        path: "File",
        line: "Line",
        level: "Level",
        rule: "Name",
        message: "Warning",
        columns: &[],
    },
    Table {
        tool: "brakeman",
        heading: &["Confidence", "Warning Type"],
        path: "File",
        line: "Line",
        level: "Confidence",
        rule: "Warning Type",
        message: "Message",
        columns: &[],
    },
    Table {
        tool: "gitleaks",
        heading: &["RuleID", "Commit", "File"],
        path: "File",
        line: "StartLine",
        level: "",
        rule: "RuleID",
        message: "",
        columns: &[],
    },
    Table {
        tool: "codeql",
        heading: &[],
        path: "path",
        line: "start line",
        level: "severity",
        rule: "name",
        message: "message",
        columns: &[
            "name",
            "description",
            "severity",
            "message",
            "path",
            "start line",
            "start column",
            "end line",
            "end column",
        ],
    },
    Table {
        tool: "gosec",
        heading: &[],
        path: "file",
        line: "line",
        level: "severity",
        rule: "cwe",
        message: "details",
        columns: &["file", "line", "details", "severity", "confidence", "code", "cwe"],
    },
];

impl Table {
    /// Whose row it is.
    fn of(row: &[String]) -> Option<Table> {
        TABLES.into_iter().find(|table| match table.heading {
            [] => table.fits(row),
            heading => row.len() >= heading.len() && heading.iter().zip(row).all(|(one, column)| one == column),
        })
    }

    /// Whether it is a row of one who writes no heading.
    fn fits(&self, row: &[String]) -> bool {
        match row {
            [_, _, severity, _, _, numbers @ ..] if self.tool == "codeql" => {
                let is_level = matches!(severity.as_str(), "error" | "warning" | "recommendation");
                is_level && numbers.len() == 4 && numbers.iter().all(|number| whole(number).is_some())
            }
            [path, line, _, severity, confidence, _, ..] if self.tool == "gosec" => {
                let is_level = |word: &str| matches!(word, "HIGH" | "MEDIUM" | "LOW");
                path.ends_with(".go") && leading_in(line).is_some() && is_level(severity) && is_level(confidence)
            }
            _ => false,
        }
    }

    /// The level in a row; none if it is no word that the tool writes.
    fn level(&self, word: &str) -> Option<Level> {
        Some(match (self.tool, word) {
            ("gitleaks", _) => Level::Error,
            ("pmd", "1" | "2") | ("flawfinder", "4" | "5") => Level::Error,
            ("pmd", "3" | "4") | ("flawfinder", "3") => Level::Warning,
            ("pmd", "5") | ("flawfinder", "0" | "1" | "2") => Level::Note,
            _ => match word.to_ascii_lowercase().as_str() {
                "error" | "high" => Level::Error,
                "warning" | "medium" => Level::Warning,
                "low" | "weak" | "undefined" | "recommendation" => Level::Note,
                _ => return None,
            },
        })
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut rows = Rows::default();
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        rows.line(&line.text, line.ended).map_err(|error| error.line(line.number))?;
    }
    rows.finish().map_err(|error| error.line(lines.number()))
}

/// Reads rows, which may go over several lines.
#[derive(Default)]
struct Rows {
    tally: LintTally,
    table: Option<(Table, Vec<String>)>,
    row: String,
    /// A quote of the row is not closed yet, or the row has no end.
    is_open: bool,
}

impl Rows {
    fn line(&mut self, text: &str, ended: bool) -> Result<()> {
        if !self.is_open && text.trim().is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_open, false) {
            self.row.clear();
        } else if self.row.len() < LONGEST_ROW {
            self.row.push('\n');
        } else {
            return Err(Error::report(Reject::Malformed, "a row is longer than 1 MiB"));
        }
        // PHP_CodeSniffer escapes a quote as no CSV does.
        let is_phpcs = self.table.as_ref().is_some_and(|(table, _)| table.tool == "phpcs");
        let start = self.row.len();
        self.row.push_str(&if is_phpcs { text.replace("\\\"", "\"\"") } else { text.to_owned() });
        let quotes = self.row.bytes().skip(start).filter(|byte| *byte == b'"').count();
        // The row was open before where it holds a line already.
        self.is_open = (quotes % 2 == 1) != (start > 0);
        if self.is_open {
            return Ok(());
        }
        let cells = fields(&self.row, ',').unwrap_or_default();
        let is_heading = self.table.is_none() && Table::of(&cells).is_some_and(|table| table.columns.is_empty());
        // What is cut in its last column looks whole, unless that is quoted, or one digit; a heading looks like others.
        let is_closed =
            (text.ends_with('"') && !is_heading) || (is_phpcs && cells.last().is_some_and(|last| last.len() == 1));
        self.is_open = !ended && !is_closed;
        if self.is_open {
            return Ok(());
        }
        match &self.table {
            Some((table, columns)) => add(&mut self.tally, *table, columns, &cells),
            None => self.first(cells),
        }
    }

    /// The heading, or the first row.
    fn first(&mut self, cells: Vec<String>) -> Result<()> {
        let not_ours = || Error::report(Reject::NotThisFormat, "not CSV of a linter that is known");
        let table = Table::of(&cells).ok_or_else(not_ours)?;
        self.tally.tool(table.tool, Sort::Linter);
        let columns = match table.columns {
            [] => cells,
            columns => {
                let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
                add(&mut self.tally, table, &columns, &cells)?;
                columns
            }
        };
        self.table = Some((table, columns));
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        if self.is_open {
            return Err(Error::report(Reject::Malformed, "report ends inside a row").help(CUT_HELP));
        }
        if self.table.is_none() {
            return Err(Error::report(Reject::NotThisFormat, "not CSV of a linter: it has no row"));
        }
        self.tally.finish(&FORMAT)
    }
}

/// Counts a row.
fn add(tally: &mut LintTally, table: Table, columns: &[String], cells: &[String]) -> Result<()> {
    let cell = |name: &str| {
        let at = columns.iter().position(|column| column == name)?;
        cells.get(at).map(String::as_str)
    };
    let level = table.level(cell(table.level).unwrap_or_default());
    // gosec 2.14 and before tells no CWE, others add columns at the end.
    let is_whole = cells.len() == columns.len() || (!table.columns.is_empty() && table.fits(cells));
    let Some(level) = level.filter(|_| is_whole) else {
        let why = format!("not a row as {} writes it", table.tool);
        return Err(Error::report(Reject::Malformed, why).help(CUT_HELP));
    };
    let line = cell(table.line).and_then(leading_in).map(|(line, _)| line).filter(|line| *line > 0);
    let message = cell(table.message).unwrap_or_default();
    tally.finding(finding(table.tool, level, (cell(table.path), line), cell(table.rule), message), Sort::Linter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::lint::tests_support::first_finding;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    const PHPCS: &str = "File,Line,Column,Type,Message,Source,Severity,Fixable\n\
        \"/p/a.php\",2,1,error,\"Class name \\\"a, b\\\" is wrong\",Squiz.Classes.ValidClassName,5,0\n\
        \"/p/a.php\",5,141,warning,\"Line exceeds 120 characters\",Generic.Files.LineLength,5,0\n";
    const BANDIT: &str = "filename,test_name,test_id,issue_severity,issue_confidence,issue_text,line_number,line_range,more_info\n\
        a.py,assert_used,B101,LOW,HIGH,Use of assert,3,[3],-\na.py,shell,B602,HIGH,HIGH,\"a, b\",14,\"[14, 15]\",-\n\
        a.py,pickle,B301,MEDIUM,HIGH,x,16,[16],-\n";
    const PMD: &str = "\"Problem\",\"Package\",\"File\",\"Priority\",\"Line\",\"Description\",\"Rule set\",\"Rule\"\n\
        \"1\",\"p\",\"/A.java\",\"1\",\"3\",\"a, \"\"b\"\"\",\"Design\",\"GodClass\"\n\"2\",\"p\",\"/A.java\",\"3\",\"4\",\"c\",\"Design\",\"X\"\n\
        \"3\",\"p\",\"/A.java\",\"5\",\"4\",\"c\",\"Design\",\"X\"\n";
    const SWIFTLINT: &str =
        "file,line,character,severity,type,reason,rule_id\n/A.swift,3,,Warning,Line Length,too long,line_length\n";
    const FLAWFINDER: &str = "File,Line,Column,DefaultLevel,Level,Category,Name,Warning,Suggestion,Note,CWEs,Context\n\
        a.c,3,47,4,4,buffer,strcpy,\"x, y\",,,CWE-120,\"strcpy(b, \"\"c\"\");\"\na.c,4,1,2,2,buffer,char,x,,,CWE-119,c\n";
    const BRAKEMAN: &str = "Confidence,Warning Type,CWE,File,Line,Message,Code,User Input,Check Name,Warning Code,Fingerprint,Link\n\
        High,SQL Injection,89,app/a.rb,4,m,c,,SQL,0,f,l\nWeak,X,89,app/a.rb,,m,c,,SQL,0,f,l\n";
    const GITLEAKS: &str = "RuleID,Commit,File,SymlinkFile,Secret,Match,StartLine,EndLine,StartColumn,EndColumn,Author,Message,Date,Email,Fingerprint\n\
        private-key,,k.pem,,\"-----BEGIN\nabc\n-----END\",m,1,3,1,4,,,,,k.pem:private-key:1\n";
    const CODEQL: &str = "\"Unused import\",\"Imports that \"\"are\"\" not used\",\"recommendation\",\"Import of os\",\"/a.py\",\"1\",\"1\",\"1\",\"9\"\n\
        \"Shell\",\"d\",\"error\",\"m\",\"/a.py\",\"4\",\"1\",\"4\",\"9\"\n";
    const GOSEC: &str = "/p/a.go,7-9,Errors unhandled,LOW,HIGH,\"6: x\n7: f(\"\"a\"\")\n\",CWE-703\n/p/a.go,9,Weak,HIGH,MEDIUM,9: c,CWE-1\n";

    #[test]
    fn each_tool_s_rows_have_their_place_level_and_rule() {
        type First = (&'static str, Option<u64>, &'static str, &'static str);
        let rows: [(&str, [u64; 3], First); 9] = [
            (PHPCS, [1, 1, 0], ("/p/a.php", Some(2), "Squiz.Classes.ValidClassName", "Class name \"a, b\" is wrong")),
            (BANDIT, [1, 1, 1], ("a.py", Some(3), "B101", "Use of assert")),
            (PMD, [1, 1, 1], ("/A.java", Some(3), "GodClass", "a, \"b\"")),
            (SWIFTLINT, [0, 1, 0], ("/A.swift", Some(3), "line_length", "too long")),
            (FLAWFINDER, [1, 0, 1], ("a.c", Some(3), "strcpy", "x, y")),
            (BRAKEMAN, [1, 0, 1], ("app/a.rb", Some(4), "SQL Injection", "m")),
            (GITLEAKS, [1, 0, 0], ("k.pem", Some(1), "private-key", "private-key")),
            (CODEQL, [1, 0, 1], ("/a.py", Some(1), "Unused import", "Import of os")),
            (GOSEC, [1, 0, 1], ("/p/a.go", Some(7), "CWE-703", "Errors unhandled")),
        ];
        for (text, counts, (path, line, rule, message)) in rows {
            let parsed = read(text).unwrap();
            let figures = &parsed.figures;
            assert_eq!([figures.errors, figures.warnings, figures.notes], counts.map(Some), "{text}");
            assert_eq!(first_finding(&parsed), (Some(path), line, Some(rule), message));
        }
    }

    #[test]
    fn a_heading_alone_is_zero_and_what_is_cut_is_rejected() {
        assert_eq!(read(BANDIT.split_inclusive('\n').next().unwrap()).unwrap().figures.total, Some(0));
        for text in [PHPCS, BANDIT, PMD, FLAWFINDER, GITLEAKS, CODEQL, GOSEC] {
            let heading = text.find('\n').unwrap();
            let last = text.trim_end().rfind('\n').unwrap();
            // A row that ends in a quote is whole.
            let heading = Some(heading).filter(|_| !text.starts_with("\"Unused import"));
            for cut in heading.into_iter().chain([last + 4, last + 20]) {
                let cut = text.get(..cut).unwrap();
                assert!(read(cut).is_err(), "{cut}");
            }
        }
        let odd = PHPCS.replace(",warning,", ",odd,");
        assert_eq!(read(&odd).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parse(&Input::bytes("x", b"a,b\n1,2\n")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
