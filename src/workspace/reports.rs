//! Finding report files: by the config's globs over the work tree, or by name. Home of walkdir.
//!
//! Names only say where to look; what a file is, its content decides. A file is opened only if it is a regular file
//! that lies in the work tree (or was named by the user), so that a link to a device or to somebody's secrets, left where
//! a report is expected, is refused.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use walkdir::WalkDir;

use crate::error::{Error, Reject, Result};
use crate::model::config::{Limits, Reports, is_plain_glob};
use crate::model::ids::TreePath;

/// A file that may hold a report.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// As people are shown it: relative to the work tree where it lies in it.
    pub name: String,
    /// Its path in a snapshot, if it lies in the work tree.
    pub tree_path: Option<TreePath>,
    /// The user named it; it is not a guess of ours.
    pub named: bool,
}

/// Tells each name in a folder (its path is from the top), with whether a folder stands there; `false`, and nothing, where the
/// folder has to be listed for that.
pub type KnownNames<'a> = dyn Fn(&Path, &mut dyn FnMut(&OsStr, bool)) -> bool + 'a;

/// Finds the files that the globs match, but none that a glob after `!` matches, in the order of their names. The directories
/// of `skip_directories` are not entered; links are not followed.
///
/// # Errors
/// A glob that is none; more files than `limits.reports`.
pub fn find(root: &Path, reports: &Reports, limits: &Limits, known: &KnownNames<'_>) -> Result<Vec<Found>> {
    let mut wanted = Globs::new(reports.globs.iter().map(String::as_str).filter(|glob| !glob.starts_with('!')))?;
    let mut unwanted = Globs::new(reports.globs.iter().filter_map(|glob| glob.strip_prefix('!')))?;
    let skipped = skipped_directories(&reports.skip_directories)?;
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        let mut take = |name: &OsStr, is_folder: bool| {
            if is_folder {
                let path = folder.join(name);
                if !skipped.is_match(&path) {
                    waiting.push(path);
                }
            } else if wanted.is_match(&folder, name) && !unwanted.is_match(&folder, name) {
                let path = folder.join(name);
                let described = describe(root, &root.join(&path), false);
                found.insert(path, described);
            }
        };
        if !known(&folder, &mut take) {
            list(root, &folder, &mut take);
        }
        if u64::try_from(found.len()).is_ok_and(|count| count > limits.reports) {
            return Err(Error::report(
                Reject::Refused,
                format!("more than {} files look like reports", limits.reports),
            )
            .at(root)
            .because(format!("the globs of reports.globs matched {} files before the search was stopped", found.len()))
            .help("narrow reports.globs in highwater.yaml, add to reports.skip_directories, or raise limits.reports"));
        }
    }
    Ok(found.into_values().collect())
}

/// Tells the names in a folder. One that cannot be read holds no report for us; the snapshot names it as unheld.
fn list(root: &Path, folder: &Path, take: &mut dyn FnMut(&OsStr, bool)) {
    let is_top = folder.as_os_str().is_empty();
    let names = WalkDir::new(root.join(folder)).min_depth(1).max_depth(1).follow_root_links(is_top);
    for entry in names.into_iter().filter_map(Result::ok) {
        take(entry.file_name(), entry.file_type().is_dir());
    }
}

/// The files that the user named: a path, or a glob relative to `folder` (where the command was typed).
///
/// # Errors
/// Bad input if the path does not exist or the glob matches nothing.
pub fn named(root: &Path, folder: &Path, pattern: &str, limits: &Limits) -> Result<Vec<Found>> {
    let path = folder.join(pattern);
    match std::fs::symlink_metadata(&path) {
        Ok(_) => return Ok(vec![describe(root, &path, true)]),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io("look at the report", &path, &error)),
    }
    if !pattern.contains(['*', '?', '[', '{']) {
        return Err(no_such_report(&path));
    }
    let (mut folder, mut pattern) = (folder, pattern);
    while let (Some(rest), Some(above)) = (pattern.strip_prefix("../"), folder.parent()) {
        (folder, pattern) = (above, rest);
    }
    let everywhere =
        Reports { globs: vec![pattern.to_owned()], skip_directories: vec![".git".into(), ".progress".into()] };
    let found = find(folder, &everywhere, limits, &|_, _| false)?;
    if found.is_empty() {
        return Err(no_such_report(&path).because(format!("the glob {pattern:?} matches nothing")));
    }
    Ok(found.into_iter().map(|found| describe(root, &found.path, true)).collect())
}

