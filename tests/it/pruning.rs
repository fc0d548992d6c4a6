//! `prune`, `verify --repair` and what `loops` says of the disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use highwater::snapshot::objects::id_of;
use serde_json::json;

use crate::support::{Project, assert_shape, overwrite};

/// A loop of five iterations whose peak is the third; iteration 1 and 3 hold what no other does.
fn five(id: &str) -> Project {
    let project = Project::new();
    for n in 0..5usize {
        iteration(&project, n);
        let command = if n == 0 { "begin" } else { "record" };
        project.run(&[command, "--loop", id]).expect(0);
    }
    project
}

fn iteration(project: &Project, n: usize) {
    project.write("src/lib.py", format!("x = {n}\n"));
    project.write("data/of", noise(n));
    let tests = [("a", true), ("b", true), ("c", n != 1), ("d", n == 2)];
    project.tests(&tests);
}

/// Text that does not compress to nothing, another for each number.
fn noise(n: usize) -> String {
    let mut hash = n as u64 + 1;
    let mut word = || {
        hash = hash.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{hash:x}\n")
    };
    (0..300).map(|_| word()).collect()
}

fn packs(project: &Project) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project.path(".progress/objects")).unwrap();
    let mut packs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    packs.sort();
    packs
}

/// As if everything so far had been stored three days ago.
fn grow_old(project: &Project) {
    let then = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
    for pack in packs(project) {
        std::fs::File::open(pack).unwrap().set_modified(then).unwrap();
    }
}

fn stored(project: &Project) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walkdir::WalkDir::new(project.path(".progress")).into_iter().map(|entry| entry.unwrap());
    let files = files.filter(|entry| entry.file_type().is_file() && entry.file_name() != "lock");
    files.map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn a_closed_loop_keeps_what_its_config_names_and_every_record() {
    let project = five("done");
    project.run(&["finish"]).expect(0);
    assert_eq!(project.read("src/lib.py"), "x = 2\n");
    let reports = ["report", "1", "--loop", "done"];
    let report = project.run(&reports).expect(0).stdout;
    grow_old(&project);
    let before = stored(&project);
    let planned = project.run(&["prune", "--dry-run", "--json"]).expect(0).json();
    assert_shape("prune", &planned);
    assert_eq!(planned["loops"], json!([{"loop_id": "done", "let_go": [1, 3]}]));
    assert_eq!(stored(&project), before, "a dry run changes nothing");
    let done = project.run(&["prune", "--json"]).expect(0).json();
    assert_eq!((&done["dropped_objects"], &done["dry_run"]), (&planned["dropped_objects"], &json!(false)));
    assert!(done["dropped_objects"].as_u64().unwrap() >= 4, "{done}");
    assert_shape("pruned", &serde_json::from_str(&project.read(".progress/done/pruned.json")).unwrap());
    // Records, artifacts and reports are as they were.
    for (path, bytes) in before.iter().filter(|(path, _)| path.starts_with(project.path(".progress/done"))) {
        assert_eq!(&std::fs::read(path).unwrap(), bytes, "{}", path.display());
    }
    let verified = project.run(&["verify", "--json", "--recompute"]).expect(0).json();
    assert_shape("verify", &verified);
    assert_eq!((&verified["restorable"], &verified["let_go"]), (&json!([0, 2, 4]), &json!([1, 3])));
    for (n, into) in [("0", "zero"), ("2", "two"), ("4", "four")] {
        project.run(&["restore", n, "--into", into]).expect(0);
        assert_eq!(project.read(&format!("{into}/data/of")), noise(n.parse().unwrap()));
    }
    let refused = project.run(&["restore", "1"]).expect(65);
    assert!(refused.stderr.contains("let go by `highwater prune`"), "{refused:?}");
    // What was in the snapshots that are gone is still known by name.
    assert_eq!(project.run(&reports).expect(0).stdout, report);
    let diff = project.run(&["diff", "1", "3", "--json"]).expect(0).json();
    assert!(diff["files"].to_string().contains("data/of"), "{diff}");
    let again = project.run(&["prune"]).expect(0);
    assert!(again.stdout.contains("nothing to drop"), "{again:?}");
}

