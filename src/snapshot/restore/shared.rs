//! Files with more than one name: what is done to such a file is done under all of them, and the others may lie outside of the
//! work tree.

use rustix::fs::AtFlags;

use super::beneath::{Beneath, last_name};
use super::manifest::{Kind, State};
use super::plan::{Action, Plan};

/// Where the mode of such a file is to change, a file of its own takes the place, as where the content changes. One that cannot
/// be looked at is left to the checks.
pub fn set_apart(tree: &Beneath, plan: &mut Plan) {
    for op in &mut plan.ops {
        if op.action != Action::Chmod || !matches!(op.after, Some(State { kind: Kind::File, .. })) {
            continue;
        }
        let look = |holder| rustix::fs::statat(holder, last_name(&op.path), AtFlags::SYMLINK_NOFOLLOW);
        if tree.holder(&op.path).and_then(look).is_ok_and(|stat| stat.st_nlink > 1) {
            op.action = Action::Replace;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Op;
    use super::*;
    use crate::model::ids::{ObjectId, TreePath};

    #[test]
    fn only_a_file_with_further_names_is_replaced_for_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("alone"), "").unwrap();
        std::fs::write(at("shared"), "").unwrap();
        std::fs::hard_link(at("shared"), at("other")).unwrap();
        std::fs::create_dir_all(at("folder/inside")).unwrap();
        let file = State { kind: Kind::File, mode: 0o755, size: 0, object: ObjectId([1; 32]) };
        let op = |name: &str, state| {
            let (action, path) = (Action::Chmod, TreePath::new(name).unwrap());
            Op { action, path, before: Some(state), after: Some(state) }
        };
        let states = [("alone", file), ("shared", file), ("absent", file), ("folder", State::directory(0o700))];
        let mut plan = Plan { ops: states.map(|(name, state)| op(name, state)).to_vec(), ..Plan::default() };
        set_apart(&Beneath::open(dir.path()).unwrap(), &mut plan);
        let actions: Vec<Action> = plan.ops.iter().map(|op| op.action).collect();
        assert_eq!(actions, [Action::Chmod, Action::Replace, Action::Chmod, Action::Chmod]);
    }
}
