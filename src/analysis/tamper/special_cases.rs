//! Code that answers a test's own input with what the test expects, and all else as before (T16). No run of old tests on new
//! code shows it: the tests pass, as they were, too.
//!
//! A condition on a value that is written down, with an answer that is written down. Where many stand side by side, they are a
//! table, and no special case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::files::{Role, role};
use super::statements::{Pattern, Statement, is, pattern, statements, values};
use super::{Changed, Content, Side, WIDTH, bears, split_off_tests, without};
use crate::analysis::bodies::is_source;
use crate::analysis::renames::{base_name, split};
use crate::model::edits::{EditKind, TestEdit, TestEdits};
use crate::model::ids::TreePath;

/// Conditions of one form in one file from which on they are a table.
const TABLE: usize = 3;

/// Values that stand anywhere and tell nothing.
const PLAIN: [&str; 16] =
    ["", "0", "1", "2", "-1", "0.0", "1.0", "10", "100", "true", "false", "none", "null", "nil", "undefined", "nan"];

/// A condition that came, and its answer.
pub struct SpecialCase {
    path: TreePath,
    /// From 1.
    line: u64,
    text: String,
    /// The values in both that tell something.
    values: BTreeSet<String>,
}

/// What a test that turned is made of.
pub struct TestValues {
    /// Its id.
    pub id: String,
    values: BTreeSet<String>,
}

/// A value in the place of a `§`: alone, or several in brackets.
const WRITTEN: &str = r"[\[({&]*\xC2\xA7(?:[\s,:\[\](){}]|\xC2\xA7)*";

/// Something that has a name is equal to a written value: `if x == [1, 3]`, `case "a":`, `"a" => `. What is reckoned with, as
/// `n % 3 == 0`, is none.
static CONDITION: Pattern = LazyLock::new(|| {
    let begin = r"(?:\b(?:if|elif|elsif|unless|and|or|not|return)\b|&&|\|\||=>)\s*[(!]*";
    let named = r"(?:[$@\w.]+(?:(?:->|::|\?\.)\w+)*(?:\([$\w.,\s]*\))?|[\[(][\w.,\s]+[\])])";
    let compared = format!(r"{begin}(?:{named}\s*===?\s*(?:[\w.]+\(\s*)?{WRITTEN}|{WRITTEN}\s*===?\s*{named})");
    let calls = format!(r"{begin}(?:{named}|\xC2\xA7)\.equals\(|{begin}{named}\s+in\s*[\[({{]\xC2\xA7");
    pattern(&format!(r"{compared}|{calls}|^(?:case|when)\s+{WRITTEN}|^{WRITTEN}(?:=>|->)"))
});

/// The answer in the same line: `return 4`, `? 4 :`, `=> 4`.
static ANSWER: Pattern = LazyLock::new(|| {
    pattern(&format!(
        r"\breturn\s+{WRITTEN}(?:;|\}}|$|\bif\b|\bunless\b)|\?\s*{WRITTEN}:|(?:=>|->)\s*{WRITTEN},?$|\bthen\s+{WRITTEN}$"
    ))
});

/// The answer in a line of its own.
static ALONE: Pattern = LazyLock::new(|| pattern(&format!(r"^(?:return\s+)?{WRITTEN};?$")));

