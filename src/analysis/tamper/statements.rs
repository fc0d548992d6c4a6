//! The statements of a test, and what its assertions ask for. No parser: lines that belong together, and the words in them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::analysis::bodies::is_comment;

/// How much an assertion asks for, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Nothing: both sides are written down, or are the same.
    Nothing,
    /// That something is there, or true.
    Truth,
    /// An order, a part, a pattern, a tolerance, or that something is not so.
    Loose,
    /// One value.
    Exact,
}

/// Lines that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) text: String,
    /// With a mark in the place of each value: two that ask the same of other values have one.
    pub(super) skeleton: String,
    /// The line, from 0, that it begins in.
    pub(super) line: usize,
    /// Blanks before it.
    pub(super) depth: usize,
}

/// Words are those of ASCII: with all letters of the world, the patterns take longer to build than to use.
pub(super) type Pattern = LazyLock<Option<Regex>>;

pub(super) fn pattern(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).unicode(false).build().ok()
}

/// Texts, numbers and words that are values. A text that is not closed goes on to the end of the line.
static VALUE: Pattern = LazyLock::new(|| {
    let texts = r#""(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|`[^`]*`?"#;
    let words = "true|false|True|False|TRUE|FALSE|None|null|nil|undefined|NaN";
    pattern(&format!(r"{texts}|[-+]?\b[0-9][\w.]*|\b(?:{words})\b"))
});

/// What an assertion is called, in the languages whose functions are found. `.expect(` is Rust's, and none.
static ASSERTION: Pattern = LazyLock::new(|| {
    let calls = r"\b(?:(?:debug_|prop_|XCT)?[aA]ssert\w*|refute\w*|verify\w*|ASSERT_\w+|EXPECT_\w+|REQUIRE\w*|CHECK\w*|raises|fail|Fail|FailNow)!?[(\[{<]|(?:^|[^\w.])expect\w*\(";
    let words = r"\b(?:assert|refute|must|wont)(?:_\w+)?\s+[^=\s]|\b(?:[aA]ssert|require|expect)\.\w|\.should\b|\bshould\.|\bis_expected\b|\bexpect\s*\{";
    // Go's testing, AVA, tape and node-tap.
    let of_t = r"\bt\.(?:Errorf?|Fatalf?|Fail|FailNow|is|not|deepEqual|notDeepEqual|like|true|false|truthy|falsy|\w*[tT]hrows\w*|regex|notRegex|snapshot|equals?|notEqual|same|notSame|match|ok|notOk|strictSame|rejects|resolves|error|ifError)\(";
    pattern(&format!("{calls}|{words}|{of_t}"))
});

/// That something is there, though the words for it look like more.
static THERE: Pattern = LazyLock::new(|| {
    pattern(
        r"is not §|\.not\.to(?:Be(?:Null|Undefined)|Throw)|[nN]ot_?(?:None|Nil|Null|nil)\b|\bisinstance\b|InstanceOf|toBe(?:Truthy|Falsy|Defined)|\.to\.exist",
    )
});

/// An order, a part, a pattern, a tolerance, or that something is not so.
static LOOSE: Pattern = LazyLock::new(|| {
    let signs = r"[^=!<>-](?:>=?|<=?|!==?)\s|\s(?:not )?in\s|\sis not\s|\.not\.";
    let near = r"approx|isclose|allclose|InDelta|InEpsilon|in_delta|within|closeTo|\w*AlmostEqual\w*|toBeCloseTo";
    let order = r"assertGreater\w*|assertLess\w*|toBeGreater\w*|toBeLess\w*|EXPECT_[GL][ET]|ASSERT_[GL][ET]";
    let part = r"assert(?:Not)?In|assertRegex\w*|assertContains|Contains|toContain\w*|toMatch\w*|\w+Containing|anything|assert_ne|assertNot\w*|[nN]otEqual|includes?|contains?|starts_?[wW]ith|ends_?[wW]ith|assert_match|match";
    pattern(&format!(r"{signs}|\b(?:{near}|{order}|{part})\b"))
});

