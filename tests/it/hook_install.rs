//! `hook install`, `uninstall` and `status` on configs as people have them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use highwater::integrations::install::INSTALLS;

use crate::support::{Answer, Project, answer, assert_shape};

/// The program with a home of its own and nothing on its path.
fn command(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.command(&[&["hook"], arguments].concat());
    let variables = INSTALLS.iter().flat_map(|install| install.user).map(|(name, _)| *name);
    variables.for_each(|name| {
        command.env_remove(name);
    });
    command.env_remove("XDG_STATE_HOME").env("HOME", project.path("home")).env("PATH", project.path("bin"));
    command
}

fn hook(project: &Project, arguments: &[&str]) -> Answer {
    answer(&command(project, arguments).output().unwrap())
}

/// Every file of the tree with its bytes, and every folder; the store is not part of it.
fn tree(project: &Project) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in walkdir::WalkDir::new(project.root()) {
        let entry = entry.unwrap();
        let name = entry.path().strip_prefix(project.root()).unwrap().display().to_string();
        if !name.starts_with(".progress") {
            let bytes = entry.file_type().is_file().then(|| std::fs::read(entry.path()).unwrap());
            all.insert(name, bytes);
        }
    }
    all
}

const SETTINGS: &str = "{\n  // the house style\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \
                        \"command\", \"command\": \"notify-send done\"}]}, // tell me\n    ],\n  },\n}";

#[test]
fn every_agents_hooks_come_out_again_to_the_byte() {
    for install in INSTALLS {
        for scope in ["project", "user"] {
            let project = Project::new();
            project.write("home/.claude/settings.json", SETTINGS);
            project.write(".claude/settings.json", SETTINGS.replace('\n', "\r\n"));
            project.write(".cursor/hooks.json", "{}");
            let before = tree(&project);
            let change = |what: &str| hook(&project, &[what, "--agent", install.agent, "--scope", scope]).expect(0);
            let told = change("install");
            assert!(
                told.stdout.contains("highwater")
                    || told.stdout.contains("hooks.json")
                    || told.stdout.contains("settings.json")
            );
            let installed = tree(&project);
            assert_ne!(installed, before, "{}", install.agent);
            assert!(change("install").stdout.contains("nothing to change"), "{}", install.agent);
            assert_eq!(tree(&project), installed, "once more changes no byte");
            change("uninstall");
            let mut after = tree(&project);
            // What is kept for a user lies in the home, and its folder stays.
            after.retain(|name, _| !name.starts_with("home/.local"));
            assert_eq!(after, before, "{} {scope}", install.agent);
            assert!(!project.exists(".progress/.hooks"), "nothing is kept any longer");
        }
    }
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let project = Project::new();
    project.write(".claude/settings.json", SETTINGS);
    let before = tree(&project);
    let told = hook(&project, &["install", "--agent", "claude", "--dry-run"]).expect(0);
    assert!(told.stdout.starts_with("--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ "), "{told:?}");
    assert!(told.stdout.contains("\n+            \"command\": \"highwater hook run --agent claude\",\n"), "{told:?}");
    assert!(!told.stdout.contains("\n-"), "nothing is taken away: {told:?}");
    assert_eq!(tree(&project), before);
    assert!(!project.exists(".progress"));
    let json = hook(&project, &["install", "--agent", "claude", "--dry-run", "--json"]).expect(0).json();
    assert_shape("hook-changes", &json);
    assert_eq!((&json["dry_run"], &json["agents"][0]["files"][0]["change"]), (&true.into(), &"changed".into()));
    let json = hook(&project, &["install", "--agent", "claude", "--json"]).expect(0).json();
    assert_shape("hook-changes", &json);
    let kept = json["agents"][0]["files"][0]["kept"].as_str().unwrap().to_owned();
    assert_eq!(project.read(&kept), SETTINGS);
    let note = project.read(&kept.replace(".before", ".note"));
    assert_shape("hook-note", &serde_json::from_str(&note).unwrap());
    let json = hook(&project, &["uninstall", "--agent", "claude", "--json"]).expect(0).json();
    assert_shape("hook-changes", &json);
    assert_eq!(tree(&project), before);
}

