//! `brief-coverage-text`: the sums of coverage that tools print in a line, a few lines below each other, or the last row of a
//! table, every one in words of its own. Those of lcov, gcovr, PHPUnit, SimpleCov, Node, Deno and mix were captured; the rest
//! is written after the tools' sources and documentation.
//!
//! Some tell counts, some a percentage alone.

use std::collections::BTreeMap;

use self::lines::{Summary, Table};
use super::table::several;
use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{CUT_HELP, CoverageDetails, Details, Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

mod lines;

/// What tools of coverage sum up.
pub const FORMAT: Format = Format {
    name: "brief-coverage-text",
    kind: ReportKind::Coverage,
    about: "sums of coverage in terminal output",
    written_by: "lcov --summary, lcov --list, genhtml, gcov, gcovr --print-summary, gcovr --markdown, PHPUnit \
                 --coverage-text, Pest --coverage, SimpleCov, cargo tarpaulin, node --test, deno coverage, mix test \
                 --cover, ExCoveralls, forge coverage, coverlet, OpenCover, ReportGenerator, CTest, Kover, scoverage, \
                 Pester, Slather, bisect_ppx, hpc, rebar3, slipcover, LuaCov, Devel::Cover, Istanbul and others for \
                 TeamCity",
    told_by: "the sums of one of them, as \"lines......: 75.0% (6 of 8 lines)\" or \"75.00% coverage, 6/8 lines covered\"",
    has_end: false,
    counting: "The counts of the last sums; the percentage of lines, else of statements, where no counts are told. \
               Commands that Pester analyzed and points of OpenCover's are statements.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    let mut told = Told::default();
    for line in head.lines() {
        told.line(line);
    }
    match told.last().filter(|_| !head.is_of_tests()) {
        // A log of compilers or linters may end with such sums.
        Some(summary) => Sniff::Maybe(format!("the sums of {}", summary.tool)),
        None => Sniff::No,
    }
}

/// What was summed up so far.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Told {
    table: Option<Table>,
    /// More of it may come.
    open: Option<Summary>,
    /// The one before it.
    before: Option<Summary>,
    /// How many others the last one took the place of.
    others: u64,
    /// The line before names a file or a function of gcov's, or a module of hpc's, whose share comes below.
    is_named: bool,
}

impl Told {
    /// Takes a line. Whether it would tell the same however it went on, if it tells anything.
    pub(in crate::ingest) fn line(&mut self, text: &str) -> Option<bool> {
        let is_named = ["File '", "Function '", "-----<module "].iter().any(|begin| text.starts_with(begin));
        let is_share = || text.starts_with("Lines executed:") || text.contains("% expressions used (");
        if std::mem::replace(&mut self.is_named, is_named) && is_share() {
            return None;
        }
        if let Some(table) = Table::begun(text) {
            self.table = Some(table);
            return None;
        }
        let row = self.table.as_ref().and_then(|table| table.row(text));
        if row.is_some() {
            self.table = None;
        }
        let (summary, is_closed) = row.map(|row| (row, text.ends_with('|'))).or_else(|| Summary::of_line(text))?;
        self.open = match self.open {
            Some(open) => open.with(summary).or_else(|| {
                if open.is_whole() {
                    self.before = Some(open);
                    self.others = self.others.saturating_add(1);
                }
                Some(summary)
            }),
            None => Some(summary),
        };
        Some(is_closed)
    }

    /// The last that tells lines or statements.
    fn last(&self) -> Option<Summary> {
        self.open.filter(Summary::is_whole).or(self.before)
    }

    /// Likewise, as a report.
    ///
    /// # Errors
    /// A sum does not fit.
    pub(in crate::ingest) fn report(&self) -> Result<Option<Parsed>> {
        let Some(summary) = self.last() else { return Ok(None) };
        let mut parsed = report_of(summary)?;
        // What was begun after the last whole one is none.
        let sums = self.others + u64::from(self.open.is_some_and(|open| open.is_whole()));
        parsed.warnings.extend(several(sums, "sums of coverage"));
        Ok(Some(parsed))
    }
}

