//! The floors: dependencies point down only, and rooms on one floor do not know each other. Read from the source.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Room → floors and rooms that it may use. The table of DESIGN.md.
const FLOORS: [(&str, u8); 14] = [
    ("error", 0),
    ("model", 0),
    ("config", 1),
    ("ingest", 1),
    ("analysis", 1),
    ("report", 1),
    ("disk", 2),
    ("workspace", 3),
    ("store", 3),
    ("snapshot", 3),
    ("engine", 4),
    ("integrations", 5),
    ("cli", 6),
    ("main", 6),
];

fn floor(room: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

/// Whether code in `from` may use `to`.
fn may_use(from: &str, to: &str) -> bool {
    let (Some(above), Some(below)) = (floor(from), floor(to)) else { return false };
    if from == to {
        return true;
    }
    match above {
        0 => below == 0,
        1 => below == 0,
        2 => below == 0,
        3 => matches!(below, 0 | 2),
        4 => below <= 3,
        5 => matches!(below, 0 | 4),
        _ => true,
    }
}

/// What one source file may not do: `(line, what)`.
fn violations(room: &str, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // Tests may reach for anything: they stand outside the house.
    let code = without_tests(text);
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or(line);
        for (at, _) in line.match_indices("crate::") {
            let rest = &line[at + "crate::".len()..];
            let names: Vec<&str> = if let Some(list) = rest.strip_prefix('{') {
                list.split(['}', ',']).map(str::trim).filter(|name| name.starts_with(char::is_alphabetic)).collect()
            } else {
                vec![rest]
            };
            for name in names {
                let other: String = name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                if !may_use(room, &other) {
                    found.push((number + 1, format!("{room} uses {other}")));
                }
            }
        }
        let pure = floor(room).is_some_and(|floor| floor <= 1);
        for forbidden in ["std::fs", "std::env::", "SystemTime::now", "Instant::now", "Utc::now", "std::process"] {
            if pure && line.contains(forbidden) && !line.contains("env!") {
                found.push((number + 1, format!("{room} is pure and uses {forbidden}")));
            }
        }
        let clock = ["SystemTime::now", "Instant::now", "Utc::now"].iter().any(|clock| line.contains(clock));
        if clock && !pure && !matches!(room, "cli" | "main" | "disk") {
            found.push((number + 1, format!("{room} reads the clock")));
        }
    }
    found
}

fn without_tests(text: &str) -> &str {
    text.split("\nmod tests {").next().unwrap_or(text)
}

fn sources() -> Vec<(String, PathBuf)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(&src) {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let inside = path.strip_prefix(&src).unwrap();
            let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
            files.push((first.trim_end_matches(".rs").to_owned(), path));
        }
    }
    files
}

#[test]
fn dependencies_point_down_only() {
    let files = sources();
    assert!(files.len() > 40, "the sources were found");
    let mut faults = Vec::new();
    for (room, path) in files.iter().filter(|(room, _)| room != "lib") {
        assert!(floor(room).is_some(), "{room} has no floor: add it to the table here and in DESIGN.md");
        let text = std::fs::read_to_string(path).unwrap();
        faults.extend(
            violations(room, &text).into_iter().map(|(line, what)| format!("{}:{line}: {what}", path.display())),
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn planted_violations_are_found() {
    let cases = [
        ("analysis", "use crate::store::Store;"),
        ("ingest", "use crate::{error::Error, analysis::assess};"),
        ("store", "    let x = crate::snapshot::objects::id_of(b\"\");"),
        ("model", "use crate::disk;"),
        ("disk", "use crate::engine::begin;"),
        ("report", "let text = std::fs::read(path);"),
        ("analysis", "let now = Utc::now();"),
        ("engine", "let now = chrono::Utc::now();"),
        ("engine", "use crate::cli::run;"),
    ];
    for (room, line) in cases {
        assert_eq!(violations(room, line).len(), 1, "{room}: {line}");
    }
    for (room, line) in [("engine", "use crate::store::Store;"), ("store", "use crate::{disk, model::ids::LoopId};")] {
        assert!(violations(room, line).is_empty(), "{room}: {line}");
    }
}

#[test]
fn packages_live_where_design_says() {
    let homes = [
        ("walkdir::", vec!["workspace/reports.rs"]),
        ("serde_yaml::", vec!["config/mod.rs", "ingest/lint/clang_tidy_yaml.rs"]),
        ("quick_xml::", vec!["ingest/xml/element.rs"]),
        ("memchr::", vec!["ingest/", "snapshot/census.rs"]),
        ("comfy_table::", vec!["report/terminal"]),
        ("fs_extra::", vec!["cli/commands/demo.rs"]),
        ("blake3::", vec!["disk/hash.rs"]),
        ("zstd::", vec!["snapshot/pack.rs", "snapshot/packed.rs"]),
        ("similar::", vec!["snapshot/lines.rs", "integrations/install/diff.rs"]),
        ("jsonc_parser::", vec!["integrations/install/"]),
        ("indicatif::", vec!["cli/context.rs"]),
        ("signal_hook::", vec!["cli/interrupt.rs"]),
        ("clap::", vec!["cli/args.rs", "cli/mod.rs"]),
        ("clap_complete::", vec!["cli/args.rs", "cli/commands/shell.rs"]),
        ("clap_mangen::", vec!["cli/commands/shell.rs"]),
    ];
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (_, path) in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = without_tests(&text);
        let inside = path.strip_prefix(&src).unwrap().to_str().unwrap();
        for (package, allowed) in &homes {
            let lines: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let uses = lines.iter().any(|line| {
                line.match_indices(package)
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
            });
            assert!(!uses || allowed.iter().any(|home| inside.starts_with(home)), "{inside} uses {package}");
        }
    }
}

#[test]
fn what_the_crate_s_own_tests_read_is_in_the_package() {
    let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let (_, include) = manifest.split_once("include = [").unwrap();
    let packed: Vec<&str> = include.lines().map_while(|line| (line != "]").then(|| line.trim())).collect();
    let packed: Vec<&str> = packed.iter().filter_map(|line| line.strip_prefix("\"/")?.strip_suffix("\",")).collect();
    let mut read = 0;
    for (_, path) in sources() {
        for line in std::fs::read_to_string(&path).unwrap().lines().filter(|line| line.contains("include_str!(\"")) {
            let Some(from) = line.find("fixtures/") else { continue };
            let fixture = line[from..].split('"').next().unwrap();
            read += 1;
            assert!(packed.iter().any(|one| fixture.starts_with(one)), "{}: {fixture}", path.display());
        }
    }
    assert!(read > 5, "they are found");
}

#[test]
fn no_file_is_too_long_to_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = sources().into_iter().map(|(_, path)| path).collect();
    files.extend(std::fs::read_dir(root.join("tests/it")).unwrap().map(|entry| entry.unwrap().path()));
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        assert!(lines <= 800, "{} has {lines} lines", path.display());
    }
}

#[test]
fn every_test_file_is_part_of_the_test_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    let listed: BTreeSet<&str> = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.trim_end_matches(".rs");
        assert!(name == "main" || listed.contains(name), "{name} is not listed in tests/it/main.rs");
    }
}
