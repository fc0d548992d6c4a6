//! `lcov`: geninfo's tracefile, which most coverage tools can write.

use super::files::part_of_name;
use super::lines::Numbered;
use super::{FileTally, Files};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable, trimmed};
use crate::ingest::values::{is_hit, leading, leading_in, whole};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// lcov tracefiles.
pub const FORMAT: Format = Format {
    name: "lcov",
    kind: ReportKind::Coverage,
    about: "lcov tracefile: lines, branches and functions of each source file",
    written_by: "geninfo, cargo llvm-cov, grcov, tarpaulin, nyc, c8, jest, vitest, coverage.py, coverlet, bazel, Dart",
    told_by: "records SF: … end_of_record",
    has_end: false,
    counting: "DA lines per source file and line, merged over sections; BRDA branches per line, block and branch ('-' \
               is not taken); functions per source file and name. LF, LH, BRF and BRH are only compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    let begins = |prefix: &str| head.lines().any(|line| line.starts_with(prefix));
    if !begins("SF:") {
        return Sniff::No;
    }
    let telling =
        ["end_of_record", "DA:", "FN:", "FNDA:", "LF:", "BRDA:", "TN:"].into_iter().find(|prefix| begins(prefix));
    match telling {
        Some(record) => Sniff::Sure(format!("records SF: and {record}")),
        None => Sniff::Maybe("a record SF:".into()),
    }
}

/// Keys of the records that lcov knows, old and new ones.
const KEYS: &[&str] = &[
    "DA", "BRDA", "FN", "FNDA", "FNL", "FNA", "LF", "LH", "FNF", "FNH", "BRF", "BRH", "SF", "TN", "VER", "MCDC", "MCF",
    "MCH",
];

/// Whether it is a tracefile and nothing else, as far as is seen: no other tool speaks between its records.
pub(in crate::ingest) fn is_all(head: &Head<'_>) -> bool {
    let is_record = |line: &str| {
        let is_known = || line.split_once(':').is_some_and(|(key, _)| KEYS.contains(&key));
        line.is_empty() || line.starts_with('#') || is_known() || line == "end_of_record"
    };
    sniff(head) != Sniff::No && head.uncut_lines().all(is_record)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Tracefile::default();
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    loop {
        if let Some(tally) = reader.files.current() {
            // Nearly every record is one of these.
            loop {
                while let Some((line, hit)) = lines.next_as(plain_line_record) {
                    tally.line(line, hit).map_err(|error| error.line(lines.number()))?;
                }
                let Some((branch, taken)) = lines.next_as(plain_branch_record) else { break };
                tally.numbered_branch(branch, taken).map_err(|error| error.line(lines.number()))?;
            }
        }
        let Some(line) = lines.next()? else { return reader.finish(lines.number()) };
        reader.record(trimmed(&line.text), line.ended).map_err(|error| error.line(line.number))?;
    }
}

/// Line and whether it was hit of `DA:1,2`, with the length of that: as [`line_record`], found in one go.
fn plain_line_record(bytes: &[u8]) -> Option<((u64, bool), usize)> {
    let [b'D', b'A', b':', rest @ ..] = bytes else { return None };
    let (line, [b',', rest @ ..]) = leading(rest)? else { return None };
    let (hits, rest) = leading(rest)?;
    Some(((line, hits > 0), bytes.len() - rest.len()))
}

/// Number of the branch and whether it was taken of `BRDA:1,0,0,-`, with the length of that: as [`data`] has them, found in one
/// go.
fn plain_branch_record(bytes: &[u8]) -> Option<((u64, bool), usize)> {
    let [b'B', b'R', b'D', b'A', b':', rest @ ..] = bytes else { return None };
    let (line, [b',', rest @ ..]) = leading(rest)? else { return None };
    let (block, [b',', rest @ ..]) = part_of_name(rest)? else { return None };
    let (branch, [b',', rest @ ..]) = part_of_name(rest)? else { return None };
    let (taken, rest) = match rest {
        [b'-', rest @ ..] => (false, rest),
        rest => leading(rest).map(|(times, rest)| (times > 0, rest))?,
    };
    Some(((Numbered::number(line, block, branch)?, taken), bytes.len() - rest.len()))
}