#[test]
fn the_way_back_and_open_loops_lose_nothing() {
    let project = five("open");
    grow_old(&project);
    let before = packs(&project);
    assert_eq!(project.run(&["prune", "--json"]).expect(0).json()["dropped_objects"], 0);
    assert_eq!(packs(&project), before);
    project.write("data/of", "in no iteration");
    project.run(&["finish"]).expect(0);
    assert_eq!(project.read("data/of"), noise(2));
    iteration(&project, 3);
    project.run(&["begin", "--loop", "next"]).expect(0);
    grow_old(&project);
    project.run(&["prune"]).expect(0);
    let verified = project.run(&["verify", "--loop", "next", "--json"]).expect(0).json();
    assert_eq!(verified["restorable"], json!([0]));
    // Iteration 3 of the closed loop is what the open one began with.
    let verified = project.run(&["verify", "--loop", "open", "--json"]).expect(0).json();
    assert_eq!(verified["let_go"], json!([1]), "{verified}");
    project.run(&["restore", "3", "--loop", "open", "--into", "three"]).expect(0);
    project.run(&["undo"]).expect(0);
    assert_eq!(project.read("data/of"), "in no iteration");
}

#[test]
fn what_was_dropped_is_stored_again_when_it_comes_back() {
    let project = five("done");
    project.run(&["finish"]).expect(0);
    grow_old(&project);
    project.run(&["prune"]).expect(0);
    iteration(&project, 1);
    project.run(&["begin", "--loop", "again"]).expect(0);
    project.run(&["verify", "--recompute", "--loop", "again"]).expect(0);
    project.run(&["restore", "0", "--loop", "again", "--into", "copy"]).expect(0);
    assert_eq!(project.read("copy/data/of"), noise(1));
    let verified = project.run(&["verify", "--loop", "done", "--json"]).expect(0).json();
    assert_eq!(verified["let_go"], json!([3]), "iteration 1 is whole again: {verified}");
}

#[test]
fn nothing_goes_where_it_is_unknown_what_is_needed() {
    let project = five("done");
    project.run(&["finish"]).expect(0);
    grow_old(&project);
    let before = packs(&project);
    let record = project.path(".progress/done/progress/iteration-003-metrics.json");
    let whole = std::fs::read(&record).unwrap();
    overwrite(&record, &whole[..whole.len() / 2]);
    let refused = project.run(&["prune"]).expect(65);
    assert!(refused.stderr.contains("iteration-003") && refused.stderr.contains("nothing was dropped"), "{refused:?}");
    assert_eq!(packs(&project), before);
    assert!(!project.exists(".progress/done/pruned.json"));
    overwrite(&record, &whole);
    // Without a lock it refuses too: a record may be on its way.
    std::fs::remove_file(project.path(".progress/lock")).unwrap();
    std::fs::create_dir(project.path(".progress/lock")).unwrap();
    let refused = project.run(&["prune"]).expect(1);
    assert!(refused.stderr.contains("lock"), "{refused:?}");
    assert_eq!(packs(&project), before);
}

#[test]
fn a_snapshot_that_is_gone_without_a_note_is_damage() {
    let project = five("done");
    project.run(&["finish"]).expect(0);
    grow_old(&project);
    project.run(&["prune"]).expect(0);
    project.run(&["verify"]).expect(0);
    std::fs::remove_file(project.path(".progress/done/pruned.json")).unwrap();
    let verified = project.run(&["verify"]).expect(65);
    assert!(verified.stdout.contains("iteration-001") && verified.stdout.contains("not whole"), "{verified:?}");
}

