//! Where a test failed, from the stack that tells of it.

use super::rust_failure;
use crate::ingest::text::{printable, without_terminal_codes};
use crate::model::cases::TestCase;

/// A file as it is written, and a line of it.
pub(super) type Place<'a> = (&'a str, u64);

/// Puts the place that a failure's text tells of into the result, if that has none. `class` is the test's, as the report
/// names it.
///
/// It is the first row that is not of a library: a traceback of Python's begins with the outermost, those of other languages
/// tell of the class or the file that they are about. Of JavaScript's and Ruby's rows it is the last. Where the test's file is
/// known, rows of others do not count.
pub(super) fn place(case: &mut TestCase, text: &str, class: &str) {
    if case.line.is_some() {
        return;
    }
    let text = without_terminal_codes(text);
    let lines = || text.lines().map(str::trim);
    let known = case.file.as_deref();
    let is_its = |(file, _): &Place<'_>| known.is_none_or(|known| is_same(known, file));
    let innermost_first = |line| javascript(line).or_else(|| ruby(line)).filter(is_its);
    let found =
        lines().find_map(|line| row(line, class).filter(is_its)).or_else(|| lines().rev().find_map(innermost_first));
    if let Some(place) = found {
        put(case, place);
    }
}

/// The place in a row of a stack of all languages but JavaScript.
pub(super) fn row<'a>(line: &'a str, class: &str) -> Option<Place<'a>> {
    java(line, class)
        .or_else(|| dot_net(line))
        .or_else(|| rust_failure::place(line))
        .or_else(|| go(line))
        .or_else(|| python(line))
        .or_else(|| bats(line))
}

/// Puts the place into the result. The line alone where the file is known, if it is the same.
pub(super) fn put(case: &mut TestCase, (file, line): Place<'_>) {
    match &case.file {
        None => (case.file, case.line) = (Some(printable(file, 1000)), Some(line)),
        Some(known) if is_same(known, file) => case.line = Some(line),
        Some(_) => {}
    }
}

/// Whether one path is the end of the other.
fn is_same(one: &str, other: &str) -> bool {
    let (long, short) = if one.len() < other.len() { (other, one) } else { (one, other) };
    let short = short.trim_start_matches("./");
    long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
}

/// `at dev.shop.CartTest.sum(CartTest.java:12)` of a test of that class or of one inside it.
fn java<'a>(line: &'a str, class: &str) -> Option<Place<'a>> {
    let frame = line.strip_prefix("at ")?.strip_suffix(')')?;
    let rest = frame.strip_prefix(class).filter(|rest| !class.is_empty() && rest.starts_with(['.', '$']))?;
    numbered(rest.split_once('(')?.1)
}

/// `cart_test.go:13: got 3, want 4`.
fn go(line: &str) -> Option<Place<'_>> {
    let (file, _) = line.split_at_checked(line.find("_test.go:")? + "_test.go".len())?;
    let (line, _) = line.get(file.len() + 1..)?.split_once(':')?;
    Some((file, number(line)?)).filter(|_| !file.contains(char::is_whitespace))
}

/// `at Shop.CartTest.Sum() in C:\shop\CartTest.cs:line 12`.
pub(super) fn dot_net(line: &str) -> Option<Place<'_>> {
    let (file, line) = line.split_once(" in ")?.1.rsplit_once(":line ")?;
    Some((file.trim(), number(line.trim())?))
}

/// `File "tests/test_cart.py", line 12, in test_sum`, and pytest's `tests/test_cart.py:12: AssertionError`.
pub(super) fn python(line: &str) -> Option<Place<'_>> {
    if let Some(rest) = line.strip_prefix("File \"") {
        let (file, rest) = rest.split_once("\", line ")?;
        let is_own = !file.contains("/lib/python") && !file.contains("site-packages") && !file.starts_with('<');
        return Some((file, number(rest.split(',').next()?)?)).filter(|_| is_own);
    }
    let end = line.find(".py:")? + ".py".len();
    let (file, rest) = line.split_at_checked(end)?;
    let (line, rest) = rest.strip_prefix(':')?.split_once(':')?;
    let is_row = !file.starts_with(['>', 'E']) && !file.contains(": ") && (rest.is_empty() || rest.starts_with(' '));
    Some((file, number(line)?)).filter(|_| is_row)
}

