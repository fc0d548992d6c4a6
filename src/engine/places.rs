//! What a record alone does not tell of an iteration, for the forms that other programs read: its tests by name, and where
//! its alerts have a place in a file.
//!
//! A test's place is what its report says, where needed in the one folder that has such a file; else the file that its name
//! stands for. An alert about errors has the place of each error that the iteration before did not have, from the stored
//! reports. Only files of a snapshot are places.

use std::collections::BTreeMap;
use std::path::Path;

use super::bodies::file_at;
use super::judge::read_cases;
use super::loops::frozen_config;
use super::measure::stored_reports;
use super::tests::failing_of;
use super::view::iteration;
use crate::analysis;
use crate::disk::{hash::id_of, layout::Layout};
use crate::error::Result;
use crate::ingest::{Details, Finding, Level, Sort};
use crate::model::cases::TestCases;
use crate::model::figures::ReportKind;
use crate::model::ids::{Iteration, ObjectId, TreePath};
use crate::model::lost_lines::LostInFile;
use crate::model::record::IterationRecord;
use crate::model::trajectory::BestTracker;
use crate::model::verdict::Alert;
use crate::report::Place;
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::files;
use crate::store::Store;

/// Whose alerts have places, and where they are looked for.
const PLACED: [(&str, At); 10] = [
    ("working_tests_failing", At::BrokenTests),
    ("failing_test_removed", At::GoneTest),
    ("passing_test_removed", At::GoneTest),
    ("error_increase", At::NewErrors),
    ("build_broken", At::BuildErrors),
    ("tamper_suspected", At::Edits),
    ("tamper_confirmed", At::BrokenTests),
    ("hidden_regression", At::BrokenTests),
    ("spec_change", At::BrokenTests),
    ("lost_coverage", At::LostLines),
];

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Tests that passed and fail now, or those that the alert names.
    BrokenTests,
    /// A test that is gone.
    GoneTest,
    /// Errors of tools that the iteration before did not have.
    NewErrors,
    /// The compilers' among them.
    BuildErrors,
    /// Edits of tests.
    Edits,
    /// The first of the lines that do not run any more, in each file.
    LostLines,
}

/// Everything that is told of one iteration.
pub struct IterationDetails {
    /// Its record.
    pub record: IterationRecord,
    /// The best as it was then.
    pub best: BestTracker,
    /// Its tests, if its reports named them.
    pub cases: Option<TestCases>,
    /// Places of its alerts.
    pub places: Vec<Place>,
}

/// Gathers what is told of an iteration; nothing is written.
///
/// # Errors
/// Bad input if there is none of that number, or its record or its tests cannot be read. Places that cannot be found out,
/// because reports or snapshots were let go, are absent.
pub fn iteration_details(layout: &Layout, store: &Store, wanted: Iteration) -> Result<IterationDetails> {
    let record = iteration(store, wanted)?.record;
    let points = store.history()?.points;
    // As it was then: what came later has no place in it.
    let then = points.partition_point(|point| point.iteration <= wanted);
    let best =
        analysis::best(points.get(..then).unwrap_or_default(), &frozen_config(layout, store, record.config)?.config);
    let objects = Objects::open(layout)?;
    let cases = record.metrics.cases().map(|id| read_cases(&objects, &id)).transpose()?;
    let (known, below) = (BTreeMap::new(), BTreeMap::new());
    let failing = cases.is_none().then(|| failing_of(layout, store, &record));
    let mut search = Search { layout, store, objects: &objects, record: &record, known, below };
    let places = search.places(cases.as_ref().or(failing.as_ref()));
    Ok(IterationDetails { record, best, cases, places })
}

struct Search<'a> {
    layout: &'a Layout,
    store: &'a Store,
    objects: &'a Objects,
    record: &'a IterationRecord,
    /// Whether a tree has a file of that path, as far as it was asked.
    known: BTreeMap<(ObjectId, String), bool>,
    /// Files of a tree whose paths end so, as far as they were asked for.
    below: BTreeMap<(ObjectId, String), Vec<String>>,
}

