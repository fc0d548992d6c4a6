//! The plan of a restore: from the tree as it should be and the tree as it was found, the steps between them.
//!
//! Pure. The order of steps is part of the promise: what goes, goes first (so that a file can make room for a directory,
//! and `Readme` for `readme` on a file system that holds both for one), directories are made before what they hold, and
//! directories lose their own write permission last.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::manifest::{Kind, Manifest, State};
use crate::error::{Error, Result};
use crate::model::ids::TreePath;

/// Bits that a directory needs before its entries can be changed by its owner.
const OWNER_MAY_CHANGE: u32 = 0o300;

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A file where nothing is.
    Write,
    /// A symbolic link where nothing is.
    Link,
    /// A file or link in place of another.
    Replace,
    /// A file or link goes.
    Remove,
    /// A directory where nothing is.
    MakeDirectory,
    /// A directory goes, if nothing is left in it.
    RemoveDirectory,
    /// Same content, other permission bits.
    Chmod,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Op {
    /// What it does.
    pub action: Action,
    /// Where.
    pub path: TreePath,
    /// What was found there.
    pub before: Option<State>,
    /// What will be there.
    pub after: Option<State>,
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = self.after.map_or(0, |state| state.mode);
        match self.action {
            Action::Write => write!(f, "write {}", self.path),
            Action::Link => write!(f, "link {}", self.path),
            Action::Replace => write!(f, "replace {}", self.path),
            Action::Remove => write!(f, "remove {}", self.path),
            Action::MakeDirectory => write!(f, "make directory {}", self.path),
            Action::RemoveDirectory => write!(f, "remove directory {}", self.path),
            Action::Chmod => write!(f, "chmod {mode:03o} {}", self.path),
        }
    }
}

/// All steps, in order, and what needs none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in the order in which they are done.
    pub ops: Vec<Op>,
    /// Files and links that are already as they should be.
    pub unchanged: u64,
    /// Paths that no snapshot holds and the target does not name: left alone.
    pub kept: Vec<TreePath>,
    /// Paths of the target whose content was not kept when it was captured: left alone.
    pub unheld: Vec<TreePath>,
}

impl Plan {
    /// Paths of files and links that get other content, other permission bits, or come back; sorted.
    pub fn restored(&self) -> Vec<TreePath> {
        self.paths_of(|op| op.after.is_some_and(|state| state.has_content()))
    }

    /// Paths of files and links that go; sorted.
    pub fn removed(&self) -> Vec<TreePath> {
        self.paths_of(|op| op.action == Action::Remove)
    }

    /// Paths of directories that are made or get other permission bits; sorted. One that is only open while its entries
    /// change is none.
    pub fn directories_restored(&self) -> Vec<TreePath> {
        let ends = self.directories().into_iter().filter(|(_, (before, after))| after.is_some() && before != after);
        ends.map(|(path, _)| path.clone()).collect()
    }

    /// Paths of directories that go; sorted.
    pub fn directories_removed(&self) -> Vec<TreePath> {
        let ends = self.directories().into_iter().filter(|(_, (before, after))| before.is_some() && after.is_none());
        ends.map(|(path, _)| path.clone()).collect()
    }

    /// The directories that any step concerns: each as it is before the first one and after the last.
    fn directories(&self) -> BTreeMap<&TreePath, (Option<State>, Option<State>)> {
        let directory = |state: Option<State>| state.filter(|state| state.kind == Kind::Directory);
        let mut ends = BTreeMap::new();
        for op in &self.ops {
            let (before, after) = (directory(op.before), directory(op.after));
            ends.entry(&op.path).or_insert((before, None)).1 = after;
        }
        ends
    }

    fn paths_of(&self, wanted: impl Fn(&Op) -> bool) -> Vec<TreePath> {
        let paths: BTreeSet<&TreePath> = self.ops.iter().filter(|op| wanted(op)).map(|op| &op.path).collect();
        paths.into_iter().cloned().collect()
    }

    /// Bytes of all files and links that have to be written.
    pub fn bytes(&self) -> u64 {
        self.staged().fold(0, |sum, (_, _, state)| sum.saturating_add(state.size))
    }

    /// The steps that need a new file or link, with their position in the plan.
    pub fn staged(&self) -> impl Iterator<Item = (usize, &TreePath, State)> {
        self.ops.iter().enumerate().filter_map(|(index, op)| match (op.action, op.after) {
            (Action::Write | Action::Link | Action::Replace, Some(state)) => Some((index, &op.path, state)),
            _ => None,
        })
    }
}

/// One line a step, as `--dry-run` prints it.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ops.iter().try_for_each(|op| writeln!(f, "{op}"))
    }
}

