//! Formats of findings, and the counting that they share.

use super::{Details, Finding, Format, Level, LintDetails, Parsed, Sort, ToolCounts, add};
use crate::error::Result;
use crate::ingest::text::first_lines;
use crate::model::figures::{Figures, RawFindings};

pub mod actionlint_json;
pub mod android_lint;
mod annotated;
pub mod bandit_json;
pub mod bandit_text;
pub mod biome_json;
pub mod biome_text;
pub mod brakeman_json;
mod brief_advisories;
mod brief_build;
mod brief_checkers;
mod brief_documents;
mod brief_formatters;
mod brief_interpreters;
mod brief_memory;
mod brief_php;
mod brief_ruby;
mod brief_scripts;
mod brief_sums;
pub mod brief_text;
mod brief_types;
mod brief_web;
pub mod bundler_audit_json;
pub mod bundler_text;
pub mod cargo_audit_json;
pub mod cargo_deny_json;
pub mod cfn_lint_json;
pub mod checkov_json;
pub mod checkstyle;
pub mod clang_tidy_yaml;
pub mod codeclimate_json;
pub mod codenarc_xml;
pub mod composer_audit_json;
pub mod cpd;
pub mod cppcheck;
pub mod credo_json;
pub mod dart_analyze_text;
pub mod deptry_json;
pub mod detect_secrets_json;
mod elements;
pub mod elixir_text;
pub mod eslint_json;
pub mod eslint_text;
pub mod findings_csv;
mod findings_json;
pub mod findings_list;
pub mod flake8_json;
pub mod flake8_text;
pub mod gcc_json;
pub mod gcc_text;
pub mod github_text;
pub mod gitlab_security_json;
pub mod gitleaks_json;
pub mod golangci_json;
pub mod gosec_json;
pub mod govet_json;
pub mod govet_text;
pub mod govulncheck_json;
pub mod grype_json;
pub mod hadolint_json;
pub mod htmlhint_json;
pub mod infer_json;
pub mod knip_json;
pub mod knip_text;
pub mod ktlint_json;
pub(super) mod lines;
mod loose;
pub mod markdownlint_json;
pub mod msbuild_text;
pub mod mypy_json;
pub mod mypy_text;
pub mod next_text;
pub mod npm_audit_json;
pub mod osv_scanner_json;
pub mod oxlint_json;
pub mod oxlint_text;
pub mod php_cs_fixer_json;
pub mod phpcs_json;
pub mod phpcs_text;
pub mod phpcs_xml;
pub mod phpstan_json;
pub mod phpstan_text;
pub mod pint_json;
pub mod pip_audit_json;
pub mod pmd;
pub mod pmd_json;
pub mod pre_commit_text;
pub mod prospector_json;
pub mod psalm_json;
pub mod pylint_json;
pub mod pylint_text;
pub mod pyrefly_json;
pub mod pyright_json;
pub mod pyright_text;
pub mod rdjson;
pub mod rector_json;
pub mod resharper_xml;
pub mod revive_json;
pub mod rubocop_json;
pub mod rubocop_text;
pub mod ruff_json;
pub mod ruff_text;
mod rustc;
pub mod rustc_json;
pub mod rustc_text;
pub mod sarif;
pub mod semgrep_json;
pub mod semgrep_text;
pub mod shellcheck_json;
pub mod shellcheck_text;
pub mod snyk_json;
pub mod sonar_issues_json;
pub mod spotbugs;
pub mod sqlfluff_json;
pub mod staticcheck_json;
pub mod stylelint_json;
pub mod stylelint_text;
pub mod swiftlint_json;
#[cfg(test)]
mod tests_support;
pub mod tflint_json;
pub mod trivy_json;
pub mod tsc_text;
pub mod tslint_json;
pub mod ty_text;
pub mod unix_text;
pub mod vale_json;
pub mod valgrind_xml;
pub mod vnu_xml;
pub mod webpack_text;
pub mod yamllint_text;
pub mod yarn_audit_json;
pub mod zizmor_json;
pub mod zizmor_text;

/// Findings that are kept with their place and message. A report with more is counted in full.
pub const FINDINGS_KEPT: usize = 100_000;
/// Bytes of findings that are kept: their texts, and what each takes beside them.
const KEPT_BYTES: usize = 32 * 1024 * 1024;
/// What a finding that is kept takes beside its texts.
const FINDING_BYTES: usize = 220;