impl Search<'_> {
    fn places(&mut self, cases: Option<&TestCases>) -> Vec<Place> {
        let record = self.record;
        let (mut places, mut met) = (Vec::new(), BTreeMap::new());
        for (index, alert) in record.alerts.iter().enumerate() {
            let Some((_, at)) = PLACED.iter().find(|(rule, _)| *rule == alert.rule) else { continue };
            let found = match at {
                At::BrokenTests => self.broken(alert, cases),
                At::GoneTest => self.gone(alert).into_iter().collect(),
                At::NewErrors => self.new_errors(&|_| true),
                At::Edits => self.edits(alert),
                At::LostLines => self.lost_lines(),
                At::BuildErrors => self.new_errors(&|sort| sort == Sort::Compiler),
            };
            for (path, line, what) in found {
                let identity = [alert.rule.as_str(), &path, &what].join("\0");
                let times: &mut u64 = met.entry(identity.clone()).or_default();
                *times += 1;
                let fingerprint = id_of(format!("{identity}\0{times}").as_bytes());
                places.push(Place { alert: index, path, line, what, fingerprint });
            }
        }
        places
    }

    /// The test that the alert names, else those that the record names as broken.
    fn broken(&mut self, alert: &Alert, cases: Option<&TestCases>) -> Vec<(String, Option<u64>, String)> {
        let (Some(cases), record) = (cases, self.record) else { return Vec::new() };
        let broken = record.from_previous.as_ref().and_then(|deltas| deltas.tests_broken.as_ref());
        let names = match &alert.subject {
            Some(subject) => std::slice::from_ref(subject),
            // Where those that fail are named alone, the alert names the new ones among them.
            None if broken.is_none() => record.metrics.failing(),
            None => broken.map(|broken| broken.names.as_slice()).unwrap_or_default(),
        };
        let all = alert.subject.is_some() || broken.is_some();
        let is_named = |id: &&String| all || alert.evidence.iter().any(|line| line.ends_with(id.as_str()));
        let place = |id: &String| {
            let (path, line) = self.file_of(id, cases, &record.tree)?;
            Some((path, line, id.clone()))
        };
        names.iter().filter(is_named).filter_map(place).collect()
    }

    /// The lines that the alert is about, as far as they are still there.
    fn edits(&self, alert: &Alert) -> Vec<(String, Option<u64>, String)> {
        let edits = self.record.test_edits.iter().flat_map(|all| &all.edits);
        let its = edits.filter(|edit| edit.line.is_some() && alert.subjects().any(|subject| *subject == edit.place()));
        its.map(|edit| (edit.path.to_string(), edit.line, edit.texts().unwrap_or_else(|| edit.said()))).collect()
    }

    fn lost_lines(&self) -> Vec<(String, Option<u64>, String)> {
        let files = self.record.lost_lines.iter().flat_map(|lost| &lost.files);
        let place = |file: &LostInFile| {
            let is_file = TreePath::new(file.path.as_str())
                .is_ok_and(|path| matches!(file_at(self.objects, &self.record.tree, &path), Ok(Some(_))));
            let what = format!("{} of them in this file", file.lost);
            is_file.then(|| (file.path.clone(), file.lines.first().copied(), what))
        };
        files.filter_map(place).collect()
    }

    /// Where the test was. Its line is another's by now.
    fn gone(&mut self, alert: &Alert) -> Option<(String, Option<u64>, String)> {
        let id = alert.subject.as_ref()?;
        let before = self.store.load(self.record.parent?).ok()?.record;
        let cases = read_cases(self.objects, &before.metrics.cases()?).ok()?;
        let (path, _) = self.file_of(id, &cases, &before.tree)?;
        Some((path, None, id.clone()))
    }

    fn file_of(&mut self, id: &str, cases: &TestCases, tree: &ObjectId) -> Option<(String, Option<u64>)> {
        let case = cases.cases.get(id)?;
        let told = case.file.as_deref().and_then(|file| inside(self.layout.root(), file));
        if let Some(told) = told {
            let path = if self.has(tree, &told) { Some(told) } else { self.only(tree, told, id) };
            if path.is_some() {
                return path.map(|path| (path, case.line));
            }
        }
        named_files(id).into_iter().find(|path| self.has(tree, path)).map(|path| (path, None))
    }

    /// The file whose path ends so, if no other's does: stacks of Java and Go name no folder. Of several, the one in a folder
    /// that the test's id names, as `dev.shop.CartTest::sum` and `example.org/shop/cart::TestSum` do.
    fn only(&mut self, tree: &ObjectId, end: String, id: &str) -> Option<String> {
        let objects = self.objects;
        let below = self.below.entry((*tree, end)).or_insert_with_key(|(tree, end)| files_below(objects, tree, end));
        let group = id.split("::").next().unwrap_or_default();
        let is_named = |path: &&String| {
            let folder = path.rsplit('/').nth(1);
            folder.is_some_and(|folder| group.split(['.', '/']).any(|part| part == folder))
        };
        match below.as_slice() {
            [one] => Some(one.clone()),
            several => {
                let mut named = several.iter().filter(is_named);
                named.next().filter(|_| named.next().is_none()).cloned()
            }
        }
    }

    fn has(&mut self, tree: &ObjectId, path: &str) -> bool {
        let objects = self.objects;
        *self.known.entry((*tree, path.to_owned())).or_insert_with(|| {
            let path = TreePath::new(path.as_bytes()).ok();
            path.is_some_and(|path| file_at(objects, tree, &path).is_ok_and(|file| file.is_some()))
        })
    }

    /// Errors that the iteration compared with did not have, in the order of the reports.
    fn new_errors(&mut self, wanted: &dyn Fn(Sort) -> bool) -> Vec<(String, Option<u64>, String)> {
        let record = self.record;
        let against = record.from_previous.as_ref().and_then(|deltas| deltas.against.get("error_count"));
        let before = against.copied().or(record.parent).and_then(|before| self.store.load(before).ok());
        let mut known: BTreeMap<(String, String), u64> = BTreeMap::new();
        for (_, finding) in before.map(|before| self.errors(&before.record)).unwrap_or_default() {
            *known.entry(identity(self.layout.root(), &finding)).or_default() += 1;
        }
        let mut found = Vec::new();
        for (sort, finding) in self.errors(record) {
            if let Some(left) = known.get_mut(&identity(self.layout.root(), &finding)).filter(|left| **left > 0) {
                *left -= 1;
                continue;
            }
            let path = finding.path.as_deref().and_then(|path| inside(self.layout.root(), path));
            if let Some(path) = path.filter(|path| wanted(sort) && self.has(&record.tree, path)) {
                found.push((path, finding.line, told(&finding)));
            }
        }
        found
    }

    /// Errors of the stored reports. One that two reports tell is one.
    fn errors(&self, record: &IterationRecord) -> Vec<(Sort, Finding)> {
        let parsed = stored_reports(self.store, record, ReportKind::Lint);
        let mut errors: Vec<(Sort, Finding)> = Vec::new();
        let mut met: BTreeMap<(String, String, Option<u64>), usize> = BTreeMap::new();
        for (report, parsed) in parsed.into_iter().enumerate() {
            let Details::Lint(lint) = parsed.details else { continue };
            for finding in lint.findings.into_iter().filter(|finding| finding.level == Level::Error) {
                let sort = lint.by_tool.get(&finding.tool).map_or(Sort::Linter, |counts| counts.sort);
                let (path, what) = identity(self.layout.root(), &finding);
                let first = met.entry((path, what, finding.line)).or_insert(report);
                if *first == report {
                    errors.push((sort, finding));
                }
            }
        }
        errors
    }
}

