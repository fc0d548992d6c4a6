//! What an agent's hooks tell of a loop, and what they are answered. Dialects are `integrations`' business.

use std::path::PathBuf;

use serde_json::Value;

use crate::model::calls::CallKind;
use crate::model::config::HookPolicy;
use crate::model::verdict::{Action, Recommendation};

/// Something that happened in an agent's session.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopEvent {
    /// As the agent names it; some want it back in the answer.
    pub name: String,
    /// The session, and the subagent if it is one's; empty if the agent does not say.
    pub session: String,
    /// Where the agent works.
    pub folder: Option<PathBuf>,
    /// What it means to the loop.
    pub happened: Happened,
}

/// What an event means to the loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// A session began.
    PreLoop,
    /// A tool was called.
    Activity(Box<ToolCall>),
    /// A turn ended.
    PostIteration(EndOfTurn),
    /// The agent is about to forget most of what was said: it may be told again where the loop stands.
    LoopDecision,
    /// A session ended.
    PostLoop,
}

/// A tool call as the agent tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// Its name.
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// What the tool does, if its name does not say.
    pub kind: Option<CallKind>,
    /// As the tool got them.
    pub args: Value,
    /// What it returned.
    pub response: Option<Value>,
    /// Whether it did what it should.
    pub ok: Option<bool>,
}

/// The end of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndOfTurn {
    /// What tells this turn from the others of its session.
    pub turn: Option<String>,
    /// The agent's own log of the session.
    pub transcript: Option<PathBuf>,
    /// The last thing it said.
    pub said: Option<String>,
    /// Somebody refused the end before this one, and the turn went on; `None` if the agent does not say.
    pub was_refused: Option<bool>,
    /// Refusals in a row so far, of whomever, as the agent counts them.
    pub refusals: Option<u32>,
    /// The work goes on by itself, or was broken off: this is no iteration.
    pub is_unfinished: bool,
}

/// What a hook answers, before it is said in the agent's dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    Nothing,
    /// Facts that the model gets to see; it goes on as it would.
    Context(String),
    /// Facts for whoever watches the agent; nothing changes.
    Note(String),
    /// The turn does not end: the model gets the facts.
    Refuse(String),
    /// The run ends here, and this is why.
    End(String),
}

/// What is to be done at the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Allow,
    /// Say so.
    Tell,
    /// Refuse the end while that is possible, else end the run.
    Refuse,
    /// Put the recommended iteration back; then as [`Decision::Refuse`].
    Restore,
    /// End the run.
    End,
}

/// What a policy makes of a recommendation. What could not be measured is no reason to act.
pub fn decide(policy: HookPolicy, recommendation: &Recommendation) -> Decision {
    if recommendation.is_unmeasured() {
        return Decision::Tell;
    }
    match (recommendation.action, policy) {
        (Action::Continue, _) => Decision::Allow,
        (_, HookPolicy::Observe) => Decision::Tell,
        (Action::Stop | Action::Escalate, _) => Decision::End,
        (Action::Rollback, HookPolicy::Guard) => Decision::Refuse,
        (Action::Rollback, HookPolicy::Restore) => Decision::Restore,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_and_recommendation_has_one_decision() {
        let recommendation = |action, because: &str| Recommendation {
            action,
            target: None,
            reason: String::new(),
            because: vec![because.to_owned()],
            also: Vec::new(),
            alternatives: Vec::new(),
            confidence: 0.5,
        };
        let actions = [Action::Continue, Action::Stop, Action::Escalate, Action::Rollback];
        let row = |policy| actions.map(|action| decide(policy, &recommendation(action, "x")));
        use Decision::{Allow, End, Refuse, Restore, Tell};
        assert_eq!(row(HookPolicy::Observe), [Allow, Tell, Tell, Tell]);
        assert_eq!(row(HookPolicy::Guard), [Allow, End, End, Refuse]);
        assert_eq!(row(HookPolicy::Restore), [Allow, End, End, Restore]);
        for policy in [HookPolicy::Observe, HookPolicy::Guard, HookPolicy::Restore] {
            assert_eq!(decide(policy, &recommendation(Action::Escalate, "unmeasured")), Tell);
        }
    }
}
