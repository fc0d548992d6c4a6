//! `mocha-text`: what Mocha prints with its spec, dot and other reporters that end in an epilogue; its definition is the
//! method `epilogue` of Mocha's `lib/reporters/base.js`. Hardhat and Cypress print the same. The epilogue gives the
//! counts and the names of what failed; other tests have names where the spec reporter printed nothing but its tree.

use super::telling::Telling;
use super::text_outline::{Outline, Row};
use super::text_report::{Names, Summary, counted, is_foreign, no_result, say_last};
use super::text_runs::{Enclosing, Unannounced};
use super::wdio_text;
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number, printable};
use crate::ingest::values::leading_in;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `mocha` prints.
pub const FORMAT: Format = Format {
    name: "mocha-text",
    kind: ReportKind::Test,
    about: "terminal output of Mocha",
    written_by: "mocha (spec, dot, min, nyan), hardhat test, cypress run",
    told_by: "its lines \"N passing (…)\", \"N pending\", \"N failing\"",
    has_end: true,
    counting: "The last summary: passing passed, failing failed, hooks among them, pending skipped. The summaries of \
               the files that cypress run tells one by one are added up. A file that does not load is one errored \
               test, and no other runs; so is a global teardown that fails.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let lines = || head.last_lines().chain(head.lines());
    if is_foreign(head) || lines().any(wdio_text::is_end) {
        return Sniff::No;
    }
    // The failures are told below it, and can be long.
    let is_passing = |line: &str| matches!(count(line.trim_end()), Some((_, Title::Passing)));
    if lines().any(is_passing) {
        return Sniff::Sure("line \"N passing (…)\" of Mocha".into());
    }
    if head.lines().any(|line| exception(line).is_some()) {
        return Sniff::Sure("line \"Exception during run: …\" of Mocha".into());
    }
    Sniff::No
}

/// Why Mocha ran nothing: ` Exception during run: Error: Cannot find module './cart'`. A file that does not load ends it.
fn exception(line: &str) -> Option<&str> {
    line.strip_prefix(" Exception during run: ")
}

/// What a line of the summary counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Title {
    Passing,
    Pending,
    Failing,
}

/// The count in `  7 passing (102ms)`, `  2 pending`, `  4 failing`.
fn count(line: &str) -> Option<(Option<u64>, Title)> {
    let rest = line.strip_prefix("  ").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))?;
    let (number, words) = counted(rest)?;
    match words {
        "pending" => Some((number, Title::Pending)),
        "failing" => Some((number, Title::Failing)),
        words => {
            let time = words.strip_prefix("passing (")?.strip_suffix(')')?;
            let is_time = time.ends_with(['s', 'm', 'h']) && time.starts_with(|c: char| c.is_ascii_digit());
            is_time.then_some((number, Title::Passing))
        }
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        reader.line(line.text.trim_end(), line.ended).map_err(|error| error.line(last))?;
    }
    reader.end().map_err(|error| error.line(last))?;
    let Some(summary) = reader.found.take().filter(|_| reader.block.is_none() && !reader.spec_runs) else {
        return Err(no_result("no \"N passing\" of Mocha at its end", last));
    };
    let runs = reader.runs;
    let mut parsed = reader.named(&summary)?;
    say_last(&mut parsed, runs, "Mocha");
    Ok(parsed)
}

/// Reads lines.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Reader {
    names: Names,
    found: Option<Summary>,
    /// A summary whose blank line has not come yet.
    block: Option<Summary>,
    /// A summary below which nothing but blank lines came: who prints the output piece by piece leaves one below each row.
    ended: Option<Summary>,
    /// No blank line stood above that summary: who hands lines on for several packages may leave those out.
    is_close: bool,
    /// The last line was blank.
    after_blank: bool,
    /// What the lines of tests have told since the last summary.
    rows: Summary,
    proof: Proof,
    runs: u64,
    /// Cypress runs one file, as part of the same run.
    spec_runs: bool,
    /// The failure that is told: the parts of its title, until the last.
    title: Option<Vec<String>>,
    told: Option<Telling>,
    /// The tree that is being printed, and that of the run that was summed up.
    tree: Outline,
    whole: Outline,
    /// Failures that the last summary counts and that were not told yet.
    untold: u64,
}