#[test]
fn repair_makes_again_what_is_derived_and_touches_nothing_else() {
    let project = five("done");
    project.run(&["finish"]).expect(0);
    let before = stored(&project);
    let sound = project.run(&["verify", "--repair", "--json"]).expect(0).json();
    assert_eq!(sound["repaired"], json!(null), "nothing to do: {sound}");
    assert_eq!(stored(&project), before);
    let derived = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_record = name.starts_with("iteration-") && name.ends_with(".json");
        let written_once = ["config.yaml", "selection.json", "1.json", ".gitignore", "stat"].contains(&name);
        !is_record && !written_once && !path.to_str().unwrap().contains("/artifacts/") && !name.ends_with(".pack")
    };
    let names: Vec<&PathBuf> = before.keys().filter(|path| derived(path)).collect();
    assert!(names.len() >= 19, "trajectory, tracker, 5 x (metrics, manifest, report), selection, summary: {names:?}");
    let lies: [&dyn Fn(&PathBuf); 3] =
        [&|path| std::fs::remove_file(path).unwrap(), &|path| overwrite(path, b""), &|path| {
            overwrite(path, b"{\"schema_version\": 1}\n")
        }];
    for lie in lies {
        names.iter().for_each(|path| lie(path));
        let repaired = project.run(&["verify", "--repair", "--json"]).expect(0).json();
        assert_eq!(repaired["repaired"].as_array().unwrap().len(), names.len(), "{repaired}");
        assert_eq!(stored(&project), before);
    }
    // A trajectory that lies about the past under the right head is found, and made again.
    let trajectory = project.path(".progress/done/progress/trajectory.json");
    let text = std::fs::read_to_string(&trajectory).unwrap();
    let lying = text.replacen("\"acceptable\":true", "\"acceptable\":false", 1);
    assert_ne!(text, lying);
    overwrite(&trajectory, lying.as_bytes());
    let found = project.run(&["verify"]).expect(65);
    assert!(found.stdout.contains("trajectory.json"), "{found:?}");
    project.run(&["verify", "--repair"]).expect(0);
    assert_eq!(stored(&project), before);
    // The end of a pack.
    for pack in packs(&project) {
        let bytes = std::fs::read(&pack).unwrap();
        overwrite(&pack, &bytes[..bytes.len() - 20]);
        project.run(&["verify"]).expect(65);
        let repaired = project.run(&["verify", "--repair"]).expect(0);
        assert!(repaired.stdout.contains("made again: .progress/objects/"), "{repaired:?}");
    }
    assert_eq!(stored(&project), before);
}

/// Damages the one object of this content.
fn damage(project: &Project, content: &[u8]) {
    let id = id_of(content);
    for pack in packs(project) {
        let mut bytes = std::fs::read(&pack).unwrap();
        let frame = frames(&bytes).find(|at| bytes[*at..].starts_with(&id.0));
        if let Some(at) = frame {
            bytes[at + 48 + 9] ^= 1;
            return overwrite(&pack, &bytes);
        }
    }
    panic!("the object is nowhere");
}

/// Where the frames of a pack begin. An id stands elsewhere too: in what is a difference from it, and in directories.
fn frames(pack: &[u8]) -> impl Iterator<Item = usize> {
    let number =
        |at: usize| usize::try_from(u64::from_le_bytes(pack[at..at + 8].try_into().unwrap()) & !(1 << 63)).unwrap();
    let index = number(pack.len() - 88);
    std::iter::successors(Some(8), move |at| Some(at + 48 + number(at + 40))).take_while(move |at| *at < index)
}

// PROMISES H5: what was chosen says which snapshots may go.
#[test]
fn a_selection_that_was_changed_is_found_and_lets_no_snapshot_go() {
    let project = five("loop");
    project.run(&["finish"]).expect(0);
    let name = ".progress/loop/selection.json";
    let good = project.read(name);
    let selected = good.find("\"selected\": ").unwrap() + 12;
    for at in [selected, good.find("\"last\": ").unwrap() + 8, good.find("\"rationale\"").unwrap() + 25] {
        let mut bad = good.clone().into_bytes();
        bad[at] ^= 1;
        overwrite(&project.path(name), &bad);
        let verified = project.run(&["verify"]).expect(65);
        assert!(verified.stdout.contains(&format!("damaged: {name}: ")), "byte {at}: {verified:?}");
        project.run(&["prune"]).expect(65);
        project.run(&["verify", "--repair"]).expect(65);
        assert!(project.run(&["log"]).expect(0).stderr.contains("the selection that closed the loop is damaged"));
    }
    overwrite(&project.path(name), good.as_bytes());
    project.run(&["verify"]).expect(0);
    // As an earlier version wrote it.
    let (head, _) = good.split_once(",\n  \"blake3\"").unwrap();
    overwrite(&project.path(name), format!("{head}\n}}\n").as_bytes());
    project.run(&["verify"]).expect(0);
    project.run(&["prune"]).expect(0);
}

