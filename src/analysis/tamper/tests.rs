use super::*;

/// The edits between two versions of files, as `kind line test`; what turned stands behind, if anything.
fn edits(files: &[(&str, &str, &str)], turned: &[&str]) -> (Vec<String>, bool) {
    let paths: Vec<TreePath> = files.iter().map(|(path, ..)| TreePath::new(*path).unwrap()).collect();
    let side = |text| if text == "-" { Content::Absent } else { Content::Text(text) };
    let changed: Vec<Changed<'_>> = paths
        .iter()
        .zip(files)
        .map(|(path, (_, before, now))| Changed { path, before: side(before), now: side(now) })
        .collect();
    let turned: Vec<String> = turned.iter().map(|id| (*id).to_owned()).collect();
    let found = test_edits(Iteration(1), &changed, &turned);
    let told = found.edits.iter().map(|edit| {
        let kind = serde_json::to_value(edit.kind).unwrap();
        let line = edit.line.map_or("-".to_owned(), |line| line.to_string());
        let test = edit.test.as_deref().unwrap_or("-");
        let turned: String = edit.turned.iter().map(|id| format!(" <{id}>")).collect();
        format!("{} {line} {test}{turned}", kind.as_str().unwrap())
    });
    (told.collect(), found.code_changed)
}

const PYTHON: &str = "import cart\n\n\ndef test_total():\n    x = cart.total([1, 3])\n    assert x == 4\n    assert x > 0\n\n\ndef test_empty():\n    assert cart.total([]) == 0\n";

/// A test file of Python in which some text is replaced.
fn python(from: &str, to: &str) -> Vec<String> {
    assert!(PYTHON.contains(from), "{from}");
    edits(&[("tests/test_cart.py", PYTHON, &PYTHON.replace(from, to))], &["tests/test_cart.py::test_total"]).0
}

#[test]
fn each_way_to_make_a_test_pass_without_better_code_has_its_name() {
    let of_total = |kind: &str, line: u32| vec![format!("{kind} {line} test_total <tests/test_cart.py::test_total>")];
    for (from, to, kind, line) in [
        ("    assert x == 4\n", "", "fewer_assertions", 4),
        ("    x = cart.total([1, 3])\n    assert x == 4\n    assert x > 0\n", "    pass\n", "fewer_assertions", 4),
        ("def test_total", "@pytest.mark.skip\ndef test_total", "skipped", 4),
        ("    x = cart", "    pytest.skip('later')\n    x = cart", "skipped", 5),
        ("x == 4", "x >= 4", "weaker_assertion", 6),
        ("x == 4", "x", "weaker_assertion", 6),
        ("x == 4", "x == pytest.approx(4)", "weaker_assertion", 6),
        ("assert x == 4", "assert True", "weaker_assertion", 6),
        ("x == 4", "x == 3", "other_expectation", 6),
        ("[1, 3]", "[1, 2]", "other_expectation", 5),
        ("assert x == 4", "assert int(x) == 4", "subject_wrapped", 6),
        ("    x = cart", "    return\n    x = cart", "early_exit", 5),
        ("    x = cart", "    os._exit(0)\n    x = cart", "early_exit", 5),
        ("    x = cart", "    monkeypatch.setattr(cart, 'total', f)\n    x = cart", "subject_patched", 5),
        ("assert x == 4", "assert y == x", "assertion_rewritten", 6),
        (
            "    assert x == 4\n",
            "    try:\n        assert x == 4\n    except AssertionError:\n        pass\n",
            "failure_swallowed",
            8,
        ),
    ] {
        assert_eq!(python(from, to), of_total(kind, line), "{from} → {to}");
    }
}

#[test]
fn what_makes_no_test_pass_is_not_told() {
    for (from, to) in [
        ("import cart\n", "import cart\nimport os\n"),
        ("    assert x > 0\n", "    assert x > 0\n    assert x != 5\n"),
        ("assert x > 0", "assert x == 4"),
        ("    assert x == 4\n    assert x > 0\n", "    # Both.\n    assert x > 0\n    assert x == 4\n"),
        ("x = cart.total([1, 3])", "x = cart.total(items=[1, 3])"),
        ("def test_empty():\n", "def test_new():\n    pytest.skip('later')\n\n\ndef test_empty():\n"),
        (
            "    assert x == 4\n    assert x > 0\n",
            "    check(x)\n\n\ndef check(x):\n    assert x == 4\n    assert x > 0\n",
        ),
    ] {
        let now = PYTHON.replace(from, to);
        assert_ne!(now, PYTHON);
        let (found, _) = edits(&[("tests/test_cart.py", PYTHON, &now)], &[]);
        assert!(found.is_empty(), "{to}: {found:?}");
    }
}

