//! `checkstyle`: XML by file, as Checkstyle writes it and linters of many languages after it.
//!
//! Written after Checkstyle's `XMLLogger`: `checkstyle/file/error` with line, column, severity, message and source. It
//! does not name the tool, which is told by the shape of its sources, and has no place to say what was not looked at.
//!
//! `jslint/file/issue` of ESLint's formatter jslint-xml and of JSHint, and `lint/file/issue` and `csslint/file/issue` of CSSLint
//! say the same in other words. ESLint puts its rule behind the message, and no severity anywhere.

use super::elements::{Elements, append, inside, level_or_error, line_number, walk};
use super::lines::{bracketed, finding};
use super::{LintTally, tool_and_sort};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Level, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Checkstyle XML.
pub const FORMAT: Format = Format {
    name: "checkstyle",
    kind: ReportKind::Lint,
    about: "Checkstyle XML: findings by file",
    written_by: "Checkstyle, PHP_CodeSniffer, ShellCheck, oxlint, ktlint, detekt, golangci-lint, PHPStan, SwiftLint, \
                 ESLint 8, JSHint and CSSLint (jslint-xml, lint-xml, csslint-xml)",
    told_by: "root element checkstyle, jslint, lint or csslint",
    has_end: true,
    counting: "Each error by its severity: error, warning, info (a note), ignore (nothing); one without severity is an \
               error. An exception of the tool is an error.",
    sniff,
    parse,
};

const ROOTS: &[&str] = &["checkstyle", "jslint", "lint", "csslint"];

fn sniff(head: &Head<'_>) -> Sniff {
    // Android's lint.xml, which tells what is to be looked at.
    let is_settings = head.rooted(&["lint"]).is_some_and(|xml| xml.has_child("issue"));
    if is_settings { Sniff::No } else { head.by_root(ROOTS) }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let head = Head::read(input)?;
    let root = head.rooted(ROOTS).map_or("checkstyle", |xml| xml.root.as_str());
    walk(input, root, "Checkstyle", &mut reader)?;
    // Nobody found anything: Checkstyle's name stands for whoever it was.
    if reader.total == 0 {
        reader.tally.tool("checkstyle", tool_and_sort("checkstyle", None).1);
    }
    let mut parsed = reader.tally.finish(&FORMAT)?;
    parsed.warnings.extend(reader.odd);
    Ok(parsed)
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    file: Option<String>,
    exception: String,
    total: u64,
    odd: Option<String>,
}

