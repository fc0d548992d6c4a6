//! `go-cover-func`: what `go tool cover -func` prints: the share of statements that ran, of each function and in all. It
//! tells no counts. Nor does `go test -cover`, which tells the share of each package among its tests: on the console the
//! share in all counts, if both were told.

use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, CoverageDetails, Details, Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};
use crate::model::units::Percent;

/// The shares that go tool cover prints.
pub const FORMAT: Format = Format {
    name: "go-cover-func",
    kind: ReportKind::Coverage,
    about: "go tool cover: percentage of statements of each function, and in all",
    written_by: "go tool cover -func",
    told_by: "lines \"a.go:8:  Price  25.0%\" and \"total:  (statements)  36.4%\"",
    has_end: true,
    counting: "The percentage of the line total.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.lines().any(|line| is_function(line) || total(line).is_some()) && !head.is_of_tests() {
        return Sniff::Sure("functions or a total with percentages, as go tool cover prints them".into());
    }
    Sniff::No
}

/// Whether it is `path.go:8:  name  25.0%`.
fn is_function(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (Some(place), Some(_), Some(share), None) = (words.next(), words.next(), words.next(), words.next()) else {
        return false;
    };
    let line_number = place.strip_suffix(':').and_then(|place| place.rsplit_once(".go:")).map(|(_, line)| whole(line));
    line_number.flatten().is_some() && share.ends_with('%')
}

/// The text of the share in `total:  (statements)  36.4%`, whatever it is; without a colon of `go tool covdata func`.
fn total(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("total")?;
    rest.strip_prefix(':').unwrap_or(rest).trim_start().strip_prefix("(statements)").map(str::trim)
}

/// The percentage in the text of a share.
fn percentage(share: &str) -> Option<Percent> {
    Percent::new(share.strip_suffix('%')?.parse().ok()?)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut percent, mut functions, mut last) = (None, 0_u64, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        if let Some(share) = total(&line.text) {
            let why = || format!("{:?} is no percentage", printable(share, 40));
            percent = Some(
                percentage(share).ok_or_else(|| Error::report(Reject::Malformed, why()).line(last).help(CUT_HELP))?,
            );
        }
        functions += u64::from(is_function(&line.text));
    }
    match percent {
        Some(_) => {}
        None if functions > 0 => {
            return Err(Error::report(Reject::Malformed, "report ends before its total").line(last).help(CUT_HELP));
        }
        None => return Err(Error::report(Reject::NotThisFormat, "nothing that go tool cover prints is in it")),
    }
    // Without any function there is nothing that could be covered, for which it says 0.0%.
    let figures = match (functions, percent) {
        (0, Some(Percent::ZERO)) => {
            Figures { statements_covered: Some(0), statements_total: Some(0), ..Figures::default() }
        }
        _ => Figures { percent_covered: percent, ..Figures::default() },
    };
    Ok(report_of(figures))
}

fn report_of(figures: Figures) -> Parsed {
    Parsed::new(&FORMAT, figures, Details::Coverage(CoverageDetails::default()))
}

/// What both print between lines of others: the share in all, and that of a package if there is one, as nobody tells how
/// shares of several add up.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Shares {
    /// `go tool cover -func` named a function.
    has_functions: bool,
    total: Option<Percent>,
    /// Of the tests whose package has not been told yet.
    share: Option<Percent>,
    package: Option<(String, Option<Percent>)>,
    has_others: bool,
}

impl Shares {
    /// Takes a line, as `ok shop/cart 0.005s coverage: 83.3% of statements` with tabs between.
    pub(in crate::ingest) fn line(&mut self, text: &str) {
        self.has_functions |= text.ends_with('%') && is_function(text);
        if let Some(share) = total(text) {
            self.total = percentage(share).filter(|share| self.has_functions || *share != Percent::ZERO);
            return;
        }
        if text.starts_with("coverage: ") {
            self.share = share(text);
            return;
        }
        let Some((word, rest)) = text.split_once('\t') else { return };
        let share = match word.trim_end() {
            // Without tests, as Go tells it from 1.22 on.
            "" => share(text).filter(|_| rest.contains("\tcoverage: ")),
            "ok" => share(text),
            "FAIL" => self.share,
            "?" => None,
            _ => return,
        };
        if word.is_empty() && share.is_none() {
            return;
        }
        self.share = None;
        let name = rest.split(['\t', ' ']).next().unwrap_or_default();
        match &mut self.package {
            None => self.package = Some((name.to_owned(), share)),
            Some((known, before)) if known == name => *before = share.or(*before),
            Some(_) => self.has_others = true,
        }
    }

