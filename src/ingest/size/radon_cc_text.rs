//! `radon-cc-text`: what `radon cc` prints: under each Python file its functions, methods and classes with their rank and, with
//! `--show-complexity`, their cyclomatic complexity.

use super::Functions;
use super::radon_cc_json::unread;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::{leading_in, whole};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Text of radon cc.
pub const FORMAT: Format = Format {
    name: "radon-cc-text",
    kind: ReportKind::Size,
    about: "radon's list of Python functions and methods with their cyclomatic complexity",
    written_by: "radon cc --show-complexity",
    told_by: "lines such as \"F 18:0 name - B (6)\", set in by four blanks",
    has_end: false,
    counting: "Functions (F) and methods (M); a class (C) is the mean of its methods, and is none itself. Without \
               --show-complexity their number alone is known.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_none() && head.lines().any(begins) && !head.is_of_tests() {
        return Sniff::Sure("lines of radon cc".into());
    }
    Sniff::No
}

/// A function, method or class.
struct Block {
    is_class: bool,
    /// Told with `--show-complexity`.
    complexity: Option<u64>,
}

/// `    F 18:0 name - B (6)`.
fn block(line: &str) -> Option<Block> {
    let (kind, rest) = line.strip_prefix("    ")?.split_at_checked(2)?;
    let is_class = match kind {
        "F " | "M " => false,
        "C " => true,
        _ => return None,
    };
    let (_, rest) = leading_in(leading_in(rest)?.1.strip_prefix(':')?)?;
    let (_, ranked) = rest.strip_prefix(' ')?.trim_end().rsplit_once(" - ")?;
    let (rank, told) = ranked.split_at_checked(1)?;
    let is_rank = matches!(rank, "A" | "B" | "C" | "D" | "E" | "F");
    let told = told.trim_start();
    let complexity = told.strip_prefix('(').and_then(|told| told.strip_suffix(')')).and_then(whole);
    (is_rank && (told.is_empty() || complexity.is_some())).then_some(Block { is_class, complexity })
}

/// Whether the line, below that with its file, tells a function or class.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    block(line).is_some()
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut functions, mut ranked, mut warnings) = (Functions::default(), 0_u64, Vec::new());
    let (mut has_any, mut file) = (false, String::new());
    while let Some(line) = lines.next()? {
        let text = line.text.as_ref();
        if let Some(error) = text.strip_prefix("    ERROR: ") {
            warnings.push(unread(&file, error));
        } else if let Some(block) = block(text).filter(|block| line.ended || block.complexity.is_some()) {
            has_any = true;
            match block.complexity {
                _ if block.is_class => {}
                Some(complexity) => functions.add(complexity, None).map_err(|error| error.line(line.number))?,
                None => ranked += 1,
            }
        } else if !line.ended && text.starts_with(' ') {
            let why = format!("report ends inside a line of radon's: {:?}", printable(text.trim(), 60));
            return Err(Error::report(Reject::Malformed, why).line(line.number).help(CUT_HELP));
        } else if !text.starts_with(' ') {
            text.clone_into(&mut file);
        }
    }
    if !has_any {
        return Err(Error::report(Reject::NotThisFormat, "no line of radon cc is in it"));
    }
    if ranked > 0 && functions.functions > 0 {
        return Err(Error::report(Reject::Malformed, "some functions have a complexity, and others have none"));
    }
    let mut parsed = functions.finish(&FORMAT);
    if ranked > 0 {
        (parsed.figures.functions, parsed.figures.ccn_total) = (Some(ranked), None);
        warnings.push("it does not tell complexities: radon cc --show-complexity does".to_owned());
    }
    Ok(Parsed { warnings, ..parsed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    const TEXT: &str = "src/a.py\n    F 18:0 classify - B (6)\n    C 5:0 Circle - A (3)\n    M 8:4 Circle.__init__ - A (2)\nsrc/b.py\n    \
        ERROR: invalid syntax (<unknown>, line 1)\n\n3 blocks (classes, functions, methods) analyzed.\nAverage complexity: A (3.7)\n";

    #[test]
    fn classes_are_no_functions_and_files_that_failed_are_told() {
        let parsed = read(TEXT).unwrap();
        let figures = &parsed.figures;
        assert_eq!(
            (figures.functions, figures.ccn_total, figures.ccn_max),
            (Some(2), Some(8_u64.into()), Some(6_u64.into()))
        );
        assert_eq!(parsed.warnings, ["\"src/b.py\" is not counted: invalid syntax (<unknown>, line 1)"]);
        let bare = read(&TEXT.replace(" (6)", "").replace(" (3)", "").replace(" (2)", "")).unwrap();
        assert_eq!((bare.figures.functions, bare.figures.ccn_total, bare.warnings.len()), (Some(2), None, 2));
    }

    #[test]
    fn a_cut_inside_a_line_shows() {
        let (begin, end) = (TEXT.find("    M").unwrap(), TEXT.find(" (2)\n").unwrap() + 4);
        for length in begin + 1..end {
            assert_eq!(read(TEXT.get(..length).unwrap()).unwrap_err().reject(), Some(Reject::Malformed), "{length}");
        }
        for other in [
            "    F 1:0 f - Z (1)",
            "    F 1 f - A (1)",
            "    X 1:0 f - A (1)",
            "F 1:0 f - A (1)",
            "    F 1:0 f - A (x)",
        ] {
            assert!(block(other).is_none(), "{other}");
        }
        assert_eq!(parse(&Input::bytes("x", b"a.py\n")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
