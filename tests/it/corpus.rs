//! Real reports of many tools, held against the figures that their corpus gives; and our own captures, cut at every byte.

use std::path::{Path, PathBuf};

use highwater::ingest::{self, Details, FORMATS, FileCoverage, Input, Parsed};
use rayon::prelude::*;
use serde_json::{Map, Value};

use crate::support::{is_soak, stride};

/// The corpus lies beside the checkout; without it these tests say so and pass.
fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let folder = std::env::var_os("HIGHWATER_CORPUS").map_or(folder, PathBuf::from);
    if std::fs::metadata(folder.join("MANIFEST.tsv")).is_ok() {
        return Some(folder);
    }
    println!("skipped: no report corpus at {}", folder.display());
    None
}

/// Files that lie under a format as which they must be rejected, and are another one by their content.
const IS_ANOTHER: &[(&str, &str)] = &[("test/cargo-test-text/demo__cargo-test-compile-error.txt", "rustc-text")];

/// Formats that tell the branches of single files, as far as there are captures with any.
const BRANCHES_BY_FILE: &[&str] = &[
    "clover",
    "cobertura",
    "coveragepy-json",
    "coverlet-json",
    "fastcov-json",
    "gcov-json",
    "gcov-text",
    "gcovr-json",
    "istanbul-final",
    "jacoco",
    "lcov",
    "simplecov-json",
    "simplecov-resultset",
    "sonar-coverage",
];

struct Row {
    file: String,
    format: String,
    expected: Map<String, Value>,
}

fn rows(corpus: &Path) -> Vec<Row> {
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let expected = serde_json::from_str(columns[6]).unwrap();
        Row { file: columns[0].to_owned(), format: columns[2].to_owned(), expected }
    };
    manifest.lines().skip(1).map(row).collect()
}

/// What is wrong with the outcome, if anything.
fn judge(expected: &Map<String, Value>, outcome: &highwater::error::Result<Parsed>) -> Option<String> {
    match (expected.get("reject").and_then(Value::as_str), outcome) {
        (Some(code), Err(error)) => {
            let got = error.reject().map(|reject| reject.code());
            (got != Some(code)).then(|| format!("rejected as {got:?}, not {code}: {error}"))
        }
        (Some(code), Ok(parsed)) => Some(format!("should be rejected as {code}, gave {:?}", parsed.figures.counts())),
        (None, Err(error)) => Some(format!("rejected: {error}")),
        (None, Ok(parsed)) => {
            let figures = serde_json::to_value(&parsed.figures).unwrap();
            let mut wanted = expected.clone();
            for key in ["declared", "info", "tolerant"] {
                wanted.remove(key);
            }
            (figures != Value::Object(wanted.clone())).then(|| format!("gave {figures}, not {}", Value::Object(wanted)))
        }
    }
}

