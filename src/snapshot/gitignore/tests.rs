use super::*;
use crate::disk::tests_support::{Numbers, git};

fn ignored(lines: &str, path: &str) -> Option<bool> {
    let (path, is_directory) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
    Lines::read(lines.as_bytes(), false).ignore(path.as_bytes(), is_directory)
}

#[test]
fn lines_mean_what_they_mean_to_git() {
    // The line, what it matches, and what it does not.
    const TABLE: &[(&str, &[&str], &[&str])] = &[
        ("*.{js,map}", &["a.{js,map}"], &["a.js", "a.map"]),
        ("cache{", &["cache{", "d/cache{"], &["cache"]),
        ("}a,", &["}a,"], &["a"]),
        ("[[:alpha:]]key", &["xkey", "Xkey"], &["1key", ":key", "key"]),
        ("[^[:alpha:]_]key", &["1key"], &["xkey", "_key", "key"]),
        ("[![:digit:]]", &["a", "]"], &["1"]),
        ("[[:alfa:]]", &[], &["a", "[", ":"]),
        ("[[:alpha]x", &[":x", "[x", "lx"], &["bx"]),
        (r"[\]]x", &["]x"], &["\\]x", "\\x"]),
        ("[]-]", &["]", "-"], &["a"]),
        ("[a-]", &["a", "-"], &["b"]),
        ("[a-c-e]", &["b", "-", "e"], &["d"]),
        ("[c-a]", &["a/c"], &["b", "a"]),
        (r"[\a-\c]", &["b"], &["\\"]),
        ("[!a]b", &["bb", "!b"], &["ab"]),
        ("[a", &[], &["[a", "a"]),
        ("a[", &[], &["a["]),
        ("[é][é]", &["é"], &["e"]),
        ("??", &["é", "ab"], &["a", "abc"]),
        ("***", &["a", "b/c"], &[]),
        ("**b", &["b", "ab", "d/ab"], &["a", "b/a"]),
        ("a**b", &["ab", "axb", "d/axb"], &["a/b"]),
        ("/x?**b", &["xyb", "xyzb"], &["xy/b", "xyz/ab"]),
        ("x/**/b", &["x/b", "x/y/b", "x/y/z/b"], &["b", "x/yb", "a/x/b"]),
        ("x/***/b", &["x/b", "x/y/z/b"], &["xb"]),
        ("**/x/b", &["x/b", "y/x/b"], &["x", "yx/b"]),
        ("x/**", &["x/a", "x/a/b"], &["x", "x/"]),
        ("x/*", &["x/a"], &["x/a/b", "x/"]),
        (r"**\/b", &["a/b", "a/c/b"], &["b", "ab"]),
        // What is spelled out before the first wildcard is held against the path first, and `**` then stands at a beginning.
        ("x**/b", &["xb", "x/b", "xy/b", "xy/z/b"], &["b", "xyb"]),
        ("a\\", &[], &["a", "a\\"]),
        (r"a\ ", &["a "], &["a"]),
        ("a  ", &["a"], &["a ", "a  "]),
        (r"a\  ", &["a "], &["a", "a  "]),
        ("a\t", &["a\t"], &["a"]),
        (" a", &[" a"], &["a"]),
        ("a\r\n", &["a"], &["a\r"]),
        ("a\r", &["a"], &["a\r"]),
        ("a\0b", &["a"], &["ab"]),
        ("\u{feff}a", &["a"], &[]),
        ("#a", &[], &["#a", "a"]),
        (r"\#a", &["#a"], &["a"]),
        (r"\!a", &["!a"], &["a"]),
        ("a/", &["a/", "d/a/"], &["a"]),
        ("/a", &["a", "a/"], &["d/a"]),
        ("d/a", &["d/a"], &["a", "e/d/a", "d/a/b"]),
        ("/", &[], &["a", "a/"]),
        ("//", &[], &["a", "a/"]),
        ("", &[], &["a"]),
        ("!", &[], &["a"]),
    ];
    for (line, matched, others) in TABLE {
        for path in *matched {
            // A range whose first is past its last is what its first is.
            let path = if *line == "[c-a]" { "c" } else { path };
            assert_eq!(ignored(line, path), Some(true), "{line:?} {path:?}");
        }
        for path in *others {
            assert_eq!(ignored(line, path), None, "{line:?} {path:?}");
        }
    }
}

