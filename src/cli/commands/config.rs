//! `config show` and `config init`.

use std::path::Path;

use crate::cli::answers::{Config, VERSION};
use crate::cli::args::ConfigCommand;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::config::{self, DEFAULT_YAML};
use crate::disk::{self, Created};
use crate::error::{Error, Result};
use crate::report;

pub fn run(context: &Context, command: &ConfigCommand) -> Result<Exit> {
    match command {
        ConfigCommand::Show => show(context),
        ConfigCommand::Init => init(context),
    }
}

fn show(context: &Context) -> Result<Exit> {
    let (effective, file) = context.config()?;
    if context.json() {
        output::json(&Config {
            schema_version: VERSION,
            file: file.map(|path| path.display().to_string()),
            config: effective.config,
            given: effective.given.into_iter().collect(),
        })?;
        return Ok(Exit::Done);
    }
    // In every row, so no longer than it has to be.
    let shown = |path: &Path| path.strip_prefix(context.layout.root()).unwrap_or(path).display().to_string();
    let origin = file.as_deref().map_or_else(|| "default".to_owned(), shown);
    let rows: Vec<Vec<String>> = config::leaves(&effective.config)?
        .into_iter()
        .map(|(key, value)| {
            let is_given = effective.given.contains(&key);
            vec![key, value.to_string(), if is_given { origin.clone() } else { "default".to_owned() }]
        })
        .collect();
    output::out(&report::terminal::table(&["key", "value", "from"], &rows, context.screen()));
    Ok(Exit::Done)
}

fn init(context: &Context) -> Result<Exit> {
    let path = context.layout.root().join("highwater.yaml");
    match disk::create_new(&path, DEFAULT_YAML.as_bytes())? {
        Created::Written => {
            context.say(&format!("wrote {}", path.display()));
            Ok(Exit::Done)
        }
        Created::AlreadyThere => Err(Error::bad_input("there is a config already; nothing was changed")
            .at(&path)
            .help("`highwater config show` prints every key with its value and where it comes from")),
    }
}
