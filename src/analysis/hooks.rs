//! What is reported like a test where it fails, and is none: a hook of Mocha's, the fixture of a class, a class or file that
//! could not be loaded. It cannot be gone: once it works there is nothing to report but its tests.

use super::identity::{lies_in, normalised};
use super::renames::split;

/// How Mocha, and who runs on it, calls a hook, behind the titles of its block.
const HOOKS: [&str; 4] = ["\"before all\" hook", "\"before each\" hook", "\"after all\" hook", "\"after each\" hook"];

/// What Surefire and Gradle call a class of JUnit that could not be set up or taken down.
const CLASSES: [&str; 3] = ["initializationError", "executionError", "classMethod"];

/// How unittest calls the fixture of a class or module, which stands in brackets.
const FIXTURES: [&str; 4] = ["setUpClass (", "tearDownClass (", "setUpModule (", "tearDownModule ("];

/// Whether `id` is such a thing, and one of its tests is among `now`.
pub fn is_mended<'a>(id: &str, now: impl IntoIterator<Item = &'a String>) -> bool {
    let Some(around) = around(id) else {
        return now.into_iter().any(|other| lies_in(other, &normalised(whole(id))));
    };
    // Some tell the titles of the blocks as part of a test's name, and nothing of them in its class.
    let by_name = self::around(split(id).1).filter(|block| !block.is_empty());
    let is_in = |other: &str| {
        self::around(other).is_none()
            && (other.starts_with(around) || by_name.is_some_and(|block| split(other).1.starts_with(block)))
    };
    now.into_iter().any(|other| is_in(other))
}

/// The class or file of an id that has no test in it, or names it twice.
fn whole(id: &str) -> &str {
    let (place, name) = split(id);
    if place == name { place } else { id }
}

/// What the ids begin with of the tests around which it runs; `None` if it is a test itself.
fn around(id: &str) -> Option<&str> {
    let (place, name) = split(id);
    let block = HOOKS.iter().find_map(|hook| id.get(..id.rfind(hook)?));
    let unit = || FIXTURES.iter().find_map(|fixture| name.strip_prefix(fixture)?.strip_suffix(')'));
    let class = || CLASSES.contains(&name).then_some(place);
    Some(block.or_else(unit).or_else(class)?.trim_end_matches([':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_around_tests_is_mended_where_they_run() {
        for (hook, test) in [
            ("Hooked::\"before all\" hook for \"never\"", "Hooked::never"),
            ("/a/b.js::Hooked \"before each\" hook for \"never\"", "/a/b.js::Hooked never"),
            ("\"after all\" hook in \"{root}\"", "anything"),
            ("\"before all\" hook::Hooked \"before all\" hook: set up", "never::Hooked never"),
            ("com.example.CartTest::initializationError", "com.example.CartTest::adds"),
            ("tests.test_a.TestX::setUpClass (tests.test_a.TestX)", "tests.test_a.TestX::test_y"),
        ] {
            let now = |ids: &[&str]| is_mended(hook, &ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
            assert!(now(&["other", test]), "{hook}");
            assert!(!now(&[]), "{hook}");
            assert!(!now(&[hook]), "{hook}");
            assert!(hook.contains("{root}") || !now(&["Other::never"]), "{hook}: its tests are gone with it");
        }
        assert!(!is_mended("a::test_x", &["a::test_y".to_owned()]));
    }

    #[test]
    fn a_class_or_file_is_mended_where_its_tests_run() {
        for (unit, test) in [
            ("com.example.CartTest", "com.example.CartTest::adds"),
            ("src/a.test.js::src/a.test.js", "src/a.test.js::Cart::adds"),
            ("tests.test_a", "tests/test_a.py::test_x"),
        ] {
            let now = |id: &str| is_mended(unit, &[id.to_owned()]);
            assert!(now(test) && !now("other::adds"), "{unit}");
        }
    }
}
