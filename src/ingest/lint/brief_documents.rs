//! Lines of those who look at documents, settings and dependencies, for `brief-text`: Redocly, Spectral (`text`), doc8,
//! proselint, mdformat, cmakelint, check-jsonschema, buf and protoc, protolint, haml-lint, dotenv-linter, KubeLinter, Madge,
//! dependency-cruiser, Checkov and Gitleaks, docutils, xmllint, Tidy, Asciidoctor, MkDocs, Pylama, Prospector and Import Linter.
//! What haml-lint, KubeLinter, Gitleaks, protoc and protolint print is written after their sources.

use super::brief_advisories::Counted;
use super::brief_text::Told;
use super::findings_json::level_of;
use super::lines::{Placed, bare_place, bracketed, is_class_name, is_code, is_path};
use crate::ingest::Level;
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    if text.starts_with(' ') {
        return check_jsonschema(text).or_else(|| prospector(text));
    }
    let readers = [
        redocly,
        mdformat,
        spectral,
        haml_lint,
        dotenv_linter,
        protolint,
        kube_linter,
        tidy,
        asciidoctor,
        mkdocs,
        cfn_lint_pretty,
        cfn_lint_quiet,
    ];
    readers.iter().find_map(|read| read(text))
}

/// Whether a last line is a whole one: Spectral ends its last with no line end.
pub(super) fn is_whole(text: &str) -> bool {
    spectral(text).is_some()
}

/// What a line tells that begins with a place.
pub(super) fn at_place<'a>(text: &str, place: &Placed<'a>) -> Option<Told<'a>> {
    let told = |tool, rule, message| Some(Told::error(tool, (place.path, place.line), rule, message));
    let is_snake = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.'));
    if place.has_column && place.is_a(&["proto"]) {
        // protoc leaves a blank before its message.
        let is_apart =
            text.len().checked_sub(place.rest.len() + 1).and_then(|at| text.as_bytes().get(at)) == Some(&b' ');
        return told(if is_apart { "protoc" } else { "buf" }, None, place.rest);
    }
    if let Some((level, message)) = docutils(place).or_else(|| xmllint(place)) {
        let tool = if place.rest.starts_with('(') { "docutils" } else { "xmllint" };
        return Some(Told { level, ..Told::error(tool, (place.path, place.line), None, message) });
    }
    if let Some((level, code, message)) = cfn_lint(place) {
        return Some(Told { level, ..Told::error("cfn-lint", (place.path, place.line), Some(code), message) });
    }
    if let Some((code, message)) = pylama(place) {
        return told("pylama", Some(code), message);
    }
    if let Some((code, message)) = robocop(place) {
        return told("robocop", Some(code), message);
    }
    if let Some((code, message)) = bashate(place) {
        return told("bashate", Some(code), message);
    }
    if !place.has_column && place.is_a(&["rst", "txt"]) {
        let (code, message) = place.rest.split_once(' ')?;
        if code.starts_with('D') && is_code(code, 1..=1, 3..=3) {
            return told("doc8", Some(code), message);
        }
    }
    if !place.has_column && (place.path.ends_with("CMakeLists.txt") || place.is_a(&["cmake"])) {
        let (message, rule) = bracketed(place.rest, '[', ']').filter(|(_, rule)| rule.contains('/'))?;
        return told("cmakelint", Some(rule), message);
    }
    let (check, message) = place.rest.split_once(": ").filter(|(check, _)| is_snake(check))?;
    let is_prose = place.has_column && place.is_a(&["md", "markdown", "rst", "txt", "tex"]);
    (is_prose && level_of(check).is_none()).then(|| told("proselint", Some(check), message))?
}

/// Level and message of `a.rst:4: (ERROR/3) Unknown directive type "nope".`, as rstcheck and docutils' own programs print it.
fn docutils<'a>(place: &Placed<'a>) -> Option<(Level, &'a str)> {
    let (word, message) = place.rest.strip_prefix('(')?.split_once(") ")?;
    let level = match word {
        "SEVERE/4" | "ERROR/3" => Level::Error,
        "WARNING/2" => Level::Warning,
        "INFO/1" => Level::Note,
        _ => return None,
    };
    Some((level, message))
}