#[test]
fn where_case_does_not_count_a_range_has_both_cases_of_its_letters_and_no_others() {
    let lines = Lines::read(b"[B-C]x\n[d-e]y\n", true);
    for (path, expected) in
        [("bx", true), ("Cx", true), ("ax", false), ("Dx", false), ("dy", true), ("Ey", true), ("fy", false)]
    {
        assert_eq!(lines.ignore(path.as_bytes(), false).is_some(), expected, "{path}");
    }
}

#[test]
fn the_last_line_that_matches_decides() {
    assert_eq!(ignored("*.log\n!keep.log\n", "keep.log"), Some(false));
    assert_eq!(ignored("!keep.log\n*.log\n", "keep.log"), Some(true));
    assert_eq!(ignored("keep.log\n!keep.log\n*.l\n", "keep.log"), Some(false));
    assert_eq!(ignored("a\n!a/\n", "a"), Some(true));
    assert_eq!(ignored("a\n!a/\n", "a/"), Some(false));
}

#[test]
fn a_line_that_could_match_in_many_ways_takes_no_time() {
    let lines = format!("{}b\n{}b\n{}b\n", "*a".repeat(60), "**/a/".repeat(60), "**/*a*/".repeat(60));
    let path = "a/".repeat(2000) + &"a".repeat(90);
    assert_eq!(ignored(&lines, &path), None);
}

#[test]
fn classes_have_the_characters_that_they_have_for_git() {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<String> =
        (1..0x80_u8).map(char::from).filter(|one| *one != '/').map(|one| format!("x{one}")).collect();
    for folds in [false, true] {
        let setting = format!("core.ignoreCase={folds}");
        let mut ask = vec!["-c", &setting, "check-ignore", "--no-index", "-v", "-n", "--"];
        ask.extend(names.iter().map(String::as_str));
        for class in [
            "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit",
        ] {
            let line = format!("x[[:{class}:]]");
            let Some(made) = git(dir.path(), &["init", "-q"]) else { return };
            assert!(made.status.success());
            std::fs::write(dir.path().join(".gitignore"), &line).unwrap();
            let answer = git(dir.path(), &ask).unwrap();
            let said = String::from_utf8(answer.stdout.clone()).unwrap();
            assert_eq!(said.lines().count(), names.len(), "{answer:?}");
            let lines = Lines::read(line.as_bytes(), folds);
            for (name, answer) in names.iter().zip(said.lines()) {
                let ours = lines.ignore(name.as_bytes(), false).is_some();
                assert_eq!(ours, !answer.starts_with("::"), "folds: {folds}, class: {class}, name: {name:?}");
            }
        }
    }
}

const ALPHABET: [&str; 20] =
    ["a", "a", "b", "A", "{", "}", ",", "[", "]", "!", "^", "*", "?", "\\", "-", ":", " ", ".", "#", "é"];
const WILD: [&str; 30] = [
    "*",
    "*",
    "**",
    "**/",
    "**/",
    "/**",
    "/**/",
    "***",
    "?",
    "?",
    "/",
    "/",
    "\\",
    "\\/",
    "[",
    "]",
    "[a-b]",
    "[!a]",
    "[^A-b]",
    "[]]",
    "[a-",
    "[\\]]",
    "[[:",
    ":]",
    "[[:alpha:]]",
    "[[:upper:]-]",
    "[^[:punct:]]",
    "[[:space:][:cntrl:]b]",
    "[--}]",
    " ",
];

