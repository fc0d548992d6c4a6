//! Findings in a stream in which several linters, type checkers and compilers speak. A line is one tool's: of the first
//! that says that nobody else writes it so. What any of them may have written continues what stands above it.

use crate::error::Result;
use crate::ingest::Parsed;
use crate::ingest::lint::lines::{Claim, TextReader};
use crate::ingest::lint::{
    bandit_text, biome_text, brief_text, bundler_text, dart_analyze_text, elixir_text, eslint_text, flake8_text,
    gcc_text, github_text, govet_text, knip_text, msbuild_text, mypy_text, next_text, oxlint_text, phpcs_text,
    phpstan_text, pre_commit_text, pylint_text, pyright_text, rubocop_text, ruff_text, rustc_text, semgrep_text,
    shellcheck_text, stylelint_text, tsc_text, ty_text, unix_text, webpack_text, yamllint_text, zizmor_text,
};
use crate::ingest::test::runs::RUNS_HELD;

/// A tool that speaks.
pub(super) trait Voice: Send {
    fn claim(&self, text: &str) -> Claim;
    fn line(&mut self, text: &str, claim: Claim);
    /// Another tool speaks: what was told is a run.
    fn end_run(&mut self);
    /// How many runs there are.
    fn count(&self) -> usize;
    /// The runs so far.
    fn take(&mut self) -> Vec<Parsed>;
    /// Nothing follows: what only then is over is a run.
    fn end(&mut self) {}
}

/// All of them. The earlier is asked first.
fn voices() -> Vec<Box<dyn Voice>> {
    vec![
        Box::new(Talk::<eslint_text::Reader>::default()),
        Box::new(Talk::<stylelint_text::Reader>::default()),
        Box::new(Talk::<biome_text::Reader>::default()),
        Box::new(Talk::<oxlint_text::Reader>::default()),
        Box::new(Talk::<unix_text::Reader>::default()),
        Box::new(Talk::<next_text::Reader>::default()),
        Box::new(Talk::<webpack_text::Reader>::default()),
        Box::new(Talk::<bundler_text::Reader>::default()),
        Box::new(Talk::<dart_analyze_text::Reader>::default()),
        Box::new(Talk::<semgrep_text::Reader>::default()),
        Box::new(Talk::<elixir_text::Reader>::default()),
        Box::new(Talk::<knip_text::Reader>::default()),
        Box::new(Talk::<brief_text::Reader>::default()),
        Box::new(Talk::<pyright_text::Reader>::default()),
        Box::new(Talk::<rubocop_text::Reader>::default()),
        Box::new(Talk::<mypy_text::Reader>::default()),
        Box::new(Talk::<pylint_text::Reader>::default()),
        Box::new(Talk::<ty_text::Reader>::default()),
        Box::new(Talk::<zizmor_text::Reader>::default()),
        Box::new(PythonCodes::default()),
        Box::new(Talk::<shellcheck_text::Reader>::default()),
        Box::new(Talk::<bandit_text::Reader>::default()),
        Box::new(Talk::<phpcs_text::Reader>::default()),
        Box::new(Talk::<phpstan_text::Reader>::default()),
        Box::new(Talk::<tsc_text::Reader>::default()),
        Box::new(Talk::<msbuild_text::Reader>::default()),
        Box::new(Talk::<gcc_text::Reader>::default()),
        Box::new(Talk::<govet_text::Reader>::default()),
        Box::new(Talk::<yamllint_text::Reader>::default()),
        Box::new(Talk::<github_text::Reader>::default()),
        Box::new(Rustc::default()),
    ]
}

/// Reads the findings.
pub(super) struct Findings {
    voices: Vec<Box<dyn Voice>>,
    /// Of each voice, for the line that is read.
    claims: Vec<Claim>,
    hooks: pre_commit_text::Hooks,
}

impl Findings {
    pub(super) fn new() -> Findings {
        Findings { voices: voices(), claims: Vec::new(), hooks: pre_commit_text::Hooks::default() }
    }

