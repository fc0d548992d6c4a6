//! `govet-text`: what go vet and tools after it print.
//!
//! Written after go vet: `# package` above `path.go:line:column: message`; `vet: path.go:…` where the package does not
//! type-check. What Go's compiler says, whoever prints it, is told by its words, and keeps the package from being built;
//! it has the name that golangci-lint gives it. staticcheck adds its check in brackets, golangci-lint its linter. Where
//! nothing is found, golangci-lint since version 2 says so, the others print nothing; it has no end.

use super::brief_checkers::MISSPELLED;
use super::lines::{Claim, TextReader, bracketed, finding, is_code, is_of_another, placed, read};
use super::{LintTally, sort_of};
use crate::error::Result;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// go vet's output.
pub const FORMAT: Format = Format {
    name: "govet-text",
    kind: ReportKind::Lint,
    about: "terminal output of go vet, go build, staticcheck or golangci-lint",
    written_by: "go vet, go build, staticcheck, golangci-lint run, golint, revive",
    told_by: "\"a.go:7:2: …\", below \"# package\"",
    has_end: false,
    counting: "Each line with a place in a Go file is an error.",
    sniff,
    parse: |input| read::<Reader>(input, "go vet"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    // `go vet -json` heads its objects with the same `# package` lines.
    if (super::govet_json::FORMAT.sniff)(head) != Sniff::No {
        return Sniff::No;
    }
    let (mut is_sure, mut is_there) = (false, false);
    for line in head.lines() {
        let is_alone = line.strip_prefix("exit status ").is_some_and(|code| code.parse::<u8>().is_ok());
        is_sure |= is_alone || line.starts_with("# ");
        if let Some(found) = finding_of(line) {
            is_there = true;
            is_sure |= found.is_certain;
        }
    }
    // Programs log so, too, without a column.
    match (is_there && !is_of_another(head), is_sure) {
        (false, _) if head.lines().any(|line| line == NONE) && !is_of_another(head) => {
            Sniff::Maybe("a line with which golangci-lint ends".into())
        }
        (false, _) => Sniff::No,
        (true, true) => Sniff::Sure("findings in Go files as go vet prints them".into()),
        (true, false) => Sniff::Maybe("lines that begin with a place in a Go file".into()),
    }
}

/// What golangci-lint says when it finds nothing.
const NONE: &str = "0 issues.";

/// What golangci-lint calls Go's compiler.
const TYPECHECK: &str = "typecheck";

/// How messages of Go's compiler begin (`go/types`, `cmd/compile/internal/syntax`).
const COMPILER_BEGINS: [&str; 33] = [
    "undefined: ",
    "undeclared name: ",
    "syntax error: ",
    "declared and not used: ",
    "imported and not used: ",
    "cannot use ",
    "cannot assign to ",
    "cannot call ",
    "cannot convert ",
    "cannot infer ",
    "cannot range over ",
    "cannot refer to unexported ",
    "cannot index ",
    "cannot slice ",
    "could not import ",
    "no required module provides package ",
    "import cycle not allowed",
    "initialization cycle",
    "invalid operation: ",
    "invalid argument: ",
    "invalid recursive type",
    "invalid composite literal type ",
    "assignment mismatch: ",
    "not enough arguments in ",
    "too many arguments in ",
    "not enough return values",
    "too many return values",
    "missing return",
    "no new variables on left side of :=",
    "duplicate case ",
    "unknown field ",
    "impossible type ",
    "too many errors",
];

/// What stands in others of them.
const COMPILER_HOLDS: [&str; 13] = [
    " declared and not used",
    " declared but not used",
    " imported and not used",
    " imported but not used",
    " redeclared in this block",
    " undefined (type ",
    " does not implement ",
    " is not a type",
    " has no field or method ",
    " (untyped ",
    " used as value",
    " is not in std",
    ") is not used",
];

fn is_of_compiler(message: &str) -> bool {
    COMPILER_BEGINS.iter().any(|begin| message.starts_with(begin))
        || COMPILER_HOLDS.iter().any(|words| message.contains(words))
}

struct Found<'a> {
    tool: &'static str,
    path: &'a str,
    line: Option<u64>,
    message: &'a str,
    check: Option<&'a str>,
    is_certain: bool,
}

