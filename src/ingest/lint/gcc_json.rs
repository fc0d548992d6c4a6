//! `gcc-json`: GCC's diagnostics as JSON, from version 9 on; version 15 gave it up for SARIF.
//! <https://gcc.gnu.org/onlinedocs/gcc-14.2.0/gcc/Diagnostic-Message-Formatting-Options.html>
//!
//! Each compiler process writes one list to stderr, so that a build leaves many of them, with other output between. They
//! do not tell how many there should be.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Told, elements_of_all, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

/// GCC's JSON.
pub const FORMAT: Format = Format {
    name: "gcc-json",
    kind: ReportKind::Lint,
    about: "GCC's diagnostics, one JSON list for each file that was compiled",
    written_by: "gcc|g++|gfortran -fdiagnostics-format=json (9 to 14)",
    told_by: "a JSON list of objects with kind, locations, message and children",
    has_end: false,
    counting: "Diagnostics and their children by kind: errors of any sort; warnings; notes and the rest are notes.",
    sniff: |head| head.by_keys(&["kind", "message", "locations", "children"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    kind: Option<String>,
    message: Loose,
    option: Loose,
    locations: Option<Few<Location>>,
    children: Option<Few<Diagnostic>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    caret: Option<Caret>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Caret {
    file: Loose,
    line: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("gcc", Sort::Compiler);
    elements_of_all(input, |diagnostic: Diagnostic| {
        if diagnostic.kind.is_none() || diagnostic.locations.is_none() {
            return Err(foreign("not GCC's JSON: an element has no kind or no locations"));
        }
        count(diagnostic, &mut findings)
    })?;
    let parsed = findings.finish(&FORMAT)?;
    // One list without errors does not tell that all files were compiled.
    let build = (parsed.figures.errors > Some(0)).then_some(BuildStatus::Failed);
    Ok(Parsed { build, ..parsed })
}

/// As deep as the JSON may be, which is limited where it is read.
fn count(diagnostic: Diagnostic, findings: &mut Findings) -> Result<()> {
    let level = match diagnostic.kind.as_deref().unwrap_or_default() {
        // error, fatal error, internal compiler error, permerror
        kind if kind.ends_with("error") => Level::Error,
        kind if kind.starts_with("sorry") => Level::Error,
        "warning" | "pedwarn" => Level::Warning,
        _ => Level::Note,
    };
    let place = diagnostic.locations.unwrap_or_default().into_iter().find_map(|location| location.caret);
    let Caret { file: path, line } = place.unwrap_or_default();
    findings.add(level, Told { rule: diagnostic.option, path, line, message: diagnostic.message })?;
    diagnostic.children.unwrap_or_default().into_iter().try_for_each(|child| count(child, findings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    fn one(kind: &str, children: &str) -> String {
        format!(
            "{{\"kind\":\"{kind}\",\"message\":\"m\",\"option\":\"-Wx\",\"locations\":[{{}},{{\"caret\":{{\"file\":\"a.c\",\"line\":4}}}}],\"children\":[{children}]}}"
        )
    }

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn each_list_and_each_child_counts() {
        let text = format!("[{}]\nmake: x\n[]\n[{}]\n", one("error", &one("note", "")), one("warning", ""));
        let parsed = read(&text).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1); 3]);
        assert_eq!(parsed.build, Some(BuildStatus::Failed));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!((details.findings[0].path.as_deref(), details.findings[0].line), (Some("a.c"), Some(4)));
        assert_eq!(details.by_tool["gcc"].sort, Sort::Compiler);
    }

    #[test]
    fn kinds_are_levels() {
        for (kind, expected) in [
            ("fatal error", [1, 0, 0]),
            ("internal compiler error", [1, 0, 0]),
            ("sorry, unimplemented", [1, 0, 0]),
            ("pedwarn", [0, 1, 0]),
            ("anachronism", [0, 0, 1]),
        ] {
            let figures = read(&format!("[{}]", one(kind, ""))).unwrap().figures;
            assert_eq!([figures.errors, figures.warnings, figures.notes].map(Option::unwrap), expected, "{kind}");
        }
        assert_eq!(read("[]\n").unwrap().build, None);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        for (text, reject) in [
            (format!("[]\n[{}", one("error", "")), Reject::Malformed),
            ("[{\"kind\":\"error\"}]".to_owned(), Reject::NotThisFormat),
            ("{\"kind\":\"error\"}".to_owned(), Reject::NotThisFormat),
            ("m.c:3: error: x\n".to_owned(), Reject::NotThisFormat),
        ] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