/// How a restore of some paths looks at one path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Selected,
    /// A directory above a selected path: made if it has to be, else left as it is.
    Above,
    Outside,
}

/// Which part of the tree is restored, and how far the plan may go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// These paths and what lies below them; empty is the whole tree.
    pub paths: &'a [TreePath],
    /// Whether directories without write permission are opened for the change and closed again. So it is on the way
    /// back, where the restore itself may have closed them; on the way there, they are in the way.
    pub open_directories: bool,
}

impl Scope<'_> {
    fn reach(&self, path: &TreePath) -> Reach {
        if self.paths.is_empty() || self.paths.iter().any(|folder| path.is_within(folder)) {
            Reach::Selected
        } else if self.paths.iter().any(|selected| selected.is_within(path)) {
            Reach::Above
        } else {
            Reach::Outside
        }
    }

    /// Whether the path is one of those restored, or lies below one.
    pub fn selects(&self, path: &TreePath) -> bool {
        self.reach(path) == Reach::Selected
    }

    /// Whether the restore looks at this path at all.
    pub fn covers(&self, path: &TreePath) -> bool {
        self.reach(path) != Reach::Outside
    }
}

/// The steps from `found` to `target`.
///
/// # Errors
/// Bad input if something that no snapshot holds, or that is not to be restored, stands in the way.
pub fn plan(target: &Manifest, found: &Manifest, scope: &Scope) -> Result<Plan> {
    let mut planner = Planner { target, found, scope, steps: Steps::default(), plan: Plan::default() };
    let both = side_by_side(target, found);
    let staying = planner.what_stays(&both);
    for (path, wanted, there) in &both {
        if let Some(wanted) = wanted {
            planner.reach_for(path, **wanted, there.copied(), &staying)?;
        }
    }
    for (path, wanted, there) in &both {
        if let (None, Some(there)) = (wanted, there) {
            planner.let_go(path, **there, &staying);
        }
    }
    planner.open_closed_directories();
    let Planner { steps, mut plan, .. } = planner;
    plan.ops = steps.in_order();
    Ok(plan)
}

/// What each tree has at a path.
type Both<'a> = (&'a TreePath, Option<&'a State>, Option<&'a State>);

/// All paths of both trees, in order: looking each up in the other tree would take several times as long.
fn side_by_side<'a>(target: &'a Manifest, found: &'a Manifest) -> Vec<Both<'a>> {
    let (mut wanted, mut there) = (target.iter().peekable(), found.iter().peekable());
    let mut both = Vec::new();
    loop {
        let order = match (wanted.peek(), there.peek()) {
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return both,
        };
        let wanted = wanted.next_if(|_| order.is_le());
        let there = there.next_if(|_| order.is_ge());
        let state = |found: (&'a TreePath, &'a State)| found.1;
        both.extend(wanted.or(there).map(|(path, _)| (path, wanted.map(state), there.map(state))));
    }
}

/// Steps by phase; within a phase in the order of their paths.
#[derive(Default)]
struct Steps {
    opened: Vec<Op>,
    removed: Vec<Op>,
    directories_removed: Vec<Op>,
    directories_made: Vec<Op>,
    written: Vec<Op>,
    changed: Vec<Op>,
    closed: Vec<Op>,
}

impl Steps {
    fn in_order(mut self) -> Vec<Op> {
        // What a directory holds goes before it, and a directory is closed after those in it.
        self.directories_removed.reverse();
        self.closed.sort_by(|a, b| b.path.cmp(&a.path));
        self.opened.sort_by(|a, b| a.path.cmp(&b.path));
        let phases = [self.opened, self.removed, self.directories_removed, self.directories_made, self.written];
        phases.into_iter().chain([self.changed, self.closed]).flatten().collect()
    }
}

struct Planner<'a> {
    target: &'a Manifest,
    found: &'a Manifest,
    scope: &'a Scope<'a>,
    steps: Steps,
    plan: Plan,
}