/// One value.
static EXACT: Pattern = LazyLock::new(|| {
    let calls = r"\w*[eE]qual\w*|assert_eq|assertSame|assertIs|eql?|is|toBe|\w*[dD]eepEqual|\w*[sS]trictEqual|strictSame|same|shouldBe|EXPECT_\w*EQ|ASSERT_\w*EQ|toHaveBeenCalled\w+|toThrow\w*|\w*[rR]aises\w*|throws";
    pattern(&format!(
        r"==|\sis\s|\b(?:{calls})!?\(|\bassert_equal\s|\bis_?(?:[nN]one|[nN]ull|[nN]il|[eE]mpty)\b|\bbe_nil\b"
    ))
});

/// That something is true, and no helper of a project's own.
static TRUE: Pattern = LazyLock::new(|| {
    let calls = r"assert!?|refute|[aA]ssert_?(?:True|False|That)|assert\.ok|t\.(?:ok|notOk|true|false|truthy|falsy)|XCTAssert(?:True|False)?|(?:EXPECT|ASSERT)_(?:TRUE|FALSE)|CHECK|REQUIRE";
    pattern(&format!(r"\b(?:{calls})(?:\s|\()|\bbe_(?:truthy|falsey|present)\b"))
});

/// What makes values alike before they are compared.
static WRAPPER: Pattern = LazyLock::new(|| {
    let functions = r"sorted|set|len|round|abs|int|str|float|bool|Math\.\w+|parseInt|Number|String|Boolean";
    let methods = r"sort\w*|lower|upper|toLowerCase|toUpperCase|to_lowercase|to_uppercase|downcase|casefold|r?strip|lstrip|trim\w*|replace\w*|gsub|slice|floor|ceil|split|keys";
    pattern(&format!(r"\b(?:{functions})\(|\.(?:{methods})\b|\.(?:length|size|len\(\))"))
});

pub(super) fn is(pattern: &Pattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text.as_bytes()))
}

fn count(pattern: &Pattern, text: &str) -> usize {
    pattern.as_ref().map_or(0, |pattern| pattern.find_iter(text.as_bytes()).count())
}

/// The statements of some lines: blank lines and comments are left out, and lines within brackets are one, as are a chain of
/// calls (`expect(x)` above `.toBe(1)`), and what Go asserts with: `if got != 4 {` and the complaint below it.
pub(super) fn statements<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    let mut open = 0_usize;
    for (line, text) in lines {
        let code = text.trim();
        if code.is_empty() || is_comment(code) {
            continue;
        }
        let bare = skeleton(code);
        let goes_on = |last: &Statement| {
            let is_complaint = ["t.Error", "t.Fatal", "t.Fail"].iter().any(|begin| code.starts_with(begin));
            open > 0
                || code.starts_with('.') && !code.starts_with("..")
                || is_complaint && last.text.starts_with("if ") && last.text.ends_with('{')
        };
        match found.last_mut() {
            Some(last) if goes_on(last) => {
                for (whole, part) in [(&mut last.text, code), (&mut last.skeleton, bare.as_str())] {
                    whole.push(' ');
                    whole.push_str(part);
                }
            }
            _ => {
                let depth = text.len() - text.trim_start().len();
                found.push(Statement { text: code.to_owned(), skeleton: bare.clone(), line, depth });
            }
        }
        open = still_open(&bare, open);
    }
    found
}

/// Round and square brackets that are open after a line. Braces open blocks, whose lines are statements of their own.
fn still_open(bare: &str, open: usize) -> usize {
    bare.bytes().fold(open, |open, byte| match byte {
        b'(' | b'[' => open + 1,
        b')' | b']' => open.saturating_sub(1),
        b'{' => 0,
        _ => open,
    })
}

fn skeleton(code: &str) -> String {
    let Some(value) = VALUE.as_ref() else { return code.to_owned() };
    String::from_utf8_lossy(&value.replace_all(code.as_bytes(), "§".as_bytes())).into_owned()
}

/// The texts and numbers in a line.
pub(super) fn values(code: &str) -> impl Iterator<Item = &str> {
    let found = VALUE.iter().flat_map(|value| value.find_iter(code.as_bytes()));
    found.filter_map(|found| code.get(found.range()))
}

