//! Whether a file may be the report of a test tool whose words stand on the console, told by the language of the tests in it:
//! many tools print a summary that names few tests or none, or names them in its own way.

use crate::model::cases::{TestCase, TestCases};

/// Tests of a report that are looked at.
const LOOKED_AT: usize = 500;

/// What source files of a language end in.
type Language = &'static [&'static str];

const JVM: Language = &["java", "kt", "kts", "scala", "groovy", "clj"];
const DOTNET: Language = &["cs", "fs", "vb"];
const PHP: Language = &["php"];
const RUBY: Language = &["rb"];
const ELIXIR: Language = &["ex", "exs"];
const JAVASCRIPT: Language = &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"];
const SWIFT: Language = &["swift", "m"];
const DART: Language = &["dart"];
const C: Language = &["c", "cc", "cpp", "cxx", "h", "hpp"];
const LUA: Language = &["lua"];
const PERL: Language = &["t", "pl", "pm"];
const PYTHON: Language = &["py"];
const GO: Language = &["go"];
const LANGUAGES: [Language; 14] =
    [JVM, DOTNET, PHP, RUBY, ELIXIR, JAVASCRIPT, SWIFT, DART, C, LUA, PERL, PYTHON, GO, &["rs"]];

/// The formats of what tools print, and the languages that their tests may be written in; none is any.
const TOOLS: [(&str, &[Language]); 26] = [
    ("maven-text", &[JVM]),
    ("gradle-text", &[JVM]),
    ("sbt-text", &[JVM]),
    ("dotnet-test-text", &[DOTNET]),
    ("phpunit-text", &[PHP]),
    ("rspec-text", &[RUBY]),
    ("minitest-text", &[RUBY]),
    ("exunit-text", &[ELIXIR]),
    ("playwright-text", &[JAVASCRIPT]),
    ("jasmine-text", &[JAVASCRIPT]),
    ("karma-text", &[JAVASCRIPT]),
    ("ava-text", &[JAVASCRIPT]),
    ("wtr-text", &[JAVASCRIPT]),
    ("bun-test-text", &[JAVASCRIPT]),
    ("deno-test-text", &[JAVASCRIPT]),
    ("node-test-text", &[JAVASCRIPT]),
    ("swift-test-text", &[SWIFT]),
    ("dart-test-text", &[DART]),
    ("gtest-text", &[C]),
    ("catch2-text", &[C]),
    ("boost-text", &[C]),
    ("busted-text", &[LUA]),
    ("prove-text", &[PERL]),
    ("gotestsum-text", &[GO]),
    ("gherkin-text", &[]),
    ("brief-test-text", &[]),
];

/// How sure it is that a tool wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likely {
    No,
    /// Nothing speaks against it.
    Maybe,
    /// Its tests are written in the tool's language.
    Yes,
}

/// Whether the tool that prints such a format may have written a file with these tests.
pub(super) fn wrote(tool: &str, tests: &TestCases) -> Likely {
    let Some((_, own)) = TOOLS.iter().find(|(format, _)| *format == tool) else { return Likely::No };
    let is_named_by_class = own.iter().any(|language| [JVM, DOTNET, PHP, ELIXIR].contains(language));
    let (mut all, mut ours, mut foreign) = (0, 0, 0);
    for (id, case) in tests.cases.iter().take(LOOKED_AT) {
        all += 1;
        match language(id, case) {
            Some(language) if own.contains(&language) => ours += 1,
            Some(_) => foreign += 1,
            None if is_named_by_class && is_class(place(id)) => ours += 1,
            None if own.contains(&GO) && is_of_go(id) => ours += 1,
            None => {}
        }
    }
    let is_most = |count: usize| count > 0 && count * 10 >= all * 8;
    if is_most(ours) {
        Likely::Yes
    } else if all == 0 || (!own.is_empty() && is_most(foreign)) {
        Likely::No
    } else {
        Likely::Maybe
    }
}