fn report_of(summary: Summary) -> Result<Parsed> {
    let lines = summary.lines.part();
    let statements = summary.statements.part();
    if lines.is_none() && statements.is_none() {
        let percent_covered = summary.lines.percent.or(summary.statements.percent);
        let figures = Figures { percent_covered, ..Figures::default() };
        return Ok(Parsed::new(&FORMAT, figures, Details::Coverage(CoverageDetails::default())));
    }
    let or_none = |part: Option<Part>| part.unwrap_or_default();
    let totals = Totals {
        lines,
        statements: or_none(statements),
        branches: or_none(summary.branches.part()),
        functions: or_none(summary.functions.part()),
        ..Totals::default()
    };
    totals.finish(&FORMAT, BTreeMap::new())
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut told, mut last, mut is_cut) = (Told::default(), 0, false);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        let is_closed = told.line(text) == Some(true);
        is_cut = !line.ended && !is_closed && !text.is_empty();
    }
    if is_cut && told.last().is_some() {
        return Err(Error::report(Reject::Malformed, "report ends inside a line").line(last).help(CUT_HELP));
    }
    if told.table.is_some() {
        return Err(Error::report(Reject::Malformed, "a table ends before its sums").line(last).help(CUT_HELP));
    }
    let none = || Error::report(Reject::NotThisFormat, "no sums of a tool of coverage are in it");
    told.report()?.ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    /// Lines, statements, branches and functions, covered and in all; or the percentage.
    fn told(text: &str) -> String {
        let parsed = read(text).unwrap();
        assert_eq!(parsed.format, &FORMAT, "{text}");
        let figures = parsed.figures;
        let percent = figures.percent_covered.map(|percent| format!("{percent}%"));
        percent.unwrap_or_else(|| {
            let short = |(key, count): (&str, u64)| format!("{}{count}", key.get(..1).unwrap());
            figures.counts().into_iter().map(short).collect::<Vec<_>>().join(" ")
        })
    }

    #[test]
    fn each_tool_s_sums_are_counts_or_a_percentage() {
        for (text, expected) in [
            ("  |  module  |  coverage  |\n  |----|----|\n  |  cart  |  10%  |\n  |  total  |  33%  |\n", "33.00%"),
            (
                "Summary coverage rate:\n  lines......: 75.0% (6 of 8 lines)\n  functions..: 100.0% (1 of 1 function)\n  \
                 branches...: no data found\n",
                "l6 l8 f1 f1",
            ),
            (
                "  source files: 1\n  lines.......: 75.0% (6 of 8 lines)\n  branches....: 50.0% (3 of 6 branches)\n",
                "l6 l8 b3 b6",
            ),
            (
                "lines: 75.0% (6 out of 8)\nfunctions: 100.0% (1 out of 1)\nbranches: 50.0% (3 out of 6)\n",
                "l6 l8 b3 b6 f1 f1",
            ),
            (
                " Summary:\n  Classes:  0.00% (0/1)\n  Methods: 66.67% (2/3)\n  Lines:   75.00% (6/8)\n\nCart\n  Methods:  66.67% ( 2/ 3)   Lines:  75.00% (  6/  8)\n",
                "l6 l8",
            ),
            ("  Branches: 50.00% (3/6)\n  Lines:   75.00% ( 6/ 8)\n", "l6 l8 b3 b6"),
            ("  Cart ........ 75.0%\n  ------\n               Total: 75.0 %\n", "75.00%"),
            (
                "Coverage report generated for RSpec, Unit to /app/cov. 1/coverage. 6 / 8 LOC (75.0%) covered.\n",
                "l6 l8",
            ),
            ("Line Coverage: 75.0% (6 / 8)\nBranch Coverage: 50.0% (3 / 6)\n", "l6 l8 b3 b6"),
            ("Line coverage: 6 / 8 (75.00%)\nBranch coverage: 3 / 6 (50.00%)\n", "l6 l8 b3 b6"),
            (
                "|| src/lib.rs: 6/8 +0.00%\n|| \n75.00% coverage, 6/8 lines covered, +0.00% change in coverage\n",
                "l6 l8",
            ),
            ("Visited Classes 1 of 2 (50)\nVisited Points 6 of 8 (75)\nVisited Branches 3 of 6 (50)\n", "b3 b6 s6 s8"),
            (
                "Summary\n  Line coverage: 75%\n  Covered lines: 6\n  Uncovered lines: 2\n  Coverable lines: 8\n  Total lines: 30\n  \
                 Branch coverage: 50% (3 of 6)\n  Covered branches: 3\n  Total branches: 6\n",
                "l6 l8 b3 b6",
            ),
            (" 75.00 %   6/8    Project coverage\n", "s6 s8"),
            ("\tCovered LOC:         6\n\tNot covered LOC:     2\n\tTotal LOC:           8\n", "l6 l8"),
            ("application line coverage: 75.0%\n", "75.00%"),
            ("[info] Statement coverage.: 75.00%\n[info] Branch coverage....: 50.00%\n", "75.00%"),
            ("COV    FILE    LINES RELEVANT   MISSED\n 75.0% lib/a.ex  20  8  2\n[TOTAL]  75.0%\n----\n", "75.00%"),
            ("Covered 75% / 80%. 8 analyzed Commands in 1 File.\n", "75.00%"),
            ("Coverage: 6/8 (75.00%)\n", "s6 s8"),
            (
                "# GCC Code Coverage Report\n| Metric        | Coverage |\n|---|---|\n| **Lines**     | 🟡 6/8 (75.0%) |\n\
                 | **Functions** | 🟢 1/1 (100.0%) |\n| **Branches**  | 🔴 3/6 (50.0%) |\n\n| **`a.c`** | 🟢 1/1 (100.0%) |\n",
                "l6 l8 b3 b6 f1 f1",
            ),
            (
                "File 'a.c'\nLines executed:50.00% of 2\nCreating 'a.c.gcov'\n\nFile 'b.c'\nLines executed:83.33% of 6\n\
                 Creating 'b.c.gcov'\n\nLines executed:75.00% of 8\n",
                "75.00%",
            ),
            (
                "            |Lines       |Functions  |Branches    \nFilename    |Rate     Num|Rate    Num|Rate     Num\n====\n\
                 a.cpp       |75.0%      8| 100%     3|    -      0\n====\n      Total:|75.0%      8| 100%     3|    -      0\n",
                "75.00%",
            ),
            (" 75% expressions used (6/8)\n 50% boolean coverage (1/2)\n", "s6 s8"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn the_last_row_of_a_table_is_its_sum() {
        for (text, expected) in [
            (
                "ℹ start of coverage report\nℹ file     | line % | branch % | funcs % | uncovered lines\nℹ a.js     |  75.00 |    50.00 |  100.00 | 3\n\
                 ℹ all files |  75.00 |    50.00 |  100.00 | \nℹ end of coverage report\n",
                "75.00%",
            ),
            (
                "# file | line % | branch % | funcs % | uncovered lines\n# all files | 75.00 | 50.00 | 100.00 |\n",
                "75.00%",
            ),
            (
                "| File      | Branch % | Line % |\n| --- | --- | --- |\n| a.ts | 50.0 | 75.0 |\n| All files | 50.0 | 75.0 |\n",
                "75.00%",
            ),
            (
                "File | Branch % | Function % | Line % |\n a.ts | 50.0 | 1 | 75.0 |\n All files | 50.0 | 1 | 75.0 |\n",
                "75.00%",
            ),
            (
                "| File | % Lines | % Statements | % Branches | % Funcs |\n| src/A.sol | 75.00% (6/8) | 70.00% (7/10) | 50.00% (3/6) | 100.00% (2/2) |\n\
                 | Total | 75.00% (6/8) | 70.00% (7/10) | 50.00% (3/6) | 100.00% (2/2) |\n",
                "l6 l8 b3 b6 f2 f2 s7 s10",
            ),
            (
                "|         | Line | Branch | Method |\n+---\n| Total   | 75%  | 50%    | 100%   |\n| Average | 70%  | 50%    | 100%   |\n",
                "75.00%",
            ),
            (
                "Percentage | Module\n-----------|---\n    75.00% | Shop\n-----------|---\n    75.00% | Total\n",
                "75.00%",
            ),
            ("| Percentage | Module |\n|-----------|---|\n|    75.00% | Shop  |\n|    75.00% | Total |\n", "75.00%"),
            (
                "File       Hits Missed Coverage\n----\nsrc/a.lua  6    2      75.00%\n----\nTotal      6    2      75.00%\n",
                "l6 l8",
            ),
            (
                "##teamcity[buildStatisticValue key='CodeCoverageAbsBTotal' value='11']\n\
                 ##teamcity[buildStatisticValue key='CodeCoverageAbsRCovered' value='0']\n\
                 ##teamcity[buildStatisticValue key='CodeCoverageAbsRTotal' value='2']\n\
                 ##teamcity[buildStatisticValue key='CodeCoverageAbsLCovered' value='4']\n\
                 ##teamcity[buildStatisticValue key='CodeCoverageAbsLTotal' value='5']\n",
                "l4 l5 b0 b2",
            ),
            (
                "---- ------ ------\nFile    stmt   bran   cond    sub   time  total\n----\nlib/a.pm  85.7   50.0    n/a   66.6    0.0   75.0\n\
                 Total   96.4   50.0    n/a   85.7  100.0   91.8\n",
                "96.40%",
            ),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn of_several_sums_the_last_counts() {
        let one = |covered: u32| format!("lines: 75.0% ({covered} out of 8)\nbranches: 50.0% (3 out of 6)\n");
        assert_eq!(told(&format!("{}{}", one(2), one(6))), "l6 l8 b3 b6");
        assert_eq!(told(&format!("{}branches: 50.0% (3 out of 6)\n", one(6))), "l6 l8 b3 b6", "half a sum is none");
        assert_eq!(told(&format!("{}  Lines:   75.00% (1/8)\n", one(6))), "l1 l8");
        let module = "-----<module Cart>-----\n 55% expressions used (10/18)\n";
        let whole = " 66% expressions used (22/33)\n";
        assert_eq!(told(&format!("{module}{whole}{module}")), "s22 s33", "that of a module is none");
        for (text, warnings) in [(format!("{}{}", one(2), one(6)), 1), (one(6), 0), (format!("{module}{whole}"), 0)] {
            assert_eq!(read(&text).unwrap().warnings.len(), warnings, "{text}");
        }
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let code =
            |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT)).unwrap_err().reject();
        for cut in
            ["Covered lines: 6\nCoverable lines: 1", "file | line % | b\nall files | 75", "file | line % | b\na | 75\n"]
        {
            assert_eq!(code(cut), Some(Reject::Malformed), "{cut}");
        }
        for foreign in [
            "File 'a.c'\nLines executed:50.00% of 2\nCreating 'a.c.gcov'\n",
            "all well\n",
            "Lines: 101.00% (6/8)\n",
            "Lines: 75% (6/x)\n",
            "branches: 50.0% (3 out of 6)\n",
        ] {
            assert_eq!(code(foreign), Some(Reject::NotThisFormat), "{foreign}");
        }
        assert_eq!(code("Lines: 75.00% (8/6)\n"), Some(Reject::Malformed));
    }
}
