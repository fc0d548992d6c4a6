//! `elixir-text`: what the compilers, formatters and linters of Elixir and Erlang print.
//!
//! Written after their output, and for what is newer than Elixir 1.14 after the sources of Elixir (`Module.ParallelChecker`,
//! `Code.format_string!`), Credo and Dialyxir. None of them says at the end how many there were, but Credo.

use super::LintTally;
use super::lines::{Claim, TextReader, bare_place, finding, is_of_another, placed, read};
use crate::error::Result;
use crate::ingest::values::leading_in;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Elixir's and Erlang's output.
pub const FORMAT: Format = Format {
    name: "elixir-text",
    kind: ReportKind::Lint,
    about: "terminal output of the compilers and linters of Elixir and Erlang",
    written_by: "mix compile, mix format --check-formatted, mix credo, mix dialyzer; erlc, dialyzer",
    told_by: "\"warning: …\" above \"lib/a.ex:3: A.f/1\", \"** (CompileError) lib/a.ex:7: …\", \"┃ [R] → …\", \
              \"src/a.erl:3:1: …\"",
    has_end: false,
    counting: "Warnings and errors of the compilers; each issue of Credo and each warning of Dialyzer is an error, as \
               they have no levels, and each file that is not formatted. What Credo counts and does not list counts, \
               too.",
    sniff,
    parse: |input| read::<Reader>(input, "a tool of Elixir or Erlang"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let mut reader = Reader::default();
    let found = head.lines().map(str::trim_end).any(|line| {
        let is_ours = reader.told(line).is_some() || credo_said(line).is_some() || line == DIALYZER_PASSED;
        reader.pass(line);
        is_ours
    });
    // `mix test` compiles first; a run of it that was killed is no report of the compiler.
    let is_of_exunit = || (crate::ingest::test::exunit_text::FORMAT.sniff)(head) != Sniff::No;
    match found && !is_of_another(head) && !is_of_exunit() {
        true => Sniff::Sure("a finding as tools of Elixir or Erlang print it".into()),
        false => Sniff::No,
    }
}

/// What Dialyzer says when it finds nothing.
const DIALYZER_PASSED: &str = "done (passed successfully)";

/// What stands before the files that are not formatted.
const NOT_FORMATTED: &str = "The following files are not formatted:";

/// Whether the compiler names a file of Elixir so.
fn is_elixir(path: &str) -> bool {
    [".ex", ".exs", ".eex", ".heex", ".leex"].iter().any(|end| path.ends_with(end))
}

/// A finding that a line tells.
struct Told<'a> {
    tool: &'static str,
    level: Level,
    place: (&'a str, Option<u64>),
    rule: Option<&'a str>,
    message: &'a str,
}

impl<'a> Told<'a> {
    fn error(tool: &'static str, place: (&'a str, Option<u64>), rule: Option<&'a str>, message: &'a str) -> Told<'a> {
        Told { tool, level: Level::Error, place, rule, message }
    }
}

/// `warning: unused variable`, since Elixir 1.15 four blanks before it.
fn headline(text: &str) -> Option<(Level, &str)> {
    let text = text.strip_prefix("    ").unwrap_or(text);
    let warning = text.strip_prefix("warning: ").map(|message| (Level::Warning, message));
    warning.or_else(|| Some((Level::Error, text.strip_prefix("error: ")?)))
}

/// The place below a headline: `  lib/a.ex:3: A.f/1`, `  lib/a.ex:6`, since Elixir 1.15 `    └─ lib/a.ex:3:5: A.f/1`.
fn place_below(text: &str) -> Option<(&str, Option<u64>)> {
    let text = text.strip_prefix("  ")?.trim_start();
    let text = text.strip_prefix("└─ ").unwrap_or(text);
    let place = match placed(text) {
        Some(place) => Some((place.path, place.line)),
        None => bare_place(text),
    };
    place.filter(|(path, _)| is_elixir(path))
}

