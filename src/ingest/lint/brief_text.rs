//! `brief-text`: linters and formatters that print one line for each finding, or its place and its message on two, every
//! one in a manner of its own; and what compilers print under Maven, Gradle and sbt. Few of them say how many there were,
//! and most print nothing where they find nothing.

use std::collections::BTreeMap;

use super::brief_advisories::{self, Counted};
use super::brief_build;
use super::brief_checkers;
use super::brief_documents;
use super::brief_formatters::{formatter, isort_diff, oxfmt, prettier, unparsed_by_prettier, unsorted};
use super::brief_interpreters;
use super::brief_memory;
use super::brief_php;
use super::brief_ruby;
use super::brief_scripts;
use super::brief_sums;
use super::brief_types;
use super::brief_web;
use super::lines::{
    Claim, Placed, TextReader, bare_place, bracketed, finding, is_code, is_of_another, is_path, placed, read,
};
use super::oxlint_text;
use super::{LintTally, sort_of};
use crate::error::Result;
use crate::ingest::text::split_at;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// One finding a line.
pub const FORMAT: Format = Format {
    name: "brief-text",
    kind: ReportKind::Lint,
    about: "findings as small linters and formatters print them, one a line",
    written_by: "Pyrefly, svelte-check, ansible-lint, cfn-lint, pydocstyle, markdownlint, hadolint, cpplint, ktlint, \
                 detekt, rumdl, actionlint, publint, JSHint, standard, oxlint (agent), vulture, codespell, CSpell, \
                 typos, HTMLHint, html-validate, Nu Html Checker; prettier, oxfmt, dprint, black, isort and rustfmt \
                 with --check; linters for Azure Pipelines; Checkstyle, phpcs and rubocop (emacs), standardrb, TSLint, \
                 Pyflakes, djLint, luacheck, HLint, gosec; gofmt -d, php -l; npm audit, pip-audit, cargo-audit and \
                 cargo-deny, depcheck, cargo-machete; StyLua, taplo; PHPMD, puppet-lint, Perl::Critic, ChkTeX, \
                 staticcheck (stylish), Flawfinder, misspell, deptry, Refurb, pydoclint, commitlint, SQLFluff, remark, \
                 alex, TFLint, govulncheck, Trivy, OSV-Scanner and Yarn's audit; javac, kotlinc, scalac, groovyc and \
                 solc under Maven, Gradle, sbt and Foundry; Psalm, Pyre, pytype, Flow, Sphinx, Verilator, Nim, D's \
                 compilers, Dart (machine), esbuild; Redocly, Spectral (text), doc8, proselint, mdformat, cmakelint, \
                 check-jsonschema, buf, haml-lint, dotenv-linter, protolint, Scalastyle, Sorbet, Reek, ERB Lint, \
                 Fasterer, KubeLinter, Madge, dependency-cruiser, Checkov, Gitleaks, Terraform, lizard (-w), \
                 autoflake; CMake, ReScript, Crystal, Python (syntax errors), Emacs' byte compiler; Semgrep (vim, \
                 emacs); Deno's lint, check and fmt, Bun's bundler, Babel, Rsbuild, Nuxt, Less, Sass, Free Pascal, \
                 GHDL, Vala, what Bash, dash, zsh, Perl, Lua, PHP, Ruby and Node.js cannot parse; astro check, \
                 Rslint, Squawk; sanitizers and Valgrind; Pylama, Prospector, Robocop, bashate, Import Linter, \
                 docutils, xmllint, Tidy, Asciidoctor, MkDocs, CSSLint, gersemi, mdl, podchecker, Xenon, \
                 checkbashisms, PHP CS Fixer, Pint, Rector, ast-grep, syncpack, dpdm, ts-unused-exports",
    told_by: "lines of one of them, as \"Dockerfile:3 DL3008 warning: …\" or \"would reformat a.py\"",
    has_end: false,
    counting: "Lines with a finding, by level where the tool tells one, otherwise errors; info and style are notes. A \
               file that a formatter would change is an error, and so is each place for rustfmt. Vulnerabilities as \
               those count them who look dependencies up: critical and high are errors, moderate warnings, low notes. \
               Errors of sanitizers one each, of Valgrind one a context.",
    sniff,
    parse: |input| read::<Reader>(input, "a linter with one line for each finding"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let mut reader = Reader::default();
    let found = head.lines().map(str::trim_end).find_map(|line| {
        let counted = || reader.counted(line).or_else(|| brief_sums::sum(line)).map(|counted| counted.tool);
        let found = reader.told(line).map(|told| told.tool).or_else(counted).or_else(|| clean(line));
        reader.pass(line);
        found
    });
    // RuboCop's other formatters write the same lines, and sum up.
    let is_ours = |tool: &&str| *tool != "rubocop" || brief_scripts::is_rubocop_emacs(head);
    match found.filter(is_ours).filter(|_| !is_of_another(head)) {
        // It prints so under its own test runner, too.
        Some("node") => Sniff::Maybe("a file that Node.js cannot parse".into()),
        Some(tool) => Sniff::Sure(format!("a line of {tool}")),
        None => Sniff::No,
    }
}

/// A finding that a line tells.
pub(super) struct Told<'a> {
    pub tool: &'static str,
    pub level: Level,
    pub path: Option<&'a str>,
    pub line: Option<u64>,
    pub rule: Option<&'a str>,
    pub message: &'a str,
}

