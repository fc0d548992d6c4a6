//! `findings-json`: findings as linters write them into a list of JSON, or one a line, told apart by their keys.
//!
//! Spectral's, solhint's, Markuplint's, Redocly's, Dart's, Phan's, protolint's, KubeLinter's and the Nu Html Checker's lists,
//! the lines of typos and buf, and what `terraform validate` says.
//! <https://docs.stoplight.io/docs/spectral/9ffa04e052cc1-spectral-cli>, <https://redocly.com/docs/cli/commands/lint>,
//! <https://developer.hashicorp.com/terraform/cli/commands/validate#json-output-format>

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign, lines};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::is_number;
use crate::ingest::values::First;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// JSON of linters.
pub const FORMAT: Format = Format {
    name: "findings-json",
    kind: ReportKind::Lint,
    about: "findings as linters write them into JSON, one an object",
    written_by: "spectral lint -f json, solhint -f json, markuplint -f JSON, redocly lint --format json, typos \
                 --format json, buf lint --error-format json, terraform validate -json, vnu --format json, deno lint \
                 --json, hlint --json, squawk --reporter json, dart analyze --format=json, phan --output-mode json, \
                 protolint -reporter json, kube-linter lint --format json",
    told_by: "the keys of one of them, as code, severity, range.start and source",
    has_end: false,
    counting: "Every finding by its severity; of Spectral 0 is an error, 1 a warning, 2 and 3 are notes; of Phan 10 is \
               an error, 5 a warning, 0 a note. typos, buf, KubeLinter and Deno have no severities: each is an error, \
               and so is a file that Deno cannot parse. Problems that Redocly is told to ignore are suppressed.",
    sniff: |head| match Tool::of(head) {
        Some(tool) => Sniff::Sure(format!("keys {}", tool.keys.join(", "))),
        None => Sniff::No,
    },
    parse,
};

