//! The templates, compiled in. Strict about missing names; everything that a template prints is escaped as markdown.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, ErrorKind as TemplateFault, Output, UndefinedBehavior};
use serde::Serialize;

use super::view::plain;
use crate::error::{Error, Result};

/// Renders one template with its view.
///
/// # Errors
/// A bug of ours: a template that names what its view does not have, or prints a value that may be absent.
pub(super) fn render(name: &'static str, source: &'static str, view: &impl Serialize) -> Result<String> {
    rendered(name, source, view, prose)
}

/// The same for a page: everything that the template prints is escaped as HTML.
///
/// # Errors
/// As [`render`].
pub(super) fn render_html(name: &'static str, source: &'static str, view: &impl Serialize) -> Result<String> {
    rendered(name, source, view, html)
}

fn rendered(
    name: &'static str,
    source: &'static str,
    view: &impl Serialize,
    escape: fn(&str) -> String,
) -> Result<String> {
    let fault = |error: minijinja::Error| {
        Error::bug(format!("cannot render the {name} report"))
            .because(error.to_string())
            .help("this is a fault of highwater's: please report it with the record's file")
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // A tag on a line of its own leaves nothing of that line.
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.map_err(fault)?);
    environment.set_auto_escape_callback(|_| AutoEscape::Custom("report".into()));
    environment.set_formatter(move |out, _, value| print(out, value, escape));
    environment.add_filter("code", |text: String| Value::from_safe_string(code(&text)));
    environment.add_template(name, source).map_err(fault)?;
    environment.get_template(name).and_then(|template| template.render(Serde(view))).map_err(fault)
}

/// How a template's `{{ value }}` is written: prose is escaped, code spans were made safe by their filter.
fn print(out: &mut Output, value: &Value, escape: fn(&str) -> String) -> Result<(), minijinja::Error> {
    let text = match value.as_str() {
        Some(text) if value.is_safe() => text.to_owned(),
        Some(text) => escape(text),
        None if value.is_number() => value.to_string(),
        None => return Err(minijinja::Error::new(TemplateFault::InvalidOperation, "a value is absent or no text")),
    };
    out.write_str(&text).map_err(minijinja::Error::from)
}

/// Text as HTML, in an element or in a quoted attribute.
fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in plain(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text as markdown prose: it cannot begin a block, leave a table's cell, emphasise, link or be HTML.
fn prose(text: &str) -> String {
    let text = plain(text);
    let mut escaped = String::with_capacity(text.len() + 8);
    let mut chars = text.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(c) = chars.next() {
        let inside_word =
            before.is_some_and(char::is_alphanumeric) && chars.peek().is_some_and(|c| c.is_alphanumeric());
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // Underscores inside a word do not emphasise, and names of rules and metrics are full of them.
            '_' if inside_word => escaped.push(c),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => escaped.extend(['\\', c]),
            '-' | '+' if before.is_none() && !chars.peek().is_some_and(char::is_ascii_digit) => {
                escaped.extend(['\\', c])
            }
            '.' | ')'
                if escaped.chars().all(|c| c.is_ascii_digit()) && !escaped.is_empty() && ends_word(chars.peek()) =>
            {
                escaped.extend(['\\', c]);
            }
            c => escaped.push(c),
        }
        before = Some(c);
    }
    escaped
}

fn ends_word(next: Option<&char>) -> bool {
    next.is_none_or(|next| next.is_whitespace())
}

/// Text as a code span, fenced by more backticks than it holds in a row. Not for a table's cells: there a bar would still
/// end the cell.
fn code(text: &str) -> String {
    let text = plain(text);
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest_run + 1);
    // A space beside the fence is taken off again by the reader of the markdown.
    let pad = if text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_prose_is_one_line_without_live_markup(text in "(?s).{0,60}") {
            let escaped = prose(&text).replace("\\\\", "");
            prop_assert!(!escaped.contains(['<', '>', '\n', '\r']), "{escaped:?}");
            for mark in ['|', '`', '*', '[', ']', '~', '#', '$'] {
                prop_assert_eq!(escaped.matches(mark).count(), escaped.matches(&format!("\\{mark}")).count(), "{}", escaped);
            }
        }

        #[test]
        fn any_code_span_ends_where_its_fence_does(text in "[`a |\\\\]{0,20}") {
            let span = code(&text);
            let fence = span.len() - span.trim_start_matches('`').len();
            let inner = span.get(fence..span.len() - fence).unwrap_or_default();
            prop_assert!(inner.split(|c| c != '`').all(|run| run.len() != fence), "{span}");
            prop_assert!(!inner.starts_with('`') && !inner.ends_with('`'), "{span}");
        }
    }

    #[test]
    fn prose_cannot_break_a_table_begin_a_block_or_be_html() {
        assert_eq!(prose("a|b"), "a\\|b");
        assert_eq!(prose("<img src=x onerror=alert(1)>"), "&lt;img src=x onerror=alert(1)&gt;");
        assert_eq!(prose("&lt;"), "&amp;lt;");
        assert_eq!(prose("# x"), "\\# x");
        assert_eq!(prose("- x"), "\\- x");
        assert_eq!(prose("12. x"), "12\\. x");
        assert_eq!(prose("[x](y)"), "\\[x\\](y)");
        assert_eq!(prose("a\nb"), "a\\\\x0ab");
        assert_eq!(prose("`x` *y* __z__"), "\\`x\\` \\*y\\* \\_\\_z\\_\\_");
    }

    #[test]
    fn text_in_a_page_is_no_markup() {
        let view = std::collections::BTreeMap::from([("text", "<img src='x' onerror=\"a\">&\u{202e}")]);
        let page = render_html("test", "<p title=\"{{ text }}\">", &view).unwrap();
        assert_eq!(page, "<p title=\"&lt;img src=&#39;x&#39; onerror=&quot;a&quot;&gt;&amp;\\xe2\\x80\\xae\">");
    }

    #[test]
    fn numbers_and_names_stay_readable() {
        for text in ["-2.22%", "+3", "0.7646", "test_count_decreased", "2026-02-02T10:00:00Z", "–", "1.5 s"] {
            assert_eq!(prose(text), text);
        }
    }

    #[test]
    fn a_code_span_holds_any_backticks() {
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``x"), "``` ``x ```");
        assert_eq!(code("a\nb"), "`a\\x0ab`");
    }

    #[test]
    fn a_template_that_names_what_is_not_there_or_prints_what_is_absent_is_a_bug() {
        let view = std::collections::BTreeMap::from([("there", None::<&str>)]);
        for source in ["{{ missing }}", "{{ there }}", "{% if missing %}x{% endif %}"] {
            let error = render("test", source, &view).unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Bug, "{source}");
        }
        assert_eq!(render("test", "{% if there %}x{% endif %}.", &view).unwrap(), ".");
    }
}
