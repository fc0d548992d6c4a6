//! What the standard environment variables ask for.

use std::time::Duration;

/// What to send where.
#[derive(Debug, Default, PartialEq)]
pub struct Settings {
    /// Where the span goes; `None`: nowhere.
    pub traces: Option<Signal>,
    /// Where the metrics go; `None`: nowhere.
    pub metrics: Option<Signal>,
    /// Attributes of whoever sends; `service.name` is always there.
    pub resource: Vec<(String, String)>,
}

/// One endpoint.
#[derive(Debug, PartialEq)]
pub struct Signal {
    /// As it is asked.
    pub url: String,
    /// Name and value; no line breaks in them.
    pub headers: Vec<(String, String)>,
    /// How long it may take; the limit of both together holds besides.
    pub timeout: Duration,
}

impl Settings {
    /// Reads the environment.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Settings {
        // A variable that is empty is one that is not set.
        let get = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        if get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Settings::default();
        }
        let mut resource = pairs(&get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
        if let Some(name) = get("OTEL_SERVICE_NAME") {
            resource.retain(|(key, _)| key != SERVICE_NAME);
            resource.push((SERVICE_NAME.to_owned(), name));
        } else if !resource.iter().any(|(key, _)| key == SERVICE_NAME) {
            resource.push((SERVICE_NAME.to_owned(), "highwater".to_owned()));
        }
        Settings {
            traces: Signal::read("TRACES", "v1/traces", &get),
            metrics: Signal::read("METRICS", "v1/metrics", &get),
            resource,
        }
    }
}

const SERVICE_NAME: &str = "service.name";

/// The standard's own default. More than two seconds are never waited.
const TIMEOUT_MS: u64 = 10_000;

impl Signal {
    /// A signal's own variable goes before the one for all, whose endpoint the signal's path is added to.
    fn read(signal: &str, path: &str, get: &impl Fn(&str) -> Option<String>) -> Option<Signal> {
        if get(&format!("OTEL_{signal}_EXPORTER")).is_some_and(|exporter| exporter == "none") {
            return None;
        }
        let own = |name: &str| get(&format!("OTEL_EXPORTER_OTLP_{signal}_{name}"));
        let all = |name: &str| get(&format!("OTEL_EXPORTER_OTLP_{name}"));
        let below = |base: String| format!("{}/{path}", base.trim_end_matches('/'));
        let url = own("ENDPOINT").or_else(|| all("ENDPOINT").map(below))?;
        let timeout = own("TIMEOUT").or_else(|| all("TIMEOUT")).and_then(|ms| ms.parse().ok()).unwrap_or(TIMEOUT_MS);
        let headers = pairs(&own("HEADERS").or_else(|| all("HEADERS")).unwrap_or_default());
        // One line is one header, and one option of curl's config is one line.
        let url = if url.contains(char::is_control) { return None } else { url };
        Some(Signal { url, headers, timeout: Duration::from_millis(timeout) })
    }
}

/// `a=1,b=two%20words`. What is no pair, or would break a line, is left out.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (name.trim().to_owned(), decoded(value.trim())?);
        let is_one_line = !name.is_empty() && !name.contains(char::is_control) && !value.contains(char::is_control);
        is_one_line.then_some((name, value))
    };
    text.split(',').filter_map(pair).collect()
}

/// Percent-encoded UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        let digits = after.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            // A sign that begins no code is itself.
            None => {
                bytes.push(b'%');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Settings {
        Settings::read(|name| variables.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned()))
    }

    fn url(signal: Option<Signal>) -> Option<String> {
        signal.map(|signal| signal.url)
    }

    #[test]
    fn without_an_endpoint_nothing_is_sent() {
        for variables in [
            [].as_slice(),
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h"), ("OTEL_SDK_DISABLED", "TRUE")],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h\nurl = x")],
        ] {
            let settings = settings(variables);
            assert!(settings.traces.is_none() && settings.metrics.is_none(), "{variables:?}");
        }
    }

    #[test]
    fn a_signal_s_own_variable_is_taken_as_it_is() {
        let both = settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318/")]);
        assert_eq!(url(both.traces).as_deref(), Some("http://h:4318/v1/traces"));
        assert_eq!(url(both.metrics).as_deref(), Some("http://h:4318/v1/metrics"));
        let own = settings(&[
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/x"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "300"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b%0A,x=1%,bad,y=%41%zz"),
        ]);
        let traces = own.traces.unwrap();
        assert_eq!((traces.url.as_str(), traces.timeout.as_millis()), ("http://t/x", 300));
        let headers = [("x".to_owned(), "1%".to_owned()), ("y".to_owned(), "A%zz".to_owned())];
        assert_eq!(traces.headers, headers, "what holds a line break is no header");
        assert!(own.metrics.is_none());
        let none = settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h"), ("OTEL_METRICS_EXPORTER", "none")]);
        assert!(none.metrics.is_none() && none.traces.is_some());
    }

    #[test]
    fn the_service_has_a_name() {
        let of = |variables: &[(&str, &str)]| settings(variables).resource;
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(of(&[]), [pair("service.name", "highwater")]);
        let told = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,host.name=h%2C1");
        assert_eq!(of(&[told]), [pair("service.name", "a"), pair("host.name", "h,1")]);
        assert_eq!(of(&[told, ("OTEL_SERVICE_NAME", "b")]), [pair("host.name", "h,1"), pair("service.name", "b")]);
    }
}
