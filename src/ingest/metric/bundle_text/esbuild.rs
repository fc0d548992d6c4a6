//! esbuild: `  out/index.js  1.1kb`, between blank lines and above `⚡ Done in 3ms`.

use super::{Bundler, Outcome, Sum, bytes};

#[derive(Default)]
pub(super) struct Esbuild(Sum);

pub(super) fn begins(line: &str) -> bool {
    row(line).is_some()
}

/// The file, and its bytes. A bundle's parts, which `--analyze` lists, have a third column.
fn row(line: &str) -> Option<(&str, f64)> {
    let row = line.strip_prefix("  ").filter(|row| !row.starts_with([' ', '├', '└', '│']))?;
    // What is larger than a mebibyte is marked.
    let (path, size) = row.trim_end().trim_end_matches(['⚠', '\u{fe0f}']).trim_end().rsplit_once("  ")?;
    let is_size = size.trim_start().starts_with(|c: char| c.is_ascii_digit()) && !size.trim_start().contains(' ');
    let is_unit = size.ends_with('b') && path.trim_end().contains('.');
    Some((path.trim_end(), bytes(size, 1024.0).filter(|_| is_size && is_unit)?))
}

pub(super) fn is_end(line: &str) -> bool {
    line.starts_with("⚡ Done in ")
}

impl Bundler for Esbuild {
    fn line(&mut self, line: &str) {
        if let Some((path, bytes)) = row(line) {
            self.0.add(path, bytes);
        } else if line.starts_with("  ...and ") && line.contains(" more output file") {
            self.0.leaves_out = true;
        } else if is_end(line) {
            self.0.is_over = true;
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        self.0.outcome()
    }
}
