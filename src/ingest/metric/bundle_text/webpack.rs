//! webpack: `asset main.js 2.66 KiB [emitted] [minimized] (name: main)`.

use super::{Bundler, HAS_ERRORS, Outcome, Sum, bytes};
use crate::ingest::lint::webpack_text::counts;

#[derive(Default)]
pub(super) struct Webpack {
    files: Sum,
    has_errors: bool,
    /// Several compilers tell of themselves, further in, and nothing tells that the last one has.
    are_several: bool,
}

pub(super) fn begins(line: &str) -> bool {
    row(line.strip_prefix("  ").unwrap_or(line)).is_some()
}

/// The file and its bytes, or those of a group of files: `assets by status 131 bytes [cached] 1 asset`. What is below a group
/// stands further in.
fn row(line: &str) -> Option<(&str, f64)> {
    let rest = line.strip_prefix("asset")?;
    let is_group = rest.starts_with("s by ");
    let mut words = rest.strip_prefix("s by ").or(rest.strip_prefix(' '))?.split(' ');
    let name = words.next()?;
    let mut number = words.next()?;
    for unit in words {
        let is_unit = matches!(unit, "bytes" | "KiB" | "MiB" | "GiB");
        if let Some(bytes) = bytes(&format!("{number} {unit}"), 1024.0).filter(|_| is_unit) {
            // Modules of files that are copied: `asset modules 3.2 KiB [built]`.
            return (is_group || name != "modules").then_some((name, bytes));
        }
        number = unit;
    }
    None
}

impl Bundler for Webpack {
    fn line(&mut self, line: &str) {
        if let Some((name, bytes)) = row(line) {
            self.files.add(name, bytes);
        } else if line.starts_with("+ ") && line.contains(" asset") {
            // `+ 17 assets`, whose sizes are not told.
            self.files.leaves_out = true;
        } else if let Some((_, [errors, _])) = counts(line.trim_end()) {
            self.has_errors = errors > 0;
            self.files.is_over = true;
            self.are_several = line.starts_with(' ');
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.files.outcome() {
            _ if self.are_several => Some(Outcome::Nothing("of several compilers the end is not told")),
            Some(Outcome::Sizes(_)) if self.has_errors => Some(Outcome::Nothing(HAS_ERRORS)),
            outcome => outcome,
        }
    }
}
