//! `bundle-text`: the sizes that bundlers print, but for Vite's.

use std::collections::BTreeMap;

use self::angular::Angular;
use self::esbuild::Esbuild;
use self::next_build::NextBuild;
use self::tsup::Tsup;
use self::webpack::Webpack;
use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::lint::webpack_text::has_entries;
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

mod angular;
mod esbuild;
mod next_build;
mod tsup;
mod webpack;

/// Terminal output of bundlers.
pub const FORMAT: Format = Format {
    name: "bundle-text",
    kind: ReportKind::Metric,
    about: "terminal output of bundlers: sizes of what they wrote",
    written_by: "webpack, esbuild, tsup, next build, ng build",
    told_by: "rows such as \"asset main.js 2.66 KiB [emitted]\", \"dist/a.js  1.1kb\" above \"⚡ Done in\", \"ESM \
              dist/a.js 1.1 KB\", or the columns First Load JS or Estimated transfer size",
    has_end: true,
    counting: "In bytes (lower), to the precision of the text. webpack, esbuild, tsup: bundle.size, all files but \
               source maps and types, since their names change with their content; of several builds by one tool the \
               last. next build: bundle.first_load, that of the largest route, and bundle.shared. ng build: \
               bundle.initial and bundle.transfer of the initial chunks. A build with errors is no result, nor is a \
               table that leaves files out or is one of several compilers; one whose end is not told is cut.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = head.lines().any(|line| begins(line) && !esbuild::begins(line))
        || (head.lines().any(esbuild::begins) && head.lines().any(esbuild::is_end));
    // What esbuild or webpack found stands above, and is more than a size.
    let has_findings = || {
        has_entries(head) || head.lines().any(|line| line.starts_with("▲ [WARNING]") || line.starts_with("✘ [ERROR]"))
    };
    match is_ours && !has_findings() && !head.is_of_tests() {
        true => Sniff::Sure("sizes as a bundler prints them".into()),
        false => Sniff::No,
    }
}

/// Whether a bundler's sizes begin with the line. esbuild's rows are not sure by themselves.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    webpack::begins(line)
        || esbuild::begins(line)
        || tsup::begins(line)
        || next_build::begins(line)
        || angular::begins(line)
}

/// What one bundler printed.
trait Bundler {
    /// Its next line.
    fn line(&mut self, line: &str);

    /// How it came out; `None` if it printed nothing.
    fn outcome(&self) -> Option<Outcome>;
}