impl<'a> Told<'a> {
    /// An error at a place.
    pub(super) fn error(
        tool: &'static str,
        (path, line): (&'a str, Option<u64>),
        rule: Option<&'a str>,
        message: &'a str,
    ) -> Told<'a> {
        Told { tool, level: Level::Error, path: Some(path), line, rule, message }
    }
}

#[cfg(test)]
impl Told<'_> {
    /// The place as `path:line`, as far as it is told.
    pub(super) fn place(&self) -> String {
        let line = self.line.map(|line| format!(":{line}"));
        self.path.unwrap_or_default().to_owned() + &line.unwrap_or_default()
    }
}

/// What a line tells, below the one before it.
pub(super) fn told<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let alone = [
        azure,
        pyrefly,
        unparsed_by_pydocstyle,
        formatter,
        hadolint,
        rumdl,
        markdownlint,
        brief_web::told,
        brief_documents::told,
        brief_build::told,
        brief_scripts::told,
        brief_checkers::told,
        brief_types::told,
        brief_interpreters::told,
        brief_memory::told,
        brief_php::told,
        brief_ruby::told,
        brief_advisories::syncpack,
        at_place,
    ];
    let paired = [
        pyrefly_below,
        svelte_check,
        yaml_below,
        pydocstyle,
        brief_types::psalm_below,
        brief_types::rslint,
        brief_build::solc,
        brief_build::cmake_below,
        brief_build::rescript,
        brief_build::groovyc,
        brief_advisories::codespan,
        brief_web::below,
        brief_interpreters::below,
        brief_ruby::erb_lint,
    ];
    alone.iter().find_map(|read| read(text)).or_else(|| paired.iter().find_map(|read| read(before, text)))
}

/// The tool that says that it found nothing.
fn clean(text: &str) -> Option<&'static str> {
    match text {
        "All matched files use Prettier code style!" => Some("prettier"),
        "All matched files use the correct format." => Some("oxfmt"),
        "All done! ✨ 🍰 ✨" => Some("black"),
        "Success! The configuration is valid." => Some("terraform"),
        "Summary: 0 issues in 0 files" => Some("markdownlint"),
        "Audit done." => Some("checkstyle"),
        _ if text.starts_with("Success: No issues found in ") => Some("rumdl"),
        _ if text.starts_with("detekt finished in ") => Some("detekt"),
        _ if text.starts_with("pass: All ") && text.contains(" are correctly formatted (") => Some("oxfmt"),
        _ => brief_advisories::clean(text)
            .or_else(|| brief_scripts::clean(text))
            .or_else(|| brief_checkers::clean(text))
            .or_else(|| brief_build::clean(text))
            .or_else(|| brief_types::clean(text))
            .or_else(|| brief_web::clean(text))
            .or_else(|| brief_documents::clean(text))
            .or_else(|| brief_interpreters::clean(text))
            .or_else(|| brief_ruby::clean(text)),
    }
}

/// `##vso[task.logissue type=error;sourcepath=a.py;linenumber=3;columnnumber=1;code=F401;]message`.
fn azure(text: &str) -> Option<Told<'_>> {
    let (properties, message) = text.strip_prefix("##vso[task.logissue ")?.split_once(']')?;
    let property =
        |name: &str| properties.split(';').filter_map(|one| one.split_once('=')).find(|(key, _)| *key == name);
    let property = |name: &str| property(name).map(|(_, value)| value).filter(|value| !value.is_empty());
    let level = if property("type")? == "warning" { Level::Warning } else { Level::Error };
    let line = property("linenumber").and_then(|line| line.parse().ok()).filter(|line| *line > 0);
    Some(Told { level, ..Told::error("azure", (property("sourcepath")?, line), property("code"), message) })
}

/// Level, and what follows it, of Pyrefly's `ERROR …`.
fn leveled(text: &str) -> Option<(Level, &str)> {
    let (word, rest) = text.trim_start().split_once(' ')?;
    let level = match word {
        "ERROR" => Level::Error,
        "WARN" => Level::Warning,
        "INFO" => Level::Note,
        _ => return None,
    };
    Some((level, rest))
}

/// `ERROR a.py:3:5-8: message [bad-return]`.
fn pyrefly(text: &str) -> Option<Told<'_>> {
    let (level, rest) = leveled(text)?;
    let place = placed(rest.trim_start()).filter(|place| place.has_column && place.is_a(&["py", "pyi", "ipynb"]))?;
    let (message, rule) = bracketed(place.rest, '[', ']')?;
    Some(Told { level, ..Told::error("pyrefly", (place.path, place.line), Some(rule), message) })
}

