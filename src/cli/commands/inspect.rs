//! `inspect`: parses report files and prints their figures, one line a file.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::cli::answers::{Inspected, Reading, VERSION};
use crate::cli::context::Context;
use crate::cli::diagnostic::{self, printable};
use crate::cli::exit::Exit;
use crate::cli::inputs::unknown_format;
use crate::cli::output;
use crate::engine::read_reports;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{self, Format, Parsed};
use crate::model::record::SourceError;
use crate::report;

/// Reports that are read side by side: each may take 64 MiB.
const MOST_AT_ONCE: usize = 4;

pub fn run(context: &Context, files: &[PathBuf], format: Option<&str>) -> Result<Exit> {
    let format = match format {
        Some(name) => Some(ingest::format(name).ok_or_else(|| unknown_format(name))?),
        None => None,
    };
    let limits = context.config()?.0.config.limits;
    let read = |file: &PathBuf| read_reports(context.layout.root(), &context.folder, file, format, &limits);
    let mut exit = Exit::Done;
    // Standard input is one stream: nothing else is read beside it.
    let side_by_side = files.chunk_by(|one, next| !is_stdin(one) && !is_stdin(next));
    for batch in side_by_side.flat_map(|files| files.chunks(MOST_AT_ONCE)) {
        let answers = match batch {
            [file] => vec![read(file)],
            batch => batch.par_iter().with_max_len(1).map(read).collect(),
        };
        for (file, answer) in batch.iter().zip(&answers) {
            if let Err(error) = answer
                && !matches!(error.kind, ErrorKind::Report(_) | ErrorKind::BadInput | ErrorKind::Failed)
            {
                return Err(error.clone());
            }
            if answer.is_err() {
                exit = Exit::BadInput;
            }
            if context.json() {
                output::json(&inspected(file, answer))?;
            } else {
                match answer {
                    Ok(parsed) => parsed.iter().for_each(|parsed| print(context, file, format, parsed)),
                    Err(error) => output::err(&diagnostic::render(error, false)),
                }
            }
        }
        if files.len() == batch.len() {
            // The process ends, and what they hold with it: to give that back piece by piece takes a while.
            std::mem::forget(answers);
        }
    }
    Ok(exit)
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

fn inspected(file: &Path, answer: &Result<Vec<Parsed>>) -> Inspected {
    let reading = |parsed: &Parsed| Reading {
        format: parsed.format.name.to_owned(),
        kind: parsed.format.kind,
        sniffed_by: parsed.sniffed_by.clone(),
        figures: parsed.figures.clone(),
        declared: parsed.declared.clone(),
        warnings: parsed.warnings.clone(),
    };
    let mut readings = answer.iter().flatten().map(reading);
    Inspected {
        schema_version: VERSION,
        file: file.display().to_string(),
        reading: readings.next(),
        also: readings.collect(),
        error: answer.as_ref().err().map(source_error),
    }
}

/// Of a file that the system does not give, its word is all that can be said.
fn source_error(error: &Error) -> SourceError {
    let told = SourceError::of(error);
    if error.kind == ErrorKind::Failed { SourceError { message: error.said(), ..told } } else { told }
}

fn print(context: &Context, file: &Path, given: Option<&Format>, parsed: &Parsed) {
    let how = match given {
        Some(_) => "as asked",
        // What else tells it is longer than a line of a terminal.
        None if parsed.is_spoken() => "between other lines",
        None => parsed.sniffed_by.as_str(),
    };
    output::out(&printable(&format!(
        "{}: {} ({}), {how}",
        file.display(),
        parsed.format.name,
        parsed.format.kind.name()
    )));
    output::out("\n");
    let declared = parsed.declared.clone().unwrap_or_default();
    let rows: Vec<Vec<String>> = parsed
        .figures
        .counts()
        .into_iter()
        .map(|(key, count)| {
            let said = declared.counts().into_iter().find(|(other, _)| *other == key);
            let said = said.map_or(String::new(), |(_, said)| format!("the file says {said}"));
            vec![key.to_owned(), count.to_string(), said]
        })
        .chain(
            parsed
                .figures
                .percent_covered
                .map(|percent| vec!["percent_covered".to_owned(), percent.to_string(), String::new()]),
        )
        .collect();
    if !rows.is_empty() || parsed.figures.metrics.is_empty() {
        output::out(&report::terminal::table(&["figure", "count", ""], &rows, context.screen()));
    }
    if !parsed.figures.metrics.is_empty() {
        output::out(&report::terminal::metrics(&parsed.figures, context.screen()));
    }
    for warning in &parsed.warnings {
        context.say(&format!("warning: {warning}"));
    }
}
