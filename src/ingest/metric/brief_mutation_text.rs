//! `brief-mutation-text`: the summaries that mutation testing tools print. Written after the output of cargo-mutants 27, mutmut 3,
//! StrykerJS 9, PIT 1, Infection 0.32, gremlins 0.5 and Cosmic Ray 8.

use super::Mutants;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, split_at};
use crate::ingest::values::{leading_in, whole};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Summaries of mutation testing.
pub const FORMAT: Format = Format {
    name: "brief-mutation-text",
    kind: ReportKind::Metric,
    about: "terminal output of mutation testing tools: their summaries",
    written_by: "cargo mutants, mutmut run, StrykerJS (clear-text), PIT, Infection, gremlins unleash, cr-report",
    told_by: "a summary whose counts add up: \"5 mutants tested in 13s: …\", \"10/10 🎉 8 …\", \"# killed | # \
              timeout\", \"Generated 8 mutations Killed 6\", \"16 mutations were generated:\", \"Killed: 5, Lived: \
              1\", \"surviving mutants: 2 (40.00%)\"",
    has_end: true,
    counting: "mutation.score (%) and mutation.survived as in the tool's own JSON or XML: what no test covers \
               survives; what could not be built, or was skipped, does not count. Of several summaries the last.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    let mut reader = Reader::default();
    head.last_lines().for_each(|line| reader.line(line));
    if reader.told.is_some() && !head.is_of_tests() {
        return Sniff::Sure("a summary of mutants".into());
    }
    if head.lines().any(announces) { Sniff::Maybe("a run of mutants that begins".into()) } else { Sniff::No }
}

/// Whether the line is one of a summary.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    let mut reader = Reader::default();
    reader.line(line);
    reader.told.is_some()
        || reader.infection.is_some()
        || reader.gremlins.is_some()
        || reader.cosmic_ray.is_some()
        || !reader.stryker.is_empty()
}

/// Whether a run begins with the line, or goes on with it.
fn announces(line: &str) -> bool {
    let is_found = line.starts_with("Found ") && line.trim_end().ends_with(" mutants to test");
    is_found || line.trim_end().ends_with(" mutations were generated:") || (line.contains('🎉') && line.contains('🙁'))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut reader, mut last) = (Reader::default(), 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        reader.line(&line.text);
    }
    let none = || {
        Error::report(Reject::NoResult, "no whole summary of mutants is in it")
            .line(last)
            .help("the run was probably killed; run it again, or leave it out: `begin` and `record` take --skip metric")
    };
    reader.told.ok_or_else(none)?.finish(&FORMAT)
}

/// What a summary of several lines has told so far.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    mutants: Mutants,
    /// Those that do not count.
    others: u64,
    /// How many there should be.
    all: Option<u64>,
}

#[derive(Default)]
struct Reader {
    infection: Option<Open>,
    gremlins: Option<Open>,
    /// The jobs that Cosmic Ray has, and those that are done.
    cosmic_ray: Option<(u64, Option<u64>)>,
    /// The columns of Stryker's table.
    stryker: Vec<String>,
    told: Option<Mutants>,
}

impl Reader {
    fn line(&mut self, text: &str) {
        let text = text.trim();
        if text.len() > 1_000 {
            return;
        }
        let told = cargo_mutants(text).or_else(|| mutmut(text)).or_else(|| pit(text));
        let told = told.or_else(|| self.stryker(text)).or_else(|| self.infection(text));
        let told = told.or_else(|| self.gremlins(text)).or_else(|| self.cosmic_ray(text));
        self.told = told.or(self.told);
    }

    /// `All files | 66.67 | 66.67 | 4 | 0 | 2 | 0 | 0 |` below a heading with `# killed`.
    fn stryker(&mut self, text: &str) -> Option<Mutants> {
        if text.starts_with("File ") && text.contains("# killed") {
            self.stryker = text.split('|').map(|cell| cell.trim().to_owned()).collect();
        }
        let row: Vec<&str> = text.strip_prefix("All files ")?.split('|').map(str::trim).collect();
        if row.len() != self.stryker.len() {
            return None;
        }
        let count = |name: &str| {
            let at = self.stryker.iter().position(|column| column == name)?;
            whole(row.get(at)?)
        };
        let detected = count("# killed")?.checked_add(count("# timeout")?)?;
        Some(Mutants { detected, undetected: count("# survived")?.checked_add(count("# no cov")?)? })
    }