/// What in the work tree a command typed in `folder` may have named, in the order of the names; but nothing that a glob after
/// `!` matches. Most of it is not there.
///
/// # Errors
/// A glob that is none.
pub fn mentioned<'a>(
    root: &Path,
    folder: &Path,
    reports: &Reports,
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<Found>> {
    let mut unwanted = Globs::new(reports.globs.iter().filter_map(|glob| glob.strip_prefix('!')))?;
    let paths: BTreeSet<PathBuf> = names.map(|name| folder.join(name)).collect();
    let is_wanted = |found: &Found| {
        let relative = found.tree_path.as_ref().and_then(|_| found.path.strip_prefix(root).ok());
        let parts = relative.and_then(|path| Some((path.parent()?, path.file_name()?)));
        parts.is_some_and(|(folder, name)| !unwanted.is_match(folder, name))
    };
    Ok(paths.iter().map(|path| describe(root, path, false)).filter(is_wanted).collect())
}

/// What is said where a report that the user named is not there.
pub fn no_such_report(path: &Path) -> Error {
    Error::report(Reject::Refused, "no such report")
        .at(path)
        .help("was the tool run, and does it write its report there?")
}

/// The path without `..`, which would hide that it is in the work tree: what is before one may be a link.
fn without_detours(path: &Path) -> PathBuf {
    let has_detour = path.components().any(|part| part == Component::ParentDir);
    let (Some(folder), Some(name), true) = (path.parent(), path.file_name(), has_detour) else {
        return path.to_path_buf();
    };
    folder.canonicalize().map_or_else(|_| path.to_path_buf(), |folder| folder.join(name))
}

/// A file and how people are shown it.
pub fn describe(root: &Path, path: &Path, named: bool) -> Found {
    let path = &without_detours(path);
    let relative = path
        .strip_prefix(root)
        .ok()
        .filter(|relative| relative.components().all(|component| matches!(component, Component::Normal(_))));
    // The top itself has no name below it.
    let shown = relative.filter(|relative| !relative.as_os_str().is_empty()).unwrap_or(path);
    let name = crate::model::ids::escape(shown.as_os_str().as_encoded_bytes());
    let tree_path = relative.and_then(|relative| TreePath::new(relative.as_os_str().as_encoded_bytes()).ok());
    Found { path: path.to_path_buf(), name, tree_path, named }
}

/// A bare name is one at any depth, a path one from the top.
fn skipped_directories(directories: &[String]) -> Result<GlobSet> {
    let anywhere = |name: &String| if name.contains('/') { parse(name) } else { parse(&format!("**/{name}")) };
    glob_set(&directories.iter().map(anywhere).collect::<Result<Vec<_>>>()?)
}

fn parse(glob: &str) -> Result<Glob> {
    GlobBuilder::new(glob).literal_separator(true).build().map_err(|error| {
        Error::bad_input(format!("{glob:?} is not a glob")).because(error.kind().to_string()).help(
            "*, ?, [ and { stand for other names; of a name that has one of them itself, write [*], [?], [[] or [{]",
        )
    })
}

fn glob_set(globs: &[Glob]) -> Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(glob.clone());
    }
    set.build().map_err(|error| {
        Error::bad_input("the globs cannot be used together")
            .because(error.to_string())
            .help("name fewer or simpler ones in reports.globs and reports.skip_directories")
    })
}

