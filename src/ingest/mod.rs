//! Report bytes → figures. No disk, no clock: bytes come in through [`Input`].
//!
//! A format is a file with a constant [`Format`] and a line in [`FORMATS`]. A report that is cut, empty, foreign or
//! malformed is an error with its place, never a smaller number.

use std::fmt;

use crate::error::{Error, Reject, Result};
use crate::model::figures::{Figures, ReportKind};
use crate::model::ids::ObjectId;
use crate::model::metrics::BuildStatus;

pub mod console;
pub mod coverage;
mod details;
mod detect;
mod entries;
pub mod foreign;
mod input;
mod json;
pub mod lint;
pub mod merge;
pub mod metric;
mod patterns;
mod redrawn;
mod silent;
pub mod size;
pub mod test;
#[cfg(test)]
mod tests_support;
mod text;
pub mod transcript;
mod values;
mod xml;

pub use coverage::{FileBranches, FileCoverage, FileLines, LineBranches};
pub use details::{
    CoverageDetails, Details, Extra, Finding, Level, LintDetails, SizeDetails, Sort, TestDetails, ToolCounts,
};
pub use detect::{Head, Sniff, XmlHead};
pub use input::{Input, Opener, RawBytes};
pub use silent::{
    are_compilers, as_ty_s, holds_an_empty_list, is_of_a_silent_tool, may_be_silent, parse_clean, say_that_it_built,
    silence,
};

