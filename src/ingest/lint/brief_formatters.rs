//! Lines of formatters that only check, for `brief-text`.

use super::brief_text::Told;
use super::lines::{bare_place, is_path};
use crate::ingest::text::is_number;

/// What a formatter would change: of gofmt and isort the beginning of its diff.
pub(super) fn formatter(text: &str) -> Option<Told<'_>> {
    let whole = |tool, path, message| Some(Told::error(tool, (path, None), None, message));
    if let Some(path) = text.strip_suffix(": Unused imports/variables detected") {
        return whole("autoflake", path, "has unused imports or variables");
    }
    if let Some(path) = text.strip_prefix("would reformat ") {
        return whole("black", path, "would be reformatted");
    }
    if let Some(path) = text.strip_suffix(" would be reformatted").filter(|path| is_cmake(path)) {
        return whole("gersemi", path, "would be reformatted");
    }
    if let Some(rest) = text.strip_prefix("error: cannot format ") {
        return whole("black", rest.split_once(": ")?.0, rest);
    }
    if let Some(rest) = text.strip_prefix("error: cannot parse: ") {
        return Some(Told::error("black", bare_place(rest)?, None, "cannot be parsed"));
    }
    if let Some(path) = unsorted(text) {
        return whole("isort", path, "imports are not sorted or formatted");
    }
    if let Some((before, path)) = text.strip_prefix("diff ").and_then(|rest| rest.rsplit_once(' ')) {
        let is_ours = path.ends_with(".go") && before.trim_start_matches("-u ").strip_suffix(".orig") == Some(path);
        return is_ours.then(|| Told::error("gofmt", (path, None), None, "is not formatted"));
    }
    if let Some(path) = isort_diff(text) {
        return whole("isort", path, "imports are not sorted or formatted");
    }
    // autoflake's `--check-diff` begins a diff as autopep8's `--diff` does.
    for (begin, tool) in [("--- original/", "autopep8"), ("--- before/", "docformatter")] {
        if let Some(path) = text.strip_prefix(begin).filter(|path| path.ends_with(".py")) {
            return whole(tool, path, "would be changed");
        }
    }
    if let Some(rest) = text.strip_prefix("error: could not format file ") {
        let (path, message) = rest.split_once(": ").filter(|(path, _)| is_lua(path))?;
        return whole("stylua", path, message);
    }
    if let Some(rest) = text.strip_prefix(TAPLO_UNFORMATTED) {
        return whole("taplo", rest.strip_suffix('"')?, "is not formatted");
    }
    let diff = text.strip_prefix("Diff in ")?.strip_suffix(':')?;
    if is_lua(diff) {
        return whole("stylua", diff, "is not formatted");
    }
    let (path, line) = diff.rsplit_once([':', ' '])?;
    let path = path.strip_suffix(" at line").unwrap_or(path);
    let line = line.parse().ok()?;
    path.ends_with(".rs").then(|| Told::error("rustfmt", (path, Some(line)), None, "is not formatted"))
}

/// `a.ts (12ms)` below oxfmt's first line, which is Prettier's.
pub(super) fn oxfmt(text: &str) -> Option<Told<'_>> {
    let (path, time) = text.strip_suffix("ms)")?.rsplit_once(" (")?;
    (is_number(time) && is_path(path)).then(|| Told::error("oxfmt", (path, None), None, "is not formatted"))
}

fn is_cmake(path: &str) -> bool {
    path.ends_with("CMakeLists.txt") || path.ends_with(".cmake")
}

fn is_lua(path: &str) -> bool {
    path.ends_with(".lua") || path.ends_with(".luau")
}

const TAPLO_UNFORMATTED: &str = "ERROR taplo:format_files: the file is not properly formatted path=\"";

/// `[warn] src/a.js`, `[error] a.html: SyntaxError: …` below Prettier's first line; its last tells how many files there were.
pub(super) fn prettier(text: &str) -> Option<Told<'_>> {
    if let Some(path) = text.strip_prefix("[warn] ") {
        let is_last = path.starts_with("Code style issues");
        return (!is_last).then(|| Told::error("prettier", (path, None), None, "is not formatted"));
    }
    let (path, message) = text.strip_prefix("[error] ")?.split_once(": ").filter(|(path, _)| is_path(path))?;
    Some(Told::error("prettier", (path, None), None, message))
}

/// A file that Prettier cannot parse, whatever it was told to do: `[error] a.js: SyntaxError: Unexpected token (1:7)`.
pub(super) fn unparsed_by_prettier(text: &str) -> Option<Told<'_>> {
    text.strip_prefix("[error] ")?;
    prettier(text).filter(|told| told.message.starts_with("SyntaxError: ") && told.message.ends_with(')'))
}

/// The file of which isort says that its imports are not sorted.
pub(super) fn unsorted(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("ERROR: ")?;
    ISORT.iter().find_map(|end| rest.strip_suffix(end))
}

/// The file whose diff of isort's begins.
pub(super) fn isort_diff(text: &str) -> Option<&str> {
    text.strip_prefix("--- ")?.split_once(":before\t").map(|(path, _)| path)
}

/// What isort says of a file; before version 5, the second.
const ISORT: [&str; 2] = [" Imports are incorrectly sorted and/or formatted.", " Imports are incorrectly sorted."];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_diff_names_the_file() {
        for (line, tool, path) in [
            ("diff a/b.go.orig a/b.go", "gofmt", "a/b.go"),
            ("diff -u b.go.orig b.go", "gofmt", "b.go"),
            ("pkg/a.py: Unused imports/variables detected", "autoflake", "pkg/a.py"),
            ("--- original/pkg/a.py", "autopep8", "pkg/a.py"),
            ("--- before/pkg/a.py", "docformatter", "pkg/a.py"),
            ("--- /p/a.py:before\t2026-01-05 10:00:00.1", "isort", "/p/a.py"),
            ("ERROR: /p/a.py Imports are incorrectly sorted.", "isort", "/p/a.py"),
            ("Diff in a b.lua:", "stylua", "a b.lua"),
            ("lib/CMakeLists.txt would be reformatted", "gersemi", "lib/CMakeLists.txt"),
            ("error: could not format file b.luau: error parsing: ", "stylua", "b.luau"),
            (
                "ERROR taplo:format_files: the file is not properly formatted path=\"/p/a b.toml\"",
                "taplo",
                "/p/a b.toml",
            ),
        ] {
            let told = formatter(line).unwrap();
            assert_eq!((told.tool, told.path), (tool, Some(path)), "{line}");
        }
        for other in [
            "diff --git a/b.go b/b.go",
            "--- a.py\t2026-01-05",
            "diff a.go b.go",
            "1 file would be reformatted",
            "Diff in a.txt:",
            "error: could not format file a.txt: x",
        ] {
            assert!(formatter(other).is_none(), "{other}");
        }
    }
}