/// A line that is like a path, a line of anything, or one between the two.
fn line(numbers: &mut Numbers, paths: &[String]) -> String {
    let path = &paths[numbers.below(paths.len())];
    let wildness = numbers.below(5);
    let mut line = String::from(["", "", "", "!", "/"][numbers.below(5)]);
    let end = numbers.below(path.len()).max(1);
    for letter in path.chars().take(if wildness == 4 {
        0
    } else if numbers.below(3) > 0 {
        path.len()
    } else {
        end
    }) {
        match numbers.below(10) {
            roll if roll >= wildness => line.push(letter),
            0 => {}
            1 => line.extend(['\\', letter]),
            _ => line.push_str(numbers.one_of(&WILD)),
        }
    }
    for _ in 0..numbers.below(4) * usize::from(wildness == 4) * 2 {
        line.push_str(if numbers.below(2) == 0 { numbers.one_of(&ALPHABET) } else { numbers.one_of(&WILD) });
    }
    line + ["", "", "", "", "/", "*", "/**", " "][numbers.below(8)]
}

/// The number of the line that decides, as a walk comes to it: what lies in an ignored folder is ignored with it.
fn decides(lines: &Lines, path: &str, is_directory: bool) -> Option<usize> {
    for (end, _) in path.match_indices('/') {
        if let Some(says) = lines.last(&path.as_bytes()[..end], true).filter(|says| !says.is_kept) {
            return Some(says.number);
        }
    }
    lines.last(path.as_bytes(), is_directory).map(|says| says.number)
}

/// Some thousands of random lines, each held against every path of a random tree, by git and by us.
#[test]
fn git_says_the_same_of_random_lines() {
    let is_soak = std::env::var_os("HIGHWATER_SOAK").is_some();
    let mut numbers = Numbers(7);
    let (mut seen, mut matched) = (0, 0);
    for folds in [false, true] {
        for _ in 0..if is_soak { 40 } else { 4 } {
            let dir = tempfile::tempdir().unwrap();
            let Some(made) = git(dir.path(), &["init", "-q"]) else { return };
            assert!(made.status.success());
            let setting = format!("core.ignoreCase={folds}");
            let paths = random_tree(dir.path(), &mut numbers);
            // A `:` at the beginning would be magic.
            let asked: Vec<String> = paths.iter().map(|path| format!("./{path}")).collect();
            let mut ask = vec!["-c", &setting, "check-ignore", "--no-index", "-v", "-n", "--"];
            ask.extend(asked.iter().map(String::as_str));
            for _ in 0..if is_soak { 250 } else { 50 } {
                let text: Vec<String> = (0..8).map(|_| line(&mut numbers, &paths)).collect();
                let text = text.join("\n");
                std::fs::write(dir.path().join(".gitignore"), &text).unwrap();
                let answer = git(dir.path(), &ask).unwrap();
                let said = String::from_utf8(answer.stdout.clone()).unwrap();
                assert_eq!(said.lines().count(), paths.len(), "{answer:?}");
                let lines = Lines::read(text.as_bytes(), folds);
                for (path, answer) in paths.iter().zip(said.lines()) {
                    let theirs = answer.split(':').nth(1).unwrap().parse().ok();
                    let ours = decides(&lines, path, dir.path().join(path).metadata().unwrap().is_dir());
                    assert_eq!(ours, theirs, "folds: {folds}, path: {path:?}, git: {answer}, lines:\n{text}");
                    seen += 1;
                    matched += usize::from(theirs.is_some());
                }
            }
        }
    }
    eprintln!("{seen} answers, {matched} of them by a line");
    assert!(matched * 10 > seen, "{matched} of {seen}");
}

/// Files and folders, and their paths.
fn random_tree(root: &std::path::Path, numbers: &mut Numbers) -> Vec<String> {
    let mut paths = vec![String::new()];
    while paths.len() < 120 {
        let folder = &paths[numbers.below(paths.len())];
        let name: String = (0..=numbers.below(3)).map(|_| numbers.one_of(&ALPHABET)).collect();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let full = root.join(&path);
        let is_new = !full.ends_with(".") && !path.split('/').any(|name| name.trim_matches('.').is_empty());
        if !is_new || full.symlink_metadata().is_ok() || !full.parent().unwrap().metadata().unwrap().is_dir() {
            continue;
        }
        if numbers.below(2) == 0 {
            std::fs::write(full, "").unwrap()
        } else {
            std::fs::create_dir(full).unwrap()
        }
        paths.push(path);
    }
    paths.split_off(1)
}