impl Planner<'_> {
    /// Directories that cannot go, because something in them stays.
    fn what_stays(&self, both: &[Both<'_>]) -> BTreeSet<TreePath> {
        let mut staying = BTreeSet::new();
        for (path, wanted, there) in both {
            let Some(there) = there else { continue };
            let goes = wanted.is_none() && there.kind != Kind::Unheld && self.may_remove(path, there);
            if goes || wanted.is_some_and(|wanted| wanted.kind != Kind::Unheld) {
                continue;
            }
            let mut folder = path.parent();
            while let Some(above) = folder {
                folder = above.parent();
                if !staying.insert(above) {
                    break;
                }
            }
        }
        staying
    }

    /// Whether a path that the target does not have is the restore's to remove.
    fn may_remove(&self, path: &TreePath, there: &State) -> bool {
        let reached = match self.scope.reach(path) {
            Reach::Selected => true,
            Reach::Above => there.kind == Kind::Directory,
            Reach::Outside => false,
        };
        reached && !self.is_below_unheld(path)
    }

    /// Whether the target holds something above that it did not keep: then nobody knows what belongs here.
    fn is_below_unheld(&self, path: &TreePath) -> bool {
        let mut folder = path.parent();
        while let Some(above) = folder {
            if self.target.get(&above).is_some_and(|state| state.kind == Kind::Unheld) {
                return true;
            }
            folder = above.parent();
        }
        false
    }

    /// Steps that make `path` what the target wants.
    fn reach_for(
        &mut self,
        path: &TreePath,
        wanted: State,
        found: Option<State>,
        staying: &BTreeSet<TreePath>,
    ) -> Result<()> {
        let reach = self.scope.reach(path);
        if reach == Reach::Outside {
            return Ok(());
        }
        if wanted.kind == Kind::Unheld {
            self.plan.unheld.push(path.clone());
            return Ok(());
        }
        let step = |action, before| Op { action, path: path.clone(), before, after: Some(wanted) };
        match found {
            Some(there) if there == wanted => self.plan.unchanged += u64::from(wanted.has_content()),
            Some(there) if there.kind == Kind::Unheld => {
                return Err(in_the_way(path, "a file that no snapshot holds is in the way"));
            }
            Some(there) if there.same_content(&wanted) => self.change_mode(path, there, wanted, reach),
            Some(there) if there.has_content() && wanted.has_content() => {
                self.steps.written.push(step(Action::Replace, found));
            }
            Some(there) => {
                if there.kind == Kind::Directory && staying.contains(path) {
                    return Err(in_the_way(path, "a directory that holds other files is in the way"));
                }
                self.remove(path, there);
                self.create(path, wanted);
            }
            None => self.create(path, wanted),
        }
        Ok(())
    }

    fn create(&mut self, path: &TreePath, wanted: State) {
        let (action, steps) = match wanted.kind {
            Kind::Directory => (Action::MakeDirectory, &mut self.steps.directories_made),
            Kind::Link => (Action::Link, &mut self.steps.written),
            Kind::File | Kind::Unheld => (Action::Write, &mut self.steps.written),
        };
        steps.push(Op { action, path: path.clone(), before: None, after: Some(wanted) });
        // It is made open and closed at the end, once what belongs into it is there.
        if wanted.kind == Kind::Directory && wanted.mode & 0o700 != 0o700 {
            self.steps.closed.push(chmod(path, State::directory(wanted.mode | 0o700), wanted));
        }
    }

    fn remove(&mut self, path: &TreePath, there: State) {
        let (action, steps) = match there.kind {
            Kind::Directory => (Action::RemoveDirectory, &mut self.steps.directories_removed),
            _ => (Action::Remove, &mut self.steps.removed),
        };
        steps.push(Op { action, path: path.clone(), before: Some(there), after: None });
    }

    fn change_mode(&mut self, path: &TreePath, there: State, wanted: State, reach: Reach) {
        if reach == Reach::Above {
            return;
        }
        let opens = there.mode & OWNER_MAY_CHANGE != OWNER_MAY_CHANGE;
        let steps = match (wanted.kind, opens) {
            (Kind::Directory, true) if wanted.mode & OWNER_MAY_CHANGE == OWNER_MAY_CHANGE => &mut self.steps.opened,
            (Kind::Directory, _) => &mut self.steps.closed,
            _ => &mut self.steps.changed,
        };
        steps.push(chmod(path, there, wanted));
    }

    /// Steps for what the target does not have.
    fn let_go(&mut self, path: &TreePath, there: State, staying: &BTreeSet<TreePath>) {
        if !self.scope.covers(path) {
            return;
        }
        if there.kind == Kind::Unheld || (there.has_content() && !self.may_remove(path, &there)) {
            if self.scope.reach(path) == Reach::Selected {
                self.plan.kept.push(path.clone());
            }
        } else if self.may_remove(path, &there) && !staying.contains(path) {
            self.remove(path, there);
        }
    }

    /// On the way back: directories that are closed, stay closed and have entries to change are opened for as long.
    fn open_closed_directories(&mut self) {
        if !self.scope.open_directories {
            return;
        }
        let steps = &self.steps;
        let changing = [&steps.removed, &steps.directories_removed, &steps.directories_made, &steps.written];
        let folders: BTreeSet<TreePath> = changing.into_iter().flatten().filter_map(|op| op.path.parent()).collect();
        for folder in folders {
            let Some(there) = self.found.get(&folder).copied() else { continue };
            let is_opened = self.steps.opened.iter().any(|op| op.path == folder);
            if there.kind != Kind::Directory || there.mode & OWNER_MAY_CHANGE == OWNER_MAY_CHANGE || is_opened {
                continue;
            }
            let open = State::directory(there.mode | 0o700);
            self.steps.opened.push(chmod(&folder, there, open));
            let stays = self.steps.directories_removed.iter().all(|op| op.path != folder);
            if stays && self.steps.closed.iter().all(|op| op.path != folder) {
                self.steps.closed.push(chmod(&folder, open, there));
            }
        }
    }
}