/// `ERROR message [bad-return]`, below it ` --> a.py:3:5`.
fn pyrefly_below<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let place = bare_place(text.trim_start().strip_prefix("--> ")?)?;
    let (level, rest) = leveled(before)?;
    let (message, rule) = bracketed(rest, '[', ']')?;
    Some(Told { level, ..Told::error("pyrefly", place, Some(rule), message) })
}

/// `/app/A.svelte:4:1`, below it `Warn: message`.
fn svelte_check<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (word, message) = split_at(text, ": ")?;
    let level = match word {
        "Error" => Level::Error,
        "Warn" => Level::Warning,
        "Hint" => Level::Note,
        _ => return None,
    };
    // Many print a file and a line, and an error below.
    let has_column = |path: &str| before.get(path.len() + 1..).is_some_and(|numbers| numbers.contains(':'));
    // Next.js's places begin with the sign for here.
    let place = bare_place(before).filter(|(path, _)| has_column(path) && !path.starts_with("./"))?;
    Some(Told { level, ..Told::error("svelte-check", place, None, message) })
}

/// ansible-lint's `name[play]: message`, below it `site.yml:1:3` or `site.yml:3 Task/Handler: …`, and cfn-lint's
/// `W2001 message`.
fn yaml_below<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (place, _) = text.split_once(' ').unwrap_or((text, ""));
    let place = bare_place(place).filter(|(path, _)| brief_documents::is_template(path))?;
    let (code, message) = before.split_once(' ')?;
    if let Some(level) = brief_documents::level_of_cfn_lint(code) {
        return Some(Told { level, ..Told::error("cfn-lint", place, Some(code), message) });
    }
    let rule = code.strip_suffix(':')?;
    let is_rule = !matches!(rule, "error" | "warning" | "info" | "note")
        && rule.starts_with(|c: char| c.is_ascii_lowercase())
        && rule.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b'[' | b']'));
    is_rule.then(|| brief_scripts::of_ansible_lint(place, rule, message))
}

/// `WARNING: Error in file ./bad.py: Cannot parse file.`
fn unparsed_by_pydocstyle(text: &str) -> Option<Told<'_>> {
    let path = text.strip_prefix("WARNING: Error in file ")?.strip_suffix(": Cannot parse file.")?;
    Some(Told::error("pydocstyle", (path, None), None, "Cannot parse file."))
}

/// ``a.py:7 in public class `foo`:``, below it `        D204: message`.
fn pydocstyle<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (code, message) = text.strip_prefix("        ")?.split_once(": ")?;
    let (place, kind) = before.strip_suffix(':')?.split_once(' ')?;
    let is_ours = is_code(code, 1..=1, 3..=3) && (kind.starts_with("in ") || kind == "at module level");
    is_ours.then(|| Some(Told::error("pydocstyle", bare_place(place)?, Some(code), message)))?
}

/// `Dockerfile:3 DL3008 warning: message`; before version 2 without a level, with `-f gnu` as
/// `hadolint:Dockerfile:3: …`.
fn hadolint(text: &str) -> Option<Told<'_>> {
    let text = text.strip_prefix("hadolint:").unwrap_or(text);
    if let Some(told) = unparsed_by_hadolint(text) {
        return Some(told);
    }
    split_at(text, " DL").or_else(|| split_at(text, " SC"))?;
    let (place, rest) = text.match_indices(' ').find_map(|(at, _)| {
        let rest = text.get(at + 1..)?;
        let code = rest.split(' ').next().filter(|code| code.starts_with("DL") || code.starts_with("SC"))?;
        is_code(code, 2..=2, 4..=4).then_some((text.get(..at)?, rest))
    })?;
    let (path, line) = place.strip_suffix(':').unwrap_or(place).rsplit_once(':')?;
    let (code, rest) = rest.split_once(' ')?;
    let level = rest.split_once(": ").and_then(|(word, message)| Some((level(word)?, message)));
    let (level, message) = level.unwrap_or((Level::Error, rest));
    is_path(path).then_some(())?;
    Some(Told { level, ..Told::error("hadolint", (path, line.parse().ok()), Some(code), message) })
}

/// `Dockerfile:2:1 unexpected 'N' expecting '#', …`, of a file that it cannot parse.
fn unparsed_by_hadolint(text: &str) -> Option<Told<'_>> {
    let (place, _) = split_at(text, " unexpected ")?;
    let message = text.get(place.len() + 1..)?;
    let is_ours = |path: &str| path.to_ascii_lowercase().contains("dockerfile") && message.contains(" expecting ");
    let place = bare_place(place.trim_end_matches(':')).filter(|(path, _)| is_ours(path))?;
    Some(Told::error("hadolint", place, None, message))
}

