//! Random trees, restores of them that end after random steps, and somebody who goes on working there before the next
//! command: none of that work is lost, and none of it is moved without a question.

use super::*;
use crate::disk::tests_support::Numbers;

/// What somebody writes who goes on working.
const MINE: &[u8] = b"mine";

/// So few names that files, directories and links often want the same place.
fn path(numbers: &mut Numbers) -> PathBuf {
    (0..=numbers.below(3)).map(|_| numbers.one_of(&["a", "b", "c"])).collect()
}

/// Takes whatever is in the way of a path: at it, and where directories above it should be.
fn make_room(root: &Path, path: &Path) {
    for place in path.ancestors().map(|above| root.join(above)) {
        let Ok(meta) = std::fs::symlink_metadata(&place) else { continue };
        if !meta.is_dir() {
            std::fs::remove_file(&place).unwrap();
        } else if place == root.join(path) {
            std::fs::remove_dir_all(&place).unwrap();
        }
    }
    std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
}

fn change(numbers: &mut Numbers, root: &Path) {
    for _ in 0..2 + numbers.below(6) {
        let path = path(numbers);
        make_room(root, &path);
        let place = root.join(&path);
        match numbers.below(6) {
            0 => std::fs::create_dir(&place).unwrap(),
            1 => symlink("a", &place).unwrap(),
            2 => {}
            kind => {
                std::fs::write(&place, format!("content {}", numbers.below(3))).unwrap();
                mode(&place, if kind == 3 { 0o600 } else { 0o644 });
            }
        }
    }
}

/// How many files hold what somebody wrote.
fn of_mine(listing: &Listing) -> usize {
    listing.values().filter(|what| what.ends_with(&format!("{MINE:?}"))).count()
}

// PROMISES W1, W2, W8.
#[test]
fn work_on_a_half_restored_tree_is_neither_lost_nor_moved_unasked() {
    let (mut finished, mut asked, mut refused, mut rescued) = (0, 0, 0, 0);
    for case in 0..150 {
        let work = Work::new(|root| change(&mut Numbers(case), root), |root| change(&mut Numbers(!case), root));
        let numbers = &mut Numbers(case);
        let steps = work.begin(0, |_| {});
        abort(&work.layout, NOW).unwrap();
        work.begin(numbers.below(steps + 1), |_| {});
        let path = path(numbers);
        make_room(work.root(), &path);
        std::fs::write(work.root().join(&path), MINE).unwrap();

        let found = pending(&work.layout, NOW).unwrap().unwrap();
        let half_way = work.listing();
        let goes_on = found.safe_to_finish() || numbers.below(2) == 0;
        let ended = if goes_on { resume(&work.layout, NOW) } else { abort(&work.layout, NOW) };
        let now = work.listing();
        let Ok(outcome) = ended else {
            assert_eq!(now, half_way, "case {case}: refused, and something was changed");
            refused += 1;
            continue;
        };
        if found.safe_to_finish() {
            finished += 1;
            let stays = of_mine(&now) == 1 && outcome.rescued_at.is_empty();
            assert!(stays, "case {case}: {} went unasked", path.display());
        } else {
            asked += 1;
            let kept = |at: &String| std::fs::read(work.root().join(at)).is_ok_and(|content| content == MINE);
            let there = of_mine(&now) + outcome.rescued_at.iter().filter(|at| kept(at)).count();
            assert_eq!(there, 1, "case {case}: {} is lost", path.display());
            rescued += outcome.rescued_at.len();
        }
    }
    assert!(finished > 20 && asked > 20 && refused > 5 && rescued > 20, "{finished} {asked} {refused} {rescued}");
}
