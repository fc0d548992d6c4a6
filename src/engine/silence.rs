//! Linters that print nothing where they find nothing, in what a command printed. That one of them is silent means that it
//! found nothing, or that it did not run. Which of the two is told by the iteration in which the same command last had it
//! speak, and by how the command ended now.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::Offer;
use super::bodies::file_at;
use super::measure::CONSOLE;
use crate::disk;
use crate::disk::hash::id_of;
use crate::disk::layout::Layout;
use crate::disk::spool::Spool;
use crate::error::Result;
use crate::ingest::{self, Details, Format, Parsed};
use crate::model::figures::{Figures, ReportKind};
use crate::model::ids::Iteration;
use crate::model::record::{Command, IterationRecord, Source, SourceError};
use crate::snapshot::objects::Objects;
use crate::store::Store;
use crate::workspace::reports;

/// What is read of an output to compare its lines with another's.
const OUTPUT_BYTES: u64 = 256 << 10;

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

/// The iteration in which a command had a tool speak.
struct Witness {
    record: IterationRecord,
    /// The lines of the output then, without their numbers.
    lines: Option<BTreeSet<String>>,
    /// Files that say what the command does are what they were then.
    is_defined_alike: bool,
}

/// A tool that prints nothing where it finds nothing, and that this command had speak before.
pub(super) struct Spoke {
    /// What it prints.
    pub format: &'static Format,
    tool: &'static str,
    witness: Arc<Witness>,
}

/// What the silence of a tool means.
pub(super) enum Silence {
    /// It ran, and found nothing.
    Clean,
    /// That cannot be told.
    Unknown,
}

/// The tools that could be silent now: in a work tree at `root`, after `newest` of a loop that is stored elsewhere perhaps. What cannot be read of the store tells
/// nothing.
pub(super) fn spoke(root: &Path, stored: (&Layout, &Store), newest: &IterationRecord, offer: &Offer) -> Vec<Spoke> {
    let (layout, store) = stored;
    let (Some(command), Some(before)) = (&offer.command, &newest.command) else { return Vec::new() };
    if command.argv != before.argv {
        return Vec::new();
    }
    let mut spoke: Vec<Spoke> = Vec::new();
    let (mut witnesses, mut objects) = (Vec::<Arc<Witness>>::new(), None);
    for source in newest.sources.iter().filter(|source| source.path == CONSOLE) {
        let format = source.format.as_deref().and_then(ingest::format);
        let Some((format, tool)) = format.and_then(|format| Some((format, ingest::silent_tool(format)?))) else {
            continue;
        };
        let since = source.silent_since.or(source.figures.is_some().then_some(newest.iteration));
        let Some(since) = since.filter(|_| spoke.iter().all(|other| other.format != format)) else { continue };
        let witness = match witnesses.iter().find(|witness| witness.record.iteration == since) {
            Some(witness) => Arc::clone(witness),
            None => {
                let Ok(stored) = store.load(since) else { continue };
                let objects = objects.get_or_insert_with(|| Objects::open(layout));
                let lines = output_of(store, &stored.record).map(|text| lines(&text));
                let is_defined_alike = objects.as_ref().is_ok_and(|objects| {
                    is_defined_alike(root, objects, &stored.record, offer, command).unwrap_or(false)
                });
                let witness = Arc::new(Witness { record: stored.record, lines, is_defined_alike });
                witnesses.push(Arc::clone(&witness));
                witness
            }
        };
        spoke.push(Spoke { format, tool, witness });
    }
    spoke
}

impl Spoke {
    /// When it last spoke.
    pub(super) fn since(&self) -> Iteration {
        self.witness.record.iteration
    }

    /// Whether a tool was heard beside it then.
    pub(super) fn was_beside(&self, format: &str) -> bool {
        self.witness.record.sources.iter().any(|source| source.format.as_deref() == Some(format))
    }