#[test]
fn figures_are_exactly_the_corpus_s() {
    let Some(corpus) = corpus() else { return };
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for row in rows(&corpus) {
        let Some(format) = ingest::format(&row.format) else { continue };
        checked += 1;
        let bytes = std::fs::read(corpus.join(&row.file)).unwrap();
        let input = Input::bytes(&row.file, &bytes);
        for given in [Some(format), None] {
            let outcome = ingest::parse(&input, given);
            let is_another = |parsed: &Parsed| IS_ANOTHER.contains(&(row.file.as_str(), parsed.format.name));
            if given.is_none() && outcome.as_ref().is_ok_and(is_another) {
                continue;
            }
            let mut fault = judge(&row.expected, &outcome);
            if let Ok(parsed) = &outcome
                && parsed.format != format
            {
                fault = Some(format!("read as {} ({})", parsed.format.name, parsed.sniffed_by));
            }
            if let Some(fault) = fault {
                wrong.push(format!("{} ({}): {fault}", row.file, if given.is_some() { "given" } else { "sniffed" }));
            }
        }
    }
    assert!(checked >= 300, "{checked} files of {} formats", FORMATS.len());
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Files of formats that are not read here are passed over, or are what they are taken for.
#[test]
fn foreign_reports_are_not_claimed() {
    let Some(corpus) = corpus() else { return };
    let mut claimed = Vec::new();
    for row in rows(&corpus).iter().filter(|row| ingest::format(&row.format).is_none()) {
        let bytes = std::fs::read(corpus.join(&row.file)).unwrap();
        let input = Input::bytes(&row.file, &bytes);
        if let Ok(Some((format, why))) = ingest::detect(&input) {
            claimed.push(format!("{} ({}) is taken for {} ({why})", row.file, row.format, format.name));
        }
    }
    assert!(claimed.is_empty(), "{}", claimed.join("\n"));
}

/// The folders of `fixtures/reports`, with what each file in it comes to.
pub fn fixtures() -> Vec<(String, PathBuf, Map<String, Value>)> {
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports");
    let mut fixtures = Vec::new();
    for format in FORMATS {
        let folder = reports.join(format.name);
        let expected = std::fs::read_to_string(folder.join("expected.json"));
        let expected: Map<String, Value> = serde_json::from_str(&expected.unwrap_or_else(|error| {
            panic!("{} has no expected.json: {error}", folder.display());
        }))
        .unwrap();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if !matches!(name, "expected.json" | "README.md") {
                let expected = expected.get(name).unwrap_or_else(|| panic!("{} has no figures", path.display()));
                fixtures.push((format.name.to_owned(), path.clone(), expected.as_object().unwrap().clone()));
            }
        }
    }
    fixtures.sort_by(|a, b| a.1.cmp(&b.1));
    fixtures
}

#[test]
fn each_format_has_a_good_an_empty_and_a_truncated_fixture() {
    let fixtures = fixtures();
    for format in FORMATS {
        for kind in ["good.", "empty.", "truncated."] {
            let has = |path: &Path| path.file_name().unwrap().to_str().unwrap().starts_with(kind);
            assert!(
                fixtures.iter().any(|(name, path, _)| name == format.name && has(path)),
                "{kind} of {}",
                format.name
            );
        }
    }
}

