//! `bundler-text`: why a build failed, as Vite, Rollup, Rolldown, Parcel and Next.js print it; and that it did not.
//!
//! They stop at the first error, or say how many there are. The sizes that Vite and Next.js print are `vite-build-text`'s and
//! `bundle-text`'s; webpack has a format of its own, and type errors under Next.js are `next-text`'s.

use super::LintTally;
use super::lines::{Claim, TextReader, bare_place, finding, is_of_another, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Bundlers' output.
pub const FORMAT: Format = Format {
    name: "bundler-text",
    kind: ReportKind::Lint,
    about: "terminal output of bundlers: why a build failed",
    written_by: "vite build, rollup, rolldown, tsdown, parcel build, next build",
    told_by: "\"error during build:\", \"[!] RollupError: …\", \"🚨 Build failed.\", or \"Error: Turbopack build failed \
              with 1 error:\"",
    has_end: false,
    counting: "Each failed build is an error, or as many as it says. Rollup's lines with \"(!)\" are warnings, and so \
               are Rolldown's (Vite from version 8 on) with a code in brackets above the source. A build that came to \
               its end has found no error.",
    sniff,
    parse: |input| read::<Reader>(input, "a bundler"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let mut reader = Reader::default();
    let is_ours = head.lines().map(str::trim_end).any(|line| {
        // Of a build of Vite's that did not fail, its sizes are more to tell.
        let is_ours = reader.claim(line) != Claim::Other && !matches!(built(line), Some(VITE | NEXT));
        reader.is_rollup |= begins_rollup(line);
        is_ours
    });
    let fails_at_last = || head.last_lines().any(|line| failed(line.trim_end()).is_some());
    match (is_ours || fails_at_last()) && !is_of_another(head) {
        true => Sniff::Sure("the line with which a bundler's build fails or ends".into()),
        false => Sniff::No,
    }
}

/// Whether a build failed there.
pub(in crate::ingest) fn has_failed(head: &Head<'_>) -> bool {
    head.lines_of_both_ends().any(|line| failed(line.trim_end()).is_some())
}

const VITE: &str = "vite";
const ROLLUP: &str = "rollup";
const ROLLDOWN: &str = "rolldown";
const PARCEL: &str = "parcel";
const NEXT: &str = "next";

/// The line with which a build fails: whose it is, what is said on it, and how many errors there are, if that is.
struct Failure<'a> {
    tool: &'static str,
    told: &'a str,
    number: Option<u64>,
}

fn failed(text: &str) -> Option<Failure<'_>> {
    let without = |tool| Some(Failure { tool, told: "", number: None });
    match text {
        "error during build:" => return without(VITE),
        "🚨 Build failed." => return without(PARCEL),
        _ => {}
    }
    if let Some(rest) = text.strip_prefix("Error: Turbopack build") {
        return Some(Failure { tool: NEXT, told: "", number: Some(number(rest)?) });
    }
    if text.starts_with("Error occurred prerendering page ") {
        let told = split_at(text, ". Read more").map_or(text, |(told, _)| told);
        return Some(Failure { tool: NEXT, told, number: Some(1) });
    }
    // Of Rolldown and tsdown: ` ERROR  Error: Build failed with 1 error:`, where nobody looks on `[error] Build failed with …`.
    if let Some(rest) = text.strip_prefix(" ERROR  ").or_else(|| text.strip_prefix("[error] ")) {
        let number = number(rest.strip_prefix("Error: ").unwrap_or(rest).strip_prefix("Build")?)?;
        return Some(Failure { tool: ROLLDOWN, told: "", number: Some(number) });
    }
    // `[!] RollupError: Could not resolve …`, `[!] (plugin terser) Error: …`.
    let rest = text.strip_prefix("[!] ")?;
    let (plugin, told) = match rest.strip_prefix("(plugin ").and_then(|rest| rest.split_once(") ")) {
        Some((_, told)) => (true, told),
        None => (false, rest),
    };
    let told = told.strip_prefix("RollupError: ").or(plugin.then_some(told))?;
    Some(Failure { tool: ROLLUP, told, number: None })
}

/// The number in ` failed with 2 errors:`.
fn number(text: &str) -> Option<u64> {
    let (number, rest) = leading_in(text.strip_prefix(" failed with ")?)?;
    matches!(rest, " error:" | " errors:").then_some(number)
}

/// Above what webpack has to say under Next.js before version 16, and below it.
const NEXT_FAILED: &str = "Failed to compile.";
const NEXT_OVER: &str = "> Build failed because of webpack errors";