/// The tool that a finding belongs to, in lower case, and its sort. Clippy's reports hold the compiler's own findings too:
/// those are rustc's.
pub(super) fn tool_and_sort(tool: &str, rule: Option<&str>) -> (String, Sort) {
    let tool = tool.trim().to_lowercase();
    let sort = match tool.as_str() {
        "clippy" if rule.is_some_and(|rule| !rule.starts_with("clippy::")) => {
            return ("rustc".to_owned(), Sort::Compiler);
        }
        // What gcc calls itself: "GNU C17", "GNU C++17".
        gnu if gnu.starts_with("gnu c") => Sort::Compiler,
        tool => sort_of(tool),
    };
    (tool, sort)
}

/// What a tool is, by its name in lower case.
pub(super) fn sort_of(tool: &str) -> Sort {
    match tool {
        "rustc" | "gcc" | "g++" | "gfortran" | "gnat" | "nasm" | "ghc" | "ocaml" | "swiftc" | "zig" | "iverilog"
        | "javac" | "kotlinc" | "scalac" | "solc" | "php" | "gleam" | "typst" | "nim" | "dmd" | "verilator"
        | "webpack" | "rspack" | "vite" | "rollup" | "rolldown" | "parcel" | "next" | "rescript" | "crystal"
        | "python" | "ruby" | "bash" | "dash" | "zsh" | "perl" | "lua" | "node" | "bun" | "deno-check"
        | "typecheck" | "fpc" | "ghdl" | "groovyc" | "vala" | "emacs" | "less" | "rsbuild" | "nuxt" | "swc" => {
            Sort::Compiler
        }
        "mypy" | "pyright" | "basedpyright" | "pyrefly" | "pyre" | "pytype" | "ty" | "tsc" | "typescript" | "flow"
        | "svelte-check" | "astro" | "sorbet" => Sort::TypeChecker,
        _ => Sort::Linter,
    }
}

impl ToolCounts {
    /// The count of a level.
    fn of(&mut self, level: Level) -> &mut u64 {
        match level {
            Level::Error => &mut self.errors,
            Level::Warning => &mut self.warnings,
            Level::Note => &mut self.notes,
        }
    }
}

/// Counts findings as they come, and keeps them.
#[derive(Debug, Default)]
pub(super) struct LintTally {
    details: LintDetails,
    kept_bytes: usize,
    /// Findings that a summary alone tells.
    unlisted: u64,
    /// Findings that the project silenced.
    pub suppressed: u64,
    /// Counts before de-duplication, where the format has copies.
    pub raw: Option<RawFindings>,
}

impl LintTally {
    /// A tool reported, whether it found anything or not.
    pub(super) fn tool(&mut self, tool: &str, sort: Sort) -> &mut ToolCounts {
        let none = ToolCounts { errors: 0, warnings: 0, notes: 0, sort };
        self.details.by_tool.entry(tool.to_owned()).or_insert(none)
    }

    /// Errors, warnings and notes of a tool so far.
    pub(super) fn counts(&self, tool: &str) -> [u64; 3] {
        self.details.by_tool.get(tool).map_or([0; 3], |counts| [counts.errors, counts.warnings, counts.notes])
    }

    /// Counts and keeps one finding; its texts are expected to be fit to be shown.
    pub(super) fn finding(&mut self, finding: Finding, sort: Sort) -> Result<()> {
        let slot = self.tool(&finding.tool, sort).of(finding.level);
        *slot = add(*slot, 1)?;
        self.keep(finding);
        Ok(())
    }

    /// As [`LintTally::finding`] of an element that holds its message as text, if it has one.
    pub(super) fn finding_with(&mut self, finding: Finding, text: &str, sort: Sort) -> Result<()> {
        let message = first_lines(text).unwrap_or(finding.message);
        self.finding(Finding { message, ..finding }, sort)
    }

    /// Counts findings of which no more is told than how many there are.
    pub(super) fn count(&mut self, tool: &str, sort: Sort, level: Level, number: u64) -> Result<()> {
        if number > 0 {
            let slot = self.tool(tool, sort).of(level);
            *slot = add(*slot, number)?;
            self.details.dropped = add(self.details.dropped, number)?;
        }
        Ok(())
    }

    /// Counts what a summary tells beyond what is listed, in errors, warnings and notes: the rest was cut away above it
    /// (`… | tail -5`). A summary that tells less of some level is not that of these findings alone.
    pub(super) fn complete(&mut self, (tool, sort): (&str, Sort), said: [u64; 3]) -> Result<()> {
        let listed = self.sums()?;
        let levels = [Level::Error, Level::Warning, Level::Note];
        let missing = said.iter().zip(listed).map(|(said, listed)| said.checked_sub(listed));
        let Some(missing) = missing.collect::<Option<Vec<u64>>>() else { return Ok(()) };
        for (level, number) in levels.into_iter().zip(missing) {
            self.unlisted = add(self.unlisted, number)?;
            self.count(tool, sort, level, number)?;
        }
        Ok(())
    }

