//! Runs of Vitest that write at the same time into one output, as Vite+ has those of packages do (`vp run -r test`): who wrote a
//! line cannot be told, but what all of them came to can.

use super::{Run, failed_suites, totals, verbose_test};
use crate::error::Result;
use crate::ingest::add;
use crate::ingest::test::text_report::Summary;

/// Several runs, from where the second begins before the first is over.
#[derive(Debug)]
pub(super) struct Beside {
    /// Those that have not ended.
    open: u32,
    sum: Summary,
    failed_files: u64,
    suites: u64,
    /// Not all of them came to their end.
    pub is_cut: bool,
}

impl Beside {
    /// Two of them, the first of which is `run`.
    pub(super) fn of(run: &Run) -> Beside {
        Beside { open: 2, sum: Summary::default(), failed_files: run.failed_files, suites: run.suites, is_cut: false }
    }

    /// One more begins.
    pub(super) fn begin(&mut self) {
        self.open = self.open.saturating_add(1);
    }

    /// Takes a line, and whether all of them are over with it: then `run` has what they came to.
    ///
    /// # Errors
    /// A number is too large.
    pub(super) fn line(&mut self, run: &mut Run, text: &str) -> Result<bool> {
        let content = text.trim_start();
        if self.open == 0 {
            return Ok(false);
        }
        if let Some(suites) = failed_suites(text) {
            self.suites = add(self.suites, suites)?;
        } else if totals(text, "Test Files").is_some() {
            run.line(text)?;
            self.failed_files = add(self.failed_files, std::mem::take(&mut run.failed_files))?;
        } else if totals(text, "Tests").is_some() {
            run.line(text)?;
            self.sum.merge(&run.counts.take().unwrap_or_default())?;
        } else if content.starts_with("Errors  ") || content.starts_with("FAIL  ") || verbose_test(text).is_some() {
            // What stands below the name of a test that failed may be another's.
            run.line(text)?;
        } else if content.starts_with("Duration  ") {
            self.open = self.open.saturating_sub(1);
        }
        // Where a task fails, Vite+ ends the others.
        self.is_cut = self.open > 0 && text.starts_with("vp run: ") && text.contains(" successful");
        let is_over = self.open == 0 || self.is_cut;
        if is_over {
            self.open = 0;
            run.counts = Some(std::mem::take(&mut self.sum));
            (run.failed_files, run.suites, run.is_unfinished) = (self.failed_files, self.suites, false);
        }
        Ok(is_over)
    }
}

/// Whether a runner of tasks says that it begins one that runs Vitest: Vite+ with `~/packages/web$ vp test run ⊘ cache disabled` or
/// `$ vp test run`, Wireit with `🏃 [test] Running command "vitest run"`.
pub(super) fn begins_task(text: &str) -> bool {
    let of_vite_plus = || text.strip_prefix("~/").and_then(|rest| rest.split_once("$ "));
    let of_wireit = || text.strip_prefix("🏃 [").and_then(|rest| rest.split_once("] Running command \""));
    let named = of_vite_plus().or_else(of_wireit);
    text.starts_with("$ vp test")
        || named.is_some_and(|(_, command)| runs_vitest(command) || command.starts_with("vp test"))
}

/// Whether npm, below the line that names the script, or Yarn says that it runs Vitest, as tests say, too, that call them:
/// `> vitest run`, `$ vitest run`.
pub(super) fn begins_script(before: &str, text: &str) -> bool {
    let of_npm = text.strip_prefix("> ").filter(|_| before.starts_with("> "));
    of_npm.or_else(|| text.strip_prefix("$ ")).is_some_and(runs_vitest)
}

fn runs_vitest(command: &str) -> bool {
    command.split([' ', '"']).any(|word| word == "vitest")
}
