//! Lines that tell by what they name: markers that skip, comments that silence, options that loosen.

use std::collections::BTreeMap;

use super::statements::values;
use crate::model::edits::EditKind;

/// A test is skipped, expected to fail, or alone is run.
const SKIPS: [&str; 50] = [
    "pytest.mark.skip",
    "pytest.mark.skipif",
    "pytest.mark.xfail",
    "mark.skip",
    "mark.xfail",
    "pytest.skip(",
    "pytest.xfail(",
    "unittest.skip",
    "unittest.skipIf",
    "unittest.skipUnless",
    "expectedFailure",
    ".skipTest(",
    "SkipTest",
    ".skip(",
    ".skipIf(",
    ".skip.each",
    ".todo(",
    ".only(",
    ".fixme(",
    ".failing(",
    ".fails(",
    "xit",
    "xtest",
    "xdescribe",
    "xcontext",
    "xspecify",
    "fit(",
    "fit '",
    "fdescribe",
    "skip '",
    "skip \"",
    "pending '",
    "pending \"",
    "skip: true",
    "skip: '",
    "skip: \"",
    "#[ignore",
    "t.Skip(",
    "t.Skipf(",
    "t.SkipNow(",
    "@Disabled",
    "@Ignore",
    "[Ignore",
    "enabled = false",
    "markTestSkipped(",
    "markTestIncomplete(",
    "@tag :skip",
    "XCTSkip",
    "GTEST_SKIP",
    "DISABLED_",
];

/// A failure is caught and forgotten, or that of a command is.
const SWALLOWS: [&str; 11] = [
    "except: pass",
    "except Exception: pass",
    "suppress(Exception",
    "suppress(AssertionError",
    "suppress(BaseException",
    "catch {}",
    "catch (e) {}",
    "catch (_) {}",
    ".catch(() => {})",
    "recover()",
    "rescue nil",
];

/// What is tested is replaced.
const PATCHES: [&str; 20] = [
    "monkeypatch.setattr(",
    "mock.patch(",
    "mock.patch.object(",
    "@patch(",
    "@patch.object(",
    "patch(",
    "patch.object(",
    "mocker.patch(",
    "mocker.patch.object(",
    "jest.mock(",
    "jest.spyOn(",
    "vi.mock(",
    "vi.spyOn(",
    "vi.stubGlobal(",
    "sinon.stub(",
    "sinon.replace(",
    "td.replace(",
    "proxyquire(",
    ").to receive(",
    "Mockito.when(",
];

/// The process ends as if all were well.
const EXITS: [&str; 9] = [
    "os._exit(0",
    "sys.exit(0",
    "sys.exit()",
    "process.exit(0",
    "process.exit()",
    "process::exit(0",
    "System.exit(0",
    "os.Exit(0",
    "exit 0",
];

/// What equals is defined.
const EQUALITIES: [&str; 6] =
    ["def __eq__(", "def ==(", "operator==(", "boolean equals(", "override fun equals(", "__eq__ ="];

/// A linter or type checker is told to be silent.
const SILENCES: [&str; 21] = [
    "# noqa",
    "#noqa",
    "type: ignore",
    "pyright: ignore",
    "pylint: disable",
    "fmt: off",
    "nosec",
    "eslint-disable",
    "eslint-disable-line",
    "eslint-disable-next-line",
    "biome-ignore",
    "@ts-ignore",
    "@ts-expect-error",
    "@ts-nocheck",
    "#[allow(",
    "#![allow(",
    "nolint",
    "rubocop:disable",
    "@SuppressWarnings",
    "@phpstan-ignore",
    "swiftlint:disable",
];

/// Code is left out of the coverage.
const EXCLUSIONS: [&str; 10] = [
    "pragma: no cover",
    "pragma: no branch",
    "istanbul ignore",
    "c8 ignore",
    "v8 ignore",
    "coverage(off)",
    "LCOV_EXCL",
    "GCOVR_EXCL",
    "@codeCoverageIgnore",
    ":nocov:",
];