/// Level and message of `a.xml:3: parser error : Opening and ending tag mismatch`.
fn xmllint<'a>(place: &Placed<'a>) -> Option<(Level, &'a str)> {
    let (kind, message) = split_at(place.rest, " : ")?;
    let (part, level) = match kind.strip_suffix(" error") {
        Some(part) => (part, Level::Error),
        None => (kind.strip_suffix(" warning")?, Level::Warning),
    };
    let parts =
        ["parser", "validity", "namespace", "Schemas validity", "Schemas parser", "Relax-NG validity", "XInclude"];
    (!place.has_column && parts.contains(&part)).then_some((level, message))
}

/// Code and message of `a.py:1:1 W0611 'os' imported but unused [pyflakes]`.
fn pylama<'a>(place: &Placed<'a>) -> Option<(&'a str, &'a str)> {
    let linters = [
        "pyflakes",
        "pycodestyle",
        "pydocstyle",
        "pylint",
        "mccabe",
        "mypy",
        "radon",
        "eradicate",
        "vulture",
        "isort",
        "pylama",
    ];
    let (message, _) = bracketed(place.rest, '[', ']').filter(|(_, linter)| linters.contains(linter))?;
    let (_, rest) = leading_in(message).filter(|_| place.is_a(&["py", "pyi"]))?;
    // A file that cannot be parsed has no code.
    match rest.strip_prefix("  SyntaxError: ") {
        Some(message) => Some(("SyntaxError", message)),
        None => rest.strip_prefix(' ')?.split_once(' ').filter(|(code, _)| is_code(code, 1..=4, 1..=5)),
    }
}

/// Code and message of robocop's `t.robot:9:1 DOC02 Missing documentation in 'Adds' test case`.
fn robocop<'a>(place: &Placed<'a>) -> Option<(&'a str, &'a str)> {
    let (_, rest) = leading_in(place.rest).filter(|_| place.is_a(&["robot", "resource"]))?;
    rest.strip_prefix(' ')?.split_once(' ').filter(|(code, _)| is_code(code, 1..=6, 2..=2))
}

/// Code and message of bashate's `s.sh:2:1: E003 Indent not multiple of 4`.
fn bashate<'a>(place: &Placed<'a>) -> Option<(&'a str, &'a str)> {
    let is_shell = place.has_column && place.is_a(&["sh", "bash"]);
    place.rest.split_once(' ').filter(|(code, _)| is_shell && code.starts_with('E') && is_code(code, 1..=1, 3..=3))
}

/// Below `  Line: 10` Prospector's `    pylint: eval-used / Use of eval`, and in its format `text` `    L5:1 f: pycodestyle - E305`.
fn prospector(text: &str) -> Option<Told<'_>> {
    let text = text.strip_prefix("    ")?;
    let tools = [
        "pylint",
        "pycodestyle",
        "pyflakes",
        "pydocstyle",
        "mccabe",
        "dodgy",
        "bandit",
        "mypy",
        "pyright",
        "ruff",
        "vulture",
        "pyroma",
    ];
    if let Some((place, rest)) = text.strip_prefix('L').and_then(|text| text.split_once(' ')) {
        // `-` stands for what is not known.
        let (line, _) = place.split_once(':')?;
        let (_, rule) = rest.rsplit_once(": ")?.1.split_once(" - ").filter(|(tool, _)| tools.contains(tool))?;
        let line = line.parse().ok().filter(|line| *line > 0);
        return Some(Told { path: None, ..Told::error("prospector", ("", line), Some(rule), rule) });
    }
    let (tool, rest) = text.split_once(": ")?;
    let (rule, message) = rest.split_once(" / ").filter(|(rule, _)| tools.contains(&tool) && !rule.contains(' '))?;
    Some(Told { path: None, ..Told::error("prospector", ("", None), Some(rule), message) })
}