/// Globs by what follows the last dot. Few files of a work tree have a name that one of them may match, and a glob is compiled
/// when the first of them is met (all of them took half of a record's own instructions).
struct Globs {
    by_extension: HashMap<Vec<u8>, Vec<Asked>>,
    /// Those that end with a pattern, or have no dot.
    others: Vec<Asked>,
}

impl Globs {
    fn new<'a>(globs: impl Iterator<Item = &'a str>) -> Result<Globs> {
        let mut by_extension: HashMap<_, Vec<_>> = HashMap::new();
        let mut others = Vec::new();
        for text in globs {
            let asked = Asked::new(text)?;
            match text.rsplit_once('.') {
                Some((_, extension)) if extension.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                    by_extension.entry(extension.into()).or_default().push(asked);
                }
                _ => others.push(asked),
            }
        }
        Ok(Globs { by_extension, others })
    }

    /// Whether one matches the file of that name in that folder, whose path is from the top.
    fn is_match(&mut self, folder: &Path, name: &OsStr) -> bool {
        let bytes = name.as_encoded_bytes();
        let extension = bytes.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
        let asked = self.by_extension.get_mut(extension).into_iter().flatten().chain(&mut self.others);
        let mut likely = asked.filter(|asked| asked.may_match(bytes));
        likely.any(|asked| asked.is_match(&folder.join(name)))
    }
}

/// A glob, and how the names of files begin and end that it may match.
struct Asked {
    glob: String,
    begin: String,
    end: String,
    compiled: Option<GlobMatcher>,
}

impl Asked {
    fn new(glob: &str) -> Result<Asked> {
        let is_plain = is_plain_glob(glob);
        if !is_plain {
            parse(glob)?;
        }
        // What stands for one of several may reach over the name's beginning.
        let name = if is_plain { glob.rsplit('/').next().unwrap_or_default() } else { "*" };
        let is_any = |c: char| matches!(c, '*' | '?');
        let begin = name.split(is_any).next().unwrap_or_default().to_owned();
        let end = name.rsplit(is_any).next().unwrap_or_default().to_owned();
        Ok(Asked { glob: glob.to_owned(), begin, end, compiled: None })
    }

    fn may_match(&self, name: &[u8]) -> bool {
        name.starts_with(self.begin.as_bytes()) && name.ends_with(self.end.as_bytes())
    }

    fn is_match(&mut self, path: &Path) -> bool {
        if self.compiled.is_none() {
            self.compiled = parse(&self.glob).ok().map(|glob| glob.compile_matcher());
        }
        self.compiled.as_ref().is_some_and(|glob| glob.is_match(path))
    }
}

/// A report file that is open for reading.
#[derive(Debug)]
pub struct Open {
    /// At its first byte.
    pub file: File,
    /// Bytes.
    pub length: u64,
    /// As the file system has it.
    pub modified: SystemTime,
}

/// Opens a report: a regular file, in the work tree if a link leads to it, within `limits.report_bytes`.
///
/// # Errors
/// `refused` for everything else (a directory, a FIFO, a device, a link out of the work tree, too large) at once and
/// without blocking; a failure if the system says no.
pub fn open(root: &Path, found: &Found, limits: &Limits) -> Result<Open> {
    let refuse = |why: &str| Error::report(Reject::Refused, format!("report is {why}")).in_file(&found.name);
    let io = |error: &std::io::Error| Error::io("read the report", &found.path, error).in_file(&found.name);
    let meta = std::fs::symlink_metadata(&found.path).map_err(|error| io(&error))?;
    let mut path = found.path.clone();
    if meta.file_type().is_symlink() {
        path = std::fs::canonicalize(&found.path).map_err(|error| io(&error))?;
        let home = std::fs::canonicalize(root).map_err(|error| io(&error))?;
        if !path.starts_with(&home) {
            return Err(refuse("a link out of the work tree").help("name the file itself with --report if it is meant"));
        }
    }
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    let descriptor =
        rustix::fs::open(&path, flags, rustix::fs::Mode::empty()).map_err(|errno| io(&std::io::Error::from(errno)))?;
    let file = File::from(descriptor);
    let meta = file.metadata().map_err(|error| io(&error))?;
    if !meta.is_file() {
        return Err(refuse(if meta.is_dir() { "a directory, not a file" } else { "not a regular file" }));
    }
    if meta.len() > limits.report_bytes {
        return Err(refuse("too large").because(format!(
            "it has {} bytes, limits.report_bytes allows {}",
            meta.len(),
            limits.report_bytes
        )));
    }
    let modified = meta.modified().map_err(|error| io(&error))?;
    Ok(Open { file, length: meta.len(), modified })
}

