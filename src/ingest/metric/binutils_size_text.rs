//! `binutils-size-text`: the table that `size` prints in its formats Berkeley and GNU: the sections of programs and libraries.

use super::{LONGEST_NAME, Metrics};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;
use crate::model::units::Quantity;

/// Table of size.
pub const FORMAT: Format = Format {
    name: "binutils-size-text",
    kind: ReportKind::Metric,
    about: "table of size: text, data and bss of programs",
    written_by: "size of GNU binutils, llvm-size, arm-none-eabi-size",
    told_by: "a table with the columns text, data, bss, dec, hex and filename, or total in place of dec and hex",
    has_end: false,
    counting: "binary.NAME.text, .data and .bss (bytes, lower), NAME as filename. The sums of --totals are not used.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_any = head.lines().any(begins);
    if has_any && !head.is_of_tests() { Sniff::Sure("a table of size's columns".into()) } else { Sniff::No }
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    let is = |columns: &[&str]| line.split_whitespace().eq(columns.iter().copied());
    line.contains("bss")
        && (is(&["text", "data", "bss", "dec", "hex", "filename"]) || is(&["text", "data", "bss", "total", "filename"]))
}

/// The three sections and the name, if their sum is told rightly; in the Berkeley format as a hexadecimal number, too.
fn row(line: &str, is_berkeley: bool) -> Option<([u64; 3], &str)> {
    let mut rest = line.trim();
    let mut word = || {
        let (word, after) = rest.split_once(char::is_whitespace)?;
        rest = after.trim_start();
        Some(word)
    };
    let numbers = [whole(word()?)?, whole(word()?)?, whole(word()?)?];
    let sum = whole(word()?)?;
    let is_told_again = !is_berkeley || u64::from_str_radix(word()?, 16) == Ok(sum);
    let is_sum = numbers.iter().try_fold(0_u64, |sum, number| sum.checked_add(*number)) == Some(sum);
    (is_sum && is_told_again && !rest.is_empty()).then_some((numbers, rest))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut metrics, mut is_open, mut is_berkeley) = (Metrics::default(), false, true);
    while let Some(line) = lines.next()? {
        if begins(&line.text) {
            (is_open, is_berkeley) = (true, line.text.contains("hex"));
            continue;
        }
        if !is_open || line.text.trim().is_empty() {
            continue;
        }
        // Without a line end, the name may be another one.
        let Some((numbers, name)) = row(&line.text, is_berkeley).filter(|_| line.ended) else {
            if line.ended {
                is_open = false;
                continue;
            }
            let cut = Error::report(Reject::Malformed, "report ends inside a row of size's");
            return Err(cut.line(line.number).help(CUT_HELP));
        };
        if name == "(TOTALS)" {
            continue;
        }
        for (what, bytes) in ["text", "data", "bss"].into_iter().zip(numbers) {
            let name = format!("binary.{}.{what}", printable(name, LONGEST_NAME));
            metrics.add(&name, Some(Quantity::from(bytes).as_f64()), Some("bytes"), Some(Direction::Lower));
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "   text\t   data\t    bss\t    dec\t    hex\tfilename\n 137659\t   4840\t   4840\t 147339\t  23f8b\tbuild/my app\n\
        \x20  100\t     20\t      3\t    123\t     7b\t(TOTALS)\n";

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn sections_are_metrics_and_totals_none() {
        let metrics = read(TABLE).unwrap().figures.metrics;
        let value = |name: &str| metrics[&format!("binary.build/my app.{name}")].value;
        assert_eq!((value("text"), value("data"), value("bss")), (Some(137_659.0), Some(4840.0), Some(4840.0)));
        assert_eq!(metrics.len(), 3);
    }

    #[test]
    fn the_gnu_format_has_no_hexadecimal_sum() {
        let gnu = "      text       data        bss      total filename\n       300       1444          8       1752 my app\n";
        let metrics = read(gnu).unwrap().figures.metrics;
        assert_eq!((metrics["binary.my app.data"].value, metrics.len()), (Some(1444.0), 3));
    }

    #[test]
    fn rows_that_do_not_add_up_are_none_and_a_cut_shows() {
        assert!(
            row("1 2 3 7 7 a", true).is_none()
                && row("1 2 3 6 7 a", true).is_none()
                && row("1 2 3 6 6", true).is_none()
        );
        let end = TABLE.find("my app").unwrap();
        for length in TABLE.find(" 137659").unwrap() + 2..end + 6 {
            assert_eq!(read(TABLE.get(..length).unwrap()).unwrap_err().reject(), Some(Reject::Malformed), "{length}");
        }
    }
}
