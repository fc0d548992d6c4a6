//! `sarif`: the findings format that most scanners and many linters can write, version 2.1.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use self::rules::{Invocation, MOST_RULES, RuleReference, Rules, RunHead, Tool};
use super::findings_json::{Loose, level_of};
use super::{LintTally, tool_and_sort};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Steps};
use crate::ingest::text::{first_lines, printable};
use crate::ingest::values::Few;
use crate::ingest::{Finding, Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

mod rules;

/// SARIF 2.1.
pub const FORMAT: Format = Format {
    name: "sarif",
    kind: ReportKind::Lint,
    about: "SARIF 2.1: findings of any analysis tool",
    written_by: "ruff, ESLint, Biome, clippy-sarif, CodeQL, Semgrep, ktlint, Trivy, gcc and many scanners",
    told_by: "a JSON object with runs and version",
    has_end: true,
    counting: "Results of all runs that are of kind fail. The level is the result's own, else an override of the \
               invocation, else the rule's default, else warning; none is not counted. Results whose suppressions are \
               all accepted are suppressed; those absent since the baseline are left out. Notifications are no \
               results: of errors among them a warning tells.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match (head.has_key("runs"), head.has_key("version"), head.has_key("$schema"), head.has_key("runs.tool")) {
        (true, true, _, _) => Sniff::Sure("keys runs and version".into()),
        (true, _, _, true) => Sniff::Sure("keys runs and tool".into()),
        (true, _, true, _) => Sniff::Sure("keys runs and $schema".into()),
        (true, ..) if head.has_key("runs.results.message") => Sniff::Sure("keys runs and results".into()),
        (_, true, true, _) if head.text().contains("sarif-2") => Sniff::Maybe("a SARIF schema and version".into()),
        _ => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut early = Early::default();
    match read_log(input, Some(&mut early)) {
        Ok(log) if !early.is_void => finish(log, |_| Ok(early.tally)),
        // A result's level may be its rule's, and rules may come after the results. What is wrong is told in the order in
        // which it matters: with the log itself, then with its version, then with results.
        _ => {
            drop(early);
            in_two_passes(input)
        }
    }
}

fn in_two_passes(input: &Input<'_>) -> Result<Parsed> {
    finish(read_log(input, None)?, |runs| count_all(input, runs))
}

fn finish(log: Log, count: impl FnOnce(&[Rules]) -> Result<LintTally>) -> Result<Parsed> {
    let mut warnings = Vec::new();
    check_version(&log, &mut warnings)?;
    let runs: Vec<Rules> = log.runs.unwrap_or_default().into_iter().map(Rules::new).collect();
    let mut tally = count(&runs)?;
    for run in &runs {
        let (tool, sort) = tool_and_sort(&run.tool, None);
        if tool == "clippy" {
            // It runs the compiler, which has found nothing then: a tool that reported nothing is not one that is missing.
            tally.tool("rustc", Sort::Compiler);
        }
        tally.tool(&tool, sort);
        if run.noted.errors > 0 {
            let first = run.noted.first.as_deref().unwrap_or("without a word");
            warnings
                .push(format!("{tool} notes that it failed itself, {} in all, the first: {first}", run.noted.errors));
        }
    }
    let mut parsed = tally.finish(&FORMAT)?;
    parsed.warnings.extend(warnings);
    parsed.build = build_status(&parsed);
    Ok(parsed)
}

fn check_version(log: &Log, warnings: &mut Vec<String>) -> Result<()> {
    let foreign = |why: &str| Err(Error::report(Reject::NotThisFormat, format!("not a SARIF log: it has no {why}")));
    let Some(version) = &log.version else { return foreign("version") };
    let mut numbers = version.split(['.', '-']).map(|part| part.parse::<u64>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(2), Some(1)) => {}
        (Some(2), Some(2..)) => warnings.push(format!("SARIF version {} is newer than 2.1", printable(version, 20))),
        _ => {
            let why = format!("SARIF version {} is not read", printable(version, 20));
            let error = Error::report(Reject::UnsupportedVersion, why).line(log.version_line);
            return Err(error.help("let the tool write SARIF 2.1.0"));
        }
    }
    if log.runs.is_none() { foreign("runs") } else { Ok(()) }
}

