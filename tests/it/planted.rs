//! The planted bugs (`tests/planted/run.sh`) fit the source as it is: a patch that applies to other lines plants another bug.

use std::path::Path;

/// Whether no fewer lines stand below the change of each hunk than above it: `patch` looks for others at the end of the file.
fn are_found(patch: &str) -> bool {
    patch.split("\n@@ ").skip(1).all(|hunk| {
        let lines =
            hunk.lines().skip(1).take_while(|line| line.starts_with([' ', '+', '-']) && !line.starts_with("--- "));
        let is_kept: Vec<bool> = lines.map(|line| line.starts_with(' ')).collect();
        let above = is_kept.iter().take_while(|is_kept| **is_kept).count();
        above <= is_kept.iter().rev().take_while(|is_kept| **is_kept).count()
    })
}

/// The hunks of a patch: a file, and the lines that it must have in one piece.
fn hunks(patch: &str) -> Vec<(String, String)> {
    let mut hunks: Vec<(String, String)> = Vec::new();
    let mut file = "";
    for line in patch.lines().skip_while(|line| !line.starts_with("--- ")) {
        if let Some(name) = line.strip_prefix("--- ") {
            file = name;
        } else if line.starts_with("@@ ") {
            hunks.push((file.to_owned(), String::new()));
        } else if let Some(old) = line.strip_prefix([' ', '-']) {
            let (_, lines) = hunks.last_mut().unwrap();
            lines.push_str(old);
            lines.push('\n');
        }
    }
    hunks
}

#[test]
fn every_planted_bug_fits_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut patches = 0;
    for entry in std::fs::read_dir(root.join("tests/planted")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "patch") {
            continue;
        }
        patches += 1;
        let patch = std::fs::read_to_string(&path).unwrap();
        assert!(patch.starts_with("bug: ") && patch.contains("\nproof: "), "{}", path.display());
        assert!(are_found(&patch), "{}", path.display());
        let hunks = hunks(&patch);
        assert!(!hunks.is_empty(), "{}", path.display());
        for (file, old) in hunks {
            let source = std::fs::read_to_string(root.join(&file)).unwrap();
            assert_eq!(source.matches(&old).count(), 1, "{}: {file} has these lines once:\n{old}", path.display());
        }
    }
    assert!(patches > 20, "{patches} patches");
}