fn chmod(path: &TreePath, before: State, after: State) -> Op {
    Op { action: Action::Chmod, path: path.clone(), before: Some(before), after: Some(after) }
}

/// The refusal of a whole plan because of one path.
pub(super) fn in_the_way(path: &TreePath, what: &str) -> Error {
    Error::bad_input(what)
        .in_file(&path.to_string())
        .because("nothing was changed")
        .help("move it away and restore again, or restore only other paths")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::ObjectId;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    fn state(kind: Kind, mode: u32, content: u8) -> State {
        State { kind, mode, size: u64::from(content), object: ObjectId([content; 32]) }
    }

    /// `f` file 644, `x` file 755, `l` link, `d` directory, `r` read-only directory, `u` unheld; then the content.
    fn tree(entries: &[(&str, char, u8)]) -> Manifest {
        let made = entries.iter().map(|(name, kind, content)| {
            let state = match kind {
                'f' => state(Kind::File, 0o644, *content),
                'x' => state(Kind::File, 0o755, *content),
                'l' => state(Kind::Link, 0, *content),
                'd' => State::directory(0o755),
                'r' => State::directory(0o555),
                _ => state(Kind::Unheld, 0o644, *content),
            };
            (path(name), state)
        });
        made.collect()
    }

    fn steps(target: &Manifest, found: &Manifest, scope: &Scope) -> String {
        plan(target, found, scope).unwrap().to_string()
    }

    #[test]
    fn equal_trees_need_no_step() {
        let one = tree(&[("a", 'd', 0), ("a/b", 'f', 1), ("l", 'l', 2)]);
        let plan = plan(&one, &one, &Scope::default()).unwrap();
        assert_eq!((plan.ops.len(), plan.unchanged), (0, 2));
    }

    #[test]
    fn what_goes_goes_first_and_directories_come_before_what_they_hold() {
        let target =
            tree(&[("a", 'd', 0), ("a/n", 'f', 1), ("b", 'f', 2), ("k", 'x', 3), ("m", 'f', 4), ("s", 'l', 5)]);
        let found =
            tree(&[("a", 'f', 9), ("b", 'd', 0), ("b/c", 'd', 0), ("b/c/x", 'f', 8), ("k", 'f', 3), ("m", 'l', 6)]);
        assert_eq!(
            steps(&target, &found, &Scope::default()),
            "remove a\nremove b/c/x\nremove directory b/c\nremove directory b\nmake directory a\nwrite a/n\nwrite b\n\
             replace m\nlink s\nchmod 755 k\n"
        );
    }

    #[test]
    fn a_plan_of_some_paths_touches_no_other() {
        let target = tree(&[("a", 'd', 0), ("a/b", 'f', 1), ("c", 'f', 2)]);
        let found = tree(&[("a", 'r', 0), ("a/b", 'f', 3), ("a/new", 'f', 4), ("c", 'f', 5), ("d", 'f', 6)]);
        let only = [path("a/b")];
        assert_eq!(steps(&target, &found, &Scope { paths: &only, open_directories: false }), "replace a/b\n");
        let folder = [path("a")];
        assert_eq!(
            steps(&target, &found, &Scope { paths: &folder, open_directories: false }),
            "chmod 755 a\nremove a/new\nreplace a/b\n"
        );
    }

    #[test]
    fn a_directory_holding_what_stays_is_left_or_refused() {
        let found = tree(&[("d", 'd', 0), ("d/big", 'u', 1), ("d/x", 'f', 2)]);
        let gone = plan(&tree(&[]), &found, &Scope::default()).unwrap();
        assert_eq!((gone.to_string().as_str(), gone.kept), ("remove d/x\n", vec![path("d/big")]));
        let error = plan(&tree(&[("d", 'f', 3)]), &found, &Scope::default()).unwrap_err();
        assert_eq!(error.kind, crate::error::ErrorKind::BadInput);
        assert!(error.to_string().contains("(d)"), "{error}");
    }

    #[test]
    fn what_the_target_did_not_keep_is_left_alone_and_what_we_do_not_hold_is_in_the_way() {
        let target = tree(&[("big", 'u', 1)]);
        for found in [tree(&[]), tree(&[("big", 'f', 2)]), tree(&[("big", 'd', 0), ("big/x", 'f', 2)])] {
            let plan = plan(&target, &found, &Scope::default()).unwrap();
            assert_eq!((plan.to_string().as_str(), plan.unheld), ("", vec![path("big")]));
        }
        assert!(plan(&tree(&[("big", 'f', 1)]), &tree(&[("big", 'u', 1)]), &Scope::default()).is_err());
    }

    #[test]
    fn directories_are_told_by_how_they_end() {
        let target = tree(&[("made", 'r', 0), ("made/a", 'f', 1), ("mode", 'd', 0), ("same", 'd', 0), ("was", 'd', 0)]);
        let found = tree(&[("gone", 'd', 0), ("gone/in", 'd', 0), ("mode", 'r', 0), ("same", 'd', 0), ("was", 'f', 1)]);
        let told = |plan: &Plan| {
            let texts = |paths: Vec<TreePath>| paths.iter().map(TreePath::to_string).collect::<Vec<_>>().join(" ");
            (texts(plan.directories_restored()), texts(plan.directories_removed()))
        };
        let whole = plan(&target, &found, &Scope::default()).unwrap();
        assert_eq!(told(&whole), ("made mode was".into(), "gone gone/in".into()));
        let back = plan(&found, &target, &Scope::default()).unwrap();
        assert_eq!(told(&back), ("gone gone/in mode".into(), "made was".into()));
        // Opened for as long as its entries change, and closed again.
        let (before, after) = (tree(&[("r", 'r', 0)]), tree(&[("r", 'r', 0), ("r/a", 'f', 1)]));
        let opened = plan(&before, &after, &Scope { paths: &[], open_directories: true }).unwrap();
        assert_eq!((opened.ops.len(), told(&opened)), (3, (String::new(), String::new())));
    }

    #[test]
    fn closed_directories_are_opened_only_on_the_way_back() {
        let target = tree(&[("r", 'r', 0), ("r/a", 'f', 1)]);
        let found = tree(&[("r", 'r', 0), ("r/a", 'f', 2)]);
        assert_eq!(steps(&target, &found, &Scope::default()), "replace r/a\n");
        let back = Scope { paths: &[], open_directories: true };
        assert_eq!(steps(&target, &found, &back), "chmod 755 r\nreplace r/a\nchmod 555 r\n");
        assert_eq!(
            steps(&target, &tree(&[]), &Scope::default()),
            "make directory r\nwrite r/a\nchmod 555 r\n",
            "a directory is closed once its files are there"
        );
    }

    #[test]
    fn a_directory_is_closed_after_those_in_it_and_opened_before_them() {
        let scope = Scope::default();
        let (open, closed) = (tree(&[("a", 'd', 0), ("a/b", 'd', 0)]), tree(&[("a", 'r', 0), ("a/b", 'r', 0)]));
        assert_eq!(steps(&closed, &open, &scope), "chmod 555 a/b\nchmod 555 a\n");
        assert_eq!(steps(&open, &closed, &scope), "chmod 755 a\nchmod 755 a/b\n");
        let other = ["a", "a/b"].map(|name| (path(name), State::directory(0o500))).into_iter().collect();
        assert_eq!(steps(&other, &closed, &scope), "chmod 500 a/b\nchmod 500 a\n");
    }

    #[test]
    fn on_the_way_back_a_directory_is_closed_once_and_only_if_it_stays() {
        let back = Scope { paths: &[], open_directories: true };
        let found = tree(&[("r", 'r', 0), ("r/a", 'f', 1)]);
        assert_eq!(steps(&tree(&[]), &found, &back), "chmod 755 r\nremove r/a\nremove directory r\n");
        let mut target = tree(&[("r/a", 'f', 2)]);
        target.insert(path("r"), State::directory(0o500));
        assert_eq!(steps(&target, &found, &back), "chmod 755 r\nreplace r/a\nchmod 500 r\n");
        let (open, changed) = (tree(&[("d", 'd', 0), ("d/a", 'f', 1)]), tree(&[("d", 'd', 0), ("d/a", 'f', 2)]));
        assert_eq!(steps(&changed, &open, &back), "replace d/a\n", "it is open already");
    }
}
