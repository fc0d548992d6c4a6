//! What is stored, and what becomes of it when it is damaged. PROMISES S62–S64, S71, S72, S75, S77, G2, H5, H6.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Project, overwrite};

/// A loop of four iterations, the last of which lost a test.
fn lossy() -> Project {
    let project = Project::new();
    for n in 0..4u32 {
        project.write("src/lib.py", format!("x = {n}\n"));
        let all = [("a", true), ("b", true), ("c", true), ("d", true)];
        project.tests(if n == 3 { &all[..1] } else { &all[..2 + usize::try_from(n).unwrap().min(1)] });
        project.run(if n == 0 { &["begin", "--loop", "kept"] } else { &["record"] }).expect(0);
    }
    project
}

fn record_name(n: u32) -> String {
    let kind = if n == 0 { "baseline" } else { "metrics" };
    format!(".progress/kept/progress/iteration-{n:03}-{kind}.json")
}

#[test]
fn s62_a_damaged_record_is_named_and_the_others_work() {
    type Damage<'a> = (&'a str, &'a dyn Fn(&str) -> Vec<u8>);
    let damages: [Damage; 5] = [
        ("empty", &|_| Vec::new()),
        ("cut", &|text| text.as_bytes()[..text.len() / 2].to_vec()),
        ("not JSON", &|_| b"hello".to_vec()),
        ("another number", &|text| text.replace("\"iteration\": 2,", "\"iteration\": 7,").into_bytes()),
        ("newer", &|text| text.replace("\"schema_version\": 1,", "\"schema_version\": 9,").into_bytes()),
    ];
    for (what, damage) in damages {
        let project = lossy();
        let text = project.read(&record_name(2));
        overwrite(&project.path(&record_name(2)), &damage(&text));
        let verify = project.run(&["verify", "--json"]).expect(65).json();
        let findings = verify["findings"].to_string();
        assert!(findings.contains("iteration-002-metrics.json"), "{what}: {findings}");
        assert_eq!(verify["restorable"], serde_json::json!([0, 1, 3]), "{what}");
        let log = project.run(&["log", "--json"]).expect(0);
        assert!(log.stderr.contains("iteration 2"), "{what}: {log:?}");
        assert_eq!(log.json()["iterations"].as_array().unwrap().len(), 3);
        project.run(&["show", "2"]).expect(65);
        project.run(&["restore", "1", "--dry-run"]).expect(0);
        project.tests(&[("a", true), ("b", true), ("c", true)]);
        assert_eq!(project.run(&["record", "--json"]).expect(0).json()["iteration"], 4, "{what}");
    }
}

#[test]
fn s62_the_next_number_follows_the_highest_name() {
    let project = lossy();
    overwrite(&project.path(&record_name(3)), b"");
    project.tests(&[("a", true), ("b", true), ("c", true)]);
    let record = project.run(&["record", "--json"]).expect(0).json();
    assert_eq!(record["iteration"], 4);
    assert!(project.read(&record_name(3)).is_empty(), "a damaged record is not written over");
}

#[test]
fn s63_a_gap_is_found_and_loading_works() {
    let project = lossy();
    std::fs::remove_file(project.path(&record_name(1))).unwrap();
    let verify = project.run(&["verify"]).expect(65);
    assert!(verify.stdout.contains("iteration 1 is missing"), "{verify:?}");
    assert_eq!(project.run(&["log", "--json"]).expect(0).json()["iterations"].as_array().unwrap().len(), 3);
    project.run(&["finish"]).expect(0);
}

#[test]
fn s64_a_damaged_object_is_named_and_what_needs_it_is_refused_first() {
    let project = lossy();
    let objects = project.path(".progress/objects");
    let mut packs: Vec<_> = std::fs::read_dir(&objects).unwrap().map(|entry| entry.unwrap().path()).collect();
    packs.retain(|path| path.extension().is_some_and(|extension| extension == "pack"));
    assert!(packs.len() >= 4, "one pack a snapshot");
    for pack in &packs {
        let whole = std::fs::read(pack).unwrap();
        let name = pack.file_name().unwrap().to_str().unwrap();
        for at in [whole.len() / 3, whole.len() / 2, whole.len() - 3] {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            std::fs::set_permissions(pack, std::fs::Permissions::from_mode(0o600)).unwrap();
            std::fs::write(pack, &flipped).unwrap();
            let verify = project.run(&["verify"]).expect(65);
            assert!(verify.stdout.contains(name), "{at}: {verify:?}");
            let tree = project.read("src/lib.py");
            for n in 0..4 {
                let into = format!("into-{at}-{n}");
                let restore = project.run(&["restore", &n.to_string(), "--into", &into]);
                match restore.code {
                    0 => assert_eq!(project.read(&format!("{into}/src/lib.py")), format!("x = {n}\n"), "no wrong data"),
                    65 => assert!(restore.stderr.contains("help:") || restore.stderr.contains("-->"), "{restore:?}"),
                    _ => panic!("{restore:?}"),
                }
                let _ = std::fs::remove_dir_all(project.path(&into));
            }
            assert_eq!(project.read("src/lib.py"), tree);
        }
        std::fs::write(pack, &whole).unwrap();
    }
    project.run(&["verify", "--recompute"]).expect(0);
}

