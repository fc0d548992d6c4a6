//! What the fuzz targets share: families of readers, and what must hold of whatever they accept.

use highwater::ingest::{self, FORMATS, Format, Input, Parsed, merge};
use highwater::model::figures::ReportKind;

/// Readers that take their bytes apart in the same way. Each has its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// XML that tells of tests.
    XmlTest,
    /// Any other XML.
    Xml,
    /// JSON, one document.
    Json,
    /// JSON, one object a line.
    JsonLines,
    /// lcov and Go's cover profiles.
    Tracefile,
    /// What tools print.
    Text,
}

/// All families, with the names of their targets.
pub const FAMILIES: &[(Family, &str)] = &[
    (Family::XmlTest, "xml_test"),
    (Family::Xml, "xml"),
    (Family::Json, "json"),
    (Family::JsonLines, "json_lines"),
    (Family::Tracefile, "tracefile"),
    (Family::Text, "text"),
];

/// The family of a format.
pub fn family(format: &Format) -> Family {
    let ends = |ends: &[&str]| ends.iter().any(|end| format.name.ends_with(end));
    match format.name {
        "lcov" | "go-cover" => Family::Tracefile,
        "go-test-json" | "pytest-reportlog" | "dart-json" | "libtest-json" | "rustc-json" => Family::JsonLines,
        "junit" | "trx" | "nunit2" | "nunit3" | "xunit" | "cppunit" | "robot" | "sonar-tests" | "testng" => {
            Family::XmlTest
        }
        "cobertura" | "jacoco" | "clover" | "opencover" | "checkstyle" | "pmd" | "spotbugs" | "cppcheck"
        | "android-lint" | "sonar-coverage" => Family::Xml,
        "sarif" | "rdjson" | "simplecov-resultset" | "istanbul-final" | "istanbul-summary" => Family::Json,
        _ if ends(&["-xml"]) && format.kind == ReportKind::Test => Family::XmlTest,
        _ if ends(&["-xml"]) => Family::Xml,
        _ if ends(&["-json"]) => Family::Json,
        _ => Family::Text,
    }
}

/// The formats of a family, in the order of `FORMATS`.
pub fn formats(wanted: Family) -> Vec<&'static Format> {
    FORMATS.iter().copied().filter(|format| family(format) == wanted).collect()
}

/// The first byte names the format, the others are the report.
pub fn parse(wanted: Family, data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let formats = formats(wanted);
    let format = formats[usize::from(*first) % formats.len()];
    if let Ok(parsed) = ingest::parse(&Input::bytes("fuzz", bytes), Some(format)) {
        check(&parsed);
    }
}

/// Figures that were accepted add up, and merge into finite metrics.
pub fn check(parsed: &Parsed) {
    let figures = &parsed.figures;
    let fits = |part: Option<u64>, whole: Option<u64>| part.is_none() || part <= whole;
    assert!(fits(figures.lines_covered, figures.lines_total));
    assert!(fits(figures.branches_covered, figures.branches_total));
    assert!(fits(figures.functions_covered, figures.functions_total));
    assert!(fits(figures.statements_covered, figures.statements_total));
    assert!(fits(figures.regions_covered, figures.regions_total));
    let sum = |parts: &[Option<u64>]| parts.iter().try_fold(0u64, |sum, part| sum.checked_add((*part)?));
    if figures.tests.is_some() {
        assert_eq!(sum(&[figures.passed, figures.failed, figures.errored, figures.skipped]), figures.tests);
    }
    if figures.total.is_some() {
        assert_eq!(sum(&[figures.errors, figures.warnings, figures.notes]), figures.total);
    }
    let measurement = merge::merge(std::slice::from_ref(parsed));
    assert!(measurement.complexity_score.is_none_or(f64::is_finite));
}
