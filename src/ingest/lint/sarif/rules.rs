//! The rules of a run, and the levels that they and its invocations set.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::{Error, Reject, Result};
use crate::ingest::text::printable;
use crate::ingest::values::Few;

/// Most rules of one component, and most overrides of one invocation. All of them are held: any result may name any.
pub(super) const MOST_RULES: usize = 100_000;

/// Most runs, components, rules and overrides of a log together.
const MOST_IN_ALL: usize = 110_000;

/// What a run tells of its tool.
#[derive(Clone, Default)]
pub(super) struct RunHead {
    pub tool: Option<Tool>,
    pub invocations: Option<Few<Invocation, MOST_RULES>>,
}

impl RunHead {
    /// Adds what it holds to `held`.
    ///
    /// # Errors
    /// It is more than a log may hold.
    pub(super) fn fits(&self, held: &mut usize) -> Result<()> {
        let tool =
            self.tool.iter().flat_map(|tool| tool.driver.iter().chain(tool.extensions.iter().flat_map(|all| &all.0)));
        let rules = tool.map(|component| 1 + component.rules.as_ref().map_or(0, |rules| rules.0.len()));
        let runs = self.invocations.iter().flat_map(|all| &all.0);
        let overrides = runs.map(|run| 1 + run.rule_configuration_overrides.as_ref().map_or(0, |all| all.0.len()));
        *held += 1 + rules.chain(overrides).sum::<usize>();
        if *held > MOST_IN_ALL {
            let why = format!("more than {MOST_IN_ALL} runs, rules and overrides");
            return Err(Error::report(Reject::Malformed, why));
        }
        Ok(())
    }
}

#[derive(Clone, Deserialize)]
pub(super) struct Tool {
    driver: Option<Component>,
    extensions: Option<Few<Component, MOST_RULES>>,
}

#[derive(Clone, Deserialize, Default)]
struct Component {
    name: Option<String>,
    guid: Option<String>,
    rules: Option<Few<Rule, MOST_RULES>>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: Option<String>,
    default_configuration: Option<Configuration>,
}

#[derive(Clone, Deserialize)]
struct Configuration {
    level: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    rule_configuration_overrides: Option<Few<Override, MOST_RULES>>,
    #[serde(default)]
    tool_execution_notifications: Noted,
    #[serde(default)]
    tool_configuration_notifications: Noted,
}

/// How often a tool notes that it failed itself, and what it says of the first time.
#[derive(Clone, Default)]
pub(super) struct Noted {
    pub errors: u64,
    pub first: Option<String>,
}

impl Noted {
    fn add(&mut self, other: Noted) {
        self.errors = self.errors.saturating_add(other.errors);
        self.first = self.first.take().or(other.first);
    }
}

impl<'de> Deserialize<'de> for Noted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Noted, D::Error> {
        deserializer.deserialize_any(NotedVisitor)
    }
}

struct NotedVisitor;

impl<'de> Visitor<'de> for NotedVisitor {
    type Value = Noted;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of notifications")
    }

    fn visit_unit<E>(self) -> Result<Noted, E> {
        Ok(Noted::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Noted, A::Error> {
        let mut noted = Noted::default();
        while let Some(one) = list.next_element::<Value>()? {
            if one.get("level").and_then(Value::as_str) == Some("error") {
                let text = one.pointer("/message/text").and_then(Value::as_str);
                noted.add(Noted { errors: 1, first: text.map(|text| printable(text, 200)) });
            }
        }
        Ok(noted)
    }
}

#[derive(Clone, Deserialize)]
struct Override {
    descriptor: Option<RuleReference>,
    configuration: Option<Configuration>,
}

#[derive(Clone, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct RuleReference {
    pub id: Option<String>,
    pub index: Option<i64>,
    tool_component: Option<ComponentReference>,
}

#[derive(Clone, Deserialize)]
struct ComponentReference {
    name: Option<String>,
    index: Option<i64>,
    guid: Option<String>,
}

/// The rules of one run, found by what results say of them.
pub(super) struct Rules {
    pub tool: String,
    /// The driver first, then the extensions.
    components: Vec<Component>,
    /// Component → rule id → its place.
    by_id: Vec<BTreeMap<String, usize>>,
    /// (component, place of the rule) → level that an invocation set.
    overrides: BTreeMap<(usize, usize), String>,
    /// Likewise for rules that no component lists.
    overrides_by_id: BTreeMap<String, String>,
    /// What it notes of itself.
    pub noted: Noted,
}

impl Rules {
    pub(super) fn new(run: RunHead) -> Rules {
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
        let (tool, noted) = (printable(&name, 100), Noted::default());
        let mut rules = Rules { tool, components, by_id, overrides, overrides_by_id, noted };
        let mut overrides = Vec::new();
        for run in run.invocations.into_iter().flatten() {
            rules.noted.add(run.tool_execution_notifications);
            rules.noted.add(run.tool_configuration_notifications);
            overrides.extend(run.rule_configuration_overrides.into_iter().flatten());
        }
        for over in overrides {
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
    pub(super) fn level(&self, reference: &RuleReference) -> &str {
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
    pub(super) fn name(&self, reference: &RuleReference) -> Option<&str> {
        let (component, at) = self.find(reference)?;
        self.components.get(component)?.rules.as_ref()?.0.get(at)?.id.as_deref()
    }
}