/// `** (CompileError) lib/a.ex:7: message`; since Elixir 1.15 `** (SyntaxError) invalid syntax found on lib/a.ex:3:5:`.
fn exception(text: &str) -> Option<Told<'_>> {
    let (name, rest) = text.strip_prefix("** (")?.split_once(") ")?;
    let rest = rest.split_once(" found on ").map_or(rest, |(_, place)| place);
    let of_its_place = |place: super::lines::Placed<'_>| is_elixir(place.path);
    let place = placed(rest).filter(|place| of_its_place(*place) && name.ends_with("Error"))?;
    let message = if place.rest.is_empty() { name } else { place.rest };
    Some(Told::error("elixir", (place.path, place.line), Some(name), message))
}

/// Credo's `lib/a.ex:1:11: R: message` and `[R] → lib/a.ex:1:11 message`.
fn credo_line(text: &str) -> Option<Told<'_>> {
    if let Some(rest) = text.strip_prefix('[') {
        let (letter, rest) = rest.split_once("] ").filter(|(letter, _)| is_category(letter))?;
        let (place, message) = rest.split_once(' ')?.1.split_once(' ')?;
        let place = bare_place(place).filter(|(path, _)| is_elixir(path))?;
        return Some(Told::error("credo", place, Some(letter), message));
    }
    let place = placed(text).filter(|place| is_elixir(place.path))?;
    let (letter, message) = place.rest.split_once(": ").filter(|(letter, _)| is_category(letter))?;
    Some(Told::error("credo", (place.path, place.line), Some(letter), message))
}

/// Consistency, design, readability, refactoring, warning.
fn is_category(letter: &str) -> bool {
    matches!(letter, "C" | "D" | "R" | "F" | "W")
}

/// Dialyxir's `lib/a.ex:3:7:no_return Function f/0 has no local return.`, or the message on the next line.
fn dialyxir(text: &str) -> Option<Told<'_>> {
    let (place, message) = text.split_once(' ').unwrap_or((text, ""));
    let (place, name) = place.rsplit_once(':')?;
    let is_name = name.contains('_') && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let place = bare_place(place).filter(|(path, _)| is_name && (is_elixir(path) || path.ends_with(".erl")))?;
    Some(Told::error("dialyzer", place, Some(name), message))
}

/// `src/a.erl:3:1: Warning: message`, `src/a.erl:3: syntax error before: '->'`; Dialyzer begins its messages in upper case.
fn erlang(text: &str) -> Option<Told<'_>> {
    let place = placed(text).filter(|place| place.is_a(&["erl", "hrl", "yrl", "xrl"]))?;
    let at = (place.path, place.line);
    if let Some(message) = place.rest.strip_prefix("Warning: ") {
        return Some(Told { level: Level::Warning, ..Told::error("erlc", at, None, message) });
    }
    let is_dialyzer_s = place.rest.starts_with(|c: char| c.is_ascii_uppercase());
    Some(Told::error(if is_dialyzer_s { "dialyzer" } else { "erlc" }, at, None, place.rest))
}

/// How many issues `3 mods/funs, found 1 warning, 2 code readability issues.` tells.
fn credo_said(text: &str) -> Option<u64> {
    let (_, rest) = leading_in(text)?;
    let (files, found) = rest.strip_suffix('.')?.split_once(", found ")?;
    files.split(',').all(|part| part.ends_with("mods/funs") || part.ends_with("mod/fun")).then_some(())?;
    if found == "no issues" {
        return Some(0);
    }
    found.split(", ").try_fold(0_u64, |sum, part| {
        let (number, rest) = leading_in(part)?;
        sum.checked_add(number).filter(|_| rest.starts_with(' '))
    })
}

/// The file in `== Compilation error in file test/a_test.exs ==`.
fn uncompiled(text: &str) -> Option<&str> {
    text.strip_prefix("== Compilation error in file ")?.strip_suffix(" ==").filter(|path| is_elixir(path))
}

/// `** (RuntimeError) message` below that, which has no place of its own.
fn raised<'a>(path: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (name, message) = text.strip_prefix("** (")?.split_once(") ").filter(|(name, _)| *name != "CompileError")?;
    Some(Told::error("elixir", (path, None), Some(name), message))
}

/// What the lines before the next one opened.
#[derive(Default)]
enum Open {
    #[default]
    Nothing,
    /// A file that raised while it was compiled.
    Uncompiled(String),
    /// A warning or an error of the compiler, whose place follows.
    Headline(Level, String),
    /// An issue of Credo: `┃ [R] → message`, whose place follows.
    Issue(String, String),
    /// Files that are not formatted.
    NotFormatted,
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    open: Open,
    /// Issues of Credo that were listed, and how many it says there are.
    issues: u64,
    said: u64,
}