/// A report format.
pub struct Format {
    /// Its name: `lcov`, `go-test-json`.
    pub name: &'static str,
    /// What it tells about.
    pub kind: ReportKind,
    /// One line on what it is.
    pub about: &'static str,
    /// The tools that write it.
    pub written_by: &'static str,
    /// What in the content tells it.
    pub told_by: &'static str,
    /// Whether its end shows. If not, a cut shows only inside a record.
    pub has_end: bool,
    /// How it is counted.
    pub counting: &'static str,
    /// Looks at the first bytes.
    pub sniff: fn(&Head<'_>) -> Sniff,
    /// Reads all of it.
    pub parse: fn(&Input<'_>) -> Result<Parsed>,
}

impl Format {
    /// Whether it is what a tool prints for people, so that others may speak between its lines.
    pub fn is_text(&self) -> bool {
        self.name.ends_with("-text") || *self == test::tap::FORMAT
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

/// All formats. Where two may be meant, the earlier is taken.
pub const FORMATS: &[&Format] = &[
    // Tests.
    &test::junit::FORMAT,
    &test::go_test_json::FORMAT,
    &test::pytest_text::FORMAT,
    &test::nextest_text::FORMAT,
    &test::cargo_test_text::FORMAT,
    // It prints what other tools' tests printed.
    &test::ctest_text::FORMAT,
    &test::tap::FORMAT,
    &test::jest_json::FORMAT,
    &test::go_test_text::FORMAT,
    &test::jest_text::FORMAT,
    &test::vitest_text::FORMAT,
    &test::rstest_md::FORMAT,
    &test::rstest_text::FORMAT,
    &test::unittest_text::FORMAT,
    &test::trx::FORMAT,
    &test::nunit3::FORMAT,
    &test::nunit2::FORMAT,
    &test::xunit::FORMAT,
    &test::mocha_json::FORMAT,
    &test::rspec_json::FORMAT,
    &test::ctrf_json::FORMAT,
    &test::playwright_json::FORMAT,
    &test::pytest_json::FORMAT,
    &test::pytest_reportlog::FORMAT,
    &test::dart_json::FORMAT,
    &test::libtest_json::FORMAT,
    &test::ctest_xml::FORMAT,
    &test::node_test_text::FORMAT,
    &test::dotnet_test_text::FORMAT,
    &test::bun_test_text::FORMAT,
    &test::deno_test_text::FORMAT,
    &test::maven_text::FORMAT,
    &test::mocha_text::FORMAT,
    &test::phpunit_text::FORMAT,
    &test::rspec_text::FORMAT,
    &test::check_xml::FORMAT,
    &test::cppunit::FORMAT,
    &test::cunit_xml::FORMAT,
    &test::catch2_xml::FORMAT,
    &test::catch2_json::FORMAT,
    &test::boost_xml::FORMAT,
    &test::testng::FORMAT,
    &test::open_test_reporting::FORMAT,
    &test::apex_json::FORMAT,
    &test::sonar_tests::FORMAT,
    &test::gtest_text::FORMAT,
    &test::gtest_json::FORMAT,
    &test::mochawesome_json::FORMAT,
    &test::minitest_text::FORMAT,
    &test::playwright_text::FORMAT,
    &test::exunit_text::FORMAT,
    &test::forge_test_text::FORMAT,
    &test::gherkin_text::FORMAT,
    &test::jasmine_text::FORMAT,
    &test::catch2_text::FORMAT,
    &test::swift_test_text::FORMAT,
    &test::dart_test_text::FORMAT,
    &test::gradle_text::FORMAT,
    &test::sbt_text::FORMAT,
    &test::karma_text::FORMAT,
    &test::wtr_text::FORMAT,
    &test::wdio_text::FORMAT,
    &test::ava_text::FORMAT,
    &test::prove_text::FORMAT,
    &test::qttest_text::FORMAT,
    &test::qttest_xml::FORMAT,
    &test::unittestpp_xml::FORMAT,
    &test::gtester_xml::FORMAT,
    &test::boost_text::FORMAT,
    &test::zig_test_text::FORMAT,
    &test::busted_text::FORMAT,
    &test::nim_test_text::FORMAT,
    &test::brief_test_text::FORMAT,
    &test::teamcity::FORMAT,
    &test::gotestsum_text::FORMAT,
    &test::robot::FORMAT,
    &test::robot_json::FORMAT,
    &test::cucumber_json::FORMAT,
    &test::cucumber_messages::FORMAT,
    &test::meson_json::FORMAT,
    &test::dbt_json::FORMAT,
    &test::newman_json::FORMAT,
    &test::pao_json::FORMAT,
    &test::rstest_json::FORMAT,
    &test::testcafe_json::FORMAT,
    &test::ginkgo_json::FORMAT,
    &test::xcresult_json::FORMAT,
    &test::allure_json::FORMAT,
    // Coverage.
    &coverage::lcov::FORMAT,
    &coverage::cobertura::FORMAT,
    &coverage::jacoco::FORMAT,
    &coverage::go_cover::FORMAT,
    &coverage::istanbul_final::FORMAT,
    &coverage::istanbul_summary::FORMAT,
    &coverage::coveragepy_json::FORMAT,
    &coverage::llvm_cov_json::FORMAT,
    &coverage::clover::FORMAT,
    &coverage::simplecov_resultset::FORMAT,
    &coverage::simplecov_json::FORMAT,
    &coverage::opencover::FORMAT,
    &coverage::ncover::FORMAT,
    &coverage::gcov_json::FORMAT,
    &coverage::gcovr_json::FORMAT,
    &coverage::gcovr_summary_json::FORMAT,
    &coverage::coveragepy_text::FORMAT,
    &coverage::istanbul_text::FORMAT,
    &coverage::go_cover_func::FORMAT,
    &coverage::simplecov_last_run::FORMAT,
    &coverage::llvm_cov_text::FORMAT,
    &coverage::gcovr_text::FORMAT,
    &coverage::gcovr_csv::FORMAT,
    &coverage::fastcov_json::FORMAT,
    &coverage::covdir_json::FORMAT,
    &coverage::coverlet_json::FORMAT,
    &coverage::sonar_coverage::FORMAT,
    &coverage::jacoco_csv::FORMAT,
    &coverage::tarpaulin_json::FORMAT,
    &coverage::coveralls_json::FORMAT,
    &coverage::codecov_json::FORMAT,
    &coverage::kcov_json::FORMAT,
    &coverage::xccov_json::FORMAT,
    &coverage::reportgenerator_json::FORMAT,
    &coverage::scoverage::FORMAT,
    &coverage::dotcover_json::FORMAT,
    &coverage::dotcover_xml::FORMAT,
    &coverage::gcov_text::FORMAT,
    &coverage::vs_coverage::FORMAT,
    &coverage::brief_coverage_text::FORMAT,
    // Findings.
    &lint::sarif::FORMAT,
    &lint::rustc_json::FORMAT,
    &lint::rustc_text::FORMAT,
    &lint::checkstyle::FORMAT,
    &lint::gcc_text::FORMAT,
    &lint::mypy_text::FORMAT,
    &lint::tsc_text::FORMAT,
    &lint::ty_text::FORMAT,
    &lint::zizmor_text::FORMAT,
    &lint::ruff_text::FORMAT,
    &lint::flake8_text::FORMAT,
    &lint::pylint_text::FORMAT,
    &lint::govet_text::FORMAT,
    &lint::eslint_text::FORMAT,
    &lint::stylelint_text::FORMAT,
    &lint::biome_text::FORMAT,
    &lint::oxlint_text::FORMAT,
    &lint::unix_text::FORMAT,
    &lint::msbuild_text::FORMAT,
    &lint::pyright_text::FORMAT,
    &lint::rubocop_text::FORMAT,
    &lint::yamllint_text::FORMAT,
    &lint::shellcheck_text::FORMAT,
    &lint::bandit_text::FORMAT,
    &lint::phpcs_text::FORMAT,
    &lint::phpstan_text::FORMAT,
    &lint::next_text::FORMAT,
    &lint::webpack_text::FORMAT,
    &lint::bundler_text::FORMAT,
    &lint::dart_analyze_text::FORMAT,
    &lint::semgrep_text::FORMAT,
    &lint::elixir_text::FORMAT,
    &lint::github_text::FORMAT,
    &lint::knip_text::FORMAT,
    &lint::brief_text::FORMAT,
    &lint::pre_commit_text::FORMAT,
    &lint::pmd::FORMAT,
    &lint::spotbugs::FORMAT,
    &lint::cppcheck::FORMAT,
    &lint::android_lint::FORMAT,
    &lint::valgrind_xml::FORMAT,
    &lint::resharper_xml::FORMAT,
    &lint::codenarc_xml::FORMAT,
    &lint::vnu_xml::FORMAT,
    &lint::eslint_json::FORMAT,
    &lint::ruff_json::FORMAT,
    &lint::pylint_json::FORMAT,
    &lint::pyright_json::FORMAT,
    &lint::mypy_json::FORMAT,
    &lint::shellcheck_json::FORMAT,
    &lint::hadolint_json::FORMAT,
    &lint::golangci_json::FORMAT,
    &lint::govet_json::FORMAT,
    &lint::rubocop_json::FORMAT,
    &lint::phpcs_json::FORMAT,
    &lint::phpcs_xml::FORMAT,
    &lint::stylelint_json::FORMAT,
    &lint::semgrep_json::FORMAT,
    &lint::bandit_json::FORMAT,
    &lint::biome_json::FORMAT,
    &lint::oxlint_json::FORMAT,
    &lint::codeclimate_json::FORMAT,
    &lint::rdjson::FORMAT,
    &lint::ktlint_json::FORMAT,
    &lint::gcc_json::FORMAT,
    &lint::clang_tidy_yaml::FORMAT,
    &lint::phpstan_json::FORMAT,
    &lint::psalm_json::FORMAT,
    &lint::swiftlint_json::FORMAT,
    &lint::markdownlint_json::FORMAT,
    &lint::staticcheck_json::FORMAT,
    &lint::sqlfluff_json::FORMAT,
    &lint::pyrefly_json::FORMAT,
    &lint::flake8_json::FORMAT,
    &lint::tslint_json::FORMAT,
    &lint::htmlhint_json::FORMAT,
    &lint::pmd_json::FORMAT,
    &lint::cpd::FORMAT,
    &lint::gosec_json::FORMAT,
    &lint::revive_json::FORMAT,
    &lint::brakeman_json::FORMAT,
    &lint::credo_json::FORMAT,
    &lint::infer_json::FORMAT,
    &lint::checkov_json::FORMAT,
    &lint::tflint_json::FORMAT,
    &lint::cfn_lint_json::FORMAT,
    &lint::actionlint_json::FORMAT,
    &lint::trivy_json::FORMAT,
    &lint::grype_json::FORMAT,
    &lint::gitleaks_json::FORMAT,
    &lint::npm_audit_json::FORMAT,
    &lint::pip_audit_json::FORMAT,
    &lint::cargo_audit_json::FORMAT,
    &lint::cargo_deny_json::FORMAT,
    &lint::php_cs_fixer_json::FORMAT,
    &lint::pint_json::FORMAT,
    &lint::rector_json::FORMAT,
    &lint::sonar_issues_json::FORMAT,
    &lint::vale_json::FORMAT,
    &lint::findings_csv::FORMAT,
    &lint::findings_list::FORMAT,
    &lint::gitlab_security_json::FORMAT,
    &lint::bundler_audit_json::FORMAT,
    &lint::composer_audit_json::FORMAT,
    &lint::deptry_json::FORMAT,
    &lint::detect_secrets_json::FORMAT,
    &lint::govulncheck_json::FORMAT,
    &lint::knip_json::FORMAT,
    &lint::osv_scanner_json::FORMAT,
    &lint::prospector_json::FORMAT,
    &lint::snyk_json::FORMAT,
    &lint::yarn_audit_json::FORMAT,
    &lint::zizmor_json::FORMAT,
    // Size.
    &size::tokei_json::FORMAT,
    &size::cloc_json::FORMAT,
    &size::lizard_csv::FORMAT,
    &size::lizard_xml::FORMAT,
    &size::radon_cc_json::FORMAT,
    &size::radon_raw_json::FORMAT,
    &size::pygount_json::FORMAT,
    &size::scc_json::FORMAT,
    &size::cloc_text::FORMAT,
    &size::cloc_csv::FORMAT,
    &size::cloc_xml::FORMAT,
    &size::cloc_yaml::FORMAT,
    &size::tokei_text::FORMAT,
    &size::scc_text::FORMAT,
    &size::scc_csv::FORMAT,
    &size::lizard_text::FORMAT,
    &size::radon_cc_text::FORMAT,
    &size::radon_raw_text::FORMAT,
    &size::pygount_text::FORMAT,
    &size::gocloc_json::FORMAT,
    &size::sloccount_text::FORMAT,
    // Metrics.
    &metric::stryker_json::FORMAT,
    &metric::mutmut_json::FORMAT,
    &metric::cargo_mutants::FORMAT,
    &metric::pytest_benchmark_json::FORMAT,
    &metric::criterion::FORMAT,
    &metric::hyperfine::FORMAT,
    &metric::google_benchmark_json::FORMAT,
    &metric::go_bench_text::FORMAT,
    &metric::k6_json::FORMAT,
    &metric::jmh_json::FORMAT,
    &metric::benchmark_dotnet_json::FORMAT,
    &metric::vitest_bench_json::FORMAT,
    &metric::autocannon_json::FORMAT,
    &metric::lighthouse_json::FORMAT,
    &metric::pit_xml::FORMAT,
    &metric::infection_json::FORMAT,
    &metric::gremlins_json::FORMAT,
    &metric::jscpd_json::FORMAT,
    &metric::jscpd_text::FORMAT,
    &metric::size_limit_json::FORMAT,
    &metric::esbuild_metafile::FORMAT,
    &metric::complexipy_json::FORMAT,
    &metric::radon_mi_json::FORMAT,
    &metric::pytest_benchmark_text::FORMAT,
    &metric::criterion_text::FORMAT,
    &metric::bencher_text::FORMAT,
    &metric::google_benchmark_text::FORMAT,
    &metric::brief_mutation_text::FORMAT,
    &metric::binutils_size_text::FORMAT,
    &metric::hyperfine_text::FORMAT,
    &metric::divan_text::FORMAT,
    &metric::jmh_text::FORMAT,
    &metric::benchmarkjs_text::FORMAT,
    &metric::locust_csv::FORMAT,
    &metric::webpack_stats_json::FORMAT,
    &metric::cargo_bloat_json::FORMAT,
    &metric::hyperfine_csv::FORMAT,
    &metric::hyperfine_markdown::FORMAT,
    &metric::pyperf_json::FORMAT,
    &metric::pyperf_text::FORMAT,
    &metric::mitata_json::FORMAT,
    &metric::load_test_text::FORMAT,
    &metric::vite_build_text::FORMAT,
    &metric::bundle_text::FORMAT,
    &metric::size_limit_text::FORMAT,
    &metric::vitest_bench_text::FORMAT,
];

/// The format of that name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}

/// What was read out of one report.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// As told or found out.
    pub format: &'static Format,
    /// How the format was found out (`root element testsuites`), or `given`.
    pub sniffed_by: String,
    /// Counts, under exactly the corpus's keys of the kind.
    pub figures: Figures,
    /// The report's own totals, where they differ from what its elements add up to.
    pub declared: Option<Figures>,
    /// What is odd about it: one fragment each.
    pub warnings: Vec<String>,
    /// Whether the project built, if the report tells.
    pub build: Option<BuildStatus>,
    /// What is behind the figures.
    pub details: Details,
    /// Of the bytes it was read from, where they are known: a report without names is another's copy only if they are.
    pub content: Option<ObjectId>,
    /// Of which package it is, where a command's output tells it.
    pub package: Option<Package>,
    /// It is what counts of several runs in one output.
    pub is_of_several: bool,
    /// Nothing in it tells that it is whole: it counts where it is known that whoever wrote it came to its end.
    pub is_open_ended: bool,
}

/// A package of which a command's output tells: others may have tests and files of the same names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// As it is called there, or the way to its folder.
    pub name: String,
    /// Names of its tests say by themselves that they are its own: no other was there before, or it stands in them.
    pub is_first: bool,
}

impl Parsed {
    /// Adds what failed outside any test to a report of tests: one errored test.
    fn add_unit(&mut self, name: &str) {
        let Details::Tests(details) = &mut self.details else { return };
        details.unit_failures = details.unit_failures.saturating_add(1);
        if details.failed_units.len() < test::UNITS_KEPT {
            details.failed_units.push(text::printable(name, 200));
        }
        for count in [&mut self.figures.tests, &mut self.figures.errored] {
            *count = Some(count.unwrap_or(0).saturating_add(1));
        }
    }

    /// Figures with their details and nothing odd about them.
    pub fn new(format: &'static Format, figures: Figures, details: Details) -> Parsed {
        let (sniffed_by, warnings) = ("given".to_owned(), Vec::new());
        Parsed {
            format,
            sniffed_by,
            figures,
            declared: None,
            warnings,
            build: None,
            details,
            content: None,
            package: None,
            is_of_several: false,
            is_open_ended: false,
        }
    }

    /// Whether it stood between other lines, in a command's output or in a text.
    pub fn is_spoken(&self) -> bool {
        self.sniffed_by.starts_with(merge::FROM_CONSOLE)
    }
}

/// Reads a report, as `format` or as what its content tells.
///
/// # Errors
/// A report error with place and help: empty, malformed or cut, not of the format (or of any), over a limit. A failure if
/// the bytes cannot be read.
pub fn parse(input: &Input<'_>, format: Option<&'static Format>) -> Result<Parsed> {
    let parsed = Head::read(input).and_then(|head| parse_unplaced(input, &head, format)?.ok_or_else(not_known));
    parsed.map_err(|error| error.in_file(input.name()))
}

/// `None` if no format knows it.
fn parse_unplaced(input: &Input<'_>, head: &Head<'_>, format: Option<&'static Format>) -> Result<Option<Parsed>> {
    let Some(format) = format else {
        let Some((format, sniffed_by)) = told_by_content(head)? else { return Ok(None) };
        let parsed = (format.parse)(input).and_then(checked);
        return parsed.map(|parsed| Some(Parsed { sniffed_by, ..parsed })).map_err(|error| {
            let how = format!("read as {}, by its content", format.name);
            with_cause(error, format, &how)
        });
    };
    let parsed = (format.parse)(input).and_then(checked);
    parsed.map(Some).map_err(|error| with_cause(error, format, &format!("read as {}, as told", format.name)))
}

/// Adds what the report looks like, if it is not at all like the format that was given.
fn with_likeness(mut error: Error, format: &Format, input: &Input<'_>) -> Error {
    // Asking all takes longer than most reports take to read.
    if is_of_content(&error)
        && let Ok(head) = Head::read(input)
        && (format.sniff)(&head) == Sniff::No
        && let Ok(Some((other, why))) = told_by_content(&head)
    {
        let looks = format!("; it looks like {} ({why})", other.name);
        error.cause.get_or_insert_default().push_str(&looks);
    }
    error
}

/// Whether it is JSON that was printed between other lines.
fn is_among_lines(head: &Head<'_>) -> bool {
    !head.keys().is_empty() && head.xml().is_none() && !head.is_json()
}

/// As [`parse`], and without a format what else stands in the file: in what tools print for people, others may speak too,
/// and where all of it is no report, there may be some between other lines. The report that the file is comes first.
///
/// # Errors
/// As [`parse`]; with a format, they tell of another that the report looks like.
pub fn parse_all(input: &Input<'_>, format: Option<&'static Format>) -> Result<Vec<Parsed>> {
    let (head, found) = match Head::read(input) {
        Ok(head) => {
            let found = parse_unplaced(input, &head, format);
            (Some(head), found)
        }
        Err(error) => (None, Err(error)),
    };
    let is_among_lines = || head.as_ref().is_some_and(is_among_lines);
    let has_hooks = || head.as_ref().is_some_and(lint::pre_commit_text::has_hooks);
    // Lines behind names, times or a margin are no tool's own text, whatever they look like.
    if let (Err(_), None) = (&found, format)
        && let Some(spoken) = console::of_marked(input, has_hooks())
    {
        return Ok(spoken);
    }
    found
        .and_then(|found| match found {
            Some(alone) if format.is_none() && (alone.format.is_text() || is_among_lines()) => {
                Ok(console::beside(alone, input))
            }
            Some(alone) => Ok(vec![alone]),
            None => {
                let spoken = console::console(input);
                if spoken.is_empty() { Err(not_known()) } else { Ok(spoken) }
            }
        })
        .map_err(|error| match format {
            Some(format) => with_likeness(error, format, input),
            None => error,
        })
        .map_err(|error| error.in_file(input.name()))
}

/// Finds out the format. `None`: it is none that is known, so that a file that was found, not named, can be passed over.
///
/// # Errors
/// The report is empty, filled with NUL bytes, compressed, cut before anything can be told, or not readable.
pub fn detect(input: &Input<'_>) -> Result<Option<(&'static Format, String)>> {
    Head::read(input).and_then(|head| told_by_content(&head)).map_err(|error| error.in_file(input.name()))
}

fn told_by_content(head: &Head<'_>) -> Result<Option<(&'static Format, String)>> {
    let mut maybe = None;
    // Nobody speaks between its lines. Those who read what tools print would look at each of them.
    let is_alone = head.is_json() || coverage::lcov::is_all(head) || coverage::go_cover::is_all(head);
    // What Meson's tests printed is theirs.
    let is_mesons = test::meson_output::is_shown(head);
    let is_anothers =
        |format: &Format| is_mesons && format.kind == ReportKind::Test && *format != test::brief_test_text::FORMAT;
    let is_asked = |format: &&Format| !format.is_text() || !(is_alone || is_anothers(format));
    for format in FORMATS.iter().copied().filter(is_asked) {
        if format.kind != ReportKind::Test {
            // Those of tests come first.
            head.settle_tests(is_mesons);
        }
        match (format.sniff)(head) {
            Sniff::Sure(_) if head.is_quoted(format) => return Ok(None),
            Sniff::Sure(why) => return Ok(Some((format, why))),
            Sniff::Maybe(why) if maybe.is_none() => maybe = Some((format, why)),
            Sniff::Maybe(_) | Sniff::No => {}
        }
    }
    match (maybe, detect::unknown(head)) {
        (Some((format, _)), _) if head.is_quoted(format) => Ok(None),
        (Some(found), _) => Ok(Some(found)),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(None),
    }
}

fn not_known() -> Error {
    Error::report(Reject::NotThisFormat, "not a report of any known format").help(
        "`highwater list formats` names those that are read; --report FORMAT:PATH says which one is meant \
             (`inspect`: --format)",
    )
}

/// How we came to read it so, before what the format says of the cause; and what sort of report it is, which those who
/// read XML and JSON do not know.
fn with_cause(mut error: Error, format: &Format, how: &str) -> Error {
    if !is_of_content(&error) {
        return error;
    }
    error.cause = Some(match error.cause.take() {
        Some(cause) => format!("{how}; {cause}"),
        None => how.to_owned(),
    });
    let kind = format.kind.name();
    if error.message.starts_with("report ") {
        error.message = format!("{kind} {}", error.message);
    }
    let with_kind =
        |help| if help == CUT_HELP { format!("{CUT_HELP}: `begin` and `record` take --skip {kind}") } else { help };
    error.help = error.help.take().map(with_kind);
    error
}

/// Whether an error is about what the report says, not about whether it may or can be read.
fn is_of_content(error: &Error) -> bool {
    !matches!(error.reject(), Some(Reject::Refused) | None)
}

/// What to do about a report that is cut.
const CUT_HELP: &str = "the run was probably cut short; run it again, or leave it out";

/// What must hold of any figures: a part is not larger than its whole.
fn checked(parsed: Parsed) -> Result<Parsed> {
    let figures = &parsed.figures;
    let pairs = [
        ("lines", figures.lines_covered, figures.lines_total),
        ("branches", figures.branches_covered, figures.branches_total),
        ("functions", figures.functions_covered, figures.functions_total),
        ("statements", figures.statements_covered, figures.statements_total),
        ("regions", figures.regions_covered, figures.regions_total),
    ];
    for (what, covered, total) in pairs {
        if covered > total {
            let (covered, total) = (covered.unwrap_or_default(), total.unwrap_or_default());
            return Err(Error::report(Reject::Malformed, format!("{covered} of {total} {what} covered")));
        }
    }
    Ok(parsed)
}

/// A sum that does not fit, in any format.
fn overflow() -> Error {
    Error::report(Reject::Malformed, "a count is too large")
}

/// `a + b`.
///
/// # Errors
/// Malformed if it does not fit.
fn add(a: u64, b: u64) -> Result<u64> {
    a.checked_add(b).ok_or_else(overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_tests_come_first() {
        assert!(FORMATS.is_sorted_by_key(|format| format.kind != ReportKind::Test));
    }

    #[test]
    fn names_are_unique_and_found() {
        for (index, one) in FORMATS.iter().enumerate() {
            assert_eq!(format(one.name), Some(*one));
            assert!(FORMATS.iter().skip(index + 1).all(|other| other.name != one.name), "{}", one.name);
        }
        assert_eq!(format("no-such-format"), None);
    }

    #[test]
    fn no_two_formats_are_sure_of_one_fixture() {
        let Some(reports) = tests_support::captures() else { return };
        let mut seen = 0;
        for format in FORMATS {
            for entry in std::fs::read_dir(reports.join(format.name)).unwrap() {
                let path = entry.unwrap().path();
                if !path.file_name().unwrap().to_string_lossy().starts_with("good") {
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap();
                let head = Head::read(&Input::bytes("x", &bytes)).unwrap();
                let is_sure = |other: &&&Format| matches!((other.sniff)(&head), Sniff::Sure(_));
                let others: Vec<_> = FORMATS.iter().filter(is_sure).filter(|other| **other != *format).collect();
                assert!(others.is_empty(), "{} is taken for {others:?}", path.display());
                seen += 1;
            }
        }
        assert!(seen >= FORMATS.len(), "{seen} fixtures");
    }

    /// Of one that says nothing now, the name alone tells.
    #[test]
    fn tools_that_may_be_silent_are_what_their_names_say() {
        let Some(reports) = tests_support::captures() else { return };
        let mut seen = 0;
        for format in FORMATS.iter().copied().filter(|format| may_be_silent(format)) {
            for entry in std::fs::read_dir(reports.join(format.name)).unwrap() {
                let path = entry.unwrap().path();
                let bytes = std::fs::read(&path).unwrap();
                let Ok(parsed) = parse(&Input::bytes("x", &bytes), Some(format)) else { continue };
                let Details::Lint(details) = parsed.details else { continue };
                for (tool, counts) in details.by_tool {
                    assert_eq!(counts.sort, lint::sort_of(&tool), "{tool} in {}", path.display());
                    seen += 1;
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn a_part_is_not_larger_than_its_whole() {
        let figures = Figures { functions_covered: Some(3), functions_total: Some(2), ..Figures::default() };
        let parsed = Parsed::new(&coverage::lcov::FORMAT, figures, Details::Coverage(CoverageDetails::default()));
        assert_eq!(checked(parsed).unwrap_err().message, "3 of 2 functions covered");
        assert!(add(u64::MAX, 1).is_err() && add(1, 1).is_ok());
    }
}
