//! The source of tests, without a parser: enough to see that a test which is gone and a new one are the same but for the
//! name (ANALYSIS §12.1).
//!
//! - Python: from `def NAME` to where the indentation ends.
//! - Ruby and Elixir: from `def NAME`, `it "NAME" do`, `test "NAME" do` to the `end` below it.
//! - Rust, Go, Java, C#, Kotlin, C++, Swift: `NAME(…) … {` to the brace that closes it.
//! - JavaScript, TypeScript, Dart, PHP: `test("NAME", …)`, `it("NAME", …)` to the bracket that closes it, and functions as above.
//!
//! Decorators and attributes stand before that. Of the rest, blank lines and indentation do not matter. What is cut wrongly,
//! a brace in a regular expression for example, compares unequal or is not found: then the names decide.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::renames::{alike, base_name, one_to_one, split};
use crate::model::record::SameBody;

/// Lines that hold more than brackets and comments, below which many tests look alike.
const LEAST_STATEMENTS: usize = 3;

/// One function, or one block of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, or the text that a test block has in its place.
    pub name: String,
    /// Whether it is such a text, and no identifier.
    pub is_title: bool,
    /// The classes around it, which with the file tell functions of one name apart.
    pub classes: Vec<String>,
    /// The file's path.
    pub file: String,
    /// Everything after the name, one line a line.
    pub body: String,
    /// Its lines in the file, from 0, decorators and attributes apart.
    pub lines: Range<usize>,
}

/// Whether functions are looked for in a file of that name.
pub fn is_source(path: &str) -> bool {
    language(path).is_some()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Ruby,
    Script,
    Braces,
}

fn language(path: &str) -> Option<Language> {
    let extension = path.rsplit_once('.')?.1;
    match extension {
        "py" => Some(Language::Python),
        "rb" | "ex" | "exs" => Some(Language::Ruby),
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "dart" | "php" => Some(Language::Script),
        "rs" | "go" | "java" | "cs" | "kt" | "cc" | "cpp" | "cxx" | "swift" => Some(Language::Braces),
        _ => None,
    }
}

/// The functions of a file.
pub fn functions(path: &str, text: &str) -> Vec<Function> {
    let mut found = match language(path) {
        Some(Language::Python) => python(text),
        Some(Language::Ruby) => ruby(text),
        Some(Language::Script) => [blocks(text), braced(text, true)].concat(),
        Some(Language::Braces) => braced(text, false),
        None => Vec::new(),
    };
    for function in &mut found {
        path.clone_into(&mut function.file);
    }
    found
}

/// Pairs of tests gone and new, one to one, whose source is the same.
pub fn same_bodies(gone: &[String], new: &[String], before: &[Function], now: &[Function]) -> Vec<SameBody> {
    let mut by_body: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
    for id in gone {
        if let Some(body) = body_of(id, before) {
            by_body.entry(body).or_default().0.push(id);
        }
    }
    for id in new {
        if let Some(body) = body_of(id, now) {
            by_body.entry(body).or_default().1.push(id);
        }
    }
    let mut pairs: Vec<SameBody> = by_body.into_values().flat_map(|(gone, new)| one_to_one(&gone, &new)).collect();
    pairs.sort_unstable();
    pairs
}

/// A test that seems to have lost its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost<'i> {
    /// The test.
    pub id: &'i str,
    /// The name that its function bore.
    pub name: String,
    /// The id tells the file of that function: it is not one of that name in another file, which did not change.
    pub is_placed: bool,
}