/// `(in test file cart.bats, line 8)`.
pub(super) fn bats(line: &str) -> Option<Place<'_>> {
    let (_, place) = line.split_once("in test file ")?;
    let (file, line) = place.strip_suffix(')')?.rsplit_once(", line ")?;
    Some((file, number(line)?))
}

/// A row of JavaScript's that is not of a library: `at Object.<anonymous> (/shop/cart.test.js:8:5)`, `❯ cart.test.js:8:5`.
pub(super) fn javascript(line: &str) -> Option<Place<'_>> {
    frame(line.strip_prefix("at ").or_else(|| line.strip_prefix("❯ "))?)
}

/// As [`javascript`], with or without what stands before it: `Test.<anonymous> (/shop/t.js:3:82)`, `file:///shop/t.mjs:8:11`.
pub(super) fn frame(frame: &str) -> Option<Place<'_>> {
    let frame = frame.strip_prefix("at ").unwrap_or(frame);
    let place = match frame.strip_suffix(')') {
        Some(frame) => frame.rsplit_once('(')?.1,
        None => frame.strip_prefix("async ").unwrap_or(frame),
    };
    let (place, column) = place.rsplit_once(':')?;
    number(column)?;
    let (file, line) = numbered(place.strip_prefix("file://").unwrap_or(place))?;
    let is_foreign =
        ["node:", "internal/"].iter().any(|begin| file.starts_with(begin)) || file.contains("node_modules/");
    Some((file, line)).filter(|_| !is_foreign && !file.contains([' ', '(']))
}

/// A row of Ruby's that is not of a library: ``./spec/cart_spec.rb:4:in `block (2 levels) in <top (required)>'``, and Minitest's
/// `test_sum(CartTest) [test/cart_test.rb:7]:`.
fn ruby(line: &str) -> Option<Place<'_>> {
    let place = match line.strip_suffix("]:") {
        Some(named) => named.rsplit_once(" [")?.1,
        None => line.split_once(":in ")?.0,
    };
    let (file, line) = numbered(place.strip_prefix("# ").unwrap_or(place))?;
    let is_own = file.ends_with(".rb") && !file.contains("/gems/") && !file.contains("/lib/ruby/");
    Some((file, line)).filter(|_| is_own && !file.contains(": "))
}

/// `CartTest.java:12`.
pub(super) fn numbered(place: &str) -> Option<Place<'_>> {
    let (file, line) = place.rsplit_once(':')?;
    Some((file, number(line)?))
}

