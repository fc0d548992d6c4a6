//! Tables and sums of coverage, which a command prints below its tests, and pytest and Jest above their summary.

use std::collections::BTreeMap;

use crate::ingest::coverage::table::several;
use crate::ingest::coverage::{
    brief_coverage_text, coveragepy_text, gcovr_text, go_cover_func, istanbul_text, llvm_cov_text,
};
use crate::ingest::test::runs::Runs;
use crate::ingest::text::LONGEST_BYTES;
use crate::ingest::{Format, Input, Parsed, parse};

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
                let before = self.told.remove(open.format.name);
                let others = before
                    .map_or(0, |(before, others)| others.saturating_add(u64::from(before.figures != parsed.figures)));
                self.told.insert(open.format.name, (parsed, others));
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
    fn every_table_is_found_between_other_lines() {
        let istanbul =
            "---|---|---\nFile | % Funcs | % Lines\n---|---|---\nAll files | 1 | 75\n a.js | 1 | 75\n---|---|---\n";
        let llvm = "Filename  Lines  Missed Lines  Cover\n---\na.rs  4  1  75%\n---\nTOTAL  4  1  75%\n";
        let gcovr = "File  Lines  Exec  Cover  Missing\n---\na.c  8  6  75%  1\n---\nTOTAL  8  6  75%\n";
        let told = lines(&format!("x\n{istanbul}y\n{llvm}{gcovr}z\n"));
        assert_eq!(told, [("gcovr-text", Some(8)), ("istanbul-text", None), ("llvm-cov-text", Some(4))]);
    }
}
