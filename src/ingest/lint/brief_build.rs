//! Lines of compilers, as Maven, Gradle, sbt and Foundry let them print, of groovyc and GHDL, of CMake, ReScript, Crystal and
//! Python's parser, and of Checkstyle, detekt, PHP_CodeSniffer, Scalastyle and standardrb, for `brief-text`.

use super::brief_text::Told;
use super::lines::{Placed, bare_place, bracketed, is_class_name, is_path, placed};
use crate::ingest::Level;
use crate::ingest::text::split_at;
use crate::ingest::values::{leading_in, whole};

/// What a line tells.
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    let readers = [bracketed_level, kotlinc, detekt, scalastyle, php, standardrb, cmake, sorry, pascal, vala];
    readers.iter().find_map(|read| read(text))
}

/// solc's `Warning (2072): message`, without the number if it is called by hardhat, and below it ` --> src/A.sol:3:5:`.
pub(super) fn solc<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let place = bare_place(text.trim_start().strip_prefix("--> ")?.strip_suffix(':')?);
    let place = place.filter(|(path, _)| path.ends_with(".sol") || path.ends_with(".vy"))?;
    let (word, message) = before.split_once(": ")?;
    let (word, rule) = word.split_once(" (").map_or((word, None), |(word, code)| (word, code.strip_suffix(')')));
    let level = match word {
        "Warning" => Level::Warning,
        "Info" => Level::Note,
        word if word.ends_with("Error") => Level::Error,
        _ => return None,
    };
    Some(Told { level, ..Told::error("solc", place, rule, message) })
}

/// `CMake Error at src/CMakeLists.txt:3 (add_executable):`, below it the message; `CMake Warning (dev) in CMakeLists.txt:`.
pub(super) fn cmake_below<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (level, rest) = cmake_level(before)?;
    let rest = rest.strip_suffix(':')?;
    let (place, command) = match rest.strip_prefix(" at ") {
        Some(rest) => {
            bracketed(rest, '(', ')').map_or((rest, None), |(place, command)| (place.trim_end(), Some(command)))
        }
        None => (rest.strip_prefix(" in ")?, None),
    };
    let place = bare_place(place).unwrap_or((place, None));
    let message = text.strip_prefix("  ")?;
    Some(Told { level, ..Told::error("cmake", place, command, message) })
}

/// Scalastyle's own program: `warning file=/p/A.scala message=It is long line=6 column=7`, the place where there is one.
fn scalastyle(text: &str) -> Option<Told<'_>> {
    let (word, rest) = text.split_once(" file=")?;
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "info" => Level::Note,
        _ => return None,
    };
    let (path, rest) = rest.split_once(" message=").filter(|(path, _)| path.ends_with(".scala"))?;
    let placed = rest.rsplit_once(" line=").and_then(|(message, line)| Some((message, leading_in(line)?.0)));
    let (message, line) = placed.map_or((rest, None), |(message, line)| (message, Some(line)));
    Some(Told { level, ..Told::error("scalastyle", (path, line), None, message) })
}

/// `CMake Error: The source directory "/app" does not exist.`
fn cmake(text: &str) -> Option<Told<'_>> {
    let (level, message) = cmake_level(text)?;
    let message = message.strip_prefix(": ")?;
    Some(Told { level, path: None, ..Told::error("cmake", ("", None), None, message) })
}

fn cmake_level(text: &str) -> Option<(Level, &str)> {
    let text = text.strip_prefix("CMake ")?;
    if let Some(rest) = text.strip_prefix("Error") {
        return Some((Level::Error, rest));
    }
    let rest = text.strip_prefix("Deprecation ").unwrap_or(text).strip_prefix("Warning")?;
    // Whom it concerns.
    let concerned = [" (dev)", " (author)", " (deprecated)"].iter().find_map(|whom| rest.strip_prefix(whom));
    Some((Level::Warning, concerned.unwrap_or(rest)))
}

/// ReScript's `We've found a bug for you!` or `Warning number 26`, below it `/app/src/Demo.res:1:14-16`.
pub(super) fn rescript<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let said = before.trim();
    let level = match said {
        "We've found a bug for you!" | "Syntax error!" => Level::Error,
        _ if !said.starts_with("Warning number ") => return None,
        _ if said.ends_with(" (configured as error)") => Level::Error,
        _ => Level::Warning,
    };
    let text = text.trim_start();
    let (path, _) = split_at(text, ".res:").or_else(|| split_at(text, ".resi:"))?;
    let (path, rest) = text.split_at_checked(path.len() + text.get(path.len()..)?.find(':')?)?;
    let (line, _) = leading_in(rest.strip_prefix(':')?)?;
    is_path(path).then(|| Told { level, ..Told::error("rescript", (path, Some(line)), None, said) })
}