/// The special cases that may have come with a change, as many as edits are kept.
pub fn special_cases(changed: &[Changed<'_>]) -> Vec<SpecialCase> {
    changed.iter().flat_map(of_file).take(TestEdits::MOST).collect()
}

fn of_file(file: &Changed<'_>) -> Vec<SpecialCase> {
    let path = file.path.to_string();
    let (Content::Text(now), true) = (file.now, role(&path) == Role::Code && is_source(&path)) else {
        return Vec::new();
    };
    let code = |text| statements(split_off_tests(&path, text).0.lines().enumerate());
    let (was, is_now) = (code(file.before.text()), code(now));
    let came: BTreeSet<usize> = without(&is_now, &was).iter().map(|one| one.line).collect();
    let next = is_now.iter().skip(1).map(Some).chain([None]);
    let is_case = |(one, next): (&Statement, Option<&Statement>)| {
        if !came.contains(&one.line) || !is(&CONDITION, &one.skeleton) {
            return None;
        }
        let answer = match next {
            _ if is(&ANSWER, &one.skeleton) => "",
            Some(next) if came.contains(&next.line) && is(&ALONE, &next.skeleton) => next.text.as_str(),
            _ => return None,
        };
        let text = [one.text.as_str(), answer].join(" ");
        let values = telling(&text);
        let case = SpecialCase {
            path: file.path.clone(),
            line: u64::try_from(one.line).map_or(0, |line| line + 1),
            text: text.trim_end().chars().take(WIDTH).collect(),
            values,
        };
        (case.values.len() > 1).then(|| (form(&one.skeleton), case))
    };
    let cases: Vec<(String, SpecialCase)> = is_now.iter().zip(next).filter_map(is_case).collect();
    if cases.is_empty() {
        return Vec::new();
    }
    let mut forms: BTreeMap<String, usize> = BTreeMap::new();
    for one in &is_now {
        *forms.entry(form(&one.skeleton)).or_default() += 1;
    }
    let is_table = |form: &String| forms.get(form).is_some_and(|times| *times >= TABLE);
    cases.into_iter().filter(|(form, _)| !is_table(form)).map(|(_, case)| case).collect()
}

/// A skeleton in which several values side by side are one.
fn form(skeleton: &str) -> String {
    let mut form = String::new();
    for between in skeleton.split('§').filter(|between| !between.trim_matches([' ', ',']).is_empty()) {
        form.push_str(between);
        form.push('§');
    }
    form
}

/// The values in a text that tell something, without their quotes.
fn telling(text: &str) -> BTreeSet<String> {
    let bare = |value: &str| value.trim_matches(['"', '\'', '`']).trim_start_matches('+').to_owned();
    values(text).map(bare).filter(|value| !PLAIN.contains(&value.to_lowercase().as_str())).collect()
}

/// Whether a file may hold tests whose values are worth reading.
pub fn may_hold_tests(path: &str) -> bool {
    matches!(role(path), Role::Test) && is_source(path)
}

/// The values of those of `ids` that are tests of this file.
pub fn values_of_tests(path: &str, text: &str, ids: &[String]) -> Vec<TestValues> {
    let side = Side::of(path, text);
    let of = |id: &String| {
        let name = base_name(split(id).1);
        let function = side.functions.iter().find(|function| bears(name, function))?;
        let lines: Vec<&str> = side.trimmed(side.decorated(function)).collect();
        Some(TestValues { id: id.clone(), values: telling(&lines.join("\n")) })
    };
    ids.iter().filter_map(of).collect()
}

/// Those that a test is answered by: all that their lines tell stands in it.
pub fn answered(cases: Vec<SpecialCase>, tests: &[TestValues]) -> Vec<TestEdit> {
    let edit = |case: SpecialCase| {
        let turned: BTreeSet<&String> =
            tests.iter().filter(|test| case.values.is_subset(&test.values)).map(|test| &test.id).collect();
        (!turned.is_empty()).then(|| TestEdit {
            kind: EditKind::SpecialCased,
            path: case.path,
            line: Some(case.line),
            test: None,
            before: None,
            now: Some(case.text),
            turned: turned.into_iter().cloned().collect(),
        })
    };
    cases.into_iter().filter_map(edit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, before: &str, now: &str, test: (&str, &str)) -> Vec<String> {
        let path = TreePath::new(path).unwrap();
        let changed = [Changed { path: &path, before: Content::Text(before), now: Content::Text(now) }];
        let ids = [test.0.to_owned()];
        let file = test.0.split("::").next().unwrap();
        let found = answered(special_cases(&changed), &values_of_tests(file, test.1, &ids));
        found.iter().map(|edit| format!("{} {}", edit.line.unwrap(), edit.now.as_deref().unwrap())).collect()
    }

    const PYTHON: (&str, &str) =
        ("tests/test_cart.py::test_total", "def test_total():\n    x = cart.total([1, 3])\n    assert x == 4\n");

    fn python(body: &str) -> Vec<String> {
        let before = "def total(xs):\n    return sum(xs) - 1\n";
        told("cart.py", before, &format!("def total(xs):\n{body}    return sum(xs) - 1\n"), PYTHON)
    }

    #[test]
    fn a_condition_on_a_tests_input_with_its_expectation_behind_it() {
        assert_eq!(python("    if xs == [1, 3]:\n        return 4\n"), ["2 if xs == [1, 3]: return 4"]);
        assert_eq!(python("    if [1, 3] == xs: return 4\n"), ["2 if [1, 3] == xs: return 4"]);
        assert_eq!(python("    return 4 if xs == [1, 3] else sum(xs) - 1\n").len(), 1);
        for other in [
            "    if xs == [1, 5]:\n        return 4\n",
            "    if xs == [1, 3]:\n        return 5\n",
            "    if xs == [1, 3]:\n        return sum(xs)\n",
            "    if len(xs) == 0:\n        return 1\n",
            "    if xs > [1, 3]:\n        return 4\n",
            "    # if xs == [1, 3]: return 4\n",
            "    if xs == [1, 3]:\n        log(4)\n",
        ] {
            assert!(python(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn what_was_there_and_tables_are_none() {
        let code = "def total(xs):\n    if xs == [1, 3]:\n        return 4\n    return 0\n";
        assert!(told("cart.py", code, &code.replace("return 0", "return sum(xs)"), PYTHON).is_empty());
        let table = |n: usize| -> String {
            let rows = (3..3 + n).map(|at| format!("    if xs == [1, {at}]:\n        return {}\n", at + 1));
            format!("def total(xs):\n{}", rows.collect::<String>())
        };
        assert_eq!(told("cart.py", "", &table(1), PYTHON).len(), 1);
        assert!(told("cart.py", "", &table(3), PYTHON).is_empty());
        let longer = table(3).replace("[1, 4]", "[1, 4, 5]").replace("[1, 5]", "[1, 5, 6, 7]");
        assert!(told("cart.py", "", &longer, PYTHON).is_empty());
        assert!(told("tests/helpers.py", "", &table(1), PYTHON).is_empty(), "no code");
    }

    #[test]
    fn other_languages_word_it_otherwise() {
        let script = ("test/cart.test.js::adds", "it('adds', () => {\n  expect(total('a-b', 31)).toBe('xyz');\n});\n");
        for line in [
            "if (name === 'a-b') return 'xyz';",
            "if (name === \"a-b\") { return \"xyz\"; }",
            "return name === 'a-b' ? 'xyz' : name;",
            "case 'a-b': return 'xyz';",
            "const f = (name) => String(name) === String('a-b') ? 'xyz' : name;",
        ] {
            assert_eq!(
                told("cart.js", "", &format!("function total(name) {{\n  {line}\n}}\n"), script).len(),
                1,
                "{line}"
            );
        }
        let go = (
            "cart_test.go::TestTotal",
            "func TestTotal(t *testing.T) {\n\tif got := Total(13); got != 44 {\n\t\tt.Error(got)\n\t}\n}\n",
        );
        assert_eq!(
            told("cart.go", "", "func Total(n int) int {\n\tif n == 13 {\n\t\treturn 44\n\t}\n\treturn n\n}\n", go)
                .len(),
            1
        );
        let rust = ("tests/cart.rs::totals", "#[test]\nfn totals() {\n    assert_eq!(total(13), 44);\n}\n");
        assert_eq!(
            told(
                "src/cart.rs",
                "",
                "fn total(n: u32) -> u32 {\n    match n {\n        13 => 44,\n        _ => n,\n    }\n}\n",
                rust
            )
            .len(),
            1
        );
        let php = (
            "tests/CartTest.php::testTotal",
            "class CartTest {\n    public function testTotal(): void\n    {\n        $this->assertSame(44, total([13]));\n    }\n}\n",
        );
        for line in ["if ($xs === [13]) return 44;", "if ($this->xs === [13]) {\n        return 44;\n    }"] {
            let code = format!("<?php\nfunction total($xs) {{\n    {line}\n}}\n");
            assert_eq!(told("cart.php", "", &code, php).len(), 1, "{line}");
        }
        let ruby = ("spec/cart_spec.rb::adds", "it 'adds' do\n  expect(total(13)).to eq(44)\nend\n");
        assert_eq!(told("cart.rb", "", "def total(n)\n  return 44 if n == 13\n  n\nend\n", ruby).len(), 1);
        assert_eq!(told("cart.rb", "", "def total(n)\n  case n\n  when 13 then 44\n  end\nend\n", ruby).len(), 1);
    }
}
