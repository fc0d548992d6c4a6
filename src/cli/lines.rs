//! Commands that answer a line with a line: JSON from standard input, JSON to standard output.
//!
//! Whoever writes a line waits for its answer, so every line that is not blank gets exactly one, wrong ones too.

use std::io::{BufRead, Read};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use super::exit::Exit;
use super::output;
use crate::error::{Error, ErrorKind, Reject, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::record::SourceError;

/// Bytes of one line: a run of fifty thousand tests by name is a tenth of it.
const MAX_BYTES: u64 = 64 << 20;

/// The answer to a line that is not understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineError {
    /// Version of this shape.
    pub schema_version: u32,
    /// The line's number, from 1.
    pub line: u64,
    /// What is wrong with it. Its column is in bytes, from 1.
    pub error: SourceError,
}

/// What was read.
pub enum Line {
    /// Nothing: the input ended.
    End,
    /// A line; the last one may lack its end.
    Whole,
    /// The beginning of a line that is longer than it may be; the rest of it was skipped.
    TooLong,
}

/// Reads a line of less than `most` bytes into `bytes`.
///
/// # Errors
/// If the input cannot be read.
pub fn next(input: &mut impl BufRead, bytes: &mut Vec<u8>, most: u64) -> std::io::Result<Line> {
    bytes.clear();
    let read = input.take(most).read_until(b'\n', bytes)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if bytes.ends_with(b"\n") || u64::try_from(read).is_ok_and(|read| read < most) {
        return Ok(Line::Whole);
    }
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

/// Reads `T`s from `input`, one a line, and prints what `answer` makes of each. A line that is no `T`, or that `answer`
/// finds to be bad input, is answered with a [`LineError`]; the end is exit 65 then.
///
/// # Errors
/// If the input cannot be read, or an answer cannot be made.
pub fn answer_each<T: DeserializeOwned, A: Serialize>(
    mut input: impl BufRead,
    mut answer: impl FnMut(T) -> Result<A>,
) -> Result<Exit> {
    let mut exit = Exit::Done;
    let mut bytes = Vec::new();
    let mut line: u64 = 0;
    loop {
        let read = next(&mut input, &mut bytes, MAX_BYTES).map_err(unreadable)?;
        line = line.saturating_add(1);
        let parsed = match read {
            Line::End => return Ok(exit),
            Line::Whole if bytes.trim_ascii().is_empty() => continue,
            Line::Whole => serde_json::from_slice::<T>(&bytes).map_err(|error| not_understood(&error)),
            Line::TooLong => Err(refused(Reject::Refused, format!("the line is longer than {} MiB", MAX_BYTES >> 20))),
        };
        let answered = match parsed.map(&mut answer) {
            Ok(Err(error)) if matches!(error.kind, ErrorKind::BadInput) => {
                let fault = error.into_fault();
                Err(SourceError { help: fault.help, ..refused(Reject::NotThisFormat, fault.message) })
            }
            Ok(answered) => Ok(answered?),
            Err(error) => Err(error),
        };
        match answered {
            Ok(answer) => output::json(&answer)?,
            Err(error) => {
                exit = Exit::BadInput;
                output::json(&LineError { schema_version: SCHEMA_VERSION, line, error })?;
            }
        }
    }
}

fn unreadable(error: std::io::Error) -> Error {
    Error::failed("cannot read standard input").because(error.to_string())
}

fn refused(reject: Reject, message: String) -> SourceError {
    SourceError { code: reject.code().to_owned(), message, line: None, column: None, help: None }
}

/// The parser's word without its place, which is told apart: there is only one line.
fn not_understood(error: &serde_json::Error) -> SourceError {
    let reject = match error.classify() {
        Category::Data => Reject::NotThisFormat,
        Category::Syntax | Category::Eof | Category::Io => Reject::Malformed,
    };
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    SourceError {
        column: u64::try_from(error.column()).ok().filter(|column| *column > 0),
        ..refused(reject, message.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Number {
        n: u32,
    }

    fn read(text: &[u8]) -> (Exit, Vec<u32>) {
        let mut numbers = Vec::new();
        let exit = answer_each(text, |number: Number| {
            if number.n > 9 {
                return Err(Error::bad_input("too large"));
            }
            numbers.push(number.n);
            Ok(number.n)
        });
        (exit.unwrap(), numbers)
    }

    #[test]
    fn blank_lines_are_passed_over_and_a_last_line_needs_no_end() {
        assert_eq!(read(b""), (Exit::Done, vec![]));
        assert_eq!(read(b"{\"n\":1}\n\n  \r\n{\"n\":2}"), (Exit::Done, vec![1, 2]));
    }

    #[test]
    fn a_wrong_line_ends_in_65_and_those_after_it_are_read() {
        for wrong in ["{", "[]", "{\"n\":-1}", "{\"n\":1}{\"n\":2}", "{\"n\":10}", "\u{1}", &"[".repeat(100_000)] {
            assert_eq!(read(format!("{wrong}\n{{\"n\":3}}\n").as_bytes()), (Exit::BadInput, vec![3]), "{wrong:.20}");
        }
        assert_eq!(read(b"\xff\xfe\n{\"n\":3}\n"), (Exit::BadInput, vec![3]));
    }

    #[test]
    fn a_line_over_the_limit_is_refused_and_skipped_to_its_end() {
        let long = usize::try_from(MAX_BYTES).unwrap();
        let mut text = vec![b' '; long];
        text.extend(b"{\"n\":1}\n{\"n\":2}\n");
        // Blank as far as it was read; what follows on the same line is no line of its own.
        text[0] = b'{';
        assert_eq!(read(&text), (Exit::BadInput, vec![2]));
    }

    #[test]
    fn the_fault_names_its_column_once() {
        let error = serde_json::from_str::<Number>("{\"n\":true}").err().unwrap();
        let told = not_understood(&error);
        assert_eq!((told.code.as_str(), told.column), ("not-this-format", Some(9)));
        assert_eq!(told.message, "invalid type: boolean `true`, expected u32");
    }
}