    /// `16 mutations were generated:`, then a line for each sort, then the MSI.
    fn infection(&mut self, text: &str) -> Option<Mutants> {
        let (number, what) = text.split_once(' ')?;
        if what == "mutations were generated:" {
            self.infection = whole(number).map(|all| Open { all: Some(all), ..Open::default() });
            return None;
        }
        let open = self.infection.as_mut()?;
        if text.starts_with("Mutation Score Indicator (MSI):") {
            let Open { mutants, others, all } = self.infection.take()?;
            let sum = mutants.detected.checked_add(mutants.undetected)?.checked_add(others)?;
            return (Some(sum) == all).then_some(mutants);
        }
        let what = what.trim_start_matches("covered ");
        let slot = if what.starts_with("mutants were not ") {
            &mut open.mutants.undetected
        } else if what.starts_with("mutants were killed")
            || what.starts_with("mutants were caught")
            || what.ends_with("were encountered")
        {
            &mut open.mutants.detected
        } else {
            &mut open.others
        };
        *slot = slot.checked_add(whole(number)?)?;
        None
    }

    /// `Killed: 5, Lived: 1, Not covered: 2`, then `Timed out: 0, …`, then the efficacy.
    fn gremlins(&mut self, text: &str) -> Option<Mutants> {
        if text.starts_with("Test efficacy: ") {
            return self.gremlins.take().map(|open| open.mutants);
        }
        if !text.starts_with("Killed: ") && !text.starts_with("Timed out: ") {
            return None;
        }
        let open = self.gremlins.get_or_insert_default();
        if text.starts_with("Killed: ") {
            *open = Open::default();
        }
        for part in text.split(", ") {
            let (name, count) = part.split_once(": ")?;
            let slot = match name {
                "Killed" | "Timed out" => &mut open.mutants.detected,
                "Lived" | "Not covered" => &mut open.mutants.undetected,
                _ => &mut open.others,
            };
            *slot = slot.checked_add(whole(count)?)?;
        }
        None
    }

    /// `total jobs: 5`, then `complete: 5 (100.00%)`, then `surviving mutants: 2 (40.00%)`.
    fn cosmic_ray(&mut self, text: &str) -> Option<Mutants> {
        if let Some(all) = text.strip_prefix("total jobs: ") {
            self.cosmic_ray = whole(all).map(|all| (all, None));
            return None;
        }
        let (all, done) = self.cosmic_ray.as_mut()?;
        let number = |rest: &str| whole(rest.strip_suffix("%)")?.split_once(" (")?.0);
        if let Some(complete) = text.strip_prefix("complete: ") {
            *done = number(complete);
            return None;
        }
        let undetected = number(text.strip_prefix("surviving mutants: ")?)?;
        let all = Some(*all).filter(|all| *done == Some(*all))?;
        self.cosmic_ray = None;
        Some(Mutants { detected: all.checked_sub(undetected)?, undetected })
    }
}

/// `5 mutants tested in 13s: 1 missed, 3 caught, 1 unviable`.
fn cargo_mutants(text: &str) -> Option<Mutants> {
    let (all, rest) = leading_in(text)?;
    let rest = rest.strip_prefix(" mutant")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" tested in ")?;
    // The time may be `0:08`.
    let (_, counts) = rest.split_once(": ")?;
    let (mut mutants, mut others) = (Mutants::default(), 0_u64);
    for part in counts.split(", ") {
        let (number, word) = part.split_once(' ')?;
        let slot = match word {
            "missed" => &mut mutants.undetected,
            "caught" | "timeout" | "timeouts" => &mut mutants.detected,
            "unviable" | "succeeded" | "failed" => &mut others,
            // Cut, or of another version.
            _ => return None,
        };
        *slot = slot.checked_add(whole(number)?)?;
    }
    let sum = mutants.detected.checked_add(mutants.undetected)?.checked_add(others)?;
    (all == sum).then_some(mutants)
}