impl Reader {
    fn told<'a>(&'a self, text: &'a str) -> Option<Told<'a>> {
        let of_open = match &self.open {
            Open::Nothing => None,
            Open::Uncompiled(path) => return exception(text).or_else(|| raised(path, text)),
            Open::Headline(level, message) => {
                place_below(text).map(|place| Told { level: *level, ..Told::error("elixir", place, None, message) })
            }
            Open::Issue(letter, message) => credo_place(text).map(|at| Told::error("credo", at, Some(letter), message)),
            Open::NotFormatted => {
                let path = text.strip_prefix("  * ")?;
                Some(Told::error("mix-format", (path, None), None, "is not formatted"))
            }
        };
        of_open.or_else(|| [exception, credo_line, dialyxir, erlang].iter().find_map(|read| read(text)))
    }

    /// Goes on to the next line.
    fn pass(&mut self, text: &str) {
        if let Some((level, message)) = headline(text) {
            self.open = Open::Headline(level, message.to_owned());
        } else if let Some((letter, message)) = issue(text) {
            self.open = Open::Issue(letter.to_owned(), message.to_owned());
        } else if text == NOT_FORMATTED {
            self.open = Open::NotFormatted;
        } else if let Some(path) = uncompiled(text) {
            self.open = Open::Uncompiled(path.to_owned());
        } else {
            let goes_on = match &self.open {
                Open::Nothing | Open::Uncompiled(_) => false,
                Open::Headline(..) => !text.is_empty() && place_below(text).is_none(),
                Open::Issue(..) => credo_place(text).is_none() && text.starts_with('┃'),
                Open::NotFormatted => text.is_empty() || text.starts_with("  * "),
            };
            if !goes_on {
                self.open = Open::Nothing;
            }
        }
    }
}

/// Category and message of `┃ [R] → message`.
fn issue(text: &str) -> Option<(&str, &str)> {
    let (letter, rest) = text.strip_prefix("┃ [")?.split_once("] ")?;
    is_category(letter).then_some((letter, rest.split_once(' ')?.1))
}

