//! `eslint-text`: what ESLint prints, its formatter `stylish`. <https://eslint.org/docs/latest/use/formatters/#stylish>
//!
//! Rows `line:column  level  message  rule` under the name of a file, and at the end `✖ 7 problems (4 errors, 3 warnings)`.
//! It prints nothing where it finds nothing. Vale prints the same rows, names its rules `Style.Rule`, and sums up
//! `✖ 1 error, 2 warnings and 0 suggestions in 3 files.`, also where it found nothing. textlint prints the same rows, too,
//! and counts infos at the end, and Spectral and Redocly, whose rules stand before the messages. The formatter `table` frames its
//! rows and counts, and `codeframe` has the code below them. Angular's and Nx's builders and Spectral say so where nothing was
//! found, and Nx's says the sum again below the formatter's.

use super::LintTally;
use super::brief_checkers::is_of_remark;
use super::brief_text::is_script;
use super::lines::{
    Claim, TextReader, bare_place, bracketed, counted, finding, finish_levels, is_dashed_name, is_of_another, read,
};
use super::stylelint_text;
use crate::error::{Error, Reject, Result};
use crate::ingest::text::is_number;
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// ESLint's output.
pub const FORMAT: Format = Format {
    name: "eslint-text",
    kind: ReportKind::Lint,
    about: "terminal output of ESLint",
    written_by: "eslint (formatters stylish, table, codeframe, pretty), xo, textlint, vale, spectral, redocly (stylish)",
    told_by: "rows \"1:10  error  …  no-undef\", and \"✖ 7 problems (4 errors, 3 warnings)\"; Vale's summary; rows \
              and counts in frames; or \"error: … (no-undef) at a.js:1:10:\" and \"4 errors and 1 warning found.\"",
    has_end: true,
    counting: "Rows by level, error or warning; Vale's suggestions are notes. The numbers in the summary are compared, \
               and count what was cut away above it; without a summary the report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "ESLint"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_vale_s = |line: &str| summary_of_vale(line.trim_end()).is_some();
    if head.lines_of_both_ends().any(is_vale_s) && !is_of_another(head) {
        return Sniff::Sure("a summary as Vale prints it".into());
    }
    let is_alone = || {
        let is_stylelint_s = |line: &str| row(line.trim_end(), &stylelint_text::SIGNS).is_some();
        head.last_lines().any(|line| is_summary_alone(line.trim_end())) && !head.lines().any(is_stylelint_s)
    };
    match stylish(head, &WORDS, "ESLint") {
        Sniff::No if is_alone() && !is_of_another(head) => Sniff::Maybe("a summary as ESLint prints it".into()),
        sniffed => sniffed,
    }
}

struct Row<'a> {
    /// Where it does not stand above.
    path: Option<&'a str>,
    line: Option<u64>,
    level: Level,
    message: &'a str,
    rule: Option<&'a str>,
}

/// What ESLint calls its levels, and Vale.
const WORDS: [(&str, Level); 6] = [
    ("error", Level::Error),
    ("warning", Level::Warning),
    ("suggestion", Level::Note),
    ("info", Level::Note),
    ("information", Level::Note),
    ("hint", Level::Note),
];

/// `  line:column  level  message  rule`, indented less by stylelint before version 15. The rule is missing where the file
/// could not be parsed.
fn row<'a>(text: &'a str, words: &[(&str, Level)]) -> Option<Row<'a>> {
    match text.as_bytes().first()? {
        b' ' => plain(text, words).or_else(|| pretty(text, words)),
        b'e' | b'w' => codeframe(text, words),
        _ => framed(text, words),
    }
}

