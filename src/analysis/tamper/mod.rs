//! Edits that may make a test pass without better code, found in the files that changed between two snapshots
//! (ANALYSIS §12.4, static rules). Suspicion, no proof: whoever mends a wrong test does the same.
//!
//! Without a parser: functions as [`super::bodies`] finds them, statements as lines that belong together, and words.

mod files;
mod marks;
mod special_cases;
mod statements;
#[cfg(test)]
mod tests;

pub use special_cases::{TestValues, answered, may_hold_tests, special_cases, values_of_tests};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use files::{Role, role};
use marks::{
    ANYWHERE, IN_CONFIGS, IN_TESTS, Line, assigns_elsewhere, beyond, differing, flipped, gained, loosened, runs_less,
};
use statements::{Statement, Strength, statements, values};

use super::bodies::{Function, bears, functions, is_comment, is_source};
use super::renames::{base_name, split};
use crate::model::edits::{EditKind, TestEdit, TestEdits};
use crate::model::ids::{Iteration, TreePath};

/// Characters of a line that are kept.
const WIDTH: usize = 160;

/// Tests that turned whose functions are looked for.
const SOUGHT: usize = 500;

/// Tests named beside an edit that may have turned any of them.
const TURNED: usize = 20;

/// One side of a file that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'t> {
    /// It is not there.
    Absent,
    /// It is there, and no text, or too long.
    Opaque,
    /// It is text.
    Text(&'t str),
}

impl<'t> Content<'t> {
    /// The text; empty where there is none.
    pub fn text(self) -> &'t str {
        if let Content::Text(text) = self { text } else { "" }
    }
}

/// A file that changed.
#[derive(Clone, Copy, Debug)]
pub struct Changed<'t> {
    /// Which.
    pub path: &'t TreePath,
    /// As it was.
    pub before: Content<'t>,
    /// As it is.
    pub now: Content<'t>,
}

/// What was done to tests. `turned` are those that failed at `since` and do not now.
pub fn test_edits(since: Iteration, changed: &[Changed<'_>], turned: &[String]) -> TestEdits {
    let turned = turned.get(..SOUGHT).unwrap_or(turned);
    let mut found = Found { turned, code_changed: false, edits: Vec::new() };
    let files: Vec<TestFile<'_>> = changed.iter().filter_map(|file| found.take(file)).collect();
    let of_functions = owners(&files, turned);
    for (n, file) in files.iter().enumerate() {
        found.tests(file, &|function| of_functions.get(&(n, function)).map_or(&[][..], Vec::as_slice));
    }
    found.finish(since, || has_fewer_assertions(changed))
}

/// Whether all files of tests together assert less than before.
fn has_fewer_assertions(changed: &[Changed<'_>]) -> bool {
    let count = |content: Content<'_>| assertions(&statements(content.text().lines().enumerate()));
    let may_test = |file: &&Changed<'_>| {
        let path = file.path.to_string();
        match role(&path) {
            Role::Test | Role::Support => is_source(&path),
            Role::Code => path.ends_with(".rs"),
            _ => false,
        }
    };
    let (before, now) = changed
        .iter()
        .filter(may_test)
        .fold((0, 0), |(before, now), file| (before + count(file.before), now + count(file.now)));
    now < before
}

/// Whose a file that changed is, when old tests are run on new code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// To the tests: it holds them, sets them up, is what they expect, or tells their tools what to do.
    ToTests,
    /// To the code.
    ToCode,
    /// To both, its end to the tests: [`with_tests_of`].
    ToBoth,
}

/// Whose a file is. A project's own file, which tells of more than tests, is the tests' if one of `edits` is in it.
pub fn belongs(file: &Changed<'_>, edits: &TestEdits) -> Belongs {
    let path = file.path.to_string();
    match role(&path) {
        Role::Test | Role::Support | Role::Snapshot | Role::Config => Belongs::ToTests,
        Role::Project if edits.edits.iter().any(|edit| edit.path == *file.path) => Belongs::ToTests,
        Role::Code => {
            let has_tests = |side: Content<'_>| !split_off_tests(&path, side.text()).1.is_empty();
            if has_tests(file.before) || has_tests(file.now) { Belongs::ToBoth } else { Belongs::ToCode }
        }
        Role::Project | Role::Document => Belongs::ToCode,
    }
}

/// The code of one text of a file that belongs to both, and the tests of the other.
pub fn with_tests_of(path: &TreePath, code: &str, tests: &str) -> String {
    let path = path.to_string();
    [split_off_tests(&path, code).0, split_off_tests(&path, tests).1].concat()
}

