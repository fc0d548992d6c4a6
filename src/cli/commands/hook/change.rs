//! A change of agents' configs: planned whole, then shown or written. What cannot be planned is told before anything is
//! written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::kept::{self, Before, Kept, text_of};
use super::places::{self, Target};
use crate::cli::answers::VERSION;
use crate::cli::answers::hook::{AgentChanges, Change, Changes, FileChange, Scope as SaidScope};
use crate::cli::args::{HookChange, Scope};
use crate::cli::context::Context;
use crate::cli::diagnostic::printable;
use crate::cli::output;
use crate::disk::theirs;
use crate::error::{Error, Result};
use crate::integrations::install::{File, diff};

/// What is to become of one file.
pub struct Plan {
    /// The file as the agent names it.
    path: PathBuf,
    /// Where it is, links followed.
    real: PathBuf,
    /// What it says.
    now: Option<String>,
    /// What it is to say.
    then: Option<String>,
    /// As it was before hooks were installed; what is kept while they are.
    before: Before,
    kept: Kept,
}

/// How a file that is there is changed: its text, and what is kept of it → its new text.
pub type Edit = dyn Fn(&File, Option<&str>, Option<&Before>) -> Result<Option<String>>;

impl Plan {
    fn new(
        context: &Context,
        target: &Target,
        file: &File,
        scope: Scope,
        planned: &mut BTreeMap<PathBuf, Option<String>>,
        edit: &Edit,
    ) -> Result<Plan> {
        let path = places::folder(context, target.install, scope)?.join(file.path);
        let real = theirs::real_path(&path)?;
        // Agents share files: the next one meets what the one before is about to write.
        let now = match planned.get(&real) {
            Some(text) => text.clone(),
            None => text_of(&real)?,
        };
        let kept = Kept::new(context, target.install, file, scope)?;
        let found = match &now {
            Some(text) => kept.load(&real, text)?,
            None => None,
        };
        let then = edit(file, now.as_deref(), found.as_ref()).map_err(|error| in_file(error, &path))?;
        if now != then {
            theirs::check_writable(&real)?;
        }
        let before = match (found, &now) {
            (Some(before), _) if before.is_untouched => before,
            // Somebody edited it since, or an install that nothing is kept of: what would be left without our part.
            (found, Some(text)) => {
                let was_made = found.as_ref().is_some_and(|before| before.text.is_none());
                let left = file.content.uninstall(text).unwrap_or(None);
                let text = left.filter(|left| !(was_made && file.content.is_bare(left)));
                let folders = found.map(|before| before.folders).unwrap_or_default();
                Before { text, folders, is_untouched: false }
            }
            (_, None) => Before { text: None, folders: theirs::missing_folders(&real), is_untouched: false },
        };
        planned.insert(real.clone(), then.clone());
        Ok(Plan { path, real, now, then, before, kept })
    }

    fn change(&self) -> Change {
        match (&self.now, &self.then) {
            (now, then) if now == then => Change::Unchanged,
            (None, _) => Change::Created,
            (_, None) => Change::Removed,
            _ => Change::Changed,
        }
    }

    /// Whether what was there before can be kept.
    ///
    /// # Errors
    /// As [`kept::check_path`].
    pub fn check_kept(&self) -> Result<()> {
        if self.now == self.then { Ok(()) } else { kept::check_path(&self.real) }
    }

    /// Our part goes in: a copy first.
    pub fn write_installed(&self, context: &Context) -> Result<()> {
        let Some(text) = self.then.as_deref().filter(|_| self.now != self.then) else { return Ok(()) };
        self.check_untouched()?;
        self.kept.save(context, &self.real, &self.before, text)?;
        theirs::rewrite(&self.real, text.as_bytes())
    }

    /// Our part goes, and then the copy.
    pub fn write_uninstalled(&self) -> Result<()> {
        self.check_untouched()?;
        match &self.then {
            then if *then == self.now => {}
            Some(text) => theirs::rewrite(&self.real, text.as_bytes())?,
            None => theirs::remove(&self.real, &self.before.folders)?,
        }
        self.kept.forget()
    }

    /// Agents write their settings, too.
    fn check_untouched(&self) -> Result<()> {
        if self.now == self.then || text_of(&self.real)? == self.now {
            return Ok(());
        }
        Err(Error::failed("the file was changed by somebody else just now").at(&self.real).help("try again"))
    }

