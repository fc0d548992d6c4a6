//! What a snapshot leaves out: git's ignore rules, the rule for secrets, and the config's globs.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::git_config::{Settings, read_through_links};
use super::git_index::{self, Tracked};
use super::gitignore::Lines;
use crate::disk;
use crate::disk::layout::{GitUser, Layout};
use crate::error::{Error, Result};
use crate::model::config::Capture;
use crate::model::ids::escape;

/// A larger `.gitignore` is none that people wrote.
pub(super) const MAX_BYTES: u64 = 8 << 20;

/// The rules of one ignore file, and those above it, which hold where it says nothing.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    above: Option<Arc<IgnoreRules>>,
    /// Its folder with a `/` at its end, from the outermost repository's top; empty there.
    base: Vec<u8>,
    lines: Lines,
}

impl IgnoreRules {
    /// Whether git would ignore the path (from the outermost repository's top), its parents not being ignored.
    fn ignore(rules: Option<&Arc<IgnoreRules>>, path: &[u8], is_directory: bool) -> bool {
        let mut next = rules;
        while let Some(level) = next {
            let relative = path.strip_prefix(level.base.as_slice());
            if let Some(ignored) = relative.and_then(|path| level.lines.ignore(path, is_directory)) {
                return ignored;
            }
            next = level.above.as_ref();
        }
        false
    }
}

/// A repository that the walk is in, and the ones around it.
#[derive(Debug)]
pub(super) struct Repository {
    around: Option<Arc<Repository>>,
    /// As [`IgnoreRules::base`].
    base: Vec<u8>,
    tracked: Tracked,
}

/// What git knows about a folder.
#[derive(Clone, Debug, Default)]
pub(super) struct Git {
    rules: Option<Arc<IgnoreRules>>,
    repository: Option<Arc<Repository>>,
    /// The work tree from the outermost repository's top, with a `/` at its end; empty if it is that top.
    prefix: Arc<[u8]>,
    /// The rules do not tell capital letters from small ones.
    folds: bool,
}

/// A folder that is entered.
struct Place<'a> {
    folder: &'a Path,
    /// As [`IgnoreRules::base`].
    base: &'a [u8],
    user: &'a GitUser,
    notes: &'a mut Vec<(String, String)>,
}

impl Place<'_> {
    fn note(&mut self, file: &Path, why: String) {
        let name = match file.strip_prefix(self.folder) {
            Ok(below) => [self.base, below.as_os_str().as_bytes()].concat(),
            Err(_) => file.as_os_str().as_bytes().to_vec(),
        };
        self.notes.push((escape(&name), why));
    }
}

impl Git {
    /// What holds for the top of a work tree that lies inside a repository. Rules by which git would ignore the work
    /// tree itself are left aside: somebody who measures a loop in it wants it kept.
    pub fn around(layout: &Layout, notes: &mut Vec<(String, String)>) -> Git {
        let (root, user) = (layout.root(), layout.git_user());
        if git_index::git_directory(root).is_some() {
            return Git::default();
        }
        let Some(top) = root.ancestors().skip(1).find(|folder| git_index::git_directory(folder).is_some()) else {
            return Git::default();
        };
        let Ok(inside) = root.strip_prefix(top) else { return Git::default() };
        let mut git = Git::default();
        let mut base = Vec::new();
        let mut folder = top.to_path_buf();
        for name in inside.components() {
            git = git.enter(Place { folder: &folder, base: &base, user, notes });
            base.extend_from_slice(name.as_os_str().as_bytes());
            if IgnoreRules::ignore(git.rules.as_ref(), &base, true) {
                return Git::default();
            }
            base.push(b'/');
            folder.push(name);
        }
        Git { prefix: base.into(), ..git }
    }

    /// What holds in a work tree whatever `.gitignore` files it has.
    pub fn outside(layout: &Layout) -> Git {
        // A capture tells of them.
        let notes = &mut Vec::new();
        let mut git = Git::around(layout, notes);
        if let Some(own) = git_index::git_directory(layout.root()) {
            git.take_repository(&own, &mut Place { folder: layout.root(), base: &[], user: layout.git_user(), notes });
        }
        git
    }

    /// What holds inside a folder of the work tree, once its own `.git` and `.gitignore` are read.
    pub fn inside(&self, layout: &Layout, folder: &[u8], notes: &mut Vec<(String, String)>) -> Git {
        let mut base = self.prefix.to_vec();
        base.extend_from_slice(folder);
        if !folder.is_empty() {
            base.push(b'/');
        }
        let path = layout.root().join(as_path(folder));
        self.enter(Place { folder: &path, base: &base, user: layout.git_user(), notes })
    }

