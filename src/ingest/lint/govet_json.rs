//! `govet-json`: `go vet -json`, one object a package. <https://pkg.go.dev/cmd/vet>
//!
//! Lines with `#` tell the package; one that does not compile has a line that begins with `vet:` instead of its object. It
//! has no end, and what was found is no failure: in this form `go vet` exits with 0.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Told, members_of_all};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// The JSON of go vet and of other drivers of Go's analysis framework.
pub const FORMAT: Format = Format {
    name: "govet-json",
    kind: ReportKind::Lint,
    about: "findings of go vet by package and analyzer",
    written_by: "go vet -json, and other programs of Go's analysis framework with -json",
    told_by: "lines with # and a package before JSON objects, or JSON objects with posn and message",
    has_end: false,
    counting: "Every finding of every analyzer is an error, and so are an analyzer that failed and a package that could not \
               be looked at (vet: …).",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let mut named = false;
    for line in head.lines().filter(|line| !line.trim().is_empty()) {
        let is_object = line.starts_with('{');
        if is_object && named && (line == "{" || line == "{}") {
            return Sniff::Sure("a JSON object after a line with # and a package".into());
        }
        // Since Go 1.27 no line names the package.
        if line == "{}" {
            continue;
        }
        if is_object {
            let has_finding = ["\"posn\":", "\"message\":"].iter().all(|key| head.text().contains(key));
            return if has_finding && line == "{" { Sniff::Sure("JSON with posn".into()) } else { Sniff::No };
        }
        named = line.strip_prefix("# ").is_some_and(is_package) || (named && line.starts_with("vet: "));
    }
    Sniff::No
}

/// `example.org/shop/calc`, `example.org/shop/calc [example.org/shop/calc.test]`.
fn is_package(text: &str) -> bool {
    let name = text.split(" [").next().unwrap_or_default();
    !name.is_empty() && !name.contains(char::is_whitespace)
}

/// What one analyzer says of one package.
#[derive(Deserialize)]
#[serde(untagged)]
enum Outcome {
    Findings(Vec<One>),
    Failed { error: String },
}

#[derive(Deserialize)]
struct One {
    posn: String,
    message: String,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("govet", Sort::Linter);
    let failures = failures(input)?;
    let read = members_of_all(input, |package: String, analyzers: BTreeMap<String, Outcome>| {
        for (analyzer, outcome) in analyzers {
            match outcome {
                Outcome::Findings(all) => all.into_iter().try_for_each(|one| {
                    let told = placed(&one.posn, &one.message);
                    findings.add(Level::Error, Told { rule: Loose::Text(analyzer.clone()), ..told })
                })?,
                Outcome::Failed { error } => {
                    let (rule, path, message) =
                        (Loose::Text(analyzer), Loose::Text(package.clone()), Loose::Text(error));
                    findings.add(Level::Error, Told { rule, path, message, line: Loose::Other })?;
                }
            }
        }
        Ok(())
    });
    match read {
        // No package compiles.
        Err(error) if error.reject() == Some(Reject::NotThisFormat) && !failures.is_empty() => {}
        read => read?,
    }
    failures.into_iter().try_for_each(|told| findings.add(Level::Error, told))?;
    findings.finish(&FORMAT)
}

/// The packages that could not be looked at.
fn failures(input: &Input<'_>) -> Result<Vec<Told>> {
    let mut failures = Vec::new();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::EscapedTwice)?;
    while let Some(line) = lines.next()? {
        let failure = line.text.strip_prefix("vet: ");
        if !line.ended && (failure.is_some() || line.text.starts_with('#') || "vet: ".starts_with(line.text.as_ref())) {
            return Err(Error::report(Reject::Malformed, "the report ends inside a line")
                .line(line.number)
                .help("the run was probably cut short; run it again"));
        }
        if let Some(failure) = failure {
            let (place, message) = failure.split_once(": ").unwrap_or(("", failure));
            failures.push(Told { message: Loose::Text(failure.to_owned()), ..placed(place, message) });
        }
    }
    Ok(failures)
}

/// What `path:line:column` tells.
fn placed(place: &str, message: &str) -> Told {
    let mut parts = place.rsplitn(3, ':');
    let numbers = [parts.next(), parts.next()].map(|part| part.and_then(|part| part.parse::<u64>().ok()));
    let message = Loose::Text(message.to_owned());
    match (parts.next(), numbers) {
        (Some(path), [Some(_), Some(line)]) => {
            Told { path: Loose::Text(path.to_owned()), line: Loose::Number(line), message, ..Told::default() }
        }
        _ => Told { message, ..Told::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    const PRINTF: &str =
        "# e.org/x\n{\n\t\"e.org/x\": {\n\t\t\"printf\": [\n{\"posn\": \"/w/x.go:7:13\", \"message\": \"m\"}]}}\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn packages_come_one_after_the_other() {
        let failed = "{\"e.org/y\": {\"tests\": {\"error\": \"boom\"}}}\n";
        let vet = "# e.org/z\nvet: z/z.go:3:12: undeclared name: f\n";
        let parsed = read(&format!("# e.org/ok\n{{}}\n{vet}{PRINTF}{failed}")).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(3), Some(3)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let places: Vec<_> = details.findings.iter().map(|one| (one.path.as_deref(), one.line)).collect();
        assert_eq!(places, [(Some("/w/x.go"), Some(7)), (Some("e.org/y"), None), (Some("z/z.go"), Some(3))]);
        assert_eq!(read("# e.org/ok\n{}\n").unwrap().figures.total, Some(0));
        assert_eq!(read(vet).unwrap().figures.errors, Some(1));
    }

    #[test]
    fn it_is_told_by_its_packages_or_positions() {
        let sniff = |text: &str| sniff(&Head::read(&Input::bytes("x", text.as_bytes())).unwrap());
        for sure in [PRINTF, "# e.org/ok\n{}\n", "# a [a.test]\nvet: x\n# b\n{}\n", PRINTF.split_once('\n').unwrap().1]
        {
            assert!(matches!(sniff(sure), Sniff::Sure(_)), "{sure}");
        }
        for no in ["{}\n", "# A heading\n{}\n", "# x\n{\"a\": 1}", "x\n{\n\"posn\": 1}"] {
            assert_eq!(sniff(no), Sniff::No, "{no}");
        }
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        for (text, reject) in [
            (PRINTF.get(..40).unwrap(), Reject::Malformed),
            ("# a\n{}\n# b", Reject::Malformed),
            ("# a\n{}\nvet: b.go:1", Reject::Malformed),
            ("{\"a\":{\"b\":[{\"posn\":1}]}}", Reject::Malformed),
            ("ok\n", Reject::NotThisFormat),
            ("[]\n", Reject::NotThisFormat),
        ] {
            assert_eq!(read(text).map(|parsed| parsed.figures).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
