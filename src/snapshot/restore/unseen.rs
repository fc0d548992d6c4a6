//! Files that the restored tree does not have because it could not see them: its own `.gitignore` files left them out.
//! They were never part of it, so they do not go when it comes back, even though today's rules show them.

use std::collections::BTreeMap;

use super::beneath::last_name;
use super::manifest::{Kind, Manifest, State};
use crate::disk::layout::Layout;
use crate::error::Result;
use crate::model::ids::TreePath;
use crate::snapshot::gitignore::Lines;
use crate::snapshot::objects::Objects;
use crate::snapshot::rules::{Git, MAX_BYTES};

const NAME: &[u8] = b".gitignore";

/// Takes out of `found` what the target's rules left out when it was captured, but for `added`, which the restore that is
/// undone put there, and what lies where the target has a file, so that it cannot have been there. Where the rules are the
/// same, a file that they leave out may still be seen now: git tracks it. Of rules that lie outside of the work tree nobody knows
/// what they were then: today's stand for them.
///
/// # Errors
/// Bad input if a stored `.gitignore` cannot be read.
pub fn forget(
    layout: &Layout,
    objects: &Objects,
    target: &Manifest,
    added: &Manifest,
    found: &mut Manifest,
) -> Result<()> {
    let is_file = |path: TreePath| target.get(&path).is_some_and(State::has_content);
    let is_ours = |path: &TreePath| {
        let known = target.get(path).is_some() || added.get(path).is_some();
        known || std::iter::successors(path.parent(), TreePath::parent).any(is_file)
    };
    if found.iter().all(|(path, _)| is_ours(path)) {
        return Ok(());
    }
    let rules = Rules::load(layout, objects, target)?;
    found.retain(|path, state| is_ours(path) || !rules.hide(path, state.kind == Kind::Directory));
    Ok(())
}

struct Rules {
    /// The ignore files of a stored tree, by the folder that each lies in.
    folders: BTreeMap<Option<TreePath>, Lines>,
    /// Where they say nothing.
    outside: Git,
}

impl Rules {
    fn load(layout: &Layout, objects: &Objects, target: &Manifest) -> Result<Rules> {
        let outside = Git::outside(layout);
        let mut folders = BTreeMap::new();
        for (path, state) in target.iter() {
            if state.kind != Kind::File || last_name(path) != NAME || state.size > MAX_BYTES {
                continue;
            }
            folders.insert(path.parent(), outside.lines(&objects.read(&state.object)?));
        }
        Ok(Rules { folders, outside })
    }

    /// Whether the path, or a folder that it lies in, is ignored.
    fn hide(&self, path: &TreePath, is_directory: bool) -> bool {
        self.ignore(path, is_directory)
            || std::iter::successors(path.parent(), TreePath::parent).any(|folder| self.ignore(&folder, true))
    }

    /// What the innermost file says that says anything.
    fn ignore(&self, path: &TreePath, is_directory: bool) -> bool {
        let mut folder = path.parent();
        loop {
            let above = folder.as_ref().map_or(0, |folder| folder.as_bytes().len().saturating_add(1));
            let relative = path.as_bytes().get(above..).unwrap_or_default();
            let lines = self.folders.get(&folder);
            if let Some(ignored) = lines.and_then(|lines| lines.ignore(relative, is_directory)) {
                return ignored;
            }
            match folder {
                Some(inner) => folder = inner.parent(),
                None => return self.outside.ignores(path.as_bytes(), is_directory),
            }
        }
    }
}
