//! Sending JSON by way of the program curl. A TLS stack of our own would cost a third of a release build for a few requests that
//! most loops never make; curl brings the system's certificates and proxies along.

use std::path::Path;
use std::time::{Duration, Instant};

use super::bounded;

/// Why a request came to nothing.
#[derive(Debug)]
pub struct Fault {
    /// A fragment that follows "it".
    pub why: String,
    /// Asking again would come to the same.
    pub is_final: bool,
}

impl Fault {
    /// What may be over at the next attempt.
    pub fn passing(why: String) -> Fault {
        Fault { why, is_final: false }
    }
}

/// Posts `body` and answers what came back with a status of 200 to 299. Redirects are not followed, so that what the headers
/// hold goes nowhere else.
///
/// # Errors
/// What went wrong; the time over among it.
pub fn post(
    folder: &Path,
    url: &str,
    headers: &[(String, String)],
    body: &str,
    deadline: Instant,
) -> Result<String, Fault> {
    let left = deadline.saturating_duration_since(Instant::now());
    let request = request(url, headers, body, left);
    let answer = bounded::run("curl", &["-q", "--config", "-"], folder, request.into_bytes(), deadline);
    let answer = answer.map_err(curl_fault)?;
    content(&String::from_utf8_lossy(&answer)).map(str::to_owned)
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

/// curl's config, which goes through its standard input: no secret stands in an argument list.
fn request(url: &str, headers: &[(String, String)], body: &str, left: Duration) -> String {
    let mut lines = vec![
        format!("url = {}", quoted(url)),
        "proto = \"=http,https\"".to_owned(),
        "globoff".to_owned(),
        "silent".to_owned(),
        format!("max-time = {}", left.as_secs_f64()),
        "header = \"Content-Type: application/json\"".to_owned(),
        "header = \"Expect:\"".to_owned(),
        format!("data-binary = {}", quoted(body)),
        "write-out = \"\\n%{http_code}\"".to_owned(),
    ];
    lines.extend(headers.iter().map(|(name, value)| format!("header = {}", quoted(&format!("{name}: {value}")))));
    lines.join("\n")
}

/// As curl reads it. JSON, URLs and headers hold no line breaks.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The body of an answer. `text` is that body with its status on a line of its own below.
fn content(text: &str) -> Result<&str, Fault> {
    let (body, status) = text.rsplit_once('\n').unwrap_or(("", text));
    match status.parse::<u16>() {
        Ok(200..=299) => Ok(body),
        // Too many requests, and what a server cannot do now, may pass.
        Ok(status @ (408 | 429 | 500..)) => Err(Fault::passing(format!("answered {status}"))),
        Ok(status) => Err(Fault { why: format!("answered {status}"), is_final: true }),
        Err(_) => Err(Fault::passing("gave no answer that HTTP knows".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_one_line_an_option_and_holds_quotes_and_backslashes() {
        let body = serde_json::json!({"content": "a \"b\"\n\\c"}).to_string();
        let headers = [("Authorization".to_owned(), "Bearer \"sk-1\"".to_owned())];
        let text = request("https://host/v1/x", &headers, &body, Duration::from_millis(1500));
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert_eq!(line("url"), "url = \"https://host/v1/x\"");
        assert_eq!(line("data-binary"), r#"data-binary = "{\"content\":\"a \\\"b\\\"\\n\\\\c\"}""#);
        assert_eq!(line("max-time"), "max-time = 1.5");
        assert!(text.contains(r#"header = "Authorization: Bearer \"sk-1\"""#), "{text}");
        assert!(!request("https://host", &[], "{}", Duration::ZERO).contains("Authorization"));
    }

    #[test]
    fn refusals_are_final_and_what_may_pass_is_not() {
        assert_eq!(content("{}\n200").unwrap(), "{}");
        assert_eq!(content("\n204").unwrap(), "");
        for (text, is_final) in
            [("\n500", false), ("\n429", false), ("\n301", true), ("\n401", true), ("\n000", true), ("", false)]
        {
            assert_eq!(content(text).unwrap_err().is_final, is_final, "{text}");
        }
    }
}