/// Which of these tests lost their source: before, a function bore the name; now none does, nor has one its body or most of the
/// words of its name, nor does the name stand elsewhere in `texts`, as in a table of cases, but in a comment.
pub fn lost_sources<'i>(
    ids: impl Iterator<Item = &'i str>,
    before: &[Function],
    now: &[Function],
    texts: &[String],
) -> Vec<Lost<'i>> {
    let known: BTreeSet<&str> = before.iter().map(|function| function.name.as_str()).collect();
    let new: Vec<&Function> = now.iter().filter(|function| !known.contains(function.name.as_str())).collect();
    let is_left = |old: &Function| {
        let has_its_body = |new: &Function| old.is_long() && old.body == new.body;
        new.iter().any(|new| has_its_body(new) || alike(&old.name, &new.name))
            || texts.iter().any(|text| says(text, &old.name))
    };
    let lost = |id: &'i str| {
        let name = base_name(split(id).1);
        let mut old = before.iter().filter(|function| function.may_be_test() && bears(name, function)).peekable();
        let function = *old.peek()?;
        if has_source(id, now) || old.any(is_left) {
            return None;
        }
        Some(Lost { id, name: function.name.clone(), is_placed: function.is_placed(id) })
    };
    ids.filter_map(lost).collect()
}

/// Whether one of the functions bears the name of a test.
pub fn has_source(id: &str, functions: &[Function]) -> bool {
    functions.iter().any(|function| bears(base_name(split(id).1), function))
}

/// Whether a text names something, but in comments. A longer name, or a sentence that goes on, is another one.
pub fn says(text: &str, name: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    let is_said = |line: &str| {
        line.match_indices(name).any(|(at, _)| {
            let before = line.get(..at).and_then(|before| before.chars().next_back());
            let after = line.get(at + name.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(goes_on) && !after.is_none_or(|c| goes_on(c) || c == ' ')
        })
    };
    text.lines().map(str::trim_start).any(|line| !is_comment(line) && is_said(line))
}

impl Function {
    fn new(name: &str, classes: Vec<String>, body: &str, lines: Range<usize>) -> Function {
        let (name, body) = (name.to_owned(), tidied(body));
        Function { name, is_title: false, classes, file: String::new(), body, lines }
    }

    /// Whether it is long enough to be told by its body.
    fn is_long(&self) -> bool {
        statements(&self.body) >= LEAST_STATEMENTS
    }

    /// Whether it may be a test, as tests of its language are named: one by its title, by `test` at its beginning, or by any name.
    pub fn may_be_test(&self) -> bool {
        let begins = self.name.starts_with("test");
        self.is_title
            || match language(&self.file) {
                Some(Language::Python) => begins,
                Some(Language::Ruby) => begins && self.file.ends_with(".rb"),
                Some(Language::Script) => self.file.ends_with(".php"),
                Some(Language::Braces) => true,
                None => false,
            }
    }

    /// Its file without the extension.
    fn stem(&self) -> &str {
        self.file.rsplit_once('.').map_or(&self.file, |(stem, _)| stem)
    }

    /// Whether the id of a test tells its file. A class is not enough: what is tested has the names of its tests, too.
    pub fn is_placed(&self, id: &str) -> bool {
        tells_file(id, &self.file)
    }
}

/// Whether the id of a test tells this file, as a path or as a module of Python.
pub fn tells_file(id: &str, path: &str) -> bool {
    let module = path.strip_suffix(".py").map(|module| module.replace('/', "."));
    id.starts_with(path) || module.is_some_and(|module| id.starts_with(&module))
}

/// The body of a test: of the functions that bear its name, the one whose place fits its id best. `None` where several
/// with other bodies fit as well, or it is short.
fn body_of<'f>(id: &str, functions: &'f [Function]) -> Option<&'f str> {
    let (place, name) = split(id);
    let name = base_name(name);
    let parts: Vec<&str> = words(place).collect();
    let places = |function: &'f Function| function.classes.iter().map(String::as_str).chain(words(function.stem()));
    let fit = |function: &'f Function| places(function).filter(|word| parts.contains(word)).count();
    let mut best: Option<(usize, &str)> = None;
    let mut is_unclear = false;
    for function in functions.iter().filter(|function| bears(name, function) && function.is_long()) {
        let fit = fit(function);
        match best {
            Some((known, body)) if known == fit => is_unclear |= body != function.body,
            Some((known, _)) if known > fit => {}
            _ => (best, is_unclear) = (Some((fit, function.body.as_str())), false),
        }
    }
    best.filter(|_| !is_unclear).map(|(_, body)| body)
}

