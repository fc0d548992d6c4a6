//! Looking at the work tree before a snapshot of it is taken: a restore is planned, and perhaps refused, in between.

use super::{Captured, Outcomes, Purpose, Session, Stored, Task, prepare, tasks};
use crate::disk::layout::Layout;
use crate::error::Result;
use crate::model::config::{Capture, Limits};
use crate::model::ids::{ObjectId, TreePath};
use crate::model::tree::Tree;
use crate::snapshot::objects::Objects;
use crate::snapshot::walk::{Walked, walk};

/// Looks at the work tree as [`capture`](super::capture) does. Nothing is written.
///
/// # Errors
/// As [`capture`](super::capture).
pub fn survey<'a>(layout: &'a Layout, capture: &Capture, limits: &'a Limits, stored: Stored) -> Result<Survey<'a>> {
    let mut session = Session::open(layout, Purpose::Look, stored)?;
    let walked = walk(layout, capture, limits, &session.cache)?;
    let mut outcomes = session.known(&walked);
    let read = tasks(&walked, &outcomes);
    session.read(&read, &mut outcomes, limits, &|_, _| {})?;
    let (mut captured, _) = session.build(&walked, &outcomes, &[])?;
    captured.unheld.sort();
    Ok(Survey { captured, session, walked, outcomes, read, limits })
}

/// A snapshot that can be taken.
pub struct Survey<'a> {
    captured: Captured,
    session: Session<'a>,
    walked: Walked,
    outcomes: Vec<Outcomes>,
    /// What was read, because nobody knew it.
    read: Vec<Task>,
    limits: &'a Limits,
}

impl Survey<'_> {
    /// As [`Captured::root`].
    pub fn root(&self) -> ObjectId {
        self.captured.root
    }

    /// As [`Captured::files`].
    pub fn files(&self) -> u64 {
        self.captured.files
    }

    /// As [`Captured::unheld`].
    pub fn unheld(&self) -> &[(TreePath, String)] {
        &self.captured.unheld
    }

    /// Whether it is one of the directories that were looked at, or stands in one.
    pub fn holds(&self, id: &ObjectId) -> bool {
        let trees = &self.session.trees;
        trees.contains_key(id) || trees.values().any(|tree| tree.entries().iter().any(|entry| entry.object == *id))
    }

    /// The store as it was when the work tree was looked at.
    pub fn objects(&self) -> &Objects {
        &self.session.objects
    }

    /// A directory of it, or of any snapshot.
    ///
    /// # Errors
    /// As [`Objects::tree`].
    pub fn tree(&self, id: &ObjectId) -> Result<Tree> {
        self.session.tree(id)
    }

    /// Takes the snapshot. The work tree is not walked again: what had to be read is read again and kept as it is now, and
    /// what was born since is not in it.
    ///
    /// # Errors
    /// As [`capture`](super::capture).
    pub fn take(mut self) -> Result<(Captured, Objects)> {
        let mut session = self.session;
        prepare(session.layout)?;
        session.purpose = Purpose::Store;
        for task in &self.read {
            task.put(&mut self.outcomes, None);
        }
        session.read(&self.read, &mut self.outcomes, self.limits, &|_, _| {})?;
        let (mut captured, ids) = session.build(&self.walked, &self.outcomes, &[])?;
        captured.unheld.sort();
        captured.new_bytes = session.finish(&self.walked, &self.outcomes, &ids)?;
        Ok((captured, session.objects))
    }
}