/// Whose build came to its end with the line: `✓ built in 1.23s`, `✨ Built in 1.23s`, `✔ Build complete in 27ms`. Next.js goes on
/// after it.
fn built(text: &str) -> Option<&'static str> {
    let is_time = |text: &str| leading_in(text).is_some() && text.ends_with('s');
    // Before version 16 of Next.js its signs are set in.
    let text = text.strip_prefix(' ').unwrap_or(text);
    let ends = [
        ("✓ built in ", VITE),
        ("✨ Built in ", PARCEL),
        ("✔ Build complete in ", ROLLDOWN),
        ("[success] Build complete in ", ROLLDOWN),
        ("✓ Compiled successfully in ", NEXT),
    ];
    let told = ends.iter().find(|(begin, _)| text.strip_prefix(begin).is_some_and(is_time)).map(|(_, tool)| *tool);
    let is_rolldown = || {
        let rest = text.strip_prefix("✔ rolldown v").or_else(|| text.strip_prefix("[success] rolldown v"));
        rest.and_then(|rest| split_at(rest, " Finished in ")).is_some_and(|(_, time)| is_time(time))
    };
    told.or_else(|| is_rolldown().then_some(ROLLDOWN)).or_else(|| (text == "✓ Compiled successfully").then_some(NEXT))
}

/// Whether Rollup says what it builds: `src/a.js → dist...`.
fn begins_rollup(text: &str) -> bool {
    text.ends_with("...") && text.contains(" → ")
}

/// Code and message of Vite 8's `[MISSING_EXPORT] message`, plugin and message of `[vite:css] message`.
fn marked(text: &str) -> Option<(&str, &str)> {
    let (mark, message) = text.strip_prefix('[')?.split_once("] ")?;
    let is_mark = !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-:@/".contains(&byte));
    is_mark.then_some((mark, message))
}

/// What may be a warning of Rolldown's: `[EVAL] message`, before it the place where no Vite calls it.
fn warned(text: &str) -> Option<Fault> {
    let text = placed(text).map_or(text, |(_, told)| told.trim_start());
    let (code, message) = marked(text)?;
    let is_code = code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    is_code.then(|| Fault { message: message.to_owned(), rule: Some(code.to_owned()), ..Fault::default() })
}

/// Place and message of Rollup's `src/a.js (2:19): message`.
fn placed(text: &str) -> Option<((&str, Option<u64>), &str)> {
    let (path, rest) = text.split_once(" (")?;
    let (line, rest) = leading_in(rest)?;
    let (_, rest) = leading_in(rest.strip_prefix(':')?)?;
    let message = rest.strip_prefix(')')?;
    Some(((path, Some(line)), message.strip_prefix(": ").unwrap_or(message)))
}

/// One thing that is wrong.
#[derive(Default)]
struct Fault {
    message: String,
    rule: Option<String>,
    path: Option<String>,
    line: Option<u64>,
}

/// A build that failed.
struct Open {
    tool: &'static str,
    /// How many it says there are.
    number: Option<u64>,
    faults: Vec<Fault>,
    /// Nothing counts yet: what follows may be a type error, which is another's to tell.
    is_unsure: bool,
}

/// Faults of one build that are kept by name.
const FAULTS_HELD: usize = 1_000;

impl Open {
    fn line(&mut self, text: &str) {
        if self.number.is_none() && self.faults.is_empty() {
            self.number = text.strip_prefix("Build").and_then(number);
            if self.number.is_some() {
                return;
            }
        }
        let text = text.trim();
        if self.tool == NEXT {
            return self.line_of_next(text);
        }
        let place = match self.tool {
            VITE | ROLLDOWN => {
                // `╭─[ src/a.js:2:20 ]`, before Vite 8 `file: /app/src/a.js:2:20`.
                let frame = text.strip_prefix("╭─[ ").and_then(|text| text.strip_suffix(" ]"));
                frame.or_else(|| text.strip_prefix("file: "))
            }
            ROLLUP => placed(text).filter(|(_, message)| message.is_empty()).map(|_| text),
            _ => Some(text).filter(|text| bare_place(text).is_some()),
        };
        let last = self.faults.last_mut().filter(|fault| !fault.message.is_empty());
        match (last, place) {
            (Some(fault), Some(place)) if fault.path.is_none() => {
                let at = placed(place).map(|(place, _)| place).or_else(|| bare_place(place));
                let (path, line) = at.unwrap_or((place, None));
                (fault.path, fault.line) = (Some(path.to_owned()), line);
            }
            (None, None) if !text.is_empty() => self.begin(text),
            // Each is marked where it says how many there are.
            (Some(_), None) if self.number.is_some() && marked(text).is_some() => self.begin(text),
            _ => {}
        }
    }

