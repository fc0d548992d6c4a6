//! Errors as people see them: what failed, where, how we came to think so, what to do.

use std::fmt::Write;

use crate::error::{Error, Place};
use crate::model::ids::escape;

/// The text of an error, colour only if asked for. Whatever came from a file is escaped.
pub fn render(error: &Error, colour: bool) -> String {
    let paint = |code: &str, text: &str| if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() };
    let mut text = format!("{}: {}\n", paint("1;31", "error"), printable(&error.message));
    if error.place != Place::default() {
        let _ = writeln!(text, "  {} {}", paint("34", "-->"), printable(&error.place.to_string()));
    }
    if let Some(cause) = &error.cause {
        for (n, line) in cause.lines().enumerate() {
            let _ = writeln!(text, "   {} {}", if n == 0 { "=" } else { " " }, printable(line));
        }
    }
    if let Some(help) = &error.help {
        let _ = writeln!(text, "{}: {}", paint("32", "help"), printable(help));
    }
    text
}

/// Text that cannot move the cursor or hide anything on a terminal; a backslash stays itself.
pub fn printable(text: &str) -> String {
    escape(text.as_bytes()).replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn an_error_tells_what_where_why_and_what_to_do() {
        let error = Error::report(Reject::Malformed, "coverage report ends before its root element is closed")
            .in_file("target/coverage/cobertura.xml")
            .line_column(214, 7)
            .because("read as cobertura, by its content")
            .help("the run was probably cut short; run it again, or leave it out: `record` takes --skip coverage");
        assert_eq!(
            render(&error, false),
            "error: coverage report ends before its root element is closed\n  --> target/coverage/cobertura.xml:214:7\n   \
             = read as cobertura, by its content\nhelp: the run was probably cut short; run it again, or leave it \
             out: `record` takes --skip coverage\n"
        );
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let text = render(&Error::bad_input("odd \x1b]52;c;x\x07 name").because("a\x1b[2J"), true);
        assert!(!text.replace("\x1b[1;31m", "").replace("\x1b[0m", "").contains('\x1b'), "{text:?}");
        assert!(!text.contains('\x07'));
    }
}