/// `⠏ 10/10  🎉 8 🫥 0  ⏰ 0  🤔 0  🙁 2  🔇 0`, of which every mutant prints one.
fn mutmut(text: &str) -> Option<Mutants> {
    let (before, _) = text.split_once('🎉')?;
    let (done, all) = before.split_whitespace().next_back()?.split_once('/')?;
    let all = whole(all).filter(|all| whole(done) == Some(*all))?;
    let mut words = text.get(before.len()..)?.split_whitespace();
    let (mut mutants, mut others) = (Mutants::default(), 0_u64);
    while let Some(sign) = words.next() {
        let slot = match sign {
            "🎉" | "⏰" | "🧙" => &mut mutants.detected,
            "🙁" | "🫥" => &mut mutants.undetected,
            _ => &mut others,
        };
        *slot = slot.checked_add(whole(words.next()?)?)?;
    }
    let sum = mutants.detected.checked_add(mutants.undetected)?.checked_add(others)?;
    (sum == all).then_some(mutants)
}

/// `>> Generated 8 mutations Killed 6 (75%)`.
fn pit(text: &str) -> Option<Mutants> {
    let (all, rest) = split_at(text, ">> Generated ")?.1.split_once(" mutations Killed ")?;
    let (detected, share) = rest.split_once(" (")?;
    share.strip_suffix("%)")?;
    let detected = whole(detected)?;
    Some(Mutants { detected, undetected: whole(all)?.checked_sub(detected)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Option<f64>, Option<f64>)> {
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))?.figures.metrics;
        Ok((metrics["mutation.score"].value, metrics["mutation.survived"].value))
    }

    const STRYKER: &str = "File | total | covered | # killed | # timeout | # survived | # no cov | # errors |\n---|---|\n\
        All files | 60.00 | 75.00 | 2 | 1 | 1 | 1 | 4 |\n app.js | 60.00 | 75.00 | 2 | 1 | 1 | 1 | 4 |\n";
    const INFECTION: &str = "13 mutations were generated:\n       2 mutants were killed by Test Framework\n       0 mutants were caught by Static Analysis\n       \
        3 mutants were configured to be ignored\n       1 mutants were not covered by tests\n       1 covered mutants were not detected\n       0 errors were encountered\n       \
        0 syntax errors were encountered\n       1 time outs were encountered\n       5 mutants required more time than configured\n\nMetrics:\n         \
        Mutation Score Indicator (MSI): 60%\n";
    const GREMLINS: &str = "Mutation testing completed in 1 second\nKilled: 2, Lived: 1, Not covered: 1\nTimed out: 1, Not viable: 4, Skipped: 0\nTest efficacy: 66.67%\n";

    #[test]
    fn every_tool_s_summary_is_read() {
        for text in [
            "7 mutants tested in 0:13: 2 missed, 2 caught, 2 unviable, 1 timeouts",
            "⠋ 1/6  🎉 1 🫥 0  ⏰ 0  🤔 0  🙁 0  🔇 0\r⠏ 6/6  🎉 2 🫥 1  ⏰ 1  🤔 0  🙁 1  🔇 1  🧙 0\n",
            ">> Generated 5 mutations Killed 3 (60%)\n>> Mutations with no coverage 1. Test strength 75%\n",
            "total jobs: 5\ncomplete: 5 (100.00%)\nsurviving mutants: 2 (40.00%)\n",
            STRYKER,
            INFECTION,
            GREMLINS,
        ] {
            assert_eq!(read(text).unwrap(), (Some(60.0), Some(2.0)), "{text}");
            let found = crate::ingest::detect(&Input::bytes("x", text.as_bytes())).unwrap();
            assert_eq!(found.map(|(format, _)| format.name), Some("brief-mutation-text"), "{text}");
        }
    }

    #[test]
    fn a_summary_that_is_not_whole_is_none() {
        for text in [
            "7 mutants tested in 13s: 2 missed, 2 caught",
            "⠏ 5/6  🎉 2 🫥 1  ⏰ 1  🤔 0  🙁 1  🔇 0",
            "⠏ 6/6  🎉 2 🫥 1  ⏰ 1",
            ">> Generated 5 mutations Killed 3 (6",
            STRYKER.get(..STRYKER.find("| 1 | 4 |").unwrap()).unwrap(),
            INFECTION.get(..INFECTION.find("(MSI)").unwrap()).unwrap(),
            &INFECTION.replace("13 mutations", "14 mutations"),
            GREMLINS.get(..GREMLINS.find("Test").unwrap()).unwrap(),
            "total jobs: 5\ncomplete: 5 (100.00%)\nsurviving mutants: 2 (40.0",
            "total jobs: 7\ncomplete: 5 (71.43%)\nsurviving mutants: 2 (40.00%)\n",
            "complete: 5 (100.00%)\nsurviving mutants: 2 (40.00%)\n",
            "nothing\n",
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }
}