#[test]
fn s71_what_editors_and_killed_writers_leave_is_passed_over() {
    let project = lossy();
    for name in [
        "progress/.tmp-999999-abcdef",
        "progress/iteration-002-metrics.json~",
        "progress/.iteration-002-metrics.json.swp",
        "progress/.DS_Store",
        "progress/iteration-002-metrics (conflicted copy).json",
        "progress/.nfs000000001",
        ".tmp-999999-x",
    ] {
        project.write(&format!(".progress/kept/{name}"), "junk");
    }
    project.write(".progress/objects/.tmp-999999-y", "junk");
    project.write(".progress/objects/.DS_Store", "junk");
    assert_eq!(project.run(&["log", "--json"]).expect(0).json()["iterations"].as_array().unwrap().len(), 4);
    project.run(&["verify", "--recompute"]).expect(0);
    project.tests(&[("a", true), ("b", true), ("c", true)]);
    assert_eq!(project.run(&["record", "--json"]).expect(0).json()["iteration"], 4);
}

#[test]
fn s72_what_is_derived_is_made_again() {
    let project = lossy();
    let log = project.run(&["log", "--json"]).expect(0).stdout;
    let gate = project.run(&["gate", "--json"]).expect(11).stdout;
    let (trajectory, best) = (".progress/kept/progress/trajectory.json", ".progress/kept/best-tracker.json");
    type Lie<'a> = (&'a str, &'a dyn Fn(&str) -> Option<String>);
    let lies: [Lie; 3] = [
        ("gone", &|_| None),
        ("edited", &|text| {
            Some(text.replace("\"iteration\":2", "\"iteration\":0").replacen("\"head\": \"", "\"head\": \"00", 1))
        }),
        ("junk", &|_| Some("{}".into())),
    ];
    for (what, lie) in lies {
        for name in [trajectory, best] {
            match lie(&project.read(name)) {
                Some(text) => overwrite(&project.path(name), text.as_bytes()),
                None => std::fs::remove_file(project.path(name)).unwrap(),
            }
        }
        assert_eq!(project.run(&["log", "--json"]).expect(0).stdout, log, "{what}");
        assert_eq!(project.run(&["gate", "--json"]).expect(11).stdout, gate, "{what}");
        project.tests(&[("a", true)]);
        project.run(&["record"]).expect(0);
        project.run(&["verify", "--recompute"]).expect(0);
        let project_now = project.read(trajectory);
        assert!(project_now.contains("\"iterations\""), "{what}");
        // Back to four iterations, as the comparisons above expect.
        std::fs::remove_file(project.path(".progress/kept/progress/iteration-004-metrics.json")).unwrap();
        let _ = std::fs::remove_dir_all(project.path(".progress/kept/iterations/iteration-004"));
    }
}

// A later version went on with the loop, or wrote all of it.
#[test]
fn s75_a_newer_store_is_refused_without_a_write() {
    for newer in [3..4, 0..4] {
        let project = lossy();
        for n in newer {
            let text = project.read(&record_name(n)).replace("\"schema_version\": 1,", "\"schema_version\": 9,");
            overwrite(&project.path(&record_name(n)), text.as_bytes());
        }
        let kept = || {
            let files =
                walkdir::WalkDir::new(project.path(".progress")).sort_by_file_name().into_iter().map(Result::unwrap);
            let files = files.filter(|entry| entry.file_type().is_file() && entry.file_name() != "lock");
            files.map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).unwrap())).collect::<Vec<_>>()
        };
        let before = kept();
        project.tests(&[("a", true), ("b", true), ("e", true)]);
        let accept = ["accept", "--reason", "meant", "test_count_decreased"];
        for command in [&["record"][..], &["restore", "3"], &["finish"], &["prune"], &accept] {
            let answer = project.run(command).expect(65);
            assert!(answer.stderr.contains("later version"), "{answer:?}");
            assert!(kept() == before, "{command:?} wrote");
        }
    }
}

