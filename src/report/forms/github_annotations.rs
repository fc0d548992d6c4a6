//! `github-annotations`: an iteration's verdict and alerts as workflow commands, which GitHub shows beside the lines.

use super::{Form, OneIteration, Write, at_place, heading, level};
use crate::error::Result;
use crate::model::verdict::Alert;
use crate::report::view::{action_phrase, class_name};
use crate::report::words::{remark, sorted};

/// Workflow commands.
pub(super) const FORM: Form = Form {
    name: "github-annotations",
    about: "one iteration's verdict and alerts as GitHub's workflow commands; a step that prints them is annotated",
    write: Write::Iteration(annotations),
};

/// Annotations of one level that a step shows.
const SHOWN: usize = 10;

/// Characters of one message.
const MESSAGE_CHARS: usize = 1_000;

struct Annotation {
    level: &'static str,
    /// Path and line.
    place: Option<(String, Option<u64>)>,
    title: String,
    message: String,
}

fn annotations(one: &OneIteration<'_>) -> Result<String> {
    let record = one.record;
    let class = class_name(record.classification, &record.recommendation);
    let mut all = vec![Annotation {
        level: "notice",
        place: None,
        title: format!("highwater: {}", heading(&record.loop_id, record.iteration)),
        message: format!("{class}; {}: {}", action_phrase(&record.recommendation), record.recommendation.reason),
    }];
    // The gravest first, so that what is cut is what matters least.
    for alert in sorted(&record.alerts) {
        let places =
            one.places.iter().filter(|place| record.alerts.get(place.alert).is_some_and(|at| std::ptr::eq(at, alert)));
        let before = all.len();
        all.extend(places.map(|place| {
            let at = Some((place.path.clone(), place.line));
            Annotation { place: at, message: at_place(alert, place), ..of(alert) }
        }));
        if all.len() == before {
            all.push(of(alert));
        }
    }
    let mut text = String::new();
    for level in ["error", "warning", "notice"] {
        all.iter().filter(|one| one.level == level).take(SHOWN).for_each(|one| text.push_str(&command(one)));
    }
    Ok(text)
}

fn of(alert: &Alert) -> Annotation {
    // What moves nothing is no error of anybody's.
    let level = match level(alert.severity) {
        level @ ("error" | "warning") if alert.counts() => level,
        _ => "notice",
    };
    let remark = remark(alert).map(|remark| format!(", {remark}")).unwrap_or_default();
    Annotation {
        level,
        place: None,
        title: format!("{} ({}{remark})", alert.rule, alert.severity.name()),
        message: alert.message.clone(),
    }
}

fn command(one: &Annotation) -> String {
    let place = one.place.as_ref().map_or_else(String::new, |(path, line)| {
        let line = line.map_or_else(String::new, |line| format!(",line={line}"));
        format!("file={}{line},", property(path))
    });
    let message: String = one.message.chars().take(MESSAGE_CHARS).collect();
    format!("::{} {place}title={}::{}\n", one.level, property(&one.title), data(&message))
}

/// What would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What would end a property, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sample, place};
    use super::*;
    use crate::model::verdict::Severity;

    fn lines(sample: &Sample) -> Vec<String> {
        annotations(&sample.one()).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn alerts_are_commands_at_their_places_by_level() {
        let mut sample = Sample::new();
        sample.alert("low_one", Severity::Low, None);
        sample.alert("medium_one", Severity::Medium, None);
        sample.alert("critical_one", Severity::Critical, Some("src/a.py"));
        sample.places.push(place(2, "b.py", None, "test_b"));
        sample.alert("observed", Severity::Critical, None);
        sample.record.alerts[3].observe_only = true;
        sample.record.recommendation.reason = "all is well".to_owned();
        assert_eq!(
            lines(&sample),
            [
                "::error file=src/a.py,line=7,title=critical_one (critical)::message of critical_one: what",
                "::error file=b.py,title=critical_one (critical)::message of critical_one: test_b",
                "::warning title=medium_one (medium)::message of medium_one",
                "::notice title=highwater%3A auth%2C iteration 3::not judged; continue: all is well",
                "::notice title=low_one (low)::message of low_one",
                "::notice title=observed (critical%2C told only%3A its rule is set to observe)::message of observed",
            ]
        );
    }

    #[test]
    fn no_text_can_end_a_command_or_begin_another() {
        let mut sample = Sample::new();
        sample.alert("r", Severity::High, Some("a,line=1::b.py"));
        sample.record.alerts[0].message = "100%\r\n::error::fake".to_owned();
        assert_eq!(
            lines(&sample)[0],
            "::error file=a%2Cline=1%3A%3Ab.py,line=7,title=r (high)::100%25%0D%0A::error::fake: what"
        );
        assert_eq!(lines(&sample).len(), 2);
    }

    #[test]
    fn ten_of_a_level_are_written_and_the_eleventh_is_not() {
        let mut sample = Sample::new();
        for n in 0..11 {
            sample.alert(&format!("high_{n}"), Severity::High, None);
        }
        sample.alert("critical", Severity::Critical, None);
        sample.alert("medium", Severity::Medium, None);
        let lines = lines(&sample);
        assert_eq!(lines.iter().filter(|line| line.starts_with("::error ")).count(), SHOWN);
        assert!(lines[0].contains("critical"), "{lines:?}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("::warning ")).count(), 1);
    }
}
