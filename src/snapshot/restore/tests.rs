//! Restores that are interrupted after each of their steps, and trees that somebody works on meanwhile.

mod again;
mod meanwhile;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;

/// No waiting for locks.
const NOW: Duration = Duration::ZERO;

/// A work tree with one stored snapshot of it, and edits after that.
struct Work {
    dir: tempfile::TempDir,
    layout: Layout,
    capture: Capture,
    limits: Limits,
    target: ObjectId,
}

type Listing = BTreeMap<PathBuf, String>;

/// Every path of the work tree with its kind, mode and content.
fn listing(root: &Path) -> Listing {
    let mut found = Listing::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let what = if meta.is_symlink() {
                format!("link {:?}", std::fs::read_link(&path).unwrap())
            } else if meta.is_dir() {
                if name != Path::new(".progress") {
                    waiting.push(path);
                }
                format!("directory {:o}", meta.mode() & 0o777)
            } else {
                format!("file {:o} {:?}", meta.mode() & 0o777, std::fs::read(&path).unwrap())
            };
            found.insert(name, what);
        }
    }
    found
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

impl Work {
    /// `before` makes the tree that is stored, `after` changes it.
    fn new(before: impl Fn(&Path), after: impl Fn(&Path)) -> Work {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::open_store(&layout).unwrap();
        let capture = Capture { include: Vec::new(), exclude: Vec::new() };
        let limits = Limits { reports: 10, report_bytes: 1 << 20, file_bytes: 1 << 20 };
        before(dir.path());
        let target = capture::capture(&layout, &capture, &limits, &[], &[], &|_, _| {}).unwrap().0.root;
        after(dir.path());
        Work { dir, layout, capture, limits, target }
    }

    /// All kinds of changes at once.
    fn of_everything() -> Work {
        let before = |root: &Path| {
            std::fs::create_dir_all(root.join("swap/dir")).unwrap();
            std::fs::write(root.join("edited"), "one").unwrap();
            std::fs::write(root.join("same"), "same").unwrap();
            std::fs::write(root.join("gone"), "gone").unwrap();
            std::fs::write(root.join("swap/dir/x"), "x").unwrap();
            std::fs::write(root.join("swap/file"), "file").unwrap();
            symlink("file", root.join("swap/link")).unwrap();
            symlink("one", root.join("points")).unwrap();
            std::fs::create_dir(root.join("empty")).unwrap();
            std::fs::create_dir(root.join("closed")).unwrap();
            std::fs::write(root.join("closed/in"), "in").unwrap();
            mode(&root.join("closed"), 0o555);
            std::fs::write(root.join("run.sh"), "#!").unwrap();
            mode(&root.join("run.sh"), 0o755);
        };
        let after = |root: &Path| {
            std::fs::write(root.join("edited"), "two, and longer").unwrap();
            std::fs::remove_file(root.join("gone")).unwrap();
            std::fs::write(root.join("new"), "new").unwrap();
            std::fs::create_dir_all(root.join("more/deep")).unwrap();
            std::fs::write(root.join("more/deep/file"), "deep").unwrap();
            std::fs::remove_dir(root.join("empty")).unwrap();
            mode(&root.join("run.sh"), 0o644);
            mode(&root.join("closed"), 0o755);
            std::fs::write(root.join("closed/in"), "other").unwrap();
            std::fs::remove_file(root.join("points")).unwrap();
            symlink("two", root.join("points")).unwrap();
            std::fs::remove_dir_all(root.join("swap")).unwrap();
            std::fs::create_dir_all(root.join("swap/link/below")).unwrap();
            std::fs::create_dir(root.join("swap/file")).unwrap();
            std::fs::write(root.join("swap/file/now"), "a directory").unwrap();
            symlink("../..", root.join("swap/dir")).unwrap();
        };
        Work::new(before, after)
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn listing(&self) -> Listing {
        listing(self.root())
    }

    fn options(&self) -> Options<'_> {
        Options {
            paths: &[],
            into: None,
            dry_run: false,
            origin: None,
            capture: &self.capture,
            limits: &self.limits,
            wait: std::time::Duration::from_secs(10),
            now: DateTime::UNIX_EPOCH,
        }
    }

