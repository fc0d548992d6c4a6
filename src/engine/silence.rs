//! Linters that print nothing where they find nothing, in what a command printed. That one of them is silent means that it
//! found nothing, or that it did not run. Which of the two is told by the iteration in which the same command last had it
//! speak, and by how the command ended now.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use super::Offer;
use super::argv::{programs, scripts, words};
use super::bodies::file_at;
use super::measure::{CONSOLE, has_built};
use crate::disk;
use crate::disk::hash::id_of;
use crate::disk::layout::Layout;
use crate::disk::spool::Spool;
use crate::error::Result;
use crate::ingest::console::Withheld;
use crate::ingest::{self, Details, Format, Input, Parsed};
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;
use crate::model::record::{Command, IterationRecord, Silence, Source, SourceError};
use crate::snapshot::objects::Objects;
use crate::store::Store;
use crate::workspace::reports;

/// A longer output is not read again.
const OUTPUT_BYTES: u64 = 4 << 20;

/// A larger file defines no command.
const DEFINITION_BYTES: u64 = 1 << 20;

/// Programs that run what a file tells, and that file.
const DEFINED_IN: [(&str, &[&str]); 17] = [
    ("npm", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("yarn", &["package.json"]),
    ("bun", &["package.json"]),
    ("turbo", &["package.json", "turbo.json"]),
    ("nx", &["package.json", "nx.json"]),
    ("deno", &["deno.json", "deno.jsonc"]),
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("tox", &["tox.ini", "setup.cfg", "pyproject.toml"]),
    ("nox", &["noxfile.py"]),
    ("rake", &["Rakefile"]),
    ("composer", &["composer.json"]),
    ("mise", &["mise.toml"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
];

/// Programs whose first argument that is no option is a script.
const INTERPRETERS: [&str; 13] =
    ["sh", "bash", "dash", "zsh", "ksh", "fish", "pwsh", "python", "python3", "node", "ruby", "perl", "php"];

/// Listens for tools that the same command had speak in the iterations before.
pub(super) struct Listener<'a> {
    root: &'a Path,
    layout: &'a Layout,
    store: &'a Store,
    newest: &'a IterationRecord,
    offer: &'a Offer,
    command: &'a Command,
}

impl<'a> Listener<'a> {
    /// In a work tree at `root`, after `newest`; none if that was not measured by the same command.
    pub(super) fn new(
        root: &'a Path,
        layout: &'a Layout,
        store: &'a Store,
        newest: &'a IterationRecord,
        offer: &'a Offer,
    ) -> Option<Listener<'a>> {
        let (command, before) = (offer.command.as_ref()?, newest.command.as_ref()?);
        (command.argv == before.argv).then_some(Listener { root, layout, store, newest, offer, command })
    }

    /// Whether the command had something of the format printed the last time.
    pub(super) fn has_heard(&self, format: &str) -> bool {
        self.newest.sources.iter().any(|source| source.path == CONSOLE && source.format.as_deref() == Some(format))
    }

    /// What it means that nothing was heard of those that spoke before, beside what was; `files` tell of some that are silent
    /// for another reason. What cannot be read of the store tells nothing; nor does an output of which a part was left out, of
    /// a linter that had warnings, too, with which it passes.
    pub(super) fn silent<'p>(
        &self,
        heard: &'p [Parsed],
        files: impl Iterator<Item = &'p Parsed>,
        (output, withheld): (&Spool, Option<Withheld>),
    ) -> Vec<(Source, Option<Parsed>)> {
        let mut heard_tools: BTreeSet<String> =
            heard.iter().chain(files).flat_map(tools_of).map(|(tool, _)| tool).collect();
        let before = self.newest.metrics.quality.iter().flat_map(|quality| quality.errors_by_tool.keys());
        let are_all_heard = before.into_iter().all(|tool| heard_tools.contains(tool));
        let objects = LazyCell::new(|| Objects::open(self.layout));
        let output = LazyCell::new(|| text_of(output));
        let then = |since| {
            let record = self.store.load(since).ok()?.record;
            let text = output_of(self.store, &record)?;
            let told = ingest::console::console(&Input::bytes(CONSOLE, text.as_bytes()));
            let is_alike = |objects: &Objects| self.is_defined_alike(objects, &record).unwrap_or(false);
            let is_defined_alike = objects.as_ref().is_ok_and(is_alike);
            Some(Then { record, text, told, is_defined_alike })
        };
        let mut known = BTreeMap::new();
        let mut silent = Vec::new();
        for source in self.newest.sources.iter().filter(|source| source.path == CONSOLE) {
            let format = source.format.as_deref().and_then(ingest::format);
            let Some(format) = format.filter(|format| ingest::may_be_silent(format)) else { continue };
            let since = match &source.silence {
                Some(silence) if silence.tools.iter().all(|tool| heard_tools.contains(tool)) => continue,
                Some(silence) => silence.since,
                None if are_all_heard => continue,
                None => self.newest.iteration,
            };
            let Some(then) = known.entry(since).or_insert_with(|| then(since)) else { continue };
            let spoke = then.tools(format);
            let mut tools =
                source.silence.as_ref().map_or_else(|| spoke.keys().cloned().collect(), |one| one.tools.clone());
            tools.retain(|tool| heard_tools.insert(tool.clone()));
            if tools.is_empty() {
                continue;
            }
            let is_told = withheld.is_none() || !then.has_warned(format);
            let witness = Witness { format, tools: &tools, spoke: &spoke, then };
            let says_so = || witness.says_that_it_passed(self.command, heard, output.as_deref());
            let has_passed = is_told && (witness.interprets(self.command, heard) || then.is_defined_alike && says_so());
            let clean = ingest::silence(format, &tools).ok().filter(|_| has_passed);
            let error = clean.is_none().then(|| unknown(&tools));
            let source = Source {
                format: Some(format.name.to_owned()),
                kind: Some(format.kind),
                silence: Some(Silence { since, tools }),
                error,
                ..Source::named(CONSOLE)
            };
            silent.push((source, clean));
        }
        silent
    }

    /// Whether the files that say what the command does are what they were in that iteration: who takes the linter out of a
    /// script silences it, too.
    fn is_defined_alike(&self, objects: &Objects, then: &IterationRecord) -> Result<bool> {
        for name in definitions(&self.command.argv) {
            let path = self.offer.folder.join(&name);
            let Some(tree_path) = reports::describe(self.root, &path, true).tree_path else { continue };
            // What no snapshot holds is of nobody's work in the loop.
            let Some(before) = file_at(objects, &then.tree, &tree_path)? else { continue };
            let Some(now) = disk::read_if_present(&path, DEFINITION_BYTES).ok().flatten() else { return Ok(false) };
            if before != id_of(&now) && !has_scripts_of(&path, &objects.read(&before)?, &now) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What is said of tools of which it cannot be told whether they ran.
fn unknown(tools: &[String]) -> SourceError {
    SourceError {
        code: "silent".to_owned(),
        message: format!("{} said nothing, and whether it ran cannot be told", tools.join(", ")),
        line: None,
        column: None,
        help: Some("let it write a report, or let the command fail where it fails: `lint && test`".to_owned()),
    }
}

/// An iteration before, measured by the same command.
struct Then {
    record: IterationRecord,
    /// What the command printed.
    text: String,
    /// What tools say in it.
    told: Vec<Parsed>,
    /// The files that say what the command does are what they were.
    is_defined_alike: bool,
}

impl Then {
    /// The tools that spoke in that format, and how many errors of each.
    fn tools(&self, format: &Format) -> BTreeMap<String, u64> {
        self.told.iter().filter(|one| one.format == format).flat_map(tools_of).collect()
    }

    /// Whether one of them found what makes no linter fail.
    fn has_warned(&self, format: &Format) -> bool {
        let has_warned = |one: &Parsed| one.figures.total != one.figures.errors;
        self.told.iter().any(|one| one.format == format && has_warned(one))
    }
}

/// The iteration in which a command last had tools speak that are silent now.
struct Witness<'a> {
    format: &'static Format,
    tools: &'a [String],
    /// All that spoke in the format, with their errors.
    spoke: &'a BTreeMap<String, u64>,
    then: &'a Then,
}

impl Witness<'_> {
    /// Whether the command could not have ended as it did now if they had not passed.
    fn says_that_it_passed(&self, command: &Command, heard: &[Parsed], output: Option<&str>) -> bool {
        let IterationRecord { sources, command: command_then, .. } = &self.then.record;
        let failed_then = command_then.as_ref().and_then(|command| command.exit_code).is_some_and(|code| code != 0);
        // Their findings alone made the command fail, and the command did not fail.
        let failed_beside =
            |source: &Source| match source.path == CONSOLE && source.format.as_deref() == Some(self.format.name) {
                true => self.spoke.iter().any(|(tool, errors)| *errors > 0 && !self.tools.contains(tool)),
                false => source.has_failed(),
            };
        let decides = || failed_then && !sources.iter().any(failed_beside);
        // A tool that is missing, or broken, would be told of.
        let says_no_more = || output.is_some_and(|output| lines(output).is_subset(&lines(&self.then.text)));
        // They kept the tests from running, and they ran.
        let lets_tests_run = || {
            let is_test = |kind: Option<ReportKind>| kind == Some(ReportKind::Test);
            failed_then
                && heard.iter().any(|one| is_test(Some(one.format.kind)))
                && !sources.iter().any(|source| is_test(source.kind) && !source.stale)
        };
        let has_passed_on =
            || chains(command, &self.then.text).any(|chain| heard.iter().any(|one| self.comes_before(&chain, one)));
        let is_over = || command.exit_code == Some(0) && (decides() || says_no_more());
        let has_built = || ingest::are_compilers(self.tools) && has_built(Some(command), heard.iter());
        lets_tests_run() || has_passed_on() || is_over() || has_built() || self.go_has_built(heard)
    }

    /// Whether the command is the interpreter itself, `ruby a_test.rb`, and ran what it could not parse before: who changes the
    /// script does not take it out.
    fn interprets(&self, command: &Command, heard: &[Parsed]) -> bool {
        let is_version = |c: char| c.is_ascii_digit() || c == '.';
        let name = programs(&command.argv).next().map(|program| program.trim_end_matches(is_version));
        let is_it = self.tools.iter().all(|tool| Some(tool.as_str()) == name);
        is_it && ingest::are_compilers(self.tools) && has_built(Some(command), heard.iter())
    }

    /// Whether Go's tests tell it: `go test` compiles and vets a package before it runs its tests, and says of one that did not
    /// pass that its build failed.
    fn go_has_built(&self, heard: &[Parsed]) -> bool {
        let is_of_go = |one: &Parsed| matches!(one.format.name, "go-test-text" | "go-test-json" | "gotestsum-text");
        let has_built = |one: &Parsed| is_of_go(one) && one.build == Some(BuildStatus::Success);
        self.tools.iter().all(|tool| tool == "govet" || tool == "typecheck") && heard.iter().any(has_built)
    }

    /// Whether the command went on to another linter, as it does where this one passes.
    fn comes_before(&self, chain: &[String], other: &Parsed) -> bool {
        let Details::Lint(lint) = &other.details else { return false };
        let place = |tool: &String| programs(chain).position(|program| is_called(program, tool));
        let Some(ours) = self.tools.iter().map(place).collect::<Option<Vec<_>>>() else { return false };
        lint.by_tool.keys().filter_map(place).any(|its| ours.iter().all(|ours| *ours < its))
    }
}

/// What the command printed in that iteration, unless it is long.
fn output_of(store: &Store, record: &IterationRecord) -> Option<String> {
    let source = record.sources.iter().find(|source| source.path == CONSOLE && source.artifact.is_some())?;
    let path = store.paths().artifacts(record.iteration).join(source.artifact.as_ref()?);
    disk::read(&path, OUTPUT_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// The tools of findings that a report tells of, and how many errors of each.
fn tools_of(report: &Parsed) -> Vec<(String, u64)> {
    match &report.details {
        Details::Lint(lint) => lint.by_tool.iter().map(|(tool, counts)| (tool.clone(), counts.errors)).collect(),
        _ => Vec::new(),
    }
}

/// What a command printed, unless it is long.
pub(super) fn text_of(output: &Spool) -> Option<String> {
    let mut text = String::new();
    let file = output.open().ok().filter(|_| output.bytes <= OUTPUT_BYTES)?;
    file.take(OUTPUT_BYTES).read_to_string(&mut text).ok().map(|_| text)
}

/// The lines that say something, without their numbers, which differ from run to run.
fn lines(output: &str) -> BTreeSet<String> {
    let plain = output.lines().map(|line| line.trim().chars().filter(|c| !c.is_ascii_digit()).collect::<String>());
    plain.filter(|line| !line.is_empty()).collect()
}

/// Whether two manifests of a package define the same scripts: the rest of them changes with every dependency.
fn has_scripts_of(path: &Path, before: &[u8], now: &[u8]) -> bool {
    let is_manifest = path.file_name().is_some_and(|name| name == "package.json" || name == "composer.json");
    let scripts = |bytes: &[u8]| {
        let document: serde_json::Value = serde_json::from_slice(bytes).ok()?;
        Some(document.get("scripts").cloned())
    };
    is_manifest && scripts(before).is_some_and(|before| Some(before) == scripts(now))
}

/// Whether a word of a command is how the tool is called: by its name, or as a part of another program.
fn is_called(word: &str, tool: &str) -> bool {
    let parts: &[&str] = match tool {
        "rustfmt" => &["fmt"],
        "rustc" => &["clippy", "check", "build", "test"],
        "govet" => &["vet"],
        // Go's compiler, whoever calls it.
        "typecheck" => &["build", "vet", "test"],
        _ => &[],
    };
    word == tool || parts.contains(&word)
}

/// What runs one program after the other as long as they pass, `tsc && eslint .`: the command itself, and the scripts of which
/// npm and its like print a line, as they did in that output.
fn chains(command: &Command, output: &str) -> impl Iterator<Item = Vec<String>> {
    let all = std::iter::once(command.argv.clone()).chain(scripts(output).map(|script| vec![script.to_owned()]));
    let is_chain = |word: &String| !word.replace("&&", "").contains([';', '|', '&', '\n', '(', '`', '{']);
    all.filter(move |argv| argv.iter().all(is_chain))
}

/// The names of files that say what a command does: its scripts, and what the programs in it read.
fn definitions(argv: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_script = false;
    for word in words(argv) {
        let program = word.rsplit('/').next().unwrap_or(word);
        if word.starts_with("./") || (is_script && !word.starts_with('-')) {
            names.push(word.to_owned());
        }
        // After `-c` comes the text of one.
        let is_option = word.starts_with('-') && !word.ends_with('c');
        is_script = INTERPRETERS.contains(&program) || (is_script && is_option);
        let defined = DEFINED_IN.iter().find(|(name, _)| *name == program);
        names.extend(defined.into_iter().flat_map(|(_, files)| files.iter().map(|file| (*file).to_owned())));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined_by(argv: &[&str]) -> Vec<String> {
        definitions(&argv.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn scripts_and_what_runners_read_define_a_command() {
        assert_eq!(defined_by(&["npm", "run", "lint"]), ["package.json"]);
        assert_eq!(defined_by(&["sh", "-e", "ci/check.sh", "src"]), ["ci/check.sh"]);
        assert_eq!(defined_by(&["./check", "a.py"]), ["./check"]);
        let nested = defined_by(&["bash", "-c", "npx tsc && (just lint; python3 -B x.py a.py)"]);
        assert_eq!(nested, ["justfile", "Justfile", ".justfile", "x.py"]);
        assert_eq!(defined_by(&["eslint", "src/a.js"]), [""; 0], "what is linted defines nothing");
    }

    #[test]
    fn some_tools_are_parts_of_a_program() {
        let chain = ["cargo fmt --check && cargo clippy && go vet ./...".to_owned()];
        let place = |tool: &str| programs(&chain).position(|word| is_called(word, tool));
        assert_eq!(["rustfmt", "rustc", "govet", "eslint"].map(place), [Some(1), Some(4), Some(6), None]);
    }

    #[test]
    fn of_a_manifest_only_the_scripts_count() {
        let path = Path::new("/p/package.json");
        let lint = br#"{"scripts": {"lint": "eslint ."}, "version": "1"}"#;
        assert!(has_scripts_of(path, lint, br#"{"version": "2", "scripts": {"lint": "eslint ."}}"#));
        assert!(!has_scripts_of(path, lint, br#"{"scripts": {"lint": "true"}, "version": "1"}"#));
        assert!(!has_scripts_of(path, lint, b"{"));
        assert!(!has_scripts_of(Path::new("/p/a.json"), lint, lint));
    }

    #[test]
    fn lines_differ_by_their_words_only() {
        assert_eq!(lines("> a@1.0.0\n\n  Done in 1.3s\r\n"), lines("  > a@1.0.1\nDone in 20.45s\n"));
        assert!(!lines("sh: eslint: not found\n").is_subset(&lines("> a@1.0.0\n")));
    }
}
