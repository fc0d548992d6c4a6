//! What a snapshot takes and what it leaves out.

use super::*;
use crate::disk::layout::GitUser;
use crate::disk::tests_support::{git, make_fifo};

// PROMISES G2.
#[test]
fn secrets_and_ignored_files_stay_out_unless_they_are_named() {
    let mut work = Work::with(&[
        (".gitignore", "dist/\n*.log\n!keep.log\n/local\n"),
        (".env", "TOKEN=1"),
        (".env.example", "TOKEN="),
        ("conf/server.pem", "key"),
        ("dist/app.js", "x"),
        ("dist/.env", "x"),
        ("a.log", "x"),
        ("keep.log", "x"),
        ("local", "x"),
        ("sub/local", "x"),
        ("sub/.gitignore", "*.tmp\n"),
        ("sub/x.tmp", "x"),
        ("x.tmp", "x"),
        (".progress-notes", "x"),
    ]);
    let plain = [
        ".env.example",
        ".gitignore",
        ".progress-notes",
        "conf/",
        "keep.log",
        "sub/",
        "sub/.gitignore",
        "sub/local",
        "x.tmp",
    ];
    assert_eq!(work.held(), plain);
    work.capture.include = vec![".env".into(), "dist/**".into(), "conf/*.pem".into()];
    work.capture.exclude = vec!["sub".into(), "**/*.tmp".into()];
    let taken = work.take();
    assert_eq!(
        work.held_in(&taken.root),
        [
            ".env",
            ".env.example",
            ".gitignore",
            ".progress-notes",
            "conf/",
            "conf/server.pem",
            "dist/",
            "dist/app.js",
            "keep.log"
        ]
    );
    assert_eq!(taken.included_secrets, paths(&[".env", "conf/server.pem", "dist/app.js"]));
}

#[test]
fn what_git_tracks_is_kept_although_a_rule_matches_it() {
    let work = Work::with(&[
        (".gitignore", "build/\n*.gen\n"),
        ("build/keep.txt", "x"),
        ("build/deep/keep.txt", "x"),
        ("build/out.o", "x"),
        ("build/junk/out.o", "x"),
        ("a.gen", "x"),
        ("b.gen", "x"),
        (".env", "x"),
    ]);
    if !work.git("", &["init", "-q"]) {
        return;
    }
    work.git("", &["add", "-f", "build/keep.txt", "build/deep/keep.txt", "a.gen", ".env"]);
    work.write(".git/info/exclude", "excluded\n");
    work.write("excluded", "x");
    let expected = [".gitignore", "a.gen", "build/", "build/deep/", "build/deep/keep.txt", "build/keep.txt"];
    assert_eq!(work.held(), expected);
    // A damaged index is named, and then the rules alone decide.
    work.write(".git/index", "DIRC");
    let taken = work.take();
    assert_eq!(work.held_in(&taken.root), [".gitignore"]);
    assert!(
        taken.skipped.iter().any(|(path, why)| path == ".git/index" && why.contains("not known")),
        "{:?}",
        taken.skipped
    );
}

