//! tsup: `ESM dist/index.js 1.05 KB`, until `ESM ⚡️ Build success in 47ms` comes for each kind of module.

use super::{Bundler, HAS_ERRORS, Outcome, Sum, bytes};

const KINDS: [&str; 3] = ["ESM", "CJS", "IIFE"];

#[derive(Default)]
pub(super) struct Tsup {
    kinds: [Sum; KINDS.len()],
    has_errors: bool,
}

pub(super) fn begins(line: &str) -> bool {
    KINDS.iter().filter_map(|kind| line.strip_prefix(kind)?.strip_prefix(' ')).any(|rest| row(rest).is_some())
}

fn row(rest: &str) -> Option<(&str, f64)> {
    let mut words = rest.trim().rsplitn(3, ' ');
    let (unit, number, path) = (words.next()?, words.next()?, words.next()?);
    Some((path.trim_end(), bytes(&format!("{number} {unit}"), 1024.0)?))
}

impl Bundler for Tsup {
    fn line(&mut self, line: &str) {
        for (kind, sum) in KINDS.iter().zip(&mut self.kinds) {
            let Some(rest) = line.strip_prefix(kind).and_then(|rest| rest.strip_prefix(' ')) else { continue };
            if let Some((path, bytes)) = row(rest) {
                sum.add(path, bytes);
                self.has_errors = false;
            } else if rest == "Build start" {
                *sum = Sum { bytes: Some(0.0), ..Sum::default() };
            } else {
                sum.is_over |= rest.contains("Build success in ");
                self.has_errors |= rest.contains("Build failed");
            }
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        let mut all = Sum::default();
        for sum in self.kinds.iter().filter(|sum| sum.bytes.is_some()) {
            if !sum.is_over {
                return Some(Outcome::Cut);
            }
            all.add("", sum.bytes.unwrap_or_default());
        }
        if self.has_errors && all.bytes.is_some() {
            return Some(Outcome::Nothing(HAS_ERRORS));
        }
        all.is_over = true;
        all.outcome()
    }
}