    fn enter(&self, mut place: Place<'_>) -> Git {
        let mut git = self.clone();
        if let Some(own) = git_index::git_directory(place.folder) {
            git.take_repository(&own, &mut place);
            let tracked = git_index::load(&own).unwrap_or_else(|why| {
                place.note(&place.folder.join(".git/index"), why);
                Tracked::default()
            });
            git.repository = Some(Arc::new(Repository { around: git.repository, base: place.base.to_vec(), tracked }));
        }
        let own = place.folder.join(".gitignore");
        git.take_rules(&own, disk::read_if_present(&own, MAX_BYTES), &mut place);
        git
    }

    /// Takes the rules that a repository has beside those in its work tree, the weakest first.
    fn take_repository(&mut self, own: &Path, place: &mut Place<'_>) {
        let shared = git_index::common_directory(own);
        let settings = Settings::read(place.user, own, &shared, &mut |file, why| place.note(file, why));
        self.folds = settings.folds;
        let files = [settings.excludes(place.user, place.folder), Some(shared.join("info/exclude"))];
        for file in files.into_iter().flatten() {
            self.take_rules(&file, read_through_links(&file, MAX_BYTES), place);
        }
    }

    /// Puts the rules of a file over the others; one that is absent or cannot be read has none.
    fn take_rules(&mut self, file: &Path, read: Result<Option<Vec<u8>>>, place: &mut Place<'_>) {
        let bytes = read.unwrap_or_else(|error| {
            place.note(file, format!("its ignore rules are not used: {error}"));
            None
        });
        let lines = self.lines(&bytes.unwrap_or_default());
        if !lines.is_empty() {
            self.rules = Some(Arc::new(IgnoreRules { above: self.rules.take(), base: place.base.to_vec(), lines }));
        }
    }

    /// The lines of a `.gitignore` as they are to be read here.
    pub fn lines(&self, bytes: &[u8]) -> Lines {
        Lines::read(bytes, self.folds)
    }

    fn in_repository<'a>(&self, path: &'a [u8]) -> Cow<'a, [u8]> {
        if self.prefix.is_empty() { Cow::Borrowed(path) } else { Cow::Owned([&self.prefix, path].concat()) }
    }

    /// Whether git would ignore this path of the work tree, tracked or not, its parents not being ignored.
    pub fn ignores(&self, path: &[u8], is_directory: bool) -> bool {
        self.rules.is_some() && IgnoreRules::ignore(self.rules.as_ref(), &self.in_repository(path), is_directory)
    }

    /// Whether a repository tracks this file.
    pub fn tracks(&self, path: &[u8]) -> bool {
        self.any_repository(path, Tracked::contains)
    }

    /// Whether a repository tracks a file below this directory.
    pub fn tracks_below(&self, directory: &[u8]) -> bool {
        self.any_repository(directory, Tracked::reaches_below)
    }

    fn any_repository(&self, path: &[u8], ask: fn(&Tracked, &[u8]) -> bool) -> bool {
        let path = self.in_repository(path);
        let mut next = self.repository.as_ref();
        while let Some(repository) = next {
            if path.strip_prefix(repository.base.as_slice()).is_some_and(|path| ask(&repository.tracked, path)) {
                return true;
            }
            next = repository.around.as_ref();
        }
        false
    }
}

/// The config's globs, relative to the work tree; `*` does not match `/`.
#[derive(Debug)]
pub(super) struct Globs {
    include: GlobSet,
    /// Those of `include` that name a file: their last part is more than `*` or `**`. Only they can name a secret.
    naming: GlobSet,
    /// Where `include` can match at all, one for each glob.
    reach: Vec<Reach>,
    exclude: GlobSet,
}

impl Globs {
    /// Reads the globs.
    ///
    /// # Errors
    /// Bad input that names the key and the glob.
    pub fn new(capture: &Capture) -> Result<Globs> {
        let names_file = |glob: &&String| !matches!(glob.rsplit('/').next(), Some("*" | "**" | ""));
        let naming: Vec<String> = capture.include.iter().filter(names_file).cloned().collect();
        Ok(Globs {
            include: glob_set("capture.include", &capture.include)?,
            naming: glob_set("capture.include", &naming)?,
            reach: capture.include.iter().map(|glob| Reach::of(glob)).collect(),
            exclude: glob_set("capture.exclude", &capture.exclude)?,
        })
    }

    /// Whether `capture.include` matches the path.
    pub fn include(&self, path: &[u8]) -> bool {
        matches(&self.include, path)
    }

    /// Whether `capture.include` names the path, and not only all that lies in a folder.
    pub fn name(&self, path: &[u8]) -> bool {
        matches(&self.naming, path)
    }

