//! What `dune runtest` says of rules that failed, beside what the test programs say: each is one failed test.

use crate::ingest::test::text_report::Summary;

/// Failed rules, and one of which it is not known yet whether its program tells the failures itself.
#[derive(Debug, Default)]
pub(super) struct Dune {
    /// `File "cart.t", line 1, characters 0-0:` came, which is a difference unless an error is told below it.
    differs: bool,
    waits: bool,
    failed: u64,
}

impl Dune {
    /// A difference to what a file has, or a rule: `        cart alias test/runtest (exit 2)`.
    pub(super) fn line(&mut self, text: &str) {
        let is_error = text.starts_with("Error") || text.starts_with("Warning");
        self.failed += u64::from(std::mem::take(&mut self.differs) && !is_error);
        self.differs = text.starts_with("File \"") && text.ends_with("\", line 1, characters 0-0:");
        let rule = text.starts_with("      ").then(|| text.split_once(" alias ")).flatten();
        let Some((_, alias)) = rule.filter(|(name, _)| !name.trim_start().contains(' ')) else { return };
        let (alias, end) = alias.split_once(' ').unwrap_or((alias, ""));
        if alias.rsplit('/').next() == Some("runtest") {
            self.failed += u64::from(std::mem::replace(&mut self.waits, end.starts_with("(exit ")));
        }
    }

    /// What a program summed up.
    pub(super) fn summary(&mut self, summary: &Summary) {
        self.waits &= summary.failed == 0 && summary.errored == 0;
    }

    /// The rules that no program told of.
    pub(super) fn told(&self) -> Option<Summary> {
        let failed = self.failed + u64::from(self.waits);
        (failed > 0).then_some(Summary { failed, ..Summary::default() })
    }
}