/// A compiler's log tells whether the project built.
fn build_status(parsed: &Parsed) -> Option<BuildStatus> {
    let crate::ingest::Details::Lint(details) = &parsed.details else { return None };
    let errors: Vec<u64> =
        details.by_tool.values().filter(|counts| counts.sort == Sort::Compiler).map(|counts| counts.errors).collect();
    match errors.iter().any(|count| *count > 0) {
        true => Some(BuildStatus::Failed),
        false => (!errors.is_empty()).then_some(BuildStatus::Success),
    }
}

// First pass: what levels depend on, and results where they come after it.

#[derive(Default)]
struct Log {
    version: Option<String>,
    version_line: u64,
    /// `null` where the tool failed before its first run: that is no run, while a log without the key is no log.
    runs: Option<Vec<RunHead>>,
    /// How many runs, rules and overrides that is.
    held: usize,
}

/// Results that are counted while the rest is read, which most writers' order of keys allows.
#[derive(Default)]
struct Early {
    tally: LintTally,
    /// Something that levels depend on came after results.
    is_void: bool,
}

fn read_log(input: &Input<'_>, mut early: Option<&mut Early>) -> Result<Log> {
    let mut log = Log::default();
    let mut version = None;
    json::steps(input, |steps| {
        steps.object(|steps, key| match key {
            "version" => {
                log.version_line = steps.line();
                set(&mut version, "version", steps)
            }
            "runs" if log.runs.is_some() => Err(steps.twice("runs")),
            "runs" => {
                log.runs = Some(Vec::new());
                steps.list(|steps| read_run(steps, &mut log, early.as_deref_mut()))
            }
            _ => steps.skip(),
        })
    })?;
    log.version = version.flatten();
    Ok(log)
}

/// Reads the value of a key that stands once.
fn set<T: DeserializeOwned>(slot: &mut Option<T>, key: &'static str, steps: &mut Steps<'_>) -> Result<()> {
    if slot.is_some() {
        return Err(steps.twice(key));
    }
    *slot = Some(steps.value()?);
    Ok(())
}

fn read_run(steps: &mut Steps<'_>, log: &mut Log, mut early: Option<&mut Early>) -> Result<()> {
    let (mut tool, mut invocations): (Option<Option<Tool>>, Option<Option<Few<Invocation, MOST_RULES>>>) = (None, None);
    let mut counted = false;
    steps.object(|steps, key| match (key, &mut early) {
        ("tool" | "invocations", Some(early)) if counted => {
            early.is_void = true;
            steps.skip()
        }
        ("tool", _) => set(&mut tool, "tool", steps),
        ("invocations", _) => set(&mut invocations, "invocations", steps),
        ("results", Some(_)) if counted => Err(steps.twice("results")),
        ("results", Some(early)) => {
            counted = true;
            let head = RunHead { tool: tool.clone().flatten(), invocations: invocations.clone().flatten() };
            count_results(steps, &Rules::new(head), &mut early.tally)
        }
        _ => steps.skip(),
    })?;
    let head = RunHead { tool: tool.flatten(), invocations: invocations.flatten() };
    head.fits(&mut log.held)?;
    log.runs.get_or_insert_default().push(head);
    Ok(())
}

// Second pass: results where they came before it.

fn count_all(input: &Input<'_>, runs: &[Rules]) -> Result<LintTally> {
    let mut tally = LintTally::default();
    let mut runs = runs.iter();
    json::steps(input, |steps| {
        steps.object(|steps, key| match key {
            "runs" => steps.list(|steps| {
                // Both passes see the same bytes, so that there is a set of rules for every run.
                let Some(rules) = runs.next() else { return steps.skip() };
                let mut counted = false;
                steps.object(|steps, key| match key {
                    "results" if counted => Err(steps.twice("results")),
                    "results" => {
                        counted = true;
                        count_results(steps, rules, &mut tally)
                    }
                    _ => steps.skip(),
                })
            }),
            _ => steps.skip(),
        })
    })?;
    Ok(tally)
}

// Results, one at a time.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: Option<String>,
    rule_index: Option<i64>,
    rule: Option<RuleReference>,
    level: Option<String>,
    kind: Option<String>,
    message: Option<Message>,
    locations: Option<Few<Location, MOST_RULES>>,
    suppressions: Option<Few<Suppression, MOST_RULES>>,
    baseline_state: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    text: Loose,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Option<ArtifactLocation>,
    region: Option<Region>,
}

#[derive(Deserialize)]
struct ArtifactLocation {
    #[serde(default)]
    uri: Loose,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    #[serde(default)]
    start_line: Loose,
}

