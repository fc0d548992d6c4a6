//! Of which package what is printed is, as runners of scripts, make and some test tools say themselves: two packages may
//! have files and tests of the same names, and one is no second attempt at the other.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::speakers::is_package;
use crate::ingest::Package;
use crate::ingest::test::runs::Run;

/// Folders that make is in, one in the other; beyond them nobody follows.
const FOLDERS_HELD: usize = 64;

/// Packages that are told apart; more than any workspace has.
const PACKAGES_HELD: usize = 10_000;

/// What a line says of the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing new.
    None,
    /// make is in another folder.
    Folder,
    /// Another package's script begins.
    Script,
}

/// Follows who speaks.
#[derive(Debug, Default)]
pub(super) struct Packages {
    current: Option<Rc<str>>,
    /// Those that were met, in their order.
    order: BTreeMap<Rc<str>, usize>,
    /// What was told where make entered a folder.
    left: Vec<Option<Rc<str>>>,
    /// The first folder, from which the others are told.
    top: Option<String>,
    /// The package of a line that is a heading if its command comes next.
    before: Option<Rc<str>>,
}

impl Packages {
    /// Who speaks, and as which one of all that were met.
    pub(super) fn current(&self) -> Option<(usize, Rc<str>)> {
        let name = self.current.as_ref()?;
        Some((*self.order.get(name)?, Rc::clone(name)))
    }

    /// The next line that stands in no tool's tests.
    pub(super) fn line(&mut self, text: &str) -> Change {
        let before = self.before.take();
        if let Some(name) = before.filter(|_| text.starts_with("> ")) {
            return self.enter(name, Change::Script);
        }
        if let Some(rest) = text.strip_prefix("> ") {
            if let Some(name) = project(rest) {
                return self.enter(name.into(), Change::Script);
            }
            self.before = script(rest).map(Rc::from);
        } else if let Some((is_entered, folder)) = folder(text) {
            if !is_entered {
                return match self.left.pop() {
                    Some(Some(name)) => self.enter(name, Change::Folder),
                    Some(None) => self.leave(),
                    None => Change::None,
                };
            }
            if self.left.len() < FOLDERS_HELD {
                self.left.push(self.current.clone());
            }
            let top = self.top.get_or_insert_with(|| folder.to_owned());
            let name = if top == folder { folder.to_owned() } else { from(top, folder) };
            return self.enter(name.into(), Change::Folder);
        }
        Change::None
    }

    fn enter(&mut self, name: Rc<str>, change: Change) -> Change {
        let next = self.order.len();
        if self.current.as_ref() == Some(&name) || (next >= PACKAGES_HELD && !self.order.contains_key(&name)) {
            return Change::None;
        }
        self.order.entry(Rc::clone(&name)).or_insert(next);
        self.current = Some(name);
        change
    }

    fn leave(&mut self) -> Change {
        if self.current.take().is_some() { Change::Folder } else { Change::None }
    }
}

/// Whether a line is of who runs scripts, and says that one failed.
pub(super) fn is_of_failed_script(line: &str) -> bool {
    let is_of_wireit = |line: &str| line.contains("] Failed with exit status ");
    match line.bytes().next() {
        Some(b'n') => line.starts_with("npm error code ") || line.starts_with("npm ERR! code "),
        Some(b'E') => line.strip_prefix("ERROR: \"").is_some_and(|rest| rest.contains("\" exited with ")),
        Some(b'e') => line.starts_with("error Command failed with exit code "),
        Some(b' ') => line.starts_with(" ELIFECYCLE  "),
        Some(0xe2) => line.strip_prefix("❌ [").is_some_and(is_of_wireit),
        _ => false,
    }
}

/// The package of `@acme/web@1.0.0 test`, behind which pnpm has the folder: a line with the command follows.
fn script(rest: &str) -> Option<&str> {
    let (package, script) = rest.split_once(' ')?;
    let (name, version) = package.rsplit_once('@')?;
    let is_version = version.is_empty() || version.starts_with(|c: char| c.is_ascii_digit());
    (is_version && is_package(name) && !script.trim().is_empty()).then_some(name)
}

/// The project of `nx run web:test`.
fn project(rest: &str) -> Option<&str> {
    let (name, _) = rest.strip_prefix("nx run ")?.split_once(':')?;
    is_package(name).then_some(name)
}

/// The folder of `make[1]: Entering directory '/app/web'`, and whether it is entered, not left.
fn folder(line: &str) -> Option<(bool, &str)> {
    let rest = line.strip_prefix("gmake").or_else(|| line.strip_prefix("make"))?;
    let (level, rest) = rest.split_once(": ")?;
    let is_level = level.is_empty() || (level.starts_with('[') && level.ends_with(']'));
    let (verb, folder) = rest.split_once(" directory ").filter(|_| is_level)?;
    let folder = folder.trim_end().trim_start_matches(['\'', '`']).trim_end_matches('\'');
    match verb {
        "Entering" => Some((true, folder)),
        "Leaving" => Some((false, folder)),
        _ => None,
    }
}

