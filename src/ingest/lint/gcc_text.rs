//! `gcc-text`: what gcc and clang print, and tools after them.
//!
//! Written after GCC's "Formatting Messages" in the GNU coding standards: `path:line:column: level: message [-Wflag]`,
//! with lines of context around it that have no meaning here. It does not name the tool, which is told by the rule in the
//! brackets, and has no end.

use super::brief_checkers::is_of_lizard;
use super::brief_text::SCRIPTS;
use super::brief_web::is_of_typos;
use super::lines::{
    Claim, Placed, TextReader, bare_place, bracketed, finding, is_code, is_of_another, is_path, placed, read,
};
use super::{LintTally, sort_of};
use crate::error::Result;
use crate::ingest::test::catch2_text;
use crate::ingest::text::{is_number, split_at};
use crate::ingest::values::leading_in;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Diagnostics as gcc prints them.
pub const FORMAT: Format = Format {
    name: "gcc-text",
    kind: ReportKind::Lint,
    about: "terminal output of gcc or clang: errors, warnings, notes",
    written_by: "gcc, g++, gfortran, clang, clang-tidy, shellcheck -f gcc, cppcheck, javac, swiftc, ghc, ocamlc, coqc, \
                 zig, SwiftLint, Jing, xcodebuild, xcbeautify, xcpretty",
    told_by: "\"src/a.c:12:9: warning: …\", where the file is no Python and no Rust",
    has_end: false,
    counting: "Lines with a place and a level: error and fatal error, warning, note and remark; cppcheck's style, \
               performance, portability and information are notes. Errors of the driver and the linker without a place \
               too. A failed link is an error if there is no other.",
    sniff,
    parse: |input| read::<Reader>(input, "gcc"),
};

/// Files whose findings other formats tell.
const OF_OTHERS: [&str; 5] = ["py", "pyi", "ipynb", "rs", "go"];

/// Files that are compiled by what prints so, and shell scripts.
const COMPILED: [&str; 59] = [
    "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "c++", "h++", "inl", "ipp", "tcc", "m", "mm", "s", "cu", "cuh",
    "f", "for", "f90", "f95", "f03", "f08", "d", "java", "swift", "hs", "lhs", "zig", "sh", "bash", "ksh", "zsh",
    "bats", "kt", "kts", "scala", "ml", "mli", "vala", "nim", "pyx", "y", "l", "ino", "r", "rmd", "qmd", "adb", "ads",
    "v", "vh", "sv", "svh", "vhd", "vhdl", "asm", "nasm",
];

/// Files whose compilers (javac, scalac 2, iverilog, nasm) tell no column.
const WITHOUT_COLUMN: [&str; 7] = ["java", "scala", "v", "vh", "sv", "asm", "nasm"];

/// Files of R, whose linter has cppcheck's severity `style`, and its rule first.
const R: [&str; 3] = ["r", "rmd", "qmd"];

/// Files that cppcheck checks.
const OF_CPPCHECK: [&str; 9] = ["c", "cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx"];

/// Files that Xcode compiles.
const OF_XCODE: [&str; 9] = ["swift", "m", "mm", "c", "cc", "cpp", "cxx", "h", "hpp"];

/// Files of gfortran, which writes its levels in upper case, below the source and its place.
const FORTRAN: [&str; 6] = ["f", "for", "f90", "f95", "f03", "f08"];

/// Files of Ruby and Icarus Verilog, which write warnings with a level, and `a.rb:4: syntax error, …` without one.
const PARSED: [&str; 4] = ["rb", "v", "sv", "vh"];

fn sniff(head: &Head<'_>) -> Sniff {
    // The first place decides: a build of several languages is read as what comes first.
    let mut first = head.lines().filter_map(|line| match diagnostic(line) {
        Some(found) => Some(!found.is_of_others),
        None => {
            (driver(line).is_some() || of_old_cppcheck(line).is_some() || place_above(line).is_some()).then_some(true)
        }
    });
    match first.next() {
        _ if is_of_another(head) || catch2_text::is_compact(head) => Sniff::No,
        Some(true) => Sniff::Sure("a diagnostic with its place, as gcc prints it".into()),
        // Beside a report of another format it is progress.
        None if head.lines().any(|line| ended(line).is_some()) => {
            Sniff::Maybe("a line with which a linter ends".into())
        }
        _ => Sniff::No,
    }
}

/// A line with a place and a level.
struct Diagnostic<'a> {
    path: &'a str,
    line: Option<u64>,
    level: Level,
    message: &'a str,
    is_of_others: bool,
    /// It is of a language whose compilers and linters print so.
    is_compiled: bool,
    /// A file that cannot be parsed.
    is_unparsed: bool,
    has_column: bool,
    /// Who writes so.
    tool: &'static str,
}