/// `┃       lib/a.ex:1:11 #(A)`.
fn credo_place(text: &str) -> Option<(&str, Option<u64>)> {
    let text = text.strip_prefix('┃')?.trim_start();
    bare_place(text.split(' ').next()?).filter(|(path, _)| is_elixir(path))
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(Told { tool, level, place: (path, line), rule, message }) = self.told(text) {
            let sort = match tool {
                "elixir" | "erlc" => Sort::Compiler,
                "dialyzer" => Sort::TypeChecker,
                _ => Sort::Linter,
            };
            let found = finding(tool, level, (Some(path), line), rule, message);
            self.issues += u64::from(tool == "credo");
            self.tally.finding(found, sort)?;
        } else if let Some(said) = credo_said(text) {
            self.tally.tool("credo", Sort::Linter);
            self.said = crate::ingest::add(self.said, said)?;
        } else if text == DIALYZER_PASSED {
            self.tally.tool("dialyzer", Sort::TypeChecker);
        }
        self.pass(text);
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_ours = self.told(text).is_some() || credo_said(text).is_some() || text == DIALYZER_PASSED;
        if is_ours { Claim::Ours } else { Claim::Other }
    }

    fn is_whole(&self, text: &str) -> bool {
        credo_said(text).is_some() || text == DIALYZER_PASSED
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        // Of many issues Credo lists the first of each category.
        let rest = self.said.saturating_sub(self.issues);
        self.tally.count("credo", Sort::Linter, Level::Error, rest)?;
        self.tally.finish_found(&FORMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::{Details, Finding};

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    fn told(text: &str) -> Vec<(String, Level, String, Option<u64>)> {
        let Details::Lint(details) = parsed(text).unwrap().details else { panic!("lint") };
        let one = |f: Finding| (f.tool, f.level, f.path.unwrap_or_default(), f.line);
        details.findings.into_iter().map(one).collect()
    }

    fn one(tool: &str, level: Level, path: &str, line: u64) -> (String, Level, String, Option<u64>) {
        (tool.to_owned(), level, path.to_owned(), Some(line).filter(|line| *line > 0))
    }

    #[test]
    fn the_compiler_s_warnings_have_their_place_below() {
        let old = "Compiling 2 files (.ex)\nwarning: variable \"y\" is unused\n  lib/a.ex:3: A.f/1\n\n\
                   warning: A.g/0 is undefined\nInvalid call found at 2 locations:\n  lib/a.ex:6\n  lib/b.ex:7\n\n\n\
                   == Compilation error in file lib/a.ex ==\n** (CompileError) lib/a.ex:7: undefined function h/1\n";
        let (warning, error) = (Level::Warning, Level::Error);
        let expected = [
            one("elixir", warning, "lib/a.ex", 3),
            one("elixir", warning, "lib/a.ex", 6),
            one("elixir", error, "lib/a.ex", 7),
        ];
        assert_eq!(told(old), expected);
        let new = "    warning: variable \"y\" is unused\n    │\n  3 │     y = 1\n    │     ~\n    │\n    └─ lib/a.ex:3:5: A.f/1\n\n\
                   \x20   error: undefined function h/1\n    │\n 12 │   h(x)\n    │   ^\n    │\n    └─ lib/a.ex:12:3: A.f/1\n\n\n\
                   == Compilation error in file lib/a.ex ==\n** (CompileError) lib/a.ex: cannot compile module A (errors have been logged)\n";
        assert_eq!(told(new), [one("elixir", warning, "lib/a.ex", 3), one("elixir", error, "lib/a.ex", 12)]);
        let syntax =
            "** (SyntaxError) invalid syntax found on lib/a.ex:3:5:\n    error: syntax error before: 'end'\n    │\n";
        assert_eq!(told(syntax), [one("elixir", error, "lib/a.ex", 3)]);
        let raised =
            "== Compilation error in file test/d_test.exs ==\n** (RuntimeError) load\n    test/d_test.exs:1: (file)\n";
        assert_eq!(told(raised), [one("elixir", error, "test/d_test.exs", 0)]);
    }

    #[test]
    fn formatter_credo_dialyzer_and_erlang_are_read() {
        let format = "** (Mix) mix format failed due to --check-formatted.\nThe following files are not formatted:\n\n  * lib/c.ex\n  * d.exs\n\n";
        assert_eq!(told(format).len(), 2);
        let credo = "┃ \n┃ [R] → Modules should have a tag.\n┃       lib/a.ex:1:11 #(A)\n┃ [W] ↗ No.\n┃       lib/a.ex:9 #(A.f)\n\n\
                     3 mods/funs, found 1 warning, 4 code readability issues.\n";
        let all = parsed(credo).unwrap();
        assert_eq!((all.figures.errors, all.warnings.len()), (Some(5), 1));
        assert_eq!(told(credo)[0], one("credo", Level::Error, "lib/a.ex", 1));
        assert_eq!(parsed("12 mods/funs, found no issues.\n").unwrap().figures.total, Some(0));
        let lines = "[R] → lib/a.ex:1:11 Modules should\nlib/a.ex:2:1: W: No.\nlib/a.ex:3:no_return\nFunction f/0 has no return.\n\
                     src/d.erl:3:1: Function f/0 has no local return\nsrc/d.erl:4: Warning: variable 'X' is unused\ne.erl:1:4: syntax error before: '->'\n";
        let tools: Vec<_> = told(lines).into_iter().map(|f| f.0).collect();
        assert_eq!(tools, ["credo", "credo", "dialyzer", "dialyzer", "erlc", "erlc"]);
        assert_eq!(parsed(" done in 0m0.1s\ndone (passed successfully)\n").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_others_print_is_not_theirs() {
        for other in [
            "warning: x\n  --> src/a.rs:3:5\n",
            "lib/a.ex:3: (A) f/0\n",
            "warning: x\n\n  lib/a.ex:3: A.f/1\n",
            "a.ex\n",
        ] {
            let read = crate::ingest::parse(&Input::bytes("x", other.as_bytes()), Some(&FORMAT));
            assert_eq!(read.unwrap_err().reject(), Some(Reject::NotThisFormat), "{other}");
        }
        assert_eq!(parsed("e.erl:1:4: syntax error\ne.erl:2:1: no mod").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