    /// The place of each comes first. What is below an import trace has no message.
    fn line_of_next(&mut self, text: &str) {
        if text.starts_with("./") && self.faults.len() < FAULTS_HELD {
            self.faults.retain(|fault| !fault.message.is_empty());
            let (path, line) = bare_place(text).unwrap_or((text, None));
            self.faults.push(Fault { path: Some(path.to_owned()), line, ..Fault::default() });
        } else if let Some(fault) = self.faults.last_mut().filter(|fault| fault.message.is_empty()) {
            match text.strip_prefix("Error: ").unwrap_or(text) {
                "" => drop(self.faults.pop()),
                message => message.clone_into(&mut fault.message),
            }
        }
    }

    fn begin(&mut self, text: &str) {
        if self.faults.len() == FAULTS_HELD {
            return;
        }
        let (rule, message) = marked(text).map_or((None, text), |(rule, message)| (Some(rule.to_owned()), message));
        let message =
            message.strip_prefix("@parcel/").and_then(|told| told.split_once(": ")).map_or(message, |told| told.1);
        let (place, message) = placed(message).map_or((None, message), |(place, message)| (Some(place), message));
        let (path, line) = place.map_or((None, None), |(path, line)| (Some(path.to_owned()), line));
        self.faults.push(Fault { message: message.to_owned(), rule, path, line });
    }
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    open: Option<Open>,
    /// Rollup said what it builds, `src/a.js → dist...`, and not yet that it did.
    is_rollup: bool,
    /// The line before, if it may be a warning of Rolldown's.
    before: Option<Fault>,
    /// Its warnings, until the build ends and tells who called it: what Vitest cannot parse looks the same.
    warnings: Vec<Fault>,
}