/// In configs: less runs, or a run that fails does not count.
const RUNS_LESS: [&str; 18] = [
    "--deselect",
    "--ignore",
    "--ignore-glob",
    "-k 'not",
    "-k \"not",
    "-k not",
    "collect_ignore",
    "norecursedirs",
    "testPathIgnorePatterns",
    "testIgnore",
    "passWithNoTests",
    "--passWithNoTests",
    "|| true",
    "|| exit 0",
    "; true",
    "continue-on-error: true",
    "allow_failure: true",
    "if: false",
];

/// In configs: less is checked of it.
const CHECKS_LESS: [&str; 17] = [
    "--exit-zero",
    "--no-fail",
    "omit",
    "exclude",
    "exclude_lines",
    "exclude_also",
    "extend-ignore",
    "per-file-ignores",
    "ignore_errors",
    "ignore_missing_imports",
    "ignorePatterns",
    "coveragePathIgnorePatterns",
    ": \"off\"",
    ": 'off'",
    ": off",
    "fail_ci_if_error: false",
    "@ts-nocheck",
];

/// Limits of configs that are looser where they are lower.
const LOWER_IS_LOOSER: [&str; 10] = [
    "fail_under",
    "fail-under",
    "cov-fail-under",
    "lines",
    "branches",
    "functions",
    "statements",
    "threshold",
    "target",
    "minimum_coverage",
];

/// Limits that are looser where they are higher.
const HIGHER_IS_LOOSER: [&str; 6] =
    ["max-complexity", "max-warnings", "max-line-length", "line-length", "maxDiffPixels", "retries"];

/// The kinds of marks that tests, and what is there for them, may bear.
pub(super) const IN_TESTS: [(EditKind, &[&str]); 5] = [
    (EditKind::Skipped, &SKIPS),
    (EditKind::FailureSwallowed, &SWALLOWS),
    (EditKind::SubjectPatched, &PATCHES),
    (EditKind::EarlyExit, &EXITS),
    (EditKind::EqualityOverridden, &EQUALITIES),
];

/// Those that any source may bear.
pub(super) const ANYWHERE: [(EditKind, &[&str]); 2] =
    [(EditKind::FindingSuppressed, &SILENCES), (EditKind::CoverageExcluded, &EXCLUSIONS)];

/// Those of configs. Only the first can turn a test.
pub(super) const IN_CONFIGS: [(EditKind, &[&str]); 3] = [
    (EditKind::ConfigLoosened, &RUNS_LESS),
    (EditKind::ConfigLoosened, &CHECKS_LESS),
    (EditKind::CoverageExcluded, &EXCLUSIONS),
];

/// Whether an option in this line makes less run.
pub(super) fn runs_less(line: &str) -> bool {
    names_any(line, &RUNS_LESS)
}

/// Whether the text names something: where that begins or ends with a letter, no word goes on there.
fn names(text: &str, what: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(what).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + what.len()..).and_then(|after| after.chars().next());
        let is_cut_before = what.starts_with(goes_on) && before.is_some_and(goes_on);
        let is_cut_after = what.ends_with(|c: char| c.is_alphanumeric()) && after.is_some_and(goes_on);
        !is_cut_before && !is_cut_after
    })
}

/// Whether it names one of these.
pub(super) fn names_any(text: &str, whats: &[&str]) -> bool {
    whats.iter().any(|what| names(text, what))
}

/// A line of one side that the other has not, or has less often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// From 0.
    pub(super) at: usize,
    /// Without blanks around it.
    pub(super) text: &'t str,
}

/// The lines that only one of two texts has, or has more often: those removed, and those added. Where they stand does not
/// matter; what both begin and end with is passed over first, because most of a file stays as it is.
pub(super) fn differing<'t>(before: &'t str, now: &'t str) -> (Vec<Line<'t>>, Vec<Line<'t>>) {
    let (old, new) = (lines(before), lines(now));
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (old.get(first..).unwrap_or_default(), new.get(first..).unwrap_or_default());
    let last = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let within = |all: &[&'t str]| all.get(first..all.len() - last).unwrap_or_default().to_vec();
    let (old, new) = (within(&old), within(&new));
    let of = |lines: &[&'t str], other: &[&str]| {
        let mut is_beyond = beyond(other.iter().copied());
        let said = lines.iter().copied().enumerate().filter(|(_, text)| !text.is_empty() && is_beyond(text));
        said.map(|(at, text)| Line { at: first + at, text }).collect()
    };
    (of(&old, &new), of(&new, &old))
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

/// Tells of one text after another whether the other side has it not, or less often.
pub(super) fn beyond<'o>(other: impl Iterator<Item = &'o str>) -> impl FnMut(&str) -> bool {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for text in other {
        *left.entry(text).or_default() += 1;
    }
    move |text| match left.get_mut(text) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    }
}

