//! Several commands in one stream, each line behind the name of who wrote it, as runners of workspaces print them; or
//! behind the time, as CI logs have them. The commands may run side by side: their lines are told apart by the name.
//!
//! What GitLab's runner, BuildKit and act put before a line is written down in their sources (`timestamper.go`,
//! `progressui/printer.go`, `job_executor`'s formatter).

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, NaiveTime};

use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number};

/// Lines that are looked at to see how they are marked.
const LOOKED_AT: usize = 200;
/// Longest name, bytes.
const NAME_BYTES: usize = 100;

/// How each line is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// `2026-05-01T10:11:12.123456Z 01O text` of GitLab's log: the number and letter of the stream, and `+` where the line goes
    /// on with that before it.
    GitLab,
    /// `2026-05-01T10:11:12.1234567Z text` of a CI log; `gh run view --log` has job and step before it, and tabs between.
    /// `May 01 10:11:12 text` and the like of `ts`.
    Time,
    /// `#12 0.345 text` of BuildKit (`docker build --progress plain`): the number of the step, which is no name.
    Step,
    /// `[CI/test]   | text` of act.
    Job,
    /// `web-1  | text` of Docker Compose, `10:11:12 web.1 | text` of Foreman.
    Service,
    /// `web:test | text` of moon, `./web+test | text` of Earthly.
    Target,
    /// `web:test: text` of Turborepo.
    Task,
    /// `packages/web test: text` of pnpm, and `packages/web test$ command`.
    Script,
    /// `[web] text` of concurrently and npm-run-all, `[web]: text` of Yarn; `[web  ] text` and `[npm ..st:a] text` where names
    /// are made equally long.
    Label,
    /// `1-web text` of concurrently, told to put number and name there.
    Numbered,
    /// `web: text` of Lerna and Nx.
    Package,
    /// `web | text` of Poe the Poet and Overmind.
    Process,
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Where two may be meant, the earlier is taken.
const MARKS: [Mark; 12] = [
    Mark::GitLab,
    Mark::Service,
    Mark::Target,
    Mark::Time,
    Mark::Step,
    Mark::Job,
    Mark::Task,
    Mark::Script,
    Mark::Label,
    Mark::Numbered,
    Mark::Package,
    Mark::Process,
];

impl Mark {
    /// The mark that half of the first lines bear, and whether it is certain: nearly all of them do, and no tool's own lines
    /// look so.
    ///
    /// # Errors
    /// The output cannot be read.
    pub fn of(input: &Input<'_>) -> Result<Option<(Mark, bool)>> {
        let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
        let (mut seen, mut marked) = (0, [0; MARKS.len()]);
        let mut announced = Announced::default();
        while seen < LOOKED_AT {
            let Some(line) = lines.next()? else { break };
            if line.text.trim().is_empty() {
                continue;
            }
            seen += 1;
            announced.line(&line.text);
            for (mark, count) in MARKS.iter().zip(&mut marked) {
                *count += usize::from(mark.split(&line.text).is_some());
            }
        }
        // The runner itself has a word to say before and after.
        let is_most = |count: usize| count > 0 && count * 4 >= seen * 3;
        let mut marked = MARKS.into_iter().zip(marked);
        let most = marked.clone().find(|(_, count)| is_most(*count));
        let most = most.or_else(|| marked.find(|(_, count)| *count > 0 && count * 2 >= seen));
        let announced = announced.speaks.then_some((Mark::Script, 0));
        let most = most.or(announced);
        Ok(most.map(|(mark, count)| {
            (mark, is_most(count) && !matches!(mark, Mark::Label | Mark::Numbered | Mark::Package | Mark::Process))
        }))
    }

    /// Whether it says who wrote a line, so that the name belongs to what is told there.
    pub fn is_name(self) -> bool {
        self != Mark::Step
    }

    /// Whether names are those of packages, not of jobs.
    pub fn is_of_packages(self) -> bool {
        !matches!(self, Mark::GitLab | Mark::Time | Mark::Step | Mark::Job)
    }

    /// The package of a name, whichever of its scripts it is. `None` where one may run in several jobs.
    pub fn package(self, name: &str) -> Option<&str> {
        match self {
            _ if !self.is_of_packages() => None,
            Mark::Script => name.split(' ').next(),
            Mark::Target => name.split([':', '+']).next(),
            Mark::Task => name.split([':', '#']).next(),
            _ => Some(name),
        }
    }

    /// Whether the line goes on with the one before it.
    pub fn goes_on(self, line: &str) -> bool {
        self == Mark::GitLab && after_time(line).is_some_and(|text| text.as_bytes().get(3) == Some(&b'+'))
    }

