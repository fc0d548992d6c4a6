//! `github`: a markdown report as a step summary and as the body of a comment on a pull request.

use super::{Form, Write};
use crate::model::ids::LoopId;

/// Markdown for GitHub.
pub(super) const FORM: Form = Form {
    name: "github",
    about: "a report as markdown for a step summary or a comment on a pull request, with a hidden marker to find it by",
    write: Write::Markdown(github),
};

/// Characters that a comment may have. A step summary may have 1 MiB, which is more.
const MAX_CHARS: usize = 65_536;

fn github(loop_id: &LoopId, markdown: &str) -> String {
    let marker = format!("<!-- highwater:{loop_id} -->\n");
    let room = MAX_CHARS - marker.chars().count();
    marker + &cut(markdown, room)
}

/// As many whole lines as fit, and a line that says how many are missing.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    // The longest notice, and the end of a code block that the cut may be in.
    let room = room.saturating_sub(200);
    let (mut kept, mut used, mut lines, mut in_code) = (String::new(), 0, text.lines(), false);
    let mut left_out = 0;
    for line in lines.by_ref() {
        used += line.chars().count() + 1;
        if used > room {
            left_out = 1;
            break;
        }
        in_code ^= line.starts_with("```");
        kept.push_str(line);
        kept.push('\n');
    }
    left_out += lines.count();
    if in_code {
        kept.push_str("```\n");
    }
    kept + &format!("\n*{left_out} more lines are left out: they do not fit here. `highwater report` prints all.*\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        github(&"auth".parse().unwrap(), text)
    }

    #[test]
    fn a_report_that_fits_is_whole_behind_its_marker() {
        assert_eq!(written("# Loop\n"), "<!-- highwater:auth -->\n# Loop\n");
        let marker = "<!-- highwater:auth -->\n".len();
        let full = format!("{}\n", "é".repeat(MAX_CHARS - marker - 1));
        assert_eq!(written(&full).chars().count(), MAX_CHARS);
        assert!(!written(&full).contains("left out"));
    }

    #[test]
    fn a_report_of_two_mebibytes_is_cut_between_lines_and_says_so() {
        let text = format!("# Loop\n\n```text\n{}```\n", "| é row |\n".repeat(200_000));
        assert!(text.len() > 2 << 20);
        let text = written(&text);
        assert!(text.chars().count() <= MAX_CHARS && text.len() < 1 << 20, "{}", text.len());
        assert!(text.ends_with("`highwater report` prints all.*\n"));
        assert!(text.contains("| é row |\n```\n\n*1"), "the code block is closed");
        let one_line = written(&"x".repeat(2 << 20));
        assert!(one_line.contains("*1 more lines") && one_line.len() < 300, "{one_line}");
    }
}