    fn restore(&self) -> Result<Outcome> {
        restore(&self.layout, self.target, &self.options())
    }

    fn undo(&self) -> Result<Outcome> {
        undo(&self.layout, &self.capture, &self.limits, DateTime::UNIX_EPOCH)
    }

    /// The stored tree, as a copy of it would be listed.
    fn target_listing(&self) -> Listing {
        let place = tempfile::tempdir().unwrap();
        restore(&self.layout, self.target, &Options { into: Some(place.path()), ..self.options() }).unwrap();
        let mut listed = listing(place.path());
        listed.insert(PathBuf::from(".progress"), "directory 700".to_owned());
        listed
    }

    /// Goes on with a restore that is planned and secured, after something happened to the work tree.
    fn once_secured<T>(
        &self,
        meanwhile: impl FnOnce(&Path),
        go_on: impl FnOnce(Prepared<'_>, Journal, &Folder) -> T,
    ) -> T {
        let request = self.request();
        let survey = capture::survey(&self.layout, &self.capture, &self.limits, Stored::Trusted).unwrap();
        let prepared = Prepared::new(&self.layout, &survey, &request).unwrap();
        let folder = Folder::make_next(&self.layout).unwrap();
        let (prepared, journal) = prepared.secure(survey, &folder).unwrap();
        meanwhile(self.root());
        go_on(prepared, journal, &folder)
    }

    fn restore_with(&self, meanwhile: impl FnOnce(&Path)) -> Result<Outcome> {
        self.once_secured(meanwhile, |prepared, journal, folder| {
            let job = Job {
                layout: &self.layout,
                tree: &prepared.tree,
                folder,
                journal,
                target: &prepared.compared.target,
                safety: &prepared.compared.found,
            };
            job.carry_out(prepared.plan)
        })
    }

    fn request(&self) -> Request<'_> {
        Request {
            target: self.target,
            paths: Vec::new(),
            origin: None,
            undoes: None,
            gave: None,
            capture: &self.capture,
            limits: &self.limits,
            now: DateTime::UNIX_EPOCH,
        }
    }

    /// Writes the journal and does `steps` steps, as a process would that is killed then. Answers how many there are.
    fn begin(&self, steps: usize, meanwhile: impl Fn(&Path)) -> usize {
        self.once_secured(meanwhile, |prepared, journal, folder| {
            let mut worker = apply::Worker::new(&prepared.tree, folder).unwrap();
            for (index, op) in journal.ops.iter().enumerate().take(steps) {
                worker.step(op, &journal.name_of(index)).unwrap();
            }
            journal.ops.len()
        })
    }

    fn is_clean(&self) -> bool {
        let names = disk::list(&self.layout.restores()).unwrap();
        names.iter().all(|name| name.to_str().unwrap().ends_with(".json"))
    }
}

#[test]
fn a_restore_gives_back_everything_and_undo_takes_it_back_and_forth() {
    let work = Work::of_everything();
    let (before, target) = (work.listing(), work.target_listing());
    let outcome = work.restore().unwrap();
    assert_eq!(work.listing(), target);
    assert_eq!(outcome.record.as_ref().map(|record| record.number), Some(1));
    assert!(outcome.rescued.is_empty() && outcome.kept.is_empty(), "{outcome:?}");
    assert_eq!(newest_record(&work.layout).unwrap(), outcome.record);
    assert!(work.is_clean());
    assert_eq!(work.undo().unwrap().record.and_then(|record| record.undoes), Some(1));
    assert_eq!(work.listing(), before);
    assert_eq!(work.undo().unwrap().record.and_then(|record| record.undoes), Some(2));
    assert_eq!(work.listing(), target);
    assert!(work.is_clean());
}