#[test]
fn what_was_added_in_between_stays_and_the_rest_of_ours_goes() {
    let project = Project::new();
    hook(&project, &["install", "--agent", "codex"]).expect(0);
    hook(&project, &["install", "--agent", "copilot"]).expect(0);
    let more = project.read(".codex/hooks.json").replacen("{\n", "{\n  \"mine\": 1,\n", 1);
    project.write(".codex/hooks.json", &more);
    // Laid out anew, and nothing added.
    project.write(".github/hooks/highwater.json", project.read(".github/hooks/highwater.json").replace("  ", "\t"));
    project.write(".github/hooks/other.json", "{}");
    hook(&project, &["uninstall", "--agent", "codex"]).expect(0);
    assert_eq!(project.read(".codex/hooks.json"), "{\n  \"mine\": 1\n}\n");
    hook(&project, &["uninstall", "--agent", "vscode"]).expect(0);
    assert!(!project.exists(".github/hooks/highwater.json"), "we made it, and nobody added anything");
    assert!(project.exists(".github/hooks/other.json"));
}

#[test]
fn what_cannot_be_edited_is_told_and_nothing_is_written() {
    let project = Project::new();
    project.write(".codex/hooks.json", "{\n  \"hooks\": {]\n}");
    project.write(".claude/settings.json", "{}");
    let before = tree(&project);
    let told = hook(&project, &["install", "--agent", "detected"]).expect(65);
    assert!(told.stderr.contains(".codex/hooks.json:2:13") && told.stderr.contains("help: "), "{told:?}");
    assert_eq!(tree(&project), before, "no other agent's either");
    let file = project.path(".claude/settings.json");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    let told = hook(&project, &["install", "--agent", "claude"]).expect(1);
    assert!(told.stderr.contains(".claude/settings.json") && told.stderr.contains("read-only"), "{told:?}");
    assert_eq!(tree(&project), before);
    project.write(".opencode/plugins/highwater.ts", "export {}");
    hook(&project, &["install", "--agent", "opencode"]).expect(65);
    hook(&project, &["install", "--agent", "nobody"]).expect(64);
    hook(&Project::new(), &["install", "--agent", "detected"]).expect(65);
}

#[test]
fn a_link_is_followed_and_the_mode_stays() {
    let project = Project::new();
    project.write("dotfiles/claude.json", "{}");
    let file = project.path("dotfiles/claude.json");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir(project.path(".claude")).unwrap();
    std::os::unix::fs::symlink("../dotfiles/claude.json", project.path(".claude/settings.json")).unwrap();
    let told = hook(&project, &["install", "--agent", "claude"]).expect(0);
    assert!(told.stderr.contains("dotfiles/claude.json"), "{told:?}");
    assert!(project.read("dotfiles/claude.json").contains("highwater hook run"));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    hook(&project, &["uninstall", "--agent", "claude"]).expect(0);
    assert_eq!(project.read("dotfiles/claude.json"), "{}");
    assert!(std::fs::symlink_metadata(project.path(".claude/settings.json")).unwrap().is_symlink());
    hook(&project, &["install", "--agent", "codex"]).expect(0);
    let mode = |name: &str| std::fs::metadata(project.path(name)).unwrap().permissions().mode();
    assert_eq!(mode(".codex/hooks.json"), mode("src/lib.py"), "a new file is as the umask makes files");
}

#[test]
fn a_root_whose_path_is_no_text_is_refused_before_anything_is_written() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new();
    let root = project.root().join(std::ffi::OsStr::from_bytes(b"odd-\xff"));
    if std::fs::create_dir(&root).is_err() {
        eprintln!("skipped: the file system takes text alone");
        return;
    }
    let run = |arguments: &[&str]| {
        let mut command = command(&project, arguments);
        answer(&command.env("HIGHWATER_ROOT", &root).current_dir(&root).output().unwrap())
    };
    for arguments in [&["install", "--agent", "claude", "--dry-run"][..], &["install", "--agent", "claude"]] {
        let told = run(arguments).expect(65).stderr;
        assert!(told.contains("not UTF-8") && told.contains("nothing was changed"), "{told}");
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0);
    }
    run(&["install", "--agent", "claude", "--scope", "user"]).expect(0);
}

