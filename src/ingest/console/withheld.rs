//! Runners of tasks that leave out what tasks printed: nx of all that succeeded (under an agent of all tasks), Wireit likewise,
//! Turborepo if it is told so, of those that succeeded or that it knows from before. What is left is no whole run.

use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::values::leading_in;

/// A runner that left something out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Withheld {
    runner: &'static str,
    /// What has it show all.
    shows: &'static str,
}

const NX: Withheld = Withheld { runner: "nx", shows: "--output-style=static" };
const TURBOREPO: Withheld = Withheld { runner: "Turborepo", shows: "--output-logs=full" };
const WIREIT: Withheld = Withheld { runner: "Wireit", shows: "WIREIT_LOGGER=simple" };

impl Withheld {
    /// Who left something out of an output.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn of(input: &Input<'_>) -> Result<Option<Withheld>> {
        let mut tasks = Tasks::default();
        let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
        while let Some(line) = lines.next()? {
            let withheld = tasks.line(line.text.trim());
            if withheld.is_some() {
                return Ok(withheld);
            }
        }
        Ok(None)
    }

    /// What is said of it.
    pub fn warning(self) -> String {
        let Withheld { runner, shows } = self;
        format!("{runner} left out what tasks printed, so that nobody knows how many tests passed: {shows} shows it")
    }
}

/// Those of Turborepo that showed themselves.
#[derive(Debug, Default)]
struct Tasks {
    shown: u64,
}

impl Tasks {
    fn line(&mut self, line: &str) -> Option<Withheld> {
        if is_of_nx(line) {
            return Some(NX);
        }
        if is_of_wireit(line) {
            return Some(WIREIT);
        }
        if let Some(hash) =
            line.split_once("cache hit, suppressing logs ").and_then(|(task, hash)| is_task(task).then_some(hash))
        {
            return (!hash.contains(' ')).then_some(TURBOREPO);
        }
        if let Some((task, _)) = line.split_once("cache ").filter(|(_, rest)| begins_a_task(rest)) {
            self.shown = self.shown.saturating_add(u64::from(is_task(task)));
        } else if let Some(total) = total_of_turborepo(line) {
            return (std::mem::take(&mut self.shown) < total).then_some(TURBOREPO);
        }
        None
    }
}

/// `Output of 2 successful tasks were not shown. Run with --verbose or --output-style=static to see it.`, as nx does if it is not
/// told otherwise, and what it says under an agent, where it shows nothing of any task.
fn is_of_nx(line: &str) -> bool {
    line == "Re-run with --output-style=static to inline logs."
        || line.starts_with("Output of ")
            && line.ends_with(" not shown. Run with --verbose or --output-style=static to see it.")
}

/// The end of what Wireit's logger for people prints: `✅ Ran 2 scripts and skipped 0 in 0.4s.`, `❌ 1 script failed.`
fn is_of_wireit(line: &str) -> bool {
    let sum = line.strip_prefix("✅ Ran ").or_else(|| line.strip_prefix("❌ ")).and_then(leading_in);
    let rest = sum.and_then(|(_, rest)| rest.strip_prefix(" scripts").or_else(|| rest.strip_prefix(" script")));
    rest.is_some_and(|rest| rest == " failed." || rest.starts_with(" and skipped "))
}

/// `web:test: `, or nothing where lines have no names.
fn is_task(text: &str) -> bool {
    text.is_empty() || text.strip_suffix(": ").is_some_and(|name| !name.contains(' '))
}

/// `miss, executing 08f074c7be5607d5`, `hit, replaying logs …`, `bypass, force executing …`, behind `cache `.
fn begins_a_task(rest: &str) -> bool {
    ["miss, executing ", "hit, replaying logs ", "bypass, force executing "].iter().any(|start| rest.starts_with(start))
}

/// How many tasks there were, of `Tasks:    1 successful, 2 total`.
fn total_of_turborepo(line: &str) -> Option<u64> {
    let (_, rest) = leading_in(line.strip_prefix("Tasks:")?.trim_start())?;
    let (total, rest) = leading_in(rest.strip_prefix(" successful, ")?)?;
    (rest == " total").then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<&'static str> {
        Withheld::of(&Input::bytes("x", text.as_bytes())).unwrap().map(|withheld| withheld.runner)
    }

    #[test]
    fn runners_say_what_they_left_out() {
        for (text, runner) in [
            (
                "Output of 1 successful task was not shown. Run with --verbose or --output-style=static to see it.\n",
                "nx",
            ),
            ("    Re-run with --output-style=static to inline logs.\n", "nx"),
            ("✅ Ran 2 scripts and skipped 0 in 0.4s.\n", "Wireit"),
            ("❌ 2 scripts failed.\n", "Wireit"),
            ("b:test: cache hit, suppressing logs bfa27c1c10188d63\n", "Turborepo"),
            ("::group::b:test\ncache hit, suppressing logs bfa27c1c10188d63\n", "Turborepo"),
            ("a:test: cache miss, executing 08f0\na:test: 1\n\n Tasks:    1 successful, 2 total\n", "Turborepo"),
            (" Tasks:    2 successful, 2 total\n", "Turborepo"),
        ] {
            assert_eq!(of(text), Some(runner), "{text}");
        }
        let whole = "a:test: cache miss, executing 08f0\nb:test: cache hit, replaying logs 08f1\n Tasks:    2 successful, 2 total\n";
        for text in [
            whole,
            &whole.repeat(2),
            &whole.replace("a:test: ", ""),
            "✅ Ran 12 tests and skipped 3 in 0.4s.\n❌ 2 tests failed.\n",
            "it says: cache hit, suppressing logs 1\n",
            "Tasks: 2 completed (2 cached)\n",
            "Output of 1 task\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