impl Open {
    /// Whether the file is still as it was opened: what was read from it in between is all of it.
    pub fn is_unchanged(&self) -> bool {
        self.file.metadata().is_ok_and(|meta| {
            meta.len() == self.length && meta.modified().is_ok_and(|modified| modified == self.modified)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests_support::make_fifo;

    fn config() -> crate::model::config::LoopConfig {
        // The floors keep `config` out of reach of this room; its file is plain data.
        serde_yaml::from_str(include_str!("../config/default.yaml")).unwrap()
    }

    fn find(root: &Path, reports: &Reports, limits: &Limits) -> Result<Vec<Found>> {
        super::find(root, reports, limits, &|_, _| false)
    }

    fn put(root: &Path, name: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }

    fn names(found: &[Found]) -> Vec<&str> {
        found.iter().map(|found| found.name.as_str()).collect()
    }

    #[test]
    fn default_globs_find_what_the_usual_tools_write_and_skip_what_they_install() {
        let dir = tempfile::tempdir().unwrap();
        let expected = [
            "app/build/test-results/test/TEST-app.AppTest.xml",
            "coverage/lcov.info",
            "coverage.xml",
            "junit.xml",
            "module/target/surefire-reports/TEST-a.B.xml",
            "reports/ruff.sarif",
            "target/nextest/default/junit.xml",
        ];
        expected.iter().for_each(|name| put(dir.path(), name));
        [
            "node_modules/x/junit.xml",
            ".venv/lib/junit.xml",
            ".git/junit.xml",
            ".progress/junit.xml",
            "src/main.rs",
            "pom.xml",
        ]
        .iter()
        .for_each(|name| put(dir.path(), name));
        let config = config();
        let found = find(dir.path(), &config.reports, &config.limits).unwrap();
        assert_eq!(names(&found), expected);
        assert!(found.iter().all(|found| found.tree_path.is_some() && !found.named));
    }

    #[test]
    fn globs_match_whatever_they_end_with() {
        let dir = tempfile::tempdir().unwrap();
        let expected = [
            ".tap",
            "a.b/c",
            "a.tap",
            "a.x-y",
            "b/report",
            "d/ab/c.yml",
            "dotted.d/e.xml",
            "f.JSON",
            "g.tar.gz",
            "x*y.a",
        ];
        expected.iter().for_each(|name| put(dir.path(), name));
        ["a.b.c", "a.tapx", "tap", "f.json", "gz", "xxy.a"].iter().for_each(|name| put(dir.path(), name));
        let globs =
            ["**/*.tap", "*.b/c", "*.x-y", "**/report", "**/*.{xml,}", "d/{z,ab/*}.yml", "*.[J]SON", "*.gz", "x\\*?.a"];
        let reports = Reports { globs: globs.map(String::from).to_vec(), skip_directories: Vec::new() };
        assert_eq!(names(&find(dir.path(), &reports, &config().limits).unwrap()), expected);
        let but_few = ["!**/*.x", "**/*.x*", "!a.b/**", "**/c", "!**/*.{tap,x-y}"].map(String::from).to_vec();
        let reports = Reports { globs: but_few, skip_directories: Vec::new() };
        assert_eq!(names(&find(dir.path(), &reports, &config().limits).unwrap()), ["dotted.d/e.xml"]);
        let broken = Reports { globs: vec!["**/[.xml".into()], skip_directories: Vec::new() };
        assert!(find(dir.path(), &broken, &config().limits).is_err());
    }

    #[test]
    fn a_folder_whose_names_are_known_is_not_listed() {
        let dir = tempfile::tempdir().unwrap();
        ["known/junit.xml", "known/unseen.sarif", "known/in/lcov.info", "known/node_modules/junit.xml", "b/junit.xml"]
            .iter()
            .for_each(|name| put(dir.path(), name));
        let known = |folder: &Path, take: &mut dyn FnMut(&OsStr, bool)| {
            let is_known = folder == Path::new("known");
            if is_known {
                let names = [("in", true), ("junit.xml", false), ("node_modules", true), ("other.rs", false)];
                names.iter().for_each(|(name, is_folder)| take(OsStr::new(name), *is_folder));
            }
            is_known
        };
        let config = config();
        let found = super::find(dir.path(), &config.reports, &config.limits, &known).unwrap();
        assert_eq!(names(&found), ["b/junit.xml", "known/in/lcov.info", "known/junit.xml"]);
    }

    #[test]
    fn p41_too_many_files_are_refused_with_their_limit() {
        let dir = tempfile::tempdir().unwrap();
        (0..4).for_each(|n| put(dir.path(), &format!("junit{n}.xml")));
        let mut config = config();
        config.limits.reports = 3;
        let error = find(dir.path(), &config.reports, &config.limits).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::Refused));
        assert!(error.to_string().contains('3'), "{error}");
        config.limits.reports = 4;
        assert_eq!(find(dir.path(), &config.reports, &config.limits).unwrap().len(), 4);
    }

    #[test]
    fn p36_p37_links_outward_and_odd_files_are_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let root = dir.path();
        put(outside.path(), "secret.xml");
        put(root, "real.xml");
        std::os::unix::fs::symlink(outside.path().join("secret.xml"), root.join("out.xml")).unwrap();
        std::os::unix::fs::symlink("real.xml", root.join("in.xml")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", root.join("zero.xml")).unwrap();
        std::fs::create_dir(root.join("dir.xml")).unwrap();
        make_fifo(&root.join("fifo.xml"));
        let config = config();
        let read = |name: &str| open(root, &describe(root, &root.join(name), true), &config.limits);
        assert_eq!(read("in.xml").unwrap().length, 1);
        for name in ["out.xml", "zero.xml", "dir.xml", "fifo.xml"] {
            assert_eq!(read(name).unwrap_err().reject(), Some(Reject::Refused), "{name}");
        }
        assert!(read("gone.xml").is_err());
    }

    #[test]
    fn p38_a_file_that_grows_meanwhile_is_known_to_have_changed() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "a.xml");
        let config = config();
        let path = dir.path().join("a.xml");
        let open = open(dir.path(), &describe(dir.path(), &path, true), &config.limits).unwrap();
        assert!(open.is_unchanged());
        std::fs::write(&path, "xy").unwrap();
        assert!(!open.is_unchanged());
    }

    #[test]
    fn a_report_over_the_limit_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "a.xml");
        let mut config = config();
        config.limits.report_bytes = 0;
        let error =
            open(dir.path(), &describe(dir.path(), &dir.path().join("a.xml"), true), &config.limits).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::Refused));
    }

    #[test]
    fn a_name_that_matches_nothing_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let config = config();
        assert!(named(dir.path(), dir.path(), "absent.xml", &config.limits).is_err());
        assert!(named(dir.path(), dir.path(), "*.xml", &config.limits).is_err());
        put(dir.path(), "sub/[x].xml");
        let literal = named(dir.path(), dir.path(), "sub/[x].xml", &config.limits).unwrap();
        assert_eq!(names(&literal), ["sub/[x].xml"]);
        let globbed = named(dir.path(), &dir.path().join("sub"), "*.xml", &config.limits).unwrap();
        assert_eq!(names(&globbed), ["sub/[x].xml"]);
        assert!(globbed[0].named);
    }
}
