//! `hook status`: which agents have the hooks, and whether they work.

use std::path::Path;

use super::change::said;
use super::kept::text_of;
use super::places;
use crate::cli::answers::hook::{AgentStatus, FileStatus, HookState, Program, Status};
use crate::cli::answers::{HookFaults, VERSION};
use crate::cli::args::Scope;
use crate::cli::commands::status::faults_in;
use crate::cli::context::Context;
use crate::cli::diagnostic::printable;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::disk::{self, theirs};
use crate::error::Result;
use crate::integrations::install::{File, INSTALLS, Install, State};
use crate::report;
use crate::store;

pub fn run(context: &Context) -> Result<Exit> {
    let agents = INSTALLS.iter().map(|install| agent(context, install)).collect::<Result<Vec<AgentStatus>>>()?;
    let (path, is_this) = places::program();
    let program = Program { path: path.map(|path| path.display().to_string()), is_this };
    let status = Status { schema_version: VERSION, agents, program, hook_faults: hook_faults(context)? };
    if context.json() {
        output::json(&status)?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = status.agents.iter().map(row).collect();
    output::out(&report::terminal::table(&["agent", "work tree", "user", "used here"], &rows, context.screen()));
    output::out(&page(&status));
    Ok(Exit::Done)
}

fn agent(context: &Context, install: &'static Install) -> Result<AgentStatus> {
    let mut files = Vec::new();
    for scope in [Scope::Project, Scope::User] {
        let Ok(folder) = places::folder(context, install, scope) else { continue };
        for file in install.files {
            let path = folder.join(file.path);
            let (state, error) = match state(&path, file) {
                Ok(State::Absent) => (HookState::Absent, None),
                Ok(State::Current) => (HookState::Current, None),
                Ok(State::Differs) => (HookState::Differs, None),
                Err(error) => (HookState::Unreadable, Some(error.at(&path).to_string())),
            };
            files.push(FileStatus { scope: said(scope), path: places::shown(context, &path), state, error });
        }
    }
    let found_by = places::mark(context.layout.root(), install)?;
    let switched_off = places::switched_off(context, install);
    Ok(AgentStatus { agent: install.agent.to_owned(), found_by, files, switched_off })
}

fn state(path: &Path, file: &File) -> Result<State> {
    file.content.state(text_of(&theirs::real_path(path)?)?.as_deref())
}

/// What the hooks of all loops swallowed, and those that ran without one.
fn hook_faults(context: &Context) -> Result<Option<HookFaults>> {
    if !disk::check_store(&context.layout)? {
        return Ok(None);
    }
    let logs = store::loops(&context.layout)?.into_iter().map(|one| context.layout.of_loop(&one.id).faults());
    Ok(faults_in(logs.chain([context.layout.faults()])))
}

fn row(status: &AgentStatus) -> Vec<String> {
    let of = |scope: Scope| {
        let states: Vec<HookState> =
            status.files.iter().filter(|file| file.scope == said(scope)).map(|file| file.state).collect();
        in_words(&states).to_owned()
    };
    let found_by = status.found_by.clone().unwrap_or_else(|| "–".to_owned());
    vec![status.agent.clone(), of(Scope::Project), of(Scope::User), found_by]
}

/// What an agent's files come to together.
fn in_words(states: &[HookState]) -> &'static str {
    let all = |state: HookState| states.iter().all(|one| *one == state);
    match () {
        () if all(HookState::Absent) => "–",
        () if all(HookState::Current) => "installed",
        () if states.contains(&HookState::Unreadable) => "unreadable",
        () => "differs",
    }
}

fn page(status: &Status) -> String {
    let mut lines = Vec::new();
    for file in status.agents.iter().flat_map(|agent| &agent.files) {
        match file.state {
            HookState::Differs => lines.push(format!("{}: not what `highwater hook install` would write", file.path)),
            HookState::Unreadable => lines.push(file.error.clone().unwrap_or_else(|| file.path.clone())),
            HookState::Absent | HookState::Current => {}
        }
    }
    for agent in &status.agents {
        let is_there = agent.files.iter().any(|file| file.state != HookState::Absent);
        lines.extend(
            agent.switched_off.iter().filter(|_| is_there).map(|by| format!("{} runs no hooks: {by}", agent.agent)),
        );
    }
    lines.push(match &status.program {
        Program { path: None, .. } => "no `highwater` on PATH: hooks cannot run".to_owned(),
        Program { path: Some(path), is_this: true } => format!("hooks run {path}, which is this program"),
        Program { path: Some(path), is_this: false } => format!("hooks run {path}, which is not this program"),
    });
    lines.push(match &status.hook_faults {
        None => "no faults".to_owned(),
        Some(faults) => format!("faults: {}, the last: {}", faults.count, faults.last.fault),
    });
    lines.iter().map(|line| format!("{}\n", printable(line))).collect()
}