/// Whether a file is code that a test reads, if it reads the copy that lies beside it: no set-up that runs before.
pub fn is_read_by_tests(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    role(path) == Role::Code
        && is_source(path)
        && !name.contains(".config.")
        && name != "setup.py"
        && name != "build.rs"
}

/// A file of tests, or a source that is there for them.
struct TestFile<'t> {
    path: &'t TreePath,
    before: Side<'t>,
    now: Side<'t>,
    /// It sets tests up, and holds none.
    is_support: bool,
}

/// One side of it.
struct Side<'t> {
    lines: Vec<&'t str>,
    text: &'t str,
    functions: Vec<Function>,
    /// Their lines, by where they begin.
    spans: Vec<Range<usize>>,
    /// Where they end, ascending.
    ends: Vec<usize>,
    /// Lines of the file above.
    above: usize,
}

impl<'t> Side<'t> {
    fn of(path: &str, text: &'t str) -> Side<'t> {
        let functions = functions(path, text);
        let mut spans: Vec<Range<usize>> = functions.iter().map(|function| function.lines.clone()).collect();
        spans.sort_unstable_by_key(|lines| lines.start);
        let mut ends: Vec<usize> = spans.iter().map(|lines| lines.end).collect();
        ends.sort_unstable();
        Side { lines: text.lines().collect(), text, functions, spans, ends, above: 0 }
    }

    /// The tests at the end of a file of code (Rust).
    fn within(path: &str, text: &'t str) -> Side<'t> {
        let (code, tests) = split_off_tests(path, text);
        Side { above: code.matches('\n').count(), ..Side::of(path, tests) }
    }

    /// The lines of a function, and what decorates it.
    fn decorated(&self, function: &Function) -> Range<usize> {
        let above = self.ends.partition_point(|end| *end <= function.lines.start);
        let least = above.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0);
        let begins_block = |line: &str| line.ends_with(['{', ':', ';']) || line.starts_with("class ");
        let mut first = function.lines.start;
        while first > least {
            let above = self.lines.get(first - 1).map_or("", |line| line.trim());
            if above.is_empty() || begins_block(above) {
                break;
            }
            first -= 1;
        }
        first..function.lines.end
    }

    /// Some of its lines, without blanks around them.
    fn trimmed(&self, lines: Range<usize>) -> impl Iterator<Item = &'t str> {
        self.lines.get(lines).unwrap_or_default().iter().map(|line| line.trim())
    }

    /// The statements of a function, without those of functions within it.
    fn statements(&self, function: &Function) -> Vec<Statement> {
        let own = &function.lines;
        let first = self.spans.partition_point(|other| other.start <= own.start);
        let below = self.spans.iter().skip(first).take_while(|other| other.start < own.end);
        let inner: Vec<&Range<usize>> = below.filter(|other| other.end <= own.end).collect();
        let lines = self.decorated(function);
        let all = self.lines.iter().copied().enumerate().take(lines.end).skip(lines.start);
        statements(all.filter(|(at, _)| !inner.iter().any(|inner| inner.contains(at))))
    }
}

fn assertions(statements: &[Statement]) -> usize {
    statements.iter().filter(|one| one.is_assertion() && one.strength() > Strength::Nothing).count()
}

/// The functions, by file and place in it, that tests which turned are, as they were.
fn owners<'i>(files: &[TestFile<'_>], turned: &'i [String]) -> BTreeMap<(usize, usize), Vec<&'i str>> {
    let mut owners: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
    for id in turned {
        let name = base_name(split(id).1);
        let all = files.iter().enumerate().flat_map(|(n, file)| {
            file.before.functions.iter().enumerate().map(move |(at, function)| ((n, at), function))
        });
        let bearing: Vec<_> = all.filter(|(_, function)| bears(name, function)).collect();
        let is_placed = bearing.iter().any(|(_, function)| function.is_placed(id));
        for (place, _) in bearing.iter().filter(|(_, function)| !is_placed || function.is_placed(id)) {
            owners.entry(*place).or_default().push(id);
        }
    }
    owners
}

/// An edit, and whose it is.
struct Edit {
    edit: TestEdit,
    /// It stands in no test: any test that turned may be its doing.
    is_common: bool,
    /// It is told only if a test turned: else it is everyday work.
    is_everyday: bool,
}

