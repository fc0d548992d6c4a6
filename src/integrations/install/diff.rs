//! A change to a file of settings, as `diff -u` prints it. Home of `similar`, beside `snapshot/lines.rs`: both name the one
//! algorithm that they use, since a choice at run time compiles all of them.

use std::ops::Range;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, DiffTag, group_diff_ops};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// What a change does to a file, as `diff -u` tells it; a file that is absent has no lines.
pub fn diff(name: &str, before: Option<&str>, after: Option<&str>) -> String {
    let named = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{name}"),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (lines(before), lines(after));
    let mut found = Compact::new(Replace::new(Capture::new()), &old, &new);
    let Ok(()) = myers::diff(&mut found, &old, 0..old.len(), &new, 0..new.len());
    let hunks = group_diff_ops(found.into_inner().into_inner().into_ops(), CONTEXT);
    let hunks: String = hunks.iter().map(|hunk| printed(hunk, &old, &new)).collect();
    format!("--- {}\n+++ {}\n{hunks}", named("a", before), named("b", after))
}

fn lines(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split_inclusive('\n').collect()
}

/// Changes that lie close together, under the line that says where.
fn printed(hunk: &[DiffOp], old: &[&str], new: &[&str]) -> String {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return String::new() };
    let before = place(first.old_range().start..last.old_range().end);
    let after = place(first.new_range().start..last.new_range().end);
    let mut text = format!("@@ -{before} +{after} @@\n");
    let mut put = |sign: char, lines: Option<&[&str]>| {
        for line in lines.unwrap_or_default() {
            text.push(sign);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    for op in hunk {
        if op.tag() == DiffTag::Equal {
            put(' ', old.get(op.old_range()));
        } else {
            put('-', old.get(op.old_range()));
            put('+', new.get(op.new_range()));
        }
    }
    text
}

/// Lines of one side: the first one and how many; an empty range is told by the line before it.
fn place(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        len => format!("{},{len}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_reads_as_diff_tells_it() {
        assert_eq!(diff("a.json", None, Some("x\n")), "--- /dev/null\n+++ b/a.json\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(
            diff("a.json", Some("x"), Some("y")),
            "--- a/a.json\n+++ b/a.json\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn changes_far_apart_have_their_own_place_and_three_lines_around_them() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
        let new = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nl\n";
        assert_eq!(
            diff("x", Some(old), Some(new)),
            "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -8,5 +8,4 @@\n h\n i\n j\n-k\n l\n"
        );
        assert_eq!(diff("x", Some("a\n"), None), "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
    }
}