    /// The report.
    pub(in crate::ingest) fn report(self) -> Option<Parsed> {
        let of_package = || self.package.filter(|_| !self.has_others)?.1;
        let percent_covered = Some(self.total.or_else(of_package)?);
        Some(report_of(Figures { percent_covered, ..Figures::default() }))
    }
}

fn share(text: &str) -> Option<Percent> {
    let (share, _) = text.split_once("coverage: ")?.1.split_once("% of statements")?;
    Percent::new(share.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_package_has_a_share_and_several_have_none() {
        let told = |text: &str| {
            let mut shares = Shares::default();
            text.lines().for_each(|line| shares.line(line));
            shares.report().and_then(|parsed| parsed.figures.percent_covered)
        };
        let ok = "ok  \tshop/cart\t0.005s\tcoverage: 83.3% of statements\n";
        let failed = "--- FAIL: TestA (0.00s)\nFAIL\ncoverage: 83.3% of statements\nFAIL\tshop/cart\t0.003s\nFAIL\n";
        let verbose = format!("PASS\ncoverage: 83.3% of statements\n{ok}");
        let again = format!("ok  \tshop/cart\t(cached)\n{ok}ok  \tshop/cart\t(cached)\n");
        for text in [ok, failed, &verbose, &again, &ok.replace("statements", "statements in ./...")] {
            assert_eq!(told(text), Percent::new(83.3), "{text}");
        }
        for other in [
            "?   \tshop/price\t[no test files]",
            "\tshop/price\t\tcoverage: 0.0% of statements",
            "FAIL\tshop/price [build failed]",
        ] {
            assert_eq!(told(&format!("{ok}{other}\n")), None, "{other}");
        }
        let functions = format!("shop/cart/a.go:8:\tPrice\t\t25.0%\n{TOTAL}\n");
        assert_eq!(told(&format!("{ok}{functions}")), Percent::new(36.4), "the share in all");
        assert_eq!(told(&functions.replace("36.4", "136.4")), None);
        assert_eq!(told(TOTAL), Percent::new(36.4), "its last line, as `tail` or `grep` leave it");
        assert_eq!(told(&TOTAL.replace("36.4", "0.0")), None, "0.0% of nothing");
        assert_eq!(told("ok  \tshop/cart\t0.005s\n\tx\ncoverage: 83.3% of statements\n"), None);
        assert_eq!(told("ok  \tshop/cart\t0.005s\tcoverage: [no statements]\n"), None);
    }

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    const TOTAL: &str = "total:\t\t\t\t(statements)\t36.4%";

    #[test]
    fn the_total_counts() {
        let text = format!("example.org/p/a.go:8:\tPrice\t\t25.0%\nexample.org/p/a.go:24:\thelper\t0.0%\n{TOTAL}\n");
        assert_eq!(read(&text).unwrap().figures.percent_covered, Percent::new(36.4));
        let of_covdata = format!("p/a.go:8:\tPrice\t25.0%\n{}\n", TOTAL.replace("total:", "total"));
        assert_eq!(read(&of_covdata).unwrap().figures.percent_covered, Percent::new(36.4));
        assert_eq!(read(TOTAL).unwrap().figures.percent_covered, Percent::new(36.4), "its last line alone");
        let nothing = read(&TOTAL.replace("36.4", "0.0")).unwrap().figures;
        assert_eq!((nothing.percent_covered, nothing.statements_total), (None, Some(0)));
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let text = format!("a.go:8:\tPrice\t\t25.0%\n{TOTAL}");
        for length in text.find('%').unwrap() + 1..text.len() {
            assert_eq!(read(text.get(..length).unwrap()).unwrap_err().reject(), Some(Reject::Malformed), "{length}");
        }
        for odd in ["101.0%", "x%", "-3%", "NaN%", "36.4"] {
            assert!(read(&TOTAL.replace("36.4%", odd)).is_err(), "{odd}");
        }
        for foreign in ["all well\n", "a.go:8: bad thing 25%\n", "a.py:8:\tf\t25.0%\n"] {
            assert_eq!(read(foreign).unwrap_err().reject(), Some(Reject::NotThisFormat), "{foreign}");
        }
    }
}