pub(super) fn level(word: &str) -> Option<Level> {
    match word {
        "error" => Some(Level::Error),
        "warning" => Some(Level::Warning),
        "info" | "style" => Some(Level::Note),
        _ => None,
    }
}

/// `README.md:8:57 error MD009/no-trailing-spaces message`, before its version 0.46 without the level; PyMarkdown's
/// `README.md:8:57: MD009: message`.
fn markdownlint(text: &str) -> Option<Told<'_>> {
    let (place, _) = split_at(text, " MD")?;
    let (code, rest) =
        text.get(place.len() + 1..)?.split_at_checked(5).filter(|(code, _)| is_code(code, 2..=2, 3..=3))?;
    let message = match rest.strip_prefix('/') {
        Some(names) => names.split_once(' ')?.1,
        // `README.md:3: MD009 Trailing spaces`, as the tool in Ruby of that name writes it.
        None => rest.strip_prefix(": ").or_else(|| rest.strip_prefix(' ').filter(|_| place.ends_with(':')))?,
    };
    let told = place.rsplit_once(' ').and_then(|(place, word)| Some((place, level(word)?)));
    let (place, level) = told.unwrap_or((place, Level::Error));
    let (rest, last) = place.trim_end_matches(':').rsplit_once(':')?;
    let last = last.trim_start().parse().ok()?;
    let before = rest.rsplit_once(':').and_then(|(path, line)| Some((path, line.trim_start().parse().ok()?)));
    let (path, line) = before.unwrap_or((rest, last));
    is_path(path).then(|| Told { level, ..Told::error("markdownlint", (path, Some(line)), Some(code), message) })
}

/// `README.md:8:57: [MD009] message [*]`.
fn rumdl(text: &str) -> Option<Told<'_>> {
    split_at(text, " [MD")?;
    let place = placed(text).filter(|place| place.has_column)?;
    let (code, message) = place.rest.strip_prefix('[')?.split_once("] ")?;
    let message = message.strip_suffix(" [*]").unwrap_or(message);
    is_code(code, 2..=2, 3..=3).then(|| Told::error("rumdl", (place.path, place.line), Some(code), message))
}

/// oxlint's format `agent`: `a.js:3:5: warning eslint(no-var): message`; where it cannot parse, `a.js:3:5: error: message`.
fn oxlint<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    if !place.has_column || !place.is_a(&SCRIPTS) {
        return None;
    }
    let (word, message) = place.rest.split_once(": ")?;
    let (word, rule) = word.split_once(' ').map_or((word, None), |(word, rule)| (word, Some(rule)));
    let is_rule = |rule: &str| rule.ends_with(')') && rule.contains('(') && !rule.contains(' ');
    let level = level(word).filter(|_| rule.is_none_or(is_rule))?;
    Some(Told { level, ..Told::error(oxlint_text::teller(rule), (place.path, place.line), rule, message) })
}

/// Files of those who lint scripts.
pub(super) const SCRIPTS: [&str; 10] = ["js", "cjs", "mjs", "jsx", "ts", "tsx", "vue", "svelte", "astro", "html"];

/// Whether a file of that name is one of them.
pub(super) fn is_script(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| SCRIPTS.contains(&extension))
}

/// Those whose lines begin with a place and a colon.
fn at_place(text: &str) -> Option<Told<'_>> {
    let place = placed(text)?;
    let readers = [
        brief_build::phpcs,
        brief_build::emacs,
        brief_build::ghdl,
        brief_scripts::at_place,
        brief_checkers::misspell,
        brief_checkers::semgrep,
        brief_advisories::ast_grep,
        brief_types::pyre,
        oxlint,
    ];
    if let Some(told) = readers.iter().find_map(|read| read(&place)) {
        return Some(told);
    }
    let told = |tool, rule, message| Some(Told::error(tool, (place.path, place.line), rule, message));
    let has_level = || ["error", "warning", "note", "fatal error"].iter().any(|word| place.rest.starts_with(word));
    let is_word = |rule: &str| rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    // With its size: `(60% confidence, 3 lines)`.
    let is_size = |size: &str| size.ends_with(" line)") || size.ends_with(" lines)");
    let has_size = || place.rest.rsplit_once("% confidence, ").is_some_and(|(_, size)| is_size(size));
    if place.rest.ends_with("% confidence)") || has_size() {
        return told("vulture", None, place.rest.rsplit_once(" (")?.0);
    }
    // `bad.py:1: invalid syntax at "def f(:"`.
    if !place.has_column && place.is_a(&["py", "pyi"]) && place.rest.ends_with('"') && place.rest.contains(" at \"") {
        return told("vulture", None, place.rest);
    }
    if !place.has_column && place.rest.contains(" ==> ") {
        return told("codespell", None, place.rest);
    }
    if let Some((message, confidence)) = bracketed(place.rest, '[', ']').filter(|_| !place.has_column)
        && matches!(confidence, "1" | "2" | "3" | "4" | "5")
    {
        let (message, rule) = bracketed(message, '[', ']').filter(|(_, rule)| rule.contains('/'))?;
        return told("cpplint", Some(rule), message);
    }
    if place.has_column && place.is_a(&["kt", "kts"]) && !has_level() {
        let (tool, split) = match bracketed(place.rest, '[', ']') {
            Some(split) => ("detekt", split),
            None => ("ktlint", bracketed(place.rest, '(', ')')?),
        };
        return told(tool, Some(split.1), split.0);
    }
    if place.has_column
        && place.is_a(&["yml", "yaml"])
        && !place.rest.starts_with('[')
        && !has_level()
        && let Some((message, rule)) = bracketed(place.rest, '[', ']').filter(|(_, rule)| is_word(rule))
    {
        return told("actionlint", Some(rule), message);
    }
    brief_scripts::ansible_lint(&place)
        .or_else(|| brief_ruby::at_place(&place))
        .or_else(|| brief_documents::at_place(text, &place))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    is_met: bool,
    before: String,
    /// Prettier or oxfmt, or Vite+ for it, said that it checks.
    is_checking: bool,
    /// Files that it named since, without a mark, as before version 2.
    bare: u64,
    /// Maven repeats the errors of a goal that failed.
    is_repeating: bool,
    /// A report of npm audit began.
    is_npm_audit: bool,
    /// How far govulncheck follows what it tells below.
    section: Option<Level>,
    /// The first line of a finding of TFLint's, Crystal's, Python's, Node.js's, Deno's or Sass', of which the rest stands further
    /// below, or of a list of dependencies.
    title: String,
    /// isort said of a file that its imports are not sorted.
    isort_checks: bool,
    publint: brief_web::Publint,
    /// What each tool told in sums.
    sums: BTreeMap<&'static str, [u64; 3]>,
}