/// How a build came out.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// It is complete: metrics and their bytes.
    Sizes(Vec<(&'static str, f64)>),
    /// Its end is missing.
    Cut,
    /// There is nothing to tell, for that reason.
    Nothing(&'static str),
}

const HAS_ERRORS: &str = "the build has errors";
const LEAVES_OUT: &str = "the table leaves files out";

/// The sum of the files that a bundler names, and whether its end came after them.
#[derive(Default)]
struct Sum {
    bytes: Option<f64>,
    leaves_out: bool,
    is_over: bool,
}

impl Sum {
    /// A file; one after the end begins another build.
    fn add(&mut self, path: &str, bytes: f64) {
        if self.is_over {
            *self = Sum::default();
        }
        let counted = if path.ends_with(".map") { 0.0 } else { bytes };
        self.bytes = Some(self.bytes.unwrap_or_default() + counted);
    }

    fn outcome(&self) -> Option<Outcome> {
        let bytes = self.bytes?;
        Some(match (self.is_over, self.leaves_out) {
            (false, _) => Outcome::Cut,
            (true, true) => Outcome::Nothing(LEAVES_OUT),
            (true, false) => Outcome::Sizes(vec![("bundle.size", bytes)]),
        })
    }
}

/// Bytes of a size such as `2.66 KiB`, `87.4 kB`, `1.1kb`, `132 bytes`, of which a thousand has so many.
pub(super) fn bytes(text: &str, thousand: f64) -> Option<f64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    let power = match unit {
        "B" | "b" | "bytes" => 0,
        "kB" | "KB" | "kb" | "KiB" => 1,
        "MB" | "mb" | "MiB" => 2,
        "GB" | "gb" | "GiB" => 3,
        _ => return None,
    };
    let number = number.trim_end();
    let (before, after) = number.split_once('.').unwrap_or((number, "0"));
    whole(before).and(whole(after))?;
    Some(number.parse::<f64>().ok()? * thousand.powi(power))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut webpack, mut esbuild, mut tsup) = (Webpack::default(), Esbuild::default(), Tsup::default());
    let (mut next_build, mut angular) = (NextBuild::default(), Angular::default());
    let mut bundlers: [&mut dyn Bundler; 5] = [&mut webpack, &mut esbuild, &mut tsup, &mut next_build, &mut angular];
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        // Of a line that is cut, a number may be missing.
        if line.ended {
            bundlers.iter_mut().for_each(|bundler| bundler.line(&line.text));
        }
    }
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for outcome in bundlers.iter().filter_map(|bundler| bundler.outcome()) {
        match outcome {
            Outcome::Sizes(sizes) => {
                sizes.into_iter().for_each(|(name, bytes)| *sums.entry(name).or_default() += bytes)
            }
            Outcome::Nothing(why) => return Err(Error::report(Reject::NoResult, why)),
            Outcome::Cut => {
                let cut = Error::report(Reject::Malformed, "report ends before the build did");
                return Err(cut.line(last).help(CUT_HELP));
            }
        }
    }
    let mut metrics = Metrics::default();
    for (name, bytes) in sums {
        metrics.add(name, Some(bytes), Some("bytes"), Some(Direction::Lower));
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<Vec<(String, f64)>, Reject> {
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT));
        let metrics = parsed.map_err(|error| error.reject().unwrap())?.figures.metrics;
        Ok(metrics.into_iter().map(|(name, figure)| (name.replace("bundle.", ""), figure.value.unwrap())).collect())
    }

    fn size(bytes: f64) -> std::result::Result<Vec<(String, f64)>, Reject> {
        Ok(vec![("size".to_owned(), bytes)])
    }

    #[test]
    fn webpack_tells_files_and_groups_of_them() {
        let rows = "asset main.js 2.5 KiB [emitted] [minimized] (name: main) 1 related asset\nassets by path *.css 100 bytes\n  \
                    asset a.css 60 bytes [emitted]\n  asset b.css 40 bytes [emitted]\nasset modules 3 KiB [built]\n\
                    runtime modules 6.69 KiB 8 modules\n";
        let end = "webpack 5.112.2 compiled with 2 warnings in 227 ms\n";
        assert_eq!(read(&format!("{rows}{end}")), size(2660.0));
        assert_eq!(read(&format!("{rows}{rows}{end}{rows}{end}")), size(2660.0), "the last of two builds");
        assert_eq!(read(rows), Err(Reject::Malformed));
        assert_eq!(read(&format!("{rows}{}", end.replace("warning", "error"))), Err(Reject::NoResult));
        assert_eq!(read(&format!("{rows}+ 17 assets\n{end}")), Err(Reject::NoResult));
        let inner: String = rows.lines().map(|line| format!("  {line}\n")).collect();
        let compiler = "  client (webpack 5.112.2) compiled successfully in 4 ms\n";
        assert_eq!(read(&format!("client:\n{inner}{compiler}\n")), Err(Reject::NoResult), "is there another one?");
        assert!(
            !begins("asset management 3 people")
                && !begins("assets by 2 KiB")
                && !begins("asset modules 3 KiB [built]")
        );
    }

    #[test]
    fn esbuild_and_tsup_tell_files() {
        let rows = "\n  out/a.js      1.5kb \n  out/a.js.map  718b \n  out/b.css       2.0mb ⚠️\n\n";
        assert_eq!(read(&format!("{rows}⚡ Done in 3ms\n")), size(2_098_688.0));
        assert_eq!(read(&format!("{rows}⚡ Done in 3ms\n{rows}⚡ Done in 3ms\n")), size(2_098_688.0));
        assert_eq!(read(rows), Err(Reject::Malformed));
        assert_eq!(read(&format!("{rows}  ...and 20 more output files...\n\n⚡ Done in 3ms\n")), Err(Reject::NoResult));
        for none in ["  out/an.js      1.1kb  100.0%", "   ├ src/index.js  203b    18.7%", "  a.js 17b", "  total  17b"]
        {
            assert!(!begins(none), "{none}");
        }
        let esm = "ESM Build start\nCJS Build start\nESM dist/a.mjs     103.00 B\nESM dist/a.mjs.map 1.00 KB\n";
        let both = "CJS dist/a.js     1.00 KB\nESM ⚡️ Build success in 47ms\nDTS dist/a.d.ts 20.00 B\n";
        assert_eq!(read(&format!("{esm}{both}CJS ⚡️ Build success in 48ms\n")), size(1127.0));
        assert_eq!(read(&format!("{esm}{both}")), Err(Reject::Malformed));
        assert_eq!(
            read(&format!("{esm}{both}CJS ⚡️ Build success in 48ms\nESM Build failed\n")),
            Err(Reject::NoResult)
        );
    }

    #[test]
    fn next_and_angular_tell_what_is_loaded_first() {
        let next = "Route (app)                Size  First Load JS\n┌ ○ /                     131 B         103 kB\n\
                    └ ƒ /api/x                131 B       102.5 kB\n+ First Load JS shared by all  101 kB\n  └ other  1.88 kB\n\n";
        let end = "○  (Static)   prerendered as static content\n";
        let told = |first: f64| Ok(vec![("first_load".to_owned(), first), ("shared".to_owned(), 101_000.0)]);
        assert_eq!(read(&format!("{next}{end}")), told(103_000.0));
        let pages = "Route (pages)   Size  First Load JS\n─ ○ /old (399 ms)   254 B   108 kB\n+ First Load JS shared by all  90 kB\n";
        assert_eq!(read(&format!("{next}{pages}{end}")), told(108_000.0), "of both routers the larger");
        assert_eq!(read(next), Err(Reject::Malformed));
        let angular = "Initial chunk files   | Names         |  Raw size | Estimated transfer size\n\
                       main-YEX.js           | main          | 206.86 kB |                55.76 kB\n\n                      \
                       | Initial total | 241.5 kB |                67.25 kB\n\n";
        let end = "Application bundle generation complete. [7.395 seconds]\n";
        let told = Ok(vec![("initial".to_owned(), 241_500.0), ("transfer".to_owned(), 67_250.0)]);
        assert_eq!(read(&format!("{angular}{end}")), told);
        assert_eq!(read(angular), Err(Reject::Malformed));
    }

    #[test]
    fn a_size_has_a_number_and_a_unit() {
        assert_eq!(
            [bytes("2.5 KiB", 1024.0), bytes("1.5kb", 1024.0), bytes("87 kB", 1000.0)],
            [Some(2560.0), Some(1536.0), Some(87_000.0)]
        );
        for none in ["kB", "3", "1e3 kB", "-1 kB", ". kB", "3 kBit", "1,5 kB"] {
            assert_eq!(bytes(none, 1000.0), None, "{none}");
        }
    }
}