fn diagnostic(text: &str) -> Option<Diagnostic<'_>> {
    let (signed, text) = sign_of_xcbeautify(text).map_or((None, text), |(level, rest)| (Some(level), rest));
    let Some(place) = placed(text) else { return of_template(text) };
    let place = Placed { rest: after_ranges(place.rest), ..place };
    let fortran = || of_fortran(place.rest).filter(|_| place.is_a(&FORTRAN));
    let is_unparsed = place.is_a(&PARSED) && place.rest.starts_with("syntax error");
    let unparsed = || is_unparsed.then_some((Level::Error, place.rest));
    let (level, message) = match signed {
        Some(level) => (level, Some(place.rest).filter(|_| place.is_a(&OF_XCODE))?),
        None => level_of(place.rest).or_else(|| of_cppcheck(&place)).or_else(fortran).or_else(unparsed)?,
    };
    // So do lizard what is too large, and typos words.
    if is_of_test(message) || is_of_lizard(message) || is_of_typos(message) {
        return None;
    }
    let has_column = place.has_column || place.is_a(&WITHOUT_COLUMN);
    let is_of_others = place.is_a(&OF_OTHERS) || place.is_a(&SCRIPTS);
    // cppcheck says so of the whole.
    let is_compiled = place.is_a(&COMPILED) || place.path == "nofile";
    Some(Diagnostic {
        path: place.path,
        line: place.line,
        level,
        message,
        is_of_others,
        is_compiled,
        is_unparsed,
        has_column,
        tool: match note_of_cppcheck(place.rest) {
            Some(_) if !place.is_a(&R) => "cppcheck",
            _ => compiler_of(Some(place.path)),
        },
    })
}

/// Whether UnitTest++, CppUTest or cmocka say so of a failing test, in the manner of a compiler.
fn is_of_test(message: &str) -> bool {
    message.starts_with("Failure in ") || message == "Failure!"
}

/// What is behind the ranges of `-fdiagnostics-print-source-range-info`: `a.c:4:67:{4:66-4:69}{4:2-4:3}: warning: …`.
fn after_ranges(rest: &str) -> &str {
    let Some((ranges, behind)) = rest.split_once("}: ").filter(|(ranges, _)| ranges.starts_with('{')) else {
        return rest;
    };
    let is_ranges = ranges.bytes().all(|byte| byte.is_ascii_digit() || b"{}:-".contains(&byte));
    if is_ranges { behind } else { rest }
}

/// For Visual Studio, as `clang -fdiagnostics-format=msvc` and `cppcheck --template=vs` write it, `a.c(4,67): warning: …`,
/// and `cppcheck --template=edit`: `a.c +4: error: …`.
fn of_template(text: &str) -> Option<Diagnostic<'_>> {
    let (place, rest) = split_at(text, ": ")?;
    let in_brackets = place.strip_suffix(')').and_then(|place| place.rsplit_once('('));
    let (path, place) = in_brackets.or_else(|| place.rsplit_once(" +"))?;
    let (line, column) = place.split_once(',').map_or((place, None), |(line, column)| (line, Some(column)));
    let line: u64 = line.parse().ok()?;
    let has_column = column.is_some_and(is_number);
    let (level, message) = level_of(rest).or_else(|| Some((Level::Note, note_of_cppcheck(rest)?)))?;
    let is_compiled = path == "nofile" || path.rsplit_once('.').is_some_and(|(_, end)| COMPILED.contains(&end));
    // Boost.Test, too, prints so what fails.
    let is_of_test = message.starts_with("in \"") || is_of_test(message);
    (is_compiled && !is_of_test && column.is_some() == has_column && is_path(path)).then_some(Diagnostic {
        path,
        line: Some(line).filter(|line| *line > 0),
        level,
        message,
        is_of_others: false,
        is_compiled,
        is_unparsed: false,
        // cppcheck tells none.
        has_column: true,
        tool: if has_column { compiler_of(Some(path)) } else { "cppcheck" },
    })
}

/// What xcbeautify and xcpretty put before a diagnostic instead of the level behind its place, which they take away.
fn sign_of_xcbeautify(text: &str) -> Option<(Level, &str)> {
    let signs = [("❌ ", Level::Error), ("[x] ", Level::Error), ("⚠️ ", Level::Warning), ("[!] ", Level::Warning)];
    signs.iter().find_map(|(sign, level)| Some((*level, text.strip_prefix(sign)?.trim_start())))
}