/// The state between records.
#[derive(Default)]
struct Tracefile {
    files: Files,
    /// A test name waits for its section.
    test_named: bool,
    sections: u64,
    declared: Figures,
}

impl Tracefile {
    fn record(&mut self, record: &str, is_ended: bool) -> Result<()> {
        if matches!(record.as_bytes(), [] | [b'#', ..]) {
            return Ok(());
        }
        if record == "end_of_record" {
            return match self.files.current() {
                Some(_) => self.files.close(),
                None => Err(malformed("end_of_record without a section")),
            };
        }
        let Some((key, value)) = key_and_value(record) else {
            // Below a section stands what lcov itself passes over; unless it is the beginning of a record.
            if self.sections > 0 && self.files.current().is_none() && is_ended {
                return Ok(());
            }
            let why = format!("{:?} is no record of a tracefile", printable(record, 40));
            let code = if self.sections == 0 { Reject::NotThisFormat } else { Reject::Malformed };
            return Err(Error::report(code, why));
        };
        match (key, self.files.current()) {
            ("SF", None) => self.begin(value),
            ("SF", Some(_)) => Err(malformed("a section begins before the one above it has its end_of_record")),
            ("TN", _) => {
                self.test_named = true;
                Ok(())
            }
            (_, Some(tally)) => data(key, value, tally, &mut self.declared),
            // A version or a comment of the tool's before its first section.
            (_, None) => Ok(()),
        }
    }

    fn begin(&mut self, path: &str) -> Result<()> {
        if path.is_empty() {
            return Err(malformed("SF names no source file"));
        }
        self.files.open(&printable(path, usize::MAX))?;
        self.test_named = false;
        self.sections += 1;
        Ok(())
    }

    fn finish(mut self, last_line: u64) -> Result<Parsed> {
        if self.files.current().is_some() {
            return Err(malformed("report ends before its last end_of_record").line(last_line).help(CUT_HELP));
        }
        if self.sections == 0 {
            return Err(Error::report(Reject::NotThisFormat, "not an lcov tracefile: it has no SF: record").line(1));
        }
        if self.test_named {
            return Err(malformed("report ends after a test name").line(last_line).help(CUT_HELP));
        }
        let mut parsed = self.files.finish(&FORMAT)?;
        super::compare_declared(&mut parsed, self.declared);
        Ok(parsed)
    }
}

fn malformed(why: &str) -> Error {
    Error::report(Reject::Malformed, why)
}

fn key_and_value(record: &str) -> Option<(&str, &str)> {
    let length = record.bytes().position(|byte| !byte.is_ascii_uppercase() && byte != b'_')?;
    let is_key = (1..=16).contains(&length) && record.as_bytes().get(length) == Some(&b':');
    apart(record, length).filter(|_| is_key)
}

fn line_record(value: &str, tally: &mut FileTally) -> Result<()> {
    // A checksum may follow.
    let fields = at_comma(value).map(|(line, rest)| (line, at_comma(rest).map_or(rest, |(hits, _)| hits)));
    match fields.and_then(|(line, hits)| Some((whole(line)?, is_hit(hits)?))) {
        Some((line, hit)) => tally.line(line, hit),
        None => Err(no_record("DA", value)),
    }
}

/// The first field, and those after it: fields are so short that a search which is fast in longer texts takes more time.
#[inline]
fn at_comma(fields: &str) -> Option<(&str, &str)> {
    apart(fields, fields.bytes().position(|byte| byte == b',')?)
}

