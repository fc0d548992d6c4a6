//! Files that the restored tree does not have because it could not see them: its own `.gitignore` files left them out.
//! They were never part of it, so they do not go when it comes back, even though today's rules show them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::beneath::last_name;
use super::manifest::{Kind, Manifest, State};
use crate::error::Result;
use crate::model::ids::TreePath;
use crate::snapshot::objects::Objects;

const NAME: &[u8] = b".gitignore";

/// A larger `.gitignore` is none that people wrote; a capture does not read it either.
const MAX_BYTES: u64 = 8 << 20;

/// Takes out of `found` what the target's rules left out when it was captured, but for `added`, which the restore that is
/// undone put there, and what lies where the target has a file, so that it cannot have been there. Where the rules are the
/// same, a file that they leave out may still be seen now: git tracks it.
///
/// # Errors
/// Bad input if a stored `.gitignore` cannot be read.
pub fn forget(objects: &Objects, target: &Manifest, added: &Manifest, found: &mut Manifest) -> Result<()> {
    let is_file = |path: TreePath| target.get(&path).is_some_and(State::has_content);
    let is_ours = |path: &TreePath| {
        let known = target.get(path).is_some() || added.get(path).is_some();
        known || std::iter::successors(path.parent(), TreePath::parent).any(is_file)
    };
    if found.iter().all(|(path, _)| is_ours(path)) {
        return Ok(());
    }
    let rules = Rules::load(objects, target)?;
    found.retain(|path, state| is_ours(path) || !rules.hide(path, state.kind == Kind::Directory));
    Ok(())
}

/// The ignore files of a stored tree, by the folder that each lies in.
struct Rules {
    folders: BTreeMap<Option<TreePath>, Gitignore>,
}

impl Rules {
    fn load(objects: &Objects, target: &Manifest) -> Result<Rules> {
        let mut folders = BTreeMap::new();
        for (path, state) in target.iter() {
            if state.kind != Kind::File || last_name(path) != NAME || state.size > MAX_BYTES {
                continue;
            }
            let bytes = objects.read(&state.object)?;
            let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
            let mut builder = GitignoreBuilder::new("");
            for line in text.lines() {
                // A line that is no glob matches nothing, as for git.
                let _ = builder.add_line(None, line);
            }
            if let Ok(rules) = builder.build() {
                folders.insert(path.parent(), rules);
            }
        }
        Ok(Rules { folders })
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
            if let Some(rules) = self.folders.get(&folder) {
                let above = folder.as_ref().map_or(0, |folder| folder.as_bytes().len().saturating_add(1));
                let relative = path.as_bytes().get(above..).unwrap_or_default();
                let matched = rules.matched(Path::new(OsStr::from_bytes(relative)), is_directory);
                if !matched.is_none() {
                    return matched.is_ignore();
                }
            }
            match folder {
                Some(inner) => folder = inner.parent(),
                None => return false,
            }
        }
    }
}