/// `line 5 column 15 - Warning: missing </div>`, of no file that it names.
fn tidy(text: &str) -> Option<Told<'_>> {
    let (line, rest) = leading_in(text.strip_prefix("line ")?)?;
    let (_, rest) = leading_in(rest.strip_prefix(" column ")?)?;
    let (word, message) = rest.strip_prefix(" - ")?.split_once(": ")?;
    let level = match word {
        "Error" => Level::Error,
        "Warning" | "Access" => Level::Warning,
        "Info" => Level::Note,
        _ => return None,
    };
    Some(Told { level, path: None, ..Told::error("tidy", ("", Some(line)), None, message) })
}

/// `asciidoctor: WARNING: a.adoc: line 5: section title out of sequence`.
fn asciidoctor(text: &str) -> Option<Told<'_>> {
    let (word, rest) = text.strip_prefix("asciidoctor: ")?.split_once(": ")?;
    let level = match word {
        "ERROR" | "FAILED" => Level::Error,
        "WARNING" => Level::Warning,
        "INFO" => Level::Note,
        _ => return None,
    };
    let place = rest.split_once(": line ").and_then(|(path, rest)| Some((path, leading_in(rest)?)));
    let (path, line, message) = match place {
        Some((path, (line, message))) => (Some(path), Some(line), message.strip_prefix(": ")?),
        None => (None, None, rest),
    };
    Some(Told { level, path, ..Told::error("asciidoctor", ("", line), None, message) })
}

/// `WARNING -  Doc file 'index.md' contains a link 'gone.md', but …`. What it calls information is none.
fn mkdocs(text: &str) -> Option<Told<'_>> {
    let (level, message) = match text.strip_prefix("WARNING -  ") {
        Some(message) => (Level::Warning, message),
        None => (Level::Error, text.strip_prefix("ERROR   -  ")?),
    };
    let path = message.strip_prefix("Doc file '").and_then(|rest| Some(rest.split_once('\'')?.0));
    Some(Told { level, path, ..Told::error("mkdocs", ("", None), None, message) })
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    match text {
        "ok -- validation done" => Some("check-jsonschema"),
        "No lint errors found!" => Some("kube-linter"),
        "Total Errors: 0" => Some("cmakelint"),
        "  Messages Found: 0" => Some("prospector"),
        "Total accumulated errors = 0" => Some("doc8"),
        _ if text.starts_with("INFO    -  Documentation built in ") => Some("mkdocs"),
        _ if text.starts_with("Woohoo! Your API description") => Some("redocly"),
        _ if text.starts_with("✔ no dependency violations found (") => Some("dependency-cruiser"),
        _ if text.starts_with("Cfn-lint scanned ")
            && text.ends_with(" found 0 errors, 0 warnings, and 0 informational violations") =>
        {
            Some("cfn-lint")
        }
        _ if text.ends_with(" No circular dependency found!") => Some("madge"),
        _ if text.ends_with(" INF no leaks found") => Some("gitleaks"),
        _ => None,
    }
}

/// How many there are, as tools say that list them in a manner of their own.
pub(super) fn counted(text: &str) -> Option<Counted> {
    if let Some((_, rest)) = split_at(text, " Found ") {
        let (number, rest) = leading_in(rest)?;
        let is_madge_s = matches!(rest, " circular dependency!" | " circular dependencies!");
        return is_madge_s.then_some(Counted { tool: "madge", counts: [number, 0, 0] });
    }
    if let Some((_, leaks)) = split_at(text, " WRN leaks found: ") {
        return Some(Counted { tool: "gitleaks", counts: [leaks.parse().ok()?, 0, 0] });
    }
    dependency_cruiser(text).or_else(|| checkov(text)).or_else(|| import_linter(text))
}

/// `x 3 dependency violations (1 errors, 1 warnings). 4 modules, 3 dependencies cruised.`, where the rest are infos.
fn dependency_cruiser(text: &str) -> Option<Counted> {
    let (total, rest) = split_at(text, " dependency violations (")?;
    let total = total.rsplit_once(' ')?.1.parse::<u64>().ok()?;
    let (errors, rest) = leading_in(rest)?;
    let (warnings, rest) = leading_in(rest.strip_prefix(" errors, ")?)?;
    rest.strip_prefix(" warnings)")?;
    let notes = total.checked_sub(errors)?.checked_sub(warnings)?;
    Some(Counted { tool: "dependency-cruiser", counts: [errors, warnings, notes] })
}