impl Reader {
    fn add(&mut self, level: Level, line: Option<u64>, source: Option<&str>, message: &str) -> Result<()> {
        let (tool, rule) = tool_and_rule(source.unwrap_or_default());
        let (tool, sort) = tool_and_sort(tool, None);
        self.total += 1;
        self.tally.finding(finding(&tool, level, (self.file.as_deref(), line), rule, message), sort)
    }
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        match (inside(open), element.name()) {
            (Some(_), "file") => self.file = element.attribute("name")?,
            (Some(_), "exception") => self.exception.clear(),
            (Some(_), "error") => {
                let [line, severity, message, source] =
                    element.attributes(["line", "severity", "message", "source"])?;
                let level = match severity.as_deref() {
                    None => Level::Error,
                    Some("ignore") => return Ok(()),
                    Some(severity) => level_or_error(severity, &mut self.odd),
                };
                self.add(level, line_number(line), source.as_deref(), message.as_deref().unwrap_or_default())?;
            }
            (Some("lint"), "issue") => {
                return Err(Error::report(Reject::NotThisFormat, "settings of Android Lint, not a report")
                    .help("the report is lint-results.xml"));
            }
            (Some(_), "issue") => {
                let [line, severity, reason, named] = element.attributes(["line", "severity", "reason", "rule"])?;
                let level = match severity.as_deref() {
                    // JSHint's, from the code of its message.
                    Some("W") => Level::Warning,
                    Some("I") => Level::Note,
                    None | Some("E") => Level::Error,
                    Some(severity) => level_or_error(severity, &mut self.odd),
                };
                let reason = reason.unwrap_or_default();
                let (message, rule) = bracketed(&reason, '(', ')').unwrap_or((&reason, ""));
                self.add(level, line_number(line), Some(named.as_deref().unwrap_or(rule)), message)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, open: &[String], text: &str) {
        if inside(open) == Some("exception") {
            append(&mut self.exception, text);
        }
    }

    fn end(&mut self, open: &[String]) -> Result<()> {
        match inside(open) {
            Some("exception") => {
                let message = std::mem::take(&mut self.exception);
                self.add(Level::Error, None, None, &message)
            }
            Some("file") => {
                self.file = None;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The tool and its own name of the rule, told by the shape of `source`.
fn tool_and_rule(source: &str) -> (&str, Option<&str>) {
    if let Some((plugin, rule)) = source.strip_suffix(')').and_then(|source| source.split_once('(')) {
        let is_name = !plugin.is_empty() && !plugin.contains(['.', ' ']) && !rule.is_empty();
        // `eslint(no-unused-vars)`, `typescript(no-explicit-any)`.
        return (if is_name { "oxlint" } else { "checkstyle" }, Some(source));
    }
    let prefixes = [
        ("ShellCheck.", "shellcheck", true),
        ("eslint.rules.", "eslint", true),
        ("stylelint.rules.", "stylelint", true),
        ("detekt.", "detekt", true),
        ("swiftlint.rules.", "swiftlint", true),
        ("org.scalastyle.", "scalastyle", false),
        ("com.puppycrawl.", "checkstyle", false),
        ("lint/", "biome", false),
        ("assist/", "biome", false),
        // ktlint's own rule sets.
        ("standard:", "ktlint", false),
        ("experimental:", "ktlint", false),
    ];
    for (prefix, tool, is_cut_off) in prefixes {
        if let Some(rule) = source.strip_prefix(prefix) {
            return (tool, Some(if is_cut_off { rule } else { source }));
        }
    }
    // `PSR12.Files.FileHeader.SpacingAfterBlock`: standard, category, sniff, code.
    let is_sniff = source.split('.').count() == 4
        && source.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
    (if is_sniff { "phpcs" } else { "checkstyle" }, Some(source).filter(|source| !source.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(files: &str) -> Parsed {
        let text = format!("<checkstyle version='5.0'>{files}</checkstyle>");
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT)).unwrap()
    }

    #[test]
    fn issues_of_jslint_and_csslint_are_findings() {
        let text = "<?xml version=\"1.0\"?><jslint><file name=\"/app/a.js\"><issue line=\"3\" char=\"9\" evidence=\"\" \
                    reason=\"Expected &apos;===&apos;. (eqeqeq)\" /><issue line=\"1\" char=\"9\" reason=\"Parsing error: no\" /></file>\
                    <file name=\"/app/clean.js\"></file></jslint>";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let Details::Lint(details) = &parsed.details else { panic!("lint") };
        let told: Vec<_> =
            details.findings.iter().map(|one| (one.rule.as_deref(), one.line, one.message.as_str())).collect();
        assert_eq!(told, [(Some("eqeqeq"), Some(3), "Expected '==='."), (None, Some(1), "Parsing error: no")]);
        assert_eq!((parsed.figures.errors, parsed.format.name), (Some(2), "checkstyle"));
        let css = "<lint><file name='a.css'><issue line='1' char='2' severity='warning' reason='no' evidence='a'/></file></lint>";
        let parsed = crate::ingest::parse(&Input::bytes("x", css.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(0), Some(1)));
        let css = "<csslint><file name='a.css'><issue severity='error' rule='ids' reason='no (x)'/></file></csslint>";
        let parsed = crate::ingest::parse(&Input::bytes("x", css.as_bytes()), None).unwrap();
        let Details::Lint(details) = &parsed.details else { panic!("lint") };
        assert_eq!((parsed.figures.errors, details.findings[0].rule.as_deref()), (Some(1), Some("ids")));
        let hints =
            ["W", "I", "E"].map(|severity| format!("<issue line='1' severity='{severity}' reason='no'/>")).concat();
        let hints = format!("<jslint><file name='a.js'>{hints}</file></jslint>");
        let parsed = crate::ingest::parse(&Input::bytes("x", hints.as_bytes()), None).unwrap();
        assert_eq!([parsed.figures.errors, parsed.figures.warnings, parsed.figures.notes], [Some(1); 3]);
        assert!(parsed.warnings.is_empty());
        let settings = "<lint><issue id='UnusedIds' severity='ignore'/></lint>";
        for format in [None, Some(&FORMAT)] {
            let error = crate::ingest::parse(&Input::bytes("x", settings.as_bytes()), format).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat));
        }
    }

    #[test]
    fn severities_count_as_they_are_called() {
        let parsed = read(
            "<file name='a&amp;b.js'><error line='3' severity='warning' message='&lt;m&gt;' source='eslint.rules.semi'/>\
             <error severity='info' line='0'/><error severity='ignore'/><error/><error severity='major'/>\
             <exception><![CDATA[java.lang.Oops\n\tat x]]></exception></file>",
        );
        let figures = &parsed.figures;
        assert_eq!((figures.errors, figures.warnings, figures.notes), (Some(3), Some(1), Some(1)));
        assert_eq!(parsed.warnings, ["the severity \"major\" is read as an error"]);
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let first = details.findings.first().unwrap();
        assert_eq!((first.path.as_deref(), first.line, first.message.as_str()), (Some("a&b.js"), Some(3), "<m>"));
        assert_eq!((first.tool.as_str(), first.rule.as_deref()), ("eslint", Some("semi")));
        assert_eq!(details.findings.last().unwrap().message, "java.lang.Oops");
        let Details::Lint(clean) = read("").details else { panic!("lint") };
        assert_eq!(clean.by_tool.keys().collect::<Vec<_>>(), ["checkstyle"]);
    }

    #[test]
    fn the_shape_of_a_source_tells_the_tool() {
        for (source, tool, rule) in [
            ("ShellCheck.SC2155", "shellcheck", "SC2155"),
            ("eslint(no-unused-vars)", "oxlint", "eslint(no-unused-vars)"),
            ("PSR12.Files.FileHeader.SpacingAfterBlock", "phpcs", "PSR12.Files.FileHeader.SpacingAfterBlock"),
            ("detekt.MagicNumber", "detekt", "MagicNumber"),
            ("standard:final-newline", "ktlint", "standard:final-newline"),
            ("lint/style/useConst", "biome", "lint/style/useConst"),
            (
                "com.puppycrawl.tools.checkstyle.checks.coding.MagicNumberCheck",
                "checkstyle",
                "com.puppycrawl.tools.checkstyle.checks.coding.MagicNumberCheck",
            ),
            ("goimports", "checkstyle", "goimports"),
        ] {
            assert_eq!(tool_and_rule(source), (tool, Some(rule)));
        }
        assert_eq!(tool_and_rule(""), ("checkstyle", None));
    }
}
