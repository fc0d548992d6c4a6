//! How each tool sums up coverage, as [`patterns`] of lines.
//!
//! Numbers: `c` covered, `m` missed, `t` in all, `.` the percentage, `_` of no meaning here.

use crate::ingest::coverage::totals::Part;
use crate::ingest::patterns::{self, Numbers};
use crate::ingest::values::whole;
use crate::model::units::Percent;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Lines,
    Statements,
    Branches,
    Functions,
}

use Unit::{Branches, Functions, Lines, Statements};

/// A tool, what a line of it counts, and the line. Those that lie next to each other make one summary.
const LINES: &[(&str, Unit, &str)] = &[
    ("lcov", Lines, "lines......{.}: @.% (@c of @t line{s})"),
    ("lcov", Functions, "functions..{.}: @.% (@c of @t function{s})"),
    ("lcov", Branches, "branches...{.}: @.% (@c of @t branch{es})"),
    ("gcovr", Lines, "lines: @.% (@c out of @t)"),
    ("gcovr", Functions, "functions: @.% (@c out of @t)"),
    ("gcovr", Branches, "branches: @.% (@c out of @t)"),
    ("PHPUnit", Branches, "Branches: @.% ({ }@c/{ }@t)"),
    ("PHPUnit", Lines, "Lines: @.% ({ }@c/{ }@t)"),
    ("Pest", Lines, "Total: @. %"),
    ("SimpleCov", Lines, "@c / @t LOC (@.%) covered."),
    ("SimpleCov", Lines, "Line {C}{c}overage: @.% (@c / @t)"),
    ("SimpleCov", Branches, "Branch {C}{c}overage: @.% (@c / @t)"),
    ("SimpleCov", Lines, "Line coverage: @c / @t (@.%)"),
    ("SimpleCov", Branches, "Branch coverage: @c / @t (@.%)"),
    ("tarpaulin", Lines, "@.% coverage, @c/@t lines covered{, @*}"),
    ("OpenCover", Statements, "Visited Points @c of @t (@.)"),
    ("OpenCover", Branches, "Visited Branches @c of @t (@.)"),
    ("ReportGenerator", Lines, "Line coverage: @.%{ (@c of @t)}"),
    ("ReportGenerator", Lines, "Covered lines: @c"),
    ("ReportGenerator", Lines, "Coverable lines: @t"),
    ("ReportGenerator", Branches, "Covered branches: @c"),
    ("ReportGenerator", Branches, "Total branches: @t"),
    // Istanbul tells statements as blocks, which others count otherwise.
    ("TeamCity", Branches, "teamcity[buildStatisticValue key='CodeCoverageAbsRCovered' value='@c']"),
    ("TeamCity", Branches, "teamcity[buildStatisticValue key='CodeCoverageAbsRTotal' value='@t']"),
    ("TeamCity", Functions, "teamcity[buildStatisticValue key='CodeCoverageAbsMCovered' value='@c']"),
    ("TeamCity", Functions, "teamcity[buildStatisticValue key='CodeCoverageAbsMTotal' value='@t']"),
    ("TeamCity", Statements, "teamcity[buildStatisticValue key='CodeCoverageAbsSCovered' value='@c']"),
    ("TeamCity", Statements, "teamcity[buildStatisticValue key='CodeCoverageAbsSTotal' value='@t']"),
    ("TeamCity", Lines, "teamcity[buildStatisticValue key='CodeCoverageAbsLCovered' value='@c']"),
    ("TeamCity", Lines, "teamcity[buildStatisticValue key='CodeCoverageAbsLTotal' value='@t']"),
    ("CTest", Lines, "Covered LOC: @c"),
    ("CTest", Lines, "Not covered LOC: @m"),
    ("Kover", Lines, "application line coverage: @.%"),
    ("scoverage", Statements, "Statement coverage.: @.%"),
    ("ExCoveralls", Lines, "[TOTAL] @.%"),
    ("Pester", Statements, "Covered @.%{ / @_%. @t}{ of @t} analyzed Command{s} in @_ File{s}."),
    ("Slather", Lines, "Test Coverage: @.%"),
    ("bisect_ppx", Statements, "Coverage: @c/@t (@.%)"),
    ("bisect_ppx", Statements, "@.% @c/@t Project coverage"),
    ("bisect_ppx", Statements, "@. % @c/@t Project coverage"),
    ("hpc", Statements, "@.% expressions used (@c/@t)"),
    ("rebar3", Lines, "| total | @.% |"),
    ("gcov", Lines, "Lines executed:@.% of @t"),
    ("slipcover", Lines, "(summary) @t @m @_"),
    // With branches, of which it tells a percentage alone with the lines'.
    ("slipcover", Lines, "(summary) @t @m @_ @_ @_ @_"),
    ("lcov --list", Lines, "Total:|{ }@.% @t|@*"),
];