/// The way from one folder to another: `../api`.
fn from(top: &str, folder: &str) -> String {
    let names = |path| -> Vec<&str> { str::split(path, ['/', '\\']).filter(|name| !name.is_empty()).collect() };
    let (top, folder) = (names(top), names(folder));
    let common = top.iter().zip(&folder).take_while(|(one, other)| one == other).count();
    let ups = top.iter().skip(common).map(|_| "..");
    let way: Vec<&str> = ups.chain(folder.iter().skip(common).copied()).collect();
    if way.is_empty() { ".".to_owned() } else { way.join("/") }
}

/// Says of the runs of all tools of which package each is: by the folder that it names itself, else by who called it. The
/// first package's tests keep their names.
pub(super) fn tell(told: &mut [Vec<Run>]) {
    let first = told.iter().flatten().filter_map(|run| run.script.as_ref()).map(|(order, _)| *order).min();
    for runs in told {
        let mut roots: BTreeMap<String, Package> = BTreeMap::new();
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut top: Option<String> = None;
        for run in runs {
            let called = run
                .script
                .as_ref()
                .map(|(order, name)| Package { name: name.to_string(), is_first: Some(*order) == first });
            let Some(root) = &run.root else {
                run.parsed.package = called;
                continue;
            };
            let package = roots.entry(root.clone()).or_insert_with(|| {
                let is_first = top.is_none();
                let top = top.get_or_insert_with(|| root.clone());
                let package = called.filter(|called| !names.contains(&called.name));
                let package = package.unwrap_or_else(|| Package {
                    name: if is_first { root.clone() } else { from(top, root) },
                    is_first,
                });
                names.insert(package.name.clone());
                package
            });
            run.parsed.package = Some(package.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(text: &str) -> Vec<Option<String>> {
        let mut packages = Packages::default();
        let name = |packages: &Packages| packages.current().map(|(_, name)| name.to_string());
        let changes = text.lines().filter(|line| packages.line(line) != Change::None).count();
        let mut packages = Packages::default();
        let mut met: Vec<Option<String>> = Vec::new();
        for line in text.lines() {
            if packages.line(line) != Change::None {
                met.push(name(&packages));
            }
        }
        assert_eq!(met.len(), changes);
        met
    }

    #[test]
    fn a_heading_tells_the_package() {
        for (text, names) in [
            ("> @m/a@1.0.0 test\n> jest\n\n> @m/b@1.0.0 test\n> jest\n", vec!["@m/a", "@m/b"]),
            ("> @m/a@1.0.0 test\n> jest\n> @m/a@1.0.0 test\n> jest\n", vec!["@m/a"]),
            ("> web@ test /app/my web\n> vitest run\n", vec!["web"]),
            ("> nx run web:test\n\n> nx run api:test:ci  [local cache]\n", vec!["web", "api"]),
            ("> @m/a@1.0.0 test\n\n> jest\n", vec![]),
            ("> mail me@home.example\n> or not\n", vec![]),
            ("  > @m/a@1.0.0 test\n> jest\n> work\n> tool\n", vec![]),
        ] {
            let names: Vec<_> = names.into_iter().map(|name| Some(name.to_owned())).collect();
            assert_eq!(met(text), names, "{text}");
        }
    }

    #[test]
    fn of_more_packages_than_there_are_no_more_are_held() {
        let mut packages = Packages::default();
        for number in 0..PACKAGES_HELD + 5 {
            packages.line(&format!("> p{number}@1.0.0 test"));
            packages.line("> jest");
        }
        assert_eq!(packages.order.len(), PACKAGES_HELD);
        assert_eq!(packages.current().map(|(order, _)| order), Some(PACKAGES_HELD - 1));
    }

    #[test]
    fn make_is_in_a_folder_until_it_leaves_it() {
        let text = "make: Entering directory '/app'\nmake[1]: Entering directory '/app/a'\n\
                    make[1]: Leaving directory '/app/a'\nmake[1]: Entering directory `/app/b'\n\
                    make[1]: Leaving directory `/app/b'\nmake: Leaving directory '/app'\nmake: Leaving directory '/app'\n";
        let names = [Some("/app"), Some("a"), Some("/app"), Some("b"), Some("/app"), None];
        assert_eq!(met(text), names.map(|name| name.map(str::to_owned)));
    }

    #[test]
    fn the_way_to_another_folder_is_told() {
        for (top, folder, way) in
            [("/w/a", "/w/b", "../b"), ("/w", "/w/b/c", "b/c"), ("/w/a", "/w", ".."), ("C:\\w\\a", "C:\\w\\b", "../b")]
        {
            assert_eq!(from(top, folder), way);
        }
    }
}