pub(super) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|line| *line > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cases::Outcome;

    #[test]
    fn the_row_of_the_test_is_the_place() {
        for (text, expected) in [
            (
                "expected: <2> but was: <3>\n\tat org.junit.Assert.fail(Assert.java:88)\n\
                 \tat dev.shop.CartTest$Inner.sum(CartTest.java:12)\n\tat dev.shop.CartTest.all(CartTest.java:5)",
                Some(("CartTest.java", 12)),
            ),
            ("\tat dev.shop.CartTests.sum(CartTests.java:12)", None),
            (
                "   at X.Y()\n   at A.B(Int32 i) in C:\\a b\\T.cs:line 12\n   at C.D() in E.cs:line 3",
                Some(("C:\\a b\\T.cs", 12)),
            ),
            ("   at A.B() in C.cs\n   at A.B() in C.cs:line x\n   at A.B() in C.cs:line 0", None),
            (
                "Traceback (most recent call last):\n  File \"/usr/lib/python3.11/unittest/case.py\", line 57, in run\n  \
                 File \"/shop/test_cart.py\", line 12, in test_sum\n    self.check()\n  File \"/shop/test_cart.py\", line 3",
                Some(("/shop/test_cart.py", 12)),
            ),
            (
                ">   total(x.py:3: 1)\nE   AssertionError: a.py:4: no\n\ntests/test_a.py:9: AssertionError",
                Some(("tests/test_a.py", 9)),
            ),
            (
                "Error: no\n    at sum (/shop/cart.js:3:7)\n    at Object.<anonymous> (/shop/cart.test.js:8:5)\n    \
                 at run (/shop/node_modules/jest-circus/build/run.js:5:1)\n    at node:internal/process/task_queues:9:5",
                Some(("/shop/cart.test.js", 8)),
            ),
            (" ❯ vt/cart.test.js:5:22", Some(("vt/cart.test.js", 5))),
            ("    at async file:///shop/a.mjs:7:1", Some(("/shop/a.mjs", 7))),
            ("thread 'sum' panicked at src/lib.rs:77:9:\nno", Some(("src/lib.rs", 77))),
            ("    cart_test.go:13: got 3, want 4\n    cart_test.go:15: no", Some(("cart_test.go", 13))),
            ("(in test file test/cart.bats, line 8)\n  `false' failed", Some(("test/cart.bats", 8))),
            (
                "no\n./lib/cart.rb:3:in `total'\n./spec/cart_spec.rb:7:in `block (2 levels) in <top (required)>'\n\
                 /usr/lib/ruby/gems/3.1.0/gems/rspec-core-3.12.0/lib/rspec/core/example.rb:263:in `run'",
                Some(("./spec/cart_spec.rb", 7)),
            ),
            (
                "Failure:\ntest_sum(Cart) [test/cart_test.rb:7]:\nExpected: 3\n  Actual: 2",
                Some(("test/cart_test.rb", 7)),
            ),
            (
                "Failure:\ntest_x(Cart) [/shop/lib/cart.rb:3]:\nno\n    /shop/lib/cart.rb:3:in `total'\n    test/cart_test.rb:9:in `test_x'",
                Some(("test/cart_test.rb", 9)),
            ),
            ("at half past 10:20", None),
        ] {
            let mut case = TestCase::new(Outcome::Failed);
            place(&mut case, text, "dev.shop.CartTest");
            assert_eq!(case.file.as_deref().zip(case.line), expected, "{text}");
        }
    }

    #[test]
    fn a_file_that_is_known_gets_a_line_only_from_its_own_rows() {
        for (known, expected) in
            [("/shop/test/cart.js", Some(8)), ("cart.js", Some(8)), ("./test/cart.js", Some(8)), ("art.js", None)]
        {
            let mut case = TestCase { file: Some(known.to_owned()), ..TestCase::new(Outcome::Failed) };
            place(
                &mut case,
                "other.rs:7:5:\n  File \"/x/util.py\", line 3\nat Context.<anonymous> (test/cart.js:8:12)",
                "",
            );
            assert_eq!((case.file.as_deref(), case.line), (Some(known), expected));
        }
    }

    #[test]
    fn a_frame_of_one_s_own_is_a_place() {
        for (text, expected) in [
            ("at Context.<anonymous> (mt/a.spec.cjs:5:28)", Some(("mt/a.spec.cjs", 5))),
            ("file:///app/a.test.mjs:8:11", Some(("/app/a.test.mjs", 8))),
            ("C:\\a.js:8:11", Some(("C:\\a.js", 8))),
            ("at f (node:internal/timers:483:21)", None),
            ("at f (/app/node_modules/ava/lib/test.js:5:2)", None),
            ("at async Promise.all (index 3)", None),
            ("Error: no b.js:8:11", None),
            ("a.js:0:11", None),
            ("a.js:8", None),
        ] {
            assert_eq!(frame(text), expected, "{text}");
        }
    }
}