/// Crystal's `Error: message`, and Python's `SyntaxError: message`, with the place above it and the source between them.
pub(super) fn titled<'a>(title: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (tool, place) = title_of(title)?;
    let words: &[&str] =
        if tool == "crystal" { &["Error: "] } else { &["SyntaxError: ", "IndentationError: ", "TabError: "] };
    let (word, message) = words.iter().find_map(|word| Some((word, text.strip_prefix(word)?)))?;
    let rule = Some(word.trim_end_matches(": ")).filter(|rule| *rule != "Error");
    Some(Told::error(tool, place, rule, message))
}

/// The place above it: `In src/app.cr:3:5`; `  File "a.py", line 3`, where nothing was called, and of compileall behind `***`.
pub(super) fn title_of(text: &str) -> Option<(&'static str, (&str, Option<u64>))> {
    if let Some(place) = text.strip_prefix("In ") {
        return bare_place(place).filter(|(path, _)| path.ends_with(".cr")).map(|place| ("crystal", place));
    }
    let place = text.strip_prefix("*** ").unwrap_or(text).trim_start().strip_prefix("File \"")?;
    let (path, line) = place.split_once("\", line ")?;
    Some(("python", (path, Some(whole(line)?))))
}

/// `Sorry: IndentationError: message (a.py, line 2)`, of compileall behind `***`.
fn sorry(text: &str) -> Option<Told<'_>> {
    let (rule, rest) = text.strip_prefix("*** ").unwrap_or(text).strip_prefix("Sorry: ")?.split_once(": ")?;
    let (message, place) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let (path, line) = place.split_once(", line ")?;
    let is_ours = rule.ends_with("Error") && is_path(path);
    Some(Told::error("python", (path, Some(whole(line).filter(|_| is_ours)?)), Some(rule), message))
}

/// Free Pascal's `main.pas(9,3) Error: message`. How many there were is a line of its own.
fn pascal(text: &str) -> Option<Told<'_>> {
    let (place, rest) = split_at(text, ") ")?;
    let (path, numbers) = place.rsplit_once('(')?;
    let (word, message) = rest.split_once(": ")?;
    let level = match word {
        "Error" => Level::Error,
        "Fatal" if !message.starts_with("There were ") => Level::Error,
        "Warning" => Level::Warning,
        "Note" | "Hint" => Level::Note,
        _ => return None,
    };
    let is_pascal = path.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "pas" | "pp" | "lpr" | "dpr" | "inc"));
    let (line, _) = leading_in(numbers).filter(|_| is_pascal && is_path(path))?;
    Some(Told { level, ..Told::error("fpc", (path, Some(line)), None, message) })
}

/// Vala's `main.vala:2.7-2.9: error: message`.
fn vala(text: &str) -> Option<Told<'_>> {
    let (path, _) = split_at(text, ".vala:")?;
    let (path, rest) = text.split_at_checked(path.len() + ".vala".len())?;
    let (line, rest) = leading_in(rest.strip_prefix(':')?)?;
    let (_, rest) = rest.strip_prefix('.')?.split_once(": ")?;
    let (word, message) = rest.split_once(": ")?;
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "note" => Level::Note,
        _ => return None,
    };
    Some(Told { level, ..Told::error("vala", (path, Some(line)), None, message) })
}

/// `A.groovy: 2: unexpected token: } @ line 2, column 28.`, or `A.groovy: 1: unable to resolve class gone.B` and below it
/// ` @ line 1, column 1.`
pub(super) fn groovyc<'a>(before: &'a str, text: &'a str) -> Option<Told<'a>> {
    let (said, place) = text.strip_suffix('.')?.rsplit_once(" @ line ")?;
    place.split_once(", column ")?;
    let said = if said.is_empty() { before } else { said };
    let (path, _) = split_at(said, ".groovy: ")?;
    let (path, rest) = said.split_at_checked(path.len() + ".groovy".len())?;
    let (line, rest) = leading_in(rest.strip_prefix(": ")?)?;
    let message = rest.strip_prefix(": ").filter(|_| is_path(path))?;
    Some(Told::error("groovyc", (path, Some(line)), None, message.trim_end()))
}