#[test]
fn tests_of_other_languages_are_read_too() {
    for (path, id, before, now, expected) in [
        (
            "src/cart.test.ts",
            "src/cart.test.ts::cart > adds",
            "describe('cart', () => {\n  it('adds', () => {\n    expect(total(a))\n      .toBe(4);\n  });\n});\n",
            "describe('cart', () => {\n  it('adds', () => {\n    expect(total(a))\n      .toBe(3);\n  });\n});\n",
            "other_expectation 3 adds",
        ),
        (
            "src/cart.test.ts",
            "src/cart.test.ts::cart > adds",
            "it('adds', () => {\n  expect(total(a)).toBe(4);\n});\n",
            "it.skip('adds', () => {\n  expect(total(a)).toBe(4);\n});\n",
            "skipped 1 adds",
        ),
        (
            "cart_test.go",
            "shop::TestTotal",
            "func TestTotal(t *testing.T) {\n\tif got := Total(a); got != 4 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
            "func TestTotal(t *testing.T) {\n\tif got := Total(a); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
            "other_expectation 2 TestTotal",
        ),
        (
            "src/cart.rs",
            "cart::tests::totals",
            "pub fn total() -> u8 {\n    3\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn totals() {\n        assert_eq!(total(), 4);\n    }\n}\n",
            "pub fn total() -> u8 {\n    3\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    #[ignore]\n    fn totals() {\n        assert_eq!(total(), 4);\n    }\n}\n",
            "skipped 8 totals",
        ),
        (
            "spec/cart_spec.rb",
            "./spec/cart_spec.rb::Cart adds",
            "describe Cart do\n  it 'adds' do\n    expect(total).to eq(4)\n  end\nend\n",
            "describe Cart do\n  it 'adds' do\n    expect(total).to be_truthy\n  end\nend\n",
            "weaker_assertion 3 adds",
        ),
        (
            "tests/CartTest.php",
            "CartTest::testAdds",
            "class CartTest {\n  function testAdds() {\n    $this->assertSame(4, total());\n  }\n}\n",
            "class CartTest {\n  function testAdds() {\n    $this->markTestSkipped('x');\n    $this->assertSame(4, total());\n  }\n}\n",
            "skipped 3 testAdds",
        ),
        (
            "src/test/java/CartTest.java",
            "CartTest::adds",
            "class CartTest {\n  @Test\n  void adds() {\n    assertEquals(4, total());\n  }\n}\n",
            "class CartTest {\n  @Disabled\n  @Test\n  void adds() {\n    assertEquals(4, total());\n  }\n}\n",
            "skipped 2 adds",
        ),
    ] {
        let (found, code_changed) = edits(&[(path, before, now)], &[id]);
        assert_eq!(found, [format!("{expected} <{id}>")], "{path}");
        assert!(!code_changed, "{path}");
    }
}

#[test]
fn what_stands_in_no_test_may_have_turned_any() {
    let id = "tests/test_cart.py::test_total";
    for (path, before, now, expected) in [
        (
            "tests/conftest.py",
            "import os\n",
            "import os\ncart.total = mock.patch('cart.total')\n",
            "subject_patched 2 -",
        ),
        ("tests/conftest.py", "-", "import cart\n\ncart.total = sum\n", "subject_patched 3 -"),
        (
            "tests/conftest.py",
            "-",
            "@pytest.fixture(autouse=True)\ndef patched(monkeypatch):\n    monkeypatch.setattr(cart, 'total', sum)\n",
            "subject_patched 3 -",
        ),
        (
            "src/__snapshots__/cart.test.ts.snap",
            "exports[`a`] = `4`;\n",
            "exports[`a`] = `3`;\n",
            "snapshot_rewritten 1 -",
        ),
        ("tests/data/total.json", "4\n", "3\n", "snapshot_rewritten 1 -"),
        (
            "pytest.ini",
            "[pytest]\n",
            "[pytest]\naddopts = --deselect tests/test_cart.py::test_total\n",
            "config_loosened 2 -",
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nxfail_strict = true\n",
            "[tool.pytest.ini_options]\nxfail_strict = false\n",
            "guard_flipped 2 -",
        ),
        (".github/workflows/ci.yml", "- run: pytest\n", "- run: pytest || true\n", "config_loosened 1 -"),
        (
            "tests/helpers.py",
            "def check(x):\n    assert x == 4\n    assert x > 0\n",
            "def check(x):\n    assert x > 0\n",
            "fewer_assertions 1 check",
        ),
    ] {
        let (found, code_changed) = edits(&[(path, before, now)], &[id]);
        assert_eq!(found, [format!("{expected} <{id}>")], "{path}");
        assert!(!code_changed, "{path}");
    }
    // Limits of coverage and silenced linters turn none.
    for (path, before, now, expected) in [
        (".coveragerc", "fail_under = 90\n", "fail_under = 60\n", "config_loosened 1 -"),
        (".coveragerc", "[run]\n", "[run]\nomit = cart.py\n", "config_loosened 2 -"),
        ("src/cart.py", "import os\n", "import os  # noqa\n", "finding_suppressed 1 -"),
        ("src/cart.py", "if a:\n    b()\n", "if a:  # pragma: no cover\n    b()\n", "coverage_excluded 1 -"),
    ] {
        assert_eq!(edits(&[(path, before, now)], &[id]).0, [expected], "{path}");
    }
    // Data of tests may change, and a recorded expectation may go with its test.
    assert!(edits(&[("tests/data/total.json", "4\n", "3\n"), ("a.snap", "4\n", "-")], &[]).0.is_empty());
    // A recorded expectation to which something was added is the same as before.
    assert!(edits(&[("a.snap", "a\n", "a\nb\n")], &[id]).0.is_empty());
    assert!(edits(&[("a.snap", "-", "a\n")], &[id]).0.is_empty());
}

