//! The tree that is given back beside the tree as it stands. Directories that are the same in both need no work, and are
//! neither read nor listed: a restore costs what differs.

use super::manifest::Manifest;
use super::plan::{Plan, Scope, plan};
use crate::error::Result;
use crate::model::ids::{ObjectId, TreePath};
use crate::model::tree::Tree;

/// A tree as it stands: captured, or surveyed.
pub struct Standing<'a> {
    /// Its root directory.
    pub root: ObjectId,
    /// Files and links that it holds.
    pub files: u64,
    /// What was seen in it and is not held.
    pub unheld: &'a [(TreePath, String)],
    /// Reads its directories and those of the tree that is given back.
    pub tree: &'a dyn Fn(&ObjectId) -> Result<Tree>,
}

/// Both trees, as far as they concern a restore.
pub struct Compared {
    /// The tree that is given back.
    pub target: Manifest,
    /// The tree as it stands.
    pub found: Manifest,
    /// Files and links in directories that are the same.
    unchanged: u64,
    /// Paths in them that neither tree holds.
    unheld: Vec<TreePath>,
}

impl Compared {
    /// Puts both beside each other: whole, or, where everything is restored, without the directories that are the same.
    ///
    /// # Errors
    /// As [`Manifest::load`].
    pub fn new(target: &ObjectId, standing: &Standing<'_>, scope: &Scope) -> Result<Compared> {
        let Standing { root, files, unheld, tree } = standing;
        if !scope.paths.is_empty() {
            // What the user names is looked for in the whole tree.
            let (target, found) = (Manifest::load_from(tree, target)?, Manifest::load_from(tree, root)?);
            return Ok(Compared { target, found, unchanged: 0, unheld: Vec::new() });
        }
        let (target, found) = Manifest::load_different(tree, target, root)?;
        let listed = found.iter().filter(|(_, state)| state.has_content()).count();
        let unchanged = files.saturating_sub(u64::try_from(listed).unwrap_or(u64::MAX));
        let unheld = unheld.iter().map(|(path, _)| path).filter(|path| found.get(path).is_none()).cloned().collect();
        Ok(Compared { target, found, unchanged, unheld })
    }

    /// The steps from the tree as it stands to the one that is given back.
    ///
    /// # Errors
    /// As [`plan()`].
    pub fn plan(&self, scope: &Scope) -> Result<Plan> {
        let mut plan = plan(&self.target, &self.found, scope)?;
        plan.unchanged = plan.unchanged.saturating_add(self.unchanged);
        plan.unheld.extend(self.unheld.iter().cloned());
        plan.unheld.sort();
        Ok(plan)
    }
}