fn level_of(text: &str) -> Option<(Level, &str)> {
    let levels = [
        ("fatal error: ", Level::Error),
        ("error: ", Level::Error),
        // Jing's.
        ("fatal: ", Level::Error),
        ("warning: ", Level::Warning),
        ("note: ", Level::Note),
        ("remark: ", Level::Note),
    ];
    levels.iter().find_map(|(name, level)| Some((*level, text.strip_prefix(name)?.trim_start())))
}

/// Files of OCaml's compiler, which names the place above the source.
const OCAML: [&str; 4] = ["ml", "mli", "mll", "mly"];

/// gfortran's `Error: Syntax error at (1)`, and OCaml's and Coq's `Error: Unbound value x`.
fn of_fortran(text: &str) -> Option<(Level, &str)> {
    let levels = [("Fatal Error: ", Level::Error), ("Error: ", Level::Error), ("Warning: ", Level::Warning)];
    levels.iter().find_map(|(name, level)| Some((*level, text.strip_prefix(name)?)))
}

/// OCaml's `Warning 26 [unused-var]: message`, `Error (warning 26 [unused-var]): message`, `Alert deprecated: message`: level,
/// rule and message.
fn of_ocaml(text: &str) -> Option<(Level, Option<&str>, &str)> {
    let (word, message) = text.split_once(": ")?;
    let levels = [("Warning", Level::Warning), ("Alert", Level::Warning), ("Error (", Level::Error)];
    let level = levels.iter().find_map(|(start, level)| word.starts_with(start).then_some(*level))?;
    Some((level, word.split_once('[').and_then(|(_, rest)| rest.split(']').next()), message))
}

/// What stands above its message.
struct Above {
    compiler: &'static str,
    path: String,
    line: Option<u64>,
    /// Told with the place, or only with the message.
    level: Option<Level>,
    /// The rules in brackets behind the level.
    rules: String,
}

/// gfortran's `a.f90:8:12:`, OCaml's and Coq's `File "a.ml", line 3, characters 6-7:`, and GHC's `A.hs:3:5: error: [GHC-88464]`, `A.hs:(3,5)-(4,7): warning: [-Wname]`.
fn place_above(text: &str) -> Option<Above> {
    if let Some(place) = text.strip_suffix(':').and_then(bare_place) {
        let is_fortran =
            place.0.rsplit_once('.').is_some_and(|(_, end)| FORTRAN.contains(&end.to_lowercase().as_str()));
        return is_fortran.then(|| Above {
            compiler: "gfortran",
            path: place.0.to_owned(),
            line: place.1,
            level: None,
            rules: String::new(),
        });
    }
    if let Some((path, rest)) = text.strip_prefix("File \"").and_then(|rest| rest.split_once("\", line")) {
        let compiler = match path.rsplit_once('.')? {
            (_, end) if OCAML.contains(&end) => "ocaml",
            (_, "v") => "coq",
            _ => return None,
        };
        let (line, _) = leading_in(rest.trim_start_matches('s').trim_start()).filter(|_| rest.ends_with(':'))?;
        return Some(Above { compiler, path: path.to_owned(), line: Some(line), level: None, rules: String::new() });
    }
    let (path, line, rest) = match split_at(text, ":(") {
        Some((path, span)) => (path, leading_in(span)?.0, span.split_once("): ")?.1),
        None => placed(text).and_then(|place| Some((place.path, place.line?, place.rest)))?,
    };
    let is_haskell = path.ends_with(".hs") || path.ends_with(".lhs");
    let (word, rules) =
        rest.split_once(':').filter(|(_, rules)| is_haskell && (rules.is_empty() || rules.ends_with(']')))?;
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => return None,
    };
    let rules = rules.trim_start();
    (rules.is_empty() || rules.starts_with('[')).then(|| Above {
        compiler: "ghc",
        path: path.to_owned(),
        line: Some(line),
        level: Some(level),
        rules: rules.to_owned(),
    })
}

/// Coq's errors of many lines begin below it.
fn is_bare_error(text: &str) -> bool {
    text == "Error:"
}

/// Whether it is the message of a place above that told no level.
fn is_message(text: &str) -> bool {
    of_fortran(text).is_some() || of_ocaml(text).is_some() || is_bare_error(text)
}

/// Severities of cppcheck's beside error and warning.
const NOTES_OF_CPPCHECK: [&str; 4] = ["style", "performance", "portability", "information"];

