//! `rspec-text`: what RSpec prints with its progress or documentation formatter. The last summary gives the counts; only
//! the examples that failed are named in a way that can be told from what a test printed.

use super::text_report::{Names, Summary, counted, is_foreign, no_result, say_last};
use super::text_runs::{Enclosing, Unannounced};
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `rspec` prints.
pub const FORMAT: Format = Format {
    name: "rspec-text",
    kind: ReportKind::Test,
    about: "terminal output of RSpec, and of hspec and Crystal's spec",
    written_by: "rspec, hspec (Haskell), crystal spec",
    told_by: "\"Finished in …\" with \"N examples, N failures\" after it",
    has_end: true,
    counting: "The last summary: failures failed, errors errored, pending skipped, the other examples passed. Each \
               error outside of examples, as of a file that does not load, or of Crystal's hooks, is one errored test. \
               Of parallel_rspec's processes, their sum.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    let mut finished = false;
    for line in head.last_lines() {
        if finished && summary(line.trim_end()).is_some() {
            return Sniff::Sure("line \"N examples, N failures\"".into());
        }
        finished = line.starts_with("Finished in ");
    }
    if head.lines().any(|line| line.trim_start().starts_with("Failure/Error: ")) {
        return Sniff::Maybe("line \"Failure/Error: …\" of RSpec".into());
    }
    Sniff::No
}

/// The counts of `10 examples, 4 failures, 3 pending, 1 error occurred outside of examples`.
fn summary(line: &str) -> Option<Vec<(Option<u64>, &str)>> {
    counted(line)?;
    let counts: Vec<_> = line.split(", ").map(counted).collect::<Option<_>>()?;
    let words: Vec<&str> = counts.iter().map(|(_, word)| *word).take(2).collect();
    matches!(words.as_slice(), ["example" | "examples", "failure" | "failures"]).then_some(counts)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut told, mut last, mut runs) = (Told::default(), 0, 0_u64);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        if line.ended {
            let before = told.take(line.text.trim_end()).map_err(|error| error.line(last))?;
            runs = add(runs, u64::from(before.is_some()))?;
        }
    }
    let Some((summary, found)) = told.found.filter(|_| told.parallel.is_none()) else {
        return Err(no_result("no \"N examples, N failures\" of RSpec at its end", last));
    };
    let mut parsed = found.names.report(&FORMAT, &summary, false)?;
    say_last(&mut parsed, add(runs, 1)?, "RSpec");
    Ok(parsed)
}

fn total(counts: &[(Option<u64>, &str)]) -> Result<Summary> {
    let (mut summary, mut outside) = (Summary::default(), 0);
    for (number, word) in counts {
        let slot = match *word {
            "example" | "examples" => &mut summary.passed,
            "failure" | "failures" => &mut summary.failed,
            "pending" => &mut summary.skipped,
            // Crystal tells errors of examples apart.
            "error" | "errors" => &mut summary.errored,
            word if word.ends_with("occurred outside of examples") => &mut outside,
            _ => continue,
        };
        Summary::add(slot, *number)?;
    }
    let others = add(add(summary.failed, summary.skipped)?, summary.errored)?;
    summary.passed = summary.passed.saturating_sub(others);
    summary.add_units(outside)?;
    Ok(summary)
}

/// One run.
#[derive(Debug, Default)]
struct Run {
    names: Names,
    /// Messages by the description of what failed.
    messages: std::collections::BTreeMap<String, String>,
    /// The failure that is told, and which part of it.
    told: Option<(String, Part)>,
}

/// A part of a failure.
#[derive(Clone, Copy, Debug)]
enum Part {
    Heading,
    /// Several lines of source, which an empty one ends.
    Source,
    Message,
}