#[test]
fn h6_an_edited_history_is_found_and_a_cut_tail_with_a_head() {
    let project = lossy();
    let head = {
        let verify = project.run(&["verify", "--json"]).expect(0).json();
        format!("{}:{}", verify["head_iteration"], verify["head"].as_str().unwrap())
    };
    project.run(&["verify", "--head", &head]).expect(0);
    for n in 0..3 {
        let text = project.read(&record_name(n));
        overwrite(
            &project.path(&record_name(n)),
            text.replace("\"acceptable\": true", "\"acceptable\": false").as_bytes(),
        );
        let changed = project.read(&record_name(n)) != text;
        assert!(changed, "the edit happened");
        project.run(&["verify"]).expect(65);
        overwrite(&project.path(&record_name(n)), text.as_bytes());
    }
    let last = project.read(&record_name(3));
    overwrite(&project.path(&record_name(3)), last.replace("\"confidence\": 0", "\"confidence\": 1").as_bytes());
    project.run(&["verify", "--head", &head]).expect(65);
    std::fs::remove_file(project.path(&record_name(3))).unwrap();
    project.run(&["verify", "--head", &head]).expect(65);
}

#[test]
fn h7_numbers_that_the_stored_reports_do_not_give_are_found() {
    let project = lossy();
    // The last record has no successor, so the chain cannot show an edit; its evidence does.
    let text = project.read(&record_name(3));
    overwrite(&project.path(&record_name(3)), text.replace("\"test_count\": 1,", "\"test_count\": 4,").as_bytes());
    project.run(&["verify", "--recompute"]).expect(65);
    overwrite(&project.path(&record_name(3)), text.as_bytes());
    let artifacts = project.path(".progress/kept/iterations/iteration-001/artifacts");
    let artifact = std::fs::read_dir(artifacts).unwrap().next().unwrap().unwrap().path();
    std::fs::set_permissions(&artifact, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&artifact, "<testsuite/>").unwrap();
    let verify = project.run(&["verify"]).expect(65);
    assert!(verify.stdout.contains("hash differs"), "{verify:?}");
}

#[test]
fn g2_secrets_and_ignored_files_are_not_kept() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.write(".gitignore", "build/\n");
    for name in [".env", "build/out.o", "deploy/id_rsa", "x.pem", ".env.example", "src/kept.py"] {
        project.write(name, format!("secret of {name}"));
    }
    project.run(&["begin"]).expect(0);
    project.write("src/kept.py", "changed");
    project.write(".env", "rotated");
    project.run(&["restore", "0"]).expect(0);
    assert_eq!(project.read("src/kept.py"), "secret of src/kept.py");
    assert_eq!(project.read(".env"), "rotated", "what is not kept is not touched");
    project.run(&["restore", "0", "--into", "copy"]).expect(0);
    for (name, is_kept) in
        [(".env", false), ("build/out.o", false), ("deploy/id_rsa", false), ("x.pem", false), (".env.example", true)]
    {
        assert_eq!(project.exists(&format!("copy/{name}")), is_kept, "{name}");
    }
}

#[test]
fn what_tools_make_again_is_not_kept_unless_it_is_named() {
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.write("node_modules/x/index.js", "1");
    project.write("target/CACHEDIR.TAG", tag);
    project.write("target/debug/app", "compiled");
    let census = |answer: serde_json::Value| answer["metrics"]["codebase"]["file_count"].as_u64();
    assert_eq!(census(project.run(&["begin", "--json"]).expect(0).json()), Some(1));
    project.write("target/debug/app", "compiled again");
    project.run(&["restore", "0"]).expect(0);
    assert_eq!(project.read("target/debug/app"), "compiled again", "what is not kept is not touched");
    project.write("highwater.yaml", "capture:\n  include: ['node_modules/**']\n");
    let named = project.run(&["begin", "--loop", "named", "--json"]).expect(0).json();
    assert_eq!(census(named), Some(3), "the file, the dependency, the config");
}

#[test]
fn a_replayed_loop_is_the_same_to_the_byte() {
    let project = lossy();
    let layout = highwater::disk::layout::Layout::new(project.root());
    let session = highwater::engine::Session {
        layout: &layout,
        now: std::time::SystemTime::now().into(),
        wait: std::time::Duration::from_secs(1),
        on_progress: &|_, _| {},
    };
    let store = highwater::store::Store::new(&layout, "kept".parse().unwrap());
    let (replayed, damaged) = highwater::engine::replay(&session, &store, None).unwrap();
    assert!(damaged.is_empty() && replayed.len() == 4);
    for one in replayed {
        let bytes = highwater::store::encode(&one.judged).unwrap();
        assert_eq!(bytes, project.read(&record_name(one.stored.iteration.0)).into_bytes());
    }
    // Another config gives another verdict, so the comparison above can fail.
    let mut other = highwater::config::defaults().unwrap();
    other.quality.weights.validation = 0.2;
    other.quality.weights.completeness = 0.35;
    let (replayed, _) = highwater::engine::replay(&session, &store, Some(&other)).unwrap();
    assert!(replayed.iter().any(|one| one.judged.quality_score != one.stored.quality_score));
}