// PROMISES W2, F95.
#[test]
fn a_restore_interrupted_after_any_step_goes_on_or_goes_back() {
    let steps = Work::of_everything().begin(0, |_| {});
    assert!(steps > 15, "{steps}");
    for done in 0..=steps {
        let work = Work::of_everything();
        let (before, target) = (work.listing(), work.target_listing());
        work.begin(done, |_| {});
        let found = pending(&work.layout, NOW).unwrap().unwrap();
        assert!(found.safe_to_finish(), "after {done} steps: {:?}", found.changed);
        assert!(work.restore().unwrap_err().help.as_deref().unwrap().contains("--resume"));
        let outcome = resume(&work.layout, NOW).unwrap();
        assert_eq!(work.listing(), target, "resumed after {done} steps");
        assert!(outcome.rescued.is_empty(), "{outcome:?}");
        assert!(pending(&work.layout, NOW).unwrap().is_none() && work.is_clean());
        work.undo().unwrap();
        assert_eq!(work.listing(), before, "undone after {done} steps");

        let work = Work::of_everything();
        work.begin(done, |_| {});
        let outcome = abort(&work.layout, NOW).unwrap();
        assert_eq!(work.listing(), before, "aborted after {done} steps");
        assert!(outcome.record.is_none() && outcome.rescued.is_empty());
        assert!(pending(&work.layout, NOW).unwrap().is_none() && work.is_clean());
        assert!(newest_record(&work.layout).unwrap().is_none());
    }
}

#[test]
fn a_restore_killed_before_its_journal_or_after_its_record_leaves_nothing_to_do() {
    let work = Work::of_everything();
    let before = work.listing();
    work.begin(0, |_| {});
    std::fs::remove_file(work.layout.restore_dir(1).join("journal")).unwrap();
    assert!(pending(&work.layout, NOW).unwrap().is_none());
    assert_eq!(work.listing(), before);
    work.restore().unwrap();
    let folder = Folder::of(&work.layout, 1);
    std::fs::create_dir_all(folder.trash()).unwrap();
    std::fs::write(folder.journal(), "left over").unwrap();
    std::fs::write(folder.trash().join("0-1"), "left over").unwrap();
    assert!(pending(&work.layout, NOW).unwrap().is_none(), "its record is there, so it has ended");
    work.undo().unwrap();
    assert_eq!(work.listing(), before);
    assert!(work.is_clean());
}

// PROMISES H4: hooks have less time than people.
#[test]
fn a_restore_that_is_running_is_waited_for_as_long_as_the_caller_says() {
    let work = Work::of_everything();
    work.begin(1, |_| {});
    let running = Lock::exclusive(&work.layout.lock(), NOW).unwrap();
    for error in [
        pending(&work.layout, NOW).unwrap_err(),
        resume(&work.layout, NOW).unwrap_err(),
        abort(&work.layout, NOW).unwrap_err(),
    ] {
        assert!(error.to_string().contains("busy"), "{error}");
    }
    drop(running);
    assert!(pending(&work.layout, NOW).unwrap().is_some());
}

// PROMISES S73.
#[test]
fn a_damaged_or_lost_journal_stops_and_can_be_aborted() {
    let steps = Work::of_everything().begin(0, |_| {});
    for lost in [false, true] {
        let work = Work::of_everything();
        let before = work.listing();
        work.begin(steps - 2, |_| {});
        let journal = Folder::of(&work.layout, 1).journal();
        if lost {
            std::fs::remove_file(journal).unwrap();
        } else {
            std::fs::write(journal, "highwater restore journal 00").unwrap();
        }
        let found = pending(&work.layout, NOW).unwrap().unwrap();
        assert!(!found.safe_to_finish() && !found.is_readable);
        assert!(resume(&work.layout, NOW).is_err());
        abort(&work.layout, NOW).unwrap();
        assert_eq!(work.listing(), before);
        assert!(work.is_clean());
    }
}