/// Whether a summary is Mocha's own, and not what one of its tests printed.
#[derive(Clone, Debug, Default)]
struct Proof {
    /// What lines of tests, and marks of the dot reporter, told since the last summary that they prove.
    rows: Summary,
    marks: Summary,
    /// The bar of the reporter progress has come to its end.
    is_full: Option<bool>,
    enclosing: Enclosing,
}

impl Proof {
    /// Takes a line that is none of a summary.
    fn line(&mut self, text: &str) {
        let marks = text.strip_prefix("  ").unwrap_or(text);
        for mark in marks.chars() {
            let slot = match mark {
                '.' | '\u{2024}' => &mut self.marks.passed,
                ',' => &mut self.marks.skipped,
                '!' => &mut self.marks.failed,
                _ => break,
            };
            *slot = slot.saturating_add(1);
        }
        if let Some(is_full) = bar(text) {
            self.is_full = Some(is_full);
        }
    }

    /// A summary came.
    fn summary(&mut self, told: &Summary) {
        let is_any = *told != Summary::default();
        self.enclosing.is_proven = is_any && (*told == self.rows || *told == self.marks || self.is_full == Some(true));
        if self.enclosing.is_proven {
            (self.rows, self.marks, self.is_full) = (Summary::default(), Summary::default(), None);
        }
    }

    /// Whether no line and no mark told of a test.
    fn is_empty(&self) -> bool {
        let none = Summary::default();
        !self.enclosing.is_proven && self.rows == none && self.marks == none && self.is_full.is_none()
    }

    /// Of the run that comes after it.
    fn next(&self) -> Proof {
        let mut proof = self.clone();
        proof.enclosing.next();
        proof
    }
}

/// Whether all tests have run that the bar `  [▬▬▬▬,......]` counts. Between the ends stand ticks, a comma, and dots.
fn bar(text: &str) -> Option<bool> {
    let bar = text.strip_prefix("  [")?;
    let ticks = bar.trim_start_matches('▬');
    let rest = ticks.strip_prefix(',').unwrap_or(ticks);
    let is_bar = ticks.len() < bar.len();
    let dots = rest.trim_start_matches(['.', '\u{22c5}']);
    (is_bar && dots.starts_with(']')).then_some(rest.starts_with(']'))
}

impl Reader {
    fn line(&mut self, text: &str, ended: bool) -> Result<()> {
        if let Some(why) = exception(text).filter(|_| ended) {
            let found = Some(Summary { errored: 1, unit_failures: 1, ..Summary::default() });
            *self = Reader { runs: add(self.runs, 1)?, found, ..Reader::default() };
            self.names.unit(&printable(why, 200));
            // No test of a later run printed it.
            self.proof.enclosing.is_proven = true;
            return Ok(());
        }
        let after_blank = std::mem::replace(&mut self.after_blank, text.is_empty());
        if let Some((number, title)) = count(text) {
            self.is_close = if title == Title::Passing { !after_blank } else { self.is_close };
            return self.count(number, title);
        }
        if let Some(block) = self.block.take() {
            if text.is_empty() && ended {
                self.end_block(&block)?;
                self.ended = Some(block);
                return Ok(());
            }
            // A test that printed it is followed by the rest of the tree.
            let is_first_failure = text.starts_with("  1) ") && block.failed > 0;
            let is_of_tree = matches!(row(text.trim_start()), Row::Test(..) | Row::Failure) && !is_first_failure;
            if ended && !is_of_tree && self.counts_rows(&block) {
                self.end_block(&block)?;
            }
        }
        if !text.is_empty() {
            self.ended = None;
        }
        if let (Some(found), "[mocha] global teardown failed:") = (&mut self.found, text) {
            found.add_units(1)?;
            self.names.unit("global teardown");
        }
        self.tree_line(text);
        self.proof.line(text);
        if self.found.is_some() && is_spec_run(text) {
            self.spec_runs = true;
        } else if self.found.is_some() {
            self.failure(text);
        }
        Ok(())
    }

    /// Whether a summary without blank lines around it counts just what the lines of the tests tell, so that it is all.
    fn counts_rows(&self, block: &Summary) -> bool {
        self.is_close && *block == self.rows
    }

    /// Nothing may follow where all passed, and blank lines are left out or, as by tap-mocha-reporter, never come: a summary that
    /// counts what the tests told is whole.
    fn end(&mut self) -> Result<()> {
        let told = [&self.rows, &self.proof.marks];
        let block = self.block.take_if(|block| told.contains(&&*block));
        block.map_or(Ok(()), |block| self.end_block(&block))
    }

