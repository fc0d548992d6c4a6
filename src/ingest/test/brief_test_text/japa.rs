//! What Japa tells of beside its tests: its summary has only those.

use crate::ingest::test::text_report::Summary;

/// A run of Japa's.
#[derive(Debug, Default)]
pub(super) struct Japa {
    /// Its list of errors was begun, and its summary has not come.
    is_among_errors: bool,
    /// Its summary came last.
    is_below: bool,
}

impl Japa {
    /// Below ` ERRORS ` each `❯ Cart: Setup hook` of a group (one of a test's, `❯ Cart / adds: Setup hook`, is in its result), and
    /// below the summary what nobody caught.
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        let of_group = || {
            let group = text.strip_prefix("❯ ")?;
            let group = group.strip_suffix(": Setup hook").or_else(|| group.strip_suffix(": Teardown hook"))?;
            (!group.contains(" / ")).then_some(())
        };
        self.is_among_errors |= text == " ERRORS";
        let is_error = self.is_among_errors && of_group().is_some()
            || self.is_below && matches!(text, "Unhandled Rejections─" | "Unhandled Errors─");
        is_error.then(|| ("Japa", Summary { errored: 1, ..Summary::default() }))
    }

    /// Its summary came.
    pub(super) fn summary(&mut self) {
        *self = Japa { is_among_errors: false, is_below: true };
    }
}