// PROMISES W8, W4.
#[test]
fn a_file_edited_while_we_restore_is_rescued_and_comes_back_with_undo() {
    let work = Work::of_everything();
    let mut before = work.listing();
    let target = work.target_listing();
    let edit = |root: &Path| {
        for (name, text) in [("edited", "three"), ("new", "newer"), ("gone", "born")] {
            std::fs::write(root.join(name), text).unwrap();
            mode(&root.join(name), 0o644);
        }
    };
    work.begin(0, edit);
    let found = pending(&work.layout, NOW).unwrap().unwrap();
    assert!(!found.safe_to_finish());
    assert_eq!(found.changed.len(), 3, "{:?}", found.changed);
    let outcome = resume(&work.layout, NOW).unwrap();
    let rescued = |name: &str| std::fs::read_to_string(work.layout.restore_dir(1).join("rescued").join(name)).ok();
    assert_eq!(outcome.rescued.iter().map(ToString::to_string).collect::<Vec<_>>(), ["edited", "gone"]);
    assert_eq!((rescued("edited").as_deref(), rescued("gone").as_deref()), (Some("three"), Some("born")));
    assert_eq!(outcome.rescued_at, [".progress/restores/1/rescued/edited", ".progress/restores/1/rescued/gone"]);
    // Where nothing was to be, the new file of somebody else stays.
    assert_eq!(outcome.kept.iter().map(ToString::to_string).collect::<Vec<_>>(), ["new"]);
    let mut expected = target.clone();
    expected.insert("new".into(), "file 644 [110, 101, 119, 101, 114]".into());
    assert_eq!(work.listing(), expected);
    work.undo().unwrap();
    before.insert("edited".into(), format!("file 644 {:?}", b"three"));
    before.insert("gone".into(), format!("file 644 {:?}", b"born"));
    assert_eq!(work.listing(), before.clone());
}

// PROMISES W2.
#[test]
fn a_file_that_somebody_put_in_a_directory_s_place_is_work_too() {
    let before = |root: &Path| {
        std::fs::create_dir(root.join("stays")).unwrap();
        std::fs::write(root.join("stays/in"), "one").unwrap();
    };
    let work = Work::new(before, |root| std::fs::write(root.join("stays/in"), "two").unwrap());
    work.begin(0, |root| {
        std::fs::remove_dir_all(root.join("stays")).unwrap();
        std::fs::write(root.join("stays"), "mine").unwrap();
    });
    let changed = || pending(&work.layout, NOW).unwrap().unwrap().changed;
    assert_eq!(changed(), [TreePath::new("stays").unwrap()]);
    std::fs::remove_file(work.root().join("stays")).unwrap();
    assert_eq!(changed(), [], "what is gone is nobody's work");
    symlink("/", work.root().join("stays")).unwrap();
    assert_eq!(changed(), [TreePath::new("stays").unwrap()]);
    assert_eq!(resume(&work.layout, NOW).unwrap().rescued_at, [".progress/restores/1/rescued/stays"]);
    assert_eq!(work.listing(), work.target_listing());
}

#[test]
fn what_is_rescued_on_the_way_back_is_told_with_its_place() {
    let work = Work::of_everything();
    let before = work.listing();
    let steps = work.begin(usize::MAX, |_| {});
    assert!(steps > 0);
    std::fs::write(work.root().join("edited"), "three").unwrap();
    let outcome = abort(&work.layout, NOW).unwrap();
    assert_eq!(work.listing(), before);
    assert_eq!(outcome.rescued.iter().map(ToString::to_string).collect::<Vec<_>>(), ["edited"]);
    assert_eq!(outcome.rescued_at, [".progress/restores/1/rescued/edited"]);
    assert!(outcome.record.is_none());
    assert_eq!(std::fs::read_to_string(work.root().join(&outcome.rescued_at[0])).unwrap(), "three");
}

#[test]
fn an_edit_between_planning_and_swapping_is_rescued_without_any_interruption() {
    let work = Work::of_everything();
    let edit = |root: &Path| {
        std::fs::write(root.join("edited"), "three").unwrap();
        std::fs::write(root.join("new"), "newer").unwrap();
        std::fs::write(root.join("more/deep/born"), "born").unwrap();
    };
    let outcome = work.restore_with(edit).unwrap();
    assert_eq!(outcome.rescued.iter().map(ToString::to_string).collect::<Vec<_>>(), ["edited", "new"]);
    // A directory in which somebody put a file stays, with the file.
    assert_eq!(outcome.kept.iter().map(ToString::to_string).collect::<Vec<_>>(), ["more", "more/deep"]);
    assert_eq!(std::fs::read_to_string(work.root().join("more/deep/born")).unwrap(), "born");
    work.undo().unwrap();
    assert_eq!(std::fs::read_to_string(work.root().join("edited")).unwrap(), "three");
    assert_eq!(std::fs::read_to_string(work.root().join("new")).unwrap(), "newer");
}