/// `Contracts: 2 kept, 1 broken.`
fn import_linter(text: &str) -> Option<Counted> {
    let (_, rest) = leading_in(text.strip_prefix("Contracts: ")?)?;
    let (broken, rest) = leading_in(rest.strip_prefix(" kept, ")?)?;
    (rest == " broken.").then_some(Counted { tool: "import-linter", counts: [broken, 0, 0] })
}

/// `Passed checks: 3, Failed checks: 8, Skipped checks: 0`, below the name of a framework.
fn checkov(text: &str) -> Option<Counted> {
    let rest = text.strip_prefix("Passed ")?;
    let (word, rest) = rest.split_once("hecks: ").filter(|(word, _)| matches!(*word, "c" | "C"))?;
    let (_, rest) = leading_in(rest)?;
    let rest = rest.strip_prefix(", Failed ")?.strip_prefix(word)?.strip_prefix("hecks: ")?;
    let (failed, rest) = leading_in(rest)?;
    rest.starts_with(", Skipped ").then_some(Counted { tool: "checkov", counts: [failed, 0, 0] })
}

/// `Error was generated by the no-empty-servers rule.` below the place and the source, the format `codeframe`.
fn redocly(text: &str) -> Option<Told<'_>> {
    let (word, rule) = text.strip_suffix(" rule.")?.split_once(" was generated by the ")?;
    let level = match word {
        "Error" => Level::Error,
        "Warning" => Level::Warning,
        _ => return None,
    };
    (!rule.contains(' ')).then_some(())?;
    Some(Told { tool: "redocly", level, path: None, line: None, rule: Some(rule), message: rule })
}

/// `/p/api.yaml:1:1 warning oas3-api-servers "message"`.
fn spectral(text: &str) -> Option<Told<'_>> {
    let (place, rest) = text.strip_suffix('"')?.split_once(' ')?;
    let (word, rest) = rest.split_once(' ')?;
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "information" | "hint" => Level::Note,
        _ => return None,
    };
    // `operation-operationId`.
    let is_name = |rule: &str| rule.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let (rule, message) = rest.split_once(" \"").filter(|(rule, _)| is_name(rule))?;
    Some(Told { level, ..Told::error("spectral", bare_place(place)?, Some(rule), message) })
}

/// `a.yaml:5:7:5:10:E3002:message`, cfn-lint's format `parseable`.
fn cfn_lint<'a>(place: &Placed<'a>) -> Option<(Level, &'a str, &'a str)> {
    let (code, message) = place.rest.split_once(':').filter(|_| place.has_column && place.is_a(&TEMPLATES))?;
    Some((level_of_cfn_lint(code)?, code, message))
}

/// `5:7:                E3002     message`, cfn-lint's format `pretty`, below the file.
fn cfn_lint_pretty(text: &str) -> Option<Told<'_>> {
    let (line, rest) = leading_in(text)?;
    let (_, rest) = leading_in(rest.strip_prefix(':')?)?;
    let (code, message) = rest.strip_prefix(":  ")?.trim_start().split_once("  ")?;
    let level = level_of_cfn_lint(code)?;
    let message = message.trim_start();
    Some(Told { tool: "cfn-lint", level, path: None, line: Some(line), rule: Some(code), message })
}

/// `E3002: Resource properties are invalid a.yaml:5`, cfn-lint's format `quiet`.
fn cfn_lint_quiet(text: &str) -> Option<Told<'_>> {
    let (code, rest) = text.split_once(": ")?;
    let level = level_of_cfn_lint(code)?;
    let (message, place) = rest.rsplit_once(' ')?;
    let place = bare_place(place).filter(|(path, _)| is_template(path))?;
    Some(Told { level, ..Told::error("cfn-lint", place, Some(code), message) })
}

/// The files that cfn-lint reads.
const TEMPLATES: [&str; 4] = ["yml", "yaml", "json", "template"];

/// Whether cfn-lint reads that file.
pub(super) fn is_template(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| TEMPLATES.contains(&end))
}