/// The message behind one of them.
fn note_of_cppcheck(text: &str) -> Option<&str> {
    NOTES_OF_CPPCHECK.iter().find_map(|severity| text.strip_prefix(severity)?.strip_prefix(": "))
}

/// What cppcheck finds beside errors and warnings: `style: The function 'f' is never used. [unusedFunction]`; other templates
/// put the rule elsewhere.
fn of_cppcheck<'a>(place: &Placed<'a>) -> Option<(Level, &'a str)> {
    let message = note_of_cppcheck(place.rest)?;
    let is_ours = bracketed(message, '[', ']').is_some()
        || place.is_a(&OF_CPPCHECK)
        || place.path == "nofile"
        || (place.is_a(&R) && message.starts_with('['));
    is_ours.then_some((Level::Note, message))
}

/// What cppcheck before version 1.88 finds: `[src/a.cpp:51]: (warning) message`, `[a.c:2] -> [b.c:9]: (error) message`.
fn of_old_cppcheck(text: &str) -> Option<(Level, &str, u64, &str)> {
    let (places, rest) = text.strip_prefix('[')?.split_once("]: (")?;
    let (severity, message) = rest.split_once(") ")?;
    let level = match severity.split(',').next()? {
        "error" => Level::Error,
        "warning" => Level::Warning,
        note if NOTES_OF_CPPCHECK.contains(&note) => Level::Note,
        _ => return None,
    };
    let (path, line) = places.rsplit_once('[').map_or(places, |(_, last)| last).rsplit_once(':')?;
    is_path(path).then(|| Some((level, path, line.parse().ok()?, message)))?
}

/// The tool that says that it came to its end: `2/2 files checked 100% done`, `Done linting! Found 0 violations, …`.
fn ended(text: &str) -> Option<&'static str> {
    if text.starts_with("Done linting! Found ") && text.ends_with('.') {
        return Some("swiftlint");
    }
    let (done, all) = text.strip_suffix(" files checked 100% done")?.split_once('/')?;
    (done == all && !all.is_empty()).then_some("cppcheck")
}

/// How javac says that it fails for its warnings alone.
const WARNINGS_OF_JAVAC: &str = "error: warnings found and -Werror specified";

/// Name, level and message of what the driver, the compiler proper or the linker says without a place:
/// `cc1: fatal error: x.c: No such file or directory`, `/usr/bin/ld: error: …`, and clang-tidy without its own name:
/// `error: no such file or directory: 'x.c' [clang-diagnostic-error]`.
fn driver(text: &str) -> Option<(&str, Level, &str)> {
    if let Some(message) = text.strip_prefix("error: ").filter(|rest| rest.ends_with(" [clang-diagnostic-error]")) {
        return Some(("clang-tidy", Level::Error, message));
    }
    let (path, rest) = split_at(text, ": ")?;
    let (level, message) = level_of(rest)?;
    let name = path.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let is_version = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let name = name.rsplit_once('-').filter(|(_, version)| is_version(version)).map_or(name, |(name, _)| name);
    // `arm-none-eabi-gcc`.
    let name = name.rsplit('-').next()?;
    let names = [
        "gcc", "g++", "cc", "c++", "cc1", "cc1plus", "cc1obj", "clang", "clang++", "ld", "lld", "ld.lld", "ld64.lld",
        "mold", "collect2", "lto1", "wrapper", "f951", "gfortran",
    ];
    (is_path(path) && names.contains(&name)).then_some((name, level, message))
}

