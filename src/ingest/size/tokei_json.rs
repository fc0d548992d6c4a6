//! `tokei-json`: what `tokei --output json` writes: each language with its files, and what is embedded in them (styles in a
//! page, prose in doc comments) by language. It does not tell lines in all.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Sizes, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Entries, Fault, Nested, take};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::{Few, Unique};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// JSON of tokei.
pub const FORMAT: Format = Format {
    name: "tokei-json",
    kind: ReportKind::Size,
    about: "tokei JSON: code, comments and blank lines of each language",
    written_by: "tokei --output json",
    told_by: "JSON objects by language with blanks, code, comments and reports",
    has_end: true,
    counting: "Each language's own lines and those embedded in its files. Total is only compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // Old versions wrap it in `inner`.
    let language = head.keys().iter().find(|key| *key != "inner").map(String::as_str).unwrap_or_default();
    let has = |name: &&str| head.has_key(&format!("{language}.{name}"));
    let has_lines = ["blanks", "code", "comments"].iter().all(has);
    match ["reports", "stats", "inaccurate", "children"].iter().find(|name| has(name)) {
        Some(name) if has_lines => Sniff::Sure(format!("a language with blanks, code, comments and {name}")),
        _ => Sniff::No,
    }
}

#[derive(Deserialize)]
struct Language {
    code: u64,
    comments: u64,
    blanks: u64,
    /// One a file; older versions name them `stats`.
    #[serde(alias = "stats")]
    reports: Vec<IgnoredAny>,
    #[serde(default)]
    children: Unique<Few<Report>>,
}

/// What one file has of a language.
#[derive(Deserialize)]
struct Report {
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    code: u64,
    comments: u64,
    blanks: u64,
    /// What is embedded in what is embedded.
    #[serde(default)]
    blobs: Unique<Stats>,
}

/// What was read so far.
#[derive(Default)]
struct Read {
    has_language: bool,
    /// Old versions list files only if they are asked to.
    has_unnamed: bool,
    sizes: Sizes,
    /// What Total says.
    said: Option<Sizes>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (fault, read) = (&Fault::default(), &RefCell::new(Read::default()));
    let language = |name: String| Ok(take(fault, move |language: Language| read.borrow_mut().take(&name, &language)));
    let of = |name: String| match name.as_str() {
        "inner" => Ok(Nested::Many(Entries { of: language, fault })),
        _ => language(name).map(Nested::One),
    };
    fault.ours(json::object(input, Entries { of, fault }))?;
    let Read { has_language, has_unnamed, sizes, said } = read.take();
    if !has_language {
        return Err(Error::report(Reject::NotThisFormat, "not a report of tokei: it has no language"));
    }
    let mut parsed = sizes.finish(&FORMAT);
    if has_unnamed {
        parsed.figures.files = None;
    }
    if let Some(said) = said {
        compare_declared(&mut parsed, said);
    }
    Ok(parsed)
}

impl Read {
    fn take(&mut self, name: &str, language: &Language) -> Result<()> {
        self.has_language = true;
        let Language { code, comments, blanks, .. } = *language;
        if name == "Total" {
            self.said = Some(Sizes { files: 0, code, comments, blanks });
            return Ok(());
        }
        let files = u64::try_from(language.reports.len()).unwrap_or(u64::MAX);
        self.has_unnamed |= files == 0 && code > 0;
        self.sizes.add(Sizes { files, code, comments, blanks })?;
        let embedding = language.children.0.values().flat_map(|reports| &reports.0);
        embedding.into_iter().try_for_each(|report| embedded(&report.stats, &mut self.sizes))
    }
}

/// As deep as JSON goes, which has its limit.
fn embedded(stats: &Stats, sizes: &mut Sizes) -> Result<()> {
    let Stats { code, comments, blanks, .. } = *stats;
    sizes.add(Sizes { files: 0, code, comments, blanks })?;
    stats.blobs.0.values().try_for_each(|inner| embedded(inner, sizes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn what_is_embedded_belongs_to_its_language() {
        let stats = |blobs: &str| format!(r#"{{"blanks":1,"code":2,"comments":3,"blobs":{{{blobs}}}}}"#);
        let inner = stats(&format!(r#""CSS":{}"#, stats("")));
        let html = format!(
            r#""HTML":{{"blanks":10,"code":20,"comments":30,"reports":[{{"name":"a","stats":{inner}}}],"children":{{"JS":[{{"name":"a","stats":{inner}}}]}},"inaccurate":false}}"#
        );
        let parsed = read(&format!("{{{html}}}")).unwrap();
        let counts: Vec<u64> = parsed.figures.counts().into_iter().map(|(_, count)| count).collect();
        assert_eq!((counts, parsed.warnings.len()), (vec![1, 24, 36, 12], 0));
        let total = r#""Total":{"blanks":12,"code":20,"comments":36,"reports":[],"children":{}}"#;
        assert_eq!(read(&format!("{{{html},{total}}}")).unwrap().warnings.len(), 1);
    }

    #[test]
    fn what_is_no_language_is_refused() {
        assert_eq!(read("{}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let two = r#"{"C":{"code":1,"comments":0,"blanks":0,"reports":[]},"C":{"code":1,"comments":0,"blanks":0,"reports":[]}}"#;
        for bad in [r#"{"C":{"code":1}}"#, two, r#"{"C":{"code":-1,"comments":0,"blanks":0,"reports":[]}}"#] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        let old = r#"{"C":{"code":1,"comments":0,"blanks":0,"lines":1,"stats":[{"name":"a.c","code":1}],"inaccurate":false}}"#;
        assert_eq!(read(old).unwrap().figures.files, Some(1));
        let unnamed = old.replace(r#"{"name":"a.c","code":1}"#, "");
        let figures = read(&format!(r#"{{"inner":{unnamed}}}"#)).unwrap().figures;
        assert_eq!((figures.files, figures.code), (None, Some(1)));
    }
}