/// A row of gcovr's `--markdown-summary`: `| **Lines** | 🟢 6/8 (75.0%) |`.
fn of_markdown(text: &str) -> Option<Summary> {
    let (name, counts) = text.strip_prefix("| **")?.split_once("**")?;
    let unit = match name {
        "Lines" => Lines,
        "Functions" => Functions,
        "Branches" => Branches,
        _ => return None,
    };
    let counts = counts.strip_suffix('|')?.trim_start_matches([' ', '|']).trim_start_matches(|c: char| !c.is_ascii());
    let mut summary = Summary::new("gcovr");
    patterns::line("@c/@t (@.%)", counts.trim(), summary.slot(unit)).then_some(summary)
}

/// What stands before a line of a build tool's or of Node's, and before SimpleCov's on one line with the place of its report.
fn without_mark(text: &str) -> &str {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("Coverage report generated for ") {
        return rest.rsplit_once(". ").map_or(text, |(_, counts)| counts);
    }
    let text = text.strip_prefix("[info]").unwrap_or(text);
    // Windows' code pages make others of Node's sign.
    text.trim_start_matches(|c: char| c == '#' || !c.is_ascii()).trim_start()
}

/// Of one unit, as far as it was told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    covered: Option<u64>,
    missed: Option<u64>,
    all: Option<u64>,
    pub percent: Option<Percent>,
}

impl Numbers for Counts {
    fn take(&mut self, kind: char, digits: &str) -> Option<()> {
        match kind {
            'c' => self.covered = Some(whole(digits)?),
            'm' => self.missed = Some(whole(digits)?),
            't' => self.all = Some(whole(digits)?),
            _ => self.percent = Some(Percent::new(digits.parse().ok()?)?),
        }
        Some(())
    }
}

impl Counts {
    /// How many of how many, if both are told.
    pub fn part(self) -> Option<Part> {
        let (all, missed) = (self.all, self.missed);
        let covered = self.covered.or_else(|| all?.checked_sub(missed?))?;
        let total = all.or_else(|| missed?.checked_add(covered))?;
        Some(Part { covered, total })
    }

    /// Both. `None` if they tell the same thing twice, as a second summary does.
    fn with(self, more: Counts) -> Option<Counts> {
        fn either<T>(one: Option<T>, other: Option<T>) -> Option<Option<T>> {
            (one.is_none() || other.is_none()).then(|| one.or(other))
        }
        Some(Counts {
            covered: either(self.covered, more.covered)?,
            missed: either(self.missed, more.missed)?,
            all: either(self.all, more.all)?,
            percent: either(self.percent, more.percent)?,
        })
    }
}

/// What one tool told, in one line or several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    pub tool: &'static str,
    pub lines: Counts,
    pub statements: Counts,
    pub branches: Counts,
    pub functions: Counts,
}

impl Summary {
    fn new(tool: &'static str) -> Summary {
        let none = Counts::default();
        Summary { tool, lines: none, statements: none, branches: none, functions: none }
    }

    fn slot(&mut self, unit: Unit) -> &mut Counts {
        match unit {
            Lines => &mut self.lines,
            Statements => &mut self.statements,
            Branches => &mut self.branches,
            Functions => &mut self.functions,
        }
    }