/// Whether a test of this name is that function: it is its name, the outermost of nested ones (Go), or stands last behind
/// those of its suites, which in a sentence only a title does (JavaScript).
pub fn bears(name: &str, function: &Function) -> bool {
    let Function { name: of_function, is_title, .. } = function;
    let outer = name.split('/').next().unwrap_or(name);
    let parts = |c: char| if *is_title { !c.is_alphanumeric() && c != '_' } else { matches!(c, '.' | ':' | '#' | '$') };
    let is_last = || name.strip_suffix(of_function.as_str()).is_some_and(|before| before.ends_with(parts));
    !of_function.is_empty() && (name == of_function || outer == of_function || is_last())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Lines without indentation and blank lines.
fn tidied(body: &str) -> String {
    let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Lines after the first, which is the head, that hold more than brackets and comments.
fn statements(body: &str) -> usize {
    let says = |line: &&str| !is_comment(line) && line.contains(|c: char| c.is_alphanumeric());
    body.lines().skip(1).filter(says).count()
}

/// Whether a line, without blanks before it, is a comment or a part of one.
pub fn is_comment(line: &str) -> bool {
    ["#", "//", "/*", "*"].iter().any(|mark| line.starts_with(mark)) && !line.starts_with("#[")
}

fn python(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut classes: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if code.is_empty() {
            continue;
        }
        let here = depth(line);
        classes.retain(|(depth, _)| *depth < here);
        if let Some(name) = code.strip_prefix("class ").and_then(identifier) {
            classes.push((here, name.to_owned()));
        }
        let code = code.strip_prefix("async ").unwrap_or(code);
        let Some(head) = code.strip_prefix("def ") else { continue };
        let Some(name) = identifier(head) else { continue };
        let further = lines.iter().skip(n + 1);
        // A head over several lines is closed by a bracket at its own depth.
        let is_inside =
            |line: &&&str| line.trim().is_empty() || depth(line) > here || line.trim_start().starts_with(')');
        let body: Vec<&str> = further.take_while(is_inside).copied().collect();
        let head = head.strip_prefix(name).unwrap_or_default();
        let classes = classes.iter().map(|(_, name)| name.clone()).collect();
        let lines = n..n + 1 + body.len();
        found.push(Function::new(name, classes, &format!("{head}\n{}", body.join("\n")), lines));
    }
    found
}

/// Words with which a function or a block begins that is closed by `end`.
const RUBY_BEGINS: [&str; 6] = ["def ", "it ", "test ", "specify ", "example ", "scenario "];

fn ruby(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(head) = RUBY_BEGINS.iter().find_map(|begin| code.strip_prefix(begin)) else { continue };
        let quoted = |quote| head.strip_prefix(quote).and_then(|rest| rest.split_once(quote)).map(|(name, _)| name);
        let Some(name) = quoted('"').or_else(|| quoted('\'')).or_else(|| identifier(head)) else { continue };
        let is_end = |other: &&&str| depth(other) == depth(line) && other.trim_start().starts_with("end");
        let body: Vec<&str> = lines.iter().skip(n + 1).take_while(|line| !is_end(line)).copied().collect();
        let lines = n..n + 2 + body.len();
        let function = Function::new(name, Vec::new(), &format!("do\n{}", body.join("\n")), lines);
        found.push(Function { is_title: head.starts_with(['"', '\'']), ..function });
    }
    found
}

fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty())
}

/// Words that stand before brackets and are no function's name.
const NO_NAMES: [&str; 12] =
    ["if", "for", "while", "switch", "catch", "match", "return", "fn", "func", "function", "using", "lock"];