/// Of a rule of cfn-lint: `E3002`.
pub(super) fn level_of_cfn_lint(code: &str) -> Option<Level> {
    match code.as_bytes().first().filter(|_| is_code(code, 1..=1, 4..=4))? {
        b'E' => Some(Level::Error),
        b'W' => Some(Level::Warning),
        b'I' => Some(Level::Note),
        _ => None,
    }
}

/// `  i.json::$.a: 1 is not of type 'string'`.
fn check_jsonschema(text: &str) -> Option<Told<'_>> {
    let (path, rest) = split_at(text.strip_prefix("  ")?, "::$").filter(|(path, _)| is_path(path))?;
    // The place is a JSONPath.
    let message = rest.split_once(": ").filter(|(at, _)| at.is_empty() || at.starts_with(['.', '[']))?.1;
    Some(Told::error("check-jsonschema", (path, None), None, message))
}

/// `Error: File "README.md" is not formatted.`
fn mdformat(text: &str) -> Option<Told<'_>> {
    let path = text.strip_prefix("Error: File \"")?.strip_suffix("\" is not formatted.")?;
    Some(Told::error("mdformat", (path, None), None, "is not formatted"))
}

/// `a.haml:3 [W] LineLength: message`, which slim-lint prints, too.
fn haml_lint(text: &str) -> Option<Told<'_>> {
    let (place, rest) = split_at(text, " [").filter(|(place, _)| place.ends_with(|c: char| c.is_ascii_digit()))?;
    let (level, rest) = match rest.split_once("] ")? {
        ("E", rest) => (Level::Error, rest),
        ("W", rest) => (Level::Warning, rest),
        _ => return None,
    };
    let (rule, message) = rest.split_once(": ").map_or((None, rest), |(rule, message)| (Some(rule), message));
    let is_ours = rule.is_none_or(|rule| rule.split('/').all(is_class_name));
    let place = bare_place(place).filter(|(path, _)| path.ends_with(".haml") || path.ends_with(".slim"))?;
    is_ours.then(|| Told { level, ..Told::error("haml-lint", place, rule, message) })
}

/// `.env:3 LowercaseKey: The foo key should be in uppercase`.
fn dotenv_linter(text: &str) -> Option<Told<'_>> {
    let (place, rest) = split_at(text, " ").filter(|(place, _)| place.contains(".env"))?;
    let (rule, message) = rest.split_once(": ").filter(|(rule, _)| is_class_name(rule))?;
    let (path, line) = bare_place(place)?;
    let name = path.rsplit('/').next()?;
    let is_env = name.starts_with(".env") || name.ends_with(".env");
    is_env.then(|| Told::error("dotenv-linter", (path, line), Some(rule), message))
}

/// `[a.proto:11:5] Found an incorrect indentation style.`
fn protolint(text: &str) -> Option<Told<'_>> {
    let (place, message) = text.strip_prefix('[')?.split_once("] ")?;
    let place = bare_place(place).filter(|(path, _)| path.ends_with(".proto"))?;
    Some(Told::error("protolint", place, None, message))
}

/// `/p/a.yaml: (object: <no namespace>/x apps/v1, Kind=Deployment) message (check: no-latest, remediation: …)`.
fn kube_linter(text: &str) -> Option<Told<'_>> {
    let (path, rest) = split_at(text, ": (object: ").filter(|(path, _)| is_path(path))?;
    let (message, check) = rest.split_once(" (check: ")?;
    let (_, message) = message.split_once(") ")?;
    Some(Told::error("kube-linter", (path, None), check.split(", ").next(), message))
}

#[cfg(test)]
mod tests {
    use super::super::lines::placed;
    use super::*;

