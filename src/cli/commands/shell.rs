//! `completions` and `man`: what a shell and a reader of manuals want, made from the command line itself.

use std::path::Path;

use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::disk;
use crate::error::{Error, Result};

pub fn completions(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "highwater", &mut script);
    print(script)
}

/// The main page on stdout, or every page as a file of `folder`.
pub fn man(context: &Context, folder: Option<&Path>) -> Result<Exit> {
    let mut command = args::command();
    command.build();
    let Some(folder) = folder else { return print(page(&Man::new(command))?) };
    let folder = context.folder.join(folder);
    if disk::metadata(&folder)?.is_none() {
        disk::make_directory(&folder)?;
    }
    let mut left = vec![command];
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().cloned());
        let man = Man::new(command);
        disk::write_named(&folder.join(man.get_filename()), &page(&man)?)?;
    }
    Ok(Exit::Done)
}

fn page(man: &Man) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render(&mut page).map_err(|error| Error::bug("a manual page cannot be made").because(error.to_string()))?;
    Ok(page)
}

fn print(text: Vec<u8>) -> Result<Exit> {
    let text = String::from_utf8(text).map_err(|_| Error::bug("what is printed is not UTF-8"))?;
    output::out(&text);
    Ok(Exit::Done)
}
