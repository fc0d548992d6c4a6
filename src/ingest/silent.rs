//! Tools that say nothing where they find nothing: what an empty text or an empty list of theirs comes to.

use super::{BuildStatus, Details, Format, Head, Input, Parsed, Reject, ReportKind, Result, Sort, lint, parse};

/// Formats of tools that print nothing at all where they find nothing, with the tool.
const SILENT: [(&Format, &str); 15] = [
    (&lint::eslint_text::FORMAT, "eslint"),
    (&lint::stylelint_text::FORMAT, "stylelint"),
    (&lint::ty_text::FORMAT, "ty"),
    (&lint::mypy_text::FORMAT, "mypy"),
    (&lint::tsc_text::FORMAT, "tsc"),
    (&lint::ruff_text::FORMAT, "ruff"),
    (&lint::flake8_text::FORMAT, "flake8"),
    (&lint::pylint_text::FORMAT, "pylint"),
    (&lint::govet_text::FORMAT, "govet"),
    (&lint::yamllint_text::FORMAT, "yamllint"),
    (&lint::shellcheck_text::FORMAT, "shellcheck"),
    (&lint::phpcs_text::FORMAT, "phpcs"),
    (&lint::mypy_json::FORMAT, "mypy"),
    (&lint::ruff_json::FORMAT, "ruff"),
    (&lint::staticcheck_json::FORMAT, "staticcheck"),
];

/// Formats of tools of which some print nothing in a command's output where they find nothing. A compiler's file may be empty
/// because nothing was built again; of a command it is known whether it failed.
const SILENT_IN_OUTPUT: [&Format; 4] =
    [&lint::gcc_text::FORMAT, &lint::brief_text::FORMAT, &lint::unix_text::FORMAT, &lint::github_text::FORMAT];

/// Whether what prints the format may print nothing in a command's output where it finds nothing.
pub fn may_be_silent(format: &Format) -> bool {
    SILENT.iter().any(|(silent, _)| *silent == format) || SILENT_IN_OUTPUT.contains(&format)
}

/// Whether a file is, by its name, of a tool that writes nothing where it finds nothing. Most of those whose text is empty then
/// write JSON that is not.
pub fn is_of_a_silent_tool(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_json = name.contains(".json");
    SILENT.iter().any(|(format, tool)| {
        let rest = name.strip_prefix(tool).filter(|_| is_json == format.name.ends_with("-json"));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    })
}

/// The report of tools that ran and found nothing.
fn nothing_found(format: &'static Format, tools: &[impl AsRef<str>]) -> Result<Parsed> {
    let mut tally = lint::LintTally::default();
    for tool in tools {
        tally.tool(tool.as_ref(), lint::sort_of(tool.as_ref()));
    }
    tally.finish(format)
}

/// The report of tools that ran, found nothing and said nothing.
///
/// # Errors
/// None that is known: nothing is counted.
pub fn silence(format: &'static Format, tools: &[String]) -> Result<Parsed> {
    let mut parsed = nothing_found(format, tools)?;
    let of_what = if are_compilers(tools) { " in what was built now" } else { "" };
    parsed.warnings.push(format!("{} said nothing: taken for no findings{of_what}", tools.join(", ")));
    say_that_it_built(&mut parsed);
    Ok(parsed)
}

/// Whether all of them compile, so that they say nothing of what is not built again.
pub fn are_compilers(tools: &[String]) -> bool {
    !tools.is_empty() && tools.iter().all(|tool| lint::sort_of(tool) == Sort::Compiler)
}

/// A compiler that found no error built what there was to build, if it came to its end. What it prints does not tell that.
pub fn say_that_it_built(parsed: &mut Parsed) {
    let Details::Lint(lint) = &parsed.details else { return };
    let mut compilers = lint.by_tool.values().filter(|counts| counts.sort == Sort::Compiler).peekable();
    if parsed.build.is_none() && compilers.peek().is_some() && compilers.all(|counts| counts.errors == 0) {
        parsed.build = Some(BuildStatus::Success);
    }
}

/// ty ends a run without findings with the line with which ruff does: such a run of ruff's as one of ty's.
pub fn as_ty_s(parsed: &Parsed) -> Option<Parsed> {
    let is_clean = parsed.format == &lint::ruff_text::FORMAT && parsed.figures.total == Some(0);
    let text = lint::ruff_text::ALL_PASSED.as_bytes();
    is_clean.then(|| parse(&Input::bytes("x", text), Some(&lint::ty_text::FORMAT)).ok()).flatten()
}

/// The report of a tool that found nothing, where that alone does not tell the format: an empty text, an empty list.
/// `None`: it says something, or the tool says more when it finds nothing. `format` is what the report was before.
pub fn parse_clean(input: &Input<'_>, format: &'static Format) -> Option<Parsed> {
    // Nothing else is told by an empty text: no report is opened for that.
    if format.kind != ReportKind::Lint {
        return None;
    }
    let mut parsed = match Head::read(input) {
        Err(error) if error.reject() == Some(Reject::Empty) => {
            let (_, tool) = SILENT.iter().find(|(silent, _)| *silent == format)?;
            nothing_found(format, &[*tool]).ok()?
        }
        Ok(head) if is_empty_list(head.text()) => parse(input, Some(format)).ok()?,
        _ => return None,
    };
    parsed.warnings.push(format!("it says nothing: taken for {} without findings, as it was before", format.name));
    Some(parsed)
}

/// Whether there is no more in it than an empty list, as many tools write it that found nothing.
pub fn holds_an_empty_list(input: &Input<'_>) -> bool {
    Head::read(input).is_ok_and(|head| is_empty_list(head.text()))
}

fn is_empty_list(text: &str) -> bool {
    text.chars().filter(|c| !c.is_whitespace()).eq("[]".chars())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test;

    #[test]
    fn a_clean_report_is_what_it_was_before() {
        let clean = |text: &str, format| {
            let parsed = parse_clean(&Input::bytes("x", text.as_bytes()), format)?;
            Some((parsed.figures.total, parsed.warnings.len(), parsed.details))
        };
        for (text, format) in [("[]", &lint::eslint_json::FORMAT), ("[\n]\n", &lint::ruff_json::FORMAT)] {
            assert!(matches!(clean(text, format), Some((Some(0), 1, _))), "{}", format.name);
        }
        for (format, tool) in SILENT {
            let Some((Some(0), 1, Details::Lint(details))) = clean("\n", format) else { panic!("{}", format.name) };
            assert_eq!(details.by_tool.keys().collect::<Vec<_>>(), [tool]);
        }
        for name in ["mypy.json", "out/mypy-report.json", "ruff.jsonl", "flake8.txt", "tsc"] {
            assert!(is_of_a_silent_tool(name), "{name}");
        }
        for name in ["eslint.json", "flake8.json", "mypyc.json", "junit.xml", "tsconfig.txt", "mypy.json/junit.xml"] {
            assert!(!is_of_a_silent_tool(name), "{name}");
        }
        // What make did not build again tells nothing; a test report is never empty; what says something is read as ever.
        assert_eq!(clean("", &lint::gcc_text::FORMAT), None);
        assert_eq!(clean("", &lint::eslint_json::FORMAT), None);
        assert_eq!(clean("[]", &test::jest_json::FORMAT), None);
        assert_eq!(clean("a.py:1:1: F401 'os' imported but unused\n", &lint::flake8_text::FORMAT), None);
    }
}