#[derive(Deserialize)]
struct Suppression {
    status: Option<String>,
}

fn count(result: SarifResult, rules: &Rules, tally: &mut LintTally) -> Result<()> {
    let is_fail = result.kind.as_deref().is_none_or(|kind| kind == "fail");
    if !is_fail || result.baseline_state.as_deref() == Some("absent") {
        return Ok(());
    }
    let mut reference = result.rule.unwrap_or_default();
    reference.index = reference.index.or(result.rule_index);
    reference.id = result.rule_id.or(reference.id);
    let word = result.level.as_deref().unwrap_or_else(|| rules.level(&reference));
    if word.eq_ignore_ascii_case("none") {
        return Ok(());
    }
    // Some writers take words of their own, such as "Error" and "info".
    let level = level_of(word).ok_or_else(|| {
        let why = format!("a result has the level {:?}", printable(word, 40));
        Error::report(Reject::Malformed, why)
    })?;
    let suppressions = result.suppressions.unwrap_or_default().0;
    let accepted = |one: &Suppression| one.status.as_deref().is_none_or(|status| status == "accepted");
    if !suppressions.is_empty() && suppressions.iter().all(accepted) {
        tally.suppressed = tally.suppressed.saturating_add(1);
        return Ok(());
    }
    let rule = reference.id.as_deref().or_else(|| rules.name(&reference)).map(|rule| printable(rule, 200));
    let (tool, sort) = tool_and_sort(&rules.tool, rule.as_deref());
    if !tally.has_room() {
        return tally.count(&tool, sort, level, 1);
    }
    let place = result.locations.unwrap_or_default().into_iter().find_map(|location| location.physical_location);
    let (file, region) = place.map_or((None, None), |place| (place.artifact_location, place.region));
    let line = region.and_then(|region| region.start_line.number());
    let message = result.message.and_then(|message| message.text.text()).and_then(|text| first_lines(&text));
    let finding = Finding {
        tool,
        message: message.or_else(|| rule.clone()).unwrap_or_default(),
        rule,
        level,
        path: file.and_then(|file| file.uri.text()).map(|uri| printable(&uri, 1000)),
        line: line.filter(|line| *line > 0),
    };
    tally.finding(finding, sort)
}

