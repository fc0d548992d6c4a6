//! Histories that somebody changed after the fact: what `verify` finds by itself, what it finds only against a head that was
//! kept outside, and that it says so (PROMISES H6, H7).
//!
//! The forger is thorough: whatever is derived is gone, and artifacts are moved along with their records.

use highwater::model::ids::{Iteration, ObjectId};
use highwater::model::record::IterationRecord;
use highwater::store::{encode, parse};

use crate::support::Project;

/// The last iteration of [`history`].
const LAST: u32 = 4;

/// A loop of five iterations, each with another number of tests.
fn history() -> Project {
    let project = Project::new();
    let all = [("a", true), ("b", true), ("c", true), ("d", true), ("e", true), ("f", true)];
    for n in 0..=LAST {
        project.write("src/lib.py", format!("x = {n}\n"));
        project.tests(&all[..2 + usize::try_from(n).unwrap()]);
        project.run(if n == 0 { &["begin", "--loop", "told"] } else { &["record"] }).expect(0);
    }
    project
}

/// A history in the hands of a forger.
struct Forger<'a> {
    project: &'a Project,
    records: Vec<IterationRecord>,
}

impl Forger<'_> {
    fn of(project: &Project) -> Forger<'_> {
        let read = |n| parse(project.read(&record_name(n)).as_bytes()).unwrap();
        Forger { project, records: (0..=LAST).map(read).collect() }
    }

    /// Makes each record name the one before it.
    fn chain(&mut self) {
        let mut before: Option<ObjectId> = None;
        for record in &mut self.records {
            record.previous_record = before;
            before = Some(highwater::disk::hash::id_of(&encode(record).unwrap()));
        }
    }

    /// Gives each record the number of its place, and whatever belongs to it the folder of that number.
    fn renumber(&mut self) {
        let folder = |n: u32| self.project.path(&format!(".progress/told/iterations/iteration-{n:03}"));
        let aside = self.project.path(".progress/told/aside");
        std::fs::create_dir(&aside).unwrap();
        for record in &self.records {
            let number = record.iteration.0;
            let _ = std::process::Command::new("cp").arg("-a").arg(folder(number)).arg(&aside).status().unwrap();
        }
        std::fs::remove_dir_all(self.project.path(".progress/told/iterations")).unwrap();
        std::fs::create_dir(self.project.path(".progress/told/iterations")).unwrap();
        for (place, record) in (0..).zip(&mut self.records) {
            let from = aside.join(format!("iteration-{:03}", record.iteration.0));
            let to = self.project.path(&format!(".progress/told/iterations/iteration-{place:03}"));
            assert!(std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
            record.iteration = Iteration(place);
            record.parent = place.checked_sub(1).map(Iteration);
        }
        std::fs::remove_dir_all(aside).unwrap();
    }

    /// Writes the history, and takes away what is derived from the true one.
    fn write(&self) {
        let loop_folder = self.project.path(".progress/told");
        for derived in ["progress", "reports"] {
            std::fs::remove_dir_all(loop_folder.join(derived)).unwrap();
            std::fs::create_dir(loop_folder.join(derived)).unwrap();
        }
        let _ = std::fs::remove_file(loop_folder.join("best-tracker.json"));
        for iteration in std::fs::read_dir(loop_folder.join("iterations")).unwrap() {
            for derived in ["metrics.json", "manifest.json"] {
                std::fs::remove_file(iteration.as_ref().unwrap().path().join(derived)).unwrap();
            }
        }
        for record in &self.records {
            std::fs::write(self.project.path(&record_name(record.iteration.0)), encode(record).unwrap()).unwrap();
        }
    }
}

fn record_name(n: u32) -> String {
    let kind = if n == 0 { "baseline" } else { "metrics" };
    format!(".progress/told/progress/iteration-{n:03}-{kind}.json")
}

/// What finds an attack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// `verify`.
    Alone,
    /// `verify --recompute`: what is claimed is not in the evidence.
    ByEvidence,
    /// Only `verify --head N:HASH`, as H6 declares.
    WithHead,
}

