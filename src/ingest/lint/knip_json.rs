//! `knip-json`: Knip's reporter `json`. <https://knip.dev/features/reporters#json>
//!
//! Files with a list for each sort of what is not used or not there. Before Knip 6 files that are not used stand in a list
//! of names of their own, and members of enums and classes in objects.

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::{Few, Unique};
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Knip's JSON.
pub const FORMAT: Format = Format {
    name: "knip-json",
    kind: ReportKind::Lint,
    about: "Knip's issues: files, exports and dependencies that are not used or not there",
    written_by: "knip --reporter json",
    told_by: "a JSON object with issues, of which each has file, dependencies, devDependencies and unlisted",
    has_end: true,
    counting: "Each name in a list is an error, and so is each file that is not used; exports that are the same count once.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_issue = ["file", "dependencies", "unlisted"].iter().all(|key| head.has_key(&format!("issues.{key}")));
    // Where nothing was found, there are two lists.
    let is_clean = head.has_only(&["files", "issues"]);
    match has_issue || is_clean {
        true => Sniff::Sure("keys issues and unlisted, as Knip writes them".into()),
        false => Sniff::No,
    }
}

/// What stands under a key of an issue.
#[derive(Deserialize)]
#[serde(untagged)]
enum Member {
    File(String),
    Names(OfAFile<Name>),
    /// By enum, class or namespace.
    Groups(Unique<OfAFile<Name>>),
    Other(IgnoredAny),
}

/// What is not used or not there.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    /// Exports that are the same.
    Same(Few<Named, 10_000>),
    One(Named),
    Other(IgnoredAny),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: Loose,
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    files: Option<OfAFile<String>>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("knip", Sort::Linter);
    elements(input, Place::Under("issues"), |Unique(mut issue): Unique<Member>| {
        let Some(Member::File(path)) = issue.remove("file") else {
            return Err(foreign("not a report of Knip: an issue has no file"));
        };
        // Whose it is, not what is wrong with it.
        issue.remove("owners");
        for (sort, member) in issue {
            let names = match member {
                Member::Names(names) => names.0,
                Member::Groups(Unique(groups)) => groups.into_values().flat_map(|names| names.0).collect(),
                Member::File(_) | Member::Other(_) => continue,
            };
            names.into_iter().try_for_each(|name| add(&mut findings, &sort, &path, name))?;
        }
        Ok(())
    })?;
    for path in json::object(input, PhantomData::<Document>)?.files.unwrap_or_default() {
        findings.add(
            Level::Error,
            Told { rule: Loose::Text("files".into()), path: Loose::Text(path), ..Told::default() },
        )?;
    }
    findings.finish(&FORMAT)
}

fn add(findings: &mut Findings, sort: &str, path: &str, name: Name) -> Result<()> {
    let Named { name, line } = match name {
        Name::One(name) => name,
        Name::Same(names) => names.into_iter().next().unwrap_or_default(),
        Name::Other(_) => Named::default(),
    };
    let (rule, path) = (Loose::Text(sort.to_owned()), Loose::Text(path.to_owned()));
    findings.add(Level::Error, Told { rule, path, line, message: name })
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
    fn each_name_is_an_error_at_its_file() {
        let text = r#"{"issues":[{"file":"src/b.js","owners":[{"name":"@me"}],"dependencies":[],"unlisted":[],"exports":[{"name":"foo","line":1,"col":9,"pos":8}],
            "duplicates":[[{"name":"a"},{"name":"b"}]],"enumMembers":{"E":[{"name":"X","line":3}],"F":[]}},
            {"file":"package.json","dependencies":[{"name":"left-pad"}],"unlisted":[]}]}"#;
        let parsed = read(text).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(4), Some(4)));
        let Some(crate::ingest::Details::Lint(details)) = Some(parsed.details) else { panic!("lint") };
        let told = |at: usize| (details.findings[at].rule.as_deref(), details.findings[at].message.as_str());
        assert_eq!([told(0), told(2)], [(Some("duplicates"), "a"), (Some("exports"), "foo")]);
    }

    #[test]
    fn files_stand_apart_before_version_6() {
        let parsed = read(
            r#"{"files":["src/orphan.ts"],"issues":[{"file":"a.ts","dependencies":[],"unlisted":[{"name":"x"}]}]}"#,
        )
        .unwrap();
        assert_eq!(parsed.figures.errors, Some(2));
        let parsed = read(r#"{"files":["src/orphan.ts"],"issues":[]}"#).unwrap();
        assert_eq!(first_finding(&parsed), (Some("src/orphan.ts"), None, Some("files"), "files"));
        for other in ["{\"issues\":[{\"key\":1}]}", "{\"files\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