/// GHDL's `cart.vhd:6:8: no declaration for "foo"`. What is no error it writes as gcc does, and with a time, `@0ms:`, what a
/// simulation reports.
pub(super) fn ghdl<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let is_other = ["error: ", "warning: ", "note: ", "@"].iter().any(|other| place.rest.starts_with(other));
    let is_ours = place.has_column && !is_other && place.is_a(&["vhd", "vhdl"]);
    is_ours.then(|| Told::error("ghdl", (place.path, place.line), None, place.rest))
}

/// The tool that says that it found nothing.
pub(super) fn clean(text: &str) -> Option<&'static str> {
    text.starts_with("-- Configuring done").then_some("cmake")
}

/// `Errors parsing A.php`, with which `php -l` ends each file that it cannot parse.
fn php(text: &str) -> Option<Told<'_>> {
    let path =
        text.strip_prefix("Errors parsing ").filter(|path| path.ends_with(".php") || path.ends_with(".phtml"))?;
    Some(Told::error("php", (path, None), None, "cannot be parsed"))
}

/// `cart.el:1:37: Warning: assignment to free variable ‘y’`, as Emacs compiles.
pub(super) fn emacs<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    let (word, message) = place.rest.split_once(": ").filter(|_| place.has_column && place.is_a(&["el"]))?;
    let level = match word {
        "Error" => Level::Error,
        "Warning" => Level::Warning,
        _ => return None,
    };
    Some(Told { level, ..Told::error("emacs", (place.path, place.line), None, message) })
}

/// `/p/A.php:3:1: error - message`, phpcs's report `emacs`.
pub(super) fn phpcs<'a>(place: &Placed<'a>) -> Option<Told<'a>> {
    (place.has_column && place.is_a(&["php", "inc", "phtml", "js", "css"])).then_some(())?;
    let (word, message) = place.rest.split_once(" - ")?;
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => return None,
    };
    Some(Told { level, ..Told::error("phpcs", (place.path, place.line), None, message) })
}

/// `  a.rb:3:5: Layout/SpaceInsideParens: message`.
fn standardrb(text: &str) -> Option<Told<'_>> {
    let place = placed(text.strip_prefix("  ")?).filter(|place| place.has_column && place.is_a(&["rb", "rake"]))?;
    let (rule, message) = place.rest.split_once(": ").filter(|(rule, _)| rule.contains('/') && !rule.contains(' '))?;
    Some(Told::error("standardrb", (place.path, place.line), Some(rule), message))
}

/// Whether Maven repeats from here on what it told before: `[ERROR] Failed to execute goal …`.
pub(super) fn is_repetition(text: &str) -> bool {
    text.starts_with("[ERROR] Failed to execute goal ")
}

/// javac's `[ERROR] /p/A.java:[3,12] message` and kotlinc's `[ERROR] /p/A.kt: (13, 9) message` under Maven, scalac's
/// `[error] /p/A.scala:3:5: message` under sbt, and Checkstyle's `[WARN] /p/A.java:3:5: message [Rule]`, which Maven writes
/// `[WARNING] A.java:[3,5] (sizes) LineLength: message`.
fn bracketed_level(text: &str) -> Option<Told<'_>> {
    let text = text.strip_prefix("[ant:checkstyle] ").unwrap_or(text);
    let (word, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let level = match word {
        "ERROR" | "error" => Level::Error,
        "WARNING" | "WARN" | "warn" => Level::Warning,
        "INFO" => Level::Note,
        _ => return None,
    };
    if let Some(told) = checkstyle(rest) {
        return Some(Told { level, ..told });
    }
    if let Some((path, message)) = of_scala_file(rest) {
        return Some(Told { level, ..Told::error("scalac", (path, None), None, message) });
    }
    let (path, line, message) = place_in_source(rest)?;
    let of_its_plugin = || {
        let (_, rest) = message.strip_prefix('(')?.split_once(") ")?;
        rest.split_once(": ").filter(|(rule, _)| !rule.contains(' '))
    };
    if let Some((rule, message)) = of_its_plugin() {
        return Some(Told { level, ..Told::error("checkstyle", (path, Some(line)), Some(rule), message) });
    }
    (level != Level::Note).then_some(())?;
    Some(Told { level, ..Told::error(compiler(path), (path, Some(line)), None, message) })
}