    pub(super) fn line(&mut self, text: &str) {
        // Ant's task.
        let text = text.trim_start().strip_prefix("[javac] ").unwrap_or(text);
        self.claims.clear();
        let mut ours = None;
        for (at, voice) in self.voices.iter().enumerate() {
            let claim = voice.claim(text);
            if matches!(claim, Claim::Ours | Claim::Last) {
                ours = Some((at, claim));
                break;
            }
            self.claims.push(claim);
        }
        let claims = &self.claims;
        let alone = || claims.iter().position(|claim| *claim == Claim::Alone).map(|at| (at, Claim::Last));
        let ours = ours.or_else(alone);
        self.hooks.line(text, || ours.is_some() || claims.contains(&Claim::Alike) || rustc_text::is_building(text));
        match ours {
            Some((ours, claim)) => {
                for (at, voice) in self.voices.iter_mut().enumerate() {
                    if at == ours { voice.line(text, claim) } else { voice.end_run() }
                }
            }
            None => {
                let others = self.voices.iter_mut().zip(&self.claims).filter(|(_, claim)| **claim == Claim::Other);
                others.for_each(|(voice, claim)| voice.line(text, *claim));
            }
        }
        self.voices.retain(|voice| voice.count() <= RUNS_HELD);
    }

    /// Tests begin to run, or another environment is entered.
    pub(super) fn end_runs(&mut self) {
        self.hooks.tell_read();
        self.voices.iter_mut().for_each(|voice| voice.end_run());
    }

    /// The reports, tool by tool.
    pub(super) fn take(&mut self) -> Vec<Parsed> {
        self.voices.iter_mut().for_each(|voice| voice.end());
        self.leave()
    }

    /// The reports so far. What follows is of another package.
    pub(super) fn leave(&mut self) -> Vec<Parsed> {
        let hooks = std::mem::take(&mut self.hooks).finish().ok().flatten();
        self.end_runs();
        self.voices.iter_mut().flat_map(|voice| voice.take()).chain(hooks).collect()
    }
}

/// One tool's reader, run after run.
#[derive(Default)]
struct Talk<R> {
    reader: R,
    /// Something came that nobody else writes.
    is_certain: bool,
    runs: Vec<Parsed>,
}

impl<R: TextReader> Talk<R> {
    fn read(&mut self, text: &str, claim: Claim) -> Result<()> {
        match claim {
            Claim::Other => self.reader.other(text.trim_end()),
            _ => self.reader.line(text.trim_end()),
        }
    }
}

impl<R: TextReader> Voice for Talk<R> {
    fn claim(&self, text: &str) -> Claim {
        self.reader.claim(text.trim_end())
    }

    fn line(&mut self, text: &str, claim: Claim) {
        self.is_certain |= matches!(claim, Claim::Ours | Claim::Last);
        if self.read(text, claim).is_err() {
            (self.reader, self.is_certain) = (R::default(), false);
        }
        if claim == Claim::Last {
            let next = self.reader.next();
            self.end_run();
            self.reader = next;
        }
    }

    fn end_run(&mut self) {
        if std::mem::take(&mut self.is_certain) {
            self.runs.extend(std::mem::take(&mut self.reader).finish().ok().flatten());
        }
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn take(&mut self) -> Vec<Parsed> {
        std::mem::take(&mut self.runs)
    }
}

/// ruff and flake8, whose lines look alike: those that either may have written are ruff's if it has told that it is
/// there, with its summary or with lines that are its own, unless its summary is right without them.
#[derive(Default)]
struct PythonCodes {
    ruff: Talk<ruff_text::Reader>,
    flake8: Talk<flake8_text::Reader>,
    /// Without the lines that either may have written.
    only_ruff: Talk<ruff_text::Reader>,
    only_flake8: Talk<flake8_text::Reader>,
    /// A number of errors, of which nothing else was met: ruff's if what it can mend stands below it.
    sum: Option<String>,
    runs: Vec<Parsed>,
}

impl PythonCodes {
    /// A line that flake8 did not write.
    fn rather_ruff(&mut self, text: &str, claim: Claim) {
        self.ruff.line(text, claim);
        self.only_ruff.line(text, claim);
    }
}

impl Voice for PythonCodes {
    fn claim(&self, text: &str) -> Claim {
        match ruff_text::teller_of(text.trim_end()) {
            Some(_) => Claim::Ours,
            None if self.sum.is_some() && ruff_text::is_fixable(text.trim_end()) => Claim::Last,
            None => match self.ruff.claim(text) {
                Claim::Alike if ruff_text::is_summary(text.trim_end()) => Claim::Other,
                claim => claim,
            },
        }
    }