    /// What a line tells by itself, and whether it says the same however it goes on.
    pub fn of_line(text: &str) -> Option<(Summary, bool)> {
        let text = without_mark(text);
        // Most lines have none of these.
        let words = ["Cover", "Not covered", "Total branches", "Visited", "teamcity[buildStatistic", "(summary)"];
        let begins = || words.iter().any(|word| text.starts_with(word));
        if !text.contains('%') && !begins() {
            return None;
        }
        if let Some(summary) = of_markdown(text) {
            return Some((summary, true));
        }
        LINES.iter().find_map(|(tool, unit, pattern)| {
            let mut summary = Summary::new(tool);
            let is_ours = patterns::line(pattern, text, summary.slot(*unit));
            is_ours.then_some((summary, pattern.ends_with(['%', ')', '.'])))
        })
    }

    /// Both, if they are one tool's and tell of different things.
    pub fn with(self, more: Summary) -> Option<Summary> {
        (self.tool == more.tool).then_some(Summary {
            tool: self.tool,
            lines: self.lines.with(more.lines)?,
            statements: self.statements.with(more.statements)?,
            branches: self.branches.with(more.branches)?,
            functions: self.functions.with(more.functions)?,
        })
    }

    /// Whether it tells lines or statements, which is what coverage is about.
    pub fn is_whole(&self) -> bool {
        [self.lines, self.statements].iter().any(|unit| unit.part().is_some() || unit.percent.is_some())
    }
}

/// A table of which the row of the sums has not come.
#[derive(Debug)]
pub(super) struct Table {
    tool: &'static str,
    /// Where its cells stand.
    columns: Vec<(Unit, usize)>,
    /// Where the names stand, and that of the sums.
    total: (usize, &'static str),
}

/// Perl's, whose columns are those that were asked for, statements first.
const DEVEL_COVER: &str = "Devel::Cover";

impl Table {
    /// The one that begins with the line.
    pub fn begun(text: &str) -> Option<Table> {
        let text = without_mark(text);
        if !text.contains('|') {
            let mut words = text.strip_prefix("File ")?.split_whitespace();
            let tool = match (words.next()?, words.next()?) {
                ("Hits", "Missed") if words.clone().eq(["Coverage"]) => "LuaCov",
                ("stmt", "bran") if words.next_back() == Some("total") => DEVEL_COVER,
                _ => return None,
            };
            return Some(Table { tool, columns: Vec::new(), total: (0, "Total") });
        }
        let cells: Vec<&str> = cells(text).take(8).collect();
        let at = |name: &str| cells.iter().position(|cell| *cell == name);
        let (tool, columns, total) = match *cells {
            ["file", "line %", ..] => ("Node", vec![(Lines, 1)], (0, "all files")),
            ["File", "% Lines", "% Statements", "% Branches", "% Funcs"] => {
                ("forge", vec![(Lines, 1), (Statements, 2), (Branches, 3), (Functions, 4)], (0, "Total"))
            }
            ["File", ..] => ("Deno", vec![(Lines, at("Line %")?)], (0, "All files")),
            ["", "Line", "Branch", "Method"] => ("coverlet", vec![(Lines, 1)], (0, "Total")),
            ["Percentage", "Module"] => ("mix", vec![(Lines, 0)], (1, "Total")),
            _ => return None,
        };
        Some(Table { tool, columns, total })
    }

    /// The sums, if the line is their row.
    pub fn row(&self, text: &str) -> Option<Summary> {
        let text = without_mark(text);
        let mut summary = Summary::new(self.tool);
        if self.columns.is_empty() {
            let is_row = match self.tool {
                DEVEL_COVER => patterns::line("Total @. @*", text, &mut summary.statements),
                _ => patterns::line("Total @c @m @.%", text, &mut summary.lines),
            };
            return is_row.then_some(summary);
        }
        let (at, name) = self.total;
        cells(text).nth(at).filter(|cell| *cell == name)?;
        for (unit, column) in &self.columns {
            let cell = cells(text).nth(*column)?;
            patterns::line("@.{%}{ (@c/@t)}", cell, summary.slot(*unit)).then_some(())?;
        }
        Some(summary)
    }
}

/// The cells of a row, whether it is framed or not.
fn cells(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_prefix('|').unwrap_or(text);
    text.strip_suffix('|').unwrap_or(text).split('|').map(str::trim)
}