impl Reader {
    /// The place of Rolldown's warning: `   ╭─[ warn.js:1:49 ]` below it, where no build failed.
    fn place_of_warning<'a>(&self, text: &'a str) -> Option<(&'a str, Option<u64>)> {
        if self.open.is_some() || self.before.is_none() {
            return None;
        }
        bare_place(text.trim().strip_prefix("╭─[ ")?.strip_suffix(" ]")?)
    }

    /// Counts the warnings above.
    fn warn(&mut self, tool: &'static str) -> Result<()> {
        std::mem::take(&mut self.warnings).into_iter().try_for_each(|fault| self.add(tool, Level::Warning, fault))
    }

    fn add(&mut self, tool: &str, level: Level, fault: Fault) -> Result<()> {
        let place = (fault.path.as_deref(), fault.line.filter(|line| *line > 0));
        self.tally.finding(finding(tool, level, place, fault.rule.as_deref(), &fault.message), Sort::Compiler)
    }

    /// Counts the build that failed above.
    fn close(&mut self) -> Result<()> {
        let Some(Open { tool, number, mut faults, is_unsure: false }) = self.open.take() else { return Ok(()) };
        faults.retain(|fault| !fault.message.is_empty());
        if faults.is_empty() && number.is_none() {
            let why = "report ends before it says why the build failed";
            return Err(Error::report(Reject::Malformed, why).help(CUT_HELP));
        }
        // Of webpack under Next.js, and of those who stop at the first.
        let told = if tool == NEXT { u64::try_from(faults.len()).unwrap_or(u64::MAX) } else { 1 };
        let mut left = number.unwrap_or(told);
        for fault in faults {
            if left > 0 {
                left -= 1;
                self.add(tool, Level::Error, fault)?;
            }
        }
        self.tally.count(tool, Sort::Compiler, Level::Error, left)
    }

    /// Whether Rollup says that it wrote what it was to build: `created dist in 12ms`.
    fn is_created(&self, text: &str) -> bool {
        let told = text.strip_prefix("created ").and_then(|rest| rest.rsplit_once(" in "));
        self.is_rollup && told.is_some_and(|(_, time)| leading_in(time).is_some() && time.ends_with('s'))
    }

    fn is_warning(&self, text: &str) -> bool {
        self.is_rollup && text.starts_with("(!) ")
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        let place = self.place_of_warning(text).map(|(path, line)| (path.to_owned(), line));
        let warning = self.before.take();
        if let (Some((path, line)), Some(fault)) = (place, warning) {
            if self.warnings.len() < FAULTS_HELD {
                self.warnings.push(Fault { path: Some(path), line, ..fault });
            }
            return Ok(());
        }
        self.before = warned(text);
        if let Some(Failure { tool, told, number }) = failed(text) {
            self.warn(tool)?;
            self.close()?;
            let mut open = Open { tool, number, faults: Vec::new(), is_unsure: false };
            if !told.is_empty() {
                open.begin(told);
            }
            self.open = Some(open);
            self.is_rollup = false;
        } else if text == NEXT_FAILED {
            self.close()?;
            self.open = Some(Open { tool: NEXT, number: None, faults: Vec::new(), is_unsure: true });
        } else if text == NEXT_OVER {
            if let Some(open) = self.open.as_mut() {
                open.is_unsure = false;
            }
            self.close()?;
        } else if let Some(tool) = built(text).or_else(|| self.is_created(text).then_some(ROLLUP)) {
            self.warn(tool)?;
            self.close()?;
            self.tally.tool(tool, Sort::Compiler);
            self.is_rollup = false;
        } else if self.is_warning(text) {
            let message = text.trim_start_matches("(!) ");
            self.tally.finding(finding(ROLLUP, Level::Warning, (None, None), None, message), Sort::Compiler)?;
        } else if let Some(open) = &mut self.open {
            open.line(text);
        } else {
            self.is_rollup |= begins_rollup(text);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let warns = || self.is_warning(text) || self.place_of_warning(text).is_some();
        if built(text).is_some_and(|tool| tool != NEXT) || self.is_created(text) {
            Claim::Last
        } else if failed(text).is_some() || built(text).is_some() || text == NEXT_OVER || warns() {
            Claim::Ours
        } else {
            Claim::Other
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        built(text).is_some()
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        self.close()?;
        self.tally.finish_found(&FORMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    fn parse(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    /// Tool, path, line, rule and message of each finding.
    fn told(text: &str) -> Vec<[String; 5]> {
        let Details::Lint(lint) = parse(text).unwrap().details else { panic!("lint") };
        let or_none = |text: Option<String>| text.unwrap_or_default();
        let findings = lint.findings.into_iter();
        findings
            .map(|one| {
                let line = or_none(one.line.map(|line| line.to_string()));
                [one.tool, or_none(one.path), line, or_none(one.rule), one.message]
            })
            .collect()
    }

    #[test]
    fn vite_stops_at_its_first_error() {
        let failed = "✗ Build failed in 40ms\nerror during build:\n";
        for (rest, expected) in [
            (
                "Could not resolve \"./b.js\" from \"a.js\"\nfile: /app/a.js\n    at x (file:///y.js:1:2)\n",
                ["vite", "/app/a.js", "", "", "Could not resolve \"./b.js\" from \"a.js\""],
            ),
            (
                "src/a.js (2:19): Expression expected\nfile: /app/src/a.js:2:19\n\n1: a\n",
                ["vite", "src/a.js", "2", "", "Expression expected"],
            ),
            (
                "[vite:css] [postcss] Unclosed block\nfile: /app/a.css:3:1\n",
                ["vite", "/app/a.css", "3", "vite:css", "[postcss] Unclosed block"],
            ),
        ] {
            assert_eq!(told(&format!("{failed}{rest}")), [expected], "{rest}");
        }
        assert_eq!(parse(failed).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn warnings_of_rolldown_stand_above_the_source() {
        let frame = "   ╭─[ warn.js:1:49 ]\n   │\n 1 │ eval('1')\n───╯\n\n";
        let vite = format!("[EVAL] Use of eval.\n{frame}[PLUGIN_TIMINGS] Slow.\n\n✓ built in 101ms\n");
        let rolldown = format!("warn.js (1:48) [EVAL] Use of eval.\n{frame}✔ rolldown v1.3.2 Finished in 19.68 ms\n");
        for (text, tool) in [(vite, "vite"), (rolldown, "rolldown")] {
            assert_eq!(told(&text), [[tool, "warn.js", "1", "EVAL", "Use of eval."]], "{text}");
            assert_eq!(parse(&text).unwrap().figures.warnings, Some(1));
        }
        assert_eq!(parse(&format!("x\n{frame}✓ built in 101ms\n")).unwrap().figures.total, Some(0));
        assert!(parse(&format!("[PARSE_ERROR] Unexpected token\n{frame}")).is_err(), "no build ended");
    }

    #[test]
    fn vite_8_says_how_many_there_are() {
        let text = "error during build:\nBuild failed with 3 errors:\n\n[PARSE_ERROR] Unexpected token\n   ╭─[ src/a.js:2:20 ]\n   │\n\
            ───╯\n\n[MISSING_EXPORT] \"b\" is not exported by \"b.js\".\n   ╭─[ c.js:1:9 ]\n    at x\n";
        let expected = [
            ["vite", "src/a.js", "2", "PARSE_ERROR", "Unexpected token"],
            ["vite", "c.js", "1", "MISSING_EXPORT", "\"b\" is not exported by \"b.js\"."],
        ];
        assert_eq!(
            (told(text).as_slice(), parse(text).unwrap().figures.errors),
            (expected.map(|one| one.map(str::to_owned)).as_slice(), Some(3))
        );
        let one = "error during build:\nBuild failed with 1 error:\n\nError: [vite]: Rolldown failed to resolve import \"x\".\nThis is\n";
        assert_eq!(told(one), [["vite", "", "", "", "Error: [vite]: Rolldown failed to resolve import \"x\"."]]);
    }

    #[test]
    fn rollup_and_parcel_tell_one_error() {
        let rollup = "\nsrc/a.js → out...\n(!) Circular dependency\nsrc/a.js -> src/b.js\n";
        assert_eq!(
            told(&format!("{rollup}[!] RollupError: Could not resolve \"./b.js\"\nsrc/a.js (1:54)\n    at x\n")),
            [
                ["rollup", "", "", "", "Circular dependency"],
                ["rollup", "src/a.js", "1", "", "Could not resolve \"./b.js\""]
            ]
        );
        assert_eq!(told("[!] (plugin terser) Error: No\n"), [["rollup", "", "", "", "Error: No"]]);
        assert_eq!(
            told(
                "Building...\n🚨 Build failed.\n\n@parcel/core: Failed to resolve './b.js'\n\n  /app/a.js:1:54\n  > 1 | b\n"
            ),
            [["parcel", "/app/a.js", "1", "", "Failed to resolve './b.js'"]]
        );
        assert!(parse("[!] not so\n").is_err());
    }

    #[test]
    fn rolldown_says_how_many_there_are() {
        let text = "Build failed with 2 errors:\n\n[PARSE_ERROR] Error: Unexpected token\n   ╭─[ a.ts:2:20 ]\n";
        for begin in [" ERROR  Error: ", " ERROR  ", "[error] "] {
            assert_eq!(
                told(&format!("{begin}{text}")),
                [["rolldown", "a.ts", "2", "PARSE_ERROR", "Error: Unexpected token"]]
            );
            assert_eq!(parse(&format!("{begin}{text}")).unwrap().figures.errors, Some(2));
        }
    }

    #[test]
    fn next_tells_places_above_messages() {
        let turbopack = "> Build error occurred\nError: Turbopack build failed with 3 errors:\n./app/a.tsx:1:1\nError: Not found\n> 1 | x\n\n\
            ./app/b.tsx\nParsing failed\n\nImport trace:\n  ./app/c.tsx\n  ./app/d.tsx\n\n";
        let expected =
            [["next", "./app/a.tsx", "1", "", "Not found"], ["next", "./app/b.tsx", "", "", "Parsing failed"]];
        assert_eq!(told(turbopack), expected);
        assert_eq!(parse(turbopack).unwrap().figures.errors, Some(3));
        let webpack = "Failed to compile.\n\n./app/a.tsx:1:1\nNot found\n\n./app/b.tsx\nParsing failed\n\nImport trace for requested module:\n./app/c.tsx\n./app/d.tsx\n\n\n";
        assert_eq!(told(&format!("{webpack}> Build failed because of webpack errors\n")), expected);
        assert!(parse(webpack).is_err());
        let page = "✓ Compiled successfully in 896ms\nError occurred prerendering page \"/\". Read more: https://x.y\nError: no\n";
        assert_eq!(told(page), [["next", "", "", "", "Error occurred prerendering page \"/\""]]);
    }

    #[test]
    fn a_build_that_came_to_its_end_found_none() {
        for text in [
            "✔ rolldown v1.3.2 Finished in 20.82 ms\n",
            "[success] Build complete in 27ms\n",
            "✓ Compiled successfully in 887ms\n",
            "✓ built in 91ms\n",
            "✨ Built in 1.20s\n",
            "a.js → out...\ncreated out in 12ms\n",
        ] {
            assert_eq!(parse(text).unwrap().figures.total, Some(0), "{text}");
        }
        for text in ["✓ built in a hurry\n", "created out in 12ms\n"] {
            assert_eq!(parse(text).unwrap_err().reject(), Some(Reject::NotThisFormat), "{text}");
        }
    }
}