impl Statement {
    /// Whether it asserts something.
    pub(super) fn is_assertion(&self) -> bool {
        is(&ASSERTION, &self.skeleton)
    }

    /// What it asks for.
    pub(super) fn strength(&self) -> Strength {
        let bare = self.skeleton.as_str();
        if self.asks_nothing() {
            Strength::Nothing
        } else if bare.starts_with("if ") {
            // It complains where this holds.
            let is_one = ["!=", "DeepEqual(", "cmp.Diff("].iter().any(|word| bare.contains(word));
            if is_one { Strength::Exact } else { Strength::Loose }
        } else if bare.contains("raises(") {
            Strength::Exact
        } else if is(&THERE, bare) {
            Strength::Truth
        } else if is(&LOOSE, bare) {
            Strength::Loose
        } else if is(&EXACT, bare) || !is(&TRUE, bare) {
            // What a helper of the project's own asks for is not known.
            Strength::Exact
        } else {
            Strength::Truth
        }
    }

    /// Whether it has a third of its words, or of the other's, in common with another one.
    pub(super) fn is_like(&self, other: &Statement) -> bool {
        let (own, others) = (self.words(), other.words());
        let common = own.intersection(&others).count();
        common * 3 >= own.len().max(others.len()) && common > 0
    }

    /// Its words but those that assert.
    fn words(&self) -> BTreeSet<&str> {
        let words = self.skeleton.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '§');
        words
            .filter(|word| !word.is_empty() && *word != "§" && !is(&ASSERTION, &format!("{word}(")) && !is_plain(word))
            .collect()
    }

    /// How often values are made alike in it.
    pub(super) fn wrappers(&self) -> usize {
        count(&WRAPPER, &self.skeleton)
    }

    /// Nothing but values and the words of assertions, or the same on both sides.
    fn asks_nothing(&self) -> bool {
        self.words().into_iter().all(|word| is(&EXACT, &format!("{word}(")))
            || self.text.split_once("==").is_some_and(|(left, right)| {
                let left = left.rsplit([' ', '(']).find(|word| !word.is_empty());
                let right = right.trim_start_matches('=').split([' ', ')', ';', ',']).find(|word| !word.is_empty());
                left.is_some() && left == right
            })
    }
}

