//! A store is a guest in the work tree: git's everyday commands leave it alone, and so do odd clocks (PROMISES H9, N5); what
//! belongs to others there stays as it is.

use std::os::unix::fs::{PermissionsExt, chown};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use highwater::disk::layout::Layout;
use highwater::engine::{self, Asked, Offer, Session};
use highwater::store::Store;

use crate::support::work::{Work, listing};
use crate::support::{Project, answer, leave_home};

/// The user who owns nothing.
const NOBODY: u32 = 65534;

/// git, which knows nothing of a person's own settings, nor of a repository in whose hook the tests may run.
fn git(project: &Project, arguments: &[&str]) -> std::io::Result<Output> {
    let who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "-c", "init.defaultBranch=main"];
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command.args(who).args(arguments).current_dir(project.root());
    leave_home(&mut command);
    command.output()
}

#[track_caller]
fn did(project: &Project, arguments: &[&str]) -> String {
    let output = git(project, arguments).unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn git_neither_sees_nor_removes_the_store() {
    let project = Project::new();
    if git(&project, &["--version"]).is_err() {
        eprintln!("skipped: no git");
        return;
    }
    did(&project, &["init"]);
    did(&project, &["add", "-A"]);
    did(&project, &["commit", "-m", "first"]);
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "guest"]).expect(0);
    assert!(!did(&project, &["status", "--porcelain", "-uall"]).contains(".progress"));
    did(&project, &["add", "-A"]);
    did(&project, &["commit", "-m", "second"]);
    assert!(!did(&project, &["ls-tree", "-r", "--name-only", "HEAD"]).contains(".progress"));

    let sound = |after: &str| {
        let verified = project.run(&["verify", "--recompute", "--loop", "guest"]);
        assert_eq!(verified.code, 0, "after {after}: {verified:?}");
    };
    project.write("new", "not committed");
    did(&project, &["clean", "-fd"]);
    assert!(!project.exists("new"));
    sound("clean");
    project.write("new", "not committed");
    project.write("src/lib.py", "changed");
    did(&project, &["stash", "-u"]);
    sound("stash");
    did(&project, &["stash", "pop"]);
    did(&project, &["checkout", "-q", "-f", "-b", "other", "HEAD~1"]);
    did(&project, &["reset", "--hard", "-q", "HEAD"]);
    did(&project, &["clean", "-fd"]);
    sound("checkout");

    // And the other way about: what git keeps for itself is as it was, whatever is recorded and restored.
    let heads = || {
        ["HEAD", "index", "refs/heads/main", "refs/heads/other"]
            .map(|name| std::fs::read(project.path(&format!(".git/{name}"))).unwrap())
    };
    let before = heads();
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["record", "--loop", "guest"]).expect(0);
    project.run(&["restore", "0", "--loop", "guest"]).expect(0);
    project.run(&["undo"]).expect(0);
    project.run(&["finish", "--loop", "guest"]).expect(0);
    assert!(heads() == before, "git's own files changed");
    sound("all of it");
}

// PROMISES W3, W4: git's index shows a capture files that an ignore rule leaves out, and it changes meanwhile.
#[test]
fn what_only_the_index_shows_goes_when_a_restore_brought_it_and_stays_when_it_did_not() {
    let project = Project::new();
    if git(&project, &["--version"]).is_err() {
        eprintln!("skipped: no git");
        return;
    }
    project.write(".gitignore", "dist/\n*.cfg\n");
    project.write("dist/a", "tracked");
    project.write("local.cfg", "mine");
    did(&project, &["init"]);
    did(&project, &["add", "--force", "dist/a", ".gitignore"]);
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "guest"]).expect(0);
    did(&project, &["rm", "-q", "-f", "dist/a"]);
    did(&project, &["add", "--force", "local.cfg"]);
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["record", "--loop", "guest"]).expect(0);
    project.run(&["restore", "0", "--loop", "guest"]).expect(0);
    assert_eq!(project.read("local.cfg"), "mine", "iteration 0 could not see it");
    assert_eq!(project.read("dist/a"), "tracked");
    project.run(&["undo"]).expect(0);
    assert!(!project.exists("dist"), "there was none before the restore");
    assert_eq!(project.read("local.cfg"), "mine");
}