/// `NAME(…) … {…}`. In a script, single quotes are those of strings; elsewhere of one character.
fn braced(text: &str, is_script: bool) -> Vec<Function> {
    let code = Code::of(text, is_script);
    let mut classes: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for (at, word) in code.words() {
        classes.retain(|(end, _)| *end > at);
        let after = at + word.len();
        if matches!(word, "class" | "mod" | "impl" | "interface" | "object") {
            let rest = text.get(after..).unwrap_or_default();
            let name = identifier(rest.trim_start());
            let end = code.next(after, b"{;").filter(|(_, byte)| *byte == b'{').and_then(|(at, _)| code.closed(at));
            classes.extend(name.zip(end).map(|(name, end)| (end, name.to_owned())));
            continue;
        }
        if NO_NAMES.contains(&word) {
            continue;
        }
        let Some(function) = code.function(text, after) else { continue };
        let classes = classes.iter().map(|(_, name)| name.clone()).collect();
        found.push(Function::new(word, classes, function, code.lines(at, after + function.len())));
    }
    found
}

/// `test("NAME", …)`, `it.only('NAME', …)`.
fn blocks(text: &str) -> Vec<Function> {
    let code = Code::of(text, true);
    let mut found = Vec::new();
    for (at, word) in code.words().into_iter().filter(|(_, word)| matches!(*word, "test" | "it" | "testWidgets")) {
        let rest = text.get(at + word.len()..).unwrap_or_default();
        let rest_at = rest.find('(').filter(|to| {
            rest.get(..*to).is_some_and(|between| between.chars().all(|c| c.is_alphanumeric() || c == '.'))
        });
        let Some(open) = rest_at.map(|to| at + word.len() + to) else { continue };
        let Some(end) = code.closed(open) else { continue };
        let Some(inside) = text.get(open + 1..end).map(str::trim_start) else { continue };
        let Some(quote) = inside.chars().next().filter(|c| matches!(c, '\'' | '"' | '`')) else { continue };
        let Some((name, body)) = inside.get(1..).and_then(|rest| rest.split_once(quote)) else { continue };
        let lines = code.lines(at, end + 1);
        found.push(Function { is_title: true, ..Function::new(name, Vec::new(), body, lines) });
    }
    found
}

/// Text in which what stands in strings and comments is blanked out, byte by byte.
struct Code {
    bytes: Vec<u8>,
    /// Where its lines end.
    ends: Vec<usize>,
}

impl Code {
    fn of(text: &str, is_script: bool) -> Code {
        let bytes = text.as_bytes();
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let mut code = bytes.to_vec();
        let mut at = 0;
        while at < bytes.len() {
            let end = match (byte(at), byte(at + 1)) {
                (b'/', b'/') => end_of(bytes, at + 2, b"\n", false),
                (b'/', b'*') => end_of(bytes, at + 2, b"*/", false),
                (b'"', b'"') if byte(at + 2) == b'"' => end_of(bytes, at + 3, b"\"\"\"", true),
                (b'r', b'#') if byte(at + 2) == b'"' => end_of(bytes, at + 3, b"\"#", false),
                (b'"', _) => end_of(bytes, at + 1, b"\"", true),
                (b'`', _) => end_of(bytes, at + 1, b"`", true),
                (b'\'', _) if is_script => end_of(bytes, at + 1, b"'", true),
                (b'\'', b'\\') => end_of(bytes, at + 3, b"'", false),
                // Else a lifetime.
                (b'\'', _) if byte(at + 2) == b'\'' => at + 3,
                _ => {
                    at += 1;
                    continue;
                }
            };
            for blank in code.iter_mut().take(end).skip(at).filter(|byte| **byte != b'\n') {
                *blank = b' ';
            }
            at = end;
        }
        let ends = code.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        Code { bytes: code, ends }
    }

