//! Going on and going back with what a killed process left: names in the stage and the trash, objects that are damaged or
//! gone by then, things that no snapshot can hold.

use super::super::journal;
use super::*;
use crate::disk::hash::id_of;
use crate::disk::tests_support::make_fifo;

fn texts(paths: &[TreePath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

/// The folder of the only restore, and its journal.
fn begun(work: &Work) -> (Folder, Journal) {
    let folder = Folder::of(&work.layout, 1);
    let journal = journal::read(&folder).unwrap();
    (folder, journal)
}

/// Changes the one byte of the store by which the object of this content, and no other, is damaged.
fn damage(work: &Work, content: &[u8]) {
    let id = id_of(content);
    for name in disk::list(&work.layout.objects()).unwrap() {
        let path = work.layout.objects().join(name);
        mode(&path, 0o600);
        let sound = std::fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            if Objects::check(&work.layout).unwrap().damaged == [id] {
                return;
            }
        }
        std::fs::write(&path, sound).unwrap();
    }
    panic!("the object is nowhere");
}

fn fifo(path: &Path) {
    let _ = std::fs::remove_file(path);
    make_fifo(path);
}

// PROMISES W1.
#[test]
fn what_the_safety_snapshot_could_not_give_back_is_not_replaced() {
    let work = Work::of_everything();
    let before = work.listing();
    capture::capture(&work.layout, &work.capture, &work.limits, &[], &[], &|_, _| {}).unwrap();
    damage(&work, b"two, and longer");
    let error = secured(&work.layout, &work.request(), Stored::Trusted).map(drop).unwrap_err();
    assert!(error.to_string().contains("edited") && error.to_string().contains("nothing was changed"), "{error}");
    assert_eq!(work.listing(), before);
    assert!(pending(&work.layout, NOW).unwrap().is_none() && work.is_clean());
    // So it is stored once more, from where it still stands.
    work.restore().unwrap();
    assert_eq!(work.listing(), work.target_listing());
    work.undo().unwrap();
    assert_eq!(work.listing(), before);
}

/// Plans a restore, and secures it after something happened to the work tree.
fn secured_after(work: &Work, meanwhile: impl FnOnce(&Path)) -> Result<()> {
    let request = work.request();
    let survey = capture::survey(&work.layout, &work.capture, &work.limits, Stored::Trusted).unwrap();
    let prepared = Prepared::new(&work.layout, &survey, &request).unwrap();
    let folder = Folder::make_next(&work.layout).unwrap();
    meanwhile(work.root());
    prepared.secure(survey, &folder).map(|_| ())
}

// PROMISES W1, W3: what is asked before the first change is asked again of the tree as it was stored.
#[test]
fn a_plan_that_changed_while_it_was_secured_is_checked_again() {
    let before = |root: &Path| {
        std::fs::write(root.join("swapped"), "a file").unwrap();
        std::fs::write(root.join("same"), "the same").unwrap();
    };
    let after = |root: &Path| {
        std::fs::remove_file(root.join("swapped")).unwrap();
        std::fs::create_dir(root.join("swapped")).unwrap();
        std::fs::write(root.join("swapped/x"), "one").unwrap();
        std::fs::write(root.join("same"), "the same").unwrap();
    };
    let said = |work: &Work, meanwhile: &dyn Fn(&Path)| {
        let error = secured_after(work, meanwhile).unwrap_err().to_string();
        assert!(pending(&work.layout, NOW).unwrap().is_none(), "{error}");
        error
    };
    let born = |root: &Path| {
        std::fs::write(root.join("swapped/x"), "two").unwrap();
        fifo(&root.join("swapped/pipe"));
    };
    let error = said(&Work::new(before, after), &born);
    assert!(error.contains("holds a file that no snapshot has") && error.contains("pipe"), "{error}");
    let work = Work::new(before, after);
    damage(&work, b"the same");
    let error = said(&work, &|root| std::fs::write(root.join("same"), "another").unwrap());
    assert!(error.contains("needed for same; nothing was changed"), "{error}");
    secured_after(&Work::new(before, after), |root| std::fs::write(root.join("same"), "another").unwrap()).unwrap();
}

#[test]
fn a_pending_restore_tells_which_way_it_goes_and_what_it_needs() {
    let work = Work::of_everything();
    let before = work.listing();
    assert!(needed(&work.layout).unwrap().is_empty());
    work.begin(3, |_| {});
    let found = pending(&work.layout, NOW).unwrap().unwrap();
    assert!(found.is_readable && !found.is_aborting);
    assert_eq!(needed(&work.layout).unwrap(), [found.safety, work.target]);
    let (folder, journal) = begun(&work);
    journal::write(&folder, &Journal { direction: Direction::Back, ..journal }).unwrap();
    assert!(pending(&work.layout, NOW).unwrap().unwrap().is_aborting);
    assert!(resume(&work.layout, NOW).unwrap().record.is_none(), "it goes on the way that it was going");
    assert_eq!(work.listing(), before);
    assert!(needed(&work.layout).unwrap().is_empty());
    work.restore().unwrap();
    assert_eq!(needed(&work.layout).unwrap(), [found.safety, work.target]);
}

#[test]
fn what_was_staged_for_going_on_is_not_in_the_way_of_going_on_again() {
    let work = Work::of_everything();
    let target = work.target_listing();
    work.begin(4, |_| {});
    std::fs::write(begun(&work).0.stage().join("1-0"), "half writ").unwrap();
    assert!(resume(&work.layout, NOW).unwrap().rescued.is_empty(), "it was ours");
    assert_eq!(work.listing(), target);

    // Once more, killed when the journal of the second try was there and none of its steps was done.
    let work = Work::of_everything();
    work.begin(0, |_| {});
    let (folder, journal) = begun(&work);
    for name in disk::list(&folder.stage()).unwrap() {
        let name = name.into_string().unwrap();
        let again = format!("1{}", name.strip_prefix('0').unwrap());
        std::fs::rename(folder.stage().join(&name), folder.stage().join(again)).unwrap();
    }
    journal::write(&folder, &Journal { generation: 1, ..journal }).unwrap();
    assert!(resume(&work.layout, NOW).unwrap().rescued.is_empty());
    assert_eq!(work.listing(), target);
}

// PROMISES W8: killed between the swap of two names and the old file's way to the trash.
#[test]
fn what_was_swapped_into_the_stage_is_rescued_from_there() {
    let work = Work::of_everything();
    let target = work.target_listing();
    work.begin(0, |root| std::fs::write(root.join("edited"), "three").unwrap());
    let (folder, journal) = begun(&work);
    let step = journal.ops.iter().position(|op| op.path.to_string() == "edited").unwrap();
    let (staged, place) = (folder.stage().join(journal.name_of(step)), work.root().join("edited"));
    let aside = work.root().join("aside");
    std::fs::rename(&staged, &aside).unwrap();
    std::fs::rename(&place, &staged).unwrap();
    std::fs::rename(&aside, &place).unwrap();
    assert_eq!(texts(&resume(&work.layout, NOW).unwrap().rescued), ["edited"]);
    assert_eq!(work.listing(), target);
    let rescued = work.layout.restore_dir(1).join("rescued/edited");
    assert_eq!(std::fs::read_to_string(rescued).unwrap(), "three");
}

#[test]
fn going_back_needs_the_tree_as_it_was_and_nothing_else() {
    for is_readable in [true, false] {
        let work = Work::of_everything();
        let before = work.listing();
        work.begin(9, |_| {});
        let (folder, mut journal) = begun(&work);
        journal.record.target = ObjectId([9; 32]);
        journal::write_intent(&folder, &journal.record).unwrap();
        journal::write(&folder, &journal).unwrap();
        if !is_readable {
            std::fs::write(folder.journal(), "cut").unwrap();
        }
        let half_way = work.listing();
        assert!(resume(&work.layout, NOW).is_err());
        assert_eq!(work.listing(), half_way);
        // What the steps were, either the journal tells or both trees do.
        assert_eq!(abort(&work.layout, NOW).is_ok(), is_readable);
        assert_eq!(work.listing(), if is_readable { before } else { half_way });
    }
}

// PROMISES W1.
#[test]
fn going_back_from_an_undo_does_not_need_what_was_undone() {
    let work = Work::of_everything();
    let before = work.listing();
    work.begin(9, |_| {});
    let (folder, mut journal) = begun(&work);
    // Of that restore there is no record any more, so nobody knows what it added.
    journal.record.undoes = Some(7);
    journal::write_intent(&folder, &journal.record).unwrap();
    journal::write(&folder, &journal).unwrap();
    let half_way = work.listing();
    assert!(resume(&work.layout, NOW).is_err());
    assert_eq!(work.listing(), half_way);
    abort(&work.layout, NOW).unwrap();
    assert_eq!(work.listing(), before);
}

// PROMISES W3.
#[test]
fn what_no_snapshot_can_hold_stays_or_stops_going_on() {
    let work = Work::of_everything();
    work.begin(0, |root| fifo(&root.join("new")));
    assert!(!pending(&work.layout, NOW).unwrap().unwrap().safe_to_finish());
    assert_eq!(texts(&resume(&work.layout, NOW).unwrap().kept), ["new"]);
    assert!(!std::fs::symlink_metadata(work.root().join("new")).unwrap().is_file());

    let work = Work::of_everything();
    work.begin(0, |root| fifo(&root.join("gone")));
    let error = resume(&work.layout, NOW).unwrap_err();
    assert!(error.to_string().contains("in the way") && error.help.is_some(), "{error}");
    assert_eq!(std::fs::read_to_string(work.root().join("edited")).unwrap(), "two, and longer");
    assert_eq!(texts(&abort(&work.layout, NOW).unwrap().kept), ["gone"]);
}

#[test]
fn what_was_to_go_and_went_by_itself_is_no_error_and_what_was_to_stay_is() {
    let work = Work::of_everything();
    let target = work.target_listing();
    work.restore_with(|root| std::fs::remove_dir_all(root.join("more")).unwrap()).unwrap();
    assert_eq!(work.listing(), target);

    let work = Work::of_everything();
    let error = work.restore_with(|root| std::fs::remove_file(root.join("run.sh")).unwrap()).unwrap_err();
    assert!(error.to_string().contains("run.sh"), "{error}");

    // The mode was for a file.
    let work = Work::of_everything();
    let swap = |root: &Path| {
        std::fs::remove_file(root.join("run.sh")).unwrap();
        std::fs::create_dir(root.join("run.sh")).unwrap();
        mode(&root.join("run.sh"), 0o700);
    };
    assert!(work.restore_with(swap).is_err());
    assert_eq!(std::fs::metadata(work.root().join("run.sh")).unwrap().mode() & 0o777, 0o700);
}
