//! Coverage formats, and the lines that they share.

use super::Parsed;
use crate::model::figures::Figures;

pub mod brief_coverage_text;
pub mod clover;
pub mod cobertura;
pub mod codecov_json;
pub mod covdir_json;
pub mod coveragepy_json;
pub mod coveragepy_text;
pub mod coveralls_json;
pub mod coverlet_json;
pub mod dotcover_json;
pub mod dotcover_xml;
mod elements;
pub mod fastcov_json;
mod files;
mod gcc;
pub mod gcov_json;
pub mod gcov_text;
pub mod gcovr_csv;
pub mod gcovr_json;
pub mod gcovr_summary_json;
pub mod gcovr_text;
pub mod go_cover;
pub mod go_cover_func;
pub mod istanbul_final;
pub mod istanbul_summary;
pub mod istanbul_text;
pub mod jacoco;
pub mod jacoco_csv;
pub mod kcov_json;
pub mod lcov;
mod lines;
pub mod llvm_cov_json;
pub mod llvm_cov_text;
pub mod ncover;
pub mod opencover;
pub mod reportgenerator_json;
pub mod scoverage;
mod simplecov;
pub mod simplecov_json;
pub mod simplecov_last_run;
pub mod simplecov_resultset;
pub mod sonar_coverage;
pub(super) mod table;
pub mod tarpaulin_json;
mod totals;
pub mod vs_coverage;
pub mod xccov_json;

use files::{FileTally, Files, Listed};
pub use lines::FileLines;

/// Sets aside the report's own totals where they differ, and says so.
fn compare_declared(parsed: &mut Parsed, declared: Figures) {
    for (key, said) in declared.counts() {
        let found = parsed.figures.counts().into_iter().find(|(other, _)| *other == key).map(|(_, count)| count);
        if found.is_some_and(|found| found != said) {
            let found = found.unwrap_or_default();
            parsed.warnings.push(format!("the report's own {key} is {said}, but its lines add up to {found}"));
            parsed.declared = Some(declared.clone());
        }
    }
}