    /// Whether `capture.include` may match something below this directory.
    pub fn include_below(&self, directory: &[u8]) -> bool {
        let mut folder = directory.to_vec();
        folder.push(b'/');
        self.reach
            .iter()
            .any(|reach| reach.begin.starts_with(&folder) || reach.is_deep && folder.starts_with(&reach.begin))
    }

    /// Whether `capture.exclude` matches the path.
    pub fn exclude(&self, path: &[u8]) -> bool {
        matches(&self.exclude, path)
    }
}

/// Taking a path apart for matching costs more than to see that there is nothing to match.
fn matches(globs: &GlobSet, path: &[u8]) -> bool {
    !globs.is_empty() && globs.is_match(as_path(path))
}

/// Where a glob can match.
#[derive(Debug)]
struct Reach {
    /// What every match begins with: all of the glob, or the folders that it spells out before its first wildcard.
    begin: Vec<u8>,
    /// Matches may lie in folders below `begin` too.
    is_deep: bool,
}

impl Reach {
    fn of(glob: &str) -> Reach {
        let Some(wild) = glob.find(['*', '?', '[', '{', '\\']) else {
            return Reach { begin: glob.as_bytes().to_vec(), is_deep: false };
        };
        let literal = glob.get(..wild).unwrap_or_default();
        let folders = literal.rfind('/').and_then(|slash| literal.get(..=slash)).unwrap_or_default();
        let rest = glob.get(folders.len()..).unwrap_or_default();
        Reach { begin: folders.as_bytes().to_vec(), is_deep: rest.contains('/') || rest.contains("**") }
    }
}

fn glob_set(key: &str, globs: &[String]) -> Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let built = GlobBuilder::new(glob).literal_separator(true).build().map_err(|error| {
            Error::bad_input(format!("{glob:?} in {key} is not a glob")).because(error.kind().to_string())
        })?;
        set.add(built);
    }
    set.build()
        .map_err(|error| Error::bad_input(format!("the globs of {key} cannot be used")).because(error.to_string()))
}

/// Whether a file of that name is a secret (PROMISES G2): kept only if `capture.include` names it.
pub(super) fn is_secret(name: &[u8]) -> bool {
    let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
    let begins = |prefix: &[u8]| name.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix));
    let ends = |suffix: &[u8]| {
        let begin = name.len().saturating_sub(suffix.len());
        name.get(begin..).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    };
    let is_environment = is(b".env") || begins(b".env.") && !is(b".env.example") && !is(b".env.sample");
    is_environment
        || ends(b".pem")
        || ends(b".key")
        || begins(b"id_rsa")
        || begins(b"id_ed25519")
        || begins(b"id_ecdsa")
        || is(b".netrc")
        || is(b".npmrc")
        || is(b".pypirc")
}

/// Raw bytes as the system's path.
pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    // PROMISES G2.
    #[test]
    fn secrets_are_known_by_their_names() {
        for secret in [
            ".env",
            ".env.local",
            ".env.production",
            "server.pem",
            "a.KEY",
            "id_rsa",
            "id_rsa.pub",
            "id_ed25519",
            "id_ecdsa_sk",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".ENV",
        ] {
            assert!(is_secret(secret.as_bytes()), "{secret}");
        }
        for plain in [".env.example", ".env.sample", "env", ".envrc", "pem", "key.rs", "my_id_rsa", "monkey"] {
            assert!(!is_secret(plain.as_bytes()), "{plain}");
        }
    }

    #[test]
    fn a_glob_for_a_whole_folder_names_no_secret() {
        let globs = |include: &[&str]| {
            let include = include.iter().map(|glob| (*glob).to_owned()).collect();
            Globs::new(&Capture { include, exclude: Vec::new() }).unwrap()
        };
        let folder = globs(&["dist/**", "conf/*"]);
        assert!(folder.include(b"dist/a/.env") && !folder.name(b"dist/a/.env") && !folder.name(b"conf/.env"));
        assert!(globs(&["**/.env"]).name(b"a/b/.env") && globs(&["conf/*.pem"]).name(b"conf/x.pem"));
        assert!(!globs(&[".env"]).name(b"a/.env"));
        assert!(folder.include_below(b"dist") && folder.include_below(b"dist/a") && !folder.include_below(b"distant"));
        assert!(globs(&["a/b/c"]).include_below(b"a") && globs(&["**/x"]).include_below(b"anything"));
        assert!(!globs(&["a/b/c"]).include_below(b"a/c") && !globs(&["*.local"]).include_below(b"node_modules"));
        assert!(globs(&["a/*/c"]).include_below(b"a/b") && globs(&["a/**"]).include_below(b"a/b"));
        let wrong = Capture { include: Vec::new(), exclude: vec!["a[".to_owned()] };
        assert!(Globs::new(&wrong).unwrap_err().to_string().contains("capture.exclude"));
    }
}
