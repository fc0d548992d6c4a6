//! PROMISES `roundtrip`: random trees are captured, changed at random, restored and restored back. The oracle is a plain
//! description of the tree, written to the disk and read from it by this file alone.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use highwater::config;
use highwater::disk::layout::Layout;
use highwater::model::config::LoopConfig;
use highwater::model::ids::check_name;
use highwater::snapshot::capture::{Captured, Stored, capture, survey};
use highwater::snapshot::restore::{Options, restore, undo};

/// Cases of a normal run; `ROUNDTRIP_CASES` asks for more.
const CASES: u64 = 256;

/// A small generator of our own (SplitMix64), so that a failing case can be run again by its number.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}

/// What a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    File { mode: u32, content: Vec<u8> },
    Link(Vec<u8>),
    Directory { mode: u32 },
}

type Tree = BTreeMap<Vec<u8>, Node>;

fn name(random: &mut Random) -> Vec<u8> {
    const PLAIN: [&str; 8] = ["a", "b", "src", "lib.rs", "Ünïcode", "with space", "-dash", "new\nline"];
    loop {
        let name = match random.below(3) {
            0 => PLAIN[random.below(PLAIN.len())].as_bytes().to_vec(),
            1 => {
                let length = 1 + random.below(12);
                random.bytes(length)
            }
            _ => format!("n{}", random.below(6)).into_bytes(),
        };
        // Names that end in `.ign` are ignored by these tests' own rule.
        if check_name(&name).is_ok() && !name.ends_with(b".ign") && !name.starts_with(b"id_") {
            return name;
        }
    }
}

fn node(random: &mut Random) -> Node {
    match random.below(8) {
        0 => Node::Link(link_target(random)),
        1 | 2 => Node::Directory { mode: [0o755, 0o700, 0o750, 0o777][random.below(4)] },
        _ => Node::File { mode: [0o644, 0o755, 0o600, 0o444, 0o640][random.below(5)], content: content(random) },
    }
}

fn link_target(random: &mut Random) -> Vec<u8> {
    let targets: [&[u8]; 6] = [b"a", b"../..", b"/etc/passwd", b"dangling", b"n1/n2", b"\xff odd"];
    targets[random.below(targets.len())].to_vec()
}

fn content(random: &mut Random) -> Vec<u8> {
    match random.below(32) {
        0..8 => Vec::new(),
        8..16 => b"fn main() {}\n".repeat(1 + random.below(50)),
        16..31 => {
            let length = random.below(3000);
            random.bytes(length)
        }
        // Over the size that is handled in one piece.
        _ => random.bytes(8).repeat(600_000),
    }
}

fn grow(random: &mut Random, tree: &mut Tree, more: usize) {
    for _ in 0..more {
        let folders: Vec<Vec<u8>> = tree
            .iter()
            .filter(|(_, node)| matches!(node, Node::Directory { .. }))
            .map(|(path, _)| path.clone())
            .chain([Vec::new()])
            .collect();
        let mut path = folders[random.below(folders.len())].clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend(name(random));
        let made = node(random);
        tree.entry(path).or_insert(made);
    }
}

fn remove(tree: &mut Tree, path: &[u8]) {
    let below = [path, b"/"].concat();
    tree.retain(|other, _| other != path && !other.starts_with(&below));
}

fn mutate(random: &mut Random, tree: &mut Tree) {
    let paths: Vec<Vec<u8>> = tree.keys().cloned().collect();
    for path in paths {
        let Some(old) = tree.get(&path).cloned() else { continue };
        match (random.below(10), old) {
            (0, _) => remove(tree, &path),
            (1, _) => {
                // Perhaps of another kind: a file becomes a directory, a directory a link.
                remove(tree, &path);
                let new = node(random);
                tree.insert(path, new);
            }
            (2, Node::File { mode, content }) => {
                let other = content.iter().rev().copied().chain([b'x']).take(content.len()).collect();
                tree.insert(path, Node::File { mode, content: other });
            }
            (3, Node::File { content, .. }) => {
                tree.insert(path, Node::File { mode: 0o711, content });
            }
            (3, Node::Directory { .. }) => {
                tree.insert(path, Node::Directory { mode: 0o711 });
            }
            _ => {}
        }
    }
    let more = random.below(5);
    grow(random, tree, more);
}