    fn tree_line(&mut self, text: &str) {
        let content = text.trim_start();
        if content.is_empty() {
            return self.tree.blank();
        }
        // At the margin stands no test, but the list of packages that a runner of workspaces begins with: `- @acme/web`.
        let row = if text.starts_with(' ') { row(content) } else { Row::Text(content) };
        if row == Row::Failure && self.untold > 0 {
            self.untold -= 1;
        } else {
            let outcome = match row {
                Row::Test(outcome, _) => Some(outcome),
                Row::Failure => Some(Outcome::Failed),
                Row::Text(_) => None,
            };
            if let Some(outcome) = outcome {
                for rows in [&mut self.rows, &mut self.proof.rows] {
                    let slot = rows.slot(outcome);
                    *slot = slot.saturating_add(1);
                }
            }
            self.tree.line(text.len() - content.len(), row);
        }
    }

    fn count(&mut self, number: Option<u64>, title: Title) -> Result<()> {
        let mut summary = match (title, self.block.take()) {
            (Title::Passing, _) => Summary::default(),
            (_, Some(summary)) => summary,
            (_, None) => return self.row_below(number, title),
        };
        let slot = match title {
            Title::Passing => &mut summary.passed,
            Title::Pending => &mut summary.skipped,
            Title::Failing => &mut summary.failed,
        };
        Summary::add(slot, number)?;
        self.block = Some(summary);
        Ok(())
    }

    /// A row of the summary that a blank line seemed to end.
    fn row_below(&mut self, number: Option<u64>, title: Title) -> Result<()> {
        let (Some(block), Some(sum)) = (&mut self.ended, &mut self.found) else { return Ok(()) };
        let slots = match title {
            Title::Pending if block.skipped == 0 && block.failed == 0 => [&mut block.skipped, &mut sum.skipped],
            Title::Failing if block.failed == 0 => [&mut block.failed, &mut sum.failed],
            _ => return Ok(()),
        };
        slots.into_iter().try_for_each(|slot| Summary::add(slot, number))?;
        self.untold = block.failed;
        self.proof.summary(block);
        Ok(())
    }

    fn end_block(&mut self, block: &Summary) -> Result<()> {
        if !std::mem::take(&mut self.spec_runs) {
            (self.names, self.found, self.whole) = (Names::default(), None, Outline::default());
            self.runs = add(self.runs, 1)?;
        }
        let sum = self.found.get_or_insert_default();
        sum.passed = add(sum.passed, block.passed)?;
        sum.failed = add(sum.failed, block.failed)?;
        sum.skipped = add(sum.skipped, block.skipped)?;
        (self.title, self.told, self.rows) = (None, None, Summary::default());
        self.proof.summary(block);
        self.whole.append(std::mem::take(&mut self.tree));
        self.untold = block.failed;
        Ok(())
    }

    /// The report of what was summed up.
    fn named(mut self, summary: &Summary) -> Result<Parsed> {
        self.whole.name(&mut self.names, summary);
        self.names.report(&FORMAT, summary, false)
    }

    /// `  1) Cart`, `       Inner`, `       fails:`, and after that its message.
    fn failure(&mut self, text: &str) {
        let numbered =
            text.trim_start().split_once(") ").filter(|(number, _)| text.starts_with("  ") && is_number(number));
        if let Some((_, name)) = numbered {
            (self.title, self.told) = (Some(Vec::new()), None);
            self.title_part(name);
        } else if text.is_empty() {
            self.title = None;
        } else if self.title.is_some() {
            self.title_part(text.trim());
        } else if let Some(told) = self.told.as_mut().filter(|told| text.starts_with("  ") || told.is_open()) {
            // Of a message of several lines only the first is indented.
            told.line(&mut self.names, text);
        }
    }

    fn title_part(&mut self, part: &str) {
        let Some(title) = &mut self.title else { return };
        title.push(part.strip_suffix(':').unwrap_or(part).to_owned());
        if part.ends_with(':') {
            let told = Telling::of_failed(&mut self.names, &title.join("::"));
            (self.title, self.told) = (None, Some(told));
        }
    }
}