/// Whether the message only says that linking failed, for reasons told before.
fn is_failed_link(message: &str) -> bool {
    message.starts_with("linker command failed")
        || (message.starts_with("ld returned ") && message.ends_with(" status"))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    errors: u64,
    failed_link: Option<String>,
    /// The tool of the last finding that named its rule: notes have none.
    tool: Option<(&'static str, Sort)>,
    /// A place whose message did not come yet.
    above: Option<Above>,
}

impl Reader {
    fn add_of(
        &mut self,
        compiler: &'static str,
        level: Level,
        place: (Option<&str>, Option<u64>),
        message: &str,
    ) -> Result<()> {
        let (message, rule) = match bracketed(message, '[', ']') {
            Some((message, rule)) => (message, Some(rule_of(rule))),
            None => (message, None),
        };
        let swift = || place.0.is_some_and(|path| path.ends_with(".swift")).then(|| bracketed(message, '(', ')'))?;
        let (message, rule, told) = match (rule, swift()) {
            (None, Some((message, rule))) => (message, Some(rule), Some(("swiftlint", Sort::Linter))),
            (rule, _) => (message, rule, rule.filter(|_| compiler == "gcc").map(tool_of)),
        };
        let is_note = level == Level::Note;
        let told = told.or(self.tool.filter(|_| is_note && compiler != "cppcheck"));
        let (tool, sort) = told.unwrap_or((compiler, sort_of(compiler)));
        self.tool = Some((tool, sort));
        self.errors += u64::from(level == Level::Error);
        self.tally.finding(finding(tool, level, place, rule, message), sort)
    }
}

impl Reader {
    /// The message of the place above.
    fn below(&mut self, above: &Above, text: &str) -> Result<bool> {
        let told = match above.level {
            Some(level) => (!text.is_empty()).then(|| (level, text.trim_start().trim_start_matches("• "))),
            None => of_fortran(text),
        };
        let rest =
            || of_ocaml(text).map(|(level, rule, message)| (level, format!("{message} [{}]", rule.unwrap_or("alert"))));
        let told = told.map(|(level, message)| (level, format!("{message} {}", above.rules)));
        let Some((level, message)) = told.or_else(rest) else { return Ok(false) };
        self.add_of(above.compiler, level, (Some(&above.path), above.line), message.trim_end()).map(|()| true)
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(mut above) = self.above.take() {
            if self.below(&above, text)? {
                return Ok(());
            }
            if is_bare_error(text) {
                above.level = Some(Level::Error);
            }
            self.above = Some(above);
        }
        if let Some(above) = place_above(text) {
            self.above = Some(above);
            return Ok(());
        }
        if let Some(found) = diagnostic(text) {
            return self.add_of(found.tool, found.level, (Some(found.path), found.line), found.message);
        }
        if let Some((level, path, line, message)) = of_old_cppcheck(text) {
            let place = (Some(path), Some(line));
            return self.tally.finding(finding("cppcheck", level, place, None, message), Sort::Linter);
        }
        if let Some(tool) = ended(text) {
            self.tally.tool(tool, Sort::Linter);
        }
        if text == WARNINGS_OF_JAVAC {
            return self.add_of("javac", Level::Error, (None, None), "warnings found and -Werror specified");
        }
        match driver(text) {
            Some((_, _, message)) if is_failed_link(message) => self.failed_link = Some(message.to_owned()),
            Some((_, level, message)) => self.add_of("gcc", level, (None, None), message)?,
            None => {}
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        // Programs log so, too: without a column, and about no file that is compiled.
        let is_certain = |found: &Diagnostic<'_>| {
            let rule = bracketed(found.message, '[', ']').map(|(_, rule)| rule);
            // Scripts need no extension.
            let is_of_shellcheck = || found.has_column && rule.is_some_and(|rule| is_code(rule, 2..=2, 4..=4));
            found.is_unparsed || found.is_compiled && (rule.is_some() || found.has_column) || is_of_shellcheck()
        };
        match diagnostic(text) {
            Some(found) if is_certain(&found) => Claim::Ours,
            Some(_) => Claim::Alike,
            None if driver(text).is_some() || of_old_cppcheck(text).is_some() || ended(text).is_some() => Claim::Ours,
            None if place_above(text).is_some() || text == WARNINGS_OF_JAVAC => Claim::Ours,
            None if self.above.is_some() && is_message(text) => Claim::Ours,
            None => Claim::Other,
        }
    }

    fn other(&mut self, text: &str) -> Result<()> {
        if self.above.is_some() { self.line(text) } else { Ok(()) }
    }

    fn is_whole(&self, text: &str) -> bool {
        let is_count = text.ends_with(" generated.") && text.starts_with(|c: char| c.is_ascii_digit());
        let has_rule = || diagnostic(text).is_some_and(|found| bracketed(found.message, '[', ']').is_some());
        let is_known = || diagnostic(text).is_some_and(|found| found.message.ends_with("(first use in this function)"));
        is_count || ended(text).is_some() || text == "compilation terminated." || has_rule() || is_known()
    }

    fn tells_all(&self, text: &str) -> bool {
        // What is wrong with a line without indentation: `^~~`.
        let is_mark = text.starts_with('^') && text.bytes().all(|byte| matches!(byte, b'^' | b'~'));
        // gfortran and OCaml say below the source what it is about.
        self.above.is_none() && (text.starts_with(' ') || is_mark || diagnostic(text).is_some())
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        if let Some(message) = self.failed_link.take().filter(|_| self.errors == 0) {
            self.add_of("gcc", Level::Error, (None, None), &message)?;
        }
        self.tally.finish_found(&FORMAT)
    }
}

/// The rule in the brackets without what says that warnings are errors: `-Werror=unused-variable`,
/// `readability-magic-numbers,-warnings-as-errors`.
fn rule_of(text: &str) -> &str {
    text.split(',').next().unwrap_or(text)
}

/// Whose file it is.
fn compiler_of(path: Option<&str>) -> &'static str {
    match path.and_then(|path| path.rsplit_once('.')) {
        Some((_, "java")) => "javac",
        Some((_, "swift")) => "swiftc",
        Some((_, "hs" | "lhs")) => "ghc",
        Some((_, "zig")) => "zig",
        Some((_, "rb")) => "ruby",
        Some((_, "R" | "r" | "Rmd" | "rmd" | "qmd")) => "lintr",
        Some((_, "v" | "sv" | "vh" | "svh")) => "iverilog",
        Some((_, "adb" | "ads")) => "gnat",
        Some((_, "asm" | "nasm")) => "nasm",
        Some((_, end)) if OCAML.contains(&end) => "ocaml",
        Some((_, end)) if FORTRAN.contains(&end.to_lowercase().as_str()) => "gfortran",
        _ => "gcc",
    }
}

