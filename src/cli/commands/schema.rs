//! `schema`: the JSON Schema of a stored file or of an answer.

use crate::cli::exit::Exit;
use crate::cli::output;
use crate::cli::schemas::SCHEMAS;
use crate::error::{Error, Result};

pub fn run(name: Option<&str>) -> Result<Exit> {
    let Some(name) = name else {
        for schema in SCHEMAS {
            output::out(&format!("{}  {}\n", schema.name, schema.about));
        }
        return Ok(Exit::Done);
    };
    let schema = SCHEMAS.iter().find(|schema| schema.name == name).ok_or_else(|| {
        Error::usage(format!("no schema is named {name:?}")).help("`highwater schema` lists the names")
    })?;
    output::out(schema.text);
    Ok(Exit::Done)
}