    #[test]
    fn documents_and_imports_tell_level_rule_and_place() {
        use Level::{Error, Note, Warning};
        for (line, tool, level, place, rule, message) in [
            ("5:7:                E3002     No 'a'  b.", "cfn-lint", Error, ":5", "E3002", "No 'a'  b."),
            (
                "W2001: Check if Parameters are Used cf/t.yaml:9",
                "cfn-lint",
                Warning,
                "cf/t.yaml:9",
                "W2001",
                "Check if Parameters are Used",
            ),
            ("a b.yaml:5:7:5:10:E3002:No: x.", "cfn-lint", Error, "a b.yaml:5", "E3002", "No: x."),
            ("a.json:5:7:5:10:I3002:No.", "cfn-lint", Note, "a.json:5", "I3002", "No."),
            ("a b.rst:4: (ERROR/3) No.", "docutils", Error, "a b.rst:4", "", "No."),
            ("a.rst:4: (WARNING/2) No.", "docutils", Warning, "a.rst:4", "", "No."),
            ("a.rst:4: (INFO/1) (x) No.", "docutils", Note, "a.rst:4", "", "(x) No."),
            ("a.xml:3: parser error : a : b", "xmllint", Error, "a.xml:3", "", "a : b"),
            ("a.xml:3: validity warning : x", "xmllint", Warning, "a.xml:3", "", "x"),
            ("a.py:1:1 W0611 'os' unused [pyflakes]", "pylama", Error, "a.py:1", "W0611", "'os' unused"),
            ("a.py:1:7  SyntaxError: no [pylama]", "pylama", Error, "a.py:1", "SyntaxError", "no"),
            (
                "t.robot:9:1 DOC02 Missing documentation",
                "robocop",
                Error,
                "t.robot:9",
                "DOC02",
                "Missing documentation",
            ),
            ("bin/s.sh:2:1: E002 Tab indents", "bashate", Error, "bin/s.sh:2", "E002", "Tab indents"),
            ("    pylint: eval-used / Use of eval", "prospector", Error, ":0", "eval-used", "Use of eval"),
            ("    L5:1 f: pycodestyle - E305", "prospector", Error, ":5", "E305", "E305"),
            ("    L5:- None: pylint - eval-used", "prospector", Error, ":5", "eval-used", "eval-used"),
            ("line 5 column 15 - Warning: missing </div>", "tidy", Warning, ":5", "", "missing </div>"),
            ("asciidoctor: ERROR: a: b.adoc: line 9: no", "asciidoctor", Error, "a: b.adoc:9", "", "no"),
            ("asciidoctor: WARNING: no place", "asciidoctor", Warning, ":0", "", "no place"),
            (
                "WARNING -  Doc file 'a b.md' has no x.",
                "mkdocs",
                Warning,
                "a b.md:0",
                "",
                "Doc file 'a b.md' has no x.",
            ),
            ("ERROR   -  Config value 'nav': No.", "mkdocs", Error, ":0", "", "Config value 'nav': No."),
        ] {
            let told = super::super::brief_text::told("", line).unwrap_or_else(|| panic!("{line}"));
            let at = format!("{}:{}", told.path.unwrap_or_default(), told.line.unwrap_or(0));
            let found = (told.tool, told.level, at.as_str(), told.rule.unwrap_or_default(), told.message);
            assert_eq!(found, (tool, level, place, rule, message), "{line}");
        }
        for other in [
            "a.rst:4: (see 3) No.",
            "a.xml:3: runtime error : x",
            "a.py:1:1 W0611 'os' unused [x]",
            "    note: this / that",
            "    L5:1 f: grep - x",
            "line 5 column 15 - Note: x",
            "asciidoctor: no",
            "INFO    -  Doc file 'a.md' contains a link",
        ] {
            assert!(super::super::brief_text::told("", other).is_none(), "{other}");
        }
        assert_eq!(counted("Contracts: 2 kept, 1 broken.").unwrap().counts, [1, 0, 0]);
        assert!(counted("Contracts: 2 kept").is_none());
        assert_eq!(clean("  Messages Found: 0"), Some("prospector"));
        assert_eq!(clean("INFO    -  Documentation built in 0.05 seconds"), Some("mkdocs"));
    }