/// Files of the tree whose paths end in `/` and that.
fn files_below(objects: &Objects, tree: &ObjectId, end: &str) -> Vec<String> {
    let Ok(files) = files(objects, tree) else { return Vec::new() };
    let paths = files.filter_map(|file| String::from_utf8(file.ok()?.0.as_bytes().to_vec()).ok());
    paths.filter(|path| path.strip_suffix(end).is_some_and(|folder| folder.ends_with('/'))).collect()
}

/// What makes two findings of two iterations one: not the line, which moves.
fn identity(root: &Path, finding: &Finding) -> (String, String) {
    let path = finding.path.as_deref().map(|path| inside(root, path).unwrap_or_else(|| path.to_owned()));
    (path.unwrap_or_default(), told(finding))
}

/// `ruff F401: unused import`.
fn told(finding: &Finding) -> String {
    let rule = finding.rule.as_ref().map(|rule| format!(" {rule}")).unwrap_or_default();
    format!("{}{rule}: {}", finding.tool, finding.message)
}

/// A report's path from the root of the work tree; `None` if it leads out of it.
pub(super) fn inside(root: &Path, path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let path = match Path::new(&path).strip_prefix(root) {
        Ok(inside) => inside.to_str()?.to_owned(),
        Err(_) => path,
    };
    let parts: Vec<&str> = path.split('/').filter(|part| *part != ".").collect();
    let stays = !path.starts_with('/') && parts.iter().all(|part| !part.is_empty() && *part != "..");
    stays.then(|| parts.join("/"))
}

/// Files that a test's id may stand for: itself a path, or a Python module, with classes behind it.
fn named_files(id: &str) -> Vec<String> {
    let first = id.split("::").next().unwrap_or_default();
    let mut files = vec![first.to_owned()];
    let mut module = first;
    loop {
        files.push(format!("{}.py", module.replace('.', "/")));
        match module.rsplit_once('.') {
            Some((outer, _)) => module = outer,
            None => return files,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::RULES;

    #[test]
    fn rules_with_places_are_rules() {
        assert!(PLACED.iter().all(|(name, _)| RULES.iter().any(|rule| rule.name == *name)));
    }

    #[test]
    fn only_what_stays_inside_is_a_path() {
        let root = Path::new("/repo/project");
        for (path, expected) in [
            ("/repo/project/src/a.py", Some("src/a.py")),
            ("./src/a.py", Some("src/a.py")),
            ("src\\a.py", Some("src/a.py")),
            ("src/a.py", Some("src/a.py")),
            ("/usr/lib/a.py", None),
            ("../a.py", None),
            ("src/../../a.py", None),
            ("src//a.py", None),
            ("", None),
        ] {
            assert_eq!(inside(root, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn an_id_stands_for_its_file() {
        assert_eq!(named_files("tests/test_a.py::test_x")[0], "tests/test_a.py");
        let files = named_files("tests.test_a.TestB::test_x");
        assert!(files.contains(&"tests/test_a.py".to_owned()), "{files:?}");
    }
}