/// What is found on the way through the files.
struct Found<'i> {
    turned: &'i [String],
    code_changed: bool,
    edits: Vec<Edit>,
}

impl Found<'_> {
    /// Looks at one file; gives back what has functions that test.
    fn take<'t>(&mut self, file: &Changed<'t>) -> Option<TestFile<'t>> {
        let path = file.path.to_string();
        let (before, now) = (file.before.text(), file.now.text());
        match role(&path) {
            Role::Document => None,
            Role::Snapshot => self.recorded(file, file.now == Content::Absent),
            Role::Config => self.config(file, before, now),
            Role::Project => {
                let (tools_before, rest_before) = parts_of_project(&path, before);
                let (tools, rest) = parts_of_project(&path, now);
                self.code_changed |= rest_before != rest;
                self.config(file, &tools_before, &tools)
            }
            Role::Support if !is_source(&path) => self.recorded(file, true),
            Role::Test | Role::Support => {
                if file.before == Content::Absent && role(&path) == Role::Test {
                    return None;
                }
                let (removed, added) = differing(before, now);
                self.marks(file.path, &added, &removed, &ANYWHERE, &|_| Some(None));
                Some(TestFile {
                    path: file.path,
                    before: Side::of(&path, before),
                    now: Side::of(&path, now),
                    is_support: role(&path) == Role::Support,
                })
            }
            Role::Code => {
                self.code_changed |= !are_texts(file) || code_of(&path, before).ne(code_of(&path, now));
                let (removed, added) = differing(before, now);
                self.marks(file.path, &added, &removed, &ANYWHERE, &|_| Some(None));
                let has_tests = !split_off_tests(&path, before).1.is_empty();
                has_tests.then(|| TestFile {
                    path: file.path,
                    before: Side::within(&path, before),
                    now: Side::within(&path, now),
                    is_support: false,
                })
            }
        }
    }

    /// A recorded expectation, or data, of which something went.
    fn recorded<T>(&mut self, file: &Changed<'_>, is_everyday: bool) -> Option<T> {
        let (gone, came) = differing(file.before.text(), file.now.text());
        let is_other = file.before == Content::Opaque || !gone.is_empty();
        if file.before != Content::Absent && is_other {
            let line = came.first().map(|line| line.at);
            let texts = [gone.first(), came.first()].map(|line| line.map(|line| line.text));
            self.push(EditKind::SnapshotRewritten, file.path, line, texts, None, true);
            self.edits.last_mut().into_iter().for_each(|one| one.is_everyday = is_everyday);
        }
        None
    }

    fn config<T>(&mut self, file: &Changed<'_>, before: &str, now: &str) -> Option<T> {
        let (removed, added) = differing(before, now);
        let added: Vec<Line<'_>> = added.into_iter().filter(|line| !is_comment(line.text)).collect();
        self.marks(file.path, &added, &removed, &IN_CONFIGS, &|_| Some(None));
        for (old, new) in loosened(&added, &removed) {
            let texts = [Some(old.text), Some(new.text)];
            self.push(EditKind::ConfigLoosened, file.path, Some(new.at), texts, None, false);
        }
        for (old, new) in flipped(&added, &removed, false) {
            let texts = [Some(old.text), Some(new.text)];
            self.push(EditKind::GuardFlipped, file.path, Some(new.at), texts, None, true);
        }
        None
    }

    /// Lines that bear more marks than before. `owner` tells the function of a line; `None` leaves the line out.
    fn marks<'o>(
        &mut self,
        path: &TreePath,
        added: &[Line<'_>],
        removed: &[Line<'_>],
        marks: &[(EditKind, &[&str])],
        owner: &dyn Fn(&Line<'_>) -> Option<Option<Owner<'o>>>,
    ) {
        for (kind, marks) in marks {
            for line in gained(added, removed, marks) {
                let Some(owner) = owner(line) else { continue };
                let can_turn = match kind {
                    EditKind::FindingSuppressed | EditKind::CoverageExcluded => false,
                    EditKind::ConfigLoosened => runs_less(line.text),
                    _ => true,
                };
                self.push(*kind, path, Some(line.at), [None, Some(line.text)], owner, can_turn);
            }
        }
    }

    /// What changed in the functions of a file of tests, and between them.
    fn tests<'o>(&mut self, file: &'o TestFile<'_>, turned: &dyn Fn(usize) -> &'o [&'o str]) {
        let TestFile { path, before, now, is_support } = file;
        let first = self.edits.len();
        let mut known: BTreeSet<usize> = BTreeSet::new();
        let mut owners: Vec<(Range<usize>, Option<Owner<'o>>)> = Vec::new();
        let mut by_name: BTreeMap<(&str, &[String]), VecDeque<usize>> = BTreeMap::new();
        for (at, new) in now.functions.iter().enumerate() {
            by_name.entry((&new.name, &new.classes)).or_default().push_back(at);
        }
        for (n, old) in before.functions.iter().enumerate() {
            let same = by_name.get_mut(&(old.name.as_str(), old.classes.as_slice())).and_then(VecDeque::pop_front);
            let Some((at, new)) = same.and_then(|at| Some((at, now.functions.get(at)?))) else { continue };
            known.insert(at);
            let owner = Owner { name: &old.name, turned: turned(n), is_test: old.may_be_test() };
            let lines = now.decorated(new);
            if before.trimmed(before.decorated(old)).ne(now.trimmed(lines.clone())) {
                let (was, is) = (before.statements(old), now.statements(new));
                for (kind, line, texts) in of_function(&was, &is, new.lines.start, owner.turned) {
                    self.push(kind, path, Some(line), texts, Some(owner), false);
                }
            }
            owners.push((lines, Some(owner)));
        }
        let new = now.functions.iter().enumerate().filter(|(at, _)| !known.contains(at));
        owners.extend(new.map(|(_, function)| (now.decorated(function), None)));
        let owner = |line: &Line<'_>| {
            let inside = owners.iter().filter(|(lines, _)| lines.contains(&line.at));
            match inside.min_by_key(|(lines, _)| lines.len()) {
                // A new test may be skipped, and replace what it likes.
                Some((_, None)) if !is_support => None,
                Some((_, Some(owner))) => Some(Some(*owner)),
                _ => Some(None),
            }
        };
        let (removed, added) = differing(before.text, now.text);
        let said: Vec<Line<'_>> = added.iter().copied().filter(|line| !is_comment(line.text)).collect();
        self.marks(path, &said, &removed, &IN_TESTS, &owner);
        for line in said.iter().filter(|line| *is_support && assigns_elsewhere(line.text, now.text)) {
            let texts = [None, Some(line.text)];
            self.push(EditKind::SubjectPatched, path, Some(line.at), texts, owner(line).flatten(), true);
        }
        for (old, new) in flipped(&said, &removed, true) {
            let texts = [Some(old.text), Some(new.text)];
            self.push(EditKind::GuardFlipped, path, Some(new.at), texts, owner(&new).flatten(), true);
        }
        let above = u64::try_from(now.above).unwrap_or_default();
        self.edits.iter_mut().skip(first).filter_map(|one| one.edit.line.as_mut()).for_each(|line| *line += above);
    }

    fn push(
        &mut self,
        kind: EditKind,
        path: &TreePath,
        line: Option<usize>,
        [before, now]: [Option<&str>; 2],
        owner: Option<Owner<'_>>,
        is_common: bool,
    ) {
        let short = |text: &str| text.chars().take(WIDTH).collect();
        let edit = TestEdit {
            kind,
            path: path.clone(),
            line: line.and_then(|line| u64::try_from(line).ok()).map(|line| line + 1),
            test: owner.map(|owner| owner.name.to_owned()),
            before: before.map(short),
            now: now.map(short),
            turned: owner.iter().flat_map(|owner| owner.turned).map(|id| (*id).to_owned()).collect(),
        };
        let is_common = owner.map_or(is_common, |owner| !owner.is_test && owner.turned.is_empty());
        self.edits.push(Edit { edit, is_common, is_everyday: false });
    }

    fn finish(mut self, since: Iteration, has_fewer_assertions: impl FnOnce() -> bool) -> TestEdits {
        // Assertions that moved into a helper are no fewer.
        let may_have_moved = |one: &Edit| one.edit.kind == EditKind::FewerAssertions && one.edit.turned.is_empty();
        if self.edits.iter().any(may_have_moved) && !has_fewer_assertions() {
            self.edits.retain(|one| !may_have_moved(one));
        }
        let told: BTreeSet<&String> = self.edits.iter().flat_map(|one| &one.edit.turned).collect();
        let untold: Vec<String> = self.turned.iter().filter(|id| !told.contains(id)).take(TURNED).cloned().collect();
        for one in self.edits.iter_mut().filter(|one| one.is_common) {
            one.edit.turned.clone_from(&untold);
        }
        self.edits.retain(|one| !one.is_everyday || !one.edit.turned.is_empty());
        let mut edits: Vec<TestEdit> = self.edits.into_iter().map(|one| one.edit).collect();
        edits.sort_by(|a, b| (&a.path, a.line, a.kind).cmp(&(&b.path, b.line, b.kind)));
        edits.dedup_by(|edit, known| is_same_place(known, edit));
        edits.truncate(TestEdits::MOST);
        TestEdits { since, code_changed: self.code_changed, edits }
    }
}

/// Whether an edit is told already.
fn is_same_place(known: &TestEdit, edit: &TestEdit) -> bool {
    known.kind == edit.kind && known.path == edit.path && known.line == edit.line && known.now == edit.now
}

/// The function that an edit stands in.
#[derive(Clone, Copy)]
struct Owner<'o> {
    name: &'o str,
    turned: &'o [&'o str],
    is_test: bool,
}

