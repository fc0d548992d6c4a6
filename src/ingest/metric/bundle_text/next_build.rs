//! `next build`: a table of routes, each with its size and its First Load JS, and the marks of routes below.

use super::{Bundler, Outcome, bytes};

#[derive(Default)]
pub(super) struct NextBuild {
    /// The largest of a route, and of what routes share.
    first_load: Option<f64>,
    shared: Option<f64>,
    is_inside: bool,
    is_over: bool,
}

pub(super) fn begins(line: &str) -> bool {
    (line.starts_with("Route (") || line.starts_with("Page ")) && line.contains("  First Load JS")
}

/// The last size in the line. How long a route is kept may stand behind it: `1h      1y`.
fn last_size(line: &str) -> Option<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).rev().find_map(|pair| bytes(&pair.join(" "), 1000.0))
}

impl Bundler for NextBuild {
    fn line(&mut self, line: &str) {
        if begins(line) {
            if self.is_over {
                *self = NextBuild::default();
            }
            self.is_inside = true;
        } else if self.is_inside && line.starts_with('+') {
            self.shared = last_size(line).into_iter().chain(self.shared).reduce(f64::max);
        } else if self.is_inside && line.starts_with(['┌', '├', '└', '─']) {
            self.first_load = last_size(line).into_iter().chain(self.first_load).reduce(f64::max);
        } else if line.starts_with(['○', 'ƒ', '●', 'λ', 'ℇ']) && line.contains("  (") {
            (self.is_inside, self.is_over) = (false, self.first_load.is_some());
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        let sizes = [("bundle.first_load", self.first_load), ("bundle.shared", self.shared)];
        match (self.is_inside, self.is_over) {
            (false, false) => None,
            (true, _) => Some(Outcome::Cut),
            (false, true) => {
                let known = sizes.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)));
                Some(Outcome::Sizes(known.collect()))
            }
        }
    }
}
