//! `sarif`: the findings format that most scanners and many linters can write, version 2.1.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

use super::{LintTally, tool_and_sort};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::values::Few;
use crate::ingest::{Finding, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

/// SARIF 2.1.
pub const FORMAT: Format = Format {
    name: "sarif",
    kind: ReportKind::Lint,
    about: "SARIF 2.1: findings of any analysis tool",
    written_by: "ruff, ESLint, Biome, clippy-sarif, CodeQL, Semgrep, ktlint, Trivy, gcc and many scanners",
    told_by: "a JSON object with runs and version",
    has_end: true,
    counting: "Results of all runs that are of kind fail. The level is the result's own, else an override of the invocation, \
               else the rule's default, else warning; none is not counted. Results whose suppressions are all accepted are \
               suppressed; those absent since the baseline are left out. Notifications are no results.",
    sniff,
    parse,
};

/// Most rules of one component, and most overrides of one invocation. All of them are held: any result may name any.
const MOST_RULES: usize = 100_000;

fn sniff(head: &Head<'_>) -> Sniff {
    match (head.has_key("runs"), head.has_key("version"), head.has_key("$schema"), head.has_key("runs.tool")) {
        (true, true, _, _) => Sniff::Sure("keys runs and version".into()),
        (true, _, _, true) => Sniff::Sure("keys runs and tool".into()),
        (true, _, true, _) => Sniff::Sure("keys runs and $schema".into()),
        (_, true, true, _) if head.text().contains("sarif-2") => Sniff::Maybe("a SARIF schema and version".into()),
        _ => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    // Twice: a result's level may be its rule's, and rules may come after the results.
    let log: Log = json::object(input, PhantomData)?;
    let mut warnings = Vec::new();
    check_version(&log, &mut warnings)?;
    let runs: Vec<Rules> = log.runs.unwrap_or_default().into_iter().map(Rules::new).collect();
    let tally = RefCell::new(LintTally::default());
    for run in &runs {
        let (tool, sort) = tool_and_sort(&run.tool, None);
        if tool == "clippy" {
            // It runs the compiler, which has found nothing then: a tool that reported nothing is not one that is missing.
            tally.borrow_mut().tool("rustc", Sort::Compiler);
        }
        tally.borrow_mut().tool(&tool, sort);
    }
    let mut rules = runs.iter();
    let results = json::Each(|| json::Key { name: "results", seed: Results { rules: rules.next(), tally: &tally } });
    json::object(input, json::Key { name: "runs", seed: results })?;
    let mut parsed = tally.into_inner().finish(&FORMAT)?;
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
            return Err(Error::report(Reject::UnsupportedVersion, why).help("let the tool write SARIF 2.1.0"));
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

// First pass: what levels depend on.

#[derive(Deserialize)]
struct Log {
    version: Option<String>,
    /// `null` where the tool failed before its first run: that is no run, while a log without the key is no log.
    #[serde(default, deserialize_with = "present")]
    runs: Option<Vec<RunHead>>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<RunHead>>, D::Error> {
    Option::deserialize(deserializer).map(|runs| Some(runs.unwrap_or_default()))
}

#[derive(Deserialize)]
struct RunHead {
    tool: Option<Tool>,
    invocations: Option<Vec<Invocation>>,
}

#[derive(Deserialize)]
struct Tool {
    driver: Option<Component>,
    extensions: Option<Vec<Component>>,
}

#[derive(Deserialize, Default)]
struct Component {
    name: Option<String>,
    guid: Option<String>,
    rules: Option<Few<Rule, MOST_RULES>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: Option<String>,
    default_configuration: Option<Configuration>,
}

#[derive(Deserialize)]
struct Configuration {
    level: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    rule_configuration_overrides: Option<Few<Override, MOST_RULES>>,
}

#[derive(Deserialize)]
struct Override {
    descriptor: Option<RuleReference>,
    configuration: Option<Configuration>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct RuleReference {
    id: Option<String>,
    index: Option<i64>,
    tool_component: Option<ComponentReference>,
}

#[derive(Deserialize)]
struct ComponentReference {
    name: Option<String>,
    index: Option<i64>,
    guid: Option<String>,
}

/// The rules of one run, found by what results say of them.
struct Rules {
    tool: String,
    /// The driver first, then the extensions.
    components: Vec<Component>,
    /// Component → rule id → its place.
    by_id: Vec<BTreeMap<String, usize>>,
    /// (component, place of the rule) → level that an invocation set.
    overrides: BTreeMap<(usize, usize), String>,
    /// Likewise for rules that no component lists.
    overrides_by_id: BTreeMap<String, String>,
}

impl Rules {
    fn new(run: RunHead) -> Rules {
        let tool = run.tool.unwrap_or(Tool { driver: None, extensions: None });
        let mut components = vec![tool.driver.unwrap_or_default()];
        components.extend(tool.extensions.unwrap_or_default());
        let name = components.first().and_then(|driver| driver.name.clone()).unwrap_or_else(|| "unknown".to_owned());
        let ids = |component: &Component| {
            let mut ids = BTreeMap::new();
            for (place, rule) in component.rules.iter().flat_map(|rules| &rules.0).enumerate() {
                if let Some(id) = &rule.id {
                    ids.entry(id.clone()).or_insert(place);
                }
            }
            ids
        };
        let by_id = components.iter().map(ids).collect();
        let (overrides, overrides_by_id) = (BTreeMap::new(), BTreeMap::new());
        let mut rules = Rules { tool: printable(&name, 100), components, by_id, overrides, overrides_by_id };
        let overrides = run.invocations.into_iter().flatten().flat_map(|run| run.rule_configuration_overrides);
        for over in overrides.flat_map(|overrides| overrides.0) {
            let Some(level) = over.configuration.and_then(|configuration| configuration.level) else { continue };
            let descriptor = over.descriptor.unwrap_or_default();
            match (rules.find(&descriptor), descriptor.id) {
                (Some(place), _) => drop(rules.overrides.insert(place, level)),
                (None, Some(id)) => drop(rules.overrides_by_id.insert(id, level)),
                (None, None) => {}
            }
        }
        rules
    }

    /// Component and place of a rule: by index, else by id, else by the id before its slash.
    fn find(&self, reference: &RuleReference) -> Option<(usize, usize)> {
        let component = reference.tool_component.as_ref().map_or(Some(0), |component| self.component(component));
        let place = |index: Option<i64>| usize::try_from(index?).ok();
        if let (Some(component), Some(index)) = (component, place(reference.index)) {
            let rules = self.components.get(component).and_then(|component| component.rules.as_ref());
            if rules.is_some_and(|rules| index < rules.0.len()) {
                return Some((component, index));
            }
        }
        let id = reference.id.as_deref()?;
        let by_id = |id: &str| {
            let order = component.into_iter().chain(0..self.components.len());
            order.filter_map(|at| Some((at, *self.by_id.get(at)?.get(id)?))).next()
        };
        by_id(id).or_else(|| by_id(id.rsplit_once('/')?.0))
    }

    fn component(&self, reference: &ComponentReference) -> Option<usize> {
        if let Some(index) = reference.index.and_then(|index| usize::try_from(index).ok()) {
            // Extensions come after the driver.
            return Some(index + 1).filter(|at| *at < self.components.len());
        }
        let same = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
        self.components.iter().position(|one| same(&one.guid, &reference.guid) || same(&one.name, &reference.name))
    }

    /// The level of a result that has none of its own.
    fn level(&self, reference: &RuleReference) -> &str {
        let by_id = reference.id.as_ref().and_then(|id| self.overrides_by_id.get(id));
        let place = self.find(reference);
        let over = place.and_then(|place| self.overrides.get(&place)).or(by_id);
        let default = || {
            let (component, at) = place?;
            let rule = self.components.get(component)?.rules.as_ref()?.0.get(at)?;
            rule.default_configuration.as_ref()?.level.as_ref()
        };
        over.or_else(default).map_or("warning", String::as_str)
    }

    /// A rule's name, where a result gives its place alone.
    fn name(&self, reference: &RuleReference) -> Option<&str> {
        let (component, at) = self.find(reference)?;
        self.components.get(component)?.rules.as_ref()?.0.get(at)?.id.as_deref()
    }
}

// Second pass: results, one at a time.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: Option<String>,
    rule_index: Option<i64>,
    rule: Option<RuleReference>,
    level: Option<String>,
    kind: Option<String>,
    message: Option<Message>,
    locations: Option<Vec<Location>>,
    suppressions: Option<Vec<Suppression>>,
    baseline_state: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    text: Option<String>,
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
    uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: Option<i64>,
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
    let level = match result.level.as_deref().unwrap_or_else(|| rules.level(&reference)) {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "note" => Level::Note,
        "none" => return Ok(()),
        other => {
            let why = format!("a result has the level {:?}", printable(other, 40));
            return Err(Error::report(Reject::Malformed, why));
        }
    };
    let suppressions = result.suppressions.unwrap_or_default();
    let accepted = |one: &Suppression| one.status.as_deref().is_none_or(|status| status == "accepted");
    if !suppressions.is_empty() && suppressions.iter().all(accepted) {
        tally.suppressed = tally.suppressed.saturating_add(1);
        return Ok(());
    }
    let rule = reference.id.as_deref().or_else(|| rules.name(&reference)).map(|rule| printable(rule, 200));
    let (tool, sort) = tool_and_sort(&rules.tool, rule.as_deref());
    let place = result.locations.unwrap_or_default().into_iter().find_map(|location| location.physical_location);
    let (file, region) = place.map_or((None, None), |place| (place.artifact_location, place.region));
    let line = region.and_then(|region| region.start_line).and_then(|line| u64::try_from(line).ok());
    let message = result.message.and_then(|message| message.text).and_then(|text| first_lines(&text));
    let finding = Finding {
        tool,
        message: message.or_else(|| rule.clone()).unwrap_or_default(),
        rule,
        level,
        path: file.and_then(|file| file.uri).map(|uri| printable(&uri, 1000)),
        line: line.filter(|line| *line > 0),
    };
    tally.finding(finding, sort)
}

/// The results of one run, counted one by one.
struct Results<'a> {
    rules: Option<&'a Rules>,
    tally: &'a RefCell<LintTally>,
}

impl<'de> DeserializeSeed<'de> for Results<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Results<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of results")
    }

    /// `null`: the run failed before it had any.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(result) = list.next_element::<SarifResult>()? {
            // Both passes see the same bytes, so that there is a set of rules for every run.
            if let Some(rules) = self.rules {
                count(result, rules, &mut self.tally.borrow_mut()).map_err(|error| A::Error::custom(error.message))?;
            }
        }
        Ok(())
    }
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
        let error = parse(&Input::bytes("x", log(MOST_RULES + 1).as_bytes())).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::Malformed));
    }

    #[test]
    fn an_invocation_s_override_comes_before_the_default() {
        let rest = r#","invocations":[{"ruleConfigurationOverrides":[{"descriptor":{"index":0},"configuration":{"level":"note"}},
            {"descriptor":{"id":"unlisted"},"configuration":{"level":"error"}},{"descriptor":{"id":"R2"}}]}]"#;
        let results = r#"{"ruleId":"R1"},{"ruleId":"unlisted"},{"ruleId":"R2"}"#;
        assert_eq!(levels(&read(TOOL, rest, results)), [1, 1, 1]);
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
    fn runs_without_tool_or_results_are_no_fault() {
        let text = "{\"runs\":[{},{\"results\":null},{\"tool\":null,\"results\":[{}]}],\"version\":\"2.1.0\"}";
        assert_eq!(levels(&parse(&Input::bytes("x", text.as_bytes())).unwrap()), [0, 1, 0]);
        for bad in ["{\"level\":\"fatal\"}", "{\"level\":1}", "1"] {
            let text = format!("{{\"version\":\"2.1.0\",\"runs\":[{{\"results\":[{bad}]}}]}}");
            let error = parse(&Input::bytes("x", text.as_bytes())).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(1)), "{bad}");
        }
    }
}