    fn told(&self, context: &Context, keeps_copy: bool) -> FileChange {
        let path = places::shown(context, &self.path);
        let change = self.change();
        let is_changed = change != Change::Unchanged;
        let kept = Some(self.kept.copy()).filter(|_| keeps_copy && is_changed && self.before.text.is_some());
        FileChange {
            real_path: Some(&self.real).filter(|real| **real != self.path).map(|real| real.display().to_string()),
            kept: kept.map(|copy| places::shown(context, copy)),
            diff: is_changed.then(|| diff(&path, self.now.as_deref(), self.then.as_deref())),
            change,
            path,
        }
    }
}

/// Plans the change for all agents that are meant.
///
/// # Errors
/// Of the first file that cannot be read, edited or written; nothing was written then.
pub fn plan(context: &Context, targets: &[Target], scope: Scope, edit: &Edit) -> Result<Vec<Vec<Plan>>> {
    let mut planned = BTreeMap::new();
    let mut all = Vec::new();
    for target in targets {
        let files = target.install.files.iter();
        let plans = files.map(|file| Plan::new(context, target, file, scope, &mut planned, edit));
        all.push(plans.collect::<Result<_>>()?);
    }
    Ok(all)
}

/// Says what was done, or would be.
///
/// # Errors
/// None in practice.
pub fn tell(
    context: &Context,
    asked: &HookChange,
    targets: &[Target],
    plans: &[Vec<Plan>],
    keeps_copy: bool,
) -> Result<()> {
    let agents = targets.iter().zip(plans).map(|(target, plans)| AgentChanges {
        agent: target.install.agent.to_owned(),
        found_by: target.found_by.clone(),
        files: plans.iter().map(|plan| plan.told(context, keeps_copy)).collect(),
        advice: target.install.advice.to_owned(),
        switched_off: places::switched_off(context, target.install),
    });
    let agents: Vec<AgentChanges> = agents.collect();
    if context.json() {
        return output::json(&Changes {
            schema_version: VERSION,
            dry_run: asked.dry_run,
            scope: said(asked.scope),
            agents,
        });
    }
    for agent in &agents {
        if asked.agent == "detected" {
            let found_by = agent.found_by.as_deref().unwrap_or_default();
            context.say(&format!("{}, by {found_by}", agent.agent));
        }
        for file in &agent.files {
            output::out(&line(file, asked.dry_run));
            if let Some(real) = &file.real_path {
                context.say(&format!("note: a link leads to {real}, which is the file that is edited"));
            }
        }
        let is_changed = agent.files.iter().any(|file| file.change != Change::Unchanged);
        if is_changed && keeps_copy {
            context.say(&format!("note: {}", agent.advice));
        }
        if let Some(by) = agent.switched_off.as_ref().filter(|_| keeps_copy) {
            context.say(&format!("warning: {} runs no hooks, these neither: {by}", agent.agent));
        }
    }
    if asked.dry_run {
        context.say("a dry run: nothing was written");
    }
    Ok(())
}

/// Whose config it is, as answers say it.
pub fn said(scope: Scope) -> SaidScope {
    match scope {
        Scope::Project => SaidScope::Project,
        Scope::User => SaidScope::User,
    }
}

fn line(file: &FileChange, dry_run: bool) -> String {
    if let Some(diff) = file.diff.as_ref().filter(|_| dry_run) {
        return shown(diff);
    }
    let (path, kept) = (printable(&file.path), file.kept.as_deref().map(printable));
    match (file.change, kept) {
        (Change::Unchanged, _) => format!("{path}: nothing to change\n"),
        (Change::Created, _) => format!("{path}: created\n"),
        (Change::Removed, _) => format!("{path}: removed\n"),
        (Change::Changed, None) => format!("{path}: changed\n"),
        (Change::Changed, Some(kept)) => format!("{path}: changed; as it was: {kept}\n"),
    }
}

/// The error with its file; line and column stay.
fn in_file(error: Error, path: &Path) -> Error {
    error.in_file(&path.display().to_string())
}

/// A difference as a terminal may show it.
fn shown(diff: &str) -> String {
    let is_safe = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    diff.chars().filter(is_safe).collect()
}

/// Warns if hooks could not run, or would run another program.
pub fn warn_of_path(context: &Context) {
    let (found, is_this) = places::program();
    match found.as_deref().map(Path::display) {
        None => context.say("warning: no `highwater` on PATH, so the hooks cannot run: put it there"),
        Some(path) if !is_this => context.say(&format!("note: the hooks run {path}, which is not this program")),
        Some(_) => {}
    }
}