    #[test]
    fn each_line_has_its_place_level_and_rule() {
        use Level::{Error, Note, Warning};
        for (line, tool, level, place, rule) in [
            ("Warning was generated by the info-license rule.", "redocly", Warning, "", "info-license"),
            ("/p/a.yaml:1:1 hint oas3-x \"It \"is\" so.\"", "spectral", Note, "/p/a.yaml:1", "oas3-x"),
            (
                "/p/a.yaml:7:9 warning operation-operationId \"No.\"",
                "spectral",
                Warning,
                "/p/a.yaml:7",
                "operation-operationId",
            ),
            ("  i.json::$.a: 1 is not of type 'string'", "check-jsonschema", Error, "i.json", ""),
            ("Error: File \"/p/a b.md\" is not formatted.", "mdformat", Error, "/p/a b.md", ""),
            ("a/b.haml:3 [W] LineLength: Too long", "haml-lint", Warning, "a/b.haml:3", "LineLength"),
            ("b.slim:3 [E] Unexpected indentation", "haml-lint", Error, "b.slim:3", ""),
            ("a/.env.test:3 LowercaseKey: The x: key", "dotenv-linter", Error, "a/.env.test:3", "LowercaseKey"),
            ("[a b.proto:11:5] An [incorrect] style.", "protolint", Error, "a b.proto:11", ""),
            (
                "/p/a.yaml: (object: <no namespace>/x apps/v1, Kind=Deployment) not so (check: no-root, remediation: Set x.)",
                "kube-linter",
                Error,
                "/p/a.yaml",
                "no-root",
            ),
        ] {
            let told = told(line).unwrap_or_else(|| panic!("{line}"));
            let at = told.place();
            let found = (told.tool, told.level, at.as_str(), told.rule.unwrap_or_default());
            assert_eq!(found, (tool, level, place, rule), "{line}");
        }
        for (line, tool, rule) in [
            ("proto/a.proto:3:9:Message name \"bar\" is no name.", "buf", ""),
            ("a.proto:3:9: Expected \";\".", "protoc", ""),
            ("docs/a.rst:9: D001 Line too long", "doc8", "D001"),
            ("CMakeLists.txt:3: Line ends in whitespace [whitespace/eol]", "cmakelint", "whitespace/eol"),
            ("a.md:1:22: cliches.misc.garner: 'x' is a cliché", "proselint", "cliches.misc.garner"),
        ] {
            let told = at_place(line, &placed(line).unwrap()).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((told.tool, told.rule.unwrap_or_default()), (tool, rule), "{line}");
        }
    }

    #[test]
    fn sums_are_read_where_the_findings_are_not() {
        for (line, tool, counts) in [
            ("✖ Found 2 circular dependencies!", "madge", [2, 0, 0]),
            ("3:15PM WRN leaks found: 2", "gitleaks", [2, 0, 0]),
            (
                "x 3 dependency violations (1 errors, 1 warnings). 4 modules, 3 dependencies cruised.",
                "dependency-cruiser",
                [1, 1, 1],
            ),
            ("Passed checks: 3, Failed checks: 8, Skipped checks: 0", "checkov", [8, 0, 0]),
            ("Passed Checks: 3, Failed Checks: 8, Skipped Checks: 0, Parsing errors: 1", "checkov", [8, 0, 0]),
        ] {
            assert_eq!(counted(line), Some(Counted { tool, counts }), "{line}");
        }
        for other in ["I Found 2 errors", "3 dependency violations (2 errors, 2 warnings)", "Passed checks: 3"] {
            assert!(counted(other).is_none(), "{other}");
        }
        assert_eq!(
            clean("✔ no dependency violations found (3 modules, 2 dependencies cruised)"),
            Some("dependency-cruiser")
        );
    }

    #[test]
    fn others_lines_are_not_theirs() {
        for line in [
            "It was generated by the x rule.",
            "/p/a.c:1:1 note x \"y\"",
            "  std::$x: y",
            "Error: File \"x\" is not there.",
            "a.rb:3 [W] Line: x",
            "a.yaml: (object: x) (check)",
        ] {
            assert!(told(line).is_none(), "{line}");
        }
        for line in ["a.md:1:2: warning: x", "a.txt:1: Do not", "a.py:1:2: so_it: is", "CMakeLists.txt:3: x [y]"] {
            assert!(at_place(line, &placed(line).unwrap()).is_none(), "{line}");
        }
    }
}