#[test]
fn a_case_that_went_from_a_table_is_told() {
    let table = "@pytest.mark.parametrize('a, b', [\n    (1, 1),\n    (2, 4),\n    (3, 9),\n])\ndef test_square(a, b):\n    assert square(a) == b\n";
    let id = "tests/test_a.py::test_square[3-9]";
    let without = table.replace("    (3, 9),\n", "");
    let (found, _) = edits(&[("tests/test_a.py", table, &without)], &[id]);
    assert_eq!(found, [format!("case_removed 5 test_square <{id}>")]);
    let other = table.replace("(3, 9)", "(3, 8)");
    let (found, _) = edits(&[("tests/test_a.py", table, &other)], &[id]);
    assert_eq!(found, [format!("other_expectation 1 test_square <{id}>")]);
}

#[test]
fn whether_code_changed_is_told_by_what_tests_can_reach() {
    let rust = "#[cfg(test)]\nmod more;\nfn f() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n}\n";
    for (path, before, now, expected) in [
        ("src/cart.py", "a = 1\n", "a = 2\n", true),
        ("src/cart.py", "a = 1\n", "# why\n\na = 1\n", false),
        ("src/cart.py", "-", "a = 1\n", true),
        ("src/cart.py", "a = 1\n", "-", true),
        ("src/cart.rs", rust, &rust.replace("mod tests {", "mod tests {\n    fn g() {}"), false),
        ("src/cart.rs", rust, &rust.replace("{ 1 }", "{ 2 }"), true),
        ("src/cart.rs", "*total = 1;\n", "*total = 2;\n", true),
        ("src/cart.c", "#define SUM 1\n", "#define SUM 2\n", true),
        ("src/cart.c", "int a;\n", "// A.\nint a;\n", false),
        ("data/prices.json", "1\n", "2\n", true),
        ("README.md", "a\n", "b\n", false),
        ("tests/test_cart.py", "a = 1\n", "a = 2\n", false),
        ("pyproject.toml", "[tool.ruff]\na = 1\n", "[tool.ruff]\na = 2\n", false),
        ("pyproject.toml", "[project]\nversion = '1'\n", "[project]\nversion = '2'\n", true),
        ("package.json", "{\n  \"test\": \"jest\"\n}\n", "{\n  \"test\": \"jest --ci\"\n}\n", false),
        ("package.json", "{\n  \"contest\": \"1\"\n}\n", "{\n  \"contest\": \"2\"\n}\n", true),
        ("package.json", "{\n  \"main\": \"a.js\"\n}\n", "{\n  \"main\": \"b.js\"\n}\n", true),
        ("requirements.txt", "a==1\n", "a==2\n", true),
    ] {
        assert_eq!(edits(&[(path, before, now)], &[]).1, expected, "{path}: {now}");
    }
    let path = TreePath::new("src/logo.bin").unwrap();
    let opaque = Changed { path: &path, before: Content::Opaque, now: Content::Opaque };
    assert!(test_edits(Iteration(1), &[opaque], &[]).code_changed);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(before in any_test(), now in any_test(), path in any_path()) {
        edits(&[(path, &before, &now)], &["a.py::test_a", "a::adds"]);
    }
}

/// Lines that mean something to it, in any order.
fn any_test() -> impl proptest::strategy::Strategy<Value = String> {
    let lines = proptest::sample::select(vec![
        "def test_a():",
        "    assert x == 4",
        "    x = [",
        "  it('adds', () => {",
        "    expect(x)",
        "      .toBe(\"\\",
        "});",
        "#[cfg(test)]",
        "mod tests {",
        "#[test]",
        "fn test_a() {",
        "assert_eq!(a, 'ü');",
        "}",
        "@skip",
        "if got != 4 {",
        "t.Error(\"",
        "",
        "\u{a7}",
        "[tool.pytest]",
        "xfail_strict = true",
        "exclude = 1",
        "except: pass",
        "))",
        "class A {",
    ]);
    proptest::strategy::Strategy::prop_map(proptest::collection::vec(lines, 0..12), |lines| lines.join("\n"))
}

fn any_path() -> impl proptest::strategy::Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "test_a.py",
        "a.test.ts",
        "a_test.go",
        "src/a.rs",
        "a_spec.rb",
        "tox.ini",
        "pyproject.toml",
        "a.snap",
    ])
}