    /// Whether that tool reported.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.details.by_tool.contains_key(tool)
    }

    /// Errors, warnings and notes of all tools so far.
    pub(super) fn sums(&self) -> Result<[u64; 3]> {
        self.details.by_tool.values().try_fold([0; 3], |[errors, warnings, notes], counts| {
            Ok([add(errors, counts.errors)?, add(warnings, counts.warnings)?, add(notes, counts.notes)?])
        })
    }

    /// Whether another finding is kept; otherwise it may as well be counted alone.
    pub(super) fn has_room(&self) -> bool {
        self.details.findings.len() < FINDINGS_KEPT && self.kept_bytes < KEPT_BYTES
    }

    /// Keeps a finding that is counted elsewhere.
    fn keep(&mut self, finding: Finding) {
        if self.has_room() {
            let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
            let texts = finding.message.len() + length(&finding.path) + length(&finding.rule);
            self.kept_bytes += FINDING_BYTES + texts;
            self.details.findings.push(finding);
        } else {
            self.details.dropped = self.details.dropped.saturating_add(1);
        }
    }

    /// The figures, where findings alone tell a tool: `None` without any.
    pub(super) fn finish_found(self, format: &'static Format) -> Result<Option<Parsed>> {
        if self.details.by_tool.is_empty() { Ok(None) } else { self.finish(format).map(Some) }
    }

    /// The figures. `suppressed` and `raw` are among them only where they say something.
    pub(super) fn finish(self, format: &'static Format) -> Result<Parsed> {
        let [errors, warnings, notes] = self.sums()?;
        let sums = RawFindings { errors, warnings, notes };
        let figures = Figures {
            errors: Some(sums.errors),
            warnings: Some(sums.warnings),
            notes: Some(sums.notes),
            total: Some(add(add(sums.errors, sums.warnings)?, sums.notes)?),
            suppressed: (self.suppressed > 0).then_some(self.suppressed),
            raw: self.raw.filter(|raw| *raw != sums),
            ..Figures::default()
        };
        let dropped = self.details.dropped.saturating_sub(self.unlisted);
        let mut parsed = Parsed::new(format, figures, Details::Lint(self.details));
        match self.unlisted {
            0 => {}
            1 => parsed.warnings.push("1 finding is told by the summary alone: its line was cut away".to_owned()),
            many => parsed
                .warnings
                .push(format!("{many} findings are told by the summary alone: their lines were cut away")),
        }
        if dropped > 0 {
            parsed.warnings.push(format!("{dropped} findings are counted but not kept"));
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(tool: &str, level: Level) -> Finding {
        Finding { tool: tool.into(), rule: None, level, path: None, line: None, message: String::new() }
    }

    #[test]
    fn p18_long_findings_take_no_more_memory_than_short_ones() {
        let mut tally = LintTally::default();
        for _ in 0..50_000 {
            let path = Some("p".repeat(1_000));
            tally.finding(Finding { path, ..finding("a", Level::Note) }, Sort::Linter).unwrap();
        }
        let parsed = tally.finish(&sarif::FORMAT).unwrap();
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert!(details.findings.len() * (FINDING_BYTES + 1_000) < KEPT_BYTES + 2_000);
        assert_eq!(details.findings.len() + usize::try_from(details.dropped).unwrap(), 50_000);
    }

    #[test]
    fn counts_by_tool_are_exact_beyond_what_is_kept() {
        let mut tally = LintTally::default();
        for _ in 0..FINDINGS_KEPT + 2 {
            tally.finding(finding("a", Level::Warning), Sort::Linter).unwrap();
        }
        tally.finding(finding("b", Level::Error), Sort::Compiler).unwrap();
        tally.tool("c", Sort::TypeChecker);
        let parsed = tally.finish(&sarif::FORMAT).unwrap();
        assert_eq!((parsed.figures.total, parsed.figures.errors), (Some(100_003), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!((details.findings.len(), details.dropped), (FINDINGS_KEPT, 3));
        let kinds: Vec<_> =
            details.by_tool.iter().map(|(tool, counts)| (tool.as_str(), counts.warnings, counts.sort)).collect();
        assert_eq!(kinds, [("a", 100_002, Sort::Linter), ("b", 0, Sort::Compiler), ("c", 0, Sort::TypeChecker)]);
    }
}