    /// Words of letters, digits and `_`, with their places.
    fn words(&self) -> Vec<(usize, &str)> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        let mut words = Vec::new();
        let mut from = None;
        for at in 0..=self.bytes.len() {
            match (self.bytes.get(at).is_some_and(is_part), from) {
                (true, None) => from = Some(at),
                (false, Some(begin)) => {
                    let word = self.bytes.get(begin..at).and_then(|word| std::str::from_utf8(word).ok());
                    words.extend(word.map(|word| (begin, word)));
                    from = None;
                }
                _ => {}
            }
        }
        words
    }

    /// The lines from one place to another, that one apart.
    fn lines(&self, from: usize, to: usize) -> Range<usize> {
        let line = |place: usize| self.ends.partition_point(|end| *end < place);
        line(from)..line(to.saturating_sub(1)) + 1
    }

    fn is_blank(&self, range: Range<usize>) -> bool {
        self.bytes.get(range).is_some_and(|between| between.iter().all(u8::is_ascii_whitespace))
    }

    /// The next of these bytes from `at` on.
    fn next(&self, at: usize, wanted: &[u8]) -> Option<(usize, u8)> {
        let found = self.bytes.iter().enumerate().skip(at).find(|(_, byte)| wanted.contains(byte));
        found.map(|(at, byte)| (at, *byte))
    }

    /// The place of the bracket that closes the one at `open`.
    fn closed(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, byte) in self.bytes.iter().enumerate().skip(open) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// What follows a function's name that ends at `after`: its parameters and its body; `None` if it is none.
    fn function<'t>(&self, text: &'t str, after: usize) -> Option<&'t str> {
        if self.bytes.get(after) != Some(&b'(') {
            return None;
        }
        let parameters = self.closed(after)?;
        // `#[cfg(test)] mod tests {`: an attribute is no function.
        if self.next(parameters + 1, b"]{").is_some_and(|(at, byte)| byte == b']' && self.is_blank(parameters + 1..at))
        {
            return None;
        }
        let (open, byte) = self.next(parameters + 1, b"{;(=,.")?;
        if byte != b'{' {
            return None;
        }
        text.get(after..=self.closed(open)?)
    }
}