/// The tool whose rule it is.
fn tool_of(rule: &str) -> (&'static str, Sort) {
    if is_code(rule, 2..=2, 4..=5) && rule.starts_with("SC") {
        ("shellcheck", Sort::Linter)
    } else if rule.starts_with(|c: char| c.is_ascii_lowercase()) && rule.contains('-') {
        ("clang-tidy", Sort::Linter)
    } else if rule.starts_with(|c: char| c.is_ascii_lowercase()) {
        ("cppcheck", Sort::Linter)
    } else {
        ("gcc", Sort::Compiler)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::{Details, Finding};

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    fn told(text: &str) -> Vec<Finding> {
        let Details::Lint(details) = parsed(text).unwrap().details else { panic!("lint") };
        details.findings
    }

    #[test]
    fn r_has_a_linter_with_a_rule_first_and_scripts_need_no_name() {
        let text = "/p/l.R:1:3: style: [assignment_linter] Use <-, not =, for assignment.\nf = function(x){\n  ^\n\
                    /p/l.R:2:3: warning: [object_usage_linter] local variable is not used\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.warnings, parsed.figures.notes), (Some(1), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!(details.by_tool.keys().collect::<Vec<_>>(), ["lintr"]);
        let claim = |text: &str| Reader::default().claim(text);
        assert_eq!(claim("bin/run:2:3: note: Use $(...). [SC2006]"), Claim::Ours);
        assert_eq!(claim("bin/run:2:3: note: Use $(...)."), Claim::Alike);
        for compiled in [
            "a.scala:1: error: not found: value nope",
            "a.v:4: error: Unable to bind",
            "a.adb:2:17: error: expected type",
        ] {
            assert_eq!(claim(compiled), Claim::Ours, "{compiled}");
        }
        assert_eq!(claim("a.c:1: error: no"), Claim::Alike);
    }

    #[test]
    fn places_for_editors_are_read() {
        let text = "\
a.c(4,67): warning: using an assignment as a condition [-Wparentheses]
a.c(4): error: Buffer is accessed out of bounds: b
a.c +5: style: Condition 'y=3' is always true
nofile(0): information: Cppcheck cannot find all the include files
a.c:4:67:{4:66-4:69}{4:2-4:3}: warning: the same [-Wformat]
a.c:4:67:{x}: warning: no range
main(4): error: a call
a.c(4,5,6): error: nobody's
a.c(7): error: in \"sums/fails\": check 1 == 2 has failed
a.c:7: error: Failure!
error: warnings found and -Werror specified
";
        let all = told(text);
        let found: Vec<_> = all.iter().map(|f| (f.tool.as_str(), f.line, f.rule.as_deref())).collect();
        let expected = [
            ("gcc", Some(4), Some("-Wparentheses")),
            ("cppcheck", Some(4), None),
            ("cppcheck", Some(5), None),
            ("cppcheck", None, None),
            ("gcc", Some(4), Some("-Wformat")),
            ("javac", None, None),
        ];
        assert_eq!(found, expected);
        let figures = parsed(text).unwrap().figures;
        assert_eq!((figures.errors, figures.warnings, figures.notes), (Some(2), Some(2), Some(2)));
    }

    #[test]
    fn rules_tell_the_tool() {
        let text = "\
m.c:12:9: warning: comparison of integers [-Wsign-compare]
m.c:3:1: note: declared here
m.c:4:1: error: unused variable 'x' [-Werror=unused-variable]
a.sh:9:1: note: The error was in this. [SC1009]
p/n.c:6:51: error: 10 is a magic number [readability-magic-numbers,-warnings-as-errors]
p/n.c:7:1: note: here
a.c:1: fatal error: h.h: No such file or directory
a.c:3:49: style: Condition 'a=3' is always true [knownConditionTrueFalse]
a.c:4:1: style: noRule told elsewhere
A.swift:3:1: warning: Line Length Violation: too long (line_length)
";
        let all = told(text);
        let tools: Vec<_> = all.iter().map(|f| (f.tool.as_str(), f.rule.as_deref())).collect();
        assert_eq!(
            tools,
            [
                ("gcc", Some("-Wsign-compare")),
                ("gcc", None),
                ("gcc", Some("-Werror=unused-variable")),
                ("shellcheck", Some("SC1009")),
                ("clang-tidy", Some("readability-magic-numbers")),
                ("clang-tidy", None),
                ("gcc", None),
                ("cppcheck", Some("knownConditionTrueFalse")),
                ("cppcheck", None),
                ("swiftlint", Some("line_length")),
            ]
        );
        let first = all.first().unwrap();
        assert_eq!(
            (first.path.as_deref(), first.line, first.message.as_str()),
            (Some("m.c"), Some(12), "comparison of integers")
        );
        assert_eq!(all.iter().filter(|f| f.level == Level::Error).count(), 3);
    }

    #[test]
    fn older_cppcheck_is_read_and_a_clean_run_is_zero_where_the_tool_says_so() {
        let text = "Checking a.cpp...\n[a.cpp:51]: (warning) Not set.\n[a.h:2] -> [b.h:9]: (style, inconclusive) Unused.\n\
                    (information) Some files are missing\n2/2 files checked 100% done\n";
        let all: Vec<_> =
            told(text).into_iter().map(|found| (found.tool, found.level, found.path.unwrap(), found.line)).collect();
        let one = |level, path: &str, line| ("cppcheck".to_owned(), level, path.to_owned(), Some(line));
        assert_eq!(all, [one(Level::Warning, "a.cpp", 51), one(Level::Note, "b.h", 9)]);
        for clean in
            ["Checking a.c ...\n2/2 files checked 100% done", "Done linting! Found 0 violations, 0 serious in 1 file."]
        {
            assert_eq!(parsed(clean).unwrap().figures.total, Some(0), "{clean}");
        }
        for other in ["Checking a.c ...\n1/2 files checked 50% done\n", "[a.c:3]: (see) x\n", "[12:30]: (error) x\n"] {
            assert_eq!(parsed(other).unwrap_err().reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }

    #[test]
    fn gfortran_ocaml_and_ghc_print_place_and_message_apart() {
        let text = "a.f90:8:12:\n\n    8 |   call nope(\n      |            1\nError: Syntax error in argument list at (1)\n\
                    a.f90:5:6:\n\n    5 |   i = 1.5\n      |      1\nWarning: Change of value at (1) [-Wconversion]\n\
                    B.F90:6:3: Error: Symbol j at (1) has no type\n";
        let one = |f: Finding| (f.tool, f.level, f.line.unwrap(), f.rule.unwrap_or_default(), f.message);
        let all: Vec<_> = told(text).into_iter().map(one).collect();
        let expected = |tool: &str, level, line, rule: &str, message: &str| {
            (tool.to_owned(), level, line, rule.to_owned(), message.to_owned())
        };
        assert_eq!(
            all,
            [
                expected("gfortran", Level::Error, 8, "", "Syntax error in argument list at (1)"),
                expected("gfortran", Level::Warning, 5, "-Wconversion", "Change of value at (1)"),
                expected("gfortran", Level::Error, 6, "", "Symbol j at (1) has no type"),
            ]
        );
        let text = "A.hs:3:5: error: [GHC-88464]\n    Variable not in scope: foo\n  |\n3 | main = foo\n\n\
                    A.hs:(4,1)-(5,7): warning: [-Wunused-matches]\n    • Defined but not used: x\n\nA.hs:6:1: error:\n    parse error\n";
        let all: Vec<_> = told(text).into_iter().map(one).collect();
        assert_eq!(
            all,
            [
                expected("ghc", Level::Error, 3, "GHC-88464", "Variable not in scope: foo"),
                expected("ghc", Level::Warning, 4, "-Wunused-matches", "Defined but not used: x"),
                expected("ghc", Level::Error, 6, "", "parse error"),
            ]
        );
        let text = "File \"bin/a.ml\", line 3, characters 6-7:\n3 |   x + z\n          ^\nError: Unbound value z\n\
                    File \"b.ml\", lines 4-5, characters 2-7:\nWarning 26 [unused-var]: unused variable y.\n";
        let all: Vec<_> = told(text).into_iter().map(one).collect();
        assert_eq!(
            all,
            [
                expected("ocaml", Level::Error, 3, "", "Unbound value z"),
                expected("ocaml", Level::Warning, 4, "unused-var", "unused variable y."),
            ]
        );
        let text = "File \"./A.v\", line 4, characters 2-3:\nError:\nIn environment\nn : nat\n\n\
                    File \"B.v\", line 5, characters 0-9:\nWarning: It is\ndeprecated. [x,deprecated]\n";
        let all: Vec<_> = told(text).into_iter().map(one).collect();
        assert_eq!(
            all,
            [expected("coq", Level::Error, 4, "", "In environment"), expected("coq", Level::Warning, 5, "", "It is"),]
        );
        let signed = told(
            "❌ /app/Shop/Cart.swift:12:5: cannot find 'x' in scope\n        x()\n        ^\n\
             [!]  /app/Shop/Cart.swift:14:9: variable 'y' was never used\n❌ ld: symbol(s) not found\n❌ a.py:1:2: no\n",
        );
        let places: Vec<_> = signed.iter().map(|one| (one.level, one.line, one.message.as_str())).collect();
        let expected = [
            (Level::Error, Some(12), "cannot find 'x' in scope"),
            (Level::Warning, Some(14), "variable 'y' was never used"),
        ];
        assert_eq!(places, expected);
        assert_eq!(told("A.java:3: error: ';' expected\n").first().unwrap().tool, "javac");
    }

    #[test]
    fn the_driver_and_a_failed_link_are_errors() {
        assert_eq!(told("cc1: fatal error: x.c: No such file or directory\ncompilation terminated.\n").len(), 1);
        assert_eq!(told("/opt/arm-none-eabi-gcc-12: error: unrecognized option\n").len(), 1);
        let missing = told("error: no such file or directory: '/p/a.cpp' [clang-diagnostic-error]\n");
        let found = missing.first().unwrap();
        assert_eq!((found.tool.as_str(), found.rule.as_deref()), ("clang-tidy", Some("clang-diagnostic-error")));
        let link = "/usr/bin/ld: m.o: in function `main':\nm.c:(.text+0x77): undefined reference to `g'\n\
                    collect2: error: ld returned 1 exit status\n";
        let failed = told(link);
        assert_eq!((failed.len(), failed.first().unwrap().level), (1, Level::Error));
        assert_eq!(
            told("ld: error: undefined symbol: g\nclang: error: linker command failed with exit code 1\n").len(),
            1
        );
        assert_eq!(parsed("make: *** [all] Error 1\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn a_cut_line_is_refused_unless_it_is_whole() {
        let before = "m.c:12:9: warning: w [-Wx]\n";
        for cut in ["m.c:12:9: warn", "m.c:12", "In file included from m.c:1", "cc1: all warn"] {
            let error = parsed(&format!("{before}{cut}")).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)), "{cut}");
        }
        for whole in
            ["m.c:1:2: error: x (first use in this function)", "m.c:1:2: error: x [-Wy]", "2 warnings generated."]
        {
            assert!(parsed(&format!("{before}{whole}")).unwrap().warnings.is_empty(), "{whole}");
        }
        for (open, warnings) in
            [("m.c:13:9: warning: comparison of", 2), ("   12 | if (i", 1), ("      |         ^~~", 1), ("^", 1)]
        {
            let parsed = parsed(&format!("{before}{open}")).unwrap();
            assert_eq!((parsed.figures.warnings, parsed.warnings.len()), (Some(warnings), 1), "{open}");
        }
        // What gfortran means stands below its source.
        let fortran = "t.f90:5:7:\n\n    5 |   x = y";
        assert_eq!(parsed(&format!("{before}{fortran}")).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn other_tools_files_are_not_taken_for_ours() {
        let sniffed =
            |text: &str| matches!(sniff(&Head::read(&Input::bytes("x", text.as_bytes())).unwrap()), Sniff::Sure(_));
        assert!(sniffed("make: enter\nm.c:12:9: warning: w\n") && sniffed("a.sh:1:2: note: n [SC1]\n"));
        assert!(!sniffed("a.py:12:9: error: e  [x]\nm.c:1:1: error: e\n") && !sniffed("src/a.rs:1:2: warning: w\n"));
        assert!(!sniffed("a.c:1:2: no level\n") && !sniffed("12:30:01: error: x\n"));
    }
}