/// An edit in a function: its line, how it read, and how it reads.
type FunctionEdit<'t> = (EditKind, usize, [Option<&'t str>; 2]);

/// What changed in one function. `head` is its line.
fn of_function<'t>(was: &'t [Statement], is: &'t [Statement], head: usize, turned: &[&str]) -> Vec<FunctionEdit<'t>> {
    let removed = without(was, is);
    let added = without(is, was);
    let mut edits: Vec<FunctionEdit<'_>> = Vec::new();
    let (pairs, lost) = paired(&removed, &added);
    let has_turned = !turned.is_empty();
    for (old, new) in pairs {
        let strength = new.strength();
        let kind = if strength < old.strength() && (strength == Strength::Nothing || new.is_like(old)) {
            Some(EditKind::WeakerAssertion)
        } else if new.skeleton == old.skeleton {
            Some(EditKind::OtherExpectation)
        } else if new.wrappers() > old.wrappers() && new.is_like(old) {
            Some(EditKind::SubjectWrapped)
        } else {
            has_turned.then_some(EditKind::AssertionRewritten)
        };
        edits.extend(kind.map(|kind| (kind, new.line, [Some(old.text.as_str()), Some(new.text.as_str())])));
    }
    if assertions(was) > assertions(is)
        && let Some(first) = lost.first()
    {
        edits.push((EditKind::FewerAssertions, head, [Some(first.text.as_str()), None]));
    }
    let skips = added.iter().filter(|one| matches!(one.text.as_str(), "skip" | "pending"));
    edits.extend(skips.map(|one| (EditKind::Skipped, one.line, [None, Some(one.text.as_str())])));
    edits.extend(early_return(is, &added, head).map(|one| (EditKind::EarlyExit, one.line, [None, Some(&*one.text)])));
    let swallows = swallowing(is).filter(|one| added.contains(one));
    edits.extend(swallows.map(|one| (EditKind::FailureSwallowed, one.line, [None, Some(&*one.text)])));
    if has_turned {
        // What it is given and what it expects may stand apart from the assertion, as in Go, or in a table of cases.
        let plain = |all: &[&'t Statement]| all.iter().copied().filter(|one| !one.is_assertion()).collect::<Vec<_>>();
        let (removed, added) = (plain(&removed), plain(&added));
        for old in &removed {
            if let Some(new) = added.iter().find(|new| new.skeleton == old.skeleton && new.text != old.text) {
                edits.push((EditKind::OtherExpectation, new.line, [Some(&*old.text), Some(&*new.text)]));
            } else if turned.iter().any(|id| id.ends_with([']', ')'])) && values(&old.text).count() > 1 {
                edits.push((EditKind::CaseRemoved, head, [Some(&*old.text), None]));
            }
        }
    }
    edits
}

/// The statements that the other side has not, or has less often.
fn without<'t>(statements: &'t [Statement], other: &[Statement]) -> Vec<&'t Statement> {
    let mut is_beyond = beyond(other.iter().map(|one| one.text.as_str()));
    statements.iter().filter(|one| is_beyond(&one.text)).collect()
}

