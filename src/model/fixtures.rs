//! What runs around tests and is reported like one of them where it fails, told by its id: a hook of Mocha's, the fixture of a
//! class.

/// How Mocha, and who runs on it, calls a hook, behind the titles of its block.
const HOOKS: [&str; 4] = ["\"before all\" hook", "\"before each\" hook", "\"after all\" hook", "\"after each\" hook"];

/// What Surefire and Gradle call a class of JUnit that could not be set up.
const CLASSES: [&str; 3] = ["initializationError", "executionError", "classMethod"];

/// How unittest calls the fixture of a class or module, which stands in brackets.
const UNITTEST: [&str; 4] = ["setUpClass (", "tearDownClass (", "setUpModule (", "tearDownModule ("];

/// What jest-junit makes of a file that does not load, with the file's name, and of a hook.
const JEST_FILE: &str = "Test suite failed to run";
const JEST_HOOK: &str = "Test execution failure: could be caused by test hooks";

/// How Dart calls what runs around the tests of a group, behind the group's name. It is told only where it failed.
const DART: [&str; 2] = ["(setUpAll)", "(tearDownAll)"];

/// What Bun calls a hook that failed.
pub const BUN_HOOK: &str = "(unnamed)";

/// The block, class or file whose tests it runs around, empty if that is not told; `None` if the id is a test's.
pub fn around(id: &str) -> Option<&str> {
    let (place, name) = id.rsplit_once("::").unwrap_or(("", id));
    let block = HOOKS.iter().find_map(|hook| id.get(..id.rfind(hook)?));
    let unit = || UNITTEST.iter().find_map(|fixture| name.strip_prefix(fixture)?.strip_suffix(')'));
    // Alone it stands for a test without a name.
    let is_bun_s = name == BUN_HOOK && !place.is_empty();
    let class = || (CLASSES.contains(&name) || is_bun_s).then_some(place);
    let file = || (place == JEST_FILE).then_some(name);
    let hook = || name.starts_with(JEST_HOOK).then_some("");
    let group = || {
        let group = DART.iter().find_map(|hook| id.strip_suffix(hook))?;
        (group.is_empty() || group.ends_with([':', ' '])).then_some(group)
    };
    let around = block.or_else(unit).or_else(class).or_else(file).or_else(hook).or_else(group)?;
    Some(around.trim_end_matches([':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_and_fixtures_are_told_from_tests() {
        for (id, block) in [
            ("Hooked::\"before all\" hook for \"never\"", "Hooked"),
            ("/a/b.js::Hooked \"before each\" hook for \"never\"", "/a/b.js::Hooked"),
            ("\"after all\" hook in \"{root}\"", ""),
            ("com.example.CartTest::initializationError", "com.example.CartTest"),
            ("unittest.suite._ErrorHolder::setUpClass (tests.test_a.TestX)", "tests.test_a.TestX"),
            ("Test suite failed to run::src/a.test.js", "src/a.test.js"),
            ("a.test.ts::Cart::(unnamed)", "a.test.ts::Cart"),
            ("a.test.ts::(unnamed)", "a.test.ts"),
            ("test/a_test.dart::Cart (setUpAll)", "test/a_test.dart::Cart"),
            ("test/a_test.dart::(tearDownAll)", "test/a_test.dart"),
            ("Test execution failure: could be caused by test hooks like 'afterAll'.", ""),
        ] {
            assert_eq!(around(id), Some(block), "{id}");
        }
        for test in [
            "a::test_x",
            "(unnamed)",
            "calls f(setUpAll)",
            "Cart::uses a before all hook",
            "a::test_initializationError",
            "a::setUpClass",
            "",
        ] {
            assert_eq!(around(test), None, "{test}");
        }
    }
}