impl Reader {
    fn told<'a>(&'a self, text: &'a str) -> Option<Told<'a>> {
        if self.is_repeating && text.starts_with("[ERROR] ") {
            return None;
        }
        // Below what isort says of a file, --diff shows what it means.
        if self.isort_checks && isort_diff(text).is_some() {
            return None;
        }
        told(&self.before, text)
            .or_else(|| brief_advisories::govulncheck(text, self.section))
            .or_else(|| brief_advisories::osv_scanner(text))
            .or_else(|| brief_checkers::tflint(&self.title, text))
            .or_else(|| brief_build::titled(&self.title, text))
            .or_else(|| brief_interpreters::titled(&self.title, &self.before, text))
            .or_else(|| brief_web::titled(&self.title, &self.before, text))
            .or_else(|| brief_advisories::listed(&self.title, &self.before, text))
            .or_else(|| brief_php::titled(&self.title, &self.before, text))
            .or_else(|| self.publint.told(text))
            .or_else(
                || if self.is_checking { prettier(text).or_else(|| oxfmt(text)) } else { unparsed_by_prettier(text) },
            )
    }

    /// What those count who look dependencies up.
    fn counted(&self, text: &str) -> Option<Counted> {
        if self.bare > 0 && text.starts_with("Code style issues found in the above file(s).") {
            return Some(Counted { tool: "prettier", counts: [self.bare, 0, 0] });
        }
        if self.publint.is_clean(text) {
            return Some(Counted { tool: "publint", counts: [0; 3] });
        }
        brief_advisories::counted(&self.before, text, self.is_npm_audit)
            .or_else(|| brief_documents::counted(text))
            .or_else(|| brief_interpreters::counted(text))
            .or_else(|| brief_memory::counted(text))
            .or_else(|| brief_php::counted(text))
            .or_else(|| brief_scripts::counted(text))
    }