/// Words around an assertion's own that tell of no value.
fn is_plain(word: &str) -> bool {
    matches!(
        word,
        "self"
            | "this"
            | "t"
            | "to"
            | "be"
            | "that"
            | "ok"
            | "assert"
            | "refute"
            | "toBeTruthy"
            | "toBeDefined"
            | "await"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Statement {
        let found = statements(text.lines().enumerate());
        assert_eq!(found.len(), 1, "{found:?}");
        found.into_iter().next().unwrap()
    }

    #[test]
    fn lines_that_belong_together_are_one_statement() {
        let text = "  x = [\n    1,\n  ]\n\n  # no\n  expect(x)\n    .toBe(2);\n  if (a) {\n    b();\n  }\n";
        let found = statements(text.lines().enumerate());
        let told: Vec<(&str, usize, usize)> =
            found.iter().map(|one| (one.text.as_str(), one.line, one.depth)).collect();
        assert_eq!(
            told,
            [("x = [ 1, ]", 0, 2), ("expect(x) .toBe(2);", 5, 2), ("if (a) {", 7, 2), ("b();", 8, 4), ("}", 9, 2)]
        );
        assert_eq!(found[0].skeleton, "x = [ §, ]");
        assert_eq!(one("assert x1 == -4 and y == 'a (b'").skeleton, "assert x1 == § and y == §");
        assert_eq!(values("f(x1, 'a', 2.5, \"b\\\"c\")").collect::<Vec<_>>(), ["'a'", "2.5", "\"b\\\"c\""]);
    }

    #[test]
    fn assertions_are_known_in_every_language_and_nothing_else_is() {
        for text in [
            "assert x == 4",
            "self.assertEqual(x, 4)",
            "with pytest.raises(ValueError):",
            "mock.assert_called_once_with(1)",
            "expect(x).toBe(4);",
            "await expect(f()).rejects.toThrow();",
            "assert.equal(x, 4);",
            "t.is(x, 4);",
            "assert_eq!(x, 4);",
            "assert!(x > 3);",
            "t.Errorf(\"got %d\", x)",
            "require.Equal(t, 4, x)",
            "assert_equal 4, x",
            "expect(x).to eq(4)",
            "expect { f }.to raise_error",
            "assertThat(x).isEqualTo(4);",
            "Assert.AreEqual(4, x);",
            "$this->assertSame(4, $x);",
            "XCTAssertEqual(x, 4)",
            "EXPECT_EQ(x, 4);",
            "x.should == 4",
        ] {
            assert!(one(text).is_assertion(), "{text}");
        }
        for text in [
            "expected = 4",
            "x = total(items)",
            "print('assert x')",
            "t.Run(\"adds\", func(t *testing.T) {",
            "import assertions from './x';",
            "self.get(key).expect(\"no entry\")",
            "const { expect } = require('chai');",
        ] {
            assert!(!one(text).is_assertion(), "{text}");
        }
    }

    #[test]
    fn what_an_assertion_asks_for() {
        use Strength::{Exact, Loose, Nothing, Truth};
        for (text, expected) in [
            ("assert total(x) == 4", Exact),
            ("assert total(x) is True", Exact),
            ("assert type(x) is dict", Exact),
            ("with pytest.raises(ValueError, match='a'):", Exact),
            ("assert!(total(&x).is_none());", Exact),
            ("assert_data_eq!(x, str![[\"a\"]]);", Exact),
            ("assert total(x) >= 4", Loose),
            ("assert 4 in total(x)", Loose),
            ("assert total(x) != 5", Loose),
            ("assert total(x) == pytest.approx(4)", Loose),
            ("assert total(x)", Truth),
            ("assert total(x) is not None", Truth),
            ("assert isinstance(total(x), int)", Truth),
            ("assert True", Nothing),
            ("assert 1 == 1", Nothing),
            ("assert x == x", Nothing),
            ("self.assertEqual(total(x), 4)", Exact),
            ("self.assertAlmostEqual(total(x), 4)", Loose),
            ("self.assertTrue(total(x))", Truth),
            ("self.assertTrue(True)", Nothing),
            ("expect(total(x)).toBe(4);", Exact),
            ("expect(total(x)).toBeGreaterThan(3);", Loose),
            ("expect(total(x)).toContain(3);", Loose),
            ("expect(total(x)).toBeDefined();", Truth),
            ("expect(total(x)).not.toBeNull();", Truth),
            ("expect(true).toBe(true);", Nothing),
            ("assert_eq!(total(&x), 4);", Exact),
            ("assert!(total(&x) > 3);", Loose),
            ("assert!(total(&x).is_some());", Truth),
            ("assert!(true);", Nothing),
            ("t.is(total(x), 4);", Exact),
            ("t.truthy(total(x));", Truth),
            ("require.Equal(t, 4, total(x))", Exact),
            ("require.NotNil(t, total(x))", Truth),
            ("assert_equal 4, total(x)", Exact),
            ("expect(total(x)).to eq(4)", Exact),
            ("expect(total(x)).to include(4)", Loose),
            ("XCTAssertEqual(total(x), 4)", Exact),
            ("assertThat(total(x)).isEqualTo(4);", Exact),
            ("$this->assertSame(4, total($x));", Exact),
            ("EXPECT_EQ(total(x), 4);", Exact),
            ("EXPECT_GE(total(x), 4);", Loose),
            ("if got := Total(x); got != 4 {\n\tt.Errorf(\"got %d\", got)", Exact),
            ("if got := Total(x); got < 4 {\n\tt.Fatal(got)", Loose),
        ] {
            assert_eq!(one(text).strength(), expected, "{text}");
        }
        assert_eq!(one("assert sorted(a).strip() == 1").wrappers(), 2);
        assert_eq!(one("expect(a.length).toBe(1)").wrappers(), 1);
        assert_eq!(one("assert a == 1").wrappers(), 0);
    }
}