/// What Scalastyle says of a whole file, `/p/A.scala: message`. Its other lines cannot be told from scalac's.
fn of_scala_file(text: &str) -> Option<(&str, &str)> {
    let (path, message) = split_at(text, ".scala: ").filter(|(path, _)| !path.contains([':', ' ']))?;
    Some((text.get(..path.len() + ".scala".len())?, message))
}

/// `\tSpreadOperator - [main] at /p/A.kt:11:37`, what detekt printed below the name of a rule set up to version 1.19, and
/// its command line prints still. With a measure, `LongMethod - 62/60 - [main] at …`.
fn detekt(text: &str) -> Option<Told<'_>> {
    let (rule, rest) = text.strip_prefix('\t')?.trim_start().split_once(" - ")?;
    let (message, place) = rest.rsplit_once("] at ").filter(|_| is_class_name(rule))?;
    let place = place.split_once(" - Signature=").map_or(place, |(place, _)| place);
    let (_, element) = message.rsplit_once('[')?;
    bare_place(place).map(|place| Told::error("detekt", place, Some(rule), element))
}

/// Checkstyle's own `/p/A.java:3:5: message [Rule]`, of a file of any kind.
fn checkstyle(text: &str) -> Option<Told<'_>> {
    let place = placed(text)?;
    let (message, rule) = bracketed(place.rest, '[', ']')?;
    is_class_name(rule).then(|| Told::error("checkstyle", (place.path, place.line), Some(rule), message))
}

/// `e: file:///p/A.kt:12:5 message`, before version 1.8 `e: /p/A.kt: (12, 5): message`; `w:` for a warning.
fn kotlinc(text: &str) -> Option<Told<'_>> {
    let (word, rest) = text.split_once(": ")?;
    let level = match word {
        "e" => Level::Error,
        "w" => Level::Warning,
        _ => return None,
    };
    let (path, line, message) = place_in_source(rest)?;
    Some(Told { level, ..Told::error("kotlinc", (path, Some(line)), None, message) })
}

/// Whose file it is.
fn compiler(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "kt" | "kts")) => "kotlinc",
        Some((_, "scala")) => "scalac",
        _ => "javac",
    }
}

/// Path, line and message where the place is one of `path:[3,12] `, `path:[3] `, `path: (3, 12): `, `path:3:12 `, `path:3: `.
fn place_in_source(text: &str) -> Option<(&str, u64, &str)> {
    let text = text.strip_prefix("file://").unwrap_or(text);
    if let Some(place) = placed(text).filter(|place| place.is_a(&SOURCES)) {
        let (_, rest) = leading_in(place.rest).filter(|_| !place.has_column).unwrap_or((0, place.rest));
        return Some((place.path, place.line?, rest.trim_start()));
    }
    let (path, rest) = [":[", ": ("].iter().find_map(|open| text.split_once(open))?;
    let (line, rest) = leading_in(rest)?;
    let (_, rest) = rest.strip_prefix(',').map(str::trim_start).and_then(leading_in).unwrap_or((0, rest));
    let message = rest.strip_prefix([']', ')'])?;
    let is_source = path.rsplit_once('.').is_some_and(|(_, extension)| SOURCES.contains(&extension));
    (is_source && line > 0).then(|| (path, line, message.strip_prefix(':').unwrap_or(message).trim_start()))
}

