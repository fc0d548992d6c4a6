//! What a file is to the tests, by its path.

use crate::analysis::bodies::is_source;

/// What a changed file is to the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It holds tests.
    Test,
    /// It is there for tests: helpers, set-up, data.
    Support,
    /// An expectation that a tool recorded.
    Snapshot,
    /// It tells CI, test runners, linters or coverage what to do.
    Config,
    /// Of a project's own file that tells tools what to do, too; its lines decide.
    Project,
    /// For people, or of a tool's run.
    Document,
    /// All else: what tests can reach.
    Code,
}

/// Folders whose files are tests or are there for them.
const TEST_FOLDERS: [&str; 11] = [
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "__mocks__",
    "testdata",
    "e2e",
    "cypress",
    "androidTest",
    "integration_test",
];

/// Of those, folders in which something else than tests may be specified: data in them is read by code, too.
const SPEC_FOLDERS: [&str; 2] = ["spec", "specs"];

/// Folders of recorded expectations.
const SNAPSHOT_FOLDERS: [&str; 3] = ["__snapshots__", "__image_snapshots__", "snapshots"];

/// Folders of them where they lie among tests.
const GOLDEN_FOLDERS: [&str; 3] = ["golden", "goldens", "expected"];

/// Ends of their names.
const SNAPSHOT_ENDS: [&str; 6] = [".snap", ".golden", ".ambr", ".approved.txt", ".approved.json", ".snap.new"];

/// Names of files that set tests up.
const SUPPORT_NAMES: [&str; 8] = [
    "conftest.py",
    "spec_helper.rb",
    "rails_helper.rb",
    "test_helper.rb",
    "test_helper.exs",
    "setupTests.js",
    "setupTests.ts",
    "sitecustomize.py",
];

/// Names of files that only tell tools what to do, whole.
const CONFIG_NAMES: [&str; 28] = [
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "noxfile.py",
    ".coveragerc",
    ".flake8",
    ".pylintrc",
    "pylintrc",
    "mypy.ini",
    ".mypy.ini",
    "ruff.toml",
    ".ruff.toml",
    "codecov.yml",
    ".codecov.yml",
    ".nycrc",
    ".c8rc",
    ".gitlab-ci.yml",
    "azure-pipelines.yml",
    "Jenkinsfile",
    ".travis.yml",
    ".rspec",
    ".rubocop.yml",
    "phpunit.xml",
    "phpunit.xml.dist",
    "clippy.toml",
    ".clippy.toml",
    "tarpaulin.toml",
    "nextest.toml",
];

/// How names of further ones begin; whatever stands between that and the extension.
const CONFIG_BEGINS: [&str; 15] = [
    "jest.config.",
    "vitest.config.",
    "vitest.workspace.",
    "playwright.config.",
    "cypress.config.",
    "karma.conf.",
    "ava.config.",
    ".mocharc.",
    ".nycrc.",
    ".c8rc.",
    ".eslintrc",
    "eslint.config.",
    ".eslintignore",
    ".golangci.",
    "biome.json",
];

/// Names of a project's own files in which tools are told what to do, too.
const PROJECT_NAMES: [&str; 4] = ["pyproject.toml", "setup.cfg", "package.json", "Makefile"];

/// Folders that tools fill with what they found.
const RESULT_FOLDERS: [&str; 9] = [
    "htmlcov",
    ".nyc_output",
    ".hypothesis",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    "test-results",
    "playwright-report",
    "__pycache__",
];

/// How names of files begin in which they leave it.
const RESULT_BEGINS: [&str; 8] = [
    ".coverage",
    "coverage.",
    "lcov.info",
    ".phpunit.result.cache",
    ".rspec_status",
    ".eslintcache",
    ".testmondata",
    "tsconfig.tsbuildinfo",
];

/// Extensions of what is written for people, and nothing else reads.
const DOCUMENT_ENDS: [&str; 10] = [".md", ".mdx", ".rst", ".adoc", ".png", ".jpg", ".gif", ".svg", ".pdf", ".log"];

