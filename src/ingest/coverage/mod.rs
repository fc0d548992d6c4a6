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

pub use files::FileCoverage;
use files::{FileTally, Files, Listed};
pub use lines::{FileBranches, FileLines, LineBranches};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::{Details, Format};

    #[test]
    fn branches_are_told_by_line() {
        const COVERAGE_PY: &str = r#"{"meta":{"format":3},"files":{"a":{"executed_lines":[3,7],"missing_lines":[],
            "executed_branches":[[3,4],[7,-1]],"missing_branches":[[3,70000],[3,9]]}},"totals":{}}"#;
        const ISTANBUL: &str = r#"{"a":{"path":"a","statementMap":{},"s":{},"f":{},"b":{"0":[1,0],"1":[0,0,3],"2":[1],"3":[0]},
            "branchMap":{"0":{"loc":{"start":{"line":3}},"line":9},"1":{"loc":{"start":{"line":3}}},"2":{"line":7}}}}"#;
        const RESULT_SET: &str = r#"{"RSpec":{"coverage":{"a":{"lines":[1],"branches":{"[:if, 0, 3, 4, 6, 7]":
            {"[:then, 1, 4, 6, 4, 9]":1,"[:else, 2, 3, 4, 6, 7]":0}}}},"timestamp":1}}"#;
        const SIMPLECOV: &str = r#"{"meta":{"simplecov_version":"0.22.0"},"coverage":{"a":{"lines":[1],"branches":
            [{"type":"then","start_line":4,"coverage":1},{"type":"else","start_line":5,"coverage":0}]}},"groups":{}}"#;
        type Told = &'static [(u32, u32, u32)];
        let cases: [(&Format, &str, Told); 9] = [
            (
                &lcov::FORMAT,
                "SF:a\nDA:3,1\nBRDA:3,0,0,1\nBRDA:3,0,x,-\nBRDA:9,0,1,0\nend_of_record\n",
                &[(3, 1, 2), (9, 0, 1)],
            ),
            (
                &cobertura::FORMAT,
                "<coverage><packages><package><classes><class filename='a'><lines><line number='3' hits='1' branch='true' \
                 condition-coverage='75% (3/4)'/></lines></class></classes></package></packages></coverage>",
                &[(3, 3, 4)],
            ),
            (
                &jacoco::FORMAT,
                "<report><package name='p'><sourcefile name='a'><line nr='3' mi='0' ci='2' mb='1' cb='1'/>\
                 <line nr='4' mi='0' ci='2' mb='0' cb='0'/></sourcefile></package></report>",
                &[(3, 1, 2)],
            ),
            (
                &clover::FORMAT,
                "<coverage><project><file name='a'><metrics statements='1' coveredstatements='1' conditionals='2' \
                 coveredconditionals='1'/><line num='3' count='1' type='cond' truecount='1' falsecount='0'/></file></project></coverage>",
                &[(3, 1, 2)],
            ),
            (&coveragepy_json::FORMAT, COVERAGE_PY, &[(3, 1, 3), (7, 1, 1)]),
            (&istanbul_final::FORMAT, ISTANBUL, &[(0, 0, 1), (3, 2, 5), (7, 1, 1)]),
            (&simplecov_resultset::FORMAT, RESULT_SET, &[(3, 1, 2)]),
            (&simplecov_json::FORMAT, SIMPLECOV, &[(4, 1, 1), (5, 0, 1)]),
            (
                &sonar_coverage::FORMAT,
                "<coverage version='1'><file path='a'><lineToCover lineNumber='3' covered='true' branchesToCover='4' \
                 coveredBranches='3'/></file></coverage>",
                &[(3, 3, 4)],
            ),
        ];
        for (format, text, expected) in cases {
            let parsed = (format.parse)(&Input::bytes("x", text.as_bytes())).unwrap();
            let Details::Coverage(details) = &parsed.details else { panic!("coverage") };
            let found: Vec<_> = details.files.values().flat_map(|file| file.branches.iter()).collect();
            let found: Vec<_> = found.iter().map(|line| (line.line, line.taken, line.total)).collect();
            assert_eq!(found, expected, "{}", format.name);
        }
    }
}