/// `║ 3        │ 11       │ error    │ Unnecessary semicolon.  │ no-extra-semi        ║`.
fn framed<'a>(text: &'a str, words: &[(&str, Level)]) -> Option<Row<'a>> {
    let mut cells = text.strip_prefix('║')?.strip_suffix('║')?.splitn(5, '│').map(str::trim);
    let (line, column, word) = (cells.next()?, cells.next()?, cells.next()?);
    let (_, level) = words.iter().find(|(other, _)| *other == word)?;
    column.parse::<u64>().ok()?;
    let (line, message) = (line.parse().ok()?, cells.next()?);
    Some(Row { path: None, line: Some(line).filter(|line| *line > 0), level: *level, message, rule: cells.next() })
}

/// `error: 'x' is not defined (no-undef) at src/a.js:4:13:`.
fn codeframe<'a>(text: &'a str, words: &[(&str, Level)]) -> Option<Row<'a>> {
    let (word, rest) = text.strip_suffix(':')?.split_once(": ")?;
    let (_, level) = words.iter().find(|(other, _)| *other == word)?;
    let (message, place) = rest.rsplit_once(" at ")?;
    let (path, line) = bare_place(place).filter(|(path, _)| is_script(path))?;
    let (message, rule) = bracketed(message, '(', ')').map_or((message, None), |(message, rule)| (message, Some(rule)));
    Some(Row { path: Some(path), line, level: *level, message, rule })
}

fn plain<'a>(text: &'a str, words: &[(&str, Level)]) -> Option<Row<'a>> {
    let (place, rest) = text.strip_prefix(' ')?.trim_start().split_once("  ")?;
    // textlint marks what it can mend.
    let rest = rest.trim_start();
    let (word, told) = rest.strip_prefix("✓ ").unwrap_or(rest).trim_start().split_once("  ")?;
    let (_, level) = words.iter().find(|(other, _)| *other == word)?;
    // yamllint's rows are alike, but for the brackets.
    let is_yamllint = told.ends_with(')') && (told.contains("  (") || told.trim_start().starts_with("syntax error: "));
    // So are remark's and alex', but for the plugin in a column of its own.
    let is_remark = told.rsplit_once("  ").is_some_and(|(_, source)| is_of_remark(source));
    placed_row(place, *level, told).filter(|_| !is_yamllint && !is_remark)
}

/// `  ✖  3:11  Unnecessary semicolon.  no-extra-semi`, as eslint-formatter-pretty and XO print it.
fn pretty<'a>(text: &'a str, words: &[(&str, Level)]) -> Option<Row<'a>> {
    let (sign, rest) = text.trim_start().split_once("  ")?;
    let word = match sign {
        "✖" | "×" => "error",
        "⚠" | "‼" => "warning",
        _ => return None,
    };
    let (_, level) = words.iter().find(|(other, _)| *other == word)?;
    let (place, told) = rest.split_once("  ")?;
    placed_row(place, *level, told)
}

fn placed_row<'a>(place: &str, level: Level, told: &'a str) -> Option<Row<'a>> {
    let (line, column) = place.split_once(':')?;
    if !is_number(line) || !is_number(column) {
        return None;
    }
    let told = told.trim_start();
    let line = line.parse().ok().filter(|line| *line > 0);
    if let Some((rule, message)) = told.split_once("  ").filter(|(rule, rest)| is_before(rule, rest)) {
        let message = message.trim_start();
        let message = message.split_once("  ").map_or(message, |(message, _)| message);
        return Some(Row { path: None, line, level, message, rule: Some(rule) });
    }
    let split = told.rsplit_once("  ").filter(|(_, rule)| !rule.contains(' '));
    let (message, rule) = split.map_or((told, None), |(message, rule)| (message.trim_end(), Some(rule)));
    Some(Row { path: None, line, level, message, rule })
}

/// Whether it is a rule that stands before its message, as Spectral and Redocly print it.
fn is_before(rule: &str, rest: &str) -> bool {
    is_dashed_name(rule) && rule.contains('-') && rest.trim_start().contains(' ')
}

/// The number in `  1 warning` and `  4 errors`, the end of what eslint-formatter-pretty prints.
fn pretty_count(text: &str, word: &str) -> Option<u64> {
    counted(text.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?, word)
}