const SOURCES: [&str; 5] = ["java", "kt", "kts", "scala", "groovy"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::lint::brief_text;

    #[test]
    fn cmake_rescript_and_crystal_tell_place_and_message_in_two_lines() {
        use Level::{Error, Warning};
        for (before, text, tool, level, place, message) in [
            ("CMake Error at a b/x.cmake:5 (find_package):", "  No Nope.", "cmake", Error, "a b/x.cmake:5", "No Nope."),
            (
                "CMake Warning (dev) in CMakeLists.txt:",
                "  No project().",
                "cmake",
                Warning,
                "CMakeLists.txt:0",
                "No project().",
            ),
            (
                "CMake Deprecation Warning at CMakeLists.txt:1 (x):",
                "  Old.",
                "cmake",
                Warning,
                "CMakeLists.txt:1",
                "Old.",
            ),
            (
                "  We've found a bug for you!",
                "  /p/D.res:3:14-16",
                "rescript",
                Error,
                "/p/D.res:3",
                "We've found a bug for you!",
            ),
            ("a b.groovy: 1: No class B ", " @ line 1, column 2.", "groovyc", Error, "a b.groovy:1", "No class B"),
            ("", "/p/A.groovy: 2: No: } @ line 2, column 28.", "groovyc", Error, "/p/A.groovy:2", "No: }"),
            ("", "a.vhd:6:8: no declaration for \"x\"", "ghdl", Error, "a.vhd:6", "no declaration for \"x\""),
            ("  Warning number 26", "  D.resi:1:22", "rescript", Warning, "D.resi:1", "Warning number 26"),
            (
                "  Warning number 8 (configured as error)",
                "  D.res:1:2-4:5",
                "rescript",
                Error,
                "D.res:1",
                "Warning number 8 (configured as error)",
            ),
        ] {
            let told = brief_text::told(before, text).unwrap_or_else(|| panic!("{before}"));
            let (path, line) = place.rsplit_once(':').unwrap();
            assert_eq!(
                (told.tool, told.level, told.path, told.message),
                (tool, level, Some(path), message),
                "{before}"
            );
            assert_eq!(told.line.unwrap_or(0).to_string(), line, "{before}");
        }
        let told = brief_text::told("", "CMake Error: The source directory \"/p\" does not exist.").unwrap();
        assert_eq!(
            (told.tool, told.path, told.message),
            ("cmake", None, "The source directory \"/p\" does not exist.")
        );
        let told = titled("In src/a.cr:5:8", "Error: expected argument").unwrap();
        assert_eq!(
            (told.path, told.line, told.rule, told.message),
            (Some("src/a.cr"), Some(5), None, "expected argument")
        );
        let told = titled("***   File \"./a b.py\", line 3", "SyntaxError: invalid syntax").unwrap();
        assert_eq!((told.path, told.line, told.rule), (Some("./a b.py"), Some(3), Some("SyntaxError")));
        let told = brief_text::told("", "*** Sorry: TabError: mixed (a.py, line 3)").unwrap();
        assert_eq!((told.path, told.line, told.rule, told.message), (Some("a.py"), Some(3), Some("TabError"), "mixed"));
        assert!(
            titled("  File \"a.py\", line 3, in f", "SyntaxError: x").is_none(),
            "it was raised, and not by the parser"
        );
        assert!(titled("  File \"a.py\", line 3", "NameError: x").is_none());
        assert_eq!(
            (clean("-- Configuring done (0.1s)"), clean("-- Configuring incomplete, errors occurred!")),
            (Some("cmake"), None)
        );
        for (before, text) in [
            ("CMake Error at x.cmake:5 (x):", "No blanks"),
            ("CMake Warnings", "  x"),
            ("  Warning number 26", "  /p/D.rs:1:22"),
            ("  A bug", "  /p/D.res:1:22"),
        ] {
            assert!(brief_text::told(before, text).is_none(), "{before}");
        }
    }

    #[test]
    fn every_form_of_a_place_is_read() {
        use Level::{Error, Note, Warning};
        for (line, tool, level, place, message) in [
            ("[ERROR] /p/A.java:[3,12] cannot find symbol", "javac", Error, "/p/A.java:3", "cannot find symbol"),
            ("[ERROR] /C:/p q/A.java:[3,12] 5 is no x", "javac", Error, "/C:/p q/A.java:3", "5 is no x"),
            ("[WARNING] /p/A.kt: (12, 9) never used", "kotlinc", Warning, "/p/A.kt:12", "never used"),
            ("[ERROR] file:///p/A.kt:13:9 Unresolved", "kotlinc", Error, "/p/A.kt:13", "Unresolved"),
            ("[error] /p/A.scala:3:5: not found: value foo", "scalac", Error, "/p/A.scala:3", "not found: value foo"),
            ("[warn] /p/A.java:9:1: [deprecation] f()", "javac", Warning, "/p/A.java:9", "[deprecation] f()"),
            ("[WARN] /p/A.java:3:5: No comment. [MissingJavadoc]", "checkstyle", Warning, "/p/A.java:3", "No comment."),
            (
                "[ERROR] C:\\a b\\x.xml:3: Name '[a-z]'. [Names]",
                "checkstyle",
                Error,
                "C:\\a b\\x.xml:3",
                "Name '[a-z]'.",
            ),
            ("[ant:checkstyle] [ERROR] /p/A.java:3: Tab. [FileTab]", "checkstyle", Error, "/p/A.java:3", "Tab."),
            ("[WARNING] a/A.java:[3,5] (sizes) LineLength: Long.", "checkstyle", Warning, "a/A.java:3", "Long."),
            ("[INFO] a/A.java:[3] (imports) UnusedImports: No.", "checkstyle", Note, "a/A.java:3", "No."),
            ("e: file:///p/A.kt:12:5 Unresolved: x", "kotlinc", Error, "/p/A.kt:12", "Unresolved: x"),
            ("w: /p/A.kts: (15, 9): Mismatch", "kotlinc", Warning, "/p/A.kts:15", "Mismatch"),
            ("a b.pas(9,3) Error: Identifier not found", "fpc", Error, "a b.pas:9", "Identifier not found"),
            ("a.pp(9) Hint: Parameter not used", "fpc", Note, "a.pp:9", "Parameter not used"),
            ("a.vala:2.7-2.9: error: No: x", "vala", Error, "a.vala:2", "No: x"),
            ("[error] /p/A.scala: No header", "scalac", Error, "/p/A.scala:0", "No header"),
            (
                "error file=/p/a b.scala message=Too long: line=6 column=7",
                "scalastyle",
                Error,
                "/p/a b.scala:6",
                "Too long:",
            ),
            (
                "warning file=A.scala message=File length exceeds 5",
                "scalastyle",
                Warning,
                "A.scala:0",
                "File length exceeds 5",
            ),
            ("\tSpreadOperator - [main] at /p/A.kt:11:37", "detekt", Error, "/p/A.kt:11", "main"),
            ("\tLongMethod - 62/60 - [f] at /p/A.kt:3:5 - Signature=A$f", "detekt", Error, "/p/A.kt:3", "f"),
            ("a.el:1:37: Warning: free variable ‘y’", "emacs", Warning, "a.el:1", "free variable ‘y’"),
            ("a.el:1:1: Error: End of file: x", "emacs", Error, "a.el:1", "End of file: x"),
            ("/p/A.php:3:1: warning - Too long - see", "phpcs", Warning, "/p/A.php:3", "Too long - see"),
            ("  a.rb:3:5: Layout/Space: No: space.", "standardrb", Error, "a.rb:3", "No: space."),
        ] {
            let told = brief_text::told("", line).unwrap();
            let at = format!("{}:{}", told.path.unwrap(), told.line.unwrap_or(0));
            assert_eq!((told.tool, told.level, at.as_str(), told.message), (tool, level, place, message), "{line}");
        }
        for other in [
            "[INFO] /p/A.java:[3,12] Some input files use unchecked or unsafe operations.",
            "[ERROR] /p/A.java: some error",
            "[error] a b.scala: x",
            "\tCaused by - [main] at /p/A.kt:11:37",
            "\t- 3 lines of code (loc)",
            "[error]     foo",
            "[ERROR]   symbol:   class Foo",
            "[ERROR] pom.xml:[3,12] bad",
            "[INFO] Tests run: 3",
            "e: warnings found and -Werror specified",
            "a.php:12:3: error: x",
            "a.rb:3:5: C: Layout/Space: no blanks before",
            "[DEBUG] /p/A.java:[3,12] x",
            "a.pas(12) Fatal: There were 4 errors compiling module, stopping",
            "a.cs(9,3) Error: x",
            "a.vala:2: error: x",
            "[ERROR] /p/A.java:[0,1] x",
        ] {
            assert!(told(other).is_none(), "{other}");
        }
    }

    #[test]
    fn php_names_the_file_that_it_cannot_parse() {
        let told = told("Errors parsing src/a.php").unwrap();
        assert_eq!((told.tool, told.path), ("php", Some("src/a.php")));
        assert!(super::told("Errors parsing the answer").is_none());
    }

    #[test]
    fn solc_tells_the_place_below() {
        for (before, level, rule) in [
            ("Warning (2072): Unused.", Level::Warning, Some("2072")),
            ("DeclarationError: Unused.", Level::Error, None),
            ("Error (7576): Unused.", Level::Error, Some("7576")),
        ] {
            let told = solc(before, "  --> src/A.sol:3:5:").unwrap();
            assert_eq!((told.level, told.rule, told.message), (level, rule, "Unused."), "{before}");
            assert_eq!((told.path, told.line), (Some("src/A.sol"), Some(3)));
        }
        for (before, text) in
            [("error: x", " --> src/a.rs:3:5"), ("Error: x", " --> a.ts:3:5:"), ("x", " --> A.sol:3:5:")]
        {
            assert!(solc(before, text).is_none(), "{before}");
        }
    }
}