/// Where a tool's findings stand.
#[derive(Clone, Copy)]
enum Shape {
    List,
    Under(&'static str),
    /// Under the first key, and under the second what could not be looked at.
    UnderBoth(&'static str, &'static str),
    /// One a line, which begins so.
    Lines(&'static str),
}

/// How a tool's findings are told and found.
struct Tool {
    name: &'static str,
    keys: &'static [&'static str],
    shape: Shape,
}

const TOOLS: [Tool; 18] = [
    Tool { name: "spectral", keys: &["code", "severity", "range.start.line", "source"], shape: Shape::List },
    Tool { name: "solhint", keys: &["ruleId", "severity", "filePath", "fix"], shape: Shape::List },
    Tool { name: "hlint", keys: &["severity", "hint", "file", "startLine", "refactorings"], shape: Shape::List },
    Tool { name: "squawk", keys: &["file", "line", "level", "rule_name"], shape: Shape::List },
    Tool { name: "markuplint", keys: &["ruleId", "severity", "filePath", "raw"], shape: Shape::List },
    Tool { name: "phan", keys: &["type_id", "check_name", "severity", "location.path"], shape: Shape::List },
    Tool {
        name: "dart",
        keys: &["version", "diagnostics.problemMessage", "diagnostics.location.file"],
        shape: Shape::Under("diagnostics"),
    },
    Tool { name: "protolint", keys: &["lints.filename", "lints.rule"], shape: Shape::Under("lints") },
    Tool { name: "protolint", keys: &["basedir", "lints"], shape: Shape::Under("lints") },
    Tool {
        name: "kube-linter",
        keys: &["Reports.Check", "Reports.Diagnostic.Message"],
        shape: Shape::Under("Reports"),
    },
    Tool { name: "kube-linter", keys: &["Checks", "Reports", "Summary.ChecksStatus"], shape: Shape::Under("Reports") },
    Tool { name: "redocly", keys: &["totals.errors", "problems", "version"], shape: Shape::Under("problems") },
    Tool {
        name: "terraform",
        keys: &["format_version", "valid", "error_count", "diagnostics"],
        shape: Shape::Under("diagnostics"),
    },
    Tool { name: "vnu", keys: &["messages.type", "messages.message", "messages.url"], shape: Shape::Under("messages") },
    Tool { name: "typos", keys: &["type", "path", "typo", "corrections"], shape: Shape::Lines("{\"type\":\"") },
    Tool {
        name: "deno",
        keys: &["diagnostics.filename", "diagnostics.range.start.bytePos"],
        shape: Shape::UnderBoth("diagnostics", "errors"),
    },
    Tool {
        name: "deno",
        keys: &["version", "diagnostics", "errors", "checked_files"],
        shape: Shape::UnderBoth("diagnostics", "errors"),
    },
    Tool { name: "buf", keys: &["path", "start_line", "type", "message"], shape: Shape::Lines("{\"path\":\"") },
];

impl Tool {
    fn of(head: &Head<'_>) -> Option<&'static Tool> {
        let is_clean = is_clean_vnu(head.text());
        TOOLS.iter().find(|tool| tool.keys.iter().all(|key| head.has_key(key)) || (is_clean && tool.name == "vnu"))
    }
}

/// Whether it is what the Nu Html Checker writes where it found nothing, `{"version":"26.9.27 (c6ba02c)","messages":[]}`: a
/// day and a commit. A version and no messages may be anybody's.
fn is_clean_vnu(text: &str) -> bool {
    let version =
        text.trim_start().strip_prefix("{\"version\":\"").and_then(|rest| rest.split_once("\",\"messages\":[]}"));
    let Some((day, commit)) = version.and_then(|(version, _)| version.split_once(' ')) else { return false };
    day.split('.').count() == 3 && day.split('.').all(is_number) && commit.starts_with('(') && commit.ends_with(')')
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Element {
    severity: Loose,
    message: Loose,
    /// Of Dart and Phan their message.
    #[serde(rename = "problemMessage")]
    problem: Loose,
    description: Loose,
    summary: Loose,
    typo: Loose,
    #[serde(alias = "ruleId", alias = "rule_name", alias = "check_name", alias = "Check")]
    code: Loose,
    /// Of protolint.
    rule: Loose,
    /// Of HLint its message.
    hint: Loose,
    level: Loose,
    #[serde(rename = "type")]
    kind: Loose,
    /// Of Spectral a list of keys.
    path: Loose,
    #[serde(alias = "filePath", alias = "filename", alias = "file_path", alias = "file")]
    source: Loose,
    #[serde(alias = "start_line", alias = "line_num", alias = "lastLine", alias = "startLine")]
    line: Loose,
    url: Loose,
    #[serde(rename = "subType")]
    sub_type: Loose,
    range: Option<Range>,
    /// Of Redocly a list.
    location: Option<First<Location>>,
    /// Of KubeLinter.
    #[serde(rename = "Diagnostic")]
    diagnostic: Diagnostic,
    #[serde(rename = "Object")]
    object: Object,
    ignored: Option<bool>,
    /// solhint's last element, which sums up.
    conclusion: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Range {
    filename: Loose,
    start: Position,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Position {
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    source: Source,
    start: Position,
    #[serde(alias = "path")]
    file: Loose,
    range: Option<Range>,
    lines: Lined,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Lined {
    begin: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Diagnostic {
    message: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Object {
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Metadata {
    file_path: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source {
    #[serde(rename = "ref")]
    reference: Loose,
}

/// The path of an address.
fn without(address: Loose, scheme: &str) -> Loose {
    let path = address.text().map(|address| address.strip_prefix(scheme).unwrap_or(&address).to_owned());
    path.map_or(Loose::Other, Loose::Text)
}

/// Counts an element, if it is one of the tool's.
fn count(tool: &Tool, findings: &mut Findings, element: Element) -> Result<bool> {
    let (level, told) = match tool.name {
        "spectral" => {
            let range = element.range.unwrap_or_default();
            let level = match element.severity.number() {
                Some(0) => Level::Error,
                Some(1) => Level::Warning,
                Some(2 | 3) => Level::Note,
                _ => return Ok(false),
            };
            let line = range.start.line.one_based();
            (level, Told { rule: element.code, path: element.source, line, message: element.message })
        }
        "typos" => {
            // It tells of files that it cannot read, too.
            if !element.typo.is_text() {
                return Ok(element.kind.is_text());
            }
            (Level::Error, Told { rule: Loose::Other, path: element.path, line: element.line, message: element.typo })
        }
        "vnu" => {
            let level = match (element.kind.text().as_deref(), element.sub_type.text().as_deref()) {
                (Some("error" | "non-document-error"), _) => Level::Error,
                (Some("info"), Some("warning")) => Level::Warning,
                (Some("info"), _) => Level::Note,
                _ => return Ok(false),
            };
            let path = without(element.url, "file:");
            (level, Told { rule: Loose::Other, path, line: element.line, message: element.message })
        }
        "buf" if element.kind.is_text() && element.message.is_text() => (
            Level::Error,
            Told { rule: element.kind, path: element.path, line: element.line, message: element.message },
        ),
        "redocly" | "terraform" | "solhint" | "markuplint" if element.severity.is_text() => {
            if element.ignored == Some(true) {
                findings.suppressed();
                return Ok(true);
            }
            let level = findings.level(element.severity.text().as_deref());
            let message = if element.message.is_text() { element.message } else { element.summary };
            let (path, line) = match (element.location.and_then(|first| first.0), element.range) {
                (Some(location), _) => (location.source.reference, location.start.line),
                (None, Some(range)) => (range.filename, range.start.line),
                (None, None) => (element.source, element.line),
            };
            (level, Told { rule: element.code, path, line, message })
        }
        "dart" if element.severity.is_text() => {
            let location = element.location.and_then(|first| first.0).unwrap_or_default();
            let line = location.range.unwrap_or_default().start.line;
            let level = findings.level(element.severity.text().as_deref());
            (level, Told { rule: element.code, path: location.file, line, message: element.problem })
        }
        "phan" => {
            let level = match element.severity.number() {
                Some(10..) => Level::Error,
                Some(5..) => Level::Warning,
                Some(_) => Level::Note,
                None => return Ok(false),
            };
            let location = element.location.and_then(|first| first.0).unwrap_or_default();
            let line = location.lines.begin;
            (level, Told { rule: element.code, path: location.file, line, message: element.description })
        }
        "protolint" if element.rule.is_text() => {
            // Before version 0.49 without one.
            let level = findings.level(element.severity.text().as_deref());
            (level, Told { rule: element.rule, path: element.source, line: element.line, message: element.message })
        }
        "kube-linter" if element.code.is_text() => {
            let (path, message) = (element.object.metadata.file_path, element.diagnostic.message);
            (Level::Error, Told { rule: element.code, path, line: Loose::Other, message })
        }
        "hlint" => {
            let level = match element.severity.text().as_deref() {
                Some("Error") => Level::Error,
                Some("Warning") => Level::Warning,
                Some("Suggestion") => Level::Note,
                Some("Ignore") => {
                    findings.suppressed();
                    return Ok(true);
                }
                _ => return Ok(false),
            };
            (level, Told { rule: Loose::Other, path: element.source, line: element.line, message: element.hint })
        }
        "squawk" if element.level.is_text() => {
            let level = findings.level(element.level.text().map(|level| level.to_lowercase()).as_deref());
            (
                level,
                Told {
                    rule: element.code,
                    path: element.source,
                    line: element.line.one_based(),
                    message: element.message,
                },
            )
        }
        "deno" if element.message.is_text() => {
            let line = element.range.unwrap_or_default().start.line;
            let path = without(element.source, "file://");
            (Level::Error, Told { rule: element.code, path, line, message: element.message })
        }
        "solhint" => return Ok(element.conclusion.is_text()),
        _ => return Ok(false),
    };
    findings.add(level, told)?;
    Ok(true)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let nobody_s = || foreign("no tool is known that writes such keys");
    let tool = Tool::of(&Head::read(input)?).ok_or_else(nobody_s)?;
    let mut findings = Findings::new(tool.name, Sort::Linter);
    let place = match tool.shape {
        Shape::List => Place::Top,
        Shape::Under(name) => Place::Under(name),
        Shape::UnderBoth(name, unread) => {
            elements(input, Place::Under(unread), |element| count(tool, &mut findings, element).map(drop))?;
            Place::Under(name)
        }
        Shape::Lines(begins) => {
            lines(input, &[begins], |element| count(tool, &mut findings, element))?;
            return findings.finish(&FORMAT);
        }
    };
    elements(input, place, |element| match count(tool, &mut findings, element)? {
        true => Ok(()),
        false => Err(foreign("an element has no severity, as the tool writes it")),
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn every_tool_has_its_place_level_and_rule() {
        for (text, figures, first) in [
            (
                r#"[{"code":"oas3-x","path":["paths"],"message":"m","severity":2,"range":{"start":{"line":0,"character":0}},"source":"/p/a.yaml"}]"#,
                [0, 0, 1],
                (Some("/p/a.yaml"), Some(1), Some("oas3-x"), "m"),
            ),
            (
                r#"[{"module":["A"],"severity":"Suggestion","hint":"m","file":"A.hs","startLine":3,"refactorings":"[]"},{"module":["A"],"severity":"Ignore","hint":"m","file":"A.hs","startLine":4,"refactorings":"[]"}]"#,
                [0, 0, 1],
                (Some("A.hs"), Some(3), None, "m"),
            ),
            (
                r#"[{"file":"a.sql","line":2,"column":0,"level":"Warning","message":"m","rule_name":"r"}]"#,
                [0, 1, 0],
                (Some("a.sql"), Some(3), Some("r"), "m"),
            ),
            (
                r#"{"version":1,"diagnostics":[{"filename":"file:///p/a.ts","range":{"start":{"line":3,"bytePos":1}},"message":"m","code":"no-var","hint":"h"}],"errors":[{"file_path":"b.ts","message":"No."}],"checked_files":[]}"#,
                [2, 0, 0],
                (Some("b.ts"), None, None, "No."),
            ),
            (
                r#"{"version":1,"diagnostics":[{"code":"unused_import","severity":"WARNING","type":"STATIC_WARNING","location":{"file":"/p/lib/a.dart",
                "range":{"start":{"offset":7,"line":3,"column":8},"end":{"offset":9,"line":3,"column":10}}},"problemMessage":"m","correctionMessage":"c"}]}"#,
                [0, 1, 0],
                (Some("/p/lib/a.dart"), Some(3), Some("unused_import"), "m"),
            ),
            (
                r#"[{"type":"issue","type_id":17000,"check_name":"PhanSyntaxError","description":"m","severity":10,"location":{"path":"src/a.php","lines":{"begin":3,"end":3}}},
                {"type":"issue","type_id":1,"check_name":"PhanUnusedVariable","description":"m","severity":0,"location":{"path":"src/a.php","lines":{"begin":4,"end":4}}}]"#,
                [1, 0, 1],
                (Some("src/a.php"), Some(3), Some("PhanSyntaxError"), "m"),
            ),
            (
                r#"{"basedir":"/p","lints":[{"filename":"a.proto","line":3,"column":1,"message":"m","rule":"INDENT","severity":"note"}]}"#,
                [0, 0, 1],
                (Some("a.proto"), Some(3), Some("INDENT"), "m"),
            ),
            (
                r#"{"lints":[{"filename":"a.proto","line":3,"column":1,"message":"m","rule":"INDENT"}]}"#,
                [1, 0, 0],
                (Some("a.proto"), Some(3), Some("INDENT"), "m"),
            ),
            (
                r#"{"Checks":[],"Reports":[{"Diagnostic":{"Message":"m"},"Check":"run-as-non-root","Remediation":"r","Object":{"Metadata":{"FilePath":"k8s/pod.yaml"}}}],
                "Summary":{"ChecksStatus":"Failed"}}"#,
                [1, 0, 0],
                (Some("k8s/pod.yaml"), None, Some("run-as-non-root"), "m"),
            ),
            (
                r#"[{"line":3,"column":1,"severity":"Warning","message":"m","ruleId":"r","fix":null,"filePath":"a.sol"},{"conclusion":"1 problem/s"}]"#,
                [0, 1, 0],
                (Some("a.sol"), Some(3), Some("r"), "m"),
            ),
            (
                r#"[{"severity":"error","message":"m","line":3,"col":1,"raw":"","ruleId":"r","filePath":"a.html"}]"#,
                [1, 0, 0],
                (Some("a.html"), Some(3), Some("r"), "m"),
            ),
            (
                r#"{"totals":{"errors":1,"warnings":0,"ignored":1},"version":"2.0","problems":[{"ruleId":"r","severity":"error","message":"m",
                "location":[{"source":{"ref":"a.yaml"},"start":{"line":3,"col":1}}]},{"severity":"error","ignored":true}]}"#,
                [1, 0, 0],
                (Some("a.yaml"), Some(3), Some("r"), "m"),
            ),
            (
                r#"{"format_version":"1.0","valid":false,"error_count":1,"warning_count":0,"diagnostics":[{"severity":"error",
                "summary":"Unsupported argument","detail":"d","range":{"filename":"main.tf","start":{"line":3,"column":1}}}]}"#,
                [1, 0, 0],
                (Some("main.tf"), Some(3), None, "Unsupported argument"),
            ),
            (
                "{\"type\":\"typo\",\"path\":\"w.txt\",\"line_num\":3,\"typo\":\"teh\",\"corrections\":[\"the\"]}\n{\"type\":\"binary_file\",\"path\":\"x\"}\n",
                [1, 0, 0],
                (Some("w.txt"), Some(3), None, "teh"),
            ),
            (
                r#"{"version":"26","messages":[{"type":"info","subType":"warning","url":"file:/p/a.html","lastLine":3,"message":"m"},{"type":"non-document-error","message":"x"}]}"#,
                [1, 1, 0],
                (Some("/p/a.html"), Some(3), None, "m"),
            ),
            (
                "{\"path\":\"a.proto\",\"start_line\":3,\"type\":\"ENUM_X\",\"message\":\"m\"}\n",
                [1, 0, 0],
                (Some("a.proto"), Some(3), Some("ENUM_X"), "m"),
            ),
        ] {
            let parsed = read(text).unwrap();
            let [errors, warnings, notes] = figures.map(Some);
            let found = &parsed.figures;
            assert_eq!([found.errors, found.warnings, found.notes], [errors, warnings, notes], "{text}");
            assert_eq!((parsed.format.name, first_finding(&parsed)), ("findings-json", first), "{text}");
        }
    }

    #[test]
    fn a_clean_run_is_zero_where_the_tool_says_so() {
        for text in [
            r#"{"format_version":"1.0","valid":true,"error_count":0,"warning_count":0,"diagnostics":[]}"#,
            r#"{"version":"26.9.27 (c6ba02c)","messages":[]}"#,
            r#"{"totals":{"errors":0,"warnings":0,"ignored":0},"version":"2.0","problems":[]}"#,
        ] {
            assert_eq!(read(text).unwrap().figures.total, Some(0), "{text}");
        }
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let line = "{\"path\":\"a.proto\",\"start_line\":3,\"type\":\"ENUM_X\",\"message\":\"m\"}";
        for (text, reject) in [
            (format!("{line}\n{}", line.get(..30).unwrap()), Reject::Malformed),
            (
                r#"[{"code":"x","severity":9,"range":{"start":{"line":0}},"source":"a"}]"#.to_owned(),
                Reject::NotThisFormat,
            ),
            ("[{\"a\":1}]".to_owned(), Reject::NotThisFormat),
            (r#"{"version":"1.2.3","messages":[]}"#.to_owned(), Reject::NotThisFormat),
        ] {
            let error = parse(&Input::bytes("x", text.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(reject), "{text}");
        }
    }
}