/// Assertions that were rewritten, as pairs: those that ask the same of other values first, then in order; and those that
/// have none.
fn paired<'t>(
    removed: &[&'t Statement],
    added: &[&'t Statement],
) -> (Vec<(&'t Statement, &'t Statement)>, Vec<&'t Statement>) {
    let asserting = |all: &[&'t Statement]| all.iter().copied().filter(|one| one.is_assertion()).collect::<Vec<_>>();
    let (removed, mut added) = (asserting(removed), asserting(added));
    let mut pairs = Vec::new();
    let mut rest = Vec::new();
    for old in removed {
        match added.iter().position(|new| new.skeleton == old.skeleton) {
            Some(at) => pairs.push((old, added.remove(at))),
            None => rest.push(old),
        }
    }
    let lost = rest.split_off(added.len().min(rest.len()));
    pairs.extend(rest.into_iter().zip(added));
    (pairs, lost)
}

/// A return at the depth of the body that came and keeps assertions behind it from being reached.
fn early_return<'t>(is: &'t [Statement], added: &[&Statement], head: usize) -> Option<&'t Statement> {
    let depth = is.iter().find(|one| one.line > head)?.depth;
    let is_return = |one: &Statement| matches!(one.text.trim_end_matches(';'), "return" | "return None" | "return nil");
    let at = is.iter().position(|one| one.depth == depth && is_return(one) && added.contains(&one))?;
    let has_assertions = is.iter().skip(at).any(Statement::is_assertion);
    is.get(at).filter(|_| has_assertions)
}