    /// Goes on to the next line.
    fn pass(&mut self, text: &str) {
        self.is_npm_audit = brief_advisories::is_npm_audit(text) || (self.is_npm_audit && self.counted(text).is_none());
        let is_of_another = brief_web::is_of_another(&self.title, &self.before, text);
        text.clone_into(&mut self.before);
        self.publint.pass(text);
        self.section = brief_advisories::section(text).or(self.section);
        // Between a compiler's place and its message stands the source.
        let is_source_over = brief_build::title_of(&self.title).is_some() && !text.is_empty() && !text.starts_with(' ');
        let begins = [
            brief_checkers::begins_tflint,
            brief_interpreters::begins,
            brief_web::begins,
            brief_advisories::begins,
            brief_php::begins,
        ];
        if is_of_another {
            self.title.clear();
        } else if begins.iter().any(|begins| begins(text)) || brief_build::title_of(text).is_some() {
            text.clone_into(&mut self.title);
        } else if is_source_over {
            self.title.clear();
        }
        self.isort_checks |= unsorted(text).is_some();
        self.is_repeating |= brief_build::is_repetition(text);
        self.is_repeating &= !text.starts_with("[INFO] Scanning for projects");
        let is_bare = self.is_checking && is_path(text) && !text.contains(' ');
        // Files that it cannot parse stand between them.
        let is_unparsed = self.is_checking && text.starts_with("[error] ");
        self.bare = if is_bare { self.bare.saturating_add(1) } else { self.bare * u64::from(is_unparsed) };
        let firsts = ["Checking formatting...", "error: Formatting issues found"];
        let lasts = [
            "[warn] Code style issues",
            "Code style issues",
            "Format issues found in above ",
            "Found formatting issues in ",
        ];
        let is_last = || lasts.iter().any(|last| text.starts_with(last)) || clean(text).is_some();
        self.is_checking = firsts.contains(&text) || (self.is_checking && !is_last());
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(tool) = clean(text) {
            self.tally.tool(tool, sort_of(tool));
            self.is_met = true;
        }
        if let Some(Told { tool, level, path, line, rule, message }) = self.told(text) {
            let finding = finding(tool, level, (path, line), rule, message);
            self.tally.finding(finding, sort_of(tool))?;
            self.is_met = true;
        } else if let Some(Counted { tool, counts }) = self.counted(text) {
            self.tally.tool(tool, Sort::Linter);
            for (level, number) in [Level::Error, Level::Warning, Level::Note].into_iter().zip(counts) {
                self.tally.count(tool, Sort::Linter, level, number)?;
            }
            self.is_met = true;
        } else if let Some(Counted { tool, counts }) = brief_sums::sum(text) {
            self.tally.tool(tool, sort_of(tool));
            let sums = self.sums.entry(tool).or_default().iter_mut();
            sums.zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
            self.is_met = true;
        }
        self.pass(text);
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_counted = || self.counted(text).or_else(|| brief_sums::sum(text)).is_some();
        let is_ours = self.told(text).is_some() || is_counted() || clean(text).is_some();
        if is_ours { Claim::Ours } else { Claim::Other }
    }

    fn other(&mut self, text: &str) -> Result<()> {
        self.pass(text);
        Ok(())
    }

    fn is_whole(&self, text: &str) -> bool {
        clean(text).is_some()
            || brief_sums::sum(text).is_some()
            || brief_documents::is_whole(text)
            || brief_php::is_whole(text)
    }