impl Run {
    /// A line before the summary.
    fn line(&mut self, text: &str) {
        let content = text.trim();
        let heading = text.strip_prefix("  ").and_then(|text| text.split_once(") "));
        if let Some(file) = text.strip_prefix("An error occurred while loading ") {
            self.names.unit(file.split(' ').next().unwrap_or(file).trim_end_matches('.'));
        } else if let Some((_, name)) = heading.filter(|(number, _)| counted(&format!("{number} .")).is_some()) {
            self.told = Some((name.strip_suffix(" FIXED").unwrap_or(name).to_owned(), Part::Heading));
        } else if let Some((name, part)) = &mut self.told {
            match part {
                Part::Heading if content == "Failure/Error:" => *part = Part::Source,
                Part::Heading if content.starts_with("Failure/Error: ") => *part = Part::Message,
                Part::Source if content.is_empty() => *part = Part::Message,
                Part::Message if content.starts_with("# ") => self.told = None,
                Part::Message if !content.is_empty() => {
                    if self.messages.contains_key(name) || self.messages.len() < super::CASES_KEPT {
                        let message = self.messages.entry(name.clone()).or_default();
                        if message.lines().count() < 3 {
                            message.extend(content.chars().take(400).chain(['\n']));
                        }
                    }
                }
                Part::Heading | Part::Source | Part::Message => {}
            }
        }
    }

    /// `rspec ./spec/cart_spec.rb:3 # Cart fails`, after the summary.
    fn failed_example(&mut self, text: &str) {
        let Some((place, name)) = text.strip_prefix("rspec ").and_then(|rest| rest.split_once(" # ")) else { return };
        let place = place.trim_matches('\'');
        // Examples that share a line are told by their number: `./spec/a_spec.rb[1:2]`.
        let (file, line) = match place.split_once('[') {
            Some((file, _)) => (file, None),
            None => place.rsplit_once(':').map_or((place, None), |(file, line)| (file, line.parse().ok())),
        };
        let file = file.strip_prefix("./").unwrap_or(file);
        let message = self.messages.remove(name);
        let Some(case) = self.names.set(&format!("{file}::{name}"), Outcome::Failed) else { return };
        (case.file, case.line) = (Some(printable(file, 1000)), line.filter(|line| *line > 0));
        case.message = message.as_deref().and_then(first_lines);
    }
}

/// What Crystal's spec says of what failed outside of examples.
#[derive(Debug, Default)]
struct Crystal {
    /// Above the summary: a hook did.
    is_aborted: bool,
    /// The line before was its summary: the file itself may have failed.
    is_below: bool,
}

impl Crystal {
    /// Takes a summary; whether something failed before it.
    fn summary(&mut self, counts: &[(Option<u64>, &str)]) -> bool {
        self.is_below = counts.iter().any(|(_, word)| matches!(*word, "error" | "errors"));
        std::mem::take(&mut self.is_aborted) && self.is_below
    }

    /// Takes another line; whether it tells that something failed after the summary.
    fn line(&mut self, text: &str) -> bool {
        self.is_aborted |= text == "Aborted!";
        std::mem::take(&mut self.is_below) && text.starts_with("Unhandled exception: ")
    }
}

/// Runs, of which the last is held.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Told {
    run: Run,
    /// The line before was "Finished in …".
    finished: bool,
    crystal: Crystal,
    found: Option<(Summary, Run)>,
    /// Of the processes of `parallel_rspec`, until their sum comes.
    parallel: Option<Summary>,
    /// What the marks of progress told since the last summary that counts the same.
    marks: Summary,
    enclosing: Enclosing,
}