impl Unannounced for Reader {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        let is_next =
            !self.spec_runs && (matches!(count(text), Some((_, Title::Passing))) || exception(text).is_some());
        let before = if is_next {
            // The tree is that of the run whose summary begins.
            let (tree, rows) = (std::mem::take(&mut self.tree), std::mem::take(&mut self.rows));
            let proof = if self.found.is_some() { self.proof.next() } else { self.proof.clone() };
            let next = Reader { tree, rows, proof, after_blank: self.after_blank, ..Reader::default() };
            std::mem::replace(self, next).report()?.map(Box::new)
        } else {
            None
        };
        Reader::line(self, text, true)?;
        Ok(before)
    }

    fn is_whole(&self) -> Option<bool> {
        Some(self.found.is_some() && self.block.is_none() && !self.spec_runs)
    }

    fn encloses(&self) -> usize {
        self.proof.enclosing.runs()
    }

    fn is_tail(&self) -> bool {
        // Where a file did not load, nothing ran that could have printed anything.
        self.proof.is_empty() || self.found.as_ref().is_some_and(|found| found.errored > 0)
    }

    fn report(mut self) -> Result<Option<Parsed>> {
        self.end()?;
        let found = self.found.take().filter(|_| self.block.is_none() && !self.spec_runs);
        found.map(|summary| self.named(&summary)).transpose()
    }
}

/// A line of the spec reporter's tree: `✔ adds`, `✔ is slow (61ms)`, `- is pending`, `1) fails`, `Cart`.
fn row(content: &str) -> Row<'_> {
    let passed = content.strip_prefix(['✔', '✓', '√']).and_then(|rest| rest.strip_prefix(' '));
    if let Some(title) = passed {
        let timed = title.strip_suffix("ms)").and_then(|rest| rest.rsplit_once(" ("));
        return Row::Test(Outcome::Passed, timed.filter(|(_, time)| is_number(time)).map_or(title, |(title, _)| title));
    }
    if let Some(title) = content.strip_prefix("- ") {
        return Row::Test(Outcome::Skipped, title);
    }
    let is_failure = leading_in(content).is_some_and(|(_, rest)| rest.starts_with(") "));
    if is_failure { Row::Failure } else { Row::Text(content) }
}