    fn tells_all(&self, text: &str) -> bool {
        // Before version 2 hadolint told no level, and what Prettier and Free Pascal say at the end begins as a finding does.
        self.told(text).is_some_and(|told| !matches!(told.tool, "hadolint" | "prettier" | "fpc"))
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        for (tool, sums) in self.sums {
            let missing = brief_sums::unlisted(sums, self.tally.counts(tool));
            for (level, number) in [Level::Error, Level::Warning, Level::Note].into_iter().zip(missing) {
                self.tally.count(tool, sort_of(tool), level, number)?;
            }
        }
        self.is_met.then(|| self.tally.finish(&FORMAT)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn a_diff_below_what_isort_says_tells_the_same() {
        let told = "ERROR: /p/a.py Imports are incorrectly sorted and/or formatted.\n";
        let diff = "--- /p/a.py:before\t2026-01-05 10:00:00.1\n+++ /p/a.py:after\t2026-01-05 10:00:01.1\n@@ -1 +1,2 @@\n-import os, sys\n";
        for text in [told.to_owned(), diff.to_owned(), format!("{told}{diff}")] {
            assert_eq!(parsed(&text).unwrap().figures.total, Some(1), "{text}");
        }
    }

    #[test]
    fn what_a_sum_counts_beyond_what_is_listed_counts() {
        let listed = "    a.lua:1:7: unused variable x\n";
        let missing = "    no.lua: couldn't read: No such file or directory\n";
        let total = |text: &str| {
            let figures = parsed(text).unwrap().figures;
            (figures.errors.unwrap(), figures.warnings.unwrap())
        };
        let sum = "Total: 1 warning / 0 errors in 1 file, couldn't check 1 file\n";
        assert_eq!(total(&format!("{listed}{missing}{sum}")), (1, 1));
        assert_eq!(total(&format!("{listed}{sum}Total: 8 warnings / 1 error in 3 files\n")), (1, 9));
        let remark = "no.md\n         error   No such file or folder\n\nr.md\n1:1-1:10 warning No no-x remark-lint\n\n\
                      2 messages (✖ 1 error, ⚠ 1 warning)\n";
        assert_eq!(total(remark), (1, 1));
        let svelte_check = "/app/A.svelte:4:1\nError: no\n\nsvelte-check found 1 error and 2 warnings in 1 file\n";
        assert_eq!(total(svelte_check), (1, 2));
        let listed = "Summary: 2 error(s)\nREADME.md:8:57 error MD009/no-trailing-spaces Trailing\n\
                      README.md:8 warning MD022/blanks Blank\n";
        assert_eq!(total(listed), (1, 1), "the sum stands above");
        assert_eq!(total(&format!("{listed}Summary: 3 error(s)\nSummary: 0 error(s)\n")), (4, 1));
        assert_eq!(total("CSpell: Files checked: 1, Issues found: 2 in 1 file."), (2, 0), "no line end is needed");
    }

    #[test]
    fn each_tool_s_line_has_its_place_level_and_rule() {
        use Level::{Error, Note, Warning};
        for (line, tool, level, place, rule) in [
            ("Dockerfile:3 DL3008 warning: Pin versions", "hadolint", Warning, "Dockerfile:3", "DL3008"),
            ("-:3 SC2046 info: Quote this", "hadolint", Note, "-:3", "SC2046"),
            ("hadolint:a b/Dockerfile:3: DL4000 error: MAINTAINER", "hadolint", Error, "a b/Dockerfile:3", "DL4000"),
            ("Dockerfile:3 DL3008 Pin versions", "hadolint", Error, "Dockerfile:3", "DL3008"),
            ("b/Dockerfile:2:1 unexpected 'N' expecting '#', ADD", "hadolint", Error, "b/Dockerfile:2", ""),
            ("hadolint:Dockerfile:2:1: unexpected 'N' expecting ADD", "hadolint", Error, "Dockerfile:2", ""),
            ("a.tsx:3:5: warning eslint(no-var): Unexpected var", "oxlint", Warning, "a.tsx:3", "eslint(no-var)"),
            ("a.js:3:5: error eslint(no-var): an aside - here (now)", "oxlint", Error, "a.js:3", "eslint(no-var)"),
            ("README.md:8:57 error MD009/no-trailing-spaces Trailing", "markdownlint", Error, "README.md:8", "MD009"),
            ("README.md:8 warning MD022/blanks/x Blank", "markdownlint", Warning, "README.md:8", "MD022"),
            ("README.md: 8: MD022/blanks Blank", "markdownlint", Error, "README.md:8", "MD022"),
            ("README.md:8:57: MD009: Trailing (x)", "markdownlint", Error, "README.md:8", "MD009"),
            ("a b.md:3: MD004 Unordered list style", "markdownlint", Error, "a b.md:3", "MD004"),
            ("a b.md:3:2: [MD030] Spaces [x] [*]", "rumdl", Error, "a b.md:3", "MD030"),
            (
                "a.cpp:2:  Missing space before {  [whitespace/braces] [5]",
                "cpplint",
                Error,
                "a.cpp:2",
                "whitespace/braces",
            ),
            ("a.kt:1:1: Unexpected blank line (standard:no-blank)", "ktlint", Error, "a.kt:1", "standard:no-blank"),
            ("/s/A.kt:10:5: Too long. [LongMethod]", "detekt", Error, "/s/A.kt:10", "LongMethod"),
            (".github/w.yml:3:5: not defined [expression]", "actionlint", Error, ".github/w.yml:3", "expression"),
            ("a.js: line 1, col 10, Missing semicolon. (W033)", "jshint", Error, "a.js:1", "W033"),
            ("  /a.js:8:1: Extra semicolon. (semi)", "standard", Error, "/a.js:8", "semi"),
            ("a.py:1: unused import 'os' (90% confidence)", "vulture", Error, "a.py:1", ""),
            ("a.py:1: unused class 'A' (60% confidence, 3 lines)", "vulture", Error, "a.py:1", ""),
            ("a.py:1: invalid syntax at \"def f(:\"", "vulture", Error, "a.py:1", ""),
            ("a.py:12: teh ==> the", "codespell", Error, "a.py:12", ""),
            (" WARN a.py:1:2-3:1: x [bad-return]", "pyrefly", Warning, "a.py:1", "bad-return"),
            (
                "##vso[task.logissue type=warning;sourcepath=a.py;linenumber=3;code=F401;]x",
                "azure",
                Warning,
                "a.py:3",
                "F401",
            ),
            ("would reformat a.py", "black", Error, "a.py", ""),
            ("error: cannot format a.py: Cannot parse: 1:3", "black", Error, "a.py", ""),
            ("error: cannot parse: /p/a.py:1:11", "black", Error, "/p/a.py:1", ""),
            ("ERROR: a.py Imports are incorrectly sorted and/or formatted.", "isort", Error, "a.py", ""),
            ("Diff in /s/a.rs:16:", "rustfmt", Error, "/s/a.rs:16", ""),
            ("Diff in /s/a.rs at line 16:", "rustfmt", Error, "/s/a.rs:16", ""),
        ] {
            let told = told("", line).unwrap();
            let at = told.place();
            let found = (told.tool, told.level, at.as_str(), told.rule.unwrap_or_default());
            assert_eq!(found, (tool, level, place, rule), "{line}");
        }
    }

    #[test]
    fn a_place_and_a_message_may_stand_on_two_lines() {
        use Level::{Error, Note, Warning};
        for (before, line, tool, level, place, rule) in [
            ("ERROR x `y` [bad-return]", "  --> pkg/a.py:3:5", "pyrefly", Error, "pkg/a.py:3", "bad-return"),
            ("/app/A.svelte:4:1", "Warn: no alt", "svelte-check", Warning, "/app/A.svelte:4", ""),
            ("/app/A.svelte:4:1", "Hint: unused", "svelte-check", Note, "/app/A.svelte:4", ""),
            ("name[play]: All plays", "site.yml:1:3", "ansible-lint", Error, "site.yml:1", "name[play]"),
            ("fqcn: Use it", "site.yml:3 Task/Handler: shell", "ansible-lint", Error, "site.yml:3", "fqcn"),
            ("W2001 Parameter unused", "cfn.yaml:9:3", "cfn-lint", Warning, "cfn.yaml:9", "W2001"),
            ("a.py:7 in public class `foo`:", "        D204: 1 blank line", "pydocstyle", Error, "a.py:7", "D204"),
        ] {
            let told = told(before, line).unwrap();
            let at = told.place();
            let found = (told.tool, told.level, at.as_str(), told.rule.unwrap_or_default());
            assert_eq!(found, (tool, level, place, rule), "{line}");
        }
        for (before, line) in [
            ("ERROR x", " --> a.py:3:5"),
            ("error: x [y]", " --> a.rs:3:5"),
            ("all well", "Error: no"),
            ("12:30:45", "Error: no"),
            ("/app/a.js:12", "Error: no"),
            ("error: not a mapping", "site.yml:1:3"),
            ("Found: it", "site.yml:1:3"),
            ("a.py:7 in short:", "    D204: x"),
        ] {
            assert!(told(before, line).is_none(), "{line}");
        }
    }

    #[test]
    fn oxfmt_s_files_are_its_own_while_it_checks() {
        let rows = "Checking formatting...\n\na b.ts (12ms)\nc.md (0ms)\n\nFormat issues found in above 2 files. Run\n";
        let parsed = parsed(&format!("old.ts (3ms)\n{rows}later.ts (4ms)\n")).unwrap();
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details.findings.iter().map(|one| (one.tool.as_str(), one.path.as_deref())).collect();
        assert_eq!(told, [("oxfmt", Some("a b.ts")), ("oxfmt", Some("c.md"))]);
    }

    #[test]
    fn others_lines_are_not_theirs() {
        for line in [
            "a.js: line 2, col 5, Error - x (no-undef)",
            "a.kt:3:5: error: x (y)",
            "a.yml:3:5: [warning] too long (line-length)",
            "a.yml:3:5: error: x [y]",
            "a.c:3: error: x [5]",
            "a.php:12: Undefined variable",
            "[warn] src/a.js",
            "a.php:12:class A",
            "ERROR: a.py is not there",
            "Diff in behaviour:",
            "see MD5 and MD022",
            "a.txt:2:1 unexpected 'N' expecting '#'",
            "Dockerfile:2:1 unexpected end",
        ] {
            assert!(told("", line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_clean_run_is_zero_where_the_tool_says_so_and_a_cut_one_none() {
        assert_eq!(
            parsed("Checking formatting...\nAll matched files use Prettier code style!\n").unwrap().figures.total,
            Some(0)
        );
        assert_eq!(parsed("Checking formatting...\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(parsed("would reformat a.py\nwould reform").unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn maven_repeats_no_error() {
        let error = "[ERROR] /p/A.java:[3,12] cannot find symbol\n";
        let run = format!(
            "[INFO] Scanning for projects...\n{error}[ERROR] Failed to execute goal o.a:compile: no: \n{error}"
        );
        assert_eq!(parsed(&run).unwrap().figures.errors, Some(1));
        assert_eq!(parsed(&run.repeat(2)).unwrap().figures.errors, Some(2));
    }

    #[test]
    fn files_that_prettier_1_names_count_once_it_has_summed_up() {
        let run = "Checking formatting...\nsrc/a.js\nsrc/b.js\n";
        let summary = "Code style issues found in the above file(s). Forgot to run Prettier?\n";
        assert_eq!(parsed(&format!("{run}{summary}")).unwrap().figures.errors, Some(2));
        for other in [run.to_owned(), format!("{run}and so on\n{summary}"), summary.to_owned()] {
            assert_eq!(parsed(&other).unwrap_err().reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }

    #[test]
    fn prettier_s_lines_are_its_own_while_it_checks() {
        let rows = "[warn] a.js\n[error] b.html: SyntaxError: x\n[error]   4 | <img>\n[warn] Code style issues found in 2 files.\n";
        let parsed = parsed(&format!("[warn] old\nChecking formatting...\n{rows}[warn] later\n")).unwrap();
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details.findings.iter().map(|one| (one.path.as_deref(), one.message.as_str())).collect();
        assert_eq!(told, [(Some("a.js"), "is not formatted"), (Some("b.html"), "SyntaxError: x")]);
        let written = "a.js 3ms (unchanged)\n[error] b.js: SyntaxError: Unexpected token (1:7)\n[error] > 1 | const = ;\n\
                       [error] c.js: no\n";
        assert_eq!(self::parsed(written).unwrap().figures.errors, Some(1));
    }
}