/// The number in the frame at the end of `table`: `║ 4 Errors   ║`, `║ 1 Warning   ║`.
fn framed_count(text: &str, word: &str) -> Option<u64> {
    counted(text.strip_prefix('║')?.strip_suffix('║')?.trim(), word)
}

/// What is in the brackets of `✖ 7 problems (4 errors, 3 warnings)`. The sign may be any: PowerShell garbles it when it
/// writes what node prints to a file. stylelint before version 15 has none.
fn problems(text: &str) -> Option<&str> {
    let (count, rest) = text.strip_suffix(')')?.split_once(" problem")?;
    let (sign, count) = count.rsplit_once(' ').unwrap_or(("", count));
    let is_sign = !sign.contains(|c: char| c == ' ' || c.is_ascii_alphanumeric());
    count.parse::<u64>().ok().filter(|_| is_sign)?;
    rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" (")
}

/// Errors and warnings of the last line.
fn summary(text: &str) -> Option<(u64, u64)> {
    if is_nothing(text) {
        return Some((0, 0));
    }
    let Some(problems) = problems(text) else { return summary_of_codeframe(text).or_else(|| summary_of_redocly(text)) };
    let (errors, warnings) = problems.split_once(", ")?;
    let mut rest = warnings.split(", ");
    let warnings = rest.next()?;
    // textlint counts infos, Spectral hints, too.
    if !rest.all(|count| counted(count, "info").or(counted(count, "hint")).is_some()) {
        return None;
    }
    Some((counted(errors, "error")?, counted(warnings, "warning")?))
}

/// Whether it is a summary that tells whose it is without the rows above it. Other formatters have no sign there.
fn is_summary_alone(text: &str) -> bool {
    let is_counted =
        !text.starts_with(|c: char| c.is_ascii_digit()) && problems(text).is_some() && summary(text).is_some();
    is_counted || is_nothing(text)
}

/// `All files pass linting.` of Angular's builder, with a sign before it of Nx's, and `No results with a severity of 'error'
/// found!` of Spectral.
fn is_nothing(text: &str) -> bool {
    let of_builder = text.strip_prefix("✔ ").unwrap_or(text);
    let of_spectral = text.strip_prefix("No results with a severity of '");
    of_builder.strip_suffix('.').unwrap_or(of_builder) == "All files pass linting"
        || of_spectral
            .and_then(|rest| rest.split_once("' "))
            .is_some_and(|(_, rest)| rest == "found!" || rest == "or higher found!")
}

/// `❌ Validation failed with 4 errors and 3 warnings.`, and what Redocly says where there is no error: that all is valid, and
/// `You have 3 warnings.`
fn summary_of_redocly(text: &str) -> Option<(u64, u64)> {
    if text.starts_with("Woohoo! Your API description") {
        return Some((0, 0));
    }
    let rest = text.strip_suffix('.')?;
    if let Some(warnings) = rest.strip_prefix("You have ") {
        return counted(warnings, "warning").map(|warnings| (0, warnings));
    }
    let (_, counts) = rest.split_once("Validation failed with ")?;
    let (errors, warnings) = counts.split_once(" and ").unwrap_or((counts, "0 warnings"));
    Some((counted(errors, "error")?, counted(warnings, "warning")?))
}

/// `4 errors and 1 warning found.`, `1 error found.`
fn summary_of_codeframe(text: &str) -> Option<(u64, u64)> {
    let counts = text.strip_suffix(" found.")?;
    if let Some((errors, warnings)) = counts.split_once(" and ") {
        return Some((counted(errors, "error")?, counted(warnings, "warning")?));
    }
    counted(counts, "error").map(|errors| (errors, 0)).or_else(|| Some((0, counted(counts, "warning")?)))
}