#[test]
fn status_tells_where_hooks_are_and_what_they_run() {
    let project = Project::new();
    project.write(".gemini/settings.json", "{}");
    hook(&project, &["install", "--agent", "detected"]).expect(0);
    hook(&project, &["install", "--agent", "claude", "--scope", "user"]).expect(0);
    let changed = project.read("home/.claude/settings.json").replacen("900", "60", 1);
    project.write("home/.claude/settings.json", changed);
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "auth"]).expect(0);
    for (log, second) in [("auth/faults.log", 1), (".faults.log", 2)] {
        let fault =
            format!("{{\"schema_version\":1,\"at\":\"2026-01-01T00:00:0{second}Z\",\"fault\":\"fault {second}\"}}");
        project.write(&format!(".progress/{log}"), format!("\n{fault}\n"));
    }
    let json = hook(&project, &["status", "--json"]).expect(0).json();
    assert_shape("hook-status", &json);
    let state = |agent: &str, scope: &str| {
        let agents = json["agents"].as_array().unwrap();
        let files = agents.iter().find(|one| one["agent"] == agent).unwrap()["files"].as_array().unwrap();
        files.iter().find(|file| file["scope"] == scope).unwrap()["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state("gemini", "project"), "current");
    assert_eq!(state("gemini", "user"), "absent");
    assert_eq!(state("claude", "user"), "differs");
    assert_eq!((&json["hook_faults"]["count"], &json["hook_faults"]["last"]["fault"]), (&2.into(), &"fault 2".into()));
    assert_eq!(json["program"]["path"], serde_json::Value::Null);
    let told = hook(&project, &["status"]).expect(0);
    assert!(told.stdout.contains("no `highwater` on PATH"), "{told:?}");
    std::fs::create_dir(project.path("bin")).unwrap();
    std::os::unix::fs::symlink(assert_cmd::cargo::cargo_bin!("highwater"), project.path("bin/highwater")).unwrap();
    let told = hook(&project, &["status"]).expect(0);
    assert!(told.stdout.contains("which is this program"), "{told:?}");
    assert!(told.stdout.contains("faults: 2, the last: fault 2"), "{told:?}");
}

#[test]
fn who_turned_all_hooks_off_is_told() {
    let project = Project::new();
    project.write(".claude/settings.local.json", "{\n  // for now\n  \"disableAllHooks\": true,\n}\n");
    let by = "disableAllHooks in .claude/settings.local.json";
    assert!(!hook(&project, &["status"]).expect(0).stdout.contains(by), "nothing of ours is there yet");
    let installed = hook(&project, &["install", "--agent", "claude"]).expect(0);
    assert!(installed.stderr.contains(by), "{installed:?}");
    assert!(hook(&project, &["status"]).expect(0).stdout.contains(&format!("claude runs no hooks: {by}")));
    let json = hook(&project, &["status", "--json"]).expect(0).json();
    assert_shape("hook-status", &json);
    assert_eq!(json["agents"][0]["switched_off"], by);
    project.write(".claude/settings.local.json", "{\"disableAllHooks\": false}");
    assert!(!hook(&project, &["status"]).expect(0).stdout.contains("runs no hooks"));
}

/// The limits of the Agent Skills specification; every rule that it names is one.
#[test]
fn the_skill_keeps_its_limits_and_names_what_there_is() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/plugin/skills/highwater/SKILL.md");
    let skill = std::fs::read_to_string(path).unwrap();
    let (matter, body) = skill.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let key = |name: &str| matter.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap();
    assert_eq!(key("name"), "highwater");
    assert!(key("description").len() <= 1024 && key("compatibility").len() <= 500 && body.lines().count() < 500);
    let table = body.split("## What closes a finding").nth(1).unwrap().split("\n## ").next().unwrap();
    let first = table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let named: Vec<&str> = first.flat_map(|cell| cell.split("`, `")).map(|name| name.trim_end_matches('`')).collect();
    assert!(named.len() >= 6, "{named:?}");
    for name in named {
        let is_rule = highwater::analysis::RULES.iter().any(|rule| rule.name == name);
        assert!(is_rule || highwater::analysis::DETECTORS.iter().any(|one| one.name == name), "{name}");
    }
}