/// The language that a test is written in, as far as its file or the form of its id tells.
fn language(id: &str, case: &TestCase) -> Option<Language> {
    let of_file = |path: &str| {
        let (stem, extension) = path.rsplit_once('.')?;
        let language = LANGUAGES.into_iter().find(|language| language.contains(&extension))?;
        (!stem.is_empty() && !stem.contains(' ')).then_some(language)
    };
    let head = id.split("::").next().unwrap_or(id);
    let file = case.file.as_deref().or_else(|| head.split(['[', ':']).next());
    file.and_then(of_file).or_else(|| is_of_python(id).then_some(PYTHON))
}

/// What the id has before its name.
fn place(id: &str) -> &str {
    id.rsplit_once("::").map_or("", |(place, _)| place)
}

/// `tests.test_a.TestB::test_y`.
fn is_of_python(id: &str) -> bool {
    id.split(['.', ':', '/']).filter(|part| part.starts_with("test_") || part.ends_with("_test")).count() >= 2
}

/// `example.org/shop/calc::TestAdd/sub`.
pub(super) fn is_of_go(id: &str) -> bool {
    let name = id.rsplit("::").next().unwrap_or_default();
    let rest = ["Test", "Example", "Benchmark", "Fuzz"].iter().find_map(|start| name.strip_prefix(start));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// `com.example.CartTest`, `App\CartTest`, `CartTest$Inner`: names with capitals, one in the other.
fn is_class(place: &str) -> bool {
    let parts: Vec<&str> = place.split(['.', '\\', '$', '+']).collect();
    let is_name = |part: &&str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let has_capital = |part: &&str| part.starts_with(|c: char| c.is_ascii_uppercase());
    let is_test = |part: &&str| ["Test", "Tests", "Spec", "IT", "TestCase"].iter().any(|end| part.ends_with(end));
    parts.iter().all(is_name)
        && parts.last().is_some_and(|last| has_capital(last) && (parts.len() > 1 || is_test(last)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cases::Outcome;

    #[test]
    fn the_language_of_the_tests_tells_who_may_have_written_a_file() {
        let tests = |id: &str, file: Option<&str>| {
            let mut tests = TestCases::default();
            let file = file.map(str::to_owned);
            tests.add(id.to_owned(), TestCase { file, ..TestCase::new(Outcome::Passed) });
            tests
        };
        for (tool, id, file, likely) in [
            ("maven-text", "com.example.CartTest::adds", None, Likely::Yes),
            ("maven-text", "CartTest::adds", None, Likely::Yes),
            ("maven-text", "tests.test_a.TestB::test_y", None, Likely::No),
            ("maven-text", "t/a.test.js::Cart::adds", None, Likely::No),
            ("maven-text", "Cart adds::Cart adds", None, Likely::Maybe),
            ("maven-text", "Cart::adds", None, Likely::Maybe),
            ("dotnet-test-text", "Shop.CartTests::Adds", None, Likely::Yes),
            ("phpunit-text", "Tests\\CartTest::testAdds", None, Likely::Yes),
            ("phpunit-text", "Cart::adds", Some("/app/tests/CartTest.php"), Likely::Yes),
            ("rspec-text", "spec.cart_spec::Cart adds", Some("./spec/cart_spec.rb"), Likely::Yes),
            ("rspec-text", "./spec/cart_spec.rb[1:1]", None, Likely::Yes),
            ("rspec-text", "spec.cart_spec::Cart adds", None, Likely::Maybe),
            ("rspec-text", "com.example.CartTest::adds", Some("CartTest.java"), Likely::No),
            ("playwright-text", "a.spec.ts::Cart › adds", None, Likely::Yes),
            ("playwright-text", "tests/test_a.py::test_y", None, Likely::No),
            ("brief-test-text", "tests/test_a.py::test_y", None, Likely::Maybe),
            ("pytest-text", "tests/test_a.py::test_y", None, Likely::No),
        ] {
            assert_eq!(wrote(tool, &tests(id, file)), likely, "{tool} {id}");
        }
        assert_eq!(wrote("maven-text", &TestCases::default()), Likely::No);
    }
}