// PROMISES G2.
#[test]
fn secrets_stay_home_unless_they_are_asked_for() {
    const SECRETS: [&str; 13] = [
        ".env",
        ".env.local",
        "conf/server.pem",
        "conf/TLS.KEY",
        ".ssh/id_rsa",
        ".ssh/id_rsa.old",
        ".ssh/id_ed25519",
        ".ssh/id_ecdsa",
        ".netrc",
        ".npmrc",
        "deep/down/.pypirc",
        "ignored",
        "private/note",
    ];
    let project = Project::new();
    project.write(".gitignore", "/ignored\nprivate/\n");
    for secret in SECRETS {
        project.write(secret, "the secret");
    }
    for plain in [".env.example", ".env.sample", "key"] {
        project.write(plain, "no secret");
    }
    project.tests(&[("a", true)]);
    let kept = |id: &str| {
        let into = tempfile::tempdir().unwrap();
        let begun = project.run(&["begin", "--loop", id]).expect(0);
        project.run(&["restore", "0", "--loop", id, "--into", into.path().to_str().unwrap()]).expect(0);
        (
            begun,
            SECRETS.map(|secret| into.path().join(secret).symlink_metadata().is_ok()),
            crate::support::work::listing(into.path()),
        )
    };
    let (_, secrets, all) = kept("shy");
    assert_eq!(secrets, [false; SECRETS.len()]);
    for plain in [".env.example", ".env.sample", "key", "src/lib.py", ".gitignore"] {
        assert!(all.contains_key(std::path::Path::new(plain)), "{plain}");
    }
    project.write("highwater.yaml", "capture:\n  include: ['.netrc', 'private/**']\n");
    let (begun, secrets, _) = kept("open");
    let expected = SECRETS.map(|secret| matches!(secret, ".netrc" | "private/note"));
    assert_eq!(secrets, expected);
    assert!(begun.stderr.contains(".netrc") || begun.stdout.contains(".netrc"), "{begun:?}");
}

// PROMISES G2.
#[test]
fn what_a_person_lets_git_ignore_everywhere_is_neither_kept_nor_changed() {
    let project = Project::new();
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env("HOME", home.path()).env_remove("XDG_CONFIG_HOME");
        answer(&command.output().unwrap()).expect(0)
    };
    let write_home = |name: &str, text: &str| {
        std::fs::create_dir_all(home.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(home.path().join(name), text).unwrap();
    };
    write_home(".config/git/ignore", "token.txt\n");
    let kept = |id: &str| {
        let into = tempfile::tempdir().unwrap();
        run(&["begin", "--loop", id]);
        run(&["restore", "0", "--loop", id, "--into", into.path().to_str().unwrap()]);
        into.path().join("token.txt").symlink_metadata().is_ok()
    };
    project.write("token.txt", "the secret");
    project.tests(&[("a", true)]);
    assert!(kept("without-git"), "there is nobody who ignores anything");
    std::fs::create_dir(project.path(".git")).unwrap();
    assert!(!kept("by-default"));
    write_home(".gitconfig", "[core]\n\texcludesFile = ~/mine\n");
    assert!(kept("elsewhere"));
    write_home("mine", "token.*\n");
    assert!(!kept("named"));
    project.write(".git/config", "[core]\n\texcludesFile = .git/mine\n");
    assert!(kept("by-the-repository"));

    // What was ignored when a snapshot was taken was not in it, and does not go when that comes back.
    std::fs::remove_file(project.path(".git/config")).unwrap();
    run(&["begin", "--loop", "late"]);
    project.write(".gitignore", "!token.txt\n");
    project.write("token.txt", "the other secret");
    project.write("src/lib.py", "changed");
    run(&["record", "--loop", "late"]);
    run(&["restore", "0", "--loop", "late"]);
    assert!(!project.exists(".gitignore") && project.read("src/lib.py") != "changed");
    assert_eq!(project.read("token.txt"), "the other secret");
}

#[test]
fn a_clock_before_1970_is_a_clock() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin"]).expect(0);
    project.tests(&[("a", true), ("b", true)]);
    let long_ago = "exec faketime '1969-06-01 00:00:00' \"$0\" \"$@\"";
    let recorded = answer(&project.shell(long_ago, &["record", "--json"]).output().unwrap());
    if recorded.code == 127 {
        eprintln!("skipped: no faketime");
        return;
    }
    let record = recorded.expect(0).json();
    assert!(record["recorded_at"].as_str().unwrap().starts_with("1969-"), "{record}");
    assert_eq!(record["metrics"]["testing"]["test_count"], 2);
}

