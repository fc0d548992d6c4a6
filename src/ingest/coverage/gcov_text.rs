//! `gcov-text`: the annotated source that gcov writes (`cart.c.gcov`), one file or several, one after the other. Defined by
//! gcov's manual, <https://gcc.gnu.org/onlinedocs/gcc/Invoking-Gcov.html>; llvm-cov gcov writes it, too.

use super::Files;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::{leading, whole};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// gcov's annotated source.
pub const FORMAT: Format = Format {
    name: "gcov-text",
    kind: ReportKind::Coverage,
    about: "source annotated by gcov: count of each line, and its branches",
    written_by: "gcov, gcov -b, llvm-cov gcov (….gcov)",
    told_by: "a first line \"-:    0:Source:cart.c\"",
    has_end: false,
    counting: "Each line of each file once, covered if any instance of a template ran it; ##### and ===== are not \
               covered, - is no line. Branches by their number on the line.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let first = head.first_line();
    match first.and_then(annotated).is_some_and(|(_, line, text)| line == 0 && text.starts_with("Source:")) {
        true => Sniff::Sure("a line \"-:    0:Source:\" of gcov".into()),
        false => Sniff::No,
    }
}

/// Count, line number and source of `        1:    3:    return 0;`.
fn annotated(line: &str) -> Option<(&str, u64, &str)> {
    let (count, rest) = line.split_once(':')?;
    let (number, text) = rest.split_once(':')?;
    Some((count.trim(), whole(number.trim())?, text))
}

/// Whether a count is above zero; `None` if nothing can run there. Of a block that did not run `*` is said behind it, and
/// with -H a count may be `1.2k`.
fn is_covered(count: &str) -> Result<Option<bool>> {
    match count {
        "-" => Ok(None),
        "#####" | "=====" | "$$$$$" | "%%%%%" => Ok(Some(false)),
        count => match leading(count.as_bytes()) {
            Some((count, b"" | b"*")) => Ok(Some(count > 0)),
            Some((_, [b'.', ..] | [b'k' | b'M' | b'G' | b'T', ..])) => Ok(Some(true)),
            _ => Err(Error::report(Reject::Malformed, format!("{:?} is no count of a line", printable(count, 40)))),
        },
    }
}

/// Number of `branch  1 taken 50% (fallthrough)`, and whether it was taken.
fn branch(line: &str) -> Option<(u64, bool)> {
    let mut words = line.strip_prefix("branch ")?.split_whitespace();
    let number = whole(words.next()?)?;
    match (words.next()?, words.next()?) {
        ("never", "executed") => Some((number, false)),
        ("taken", taken) => Some((number, leading(taken.as_bytes())?.0 > 0)),
        _ => None,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut files = Files::default();
    let (mut at, mut has_source, mut last) = (0, false, 0);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.as_ref();
        let place = |error: Error| error.line(line.number);
        if !line.ended && has_source {
            return Err(place(cut()));
        }
        if let Some((count, number, source)) = annotated(text) {
            if let (0, Some(path)) = (number, source.strip_prefix("Source:")) {
                has_source = true;
                if !line.ended {
                    return Err(place(cut()));
                }
                files.open(&printable(path.trim(), usize::MAX)).map_err(place)?;
            }
            at = number;
            if let (true, Some(tally)) = (number > 0, files.current())
                && let Some(covered) = is_covered(count).map_err(place)?
            {
                tally.line(number, covered).map_err(place)?;
            }
            continue;
        }
        if let (Some((number, taken)), Some(tally)) = (branch(text), files.current()) {
            tally.branch(at, &format!("0,{number}"), taken).map_err(place)?;
        }
    }
    if !has_source {
        return Err(Error::report(Reject::NotThisFormat, "no source annotated by gcov is in it").line(last.max(1)));
    }
    files.finish(&FORMAT)
}

fn cut() -> Error {
    Error::report(Reject::Malformed, "report ends inside a line").help(CUT_HELP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> Result<Vec<u64>> {
        let text = format!("        -:    0:Source:cart.c\n        -:    0:Runs:1\n{lines}");
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?;
        assert_eq!(parsed.format, &FORMAT);
        Ok(parsed.figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    #[test]
    fn lines_and_branches_count_once() {
        let plain = "        -:    1:#include <a>\n        3:    2:int f(int n) {\n    #####:    3:  a ? b : c;\n       2*:    4:x\n    =====:    5:y\n     1.2k:    6:z\n";
        assert_eq!(read(plain).unwrap(), [3, 5]);
        let branches = "function f called 1 returned 100% blocks executed 75%\n        1:    2:  if (n)\nbranch  0 taken 100% (fallthrough)\n\
                        branch  1 taken 0%\ncall    2 returned 100%\n    #####:    3:  x\nbranch  0 never executed\n        1:    2-block  0\n";
        assert_eq!(read(branches).unwrap(), [1, 2, 1, 3]);
        let template = "        2:    2:T f() {\n------------------\nf<int>:\n        1:    2:T f() {\n    #####:    3:x\n------------------\nf<char>:\n    #####:    2:T f() {\n        1:    3:x\n";
        assert_eq!(read(template).unwrap(), [2, 2]);
        assert_eq!(read("        1:    2:x\n        -:    0:Source:b.c\n        0:    2:x\n").unwrap(), [1, 2]);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let code = |lines: &str| read(lines).unwrap_err().reject();
        for bad in ["        1:    2", "        1", "branch  0 taken 1", "        x:    2:y\n", "       -1:    2:y\n"] {
            assert_eq!(code(bad), Some(Reject::Malformed), "{bad}");
        }
        let foreign = parse(&Input::bytes("x", b"a.c:3:4: error: x\n")).unwrap_err();
        assert_eq!(foreign.reject(), Some(Reject::NotThisFormat));
    }
}
