//! JSON as text.

use serde::Serialize;

use crate::error::{Error, Result};

/// One line.
///
/// # Errors
/// None in practice: every number is finite.
pub(super) fn line(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(value)
        .map_err(|error| Error::bug("a report cannot be written as JSON").because(error.to_string()))?;
    Ok(text + "\n")
}