fn full(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Makes the disk as `new` says, touching only what differs from `old`.
fn write(root: &Path, old: &Tree, new: &Tree) {
    let is_directory = |node: &Node| matches!(node, Node::Directory { .. });
    for (path, node) in old.iter().rev() {
        let stays = new.get(path).is_some_and(|other| other == node || is_directory(node) && is_directory(other));
        if stays {
            continue;
        }
        let path = full(root, path);
        if is_directory(node) { std::fs::remove_dir(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }
    for (path, node) in new {
        let path = full(root, path);
        let there = std::fs::symlink_metadata(&path).is_ok();
        match node {
            Node::Directory { .. } if !there => std::fs::create_dir(&path).unwrap(),
            Node::Link(target) if !there => symlink(OsStr::from_bytes(target), &path).unwrap(),
            Node::File { mode, content } if !there => {
                std::fs::write(&path, content).unwrap();
                set_mode(&path, *mode);
            }
            _ => {}
        }
    }
    for (path, node) in new {
        if let Node::Directory { mode } = node {
            set_mode(&full(root, path), *mode);
        }
    }
}

/// The disk as it is, without the store and what these tests' rule ignores.
fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut waiting = vec![Vec::new()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(full(root, &folder)).unwrap() {
            let entry = entry.unwrap();
            let mut path: Vec<u8> = folder.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend(entry.file_name().as_bytes());
            if path == b".progress" || path == b".gitignore" || path.ends_with(b".ign") {
                continue;
            }
            let meta = entry.metadata().unwrap();
            let mode = meta.mode() & 0o7777;
            let node = if meta.is_dir() {
                waiting.push(path.clone());
                Node::Directory { mode }
            } else if meta.is_symlink() {
                Node::Link(std::fs::read_link(entry.path()).unwrap().as_os_str().as_bytes().to_vec())
            } else {
                Node::File { mode, content: std::fs::read(entry.path()).unwrap() }
            };
            tree.insert(path, node);
        }
    }
    tree
}

/// When the files that both trees have alike were written.
fn times(root: &Path, one: &Tree, other: &Tree) -> Vec<(Vec<u8>, SystemTime)> {
    let alike = one.iter().filter(|(path, node)| matches!(node, Node::File { .. }) && other.get(*path) == Some(*node));
    alike
        .map(|(path, _)| (path.clone(), std::fs::symlink_metadata(full(root, path)).unwrap().modified().unwrap()))
        .collect()
}

struct Case {
    dir: tempfile::TempDir,
    layout: Layout,
    config: LoopConfig,
}

impl Case {
    fn new() -> Case {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        Case { dir, layout, config: config::defaults().unwrap() }
    }

    fn take(&self) -> Captured {
        capture(&self.layout, &self.config.capture, &self.config.limits, &[], &[], &|_, _| {}).unwrap().0
    }

    fn packs(&self) -> usize {
        std::fs::read_dir(self.layout.objects()).unwrap().count()
    }

    fn options(&self) -> Options<'_> {
        Options {
            paths: &[],
            into: None,
            dry_run: false,
            origin: None,
            capture: &self.config.capture,
            limits: &self.config.limits,
            wait: std::time::Duration::from_secs(10),
            now: chrono::DateTime::UNIX_EPOCH,
        }
    }
}

fn same(found: &Tree, expected: &Tree, what: &str) {
    for path in expected.keys().chain(found.keys()) {
        let (found, expected) = (found.get(path), expected.get(path));
        assert!(found == expected, "{what}: {:?} is {found:.200?}, not {expected:.200?}", OsStr::from_bytes(path));
    }
}

fn run(number: u64) {
    let mut random = Random(number);
    let case = Case::new();
    let root = case.dir.path();
    let (mut before, mut after) = (Tree::new(), Tree::new());
    let size = random.below(16);
    grow(&mut random, &mut before, size);
    std::fs::write(root.join(".gitignore"), "*.ign\n").unwrap();
    std::fs::write(root.join("mine.ign"), "before").unwrap();
    write(root, &after, &before);
    after.clone_from(&before);

    let taken = case.take();
    assert!(taken.unheld.is_empty() && taken.skipped.is_empty(), "{taken:?}");
    let packs = case.packs();
    let again = case.take();
    assert_eq!((again.root, again.census, again.new_bytes, case.packs()), (taken.root, taken.census, 0, packs));
    let surveyed = survey(&case.layout, &case.config.capture, &case.config.limits, Stored::Trusted).unwrap();
    assert_eq!((surveyed.root(), surveyed.files()), (taken.root, taken.files));

    mutate(&mut random, &mut after);
    write(root, &before, &after);
    std::fs::write(root.join("mine.ign"), "after").unwrap();
    same(&read(root), &after, "the test's own writing");
    let untouched = times(root, &before, &after);

    let outcome = restore(&case.layout, taken.root, &case.options()).unwrap();
    same(&read(root), &before, "restored");
    assert!(outcome.rescued.is_empty(), "{outcome:?}");
    assert_eq!(times(root, &before, &after), untouched, "files that were equal keep their times");
    assert_eq!(std::fs::read(root.join("mine.ign")).unwrap(), b"after", "what is ignored is not touched");
    assert_eq!(case.take().root, taken.root);

    undo(&case.layout, &case.config.capture, &case.config.limits, chrono::DateTime::UNIX_EPOCH).unwrap();
    same(&read(root), &after, "undone");
}

/// Cases that run at a time: most of their time they wait for the disk to sync.
const AT_A_TIME: usize = 8;

#[test]
fn random_trees_come_back_and_forth() {
    let cases = std::env::var("ROUNDTRIP_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    std::thread::scope(|scope| {
        for first in (0..cases).take(AT_A_TIME) {
            scope.spawn(move || {
                for number in (first..cases).step_by(AT_A_TIME) {
                    if let Err(panic) = std::panic::catch_unwind(|| run(number)) {
                        eprintln!("roundtrip case {number} failed");
                        std::panic::resume_unwind(panic);
                    }
                }
            });
        }
    });
    eprintln!("{cases} trees there and back");
}