/// Where what is closed by `close` ends; a backslash escapes if `escapes`.
fn end_of(bytes: &[u8], from: usize, close: &[u8], escapes: bool) -> usize {
    let mut at = from;
    while at < bytes.len() {
        if escapes && bytes.get(at) == Some(&b'\\') {
            at += 2;
        } else if bytes.get(at..).is_some_and(|rest| rest.starts_with(close)) {
            return at + close.len();
        } else {
            at += 1;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs between two versions of one file, as `old → new`.
    fn pairs(path: &str, ids: (&[&str], &[&str]), before: &str, now: &str) -> Vec<String> {
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<String>>();
        let found = same_bodies(&owned(ids.0), &owned(ids.1), &functions(path, before), &functions(path, now));
        found.into_iter().map(|pair| format!("{} → {}", pair.from, pair.to)).collect()
    }

    #[test]
    fn python_functions_are_found_by_indentation_and_class() {
        let old = "class TestA:\n    @pytest.mark.slow\n    def test_old(self, tmp):\n        x = 1\n\n        y = '''\n  {'''\n        assert x < y\n\ndef test_short():\n    pass\n";
        let new = "class TestB:\n    def test_new(self, tmp):\n        x = 1\n        y = '''\n  {'''\n        assert x < y\n\n\ndef test_brief():\n    pass\n";
        let ids: (&[&str], &[&str]) = (
            &["tests.test_a.TestA::test_old", "tests.test_a::test_short"],
            &["tests.test_a.TestB::test_new", "tests.test_a::test_brief"],
        );
        // The text in quotes ends the indentation: the rest of that test is not compared, here or there.
        let mut long = functions("tests/test_a.py", old).into_iter().filter(Function::is_long);
        assert!(long.all(|function| function.name == "test_old"));
        let found = pairs("tests/test_a.py", ids, old, new);
        assert!(found.is_empty() || found == ["tests.test_a.TestA::test_old → tests.test_a.TestB::test_new"]);
        let (old, new) = (old.replace("\n  {", "{"), new.replace("\n  {", "{"));
        let found = pairs("tests/test_a.py", ids, &old, &new);
        assert_eq!(found, ["tests.test_a.TestA::test_old → tests.test_a.TestB::test_new"], "two lines are too few");
    }

    #[test]
    fn v14_the_real_rename_is_found_by_its_body() {
        let body = "(parse):\n    for text in SAMPLES:\n        version = parse(text)\n        assert version.pre == ('0a',)\n        assert version.build == ('1b',)\n";
        let (old, new) = ("test_parsing_pre_and_build_metadata_see_issue_217", "test_leading_digit_in_pre_and_build");
        let file = |name: &str| format!("import x\n\n@given(x)\ndef {name}{body}\n\ndef other():\n    return 1\n");
        let id = |name: &str| format!("tests.test_semver::{name}");
        let found = pairs("tests/test_semver.py", (&[&id(old)], &[&id(new)]), &file(old), &file(new));
        assert_eq!(found, [format!("{} → {}", id(old), id(new))]);
        let edited = file(new).replace("'0a'", "'0b'");
        assert!(pairs("tests/test_semver.py", (&[&id(old)], &[&id(new)]), &file(old), &edited).is_empty());
    }

    #[test]
    fn braces_in_strings_characters_and_comments_do_not_count() {
        let rust = |name: &str| {
            format!(
                "mod tests {{\n    #[test]\n    fn {name}() {{\n        let open = \"{{\"; // {{ no\n        let one: &'static str = '{{';\n        let raw = r#\"}}\"}}\"#;\n        /* }} */ assert_eq!(open, one);\n    }}\n\n    #[test]\n    fn next() {{ a(); }}\n}}\n"
            )
        };
        let found =
            pairs("src/a.rs", (&["a::tests::old_one"], &["a::tests::new_one"]), &rust("old_one"), &rust("new_one"));
        assert_eq!(found, ["a::tests::old_one → a::tests::new_one"]);
    }

    #[test]
    fn go_java_and_test_blocks_have_their_ways() {
        let go = |name: &str| format!("func {name}(t *testing.T) {{\n\ta := 1\n\tb := '}}'\n\tcheck(t, a, b)\n}}\n");
        let found = pairs(
            "pkg/x_test.go",
            (&["example.com/pkg::TestOld"], &["example.com/pkg::TestNew"]),
            &go("TestOld"),
            &go("TestNew"),
        );
        assert_eq!(found.len(), 1);
        let java = |name: &str| {
            format!(
                "class T {{\n  @Test\n  void {name}() throws Exception {{\n    int a = f(1);\n    if (a > 2) {{ g(); }}\n    assertEquals(\"}}\", a);\n  }}\n}}\n"
            )
        };
        let found = pairs(
            "src/test/java/com/x/T.java",
            (&["com.x.T::oldOne"], &["com.x.T::newOne"]),
            &java("oldOne"),
            &java("newOne"),
        );
        assert_eq!(found.len(), 1);
        let script = |name: &str| {
            format!(
                "describe('math', () => {{\n  it.only('{name}', async () => {{\n    const a = `}}`;\n    const b = f(a);\n    expect(b).toBe(\"x\");\n  }});\n}});\n"
            )
        };
        let found = pairs(
            "src/math.test.ts",
            (&["math.test::math adds two"], &["math.test::math adds both"]),
            &script("adds two"),
            &script("adds both"),
        );
        assert_eq!(found, ["math.test::math adds two → math.test::math adds both"]);
    }

    #[test]
    fn functions_of_one_name_are_told_apart_by_their_place_or_not_at_all() {
        let text = "class TestA:\n    def test_x(self):\n        a = 1\n        b = 2\n        assert a < b\n\nclass TestB:\n    def test_x(self):\n        a = 3\n        b = 4\n        assert a < b\n";
        let found = functions("tests/test_a.py", text);
        assert!(body_of("tests.test_a.TestB::test_x", &found).unwrap().contains("a = 3"));
        assert_eq!(body_of("tests.test_a::test_x", &found), None);
    }

    /// Whether the failing test of that id is taken for deleted.
    fn is_lost(path: &str, id: &str, before: &str, now: &str) -> bool {
        let (before, texts) = (functions(path, before), [now.to_owned()]);
        !lost_sources([id].into_iter(), &before, &functions(path, now), &texts).is_empty()
    }

    #[test]
    fn a_test_is_lost_where_nothing_of_it_is_left() {
        let python =
            "def test_a():\n    a = f(1)\n    b = g(a)\n    assert b == 2\n\n\ndef test_b():\n    assert f(2) == 3\n";
        let script = "it('adds', () => {\n  expect(f(1)).toBe(2);\n});\nit('adds more', () => {});\n";
        let ruby = "describe 'cart' do\n  it 'adds' do\n    expect(f(1)).to eq 2\n  end\n\n  it \"adds more\" do\n  end\nend\n";
        for (path, id, before, lost, kept) in [
            (
                "t/test_a.py",
                "t/test_a.py::test_a[1]",
                python,
                &["", "# def test_a():\n#     pass\n", "def test_trivial():\n    pass\n"][..],
                &[
                    "def test_a():\n    pass\n",
                    "def test_other():\n    a = f(1)\n    b = g(a)\n    assert b == 2\n",
                    "load('cases.yml', skip=['test_a'])\n",
                ][..],
            ),
            (
                "a.test.js",
                "a.test.js::cart::adds",
                script,
                &["it('adds more', () => {});", "// it('adds', () => {});\n", "it('works', () => {});"],
                &["it.skip('adds', () => {});", "xit(`adds`, () => {});", "test.each([['adds', 1]])('%s', f);"],
            ),
            (
                "spec/a_spec.rb",
                "spec/a_spec.rb::cart adds",
                ruby,
                &["  it 'adds more' do\n  end\n", "  # it 'adds' do\n"],
                &["  xit 'adds' do\n  end\n", "  it('adds') { }\n"],
            ),
            (
                "tests/CartTest.php",
                "CartTest::testAdds",
                "class CartTest {\n  public function testAdds(): void {\n    $this->assertSame(1, '}');\n  }\n}\n",
                &["class CartTest {\n  public function testMore(): void {\n  }\n}\n"],
                &["class CartTest {\n  #[Skip]\n  public function testAdds(): void {\n  }\n}\n"],
            ),
        ] {
            for now in lost {
                assert!(is_lost(path, id, before, now), "{path} {now}");
            }
            for now in kept {
                assert!(!is_lost(path, id, before, now), "{path} {now}");
            }
        }
        assert!(!is_lost("t/test_a.py", "t/test_a.py::test_c", python, ""), "where it stood is not known");
        // What a template's name ends in is a function's name by chance.
        assert!(!is_lost("a.js", "a.js::cart::counts numbers", "function numbers() { return 1; }\n", ""));
        let placed = |path: &str, id: &str, text: &str| {
            let before = functions(path, text);
            lost_sources([id].into_iter(), &before, &[], &[]).iter().map(|lost| lost.is_placed).collect::<Vec<_>>()
        };
        assert_eq!(placed("t/test_a.py", "t/test_a.py::test_b", python), [true]);
        assert_eq!(placed("t/test_a.py", "t/test_c.py::test_b", python), [false]);
        assert_eq!(placed("t/test_a.py", "t.test_a::test_b", python), [true]);
        // What is tested bears the names of its tests, and perhaps that of their class.
        assert_eq!(placed("src/cart.rs", "tests::total", "fn total() -> u8 { 1 }\n"), [false]);
        assert!(
            placed("src/cart.js", "test/cart.test.js::Cart::total", "class Cart { total() { return 1; } }\n")
                .is_empty()
        );
        assert_eq!(placed("a_test.go", "example.com/shop::TestA", "func TestA(t *T) { t.Skip() }\n"), [false]);
        let renamed = script.replace("'adds'", "'adds two'");
        assert!(
            is_lost("a.test.js", "a.test.js::cart::adds", script, &renamed),
            "a name is half the words of the other"
        );
        let words = "it('adds two small numbers up', () => {});\n";
        assert!(!is_lost("a.test.js", "cart::adds two small numbers up", words, &words.replace(" up", "")));
    }

    #[test]
    fn no_text_makes_it_panic() {
        for text in
            ["", "def", "def (", "def x", "fn x(", "fn x() {", "}}}", "it('", "'", "\"", "r#\"", "ü'ü{(", "class", "/*"]
        {
            for path in ["a.py", "a.rs", "a.ts", "a.go", "a.java", "a.rb", "a.php", "none"] {
                functions(path, text);
            }
        }
    }
}