/// The errors and warnings in `✖ 1 error, 2 warnings and 0 suggestions in 3 files.`.
fn summary_of_vale(text: &str) -> Option<(u64, u64)> {
    let (counts, files) = text.strip_suffix('.')?.split_once(" in ")?;
    let (_, counts) = counts.split_once(' ')?;
    let (counts, suggestions) = counts.split_once(" and ")?;
    let (errors, warnings) = counts.split_once(", ")?;
    counted(suggestions, "suggestion").and(counted(files, "file"))?;
    Some((counted(errors, "error")?, counted(warnings, "warning")?))
}

/// `Vale.Spelling`.
fn is_of_vale(rule: &str) -> bool {
    let is_name = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic()) && !part.contains('/');
    rule.split_once('.')
        .is_some_and(|(style, name)| is_name(style) && name.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Whether rows and their summary are there: rows alone may be those of a run that was killed.
pub(super) fn stylish(head: &Head<'_>, words: &[(&str, Level)], tool: &str) -> Sniff {
    if !head.lines().any(|line| row(line.trim_end(), words).is_some()) || is_of_another(head) {
        return Sniff::No;
    }
    let all = || head.lines_of_both_ends().map(str::trim_end);
    let is_count =
        |line: &str| framed_count(line, "Error").or(pretty_count(line, "error")).or(pretty_count(line, "warning"));
    if all().any(|line| summary(line).is_some() || is_count(line).is_some()) {
        return Sniff::Sure(format!("rows and a summary as {tool} prints them"));
    }
    Sniff::Maybe(format!("rows as {tool} prints them"))
}

/// Reads rows under the names of files, and the summary after them.
#[derive(Default)]
pub(super) struct Stylish {
    tally: LintTally,
    /// The file whose rows follow.
    file: Option<String>,
    /// Rows since the last summary.
    open_rows: u64,
    /// One of them is of a tool that always sums up: stylelint's of before version 15 stand one column in, and before 14
    /// nothing followed them.
    needs_summary: bool,
    declared: Option<(u64, u64)>,
    /// What the summary of the rows right above told.
    said: Option<(u64, u64)>,
    /// Errors and warnings of a frame that is not closed yet.
    framed: Option<(u64, u64)>,
    /// Rows of eslint-formatter-pretty, errors and warnings, the counts of which are still to come.
    pretty: (u64, u64),
}

impl Stylish {
    /// The next line of what `tool` prints, in its `words` for levels.
    ///
    /// # Errors
    /// A count is too large.
    pub(super) fn line(&mut self, text: &str, tool: &str, words: &[(&str, Level)]) -> Result<()> {
        if let Some(row) = row(text, words) {
            self.open_rows += 1;
            self.said = None;
            if pretty(text, words).is_some() {
                match row.level {
                    Level::Error => self.pretty.0 += 1,
                    _ => self.pretty.1 += 1,
                }
            }
            self.needs_summary |= tool != "stylelint" || text.starts_with("  ");
            let tool = if row.rule.is_some_and(is_of_vale) { "vale" } else { tool };
            let path = row.path.or(self.file.as_deref());
            let finding = finding(tool, row.level, (path, row.line), row.rule, row.message);
            return self.tally.finding(finding, Sort::Linter);
        }
        if self.pretty != (0, 0) && self.pretty_counted(text)? {
            return Ok(());
        }
        let of_vale = summary_of_vale(text);
        if of_vale.is_some() {
            self.tally.tool("vale", Sort::Linter);
        } else if is_nothing(text) {
            self.tally.tool(tool, Sort::Linter);
        }
        if let Some((errors, warnings)) = summary(text).or(of_vale).or_else(|| self.frame(text)) {
            let of_rows = Some((errors, warnings)).filter(|_| self.open_rows > 0);
            // Nx's executor has said no more than the formatter.
            if std::mem::replace(&mut self.said, of_rows) == Some((errors, warnings)) {
                return Ok(());
            }
            // Several runs may follow each other.
            let (before, below) = self.declared.unwrap_or_default();
            self.declared = Some((add(before, errors)?, add(below, warnings)?));
            (self.open_rows, self.needs_summary) = (0, false);
        } else if !text.starts_with([' ', '║', '╟', '╔', '╚']) && !text.is_empty() {
            self.said = None;
            // Redocly ends the name so.
            self.file = Some(text.strip_suffix(':').unwrap_or(text).to_owned());
        } else if let Some((path, _)) =
            text.strip_prefix("  ").and_then(bare_place).filter(|(path, _)| !path.starts_with(' '))
        {
            self.file = Some(path.to_owned());
        }
        Ok(())
    }

    /// Whether it is one of the counts below rows of eslint-formatter-pretty: each stands there if it is not zero.
    fn pretty_counted(&mut self, text: &str) -> Result<bool> {
        let (errors, warnings) = (pretty_count(text, "error"), pretty_count(text, "warning"));
        if errors.or(warnings).is_none() {
            return Ok(false);
        }
        let (before, below) = self.declared.unwrap_or_default();
        self.declared = Some((add(before, errors.unwrap_or(0))?, add(below, warnings.unwrap_or(0))?));
        self.pretty = match errors {
            Some(_) => (0, self.pretty.1),
            None => (self.pretty.0, 0),
        };
        if self.pretty == (0, 0) {
            (self.open_rows, self.needs_summary) = (0, false);
        }
        Ok(true)
    }

    /// Errors and warnings, where their frame ends.
    fn frame(&mut self, text: &str) -> Option<(u64, u64)> {
        if text.starts_with('╚') {
            return self.framed.take();
        }
        let (errors, warnings) = self.framed.unwrap_or_default();
        if let Some(count) = framed_count(text, "Error") {
            self.framed = Some((count, warnings));
        } else if let Some(count) = framed_count(text, "Warning") {
            self.framed = Some((errors, count));
        }
        None
    }

    /// As [`Stylish::line`] for a line that is nobody's: what looks like a summary is another tool's.
    ///
    /// # Errors
    /// As [`Stylish::line`].
    pub(super) fn other(&mut self, text: &str, tool: &str, words: &[(&str, Level)]) -> Result<()> {
        if summary(text).is_some() { Ok(()) } else { self.line(text, tool, words) }
    }

    /// Whose a line is: rows tell which tool they are of, and the summary belongs to the rows above it.
    pub(super) fn claim(&self, text: &str, words: &[(&str, Level)]) -> Claim {
        match row(text, words) {
            Some(_) => Claim::Ours,
            None if self.said.is_some() && self.said == summary(text) => Claim::Last,
            None if self.open_rows > 0 && summary(text).is_some() => Claim::Last,
            None if is_summary_alone(text) => Claim::Alone,
            // More of them may come.
            None if self.pretty != (0, 0)
                && (pretty_count(text, "error").is_some() || pretty_count(text, "warning").is_some()) =>
            {
                Claim::Ours
            }
            None if self.framed.is_some() && text.starts_with('╚') => Claim::Last,
            None if summary_of_vale(text).is_some() => Claim::Last,
            None => Claim::Other,
        }
    }

    /// Whether a last line without a line end is a whole one.
    pub(super) fn is_whole(text: &str) -> bool {
        summary(text).is_some() || summary_of_vale(text).is_some() || text.ends_with(" option.")
    }

    /// The report; none without a summary.
    ///
    /// # Errors
    /// Malformed if it is cut.
    pub(super) fn finish(self, format: &'static Format, tool: &str) -> Result<Option<Parsed>> {
        if self.needs_summary {
            let why = format!("report ends before the summary of {tool}");
            return Err(Error::report(Reject::Malformed, why).help(CUT_HELP));
        }
        if self.declared.is_none() && self.open_rows == 0 {
            return Ok(None);
        }
        let said = self.declared.filter(|_| self.open_rows == 0);
        let Some((errors, warnings)) = said else { return self.tally.finish(format).map(Some) };
        let tool = if self.tally.has("vale") { "vale".to_owned() } else { tool.to_lowercase() };
        finish_levels(self.tally, format, (&tool, Sort::Linter), (errors, warnings, None)).map(Some)
    }
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader(Stylish);

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        self.0.line(text, "eslint", &WORDS)
    }

    fn claim(&self, text: &str) -> Claim {
        self.0.claim(text, &WORDS)
    }

    fn next(&self) -> Reader {
        Reader(Stylish { said: self.0.said, ..Stylish::default() })
    }

    fn other(&mut self, text: &str) -> Result<()> {
        self.0.other(text, "eslint", &WORDS)
    }

    fn is_whole(&self, text: &str) -> bool {
        Stylish::is_whole(text)
    }

    fn finish(self) -> Result<Option<Parsed>> {
        self.0.finish(&FORMAT, "ESLint")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::input::Input;
    use crate::ingest::lint::tests_support::first_finding;

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    const ROWS: &str = "\n/p/a.js\n  1:10  error    Parsing error: Unexpected token (\n  3:1   warning  two  blanks and a rule  my/rule-1\n\n";

    #[test]
    fn rows_have_place_and_rule_and_stand_against_the_summary() {
        let parsed = parsed(&format!("{ROWS}✖ 2 problems (1 error, 1 warning)\n")).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings, parsed.warnings.len()), (Some(1), Some(1), 0));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details
            .findings
            .iter()
            .map(|found| (found.path.as_deref(), found.line, found.rule.as_deref(), found.message.as_str()))
            .collect();
        let path = Some("/p/a.js");
        let expected = [
            (path, Some(1), None, "Parsing error: Unexpected token ("),
            (path, Some(3), Some("my/rule-1"), "two  blanks and a rule"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn rows_and_counts_of_the_formatter_table_are_framed() {
        let text = "\n/p/a.js\n\n║ Line     │ Column   │ Type     │ Message   │ Rule ID   ║\n╟──────────┼─────╢\n\
            ║ 3        │ 1        │ warning  │ Unexpected var,  │ no-var    ║\n║          │          │          │ use let.   │           ║\n\
            ║ 4        │ 13       │ error    │ It is not.   │ no-undef  ║\n\n╔═══╗\n║ 1 Error    ║\n╟───╢\n║ 1 Warning  ║\n╚═══╝\n";
        let whole = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((whole.figures.errors, whole.figures.warnings, whole.warnings.len()), (Some(1), Some(1), 0));
        assert_eq!(first_finding(&whole), (Some("/p/a.js"), Some(3), Some("no-var"), "Unexpected var,"));
        assert_eq!(parsed(text.split_once('╔').unwrap().0).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn rows_of_the_formatter_codeframe_have_the_code_below_them() {
        let text = "error: 'x' is not defined (no-undef) at src/a.js:4:13:\n  3 | var y\n> 4 | x()\n    | ^\n\n\n\
            warning: Unexpected var (no-var) at src/a.js:3:1:\n> 3 | var y\n\n\n1 error and 1 warning found.\n1 warning potentially fixable with the `--fix` option.\n";
        let whole = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((whole.figures.errors, whole.figures.warnings), (Some(1), Some(1)));
        assert_eq!(first_finding(&whole), (Some("src/a.js"), Some(4), Some("no-undef"), "'x' is not defined"));
        assert_eq!(
            [summary("1 error found."), summary("2 warnings found."), summary("2 files found.")],
            [Some((1, 0)), Some((0, 2)), None]
        );
    }

    #[test]
    fn rows_of_the_formatter_pretty_have_signs_and_counts_below() {
        let rows =
            "\n  src/a.js:3:11\n  ⚠  3:1   Unexpected var.        no-var\n  ✖  3:11  It is not.   no-extra-semi\n\n";
        let text = format!("{rows}  1 warning\n  1 error\n");
        let whole = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((whole.figures.errors, whole.figures.warnings, whole.warnings.len()), (Some(1), Some(1), 0));
        assert_eq!(first_finding(&whole), (Some("src/a.js"), Some(3), Some("no-var"), "Unexpected var."));
        for cut in [rows.to_owned(), format!("{rows}  1 warning\n")] {
            assert_eq!(parsed(&cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
    }

    #[test]
    fn textlint_counts_infos() {
        let text = "\n/p/a.md\n  1:3  error  Found TODO  no-todo\n  2:1  info   x           terms\n\n✖ 2 problems (1 error, 0 warnings, 1 info)\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.notes, parsed.warnings.len()), (Some(1), Some(1), 0));
    }

    #[test]
    fn textlint_marks_what_it_can_mend() {
        let text = "\n/p/a.md\n  3:3   error    Found TODO: 'x'  no-todo\n  5:7   \x1b[32m\x1b[1m✓ \x1b[22m\x1b[39merror  Incorrect  term  terminology\n\n✖ 2 problems (2 errors, 0 warnings, 0 infos)\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.warnings.len()), (Some(2), 0));
    }

    #[test]
    fn a_sum_that_is_said_twice_is_one_and_that_nothing_was_found_is_said() {
        let sum = "✖ 2 problems (1 error, 1 warning)\n";
        let fixable = "  1 error and 0 warnings are potentially fixable with the `--fix` option.\n";
        for (text, errors) in [
            (format!("{ROWS}{sum}{fixable}\n{sum}\n{fixable}"), 1),
            (format!("{ROWS}{sum}\n{sum}{sum}"), 2),
            (format!("{ROWS}{sum}{ROWS}{sum}\n{sum}"), 2),
            (format!("{ROWS}{sum}\n> nx run b:lint\n\n{sum}"), 2),
            (format!("✔ All files pass linting\n\n{ROWS}{sum}\n{sum}"), 1),
        ] {
            let parsed = parsed(&text).unwrap();
            assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(errors), Some(errors)), "{text}");
        }
        for nothing in [
            "Linting \"app\"...\n\nAll files pass linting.\n\n",
            "✔ All files pass linting\n",
            "No results with a severity of 'warn' or higher found!\n",
        ] {
            let parsed = crate::ingest::parse(&Input::bytes("x", nothing.as_bytes()), None).unwrap();
            let figures = parsed.figures;
            assert_eq!(
                (parsed.format.name, figures.errors, figures.warnings),
                ("eslint-text", Some(0), Some(0)),
                "{nothing}"
            );
        }
    }

    #[test]
    fn rules_stand_before_the_messages_of_spectral_and_redocly() {
        let spectral = "\n/p/api.yaml\n 1:1  warning      oas3-servers  It must be there.\n 2:6  information  info-x        Info must be.   info\n 3:1  hint  a-b  c  d\n\n✖ 3 problems (0 errors, 1 warning, 1 info, 1 hint)\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", spectral.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.warnings, parsed.figures.notes, parsed.warnings.len()), (Some(1), Some(2), 0));
        assert_eq!(first_finding(&parsed), (Some("/p/api.yaml"), Some(1), Some("oas3-servers"), "It must be there."));
        let rows = "validating api.yaml...\napi.yaml:\n  1:1  error    no-empty-servers  Servers must be present.\n  2:1  warning  info-license      It should be there.\n\napi.yaml: validated in 11ms\n\n";
        let failed = format!("{rows}❌ Validation failed with 1 error and 1 warning.\nrun `redocly lint --x`.\n");
        let parsed = crate::ingest::parse(&Input::bytes("x", failed.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings, parsed.warnings.len()), (Some(1), Some(1), 0));
        assert_eq!(
            first_finding(&parsed),
            (Some("api.yaml"), Some(1), Some("no-empty-servers"), "Servers must be present.")
        );
        let valid =
            rows.replace("error  ", "warning") + "Woohoo! Your API description is valid. 🎉\nYou have 2 warnings.\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", valid.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.warnings, parsed.warnings.len()), (Some(2), 0));
    }

    #[test]
    fn vale_s_rows_and_summary_are_read() {
        let rows = " README.md\n 3:1   error       Did you mean 'teh'?  Vale.Spelling   \n 9:10  warning     'the' is repeated!   Vale.Repetition \n\
                    \x20                      as said\n 9:12  suggestion  Use 'a'.             Vale.Terms      \n\n";
        let text = format!("\n{rows}✖ 1 error, 1 warning and 1 suggestion in 1 file.\n");
        let all = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &all.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        let Details::Lint(details) = all.details else { panic!("lint") };
        assert_eq!(details.by_tool.into_keys().collect::<Vec<_>>(), ["vale"]);
        let clean = "✔ 0 errors, 0 warnings and 0 suggestions in 3 files.\n";
        let clean = crate::ingest::parse(&Input::bytes("x", clean.as_bytes()), None).unwrap();
        assert_eq!((clean.format.name, clean.figures.total), ("eslint-text", Some(0)));
        assert_eq!(parsed(rows).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn runs_add_up_and_other_sums_are_warned_of() {
        let one = format!("{ROWS}✖ 2 problems (1 error, 1 warning)\n");
        assert_eq!(parsed(&one.repeat(2)).unwrap().figures.total, Some(4));
        for sign in ["", "Γ£û ", "Ô£û ", "âœ– ", "? "] {
            assert_eq!(parsed(&one.replace("✖ ", sign)).unwrap().figures.total, Some(2), "{sign}");
        }
        assert!(parsed(&one.replace("✖ ", "a ")).is_err());
        let other = parsed(&one.replace("(1 error,", "(0 errors,")).unwrap();
        assert_eq!((other.figures.errors, other.declared.unwrap().errors, other.warnings.len()), (Some(1), Some(0), 1));
    }

    #[test]
    fn where_rows_were_cut_away_the_summary_counts() {
        for rows in [ROWS, ""] {
            let parsed = parsed(&format!("{rows}✖ 12 problems (5 errors, 7 warnings)\n")).unwrap();
            let figures = &parsed.figures;
            assert_eq!((figures.errors, figures.warnings, figures.total), (Some(5), Some(7), Some(12)));
            assert_eq!((parsed.declared, parsed.warnings.len()), (None, 1));
            let Details::Lint(details) = parsed.details else { panic!("lint") };
            assert_eq!(u64::try_from(details.findings.len()).unwrap() + details.dropped, 12);
            assert_eq!(details.by_tool.into_keys().collect::<Vec<_>>(), ["eslint"]);
        }
        let vale = "✖ 1 error, 2 warnings and 0 suggestions in 3 files.\n";
        let Details::Lint(details) = parsed(vale).unwrap().details else { panic!("lint") };
        assert_eq!(
            details.by_tool.into_iter().map(|(tool, counts)| (tool, counts.warnings)).collect::<Vec<_>>(),
            [("vale".to_owned(), 2)]
        );
        let sniffed = |text: &str| sniff(&Head::read(&Input::bytes("x", text.as_bytes())).unwrap());
        assert!(matches!(sniffed("\n✖ 2 problems (1 error, 1 warning)\n\n"), Sniff::Maybe(_)));
        assert_eq!(sniffed("2 problems\n"), Sniff::No);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let whole = format!("{ROWS}✖ 2 problems (1 error, 1 warning)");
        assert!(parsed(&whole).is_ok());
        for cut in [ROWS, whole.strip_suffix(')').unwrap(), whole.strip_suffix(" warning)").unwrap()] {
            assert_eq!(parsed(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert_eq!(parsed("all well\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        // stylelint's rows have a sign where ESLint's have a word.
        let stylelint = "a.css\n  1:1  ✖  Unknown  r\n\n✖ 1 problem (1 error, 0 warnings)\n";
        assert_eq!(sniff(&Head::read(&Input::bytes("x", stylelint.as_bytes())).unwrap()), Sniff::No);
    }
}