// PROMISES H5: what many iterations are differences from, or have alike, is lost for all of them.
#[test]
fn repair_stores_again_what_is_still_to_be_had() {
    let project = Project::new();
    let code = [noise(1), noise(1) + "and more"];
    project.write("folder/same", noise(2));
    project.write("src/lib.py", &code[0]);
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "loop"]).expect(0);
    let report = project.read("junit.xml");
    project.write("src/lib.py", &code[1]);
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["record"]).expect(0);
    for content in [&noise(2), &code[0], &report] {
        damage(&project, content.as_bytes());
    }
    let verified = project.run(&["verify"]).expect(65);
    let told = format!("object {} is read with another: object {}", short(&code[1]), short(&code[0]));
    assert!(verified.stdout.contains("restorable: none\n") && verified.stdout.contains(&told), "{verified:?}");
    // The work tree has what came last, and the first report is kept beside the snapshots.
    let repaired = project.run(&["verify", "--repair"]).expect(65);
    assert!(repaired.stdout.contains("made again: .progress/objects/"), "{repaired:?}");
    assert!(repaired.stdout.contains("restorable: 1\n"), "{repaired:?}");
    assert!(repaired.stdout.contains("its snapshot is not whole: lib.py is missing"), "{repaired:?}");
    assert!(repaired.stdout.contains("set aside: .progress/objects/"), "{repaired:?}");
    // What nobody reads any more is told as disk all the same.
    let is_aside = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "damaged");
    let aside = std::fs::read_dir(project.path(".progress/objects")).unwrap().map(|entry| entry.unwrap().path());
    let bytes: u64 = aside.filter(is_aside).map(|path| path.metadata().unwrap().len()).sum();
    let loops = project.run(&["loops", "--json"]).expect(0).json();
    assert_shape("loops", &loops);
    assert!(bytes > 0 && loops["set_aside_bytes"] == bytes, "{loops}");
    assert!(project.run(&["loops"]).expect(0).stdout.contains("damaged and set aside: "));
    project.run(&["record"]).expect(0);
    // What is lost comes back with whoever brings it, and a damaged pack that is aside is no fault of the store.
    project.write("src/lib.py", &code[0]);
    project.run(&["record"]).expect(0);
    let verified = project.run(&["verify"]).expect(0);
    assert!(verified.stdout.contains("restorable: 0–3\n"), "{verified:?}");
    let again = project.run(&["verify", "--repair"]).expect(0);
    assert!(!again.stdout.contains("made again") && !again.stdout.contains("set aside"), "{again:?}");
    project.run(&["restore", "0"]).expect(0);
    assert_eq!((project.read("junit.xml"), project.read("folder/same")), (report, noise(2)));
    project.run(&["restore", "1"]).expect(0);
    assert_eq!(project.read("src/lib.py"), code[1]);
}

fn short(content: &str) -> String {
    id_of(content.as_bytes()).short()
}

#[test]
fn loops_tells_what_each_one_takes() {
    let project = five("one");
    project.run(&["finish"]).expect(0);
    project.run(&["begin", "--loop", "two"]).expect(0);
    let loops = project.run(&["loops", "--json"]).expect(0).json();
    assert_shape("loops", &loops);
    let of = |id: &str| {
        let lines = loops["loops"].as_array().unwrap().clone();
        lines.into_iter().find(|line| line["loop_id"] == id).unwrap()
    };
    let bytes = |id: &str, key: &str| of(id)[key].as_u64().unwrap();
    assert_eq!(bytes("one", "shared_bytes"), bytes("two", "shared_bytes"));
    assert!(
        bytes("two", "shared_bytes") > 1000 && bytes("one", "own_bytes") > 3 * bytes("two", "own_bytes"),
        "{loops}"
    );
    let files = walkdir::WalkDir::new(project.path(".progress/two")).into_iter().map(|entry| entry.unwrap());
    let own: u64 = files.filter(|e| e.file_type().is_file()).map(|e| e.metadata().unwrap().len()).sum();
    assert_eq!(bytes("two", "folder_bytes"), own);
    let on_disk: u64 = packs(&project).iter().map(|pack| std::fs::metadata(pack).unwrap().len()).sum();
    assert_eq!(loops["packs_bytes"], on_disk);
    let told = bytes("one", "own_bytes") + bytes("two", "own_bytes") + bytes("one", "shared_bytes");
    assert!(told + loops["unneeded_bytes"].as_u64().unwrap() <= on_disk, "{loops}");
    assert!(project.run(&["loops"]).expect(0).stdout.contains("shared"));
    // Unknown is not zero.
    overwrite(&project.path(".progress/one/progress/iteration-001-metrics.json"), b"");
    let loops = project.run(&["loops", "--json"]).expect(0).json();
    assert_eq!((&loops["loops"][0]["own_bytes"], &loops["unneeded_bytes"]), (&json!(null), &json!(null)));
}