/// What stands before and after a sign of one byte.
#[inline]
fn apart(fields: &str, sign: usize) -> Option<(&str, &str)> {
    Some((fields.get(..sign)?, fields.get(sign + 1..)?))
}

fn no_record(key: &str, value: &str) -> Error {
    malformed(&format!("{:?} is no {key} record", printable(&format!("{key}:{value}"), 40)))
}

/// One record inside a section. Those that no figure needs are passed over.
fn data(key: &str, value: &str, tally: &mut FileTally, declared: &mut Figures) -> Result<()> {
    let bad = || no_record(key, value);
    match key {
        "DA" => line_record(value, tally),
        "BRDA" => {
            // The branch's name may hold commas, so the fields are taken from both ends.
            let (line, rest) = at_comma(value).ok_or_else(bad)?;
            let last = rest.bytes().rposition(|byte| byte == b',').ok_or_else(bad)?;
            let (branch, taken) = apart(rest, last).ok_or_else(bad)?;
            let line = whole(line).ok_or_else(bad)?;
            let taken = if taken == "-" { false } else { is_hit(taken).ok_or_else(bad)? };
            at_comma(branch).ok_or_else(bad)?;
            tally.branch(line, branch, taken)
        }
        "FN" => {
            let (_, rest) = at_comma(value).ok_or_else(bad)?;
            // Newer writers put the last line before the name.
            let name = leading_in(rest).and_then(|(_, after)| after.strip_prefix(','));
            tally.function(name.unwrap_or(rest), false)
        }
        "FNDA" => {
            let (hits, name) = at_comma(value).ok_or_else(bad)?;
            tally.function(name, is_hit(hits).ok_or_else(bad)?)
        }
        "FNA" => {
            let (_, rest) = at_comma(value).ok_or_else(bad)?;
            let (hits, name) = at_comma(rest).ok_or_else(bad)?;
            tally.function(name, is_hit(hits).ok_or_else(bad)?)
        }
        "LF" => declare(&mut declared.lines_total, value, &bad),
        "LH" => declare(&mut declared.lines_covered, value, &bad),
        "BRF" => declare(&mut declared.branches_total, value, &bad),
        "BRH" => declare(&mut declared.branches_covered, value, &bad),
        _ => Ok(()),
    }
}

