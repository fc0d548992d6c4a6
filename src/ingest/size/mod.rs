//! Formats about size: lines of code, and the complexity of functions.

use super::{Details, Format, Parsed, SizeDetails, add};
use crate::error::Result;
use crate::model::figures::Figures;

pub mod cloc_csv;
pub mod cloc_json;
pub mod cloc_text;
pub mod cloc_xml;
pub mod cloc_yaml;
pub mod gocloc_json;
pub mod lizard_csv;
pub mod lizard_text;
pub mod lizard_xml;
pub mod pygount_json;
pub mod pygount_text;
pub mod radon_cc_json;
pub mod radon_cc_text;
pub mod radon_raw_json;
pub mod radon_raw_text;
pub mod scc_csv;
pub mod scc_json;
pub mod scc_text;
pub mod sloccount_text;
mod table;
pub mod tokei_json;
pub mod tokei_text;

/// Lines of files, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sizes {
    files: u64,
    code: u64,
    comments: u64,
    blanks: u64,
}

impl Sizes {
    /// Adds what is told of some files.
    fn add(&mut self, other: Sizes) -> Result<()> {
        *self = Sizes {
            files: add(self.files, other.files)?,
            code: add(self.code, other.code)?,
            comments: add(self.comments, other.comments)?,
            blanks: add(self.blanks, other.blanks)?,
        };
        Ok(())
    }

    fn finish(self, format: &'static Format) -> Parsed {
        let figures = Figures {
            files: Some(self.files),
            code: Some(self.code),
            comments: Some(self.comments),
            blanks: Some(self.blanks),
            ..Figures::default()
        };
        Parsed::new(format, figures, Details::Size(SizeDetails::default()))
    }
}

/// Sets aside the report's own sums where they differ, and says so.
fn compare_declared(parsed: &mut Parsed, said: Sizes) {
    let figures = &parsed.figures;
    let pairs = [
        ("code", said.code, figures.code),
        ("comments", said.comments, figures.comments),
        ("blanks", said.blanks, figures.blanks),
    ];
    for (key, said, found) in pairs {
        if let Some(found) = found.filter(|found| *found != said) {
            parsed.warnings.push(format!("the report's own {key} is {said}, but its parts add up to {found}"));
        }
    }
    if !parsed.warnings.is_empty() {
        let (code, comments, blanks) = (Some(said.code), Some(said.comments), Some(said.blanks));
        parsed.declared = Some(Figures { code, comments, blanks, ..Figures::default() });
    }
}

/// Functions, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Functions {
    functions: u64,
    ccn_total: u64,
    ccn_max: u64,
    /// Lines of code inside them, where the report tells them.
    nloc: Option<u64>,
}

impl Functions {
    /// Adds one: its cyclomatic complexity, and its lines of code.
    fn add(&mut self, ccn: u64, nloc: Option<u64>) -> Result<()> {
        self.functions = add(self.functions, 1)?;
        self.ccn_total = add(self.ccn_total, ccn)?;
        self.ccn_max = self.ccn_max.max(ccn);
        if let Some(nloc) = nloc {
            self.nloc = Some(add(self.nloc.unwrap_or(0), nloc)?);
        }
        Ok(())
    }

    fn finish(self, format: &'static Format) -> Parsed {
        let has_any = self.functions > 0;
        let figures = Figures {
            functions: Some(self.functions),
            nloc: self.nloc,
            ccn_total: Some(self.ccn_total.into()),
            ccn_max: has_any.then(|| self.ccn_max.into()),
            ..Figures::default()
        };
        #[expect(clippy::cast_precision_loss, reason = "counts of functions stay far below 2^53")]
        let mean = has_any.then(|| self.ccn_total as f64 / self.functions as f64);
        Parsed::new(format, figures, Details::Size(SizeDetails { complexity_mean: mean }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_functions_and_absent_without_any() {
        let mean = |functions: Functions| match functions.finish(&lizard_csv::FORMAT).details {
            Details::Size(details) => details.complexity_mean,
            _ => panic!("size"),
        };
        let mut functions = Functions::default();
        assert_eq!((mean(functions), functions.finish(&lizard_csv::FORMAT).figures.ccn_max), (None, None));
        functions.add(1, Some(4)).unwrap();
        functions.add(4, Some(2)).unwrap();
        assert_eq!(mean(functions), Some(2.5));
        assert_eq!((functions.ccn_max, functions.nloc), (4, Some(6)));
        assert!(functions.add(u64::MAX, None).is_err());
    }

    #[test]
    fn sums_that_differ_are_warned_of() {
        let mut sizes = Sizes { files: 1, code: 2, comments: 3, blanks: 4 };
        sizes.add(sizes).unwrap();
        let mut parsed = sizes.finish(&cloc_json::FORMAT);
        compare_declared(&mut parsed, sizes);
        assert_eq!((parsed.warnings.len(), parsed.declared.is_some()), (0, false));
        compare_declared(&mut parsed, Sizes { code: 5, ..sizes });
        assert_eq!((parsed.warnings.len(), parsed.declared.is_some()), (1, true));
    }
}