/// What a path is. A file that may be two things is code: that it did not change is what makes an edit of tests suspicious.
pub(super) fn role(path: &str) -> Role {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_in = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let is_result = || RESULT_BEGINS.iter().any(|begin| name.starts_with(begin)) && name != ".coveragerc";
    if is_in(&RESULT_FOLDERS) || path.starts_with("coverage/") || is_result() && !is_source(name) {
        return Role::Document;
    }
    let is_recorded = || is_in(&SNAPSHOT_FOLDERS) || is_in(&GOLDEN_FOLDERS) && is_in(&TEST_FOLDERS);
    if ends(&SNAPSHOT_ENDS) || is_recorded() && !is_source(name) {
        Role::Snapshot
    } else if is_ci(path) || CONFIG_NAMES.contains(&name) || CONFIG_BEGINS.iter().any(|begin| name.starts_with(begin)) {
        Role::Config
    } else if PROJECT_NAMES.contains(&name) {
        Role::Project
    } else if SUPPORT_NAMES.contains(&name) {
        Role::Support
    } else if is_test_name(name) {
        Role::Test
    } else if is_in(&TEST_FOLDERS) && is_source(name) {
        // A folder named so holds helpers beside tests; both have functions.
        Role::Test
    } else if is_in(&TEST_FOLDERS) && !is_in(&SPEC_FOLDERS) {
        Role::Support
    } else if ends(&DOCUMENT_ENDS) || folders.split('/').any(|folder| folder == "docs" || folder == "doc") {
        Role::Document
    } else {
        Role::Code
    }
}

fn is_ci(path: &str) -> bool {
    [".github/workflows/", ".github/actions/", ".circleci/", ".buildkite/", ".ci/"]
        .iter()
        .any(|at| path.starts_with(at))
}

/// Whether a name is that of a file of tests where its language has them, by its runner's custom.
fn is_test_name(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let dotted = |word: &str| stem.ends_with(word);
    match extension {
        "py" => stem.starts_with("test_") || dotted("_test") || stem == "tests",
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => {
            [".test", ".spec", "_test", "-test", ".e2e", ".cy"].into_iter().any(dotted)
        }
        "go" | "exs" | "dart" => dotted("_test"),
        "rb" => dotted("_spec") || dotted("_test") || stem.starts_with("test_"),
        "java" | "kt" | "cs" | "php" | "swift" | "scala" => {
            ["Test", "Tests", "Spec", "IT", "TestCase"].into_iter().any(dotted)
        }
        "rs" => stem == "tests" || dotted("_tests") || dotted("_test"),
        "cc" | "cpp" | "cxx" => dotted("_test") || dotted("_tests") || dotted("_unittest"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_what_its_file_is_to_the_tests() {
        for (path, expected) in [
            ("tests/test_cart.py", Role::Test),
            ("shop/test_cart.py", Role::Test),
            ("src/cart.test.ts", Role::Test),
            ("cart_test.go", Role::Test),
            ("spec/cart_spec.rb", Role::Test),
            ("src/test/java/shop/CartTest.java", Role::Test),
            ("tests/helpers.py", Role::Test),
            ("src/lib/tests.rs", Role::Test),
            ("tests/conftest.py", Role::Support),
            ("conftest.py", Role::Support),
            ("tests/data/cart.json", Role::Support),
            ("src/__snapshots__/cart.test.ts.snap", Role::Snapshot),
            ("src/snapshots/shop__cart.snap", Role::Snapshot),
            ("tests/golden/out.txt", Role::Snapshot),
            (".github/workflows/ci.yml", Role::Config),
            ("jest.config.js", Role::Config),
            (".eslintrc.json", Role::Config),
            ("pyproject.toml", Role::Project),
            ("sub/package.json", Role::Project),
            ("spec/openapi.yaml", Role::Code),
            ("shop/testing/client.py", Role::Code),
            ("README.md", Role::Document),
            ("out/run.log", Role::Document),
            ("docs/conf.py", Role::Document),
            (".coverage", Role::Document),
            (".coveragerc", Role::Config),
            ("coverage/lcov-report/prettify.js", Role::Document),
            ("src/coverage/cart.js", Role::Code),
            ("coverage.py", Role::Code),
            ("src/cart.py", Role::Code),
            ("shop/latest.py", Role::Code),
            ("data/cart.json", Role::Code),
            ("expected/cart.txt", Role::Code),
            ("shop/snapshots/cart.py", Role::Code),
            ("Cargo.toml", Role::Code),
            ("src/protest.js", Role::Code),
            ("requirements.txt", Role::Code),
        ] {
            assert_eq!(role(path), expected, "{path}");
        }
    }
}