/// What catches whatever is thrown and does nothing.
fn swallowing(is: &[Statement]) -> impl Iterator<Item = &Statement> {
    is.iter().zip(is.iter().skip(1)).filter_map(|(one, next)| {
        let (one_text, next) = (one.text.as_str(), next.text.as_str());
        let is_broad =
            ["except:", "except Exception", "except BaseException", "except AssertionError", "except (AssertionError"];
        let is_python = is_broad.iter().any(|begin| one_text.starts_with(begin))
            && matches!(next, "pass" | "..." | "return" | "continue");
        let is_script = one_text.contains("catch") && one_text.ends_with('{') && next.starts_with('}');
        let is_ruby = one_text.starts_with("rescue") && next == "end";
        (is_python || is_script || is_ruby).then_some(one)
    })
}

fn are_texts(file: &Changed<'_>) -> bool {
    file.before != Content::Opaque && file.now != Content::Opaque
}

/// A file of code, and the module of tests at its end (Rust).
fn split_off_tests<'t>(path: &str, text: &'t str) -> (&'t str, &'t str) {
    let begins_module = |at: &usize| {
        let below = text.get(*at..).and_then(|tests| tests.split_once('\n'));
        below.is_some_and(|(_, below)| {
            below.lines().next().is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
        })
    };
    let found = text.match_indices("#[cfg(test)]").map(|(at, _)| at).find(begins_module);
    found.filter(|_| path.ends_with(".rs")).and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""))
}

/// The lines of code in a file that holds it, without what tests it (Rust), and without lines that are certainly comments.
fn code_of<'t>(path: &str, text: &'t str) -> impl Iterator<Item = &'t str> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let comment = if matches!(extension, "py" | "rb" | "ex" | "exs" | "sh") { "#" } else { "//" };
    let code = split_off_tests(path, text).0.lines().map(str::trim);
    code.filter(move |line| !line.is_empty() && !line.starts_with(comment))
}

/// Words that tell of tools which test and check.
const TOOLS: [&str; 22] = [
    "test", "tests", "lint", "check", "coverage", "pytest", "ruff", "flake8", "mypy", "pylint", "pyright", "tox",
    "nox", "jest", "vitest", "mocha", "ava", "nyc", "c8", "eslint", "biome", "prettier",
];

/// The sections of a project's own file that tell tools of tests and checks what to do, and the rest.
fn parts_of_project(path: &str, text: &str) -> (String, String) {
    let is_of_tools = |head: &str| head.split(|c: char| !c.is_alphanumeric()).any(|word| TOOLS.contains(&word));
    let has_sections = path.ends_with(".toml") || path.ends_with(".cfg");
    let (mut tools, mut rest) = (String::new(), String::new());
    let mut is_inside = false;
    for line in text.lines() {
        let code = line.trim();
        if has_sections && code.starts_with('[') && code.ends_with(']') {
            is_inside = is_of_tools(code);
        } else if !has_sections {
            // `"test": "jest"` in a script's manifest, `test:` and what is below it in a makefile.
            let key = code.split(':').next().unwrap_or(code);
            is_inside = is_of_tools(key) || is_inside && line.starts_with('\t');
        }
        let (of, other) = if is_inside { (&mut tools, &mut rest) } else { (&mut rest, &mut tools) };
        of.push_str(line);
        of.push('\n');
        // Lines keep their numbers.
        other.push('\n');
    }
    let rest =
        rest.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect::<Vec<_>>();
    (tools, rest.join("\n"))
}