/// The results of one run, one by one. `null`: the run failed before it had any.
fn count_results(steps: &mut Steps<'_>, rules: &Rules, tally: &mut LintTally) -> Result<()> {
    steps.list(|steps| count(steps.value()?, rules, tally))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(tool: &str, rest: &str, results: &str) -> Parsed {
        let text = format!("{{\"version\":\"2.1.0\",\"runs\":[{{\"results\":[{results}],\"tool\":{tool}{rest}}}]}}");
        parse(&Input::bytes("x", text.as_bytes())).unwrap()
    }

    fn levels(parsed: &Parsed) -> [u64; 3] {
        let figures = &parsed.figures;
        [figures.errors, figures.warnings, figures.notes].map(Option::unwrap)
    }

    const TOOL: &str = r#"{"driver":{"name":"T","rules":[{"id":"R1","defaultConfiguration":{"level":"error"}},{"id":"R2"},
        {"id":"R3","defaultConfiguration":{"level":"none"}}]},
        "extensions":[{"name":"E","guid":"g","rules":[{"id":"X","defaultConfiguration":{"level":"note"}}]}]}"#;

    #[test]
    fn a_level_is_the_result_s_the_rule_s_or_warning() {
        for (result, expected) in [
            (r#"{"ruleId":"R1","level":"note"}"#, [0, 0, 1]),
            (r#"{"ruleId":"R1"}"#, [1, 0, 0]),
            (r#"{"ruleIndex":0}"#, [1, 0, 0]),
            (r#"{"rule":{"index":0}}"#, [1, 0, 0]),
            (r#"{"rule":{"id":"R1"}}"#, [1, 0, 0]),
            (r#"{"ruleId":"R1","ruleIndex":-1}"#, [1, 0, 0]),
            (r#"{"ruleId":"R1/sub"}"#, [1, 0, 0]),
            (r#"{"ruleId":"R2"}"#, [0, 1, 0]),
            (r#"{"ruleId":"R3"}"#, [0, 0, 0]),
            (r#"{"ruleId":"?"}"#, [0, 1, 0]),
            ("{}", [0, 1, 0]),
            (r#"{"ruleId":"X"}"#, [0, 0, 1]),
            (r#"{"rule":{"index":0,"toolComponent":{"index":0}}}"#, [0, 0, 1]),
            (r#"{"rule":{"index":0,"toolComponent":{"guid":"g"}}}"#, [0, 0, 1]),
            (r#"{"rule":{"id":"X","toolComponent":{"name":"E"}}}"#, [0, 0, 1]),
            (r#"{"ruleId":"R1","ruleIndex":99}"#, [1, 0, 0]),
            (r#"{"level":"none"}"#, [0, 0, 0]),
            (r#"{"level":"Error"},{"level":"info"},{"level":"None"}"#, [1, 0, 1]),
        ] {
            assert_eq!(levels(&read(TOOL, "", result)), expected, "{result}");
        }
    }

    #[test]
    fn p19_more_rules_than_can_be_held_are_refused() {
        let log = |rules: usize| {
            let rules = vec!["{}"; rules].join(",");
            format!("{{\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{{\"rules\":[{rules}]}}}}}}]}}")
        };
        assert!(parse(&Input::bytes("x", log(MOST_RULES).as_bytes())).is_ok());
        let runs = |runs: usize| format!("{{\"version\":\"2.1.0\",\"runs\":[{}]}}", vec!["{}"; runs].join(","));
        assert!(parse(&Input::bytes("x", runs(110_000).as_bytes())).is_ok());
        for log in [log(MOST_RULES + 1), runs(110_001)] {
            let error = parse(&Input::bytes("x", log.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed));
        }
    }

    #[test]
    fn an_invocation_s_override_comes_before_the_default() {
        let rest = r#","invocations":[{"ruleConfigurationOverrides":[{"descriptor":{"index":0},"configuration":{"level":"note"}},
            {"descriptor":{"id":"unlisted"},"configuration":{"level":"error"}},{"descriptor":{"id":"R2"}}]}]"#;
        let results = r#"{"ruleId":"R1"},{"ruleId":"unlisted"},{"ruleId":"R2"}"#;
        assert_eq!(levels(&read(TOOL, rest, results)), [1, 1, 1]);
    }

    /// ESLint notes so of a file that it cannot parse, and has no result for it.
    #[test]
    fn what_a_tool_notes_of_its_own_failure_is_told() {
        let rest = r#","invocations":[{"toolConfigurationNotifications":[{"level":"note"},{"level":"error","message":{"text":"Parsing error"}}],
            "toolExecutionNotifications":null},{"toolExecutionNotifications":[{"level":"error"},7]}]"#;
        let parsed = read(TOOL, rest, "");
        assert_eq!(parsed.figures.total, Some(0));
        assert!(
            parsed.warnings[0].ends_with(" failed itself, 2 in all, the first: Parsing error"),
            "{:?}",
            parsed.warnings
        );
        assert!(read(TOOL, "", "").warnings.is_empty());
    }

    #[test]
    fn what_is_no_failure_is_left_out_and_what_is_silenced_is_told_apart() {
        let results = r#"{"kind":"pass"},{"kind":"fail"},{"baselineState":"absent"},{"baselineState":"new"},
            {"suppressions":[{"kind":"inSource"}]},{"suppressions":[{"status":"accepted"},{"status":"rejected"}]},{"suppressions":[]}"#;
        let parsed = read(TOOL, "", results);
        assert_eq!((levels(&parsed), parsed.figures.suppressed), ([0, 4, 0], Some(1)));
        assert_eq!(read(TOOL, "", "{}").figures.suppressed, None);
    }

    #[test]
    fn findings_have_tool_rule_and_place() {
        let results = r#"{"ruleId":"a","message":{"text":"one\ntwo"},"locations":[{},{"physicalLocation":
            {"artifactLocation":{"uri":"../x.py"},"region":{"startLine":7}}}]},{"ruleIndex":1,"level":"error"}"#;
        let Details::Lint(details) = read(TOOL, "", results).details else { panic!("lint") };
        let [first, second] = &details.findings[..] else { panic!("two") };
        assert_eq!((first.tool.as_str(), first.rule.as_deref(), first.line), ("t", Some("a"), Some(7)));
        assert_eq!((first.path.as_deref(), first.message.as_str()), (Some("../x.py"), "one | two"));
        assert_eq!((second.rule.as_deref(), second.message.as_str(), second.line), (Some("R2"), "R2", None));
    }

    #[test]
    fn a_compiler_s_log_tells_whether_it_built() {
        let tool = |name: &str| format!("{{\"driver\":{{\"name\":\"{name}\"}}}}");
        let build = |name: &str, results: &str| read(&tool(name), "", results).build;
        assert_eq!(build("ruff", r#"{"level":"error"}"#), None);
        assert_eq!(build("rustc", ""), Some(BuildStatus::Success));
        assert_eq!(build("GNU C17", r#"{"level":"error"}"#), Some(BuildStatus::Failed));
        assert_eq!(build("clippy", r#"{"ruleId":"clippy::x","level":"error"}"#), Some(BuildStatus::Success));
        let Details::Lint(details) = read(&tool("clippy"), "", "").details else { panic!("lint") };
        assert_eq!(details.by_tool.keys().collect::<Vec<_>>(), ["clippy", "rustc"]);
        assert_eq!(build("clippy", r#"{"ruleId":"E0308","level":"error"}"#), Some(BuildStatus::Failed));
    }

    #[test]
    fn no_runs_are_no_findings_and_without_the_key_it_is_no_log() {
        for none in ["null", "[]"] {
            let text = format!("{{\"version\":\"2.1.0\",\"runs\":{none}}}");
            assert_eq!(levels(&parse(&Input::bytes("x", text.as_bytes())).unwrap()), [0, 0, 0]);
        }
        let error = parse(&Input::bytes("x", b"{\"version\":\"2.1.0\"}")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn one_pass_is_as_good_as_two() {
        let tool = "\"tool\":{\"driver\":{\"name\":\"t\",\"rules\":[{\"id\":\"R\",\"defaultConfiguration\":{\"level\":\"error\"}}]}}";
        let over = "\"invocations\":[{\"ruleConfigurationOverrides\":[{\"descriptor\":{\"id\":\"R\"},\"configuration\":{\"level\":\"note\"}}]}]";
        let results = "\"results\":[{\"ruleId\":\"R\"}]";
        for (keys, levels_told, needs_two) in [
            ([tool, over, results], [0, 0, 1], false),
            ([over, tool, results], [0, 0, 1], false),
            ([tool, results, over], [0, 0, 1], true),
            ([over, results, tool], [0, 0, 1], true),
            ([results, tool, "\"x\":[]"], [1, 0, 0], true),
            ([tool, results, "\"x\":[]"], [1, 0, 0], false),
        ] {
            let text = format!("{{\"version\":\"2.1.0\",\"runs\":[{{{}}}]}}", keys.join(","));
            let input = Input::bytes("x", text.as_bytes());
            let mut early = Early::default();
            read_log(&input, Some(&mut early)).unwrap();
            assert_eq!(early.is_void, needs_two, "{text}");
            let [one, two] = [parse(&input).unwrap(), in_two_passes(&input).unwrap()];
            assert_eq!(levels(&one), levels_told, "{text}");
            assert_eq!((one.figures, one.details), (two.figures, two.details), "{text}");
        }
        // What is wrong with the log itself is told before what is wrong with its results.
        let old = "{\"runs\":[{\"results\":[{\"message\":\"x\"}]}],\n\"version\":\"1.0.0\"}";
        let error = parse(&Input::bytes("x", old.as_bytes())).unwrap_err();
        assert_eq!((error.reject(), error.place.line), (Some(Reject::UnsupportedVersion), Some(2)));
        let twice = format!("{{\"version\":\"2.1.0\",\"runs\":[{{{tool},{results},{results}}}]}}");
        assert!(parse(&Input::bytes("x", twice.as_bytes())).is_err());
    }

    #[test]
    fn runs_without_tool_or_results_are_no_fault() {
        let text = "{\"runs\":[{},{\"results\":null},{\"tool\":null,\"results\":[{}]}],\"version\":\"2.1.0\"}";
        assert_eq!(levels(&parse(&Input::bytes("x", text.as_bytes())).unwrap()), [0, 1, 0]);
        for bad in ["{\"level\":\"odd\"}", "{\"level\":1}", "1"] {
            let text = format!("{{\"version\":\"2.1.0\",\"runs\":[{{\"results\":[{bad}]}}]}}");
            let error = parse(&Input::bytes("x", text.as_bytes())).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(1)), "{bad}");
        }
    }
}