fn declare(sum: &mut Option<u64>, value: &str, bad: &dyn Fn() -> Error) -> Result<()> {
    let count = whole(value).ok_or_else(bad)?;
    *sum = Some(crate::ingest::add(sum.unwrap_or(0), count)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> [Option<u64>; 6] {
        let figures = parse(&Input::bytes("x", text.as_bytes())).unwrap().figures;
        let Figures { lines_covered, lines_total, branches_covered, branches_total, .. } = figures;
        [
            lines_covered,
            lines_total,
            branches_covered,
            branches_total,
            figures.functions_covered,
            figures.functions_total,
        ]
    }

    #[test]
    fn sections_of_one_file_are_merged() {
        let text = "TN:a\nSF:x\nDA:1,0\nDA:2,1,checksum\nend_of_record\nTN:b\nSF:x\nDA:1,3\nDA:3,0\nend_of_record\nSF:y\nDA:1,0\nend_of_record\n";
        assert_eq!(counts(text), [Some(2), Some(4), None, None, None, None]);
    }

    #[test]
    fn a_line_record_found_in_one_go_is_what_it_is_otherwise() {
        const PIECES: [&str; 8] = ["1", "0", ",", "-", " ", "020", "x", "18446744073709551616"];
        let mut in_one_go = 0;
        for number in 0..8_u32.pow(4) {
            let value: String = (0..4).map(|place| PIECES[(number >> (3 * place) & 7) as usize]).collect();
            let record = format!("DA:{value}\n");
            let found = plain_line_record(record.as_bytes()).filter(|(_, length)| record.get(*length..) == Some("\n"));
            let Some(((line, hit), _)) = found else { continue };
            let [mut ours, mut theirs] = [FileTally::default(), FileTally::default()];
            assert_eq!(ours.line(line, hit).is_ok(), line_record(&value, &mut theirs).is_ok(), "{record}");
            assert_eq!(ours.lines.finish(), theirs.lines.finish(), "{record}");
            in_one_go += 1;
        }
        assert!((20..500).contains(&in_one_go), "{in_one_go}");
    }

    #[test]
    fn a_branch_record_found_in_one_go_is_what_it_is_otherwise() {
        const PIECES: [&str; 8] = ["1", "0", ",", "-", " ", "020", "70000", "18446744073709551616"];
        let mut in_one_go = 0;
        for number in 0..8_u32.pow(7) {
            let value: String = (0..7).map(|place| PIECES[(number >> (3 * place) & 7) as usize]).collect();
            let record = format!("BRDA:{value}\n");
            let found =
                plain_branch_record(record.as_bytes()).filter(|(_, length)| record.get(*length..) == Some("\n"));
            let Some(((branch, taken), _)) = found else { continue };
            let [mut ours, mut theirs] = [FileTally::default(), FileTally::default()];
            ours.numbered_branch(branch, taken).unwrap();
            data("BRDA", &value, &mut theirs, &mut Figures::default()).unwrap();
            assert_eq!(ours.numbered.count(), theirs.numbered.count(), "{record}");
            in_one_go += 1;
        }
        assert!((20..500).contains(&in_one_go), "{in_one_go}");
    }

    #[test]
    fn branch_names_may_be_text_with_commas() {
        let text = "SF:x\nBRDA:5,0,jump to the function exit, maybe,-\nBRDA:5,e0,jump to the function exit, maybe,2\nBRDA:5,0,1,0\nBRDA:5,0,1,1\nend_of_record\n";
        assert_eq!(counts(text), [Some(0), Some(0), Some(2), Some(3), None, None]);
        for bad in ["BRDA:5,0,1", "BRDA:5,0,1,x", "BRDA:x,0,1,1", "DA:1", "DA:1,", "FN:1", "FNDA:x,f", "FNDA:1", "LF:x"]
        {
            assert!(parse(&Input::bytes("x", format!("SF:x\n{bad}\nend_of_record\n").as_bytes())).is_err(), "{bad}");
        }
    }

    #[test]
    fn functions_count_by_name_with_or_without_their_last_line() {
        let text =
            "SF:x\nFN:1,f\nFN:5,9,g<int, long>\nFNDA:0,f\nFNDA:2,g<int, long>\nFNL:0,3,4\nFNA:0,7,h\nend_of_record\n";
        assert_eq!(counts(text)[4..], [Some(2), Some(3)]);
    }

    #[test]
    fn records_that_no_figure_needs_are_passed_over() {
        assert_eq!(
            counts("# made by x\nVER:1\nSF:x\nMCDC:1,2,t,1,0,x\n\nDA:1,1\nend_of_record\n")[..2],
            [Some(1), Some(1)]
        );
        for bad in ["da:1,1", "nonsense", "1:2", ":"] {
            assert!(parse(&Input::bytes("x", format!("SF:x\n{bad}\nend_of_record\n").as_bytes())).is_err(), "{bad}");
        }
    }

    #[test]
    fn other_lines_between_sections_are_passed_over_and_cut_ones_are_not() {
        let one = "SF:x\nDA:1,1\nend_of_record\n";
        assert_eq!(counts(&format!("{one}EOF\n"))[..2], [Some(1), Some(1)]);
        assert_eq!(counts(&format!("{one}Writing coverage\nSF:y\nDA:1,0\nend_of_record\n"))[..2], [Some(1), Some(2)]);
        for cut in ["EOF", "S", "end_of_rec"] {
            assert!(parse(&Input::bytes("x", format!("{one}{cut}").as_bytes())).is_err(), "{cut}");
        }
    }
}