type Attack = (&'static str, Found, fn(&mut Forger));

fn edit(record: &mut IterationRecord) {
    record.acceptable = !record.acceptable;
    record.label = Some("better than it was".into());
}

/// Swaps two iterations: each gets the other's number.
fn swap(forger: &mut Forger) {
    forger.records.swap(1, 2);
    forger.renumber();
}

fn insert(forger: &mut Forger) {
    let copy = IterationRecord { label: Some("never happened".into()), ..forger.records[2].clone() };
    forger.records.insert(3, copy);
    forger.renumber();
}

fn drop_one(forger: &mut Forger) {
    forger.records.remove(2);
    forger.renumber();
}

const ATTACKS: [Attack; 14] = [
    ("edit a record", Found::Alone, |forger| edit(&mut forger.records[2])),
    ("edit the baseline", Found::Alone, |forger| edit(&mut forger.records[0])),
    ("edit the newest record's words", Found::WithHead, |forger| forger.records[4].label = Some("praise".into())),
    ("edit the newest record's numbers", Found::ByEvidence, |forger| {
        let testing = forger.records[4].metrics.testing.as_mut().unwrap();
        testing.test_count = testing.test_count.map(|count| count + 1);
        testing.tests_passed = testing.tests_passed.map(|passed| passed + 1);
    }),
    ("insert a record", Found::Alone, insert),
    ("insert a record and chain again", Found::WithHead, |forger| {
        insert(forger);
        forger.chain();
    }),
    ("swap two records", Found::Alone, swap),
    ("swap two records and chain again", Found::WithHead, |forger| {
        swap(forger);
        forger.chain();
    }),
    ("drop a record and leave the gap", Found::Alone, |forger| drop(forger.records.remove(2))),
    ("drop a record and close the gap", Found::Alone, drop_one),
    ("drop a record, close the gap and chain again", Found::WithHead, |forger| {
        drop_one(forger);
        forger.chain();
    }),
    ("edit a record and chain again", Found::WithHead, |forger| {
        edit(&mut forger.records[2]);
        forger.chain();
    }),
    ("cut the tail", Found::WithHead, |forger| forger.records.truncate(3)),
    ("write everything anew", Found::WithHead, |forger| {
        forger.records.iter_mut().for_each(edit);
        forger.chain();
    }),
];

#[test]
fn each_attack_on_a_history_is_found_or_declared_not_found() {
    for (what, expected, attack) in ATTACKS {
        let project = history();
        let honest = project.run(&["verify", "--json"]).expect(0).json();
        let head = format!("{}:{}", honest["head_iteration"], honest["head"].as_str().unwrap());
        project.run(&["verify", "--head", &head, "--recompute"]).expect(0);
        let mut forger = Forger::of(&project);
        attack(&mut forger);
        forger.write();

        let alone = project.run(&["verify"]);
        assert_eq!(alone.code, if expected == Found::Alone { 65 } else { 0 }, "{what}: {alone:?}");
        if expected == Found::Alone {
            assert!(alone.stdout.contains("progress/iteration-"), "{what}: {alone:?}");
        } else {
            // Nothing is claimed that was not proved.
            assert!(alone.stdout.contains("shows only against a head kept outside"), "{what}: {alone:?}");
        }
        let evidence = project.run(&["verify", "--recompute"]);
        assert!(expected != Found::ByEvidence || evidence.code == 65, "{what}: {evidence:?}");
        let with_head = project.run(&["verify", "--head", &head]).expect(65);
        let is_by_head = with_head.stdout.contains("the head");
        assert!(is_by_head || expected == Found::Alone, "{what}: {with_head:?}");
    }
}

// Who only edits, and leaves the derived files as they are, is found without a head too.
#[test]
fn the_newest_record_and_the_trajectory_watch_each_other() {
    let project = history();
    let newest = record_name(LAST);
    let text = project.read(&newest);
    std::fs::write(
        project.path(&newest),
        text.replace("\"iteration\": 4,", "\"label\": \"praise\",\n  \"iteration\": 4,"),
    )
    .unwrap();
    let verified = project.run(&["verify"]).expect(65);
    assert!(verified.stdout.contains("iteration-004-metrics.json: trajectory.json"), "{verified:?}");
    std::fs::remove_file(project.path(&newest)).unwrap();
    let verified = project.run(&["verify"]).expect(65);
    assert!(verified.stdout.contains("cut off"), "{verified:?}");
    // A trajectory that is older than the newest record, as a killed `record` leaves it, is none.
    std::fs::write(project.path(&newest), text).unwrap();
    let trajectory = project.read(".progress/told/progress/trajectory.json");
    project.run(&["record", "--skip", "test"]).expect(0);
    std::fs::write(project.path(".progress/told/progress/trajectory.json"), trajectory).unwrap();
    project.run(&["verify"]).expect(0);
}
