//! The only place that prints. A stream that is closed or full changes no result: what was done is done.

use std::io::Write;

use serde::Serialize;

use crate::error::{Error, Result};

/// Data.
pub fn out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Everything else.
pub fn err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// One JSON object on a line of its own.
///
/// # Errors
/// None in practice: every number is finite.
pub fn json(value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_string(value)
        .map_err(|error| Error::bug("an answer cannot be written as JSON").because(error.to_string()))?;
    line.push('\n');
    out(&line);
    Ok(())
}