    /// Who wrote the line (empty if that is not told), and what. `None` if it bears no such mark.
    pub fn split<'a>(self, line: &'a str) -> Option<(&'a str, &'a str)> {
        let (name, text) = match self {
            Mark::GitLab => {
                let (stream, text) = after_time(line)?.split_at_checked(4)?;
                return is_stream(stream).then_some(("", text));
            }
            Mark::Time => return timed(line),
            Mark::Step => {
                let (number, text) = line.strip_prefix('#')?.split_once(' ')?;
                let after = |(seconds, text): (&str, &'a str)| is_seconds(seconds).then_some(text);
                (number, text.split_once(' ').and_then(after).unwrap_or(text))
            }
            Mark::Job => {
                let (name, text) = line.strip_prefix('[')?.split_once("] ")?;
                (name, text.trim_start().strip_prefix("| ").unwrap_or(text))
            }
            Mark::Service | Mark::Target | Mark::Process => {
                let (name, text) = after_clock(line).unwrap_or(line).split_once('|')?;
                (name.trim(), one_blank_less(text))
            }
            Mark::Label => {
                let (name, text) = line.strip_prefix('[')?.split_once(']')?;
                (name.trim_end_matches(' '), one_blank_less(text.strip_prefix(':').unwrap_or(text)))
            }
            Mark::Numbered => line.split_once(' ').unwrap_or((line, "")),
            Mark::Script => match line.find(": ").into_iter().chain(line.find("$ ")).min() {
                Some(at) => (line.get(..at)?, line.get(at + 2..)?),
                None => (line.strip_suffix(':')?, ""),
            },
            Mark::Task | Mark::Package => match line.split_once(": ") {
                Some(split) => split,
                None => (line.trim_end().strip_suffix(':')?, ""),
            },
        };
        (name.len() <= NAME_BYTES && self.names(name)).then_some((name, text))
    }

    /// Whether somebody may have this name.
    fn names(self, name: &str) -> bool {
        match self {
            Mark::GitLab | Mark::Time => true,
            Mark::Step => is_number(name),
            // Workflow and job.
            Mark::Job => name.contains('/') && !name.contains(['[', ']']),
            Mark::Service => name
                .rsplit_once(['-', '_', '.'])
                .is_some_and(|(service, number)| is_package(service) && is_number(number)),
            Mark::Target => name
                .split_once([':', '+'])
                .is_some_and(|(package, task)| (package.is_empty() || is_package(package)) && is_task(task)),
            Mark::Task => {
                name.split_once([':', '#']).is_some_and(|(package, task)| is_package(package) && is_task(task))
            }
            Mark::Script => name.split_once(' ').is_some_and(|(folder, script)| is_package(folder) && is_task(script)),
            // What runs side by side has a number or a name; `[ 50%]` and `[INFO]` are progress and levels.
            Mark::Label => {
                let is_level = ["info", "warn", "warning", "error", "debug", "trace", "success"];
                // Of a command that is too long the middle is left out.
                let is_command =
                    || name.split_once(' ').is_some_and(|(one, rest)| is_word(one) && rest.starts_with(".."));
                let is_word_or_command = is_word(name) || is_command() && name.split(' ').all(is_word);
                !is_level.iter().any(|level| name.eq_ignore_ascii_case(level)) && is_word_or_command
            }
            Mark::Numbered => name.split_once('-').is_some_and(|(number, name)| {
                is_number(number) && name.starts_with(|c: char| c.is_ascii_alphabetic()) && is_word(name)
            }),
            Mark::Package => is_package(name),
            // A file in a table of coverage has a dot.
            Mark::Process => is_task(name) && !name.contains('.'),
        }
    }
}

/// Whether a script speaks that pnpm has announced, however much pnpm itself has to say.
#[derive(Default)]
struct Announced {
    names: BTreeSet<String>,
    speaks: bool,
}

impl Announced {
    fn line(&mut self, line: &str) {
        let Some((name, _)) = Mark::Script.split(line) else { return };
        match line.get(name.len()..) {
            Some(rest) if rest.starts_with("$ ") => drop(self.names.insert(name.to_owned())),
            _ => self.speaks |= self.names.contains(name),
        }
    }
}

/// `@scope/web`, `packages/web`, `.`.
pub(super) fn is_package(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"@/._-".contains(&b))
}

/// `test`, `test:unit`.
fn is_task(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b":._-".contains(&b))
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"@/._:-".contains(&b))
}

fn one_blank_less(text: &str) -> &str {
    text.strip_prefix(' ').unwrap_or(text)
}