impl Told {
    /// Takes a line. The run before it, if another one's summary comes with it.
    fn take(&mut self, text: &str) -> Result<Option<(Summary, Run)>> {
        let finished = std::mem::replace(&mut self.finished, text.starts_with("Finished in "));
        if is_parallel(text) {
            self.parallel = Some(Summary::default());
            self.run = Run::default();
            return Ok(self.found.take());
        }
        let Some(counts) = summary(text).filter(|_| finished || self.parallel.is_some()) else {
            if let (true, Some((summary, _))) = (self.crystal.line(text), self.found.as_mut()) {
                summary.add_units(1)?;
            }
            // A process lists what failed where the others' tests are told.
            if let Some((_, run)) = self.found.as_mut() {
                run.failed_example(text);
            } else if self.parallel.is_some() {
                self.run.failed_example(text);
            }
            self.run.line(text);
            self.progress(text);
            return Ok(None);
        };
        let mut summary = total(&counts)?;
        if self.crystal.summary(&counts) {
            summary.add_units(1)?;
        }
        if let Some(sum) = self.parallel.as_mut() {
            if finished {
                sum.merge(&summary)?;
                return Ok(None);
            }
            // A test may print what looks like it.
            if sum.failed != summary.failed {
                return Ok(None);
            }
            summary = self.parallel.take().unwrap_or_default();
        }
        if self.found.is_some() {
            self.enclosing.next();
        }
        let told = |summary: &Summary| [summary.passed, summary.failed, summary.skipped];
        self.enclosing.is_proven = told(&summary) != [0; 3] && told(&summary) == told(&self.marks);
        if self.enclosing.is_proven {
            self.marks = Summary::default();
        }
        Ok(self.found.replace((summary, std::mem::take(&mut self.run))))
    }

    /// Marks of progress, which what an example prints may follow: `.F*`.
    fn progress(&mut self, text: &str) {
        let rest = text.trim_start_matches(['.', 'F', '*']);
        let marks = text.get(..text.len() - rest.len()).unwrap_or_default();
        // A word begins there.
        let is_word = rest.starts_with(|c: char| c.is_alphabetic());
        let marks = if is_word { marks.strip_suffix('F').unwrap_or(marks) } else { marks };
        for mark in marks.chars() {
            let slot = match mark {
                '.' => &mut self.marks.passed,
                'F' => &mut self.marks.failed,
                _ => &mut self.marks.skipped,
            };
            *slot = slot.saturating_add(1);
        }
    }
}

/// `2 processes for 9 specs, ~ 4 specs per process`.
fn is_parallel(line: &str) -> bool {
    line.ends_with(" per process") && counted(line).is_some_and(|(_, rest)| rest.starts_with("process"))
}