/// The added lines that bear a mark, beyond as many as removed lines bear.
pub(super) fn gained<'l, 't>(added: &'l [Line<'t>], removed: &[Line<'_>], marks: &[&str]) -> Vec<&'l Line<'t>> {
    let bears = |line: &&Line| names_any(line.text, marks);
    let gone = removed.iter().filter(bears).count();
    added.iter().filter(bears).skip(gone).collect()
}

/// Whether a line gives a name of what the file imports a new value: `cart.total = …`.
pub(super) fn assigns_elsewhere(line: &str, file: &str) -> bool {
    let Some((left, right)) = line.split_once(" = ") else { return false };
    let mut parts = left.split('.');
    let first = parts.next().unwrap_or_default();
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    let imports = |line: &str| {
        let is_import = ["import ", "from "].iter().any(|begin| line.starts_with(begin)) || line.contains("require(");
        is_import && names(line, first)
    };
    !right.is_empty()
        && is_name(first)
        && parts.clone().count() > 0
        && parts.all(is_name)
        && file.lines().any(|line| imports(line.trim_start()))
}

/// Pairs of removed and added lines in which a constant was turned over: `SKIP_SLOW = False`, `xfail_strict = true`. In tests
/// only names in capitals are constants that decide something.
pub(super) fn flipped<'t>(added: &[Line<'t>], removed: &[Line<'t>], capitals: bool) -> Vec<(Line<'t>, Line<'t>)> {
    let of = |line: &Line<'t>| {
        let (name, value) = line.text.split_once(['=', ':'])?;
        let name = name.trim().rsplit(' ').next()?.trim_matches(['"', '\'']);
        let value = value.trim().trim_end_matches([',', ';']).to_ascii_lowercase();
        let is_constant = !name.is_empty() && (!capitals || !name.contains(|c: char| c.is_lowercase()));
        let value = match value.as_str() {
            "true" | "1" | "yes" | "on" => true,
            "false" | "0" | "no" | "off" => false,
            _ => return None,
        };
        is_constant.then(|| (name.to_owned(), value))
    };
    let pair = |new: &Line<'t>| {
        let (name, value) = of(new)?;
        let old = removed.iter().find(|old| of(old).is_some_and(|old| old == (name.clone(), !value)))?;
        Some((*old, *new))
    };
    added.iter().filter_map(pair).collect()
}

