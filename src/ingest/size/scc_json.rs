//! `scc-json`: what `scc --format json` and `--format json2` write, by language. Written after its definition, the fields of
//! `LanguageSummary` and the output formats in scc's README, of version 3.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::Sizes;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::figures::ReportKind;

/// JSON of scc.
pub const FORMAT: Format = Format {
    name: "scc-json",
    kind: ReportKind::Size,
    about: "scc JSON: code, comments and blank lines of each language",
    written_by: "scc --format json, scc --format json2",
    told_by: "a JSON list of objects with Name, Lines, Code, Comment, Blank and Complexity, or such a list under \
              languageSummary",
    has_end: true,
    counting: "Lines, Code, Comment, Blank and Count of the languages, added up. The files of --by-file are the same \
               once more. Complexity is a count of branching keywords, not of functions, and is left out.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_all = |prefix: &str| {
        let names = ["Name", "Lines", "Code", "Comment", "Blank", "Complexity"];
        names.iter().all(|name| head.has_key(&format!("{prefix}{name}")))
    };
    if has_all("") {
        return Sniff::Sure("languages with Lines, Code, Comment, Blank and Complexity".into());
    }
    let is_empty = || head.has_key("languageSummary") && head.has_key("estimatedCost");
    if has_all("languageSummary.") || is_empty() {
        return Sniff::Sure("key languageSummary".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Language {
    name: String,
    count: u64,
    lines: u64,
    code: u64,
    comment: u64,
    blank: u64,
}

/// `json` is the list alone, `json2` has it beside an estimate of costs.
struct Languages(Few<Language>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    language_summary: Option<Few<Language>>,
}

impl<'de> Deserialize<'de> for Languages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Languages, D::Error> {
        deserializer.deserialize_any(LanguagesVisitor)
    }
}

struct LanguagesVisitor;

impl<'de> Visitor<'de> for LanguagesVisitor {
    type Value = Languages;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of languages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Languages, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(Languages)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Languages, A::Error> {
        let summary: Summary = Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Languages(summary.language_summary.unwrap_or_default()))
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let Languages(languages) = json::document(input, PhantomData)?;
    let mut sizes = Sizes::default();
    let mut all_lines = 0;
    for language in languages {
        let Language { name, count: files, lines, code, comment: comments, blank: blanks } = language;
        if [code, comments, blanks].iter().any(|part| *part > lines) {
            let why = format!("{:?} has more lines of a sort than lines", printable(&name, 40));
            return Err(Error::report(Reject::Malformed, why));
        }
        all_lines = add(all_lines, lines)?;
        sizes.add(Sizes { files, code, comments, blanks })?;
    }
    let mut parsed = sizes.finish(&FORMAT);
    parsed.figures.lines = Some(all_lines);
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    const GO: &str = r#"{"Name":"Go","Bytes":90,"Lines":10,"Code":6,"Comment":1,"Blank":3,"Complexity":2,"Count":2,"WeightedComplexity":0,
        "Files":[{"Language":"Go","Location":"a.go","Lines":4,"Code":2,"Comment":1,"Blank":1}],"LineLength":null}"#;

    #[test]
    fn languages_add_up_with_and_without_the_estimate() {
        let list = format!("[{GO},{}]", GO.replace("\"Go\"", "\"C\""));
        let summary = format!(r#"{{"languageSummary":{list},"estimatedCost":12.5,"estimatedPeople":0.1}}"#);
        for text in [list, summary] {
            let head = Head::read(&Input::bytes("x", text.as_bytes())).unwrap();
            assert!(matches!(sniff(&head), Sniff::Sure(_)));
            let counts: Vec<u64> = read(&text).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect();
            assert_eq!(counts, [4, 20, 12, 2, 6], "files, lines, code, comments, blanks");
        }
        for none in ["[]", r#"{"languageSummary":null,"estimatedCost":0}"#] {
            assert_eq!(read(none).unwrap().figures.lines, Some(0), "{none}");
        }
    }

    #[test]
    fn what_is_no_language_is_refused() {
        for bad in ["[{}]", "[", r#"[{"Name":"Go"}]"#, &format!("[{}]", GO.replace(":6,", ":6.5,")), &format!("[{GO}")]
        {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        let more = read(&format!("[{}]", GO.replace("\"Code\":6", "\"Code\":11"))).unwrap_err();
        assert_eq!(more.message, "\"Go\" has more lines of a sort than lines");
        assert_eq!(read("no json").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