#[test]
fn fixtures_give_their_figures_given_and_sniffed() {
    let mut wrong = Vec::new();
    for (format, path, expected) in fixtures() {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.display().to_string();
        let input = Input::bytes(&name, &bytes);
        for given in [ingest::format(&format), None] {
            let outcome = ingest::parse(&input, given);
            wrong.extend(judge(&expected, &outcome).map(|fault| format!("{name} ({given:?}): {fault}")));
            if let Ok(parsed) = &outcome {
                assert_eq!(parsed.format.name, format, "{name} by {}", parsed.sniffed_by);
                assert_eq!(parsed.sniffed_by == "given", given.is_some());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// As `jq -S` or another program's map leaves them.
#[test]
fn the_order_of_keys_does_not_matter() {
    let mut asked = 0;
    for (format, path, expected) in fixtures() {
        let Ok(document) = serde_json::from_slice::<Value>(&std::fs::read(&path).unwrap()) else { continue };
        let sorted = serde_json::to_vec(&document).unwrap();
        let name = path.display().to_string();
        let outcome = ingest::parse(&Input::bytes(&name, &sorted), None);
        asked += 1;
        assert_eq!(judge(&expected, &outcome), None, "{name}");
        assert!(outcome.is_err() || outcome.unwrap().format.name == format, "{name}");
    }
    assert!(asked > 200, "{asked}");
}

/// Where a report tells of single files, their lines and branches add up to its figures.
#[test]
fn files_add_up_to_the_figures() {
    let has_branches_by_file = |format: &str, path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        let parsed = ingest::parse(&Input::bytes("x", &bytes), ingest::format(format)).ok()?;
        let Details::Coverage(details) = &parsed.details else { return None };
        let sum = |of: fn(&FileCoverage) -> u64| Some(details.files.values().map(of).sum::<u64>());
        let (figures, path) = (&parsed.figures, path.display());
        if !details.files.is_empty() {
            let lines = [sum(|file| file.lines.covered()), sum(|file| file.lines.total())];
            assert_eq!(lines, [figures.lines_covered, figures.lines_total], "{path}");
        }
        let branches = [sum(|file| file.branches.taken()), sum(|file| file.branches.total())];
        if branches[1] == Some(0) {
            return None;
        }
        assert_eq!(branches, [figures.branches_covered, figures.branches_total], "{path}");
        Some(())
    };
    if let Some(corpus) = corpus() {
        for row in rows(&corpus) {
            has_branches_by_file(&row.format, &corpus.join(&row.file));
        }
    }
    let mut formats: Vec<String> = fixtures()
        .into_iter()
        .filter(|(format, path, _)| has_branches_by_file(format, path).is_some())
        .map(|(format, _, _)| format)
        .collect();
    formats.dedup();
    assert_eq!(formats, BRANCHES_BY_FILE);
}

/// A report that names no tool counts for nothing: that a linter has nothing to say any more would be unknown, not zero.
#[test]
fn reports_of_findings_tell_who_looked() {
    let mut nobody = Vec::new();
    for (format, path, expected) in fixtures() {
        let bytes = std::fs::read(&path).unwrap();
        if let Ok(Parsed { details: Details::Lint(details), .. }) =
            ingest::parse(&Input::bytes("x", &bytes), ingest::format(&format))
            && details.by_tool.is_empty()
        {
            nobody.push(format!("{}: {expected:?}", path.display()));
        }
    }
    assert!(nobody.is_empty(), "{}", nobody.join("\n"));
}

/// N1: a report that is cut anywhere is an error or tells the same as the whole; where a format has no end, a cut between
/// two lines may tell less, and one inside a line what is told to the end of that line.
#[test]
fn cuts_never_give_other_figures() {
    let wrong = fixtures().into_par_iter().flat_map_iter(|(format, path, expected)| {
        let bytes = std::fs::read(&path).unwrap();
        if expected.contains_key("reject") || bytes.len() > 20_000 {
            return Vec::new();
        }
        let format = ingest::format(&format).unwrap();
        let whole = ingest::parse(&Input::bytes("whole", &bytes), Some(format)).unwrap().figures;
        // Colours that are switched off after a line are part of its end, and blanks are no next line; a line that a terminal is
        // told to erase has ended.
        let at_line_end = |cut: usize| {
            let blanks = bytes[..cut].iter().rev().take_while(|byte| **byte == b' ').count();
            let before = &bytes[..cut - blanks];
            before.strip_suffix(b"\x1b[0m").unwrap_or(before).ends_with(b"\n")
                || before.ends_with(b"\x1b[2K\x1b[1G")
                || matches!(bytes.get(cut), Some(b'\n' | b'\r'))
        };
        // Without the soak, some cuts spread over the file, and every one of its last bytes.
        let step = if is_soak() { 1 } else { stride(1 + bytes.len() / 12) };
        let tail = bytes.len().saturating_sub(16);
        let cuts = (0..bytes.len()).filter(|cut| cut % step == 0 || *cut > tail);
        let told_otherwise = cuts.filter_map(|cut| {
            let parsed = ingest::parse(&Input::bytes("cut", &bytes[..cut]), Some(format)).ok()?;
            let to_line_end = || {
                let end = bytes[cut..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| cut + at + 1);
                ingest::parse(&Input::bytes("cut", &bytes[..end]), Some(format))
                    .is_ok_and(|to| to.figures == parsed.figures)
            };
            let between_records = !format.has_end && (at_line_end(cut) || to_line_end());
            (parsed.figures != whole && !between_records)
                .then(|| format!("{} cut at {cut}: {:?}", path.display(), parsed.figures.counts()))
        });
        told_otherwise.collect()
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
