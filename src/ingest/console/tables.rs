//! Tables and sums of coverage, which a command prints below its tests, and pytest and Jest above their summary.

use std::collections::BTreeMap;

use crate::ingest::coverage::table::several;
use crate::ingest::coverage::{
    brief_coverage_text, coveragepy_text, gcovr_text, go_cover_func, istanbul_text, llvm_cov_text,
};
use crate::ingest::test::runs::Runs;
use crate::ingest::text::LONGEST_BYTES;
use crate::ingest::{Format, Input, Parsed, parse};
use crate::model::figures::Figures;
use crate::model::units::Percent;

type Begins = fn(&str) -> bool;

/// The formats, and whether a table begins with a line: what is set in was printed within something else.
const TABLES: [(&Format, Begins); 4] = [
    (&coveragepy_text::FORMAT, coveragepy_text::begins),
    (&istanbul_text::FORMAT, istanbul_text::begins),
    (&llvm_cov_text::FORMAT, llvm_cov_text::begins),
    (&gcovr_text::FORMAT, gcovr_text::begins),
];

/// A table of which more comes.
struct Open {
    format: &'static Format,
    text: String,
    /// It stands in a run of tests.
    is_inside: bool,
}

/// Reads tables. Of several of one format the last counts, as it does where they stand in a file.
#[derive(Default)]
pub(super) struct Tables {
    /// The last line that was not blank.
    before: String,
    open: Option<Open>,
    /// The last of each format, and how many others it took the place of.
    told: BTreeMap<&'static str, (Parsed, u64)>,
    sums: brief_coverage_text::Told,
    shares: go_cover_func::Shares,
}

impl Tables {
    /// The next line, and whose tests it stands in.
    pub(super) fn line(&mut self, text: &str, runner: Option<&dyn Runs>) {
        let is_inside = runner.is_some();
        let text = text.trim_end();
        if let Some((format, _)) = TABLES.iter().find(|(_, begins)| begins(text))
            && runner.is_none_or(|runner| runner.prints_table(&self.before))
        {
            // Istanbul's line of dashes stands above its heading.
            self.open = Some(Open { format, text: format!("{}\n", self.before), is_inside });
        }
        // What began in other hands is cut.
        if let Some(mut open) = self.open.take().filter(|open| open.is_inside == is_inside) {
            open.text.push_str(text);
            open.text.push('\n');
            let table = Input::bytes("(console)", open.text.as_bytes());
            if let Some(parsed) = may_end(text).then(|| parse(&table, Some(open.format)).ok()).flatten() {
                let told = match self.told.remove(open.format.name) {
                    None => (parsed, 0),
                    Some((before, others)) if is_rounded(&parsed.figures, &before.figures) => (before, others),
                    Some((before, others)) => {
                        let is_same = before.figures == parsed.figures || is_rounded(&before.figures, &parsed.figures);
                        (parsed, others.saturating_add(u64::from(!is_same)))
                    }
                };
                self.told.insert(open.format.name, told);
            } else if open.text.len() <= LONGEST_BYTES {
                self.open = Some(open);
            }
        }
        if !is_inside {
            self.sums.line(text);
        }
        if runner.is_none_or(|runner| runner.prints_share(text)) {
            self.shares.line(text);
        }
        if !text.is_empty() {
            text.clone_into(&mut self.before);
        }
    }

    /// The tables that came to their end, the last sums, and Go's shares.
    pub(super) fn take(&mut self) -> Vec<Parsed> {
        let Tables { told, sums, shares, .. } = std::mem::take(self);
        let last = |(mut table, others): (Parsed, u64)| {
            table.warnings.extend(several(others.saturating_add(1), "tables"));
            table
        };
        told.into_values().map(last).chain(sums.report().ok().flatten()).chain(shares.report()).collect()
    }
}

/// Whether the first tells no more than the share of lines that the other counts: Istanbul's `text` beside its `text-summary`.
fn is_rounded(share: &Figures, counted: &Figures) -> bool {
    /// Percentage points: two decimals, and what stands behind them left out.
    const ROUNDED: f64 = 0.01;
    let counted =
        counted.lines_covered.zip(counted.lines_total).and_then(|(covered, total)| Percent::of(covered, total));
    let both = share.percent_covered.zip(counted);
    both.is_some_and(|(share, counted)| (share.get() - counted.get()).abs() <= ROUNDED)
}

/// The line of the sums, or one that is drawn.
fn may_end(text: &str) -> bool {
    let is_drawn = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'-' | b'|' | b'='));
    is_drawn || text.trim_start_matches(['|', '*', ' ']).starts_with("TOTAL")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "Name  Stmts  Miss  Cover\n---\na.py  12  2  83%\n---\nTOTAL  12  2  83%\n";

    fn lines(text: &str) -> Vec<(&'static str, Option<u64>)> {
        let mut tables = Tables::default();
        text.lines().for_each(|line| tables.line(line, None));
        tables.take().into_iter().map(|parsed| (parsed.format.name, parsed.figures.lines_total)).collect()
    }

    #[test]
    fn the_last_whole_table_of_a_format_counts() {
        let [cut, other] = [TABLE.replace("TOTAL", "a"), TABLE.replace("12", "40")];
        for (text, total) in [(format!("{TABLE}{other}"), 40), (format!("{other}x\n{TABLE}{cut}"), 12)] {
            assert_eq!(lines(&text), [("coveragepy-text", Some(total))], "{text}");
        }
        for (text, warnings) in [(format!("{TABLE}{other}{TABLE}"), 1), (format!("{TABLE}{TABLE}"), 0)] {
            let mut tables = Tables::default();
            text.lines().for_each(|line| tables.line(line, None));
            assert_eq!(tables.take().first().map(|parsed| parsed.warnings.len()), Some(warnings), "{text}");
        }
        assert_eq!(lines(&cut), []);
        assert_eq!(lines(&TABLE.replace("Name", "  Name")), []);
    }

    #[test]
    fn a_table_of_shares_and_the_sums_that_they_are_of_are_one() {
        let table = "---|---|---\nFile | % Funcs | % Lines\n---|---|---\nAll files | 1 | 33.33\n a.js | 1 | 33.33\n---|---|---\n";
        let sums = format!("{:=^80}\nLines : 33.33% ( 3/9 )\n{}\n", " Coverage summary ", "=".repeat(80));
        for (text, warnings) in [
            (format!("{table}{sums}"), 0),
            (format!("{sums}{table}"), 0),
            (format!("{}{sums}", table.replace("33.33", "33.31")), 1),
        ] {
            let mut tables = Tables::default();
            text.lines().for_each(|line| tables.line(line, None));
            let told = tables.take();
            assert_eq!(
                (told.len(), told[0].figures.lines_total, told[0].warnings.len()),
                (1, Some(9), warnings),
                "{text}"
            );
        }
    }

    #[test]
    fn every_table_is_found_between_other_lines() {
        let istanbul =
            "---|---|---\nFile | % Funcs | % Lines\n---|---|---\nAll files | 1 | 75\n a.js | 1 | 75\n---|---|---\n";
        let llvm = "Filename  Lines  Missed Lines  Cover\n---\na.rs  4  1  75%\n---\nTOTAL  4  1  75%\n";
        let gcovr = "File  Lines  Exec  Cover  Missing\n---\na.c  8  6  75%  1\n---\nTOTAL  8  6  75%\n";
        let told = lines(&format!("x\n{istanbul}y\n{llvm}{gcovr}z\n"));
        assert_eq!(told, [("gcovr-text", Some(8)), ("istanbul-text", None), ("llvm-cov-text", Some(4))]);
    }
}