    /// What it means that nothing was heard of it, beside what was.
    pub(super) fn silence(&self, command: &Command, heard: &[Parsed], output: Option<&str>) -> Silence {
        let then = &self.witness.record;
        let failed_then = then.command.as_ref().and_then(|command| command.exit_code).is_some_and(|code| code != 0);
        // Its findings made the command fail, and the command did not fail.
        let decides = || failed_then && !then.sources.iter().any(|source| !self.is_of(source) && failed(source));
        // A tool that is missing, or broken, would be told of.
        let says_no_more =
            || output.zip(self.witness.lines.as_ref()).is_some_and(|(output, known)| lines(output).is_subset(known));
        // It kept the tests from running, and they ran.
        let lets_tests_run = || {
            let is_test = |kind: Option<ReportKind>| kind == Some(ReportKind::Test);
            failed_then
                && heard.iter().any(|one| is_test(Some(one.format.kind)))
                && !then.sources.iter().any(|source| source.path == CONSOLE && is_test(source.kind))
        };
        let has_passed_on =
            || chains(command, output).any(|chain| heard.iter().any(|one| self.comes_before(&chain, one)));
        let is_over = || command.exit_code == Some(0) && (decides() || says_no_more());
        if self.witness.is_defined_alike && (lets_tests_run() || has_passed_on() || is_over()) {
            Silence::Clean
        } else {
            Silence::Unknown
        }
    }

    /// Whether the command went on to another linter, as it does where this one passes.
    fn comes_before(&self, chain: &[String], other: &Parsed) -> bool {
        let Details::Lint(lint) = &other.details else { return false };
        let place = |tool: &str| programs(chain).position(|program| program == tool);
        let comes_after = |tool: &String| place(self.tool).zip(place(tool)).is_some_and(|(ours, its)| ours < its);
        lint.by_tool.keys().any(comes_after)
    }

    /// What is said of it where that cannot be told.
    pub(super) fn unknown(&self) -> SourceError {
        SourceError {
            code: "silent".to_owned(),
            message: format!("{} said nothing, and whether it ran cannot be told", self.tool),
            line: None,
            column: None,
            help: Some("let it write a report, or let the command fail where it fails: `lint && test`".to_owned()),
        }
    }

    fn is_of(&self, source: &Source) -> bool {
        source.path == CONSOLE && source.format.as_deref() == Some(self.format.name)
    }
}

/// Whether a report tells of what makes its tool fail, or could not be read.
fn failed(source: &Source) -> bool {
    let has_failures =
        |figures: &Figures| [figures.failed, figures.errored, figures.errors].iter().flatten().any(|n| *n > 0);
    source.error.is_some() || source.figures.as_ref().is_some_and(has_failures)
}

/// What the command printed in that iteration, unless it is long.
fn output_of(store: &Store, record: &IterationRecord) -> Option<String> {
    let source = record.sources.iter().find(|source| source.path == CONSOLE && source.artifact.is_some())?;
    let path = store.paths().artifacts(record.iteration).join(source.artifact.as_ref()?);
    disk::read(&path, OUTPUT_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok())
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

/// Whether the files that say what the command does are what they were in that iteration: who takes the linter out of a
/// script silences it, too.
fn is_defined_alike(
    root: &Path,
    objects: &Objects,
    then: &IterationRecord,
    offer: &Offer,
    command: &Command,
) -> Result<bool> {
    for name in definitions(&command.argv) {
        let path = offer.folder.join(&name);
        let Some(tree_path) = reports::describe(root, &path, true).tree_path else { continue };
        // What no snapshot holds is of nobody's work in the loop.
        let Some(before) = file_at(objects, &then.tree, &tree_path)? else { continue };
        let Some(now) = disk::read_if_present(&path, DEFINITION_BYTES).ok().flatten() else { return Ok(false) };
        if before != id_of(&now) && !(objects.read(&before).is_ok_and(|before| has_scripts_of(&path, &before, &now))) {
            return Ok(false);
        }
    }
    Ok(true)
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

/// The words of a command. What a shell is given as one argument is taken apart; quotes are not understood, so that a word may
/// be a piece of one.
fn words(argv: &[String]) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\'' | '`');
    argv.iter().flat_map(move |word| word.split(is_between)).filter(|word| !word.is_empty())
}

/// The programs that a command may run, by their names.
pub(super) fn programs(argv: &[String]) -> impl Iterator<Item = &str> {
    words(argv).filter_map(|word| word.rsplit('/').next())
}

/// What runs one program after the other as long as they pass, `tsc && eslint .`: the command itself, and the scripts of which
/// npm and its like print a line `> tsc && eslint .`, Yarn `$ tsc && eslint .`.
fn chains(command: &Command, output: Option<&str>) -> impl Iterator<Item = Vec<String>> {
    let scripts = output.into_iter().flat_map(str::lines);
    let scripts = scripts.filter_map(|line| line.strip_prefix("> ").or_else(|| line.strip_prefix("$ ")));
    let all = std::iter::once(command.argv.clone()).chain(scripts.map(|script| vec![script.to_owned()]));
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