// PROMISES W5.
#[test]
fn a_directory_swapped_for_a_link_stops_the_restore_and_nothing_outside_changes() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("deep")).unwrap();
    for name in ["x", "in", "now", "file", "deep/file"] {
        std::fs::write(outside.path().join(name), "outside").unwrap();
    }
    let kept = listing(outside.path());
    for folder in ["swap", "closed", "more"] {
        let steps = Work::of_everything().begin(0, |_| {});
        for done in 0..steps {
            let work = Work::of_everything();
            work.begin(done, |_| {});
            let Ok(()) = std::fs::rename(work.root().join(folder), outside.path().join("moved")) else { continue };
            symlink(outside.path(), work.root().join(folder)).unwrap();
            // It may refuse or stop; it may not leave the tree.
            let _ = resume(&work.layout, NOW);
            let moved = listing(&outside.path().join("moved"));
            let _ = abort(&work.layout, NOW);
            assert_eq!(listing(&outside.path().join("moved")), moved);
            std::fs::remove_dir_all(outside.path().join("moved")).unwrap();
            assert_eq!(listing(outside.path()), kept, "{folder} after {done} steps");
        }
    }
}

#[test]
fn what_is_told_counts_what_lies_in_equal_folders() {
    let before = |root: &Path| {
        std::fs::create_dir_all(root.join("equal/in")).unwrap();
        std::fs::write(root.join("equal/same"), "same").unwrap();
        std::fs::write(root.join("equal/in/same"), "same").unwrap();
        std::fs::write(root.join("equal/in/large"), vec![0; (1 << 20) + 1]).unwrap();
        std::fs::write(root.join("edited"), "one").unwrap();
    };
    let work = Work::new(before, |root| std::fs::write(root.join("edited"), "other").unwrap());
    let told = restore(&work.layout, work.target, &Options { dry_run: true, ..work.options() }).unwrap();
    let done = work.restore().unwrap();
    for outcome in [told, done] {
        assert_eq!((outcome.unchanged, outcome.restored.len(), outcome.removed.len()), (2, 1, 0));
        assert_eq!(outcome.unheld.iter().map(ToString::to_string).collect::<Vec<_>>(), ["equal/in/large"]);
    }
}

#[test]
fn a_path_that_the_tree_does_not_have_is_refused_wherever_it_is_to_go() {
    let work = Work::of_everything();
    let (paths, elsewhere) = ([TreePath::new("absent").unwrap()], tempfile::tempdir().unwrap());
    for into in [None, Some(elsewhere.path())] {
        let options = Options { paths: &paths, into, ..work.options() };
        let error = restore(&work.layout, work.target, &options).unwrap_err();
        assert!(error.to_string().contains("no such path"), "{error}");
    }
}

// PROMISES W3.
#[test]
fn a_directory_that_came_in_the_place_of_a_file_stays_with_what_is_in_it() {
    let work = Work::of_everything();
    // One is to be replaced, the other is to go.
    let swap = |root: &Path| {
        for name in ["edited", "new"] {
            std::fs::remove_file(root.join(name)).unwrap();
            std::fs::create_dir(root.join(name)).unwrap();
            std::fs::write(root.join(name).join("mine"), "mine").unwrap();
        }
    };
    assert!(work.restore_with(swap).is_err());
    for name in ["edited/mine", "new/mine"] {
        assert_eq!(std::fs::read_to_string(work.root().join(name)).unwrap(), "mine", "{name}");
    }
    let pending = restore(&work.layout, work.target, &Options { dry_run: true, ..work.options() }).unwrap_err();
    assert!(pending.to_string().contains("still pending"), "{pending}");
}