/// `  Running:  cart.cy.js                             (2 of 5)`.
fn is_spec_run(text: &str) -> bool {
    text.trim_start().starts_with("Running:  ") && text.ends_with(')') && text.contains(" of ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "\n  Cart\n    ✔ adds\n    1) fails\n  99 passing (1s)\n    ✔ deep\n\n\n";
    const END: &str = "  7 passing (102ms)\n  2 pending\n  2 failing\n\n  1) Cart\n       Inner\n         fails:\n\n\
                       \x20     AssertionError: not equal:\n\n1 !== 2\n\n      + expected - actual\n\n\
                       \x20     at Context.<anonymous> (test/cart.js:8:12)\n      at process (node:internal/x:1:2)\n\n  2) Hooked\n       \"before all\" hook: set up for \"never\":\n\
                       \x20    Error: before broke\n      at Context\n\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_global_teardown_that_fails_is_an_errored_test() {
        let text = "  ✔ a\n\n\n  1 passing (2ms)\n\n[mocha] global teardown failed:\nError: gt\n    at a.js:1:2\n";
        assert_eq!(counts(&parse(&Input::bytes("x", text.as_bytes())).unwrap()), [2, 1, 0, 1, 0]);
        let of_console = crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
        assert_eq!(of_console.iter().map(counts).collect::<Vec<_>>(), [[2, 1, 0, 1, 0]]);
    }

    #[test]
    fn nothing_need_follow_a_summary_that_counts_what_the_tests_told() {
        for (tests, is_whole) in [
            ("  ✔ ones\n  ✓ two\n", true),
            ("  \u{2024}\u{2024}\n", true),
            ("  ✔ ones\n  ✓ two\n  1) three\n", false),
            ("  ✔ ones\n  ✓ two\n  - three\n", false),
            ("  \u{2024}!\u{2024}\n", false),
            ("", false),
        ] {
            let text = format!("\n{tests}\n  2 passing (5ms)\n");
            let parsed = parse(&Input::bytes("x", text.as_bytes()));
            assert_eq!(parsed.map(|parsed| counts(&parsed)).ok(), is_whole.then_some([2, 2, 0, 0, 0]), "{text}");
            let of_console = crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
            assert_eq!(of_console.iter().map(counts).collect::<Vec<_>>(), vec![[2, 2, 0, 0, 0]; usize::from(is_whole)]);
        }
    }

    #[test]
    fn the_last_summary_counts() {
        assert_eq!(counts(&read(&format!("{RUN}{END}")).unwrap()), [11, 7, 2, 0, 2]);
        assert_eq!(counts(&read("  0 passing (1ms)\n\n").unwrap()), [0; 5]);
        let twice = read(&format!("{END}  1 passing (2m)\n\n")).unwrap();
        assert_eq!((counts(&twice), twice.warnings.len()), ([1, 1, 0, 0, 0], 1));
    }

    #[test]
    fn blank_lines_between_the_rows_of_a_summary_end_it_no_earlier() {
        let wide = END.replacen("(102ms)\n  2 pending\n", "(102ms)\n\n  2 pending\n\n\n", 1);
        assert_eq!(counts(&read(&format!("{RUN}{wide}")).unwrap()), [11, 7, 2, 0, 2]);
        assert_eq!(details(&read(&wide).unwrap()), details(&read(END).unwrap()));
        let no_pending = "  1 passing (2ms)\n\n  1 failing\n\n  1) a:\n     Error: x\n";
        assert_eq!(counts(&read(no_pending).unwrap()), [2, 1, 1, 0, 0]);
        // Neither is one.
        for more in ["said\n  1 failing\n\n", "  1 failing\n\n  1 pending\n\n  1 failing\n\n"] {
            let counted = counts(&read(&format!("  1 passing (2ms)\n\n{more}")).unwrap());
            assert_eq!(counted, if more.starts_with("said") { [1, 1, 0, 0, 0] } else { [2, 1, 1, 0, 0] }, "{more}");
        }
    }

    #[test]
    fn files_that_cypress_runs_add_up() {
        let next = "  Running:  b.cy.js                    (2 of 2)\n\n";
        let parsed = read(&format!("{END}{next}{END}")).unwrap();
        assert_eq!((counts(&parsed), parsed.warnings.len()), ([22, 14, 4, 0, 4], 0));
        assert_eq!(read(&format!("{END}{next}")).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn failures_have_names_and_messages() {
        let details = details(&read(&format!("{RUN}{END}")).unwrap());
        let message = |id: &str| details.cases.cases[id].message.clone();
        assert_eq!(message("Cart::Inner::fails").as_deref(), Some("AssertionError: not equal: | 1 !== 2"));
        assert_eq!(
            message("Hooked::\"before all\" hook: set up for \"never\"").as_deref(),
            Some("Error: before broke")
        );
        let case = &details.cases.cases["Cart::Inner::fails"];
        assert_eq!((case.file.as_deref(), case.line), (Some("test/cart.js"), Some(8)));
        assert_eq!(details.dropped, 9);
    }

    #[test]
    fn a_file_that_does_not_load_is_one_errored() {
        let broken = "\n Exception during run: Error: Cannot find module './nosuch'\nRequire stack:\n- /app/load.spec.js\n    \
                      at Module._load (node:internal/modules/cjs/loader:1038:27) {\n  code: 'MODULE_NOT_FOUND',\n}\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", broken.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, counts(&parsed)), ("mocha-text", [1, 0, 0, 1, 0]));
        assert_eq!(details(&parsed).failed_units, ["Error: Cannot find module './nosuch'"]);
        let passed = "  Cart\n    ✔ adds\n    ✔ sums\n\n\n  2 passing (3ms)\n\n";
        for (text, expected) in [
            (format!("{passed}{broken}"), vec![[2, 2, 0, 0, 0], [1, 0, 0, 1, 0]]),
            (format!("{broken}{passed}"), vec![[1, 0, 0, 1, 0], [2, 2, 0, 0, 0]]),
        ] {
            let heard = crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
            assert_eq!(heard.iter().map(counts).collect::<Vec<_>>(), expected, "{text}");
        }
        assert!(crate::ingest::parse(&Input::bytes("x", b" Exception during run: Err"), None).is_err(), "cut");
    }

    #[test]
    fn a_tree_names_all_tests_and_what_a_test_prints_none() {
        let tree = include_str!("../../../fixtures/reports/mocha-text/good-tree.txt");
        let names = |parsed: &Parsed| details(parsed).cases.cases.into_keys().collect::<Vec<_>>();
        let expected = [
            "Cart::Inner::Deep::x",
            "Cart::Inner::y",
            "Cart::adds",
            "Cart::after inner in source",
            "Cart::fails",
            "Cart::pending",
            "Cart::slow one",
            "Hooked::\"before all\" hook for \"never\"",
            "Last::is here",
            "top level",
        ];
        assert_eq!(names(&read(tree).unwrap()), expected);
        let printed = crate::ingest::console::console(&Input::bytes("x", format!("> mocha\n{tree}").as_bytes()));
        assert_eq!(printed.iter().map(names).collect::<Vec<_>>(), [expected]);
        let said = tree.replace("    ✔ adds\n", "said\n    ✔ adds\n    said\n");
        assert_eq!(names(&read(&said).unwrap()), ["Cart::fails", "Hooked::\"before all\" hook for \"never\""]);
        let cypress = "  Running:  b.cy.js                    (2 of 2)\n\n  Last\n    ✔ z\n\n\n  1 passing (1s)\n\n";
        assert_eq!(names(&read(&format!("{tree}{cypress}")).unwrap()).len(), 11);
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        for text in [RUN, "", "  7 passing (102ms)\n", "  7 passing (102ms)\n  2 pending", "  2 failing\n\n"] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        let large = "  18446744073709551616 passing (1s)\n\n";
        assert_eq!(read(large).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn a_summary_among_the_tests_that_another_counts_is_no_run() {
        let printed = "\n\n  3 passing (5ms)\n\n";
        let console = |text: &str| -> Vec<_> {
            crate::ingest::console::console(&Input::bytes("x", text.as_bytes())).iter().map(counts).collect()
        };
        let own = "\n\n  2 passing (9ms)\n  1 pending\n  1 failing\n\n  1) Cart\n       fails:\n     Error: no\n\n\n";
        let all = [4, 2, 1, 0, 1];
        for run in [
            format!("\n{printed}\n  Cart\n    ✔ adds\n{printed}    1) fails\n    - waits\n    ✔ is\n{own}"),
            format!("\n\n  .{printed}!,  9 passing (5ms)\n  1 pending\n.{own}"),
            format!("\n\n  [▬▬,......]{printed}\n  [▬▬▬▬▬▬▬▬,]{own}"),
        ] {
            assert_eq!(console(&run), [all], "{run}");
            // Two runs are two.
            let other = run.replace("  2 passing (9ms)\n  1 pending\n", "  1 passing (9ms)\n  1 pending\n");
            let other = other.replace("    ✔ is\n", "").replace("  1 pending\n.", "  1 pending\n");
            assert_eq!(console(&format!("{run}{other}")).last(), Some(&[3, 1, 1, 0, 1]), "{run}{other}");
        }
        // What nothing tells of counts as before.
        assert_eq!(console(&format!("{printed}{own}")).len(), 2);
    }

    /// As pnpm, Lerna and Nx hand it on.
    #[test]
    fn a_run_without_blank_lines_is_read_where_its_summary_counts_what_its_lines_tell() {
        let printed = |text: &str| -> Vec<_> {
            let input = text.lines().map(|line| format!("{line}\n")).collect::<String>();
            crate::ingest::console::console(&Input::bytes("x", input.as_bytes())).iter().map(counts).collect()
        };
        let failed = "  Cart\n    ✔ adds\n    1) fails\n    - waits\n  1 passing (1s)\n  1 pending\n  1 failing\n  1) Cart\n       fails:\n\
                      \x20     Error: no\nFailed";
        let passed = "  Cart\n    ✔ adds\n  1 passing (1s)";
        assert_eq!(printed(failed), [[3, 1, 1, 0, 1]]);
        assert_eq!(printed(passed), [[1, 1, 0, 0, 0]]);
        assert_eq!(printed(&format!("{passed}\nDone")), [[1, 1, 0, 0, 0]]);
        assert_eq!(printed(&format!("{failed}\n  Other\n    ✔ adds\n    ✔ is\n  2 passing (1s)\nDone")).len(), 2);
        assert_eq!(
            details(&read(&format!("{failed}\n")).unwrap()).cases.cases["Cart::fails"].message.as_deref(),
            Some("Error: no")
        );
        for cut in [
            "  1 passing (1s)",
            "  1 passing (1s)\n  1 pending",
            "  2 passing (1s)\nDone",
            "  1 passing (1s)\n    ✔ is",
        ] {
            let text = failed.replace("  1 passing (1s)\n  1 pending\n  1 failing\n", &format!("{cut}\n"));
            let (text, _) = text.split_once("  1) Cart").unwrap();
            assert!(printed(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn it_is_told_by_its_summary() {
        assert!(matches!(sniffed(&FORMAT, END), Sniff::Sure(_)));
        for none in ["7 passing grades\n", "  7 passing (all)\n", "  2 failing\n", "  7 passed (1s)\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