// The clock is set to 1970, past 2038 and ten years back in the middle of a loop; so are the files' times.
#[test]
fn clocks_do_not_decide() {
    let project = Project::new();
    let layout = Layout::new(&project.root().canonicalize().unwrap());
    let store = Store::new(&layout, "guest".parse().unwrap());
    let all = [("a", true), ("b", true), ("c", true), ("d", true), ("e", true)];
    project.tests(&all[..1]);
    project.run(&["begin", "--loop", "guest"]).expect(0);
    let years = ["1970-01-01T00:00:00Z", "2106-02-07T06:28:17Z", "2016-02-29T23:59:59Z", "1969-12-31T23:59:59Z"];
    for (n, year) in (1..).zip(years) {
        let now: DateTime<Utc> = year.parse().unwrap();
        project.write("src/lib.py", format!("x = {n}\n"));
        let times: SystemTime = if n % 2 == 0 { now.into() } else { SystemTime::UNIX_EPOCH + Duration::from_secs(1) };
        std::fs::File::options().write(true).open(project.path("src/lib.py")).unwrap().set_modified(times).unwrap();
        project.tests(&all[..=n]);
        let session = Session { layout: &layout, now, wait: Duration::ZERO, on_progress: &|_, _| {} };
        let report = Asked { format: None, path: "junit.xml".into() };
        let offer = Offer { reports: vec![report], folder: layout.root().into(), started_at: now, ..Offer::default() };
        let recorded = engine::record(&session, &store, offer).unwrap();
        assert_eq!(recorded.record.iteration.0 as usize, n, "{year}");
        assert_eq!(recorded.record.metrics.test_count(), Some(n as u64 + 1), "{year}: the report is this iteration's");
    }
    let log = project.run(&["log", "--json"]).expect(0).json();
    let order: Vec<u64> =
        log["iterations"].as_array().unwrap().iter().map(|i| i["iteration"].as_u64().unwrap()).collect();
    assert_eq!(order, [0, 1, 2, 3, 4]);
    project.run(&["verify", "--recompute"]).expect(0);
    for n in 0..years.len() {
        project.run(&["restore", &n.to_string()]).expect(0);
        let expected = if n == 0 { "def one():\n    return 1\n".into() } else { format!("x = {n}\n") };
        assert_eq!(project.read("src/lib.py"), expected);
    }
}

// PROMISES A58.
#[test]
fn a_umask_that_keeps_everybody_out_changes_neither_bytes_nor_modes_of_what_is_restored() {
    let project = Project::new();
    project.write("src/deep/file", "x");
    for (name, mode) in [("src", 0o755), ("src/deep", 0o511), ("src/deep/file", 0o640)] {
        std::fs::set_permissions(project.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    project.run(&["begin"]).expect(0);
    let work = Work::of(project.root());
    let is_root = rustix::process::geteuid().is_root();
    if is_root && work.run_as(NOBODY, &["--version"]).code != 0 {
        eprintln!("skipped: nobody else can run the program here");
        return;
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", "umask 0777; exec \"$@\"", "sh"]);
        if is_root {
            command.args(["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]);
        }
        command.arg(assert_cmd::cargo::cargo_bin!("highwater"));
        answer(&work.command(command, arguments).output().unwrap())
    };
    let before = work.listing();
    std::fs::set_permissions(work.path("src/deep"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_dir_all(work.path("src")).unwrap();
    if is_root {
        work.give_to(NOBODY);
    }
    run(&["restore", "0"]).expect(0);
    assert_eq!(work.listing(), before);
    run(&["restore", "0", "--into", "copy"]).expect(0);
    assert_eq!(listing(&work.path("copy")), before);
    assert_eq!(std::fs::symlink_metadata(work.path("copy")).unwrap().permissions().mode() & 0o777, 0o700);
}

// PROMISES W2: only its owner may change a file's mode, so a restore that has to is refused, and does not stop half way.
#[test]
fn a_file_of_somebody_else_whose_mode_has_to_change_is_in_the_way() {
    let project = Project::new();
    project.write("theirs", "the same");
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "guest"]).expect(0);
    project.write("src/lib.py", "changed");
    std::fs::set_permissions(project.path("theirs"), std::fs::Permissions::from_mode(0o666)).unwrap();
    let work = Work::of(project.root());
    if !rustix::process::geteuid().is_root() || work.run_as(NOBODY, &["--version"]).code != 0 {
        eprintln!("skipped: nobody else can run the program here");
        return;
    }
    work.give_to(NOBODY);
    chown(work.path("theirs"), Some(0), None).unwrap();
    let before = work.listing();
    let refused = work.run_as(NOBODY, &["restore", "0"]);
    assert!(refused.code == 65 && refused.stderr.contains("belongs to somebody else"), "{refused:?}");
    assert_eq!(work.listing(), before);
    assert_eq!(work.run_as(NOBODY, &["status", "--json"]).expect(0).json()["pending_restore"], serde_json::Value::Null);
    chown(work.path("theirs"), Some(NOBODY), None).unwrap();
    work.run_as(NOBODY, &["restore", "0"]).expect(0);
    assert_ne!(work.listing(), before);
}