#[test]
fn a_repository_behind_a_link_is_one_and_none_of_it_is_kept() {
    let work = Work::with(&[(".gitignore", "*.gen\n"), ("a.gen", "x"), ("b.gen", "x"), ("excluded", "x")]);
    if !work.git("", &["init", "-q"]) {
        return;
    }
    work.git("", &["add", "-f", "a.gen"]);
    work.write(".git/info/exclude", "excluded\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = std::process::Command::new("mv").arg(work.path(".git")).arg(elsewhere.path()).status().unwrap();
    assert!(moved.success());
    symlink(elsewhere.path().join(".git"), work.path(".git")).unwrap();
    assert_eq!(work.held(), [".gitignore", "a.gen"]);
}

#[test]
fn the_users_own_rules_are_the_weakest_and_hold_where_git_is() {
    let home = tempfile::tempdir().unwrap();
    let write_home = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
    let (config, excludes) = (home.path().join("config"), home.path().join("ignore"));
    let user = GitUser { home: Some(home.path().into()), configs: vec![config], excludes: Some(excludes) };
    let names = ["a.own", "b.own", "c.own", "top", "in/top", "in/x.own"];
    let mut work = Work::with(&names.map(|name| (name, "x")));
    work.layout = work.layout.clone().with_git_user(user);
    let files = |work: &Work| work.held().into_iter().filter(|path| !path.ends_with('/')).collect::<Vec<_>>();
    write_home("ignore", "*.own\n/top\n");
    assert_eq!(files(&work).len(), names.len(), "no git, no rules of its user");
    if !work.git("", &["init", "-q"]) {
        return;
    }
    assert_eq!(files(&work), ["in/top"]);
    work.write(".git/info/exclude", "!b.own\n!c.own\n");
    work.write(".gitignore", "c.own\n");
    assert_eq!(files(&work), [".gitignore", "b.own", "in/top"]);
    // A repository inside has the same rules, from its own top.
    work.git("in", &["init", "-q"]);
    assert_eq!(files(&work), [".gitignore", "b.own"]);
    std::fs::remove_dir_all(work.path("in/.git")).unwrap();
    // Another file, through a link.
    write_home("config", "[core]\nexcludesFile = ~/link\n");
    symlink("other", home.path().join("link")).unwrap();
    assert_eq!(files(&work), [".gitignore", "a.own", "b.own", "in/top", "in/x.own", "top"]);
    write_home("other", "top\n");
    assert_eq!(files(&work), [".gitignore", "a.own", "b.own", "in/x.own"]);
    // The repository's word comes last, and git says the same.
    work.git("", &["config", "core.excludesFile", "rules"]);
    work.write("rules", "b.own\nx.*\nrules\n");
    let listed = git(work.dir.path(), &["ls-files", "-o", "--exclude-standard", "-x", ".progress"]).unwrap().stdout;
    let mut listed: Vec<&str> = std::str::from_utf8(&listed).unwrap().lines().collect();
    listed.sort_unstable();
    assert_eq!(listed, [".gitignore", "a.own", "b.own", "in/top", "top"]);
    assert_eq!(files(&work), listed);
}

#[test]
fn rules_that_cannot_be_read_are_told_and_hold_nobody_up() {
    let home = tempfile::tempdir().unwrap();
    let (config, excludes) = (home.path().join("config"), home.path().join("ignore"));
    let user = GitUser { home: None, configs: vec![config.clone()], excludes: Some(excludes.clone()) };
    let mut work = Work::with(&[("a", "x"), (".git/info/exclude", "a\n"), ("in/.git/x", "x"), ("in/b", "x")]);
    work.layout = work.layout.clone().with_git_user(user);
    make_fifo(&config);
    std::fs::create_dir(&excludes).unwrap();
    symlink("a", work.path("in/.gitignore")).unwrap();
    let taken = work.take();
    assert_eq!(work.held_in(&taken.root), ["in/", "in/.gitignore", "in/b"]);
    let told: Vec<&str> = taken.skipped.iter().map(|(path, _)| path.as_str()).collect();
    let [config, excludes] = [config, excludes].map(|path| path.to_str().unwrap().to_owned());
    let mut expected = [config.as_str(), &excludes, "in/.gitignore"];
    expected.sort_unstable();
    assert_eq!(told, expected);
    assert!(taken.skipped.iter().all(|(_, why)| why.contains("not used")), "{:?}", taken.skipped);
}

#[test]
fn capital_letters_are_small_ones_where_git_says_so() {
    let work = Work::with(&[(".gitignore", "*.LOG\nBuild/\n"), ("a.log", "x"), ("build/b", "x"), ("BUILD.txt", "x")]);
    if !work.git("", &["init", "-q"]) {
        return;
    }
    work.git("", &["config", "core.ignoreCase", "false"]);
    assert_eq!(work.held(), [".gitignore", "BUILD.txt", "a.log", "build/", "build/b"]);
    work.git("", &["config", "core.ignoreCase", "true"]);
    assert_eq!(work.held(), [".gitignore", "BUILD.txt"]);
}

#[test]
fn an_ignored_folder_in_which_nothing_was_wanted_is_not_there() {
    let mut work = Work::with(&[(".gitignore", "out/\n"), ("out/deep/other", "x"), ("out/deep/er/other", "x")]);
    work.capture.include = vec!["out/**/wanted".into()];
    assert_eq!(work.held(), [".gitignore"]);
    work.write("out/deep/er/wanted", "x");
    assert_eq!(work.held(), [".gitignore", "out/", "out/deep/", "out/deep/er/", "out/deep/er/wanted"]);
}

// PROMISES F92.
#[test]
fn a_nested_repositorys_files_are_kept_and_its_git_is_not() {
    let work = Work::with(&[
        ("a", "x"),
        ("nested/b", "x"),
        ("nested/.gitignore", "*.o\n"),
        ("nested/c.o", "x"),
        ("nested/d.o", "x"),
    ]);
    if !work.git("", &["init", "-q"]) {
        return;
    }
    work.git("nested", &["init", "-q"]);
    work.git("nested", &["add", "-f", "d.o"]);
    assert_eq!(work.held(), ["a", "nested/", "nested/.gitignore", "nested/b", "nested/d.o"]);
}

#[test]
fn a_work_tree_inside_a_repository_knows_the_rules_above_it_unless_they_leave_it_out() {
    let repository = Work::with(&[
        (".gitignore", "target/\n/sandbox/\n"),
        ("app/x", "1"),
        ("app/target/y", "2"),
        ("mid/.gitignore", "*.log\n"),
        ("mid/app/x", "1"),
        ("mid/app/x.log", "2"),
        ("sandbox/in/target/z", "3"),
    ]);
    if !repository.git("", &["init", "-q"]) {
        return;
    }
    let held_below = |folder: &str| {
        let layout = Layout::new(&repository.path(folder));
        Work {
            dir: tempfile::tempdir().unwrap(),
            layout,
            capture: repository.capture.clone(),
            limits: repository.limits.clone(),
        }
        .held()
    };
    assert_eq!(held_below("app"), ["x"]);
    assert_eq!(held_below("mid/app"), ["x"]);
    assert_eq!(held_below("sandbox/in"), ["target/", "target/z"]);
}

/// What git itself would track is what a snapshot holds.
#[test]
fn git_agrees_on_what_is_ignored() {
    let work = Work::with(&[
        (
            ".gitignore",
            "# comment\n\n*.o\n!important.o\n/only-top\nfolder-only/\ndoc/**/*.html\n\\#hash\nspace\\ \na/*\n!a/b\n*.[ch]x\n\
             *.{js,map}\n[[:alpha:]]key\n[\\]]x\ncache{\n[open\nd**e\n",
        ),
        ("x.o", ""),
        ("important.o", ""),
        ("sub/important.o", ""),
        ("only-top", ""),
        ("sub/only-top", ""),
        ("sub/folder-only/f", ""),
        ("folder-only.txt", ""),
        ("sub/file/folder-only", ""),
        ("doc/a/b/c.html", ""),
        ("doc/c.html", ""),
        ("other/doc/c.html", ""),
        ("#hash", ""),
        ("space ", ""),
        ("a/b/kept", ""),
        ("a/c/lost", ""),
        ("a/file", ""),
        ("q.cx", ""),
        ("app.js", ""),
        ("app.{js,map}", ""),
        ("xkey", ""),
        ("1key", ""),
        ("]x", ""),
        ("cache{", ""),
        ("[open", ""),
        ("dde", ""),
        ("d/e", ""),
        ("sub/.gitignore", "!x.o\nlocal*\n"),
        ("sub/x.o", ""),
        ("sub/local.txt", ""),
        ("sub/deeper/localized", ""),
        ("neg/.gitignore", "*\n!.gitignore\n"),
        ("neg/anything", ""),
    ]);
    if !work.git("", &["init", "-q"]) {
        return;
    }
    let list = ["-c", "core.quotePath=false", "ls-files", "--cached", "--others", "--exclude-standard"];
    let output = git(work.dir.path(), &list).unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let mut git: Vec<&str> = listed.lines().filter(|line| !line.starts_with(".progress")).collect();
    git.sort_unstable();
    let held = work.held();
    let ours: Vec<&str> = held.iter().map(String::as_str).filter(|path| !path.ends_with('/')).collect();
    assert_eq!(ours, git);
}

// PROMISES F87.
#[test]
fn what_is_no_file_is_skipped_and_named_without_waiting() {
    let work = Work::with(&[("a", "x"), (".Progress", "x"), ("git~1", "x")]);
    let fifo = work.path("pipe");
    make_fifo(&fifo);
    let _socket = std::os::unix::net::UnixListener::bind(work.path("socket")).unwrap();
    let taken = work.take();
    assert_eq!(work.held_in(&taken.root), ["a"]);
    let told: Vec<&str> = taken.skipped.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(told, [".Progress", "git~1", "pipe", "socket"]);
}

#[test]
fn a_tagged_folder_stays_out_unless_it_is_the_work_tree_or_named() {
    const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55";
    let mut work = Work::with(&[
        ("CACHEDIR.TAG", TAG),
        ("cache/CACHEDIR.TAG", TAG),
        ("named/CACHEDIR.TAG", TAG),
        ("named/in/x", "1"),
        ("partly/CACHEDIR.TAG", TAG),
        ("partly/in/x", "3"),
        ("partly/in/y", "4"),
        ("plain/x", "2"),
    ]);
    work.capture.include.extend(["named", "partly/in/x"].map(str::to_owned));
    assert_eq!(
        work.held(),
        [
            "CACHEDIR.TAG",
            "named/",
            "named/CACHEDIR.TAG",
            "named/in/",
            "named/in/x",
            "partly/",
            "partly/in/",
            "partly/in/x",
            "plain/",
            "plain/x"
        ]
    );
}