/// Pairs of lines in which a limit became looser.
pub(super) fn loosened<'t>(added: &[Line<'t>], removed: &[Line<'t>]) -> Vec<(Line<'t>, Line<'t>)> {
    let number = |line: &Line<'_>| values(line.text).filter_map(|value| value.parse::<f64>().ok()).last();
    let limit = |line: &Line<'t>| -> Option<(&'static str, bool)> {
        let find = |names_: &'static [&'static str]| names_.iter().find(|name| names(line.text, name)).copied();
        find(&LOWER_IS_LOOSER).map(|name| (name, true)).or_else(|| find(&HIGHER_IS_LOOSER).map(|name| (name, false)))
    };
    let pair = |new: &Line<'t>| {
        let (name, is_lower) = limit(new)?;
        let old = removed.iter().find(|old| limit(old) == Some((name, is_lower)))?;
        let (before, now) = (number(old)?, number(new)?);
        let is_looser = if is_lower { now < before } else { now > before };
        is_looser.then_some((*old, *new))
    };
    added.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(before: &str, now: &str, marks: &[&str]) -> usize {
        let (removed, added) = differing(before, now);
        gained(&added, &removed, marks).len()
    }

    #[test]
    fn lines_are_new_wherever_they_stand() {
        let told =
            |lines: &[Line<'_>]| lines.iter().map(|line| format!("{} {}", line.at, line.text)).collect::<Vec<_>>();
        let (removed, added) = differing("z\nc\nb\nx\nw\n", "z\na\n  b\n\nc\nb\nw\n");
        assert_eq!((told(&removed), told(&added)), (vec!["3 x".to_owned()], vec!["1 a".to_owned(), "5 b".to_owned()]));
        let (removed, added) = differing("a\na\n", "a\n");
        assert_eq!((told(&removed), told(&added)), (vec!["1 a".to_owned()], vec![]));
    }

    #[test]
    fn marks_count_where_there_are_more_of_them() {
        for (line, marks) in [
            ("@pytest.mark.skip(reason='x')", &SKIPS[..]),
            ("@pytest.mark.xfail", &SKIPS),
            ("it.skip('adds', () => {", &SKIPS),
            ("xit('adds', () => {", &SKIPS),
            ("t.Skip(\"later\")", &SKIPS),
            ("#[ignore]", &SKIPS),
            ("@Disabled", &SKIPS),
            ("void DISABLED_Adds() {", &SKIPS),
            ("except Exception: pass", &SWALLOWS),
            ("monkeypatch.setattr(cart, 'total', lambda x: 4)", &PATCHES),
            ("x = add(1)  # type: ignore[arg-type]", &SILENCES),
            ("// eslint-disable-next-line no-undef", &SILENCES),
            ("if x:  # pragma: no cover", &EXCLUSIONS),
            ("run: pytest || true", &RUNS_LESS),
            ("addopts = --deselect tests/test_a.py::test_x", &RUNS_LESS),
        ] {
            assert_eq!(gain("a\n", &format!("a\n{line}\n"), marks), 1, "{line}");
            assert_eq!(gain(&format!("{line}\n"), &format!("  {line}\nb\n"), marks), 0, "{line}");
        }
        for (line, marks) in [
            ("submit('x')", &SKIPS[..]),
            ("exit(1)", &SKIPS),
            ("list.skipped(1)", &SKIPS),
            ("dispatch(action)", &PATCHES),
            ("x = noqualm", &SILENCES),
        ] {
            assert_eq!(gain("", line, marks), 0, "{line}");
        }
        assert_eq!(gain("@skip('a') # noqa\n", "# noqa: F401\n# noqa: F402\n", &SILENCES), 1);
    }

    #[test]
    fn what_belongs_to_others_is_given_another_value() {
        let file = "import cart\nfrom shop import cart, a\nconst shop = require('../shop');\n";
        for line in ["cart.total = sum", "shop.cart.Cart.total = lambda self: 4"] {
            assert!(assigns_elsewhere(line, file), "{line}");
        }
        for line in ["self.x = 1", "total = sum", "assert a.b == 1", "f(a.b = 1)", "config.timeout = 1"] {
            assert!(!assigns_elsewhere(line, file), "{line}");
        }
    }

    #[test]
    fn what_is_turned_over_or_looser_is_found_in_pairs() {
        let pairs = |before: &str, now: &str, capitals| {
            let (removed, added) = differing(before, now);
            let all = [flipped(&added, &removed, capitals), loosened(&added, &removed)].concat();
            all.into_iter().map(|(old, new)| format!("{} → {}", old.text, new.text)).collect::<Vec<_>>()
        };
        assert_eq!(pairs("SKIP = False\nx = 1\n", "SKIP = True\nx = 0\n", true), ["SKIP = False → SKIP = True"]);
        assert_eq!(pairs("xfail_strict = true\n", "xfail_strict = false\n", false).len(), 1);
        assert_eq!(pairs("fail_under = 90\n", "fail_under = 60\n", false).len(), 1);
        assert!(pairs("fail_under = 60\n", "fail_under = 90\n", false).is_empty());
        assert_eq!(pairs("  lines: 90,\n", "  lines: 50,\n", false).len(), 1);
        assert_eq!(pairs("run: eslint --max-warnings 0\n", "run: eslint --max-warnings 10\n", false).len(), 1);
        assert!(pairs("name = 1.0\n", "name = 0.9\n", false).is_empty());
    }
}