impl Unannounced for Told {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        let before = self.take(text)?;
        before.map(|(summary, run)| run.names.report(&FORMAT, &summary, false).map(Box::new)).transpose()
    }

    fn encloses(&self) -> usize {
        self.enclosing.runs()
    }

    fn is_whole(&self) -> Option<bool> {
        Some(self.found.is_some() && self.parallel.is_none())
    }

    fn report(self) -> Result<Option<Parsed>> {
        let found = self.found.filter(|_| self.parallel.is_none());
        found.map(|(summary, run)| run.names.report(&FORMAT, &summary, false)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "\nAn error occurred while loading ./b_spec.rb. - Did you mean?\n\n.F*F99 examples, 0 failures\n99 examples, 0 failures\n\n\
                       Pending:\n\n  1) Cart is pending\n     # Not yet implemented\n\nFailures:\n\n  1) Cart fails\n\
                       \x20    Failure/Error: it('fails') { expect(1).to eq 2 }\n\n       expected: 2\n            got: 1\n\n\
                       \x20 2) Cart pending passes FIXED\n     Expected pending 'fixed' to fail.\n\nFinished in 0.05 seconds (files took 1 second to load)\n";
    const END: &str = "10 examples, 2 failures, 3 pending, 1 error occurred outside of examples\n\nFailed examples:\n\n\
                       rspec ./spec/cart_spec.rb:3 # Cart fails\nrspec './spec/cart_spec.rb[1:2]' # Cart pending passes\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_summary_among_the_marks_that_another_counts_is_no_run() {
        let printed = "\nFinished in 0.00s (files took 0.1 seconds to load)\n9 examples, 0 failures\n";
        let own = "\n\nFailures:\n\n  1) x b\n     Failure/Error: no\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n\
                   3 examples, 1 failure\n\nFailed examples:\n\nrspec ./a_spec.rb:3 # x b\n\n";
        let console = |text: &str| -> Vec<_> {
            crate::ingest::console::console(&Input::bytes("x", text.as_bytes())).iter().map(counts).collect()
        };
        for run in [format!("{printed}.F9 examples, 0 failures\n.{own}"), format!(".{printed}F.Finished\n{own}")] {
            assert_eq!(console(&run), [[3, 2, 1, 0, 0]], "{run}");
            let next = "..\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n2 examples, 0 failures\n";
            assert_eq!(console(&format!("{run}{next}")).len(), 2, "{run}");
        }
    }

    #[test]
    fn the_last_summary_counts() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!(
            (counts(&parsed), details(&parsed).failed_units),
            ([11, 5, 2, 1, 3], vec!["./b_spec.rb".to_owned()])
        );
        let twice = read(&format!("{RUN}{END}Finished in 0.1 seconds\n1 example, 0 failures\n")).unwrap();
        assert_eq!((counts(&twice), twice.warnings.len()), ([1, 1, 0, 0, 0], 1));
    }

    /// Crystal's spec counts examples, and goes on to its end when a hook or the file itself raises.
    #[test]
    fn what_crystal_says_beside_its_examples_is_an_errored_test() {
        const RAISED: &str = "Unhandled exception: no (Exception)\n  from a_spec.cr:3:16 in '->'\n";
        const END: &str = "Finished in 120.78 milliseconds\n";
        for (text, expected) in [
            (format!("{RAISED}\n\nAborted!\n{END}0 examples, 0 failures, 0 errors, 0 pending\n"), [1, 0, 0, 1, 0]),
            (format!(".\n\n{END}1 examples, 0 failures, 0 errors, 0 pending\n{RAISED}"), [2, 1, 0, 1, 0]),
            // A spec may print what looks like it.
            (format!("{RAISED}.\n\n{END}1 examples, 0 failures, 0 errors, 0 pending\n\n{RAISED}"), [1, 1, 0, 0, 0]),
            (format!("Aborted!\n{END}2 examples, 0 failures\n{RAISED}"), [2, 2, 0, 0, 0]),
        ] {
            assert_eq!(counts(&read(&text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn processes_add_up_to_one_run() {
        let one = |failures: u64| {
            format!(
                ".\nFinished in 0.1 seconds\n3 examples, {failures} failures, 1 pending\n\nFailed examples:\n\nrspec ./a_spec.rb:{failures}3 # A\n"
            )
        };
        let both = format!("2 processes for 4 specs, ~ 2 specs per process\n{}{}", one(1), one(2));
        let sum = "\n9 examples, 9 failures\n\n6 examples, 3 failures, 2 pendings\n\nTook 1 seconds\n";
        let parsed = read(&format!("{both}{sum}")).unwrap();
        assert_eq!((counts(&parsed), parsed.warnings.len()), ([6, 1, 3, 0, 2], 0));
        assert_eq!(read(&both).unwrap_err().reject(), Some(Reject::NoResult));
        let mut told = Told::default();
        assert!(format!("{both}{sum}").lines().all(|line| told.line(line).unwrap().is_none()));
        assert_eq!(counts(&told.report().unwrap().unwrap()), [6, 1, 3, 0, 2]);
    }

    #[test]
    fn failed_examples_have_place_and_message() {
        let details = details(&read(&format!("{RUN}{END}")).unwrap());
        let case = &details.cases.cases["spec/cart_spec.rb::Cart fails"];
        assert_eq!((case.line, case.message.as_deref()), (Some(3), Some("expected: 2 | got: 1")));
        let other = &details.cases.cases["spec/cart_spec.rb::Cart pending passes"];
        assert_eq!((other.line, other.outcome, details.dropped), (None, Outcome::Failed, 8));
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        for text in ["10 examples, 2 failures\n", "Finished in 0.1 seconds\n10 examples, 2 fail"] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
            assert_eq!(sniffed(&FORMAT, text), Sniff::No, "{text}");
        }
        assert_eq!(read(RUN).unwrap_err().reject(), Some(Reject::NoResult));
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Maybe(_)));
        let large = "Finished in 1s\n18446744073709551616 examples, 0 failures\n";
        assert_eq!(read(large).unwrap_err().reject(), Some(Reject::Malformed));
        assert!(matches!(sniffed(&FORMAT, &format!("{RUN}{END}")), Sniff::Sure(_)));
    }
}
