//! Asking those outside who estimate how much of the goal is reached: a command, an endpoint.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bounded;
use super::post::{Fault, post};
use crate::analysis::estimate::{Answer, prompt_text, read_answer};
use crate::engine::Answers;
use crate::model::config::{Endpoint, Estimate};
use crate::model::progress::{EstimatePrompt, Estimator};

/// S001's temperature: an estimate should come out the same twice.
const TEMPERATURE: f64 = 0.1;

/// S001's limit: the answer is one short object.
const MAX_TOKENS: u32 = 500;

/// The endpoint is asked once more if it could not answer, as long as there is time.
const ATTEMPTS: usize = 2;

/// Less time than this is not enough to ask.
const LEAST: Duration = Duration::from_millis(50);

/// Asks the command, then the endpoint, within the time that the config allows both. Nothing that goes wrong is an error:
/// it is told, and the heuristic stands in.
pub fn ask(folder: &Path, config: &Estimate, prompt: &EstimatePrompt) -> Answers {
    let deadline = Instant::now() + Duration::from_millis(config.timeout_ms);
    let mut answers = Answers::default();
    if let Some((program, arguments)) = config.command.split_first() {
        let answer = serde_json::to_vec(prompt)
            .map_err(|error| error.to_string())
            .and_then(|input| bounded::run(program, arguments, folder, input, deadline))
            .and_then(|bytes| read(&String::from_utf8_lossy(&bytes)));
        match answer {
            Ok(answer) => answers.estimate = Some(answer.made_by(Estimator::Command)),
            Err(why) => answers.notes.push(format!("no estimate from the command: it {why}")),
        }
    }
    if let (None, Some(base_url)) = (&answers.estimate, &config.endpoint.base_url) {
        match ask_endpoint(folder, &config.endpoint, base_url, prompt, deadline) {
            Ok(answer) => answers.estimate = Some(answer.made_by(Estimator::Endpoint)),
            Err(why) => answers.notes.push(format!("no estimate from the endpoint: it {why}")),
        }
    }
    answers
}

fn read(text: &str) -> Result<Answer, String> {
    read_answer(text).ok_or_else(|| "answered no JSON object with progress_percent".to_owned())
}

fn ask_endpoint(
    folder: &Path,
    endpoint: &Endpoint,
    base_url: &str,
    prompt: &EstimatePrompt,
    deadline: Instant,
) -> Result<Answer, String> {
    let key = key(endpoint)?;
    let body = json!({
        "model": endpoint.model,
        "messages": [{"role": "user", "content": prompt_text(prompt)}],
        "temperature": TEMPERATURE,
        "max_tokens": MAX_TOKENS,
    })
    .to_string();
    let url = format!("{}/chat/completions", base_url.trim_end_matches('/'));
    let headers: Vec<(String, String)> =
        key.into_iter().map(|key| ("Authorization".to_owned(), format!("Bearer {key}"))).collect();
    let mut why = "was not asked: there was no time left".to_owned();
    for _ in 0..ATTEMPTS {
        if deadline.saturating_duration_since(Instant::now()) < LEAST {
            break;
        }
        match post(folder, &url, &headers, &body, deadline).and_then(|answer| content(&answer)) {
            Ok(content) => match read(&content) {
                Ok(answer) => return Ok(answer),
                Err(fault) => why = fault,
            },
            Err(fault) if fault.is_final => return Err(fault.why),
            Err(fault) => why = fault.why,
        }
    }
    Err(why)
}

/// The key from the environment variable that the config names. Nothing tells its value.
fn key(endpoint: &Endpoint) -> Result<Option<String>, String> {
    let Some(name) = &endpoint.key_env else { return Ok(None) };
    match std::env::var(name) {
        Ok(key) if !key.is_empty() && key.chars().all(|c| c.is_ascii_graphic()) => Ok(Some(key)),
        Ok(_) => Err(format!("was not asked: {name} holds no key")),
        Err(_) => Err(format!("was not asked: the environment variable {name} is not set")),
    }
}

/// What the model said in an answer's body.
fn content(body: &str) -> Result<String, Fault> {
    let value: Option<Value> = serde_json::from_str(body).ok();
    let content = value.as_ref().and_then(|value| value.pointer("/choices/0/message/content")?.as_str());
    content.map(str::to_owned).ok_or_else(|| Fault::passing("answered no chat completion".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_chat_completion_is_an_answer() {
        let said = |text: &str| content(text).map_err(|fault| fault.is_final);
        assert_eq!(said("{\"choices\":[{\"message\":{\"content\":\"x\"}}]}"), Ok("x".to_owned()));
        for text in ["{}", "not JSON", "", "{\"choices\":[]}"] {
            assert_eq!(said(text), Err(false), "{text}");
        }
    }
}