    fn line(&mut self, text: &str, claim: Claim) {
        let sum = self.sum.take();
        if claim == Claim::Other && ruff_text::is_summary(text.trim_end()) {
            self.sum = Some(text.to_owned());
            return;
        }
        if let Some(sum) = sum.filter(|_| claim == Claim::Last) {
            self.rather_ruff(&sum, Claim::Ours);
        }
        match ruff_text::teller_of(text.trim_end()) {
            Some(Some(ruff_text::Teller::Flake8)) => {
                self.flake8.line(text, claim);
                self.only_flake8.line(text, claim);
            }
            Some(Some(ruff_text::Teller::Ruff)) => self.rather_ruff(text, claim),
            Some(None) => {
                self.ruff.line(text, Claim::Alike);
                self.flake8.line(text, claim);
            }
            None if claim == Claim::Last => {
                self.rather_ruff(text, Claim::Ours);
                self.end_run();
            }
            None => self.rather_ruff(text, claim),
        }
    }

    fn end_run(&mut self) {
        self.sum = None;
        let is_summed_up = |ruff: &Talk<ruff_text::Reader>| ruff.is_certain && ruff.reader.is_summed_up();
        if is_summed_up(&self.only_ruff) && !is_summed_up(&self.ruff) {
            std::mem::swap(&mut self.ruff, &mut self.only_ruff);
            std::mem::swap(&mut self.flake8, &mut self.only_flake8);
        }
        self.only_ruff = Talk::default();
        let is_ruff = self.ruff.is_certain;
        self.ruff.end_run();
        if !is_ruff && self.flake8.is_certain {
            self.ruff.reader = ruff_text::Reader::default();
        }
        self.flake8.end_run();
        self.only_flake8.end_run();
        let (flake8, only_flake8) = (self.flake8.take(), self.only_flake8.take());
        self.runs.extend(self.ruff.take());
        self.runs.extend(if is_ruff { only_flake8 } else { flake8 });
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn take(&mut self) -> Vec<Parsed> {
        let mut runs = std::mem::take(&mut self.runs);
        // Whose line is whose, a reader of one of them alone cannot tell.
        let are_both = runs.iter().any(|run| runs.first().is_some_and(|first| first.format != run.format));
        runs.iter_mut().for_each(|run| run.is_of_several |= are_both);
        runs
    }
}

/// cargo and rustc, whose diagnostics have several lines. A build that did not come to its end is none.
struct Rustc {
    reader: rustc_text::Reader,
    runs: Vec<Parsed>,
}

impl Default for Rustc {
    fn default() -> Rustc {
        Rustc { reader: rustc_text::Reader::only_certain(), runs: Vec::new() }
    }
}

impl Voice for Rustc {
    /// Its lines are told apart by what stands below them.
    fn claim(&self, _: &str) -> Claim {
        Claim::Other
    }

    fn line(&mut self, text: &str, _: Claim) {
        if self.reader.is_over() && rustc_text::is_building(text) {
            self.end_run();
        }
        if self.reader.line(text).is_err() {
            self.reader = rustc_text::Reader::only_certain();
        }
        if self.reader.is_finished() {
            self.end_run();
        }
    }

    /// Other tools may speak while it builds.
    fn end_run(&mut self) {
        if self.reader.is_over() {
            let reader = std::mem::replace(&mut self.reader, rustc_text::Reader::only_certain());
            self.runs.extend(reader.finish().ok().flatten());
        }
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn take(&mut self) -> Vec<Parsed> {
        std::mem::take(&mut self.runs)
    }

    fn end(&mut self) {
        let reader = std::mem::replace(&mut self.reader, rustc_text::Reader::only_certain());
        self.runs.extend(reader.finish().ok().flatten());
    }
}
