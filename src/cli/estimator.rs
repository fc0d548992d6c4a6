//! Asking those outside who estimate how much of the goal is reached: a command, an endpoint.
//!
//! The endpoint is spoken to by way of the program curl. A TLS stack of our own would cost a third of a release build for
//! one request that most loops never make; curl brings the system's certificates and proxies along.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bounded;
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

/// Why an endpoint gave no answer.
struct Fault {
    why: String,
    /// Asking again would come to the same.
    is_final: bool,
}

impl Fault {
    fn passing(why: String) -> Fault {
        Fault { why, is_final: false }
    }
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
    });
    let mut why = "was not asked: there was no time left".to_owned();
    for _ in 0..ATTEMPTS {
        let left = deadline.saturating_duration_since(Instant::now());
        if left < LEAST {
            break;
        }
        let request = request(base_url, key.as_deref(), &body.to_string(), left);
        let answer = bounded::run("curl", &["-q", "--config", "-"], folder, request.into_bytes(), deadline);
        match answer.map_err(curl_fault).and_then(|bytes| content(&String::from_utf8_lossy(&bytes))) {
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

/// curl's exit code in words, where people meet it.
fn curl_fault(why: String) -> Fault {
    let told = [
        ("exit status: 6", "has a host name that is not known"),
        ("exit status: 7", "refused the connection"),
        ("exit status: 28", "took too long"),
        ("exit status: 60", "has a certificate that is not trusted"),
    ];
    let told = told.iter().find(|(status, _)| why.ends_with(status)).map(|(_, told)| (*told).to_owned());
    let is_final = why.starts_with("could not be started");
    let why = if is_final { format!("is asked by way of curl, which {why}") } else { told.unwrap_or(why) };
    Fault { why, is_final }
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

/// curl's config, which goes through its standard input: the key stands in no argument list. Redirects are not followed,
/// so that the key goes nowhere else.
fn request(base_url: &str, key: Option<&str>, body: &str, left: Duration) -> String {
    let url = format!("{}/chat/completions", base_url.trim_end_matches('/'));
    let mut lines = vec![
        format!("url = {}", quoted(&url)),
        "proto = \"=http,https\"".to_owned(),
        "globoff".to_owned(),
        "silent".to_owned(),
        format!("max-time = {}", left.as_secs_f64()),
        "header = \"Content-Type: application/json\"".to_owned(),
        "header = \"Expect:\"".to_owned(),
        format!("data-binary = {}", quoted(body)),
        "write-out = \"\\n%{http_code}\"".to_owned(),
    ];
    lines.extend(key.map(|key| format!("header = {}", quoted(&format!("Authorization: Bearer {key}")))));
    lines.join("\n")
}

/// As curl reads it. JSON and URLs hold no line breaks.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// What the model said. `text` is the answer's body with its status on a line of its own below.
fn content(text: &str) -> Result<String, Fault> {
    let (body, status) = text.rsplit_once('\n').unwrap_or(("", text));
    match status.parse::<u16>() {
        Ok(200..=299) => {}
        // Too many requests, and what a server cannot do now, may pass.
        Ok(status @ (408 | 429 | 500..)) => return Err(Fault::passing(format!("answered {status}"))),
        Ok(status) => return Err(Fault { why: format!("answered {status}"), is_final: true }),
        Err(_) => return Err(Fault::passing("gave no answer that HTTP knows".to_owned())),
    }
    let value: Option<Value> = serde_json::from_str(body).ok();
    let content = value.as_ref().and_then(|value| value.pointer("/choices/0/message/content")?.as_str());
    content.map(str::to_owned).ok_or_else(|| Fault::passing("answered no chat completion".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_one_line_an_option_and_holds_quotes_and_backslashes() {
        let body = json!({"content": "a \"b\"\n\\c"}).to_string();
        let text = request("https://host/v1/", Some("sk-1"), &body, Duration::from_millis(1500));
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert_eq!(line("url"), "url = \"https://host/v1/chat/completions\"");
        assert_eq!(line("data-binary"), r#"data-binary = "{\"content\":\"a \\\"b\\\"\\n\\\\c\"}""#);
        assert_eq!(line("max-time"), "max-time = 1.5");
        assert!(text.contains("header = \"Authorization: Bearer sk-1\""), "{text}");
        assert!(!request("https://host", None, "{}", Duration::ZERO).contains("Authorization"));
    }

    #[test]
    fn only_a_chat_completion_is_an_answer_and_refusals_are_final() {
        let said = |text: &str| content(text).map_err(|fault| fault.is_final);
        assert_eq!(said("{\"choices\":[{\"message\":{\"content\":\"x\"}}]}\n200"), Ok("x".to_owned()));
        for (text, is_final) in [
            ("{}\n200", false),
            ("not JSON\n200", false),
            ("\n500", false),
            ("\n429", false),
            ("\n301", true),
            ("\n401", true),
            ("\n000", true),
            ("", false),
        ] {
            assert_eq!(said(text), Err(is_final), "{text}");
        }
    }
}