fn finding_of(text: &str) -> Option<Found<'_>> {
    let unvetted = text.strip_prefix("vet: ");
    let place = placed(unvetted.unwrap_or(text)).filter(|place| place.is_a(&["go", "s"]) && !place.rest.is_empty())?;
    // gocyclo puts the place last: `15 main main a.go:12:1`; misspell reads more than Go.
    if place.rest.bytes().all(|byte| byte.is_ascii_digit()) || place.rest.contains(MISSPELLED) {
        return None;
    }
    let is_linter = |check: &str| check.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let (message, tool, check) = match bracketed(place.rest, '(', ')') {
        Some((message, check)) if is_code(check, 1..=2, 4..=4) => (message, "staticcheck", Some(check)),
        // The latter is staticcheck's.
        Some((message, "typecheck" | "compile")) => (message, TYPECHECK, None),
        Some((message, check)) if is_linter(check) => (message, "golangci-lint", Some(check)),
        _ if unvetted.is_some() || is_of_compiler(place.rest) => (place.rest, TYPECHECK, None),
        _ => (place.rest, "govet", None),
    };
    let is_certain = unvetted.is_some() || place.has_column;
    Some(Found { tool, path: place.path, line: place.line, message, check, is_certain })
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if text == NONE {
            self.tally.tool("golangci-lint", Sort::Linter);
        }
        let Some(found) = finding_of(text) else { return Ok(()) };
        let finding = finding(found.tool, Level::Error, (Some(found.path), found.line), found.check, found.message);
        self.tally.finding(finding, sort_of(found.tool))
    }

    fn claim(&self, text: &str) -> Claim {
        match finding_of(text) {
            Some(found) if found.is_certain || found.check.is_some() => Claim::Ours,
            Some(_) => Claim::Alike,
            None if text == NONE => Claim::Last,
            None => Claim::Other,
        }
    }

    fn other(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn is_whole(&self, text: &str) -> bool {
        let is_status = || text.strip_prefix("exit status ").is_some_and(|code| code.parse::<u8>().is_ok());
        is_status() || text == NONE || finding_of(text).is_some_and(|found| found.check.is_some())
    }

    fn tells_all(&self, text: &str) -> bool {
        finding_of(text).is_some()
    }

    fn finish(self) -> Result<Option<Parsed>> {
        self.tally.finish_found(&FORMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    fn sniffed(text: &str) -> Sniff {
        sniff(&Head::read(&Input::bytes("x", text.as_bytes())).unwrap())
    }

    #[test]
    fn a_place_alone_is_no_finding() {
        assert!(finding_of("15 main main a.go:12:1").is_none() && finding_of("a.go:12:1: x").is_some());
    }

    #[test]
    fn each_line_with_a_place_is_an_error() {
        let text = "\
# example.org/shop/calc
calc/calc.go:7:2: self-assignment of x to x
\tat some length
vet: ./main.go:3:8: undeclared name: nope
buildtag.go:7: possible malformed +build comment
test.go:9:9: empty branch (SA9003)
main.go:7:2: `err` is not checked (errcheck)
main.go:9: cannot use x (untyped int)
exit status 1
";
        let parsed = parsed(text).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(6), Some(6)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> =
            details.findings.iter().map(|f| (f.tool.as_str(), f.path.as_deref().unwrap(), f.line)).collect();
        assert_eq!(
            told,
            [
                ("govet", "calc/calc.go", Some(7)),
                ("typecheck", "./main.go", Some(3)),
                ("govet", "buildtag.go", Some(7)),
                ("staticcheck", "test.go", Some(9)),
                ("golangci-lint", "main.go", Some(7)),
                ("typecheck", "main.go", Some(9)),
            ]
        );
    }

    #[test]
    fn what_keeps_a_package_from_being_built_is_the_compiler_s() {
        for (message, tool) in [
            ("undefined: y", TYPECHECK),
            ("x declared and not used", TYPECHECK),
            ("\"os\" imported and not used", TYPECHECK),
            ("s.x undefined (type S has no field or method x)", TYPECHECK),
            ("syntax error: unexpected newline, expected )", TYPECHECK),
            ("undefined: y (compile)", TYPECHECK),
            ("undefined: y (typecheck)", TYPECHECK),
            ("result of fmt.Sprintf call not used", "govet"),
            ("fmt.Printf format %d has arg \"x\" of wrong type string", "govet"),
            ("unreachable code", "govet"),
            ("this value of err is never used (SA4006)", "staticcheck"),
        ] {
            let text = format!("./a.go:2:30: {message}");
            assert_eq!(finding_of(&text).unwrap().tool, tool, "{message}");
        }
        let Details::Lint(details) = parsed("# x\nvet: ./a.go:2:3: y\na.go:1:2: self-assignment\n").unwrap().details
        else {
            panic!("lint")
        };
        let sorts: Vec<_> = details.by_tool.iter().map(|(tool, counts)| (tool.as_str(), counts.sort)).collect();
        assert_eq!(sorts, [("govet", Sort::Linter), (TYPECHECK, Sort::Compiler)]);
    }

    #[test]
    fn the_output_of_tests_and_of_programs_is_not_taken_for_it() {
        assert!(matches!(sniffed("# a\na.go:7: x\n"), Sniff::Sure(_)));
        assert!(matches!(sniffed("a.go:7: starting\n"), Sniff::Maybe(_)));
        assert_eq!(sniffed("# a\n./a.go:7:2: undefined: x\nFAIL\ta [build failed]\n"), Sniff::No);
        assert_eq!(sniffed("--- FAIL: TestX (0.00s)\n    a_test.go:7: x\na.go:1:1: y\n"), Sniff::No);
        assert_eq!(sniffed("# title\n"), Sniff::No);
        assert!(matches!(sniffed("0 issues.\n"), Sniff::Maybe(_)));
        assert_eq!(parsed("0 issues.\n").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let one = "a.go:7:2: x\n";
        assert_eq!(parsed(&format!("{one}b.go:7:2")).unwrap_err().reject(), Some(Reject::Malformed));
        let open = parsed(&format!("{one}b.go:7:2: unreachable code")).unwrap();
        assert_eq!((open.figures.errors, open.warnings.len()), (Some(2), 1));
        assert!(parsed(&format!("{one}exit status 1")).is_ok());
        assert_eq!(parsed("ok\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
