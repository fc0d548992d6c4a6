//! Where agents keep their configs on this machine, and which agents are used here.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::kept::text_of;
use crate::cli::args::Scope;
use crate::cli::context::Context;
use crate::disk::{self, theirs};
use crate::error::{Error, Result};
use crate::integrations::install::{File, INSTALLS, Install, is_true};

/// An agent that is meant, and why.
pub struct Target {
    pub install: &'static Install,
    /// What shows that it is used here.
    pub found_by: Option<String>,
}

/// The agents that are meant: the one of that name, or all that are used here.
///
/// # Errors
/// Bad input if none is.
pub fn targets(context: &Context, name: &str) -> Result<Vec<Target>> {
    let mut found = Vec::new();
    for install in INSTALLS.iter().filter(|install| name == "detected" || name == install.agent) {
        let found_by = mark(context.layout.root(), install)?;
        if name != "detected" || found_by.is_some() {
            found.push(Target { install, found_by });
        }
    }
    if found.is_empty() {
        let names: Vec<&str> = INSTALLS.iter().map(|install| install.agent).collect();
        return Err(Error::bad_input("no agent is used here, as far as can be seen")
            .at(context.layout.root())
            .because("neither its files in the work tree, nor its folder in the home, nor its program on PATH")
            .help(format!("name it: --agent {}", names.join(", "))));
    }
    Ok(found)
}

/// What shows that an agent is used here: the nearest first.
///
/// # Errors
/// A failure that names what cannot be looked at.
pub fn mark(root: &Path, install: &Install) -> Result<Option<String>> {
    for name in install.marks.project {
        if disk::metadata(&root.join(name))?.is_some() {
            return Ok(Some(format!("{name} in the work tree")));
        }
    }
    if let Some(home) = std::env::var_os("HOME").filter(|home| !home.is_empty()) {
        for name in install.marks.home {
            if disk::metadata(&Path::new(&home).join(name))?.is_some() {
                return Ok(Some(format!("~/{name}")));
            }
        }
    }
    Ok(install.marks.programs.iter().find(|name| on_path(name).is_some()).map(|name| format!("{name} on PATH")))
}

/// The program of that name that a shell would run.
fn on_path(name: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(is_program)
}

/// The folder of an agent's config.
///
/// # Errors
/// Bad input if the user has no home.
pub fn folder(context: &Context, install: &Install, scope: Scope) -> Result<PathBuf> {
    match scope {
        Scope::Project => Ok(context.layout.root().join(install.project)),
        Scope::User => install.user_folder(|name| std::env::var_os(name)).ok_or_else(no_home),
    }
}

/// What turns all of the agent's hooks off, ours too, as people read it: the first file that says so.
pub fn switched_off(context: &Context, install: &Install) -> Option<String> {
    [Scope::Project, Scope::User].into_iter().find_map(|scope| {
        let folder = folder(context, install, scope).ok()?;
        install.off_switches.iter().find_map(|(file, key)| {
            let path = folder.join(file);
            let text = text_of(&theirs::real_path(&path).ok()?).ok().flatten()?;
            is_true(&text, key).then(|| format!("{key} in {}", shown(context, &path)))
        })
    })
}

/// Where the copies of the files are kept, and a name for those of this one.
///
/// # Errors
/// As [`folder`].
pub fn kept(context: &Context, install: &Install, file: &File, scope: Scope) -> Result<(PathBuf, String)> {
    let folder = match scope {
        Scope::Project => context.layout.hooks(),
        Scope::User => {
            let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
            let state =
                set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state"))).ok_or_else(no_home)?;
            state.join("highwater/hooks")
        }
    };
    // Agents that share a file share its copy.
    let owner = match scope {
        Scope::Project => install.project,
        Scope::User => install.user.last().map_or(install.project, |(_, below)| below),
    };
    Ok((folder, format!("{owner}/{}", file.path).trim_start_matches('.').replace('/', "-")))
}

fn no_home() -> Error {
    Error::bad_input("there is no home").because("HOME is not set").help("set it, or use --scope project")
}

/// A path as people read it: from the root of the work tree where it is in there.
pub fn shown(context: &Context, path: &Path) -> String {
    path.strip_prefix(context.layout.root()).unwrap_or(path).display().to_string()
}

/// Whether hooks would run the program that runs now.
pub fn program() -> (Option<PathBuf>, bool) {
    let found = on_path("highwater");
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let this = std::env::current_exe().ok().and_then(|path| real(&path));
    let is_this = found.as_deref().and_then(real).is_some_and(|found| Some(found) == this);
    (found, is_this)
}