/// A line behind its time, and job and step if they are told.
fn timed(line: &str) -> Option<(&str, &str)> {
    if let Some(text) = after_time(line) {
        return Some(("", text));
    }
    let (job, rest) = line.split_once('\t')?;
    let (_step, rest) = rest.split_once('\t')?;
    after_time(rest).map(|text| (job, text))
}

/// What follows the time: RFC 3339 with a `T`; a date and a time; a time alone; `ts`'s month, day and time; in brackets too.
fn after_time(line: &str) -> Option<&str> {
    if let Some((time, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return after_time(time).filter(|rest| rest.is_empty()).map(|_| one_blank_less(rest));
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    if DateTime::parse_from_rfc3339(word).is_ok() || is_time(word) {
        return Some(rest);
    }
    if NaiveDate::parse_from_str(word, "%Y-%m-%d").is_ok() {
        return after_clock(rest);
    }
    let (day, rest) = rest.split_once(' ')?;
    let is_day = MONTHS.contains(&word) && day.len() <= 2 && is_number(day);
    if is_day { after_clock(rest) } else { None }
}

/// What follows a time of day.
fn after_clock(line: &str) -> Option<&str> {
    let (time, rest) = line.split_once(' ').unwrap_or((line, ""));
    is_time(time).then_some(rest)
}

/// `10:11:12`, with a fraction behind a dot or a comma.
fn is_time(text: &str) -> bool {
    let time = text.split(['.', ',']).next().unwrap_or(text);
    time.len() == 8 && NaiveTime::parse_from_str(time, "%H:%M:%S").is_ok()
}

/// `01O `, `00E+`: number, letter, and whether the line goes on.
fn is_stream(text: &str) -> bool {
    matches!(text.as_bytes(), [a, b, b'O' | b'E', b' ' | b'+'] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit())
}

/// `0.345`, `12.34`, `1234.`.
fn is_seconds(text: &str) -> bool {
    text.split_once('.').is_some_and(|(whole, part)| is_number(whole) && part.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;
    use crate::ingest::console::{console, heard};

    #[test]
    fn names_and_text_are_told_apart() {
        for (mark, line, expected) in [
            (Mark::Time, "2026-05-01T10:11:12.1234567Z  text", Some(("", " text"))),
            (Mark::Time, "2026-05-01T10:11:12+02:00 a\tb\tc", Some(("", "a\tb\tc"))),
            (Mark::Time, "2026-05-01T10:11:12Z", Some(("", ""))),
            (Mark::Time, "build (20)\tRun tests\t2026-05-01T10:11:12Z ok", Some(("build (20)", "ok"))),
            (Mark::Time, "2026-05-01 10:11:12,345 text", Some(("", "text"))),
            (Mark::Time, "May 01 10:11:12 text", Some(("", "text"))),
            (Mark::Time, "10:11:12.345  text", Some(("", " text"))),
            (Mark::Time, "[2026-05-01 10:11:12.345]  text", Some(("", " text"))),
            (Mark::Time, "[10:11:12] ", Some(("", ""))),
            (Mark::Time, "[10:11:12 text] more", None),
            (Mark::Time, "10:11 text", None),
            (Mark::Time, "May be 10:11:12 text", None),
            (Mark::GitLab, "2026-05-01T10:11:12.123456Z 01O  text", Some(("", " text"))),
            (Mark::GitLab, "2026-05-01T10:11:12.123456Z 00E+", Some(("", ""))),
            (Mark::GitLab, "2026-05-01T10:11:12Z text", None),
            (Mark::Step, "#12 0.345   text", Some(("12", "  text"))),
            (Mark::Step, "#12 1234. ", Some(("12", ""))),
            (Mark::Step, "#12 [test 2/2] RUN pytest", Some(("12", "[test 2/2] RUN pytest"))),
            (Mark::Step, "# 12 0.345 text", None),
            (Mark::Job, "[CI/Run the tests]   |   text", Some(("CI/Run the tests", "  text"))),
            (Mark::Job, "[CI/test] ⭐ Run Main pytest", Some(("CI/test", "⭐ Run Main pytest"))),
            (Mark::Job, "[INFO] text", None),
            (Mark::Service, "web-1  | a | b", Some(("web-1", "a | b"))),
            (Mark::Service, "a.js |  100 |", None),
            (Mark::Service, "10:11:12 web.1    | text", Some(("web.1", "text"))),
            (Mark::Target, "web:test |  text", Some(("web:test", " text"))),
            (Mark::Target, "             +test | text", Some(("+test", "text"))),
            (Mark::Target, "./web+test | text", Some(("./web+test", "text"))),
            (Mark::Target, "a.js:3 | text", None),
            (Mark::Target, "    3 | text", None),
            (Mark::Process, "test:unit  |  text", Some(("test:unit", " text"))),
            (Mark::Process, "test |", Some(("test", ""))),
            (Mark::Process, "cart.js | 100", None),
            (Mark::Process, "    3 | text", None),
            (Mark::Process, "All files | 100", None),
            (Mark::Task, "@acme/web:test:unit: a: b", Some(("@acme/web:test:unit", "a: b"))),
            (Mark::Task, "web#test:", Some(("web#test", ""))),
            (Mark::Task, "src/a.py:10: error: no", None),
            (Mark::Task, "web: text", None),
            (Mark::Script, "packages/web test:unit: a: b", Some(("packages/web test:unit", "a: b"))),
            (Mark::Script, ". test$ vitest run: all", Some((". test", "vitest run: all"))),
            (Mark::Script, "Test Suites: 1 failed", None),
            (Mark::Label, "[web]  text", Some(("web", " text"))),
            (Mark::Label, "[@acme/web]:  text", Some(("@acme/web", " text"))),
            (Mark::Label, "[@acme/web]:", Some(("@acme/web", ""))),
            (Mark::Label, "[0]", Some(("0", ""))),
            (Mark::Label, "[web  ]  text", Some(("web", " text"))),
            (Mark::Label, "[npm ..st:b] text", Some(("npm ..st:b", "text"))),
            (Mark::Label, "[npm test] text", None),
            (Mark::Label, "[INFO ] Tests run: 3", None),
            (Mark::Label, "[RUN      ] Cart.adds", Some(("RUN", "Cart.adds"))),
            (Mark::Label, "[INFO] Tests run: 3", None),
            (Mark::Label, "[ 50%] Building", None),
            (Mark::Label, "[  PASSED  ] 3 tests.", None),
            (Mark::Numbered, "1-web  text", Some(("1-web", " text"))),
            (Mark::Numbered, "1-web", Some(("1-web", ""))),
            (Mark::Numbered, "1-2 text", None),
            (Mark::Numbered, "2026-05-01 10:11:12 text", None),
            (Mark::Package, "@acme/web: text: more", Some(("@acme/web", "text: more"))),
            (Mark::Package, "two words: text", None),
        ] {
            assert_eq!(mark.split(line), expected, "{mark:?} {line:?}");
        }
        let long = format!("{}: text", "a".repeat(NAME_BYTES + 1));
        assert_eq!(Mark::Package.split(&long), None);
    }

    #[test]
    fn most_lines_bear_the_mark_or_there_is_none() {
        let of = |text: &str| Mark::of(&Input::bytes("", text.as_bytes())).unwrap();
        assert_eq!(of("web:test: a\nweb:test: b\n\nweb:test:\nTasks: 1\n"), Some((Mark::Task, true)));
        assert_eq!(of("web:test: a\nweb:test: b\nText\nTasks: 1\n"), Some((Mark::Task, false)));
        assert_eq!(of("[web] a\n[web] b\n"), Some((Mark::Label, false)));
        assert_eq!(of("web:test: a\nText\nTasks: 1\n"), None);
        assert_eq!(of("\n\n"), None);
        let few = "All 2 projects\na lint$ x\na lint: y\nSummary\n\n/app/a:\n Error\nStatus\n";
        assert_eq!(of(few), Some((Mark::Script, false)));
        assert_eq!(of(&few.replace("a lint$", "b lint$")), None);
    }

    /// What no runner of others wrote is read as ever, whatever its lines look like.
    #[test]
    fn nothing_else_is_taken_for_marked() {
        let Some(reports) = crate::ingest::tests_support::captures() else { return };
        let streams = reports.with_file_name("console");
        let folders = std::fs::read_dir(reports).unwrap().map(|folder| folder.unwrap().path());
        let texts = folders.filter(|folder| folder.to_str().unwrap().ends_with("-text"));
        let files = texts.chain([streams]).flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        let told = |reports: Vec<crate::ingest::Parsed>| -> Vec<_> {
            reports.into_iter().map(|report| (report.format.name, report.figures, report.details)).collect()
        };
        let outcomes = files.par_iter().map(|file| {
            let bytes = std::fs::read(file).unwrap();
            let input = Input::bytes("", &bytes);
            let plain = told(heard(&input, None, false).told());
            let is_marked = file.file_name().unwrap().to_str().unwrap().starts_with("workspaces-");
            assert_eq!(told(console(&input)) != plain, is_marked, "{}", file.display());
            (plain.len(), usize::from(is_marked))
        });
        let (read, marked) = outcomes.reduce(|| (0, 0), |one, other| (one.0 + other.0, one.1 + other.1));
        assert!(read > 100 && marked == 16, "{read} {marked}");
    }
}
