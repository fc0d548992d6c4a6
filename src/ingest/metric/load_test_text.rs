//! `load-test-text`: what HTTP load testers print at their end. Written after the output of wrk 4.2, ApacheBench 2.3, hey 0.1,
//! autocannon 9, and of k6 as its documentation shows it (<https://grafana.com/docs/k6/latest/results-output/end-of-test/>).

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, split_at};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// Summaries of load tests.
pub const FORMAT: Format = Format {
    name: "load-test-text",
    kind: ReportKind::Metric,
    about: "terminal output of HTTP load testers: rates and latencies",
    written_by: "wrk, ab, hey, oha, autocannon, k6, Locust",
    told_by: "lines as \"Requests/sec: 28114.82\", \"Requests per second: 530.01 [#/sec] (mean)\", \"│ Req/Sec │ …\" or \
              \"http_reqs....: 100 9.9/s\"",
    has_end: false,
    counting: "TOOL.requests.rate (1/s, higher) and TOOL.latency.p50, .p90, .p95, .p97_5 and .p99 (ms, lower), as far \
               as the tool tells them; of wrk without --latency .mean. ab.failures and wrk.failures (%, lower): \
               requests that failed or were answered with another status than 2xx (of wrk, 3xx too). \
               autocannon.non2xx, .errors and .timeouts where it tells of any. Where nothing was answered, latencies \
               are unknown. Of k6 the metrics of its JSON: k6.http_req_duration.med and .p95, k6.http_reqs.rate and so \
               on; of Locust those of its CSV, from its last table.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() || !head.lines().any(begins) || head.is_of_tests() {
        return Sniff::No;
    }
    Sniff::Sure("a rate as a load tester prints it".into())
}

/// Whether the line tells a rate of requests, or is of the table of one that does.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    let text = line.trim();
    let is_rate = text.starts_with("Requests/sec:") || text.starts_with("Requests per second:");
    is_rate || text.starts_with("│ Latency ") || is_locust_s(text) || Trend::of(text).is_some() || is_preamble(text)
}

/// `Type     Name    # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s`.
fn is_locust_s(text: &str) -> bool {
    text.starts_with("Type ") && text.contains(" # reqs ") && text.contains(" # fails ")
}

/// What stands above a rate, with the percentages that tell.
fn is_preamble(text: &str) -> bool {
    text.starts_with("This is ApacheBench, ") || (text.starts_with("Running ") && text.contains(" test @ http"))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut reader = Reader::default();
    while let Some(line) = lines.next()? {
        if !line.ended {
            return Err(Error::report(Reject::Malformed, "report ends inside a line").line(line.number).help(CUT_HELP));
        }
        reader.line(line.text.trim());
    }
    reader.locust.tell(&mut reader.metrics);
    reader.metrics.finish(&FORMAT)
}

/// What Locust's last tables said of all requests: it prints them again and again.
#[derive(Default)]
struct Locust {
    /// The percentiles that the columns of the open table tell; `None` if it tells rates.
    percentiles: Option<Vec<String>>,
    p50: Option<f64>,
    p95: Option<f64>,
    rate: Option<f64>,
    failures: Option<f64>,
}

impl Locust {
    fn line(&mut self, text: &str) {
        if is_locust_s(text) {
            self.percentiles = None;
        } else if text.starts_with("Type ") && text.contains(" 50% ") {
            self.percentiles = Some(text.split_whitespace().skip(2).map(str::to_owned).collect());
        }
        let Some(rest) = text.strip_prefix("Aggregated ") else { return };
        let cells: Vec<&str> = rest.split(['|', ' ']).filter(|cell| !cell.is_empty()).collect();
        let number = |cell: &&str| cell.parse::<f64>().ok().filter(|value| value.is_finite());
        match (&self.percentiles, cells.as_slice()) {
            (Some(columns), cells) => {
                let of = |name: &str| cells.get(columns.iter().position(|column| column == name)?).and_then(number);
                (self.p50, self.p95) = (of("50%"), of("95%"));
            }
            // `182   47(25.82%) |  6  2  16  6 |   70.14  18.11`
            (None, [_, failed, _, _, _, median, rate, _]) => {
                let share = failed.split_once('(').and_then(|(_, share)| share.strip_suffix("%)")?.parse().ok());
                (self.p50, self.p95, self.rate, self.failures) = (number(median), None, number(rate), share);
            }
            (None, _) => {}
        }
    }

    fn tell(self, metrics: &mut Metrics) {
        let Some(rate) = self.rate else { return };
        for (name, value, unit, direction) in [
            ("response_time.p50", self.p50, "ms", Direction::Lower),
            ("response_time.p95", self.p95, "ms", Direction::Lower),
            ("requests.rate", Some(rate), "1/s", Direction::Higher),
            ("failures", self.failures, "%", Direction::Lower),
        ] {
            metrics.add(&format!("locust.{name}"), value, Some(unit), Some(direction));
        }
    }
}

#[derive(Default)]
struct Reader {
    metrics: Metrics,
    /// Whose percentages follow: `wrk`, `hey`, `ab`.
    tool: &'static str,
    /// What wrk tells of the latency if it is not asked for more.
    mean: Option<f64>,
    /// Requests that ab or wrk sent, and those that failed or were not answered well.
    requests: Option<f64>,
    failed: Option<f64>,
    /// No byte came back to ab.
    is_unanswered: bool,
    /// The columns of a table of autocannon's.
    columns: Vec<String>,
    /// Its latencies, until the rate tells whether anything was answered.
    latencies: Vec<(&'static str, Option<f64>)>,
    locust: Locust,
}

impl Reader {
    fn line(&mut self, text: &str) {
        self.locust.line(text);
        match text {
            "Latency Distribution" => (self.tool, self.mean) = ("wrk", None),
            _ if text.starts_with("This is ApacheBench, ") => self.tool = "ab",
            _ if text.starts_with("Thread Stats ") => self.tool = "wrk",
            _ => self.told(text),
        }
    }

    fn told(&mut self, text: &str) {
        if let Some(trend) = Trend::of(text) {
            return trend.add(&mut self.metrics);
        }
        if text.starts_with('│') {
            return self.row(text);
        }
        if let Some(rest) = text.strip_prefix("Latency ").filter(|_| self.tool == "wrk") {
            self.mean = rest.split_whitespace().next().and_then(milliseconds);
            return;
        }
        if let Some((percent, rest)) = text.split_once('%').filter(|_| !self.tool.is_empty()) {
            return self.percentile(percent, rest.trim());
        }
        if let Some((requests, _)) = text.split_once(" requests in ").filter(|_| self.tool == "wrk") {
            (self.requests, self.failed) = (requests.parse().ok(), Some(0.0));
            return;
        }
        self.of_autocannon(text);
        let Some((name, value)) = text.split_once(':') else { return };
        // hey, and oha as well, put a tab before what the others align.
        if name == "Requests/sec" && value.starts_with('\t') {
            self.tool = "hey";
        }
        let number = || value.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
        match name {
            "Requests/sec" | "Requests per second" if !self.tool.is_empty() => {
                let tool = self.tool;
                let all = self.requests.take().filter(|all| *all > 0.0);
                if let (Some(failed), Some(all)) = (self.failed.take(), all) {
                    // ab counts some that failed twice.
                    self.add("failures", Some((100.0 * failed / all).min(100.0)), "%", Direction::Lower);
                }
                let rate = number().filter(|_| !self.is_unanswered);
                self.add("requests.rate", rate, "1/s", Direction::Higher);
                if let Some(mean) = self.mean.take().filter(|_| tool == "wrk") {
                    self.add("latency.mean", Some(mean), "ms", Direction::Lower);
                }
            }
            "Complete requests" => self.requests = number(),
            "Failed requests" if self.tool == "ab" => self.failed = number(),
            "Non-2xx responses" | "Non-2xx or 3xx responses" => {
                self.failed = self.failed.zip(number()).map(|(failed, more)| failed + more);
            }
            "Total transferred" if self.tool == "ab" => self.is_unanswered = number() == Some(0.0),
            _ => {}
        }
    }

    /// `50%   40.00us` of wrk, `50%      1` of ab, in milliseconds, `50% in 0.0001 secs` of hey, `50.00% in …` of oha, which is told as hey's.
    fn percentile(&mut self, percent: &str, rest: &str) {
        let name = match percent.strip_suffix(".00").unwrap_or(percent) {
            "50" => "latency.p50",
            "90" => "latency.p90",
            "95" => "latency.p95",
            "99" => "latency.p99",
            _ => return,
        };
        let value = match self.tool {
            "ab" => rest.parse().ok(),
            "wrk" => milliseconds(rest),
            _ => rest.strip_prefix("in ").and_then(milliseconds),
        };
        if value.is_some() {
            let value = value.filter(|_| self.tool != "ab" || !self.is_unanswered);
            self.add(name, value, "ms", Direction::Lower);
        }
    }

    /// `0 2xx responses, 32 non 2xx`, since version 8 with `responses` at its end, `514 errors (0 timeouts)`.
    fn of_autocannon(&mut self, text: &str) {
        let mut add = |name: &str, count: &str| {
            self.metrics.add(&format!("autocannon.{name}"), count.parse().ok(), None, Some(Direction::Lower));
        };
        let told = text.strip_suffix(" responses").unwrap_or(text);
        let non2xx = told.strip_suffix(" non 2xx").and_then(|rest| rest.split_once(" 2xx responses, "));
        if let Some((_, non2xx)) = non2xx {
            add("non2xx", non2xx);
        }
        let failed = text.strip_suffix(" timeouts)").and_then(|rest| rest.split_once(" errors ("));
        if let Some((errors, timeouts)) = failed {
            add("errors", errors);
            add("timeouts", timeouts);
        }
    }

    /// A row of autocannon's tables.
    fn row(&mut self, text: &str) {
        let cells: Vec<&str> = text.trim_matches('│').split('│').map(str::trim).collect();
        let cell = |name: &str| {
            let at = self.columns.iter().position(|column| column == name)?;
            cells.get(at).copied()
        };
        match cells.first() {
            Some(&"Stat") => self.columns = cells.iter().take(20).map(|&cell| cell.to_owned()).collect(),
            Some(&"Latency") => {
                let columns = [("50%", "p50"), ("97.5%", "p97_5"), ("99%", "p99")];
                self.latencies = columns.map(|(column, name)| (name, cell(column).and_then(milliseconds))).to_vec();
            }
            Some(&"Req/Sec") => {
                let value: Option<f64> = cell("Avg").and_then(|value| value.replace(',', "").parse().ok());
                for (name, latency) in std::mem::take(&mut self.latencies) {
                    let latency = latency.filter(|_| value != Some(0.0));
                    let name = format!("autocannon.latency.{name}");
                    self.metrics.add(&name, latency, Some("ms"), Some(Direction::Lower));
                }
                self.metrics.add("autocannon.requests.rate", value, Some("1/s"), Some(Direction::Higher));
            }
            _ => {}
        }
    }

    fn add(&mut self, what: &str, value: Option<f64>, unit: &str, direction: Direction) {
        let value = value.filter(|value| value.is_finite());
        self.metrics.add(&format!("{}.{what}", self.tool), value, Some(unit), Some(direction));
    }
}

/// A metric of k6's: its name, and what stands behind the dots.
struct Trend<'t> {
    name: &'t str,
    told: &'t str,
}

/// Those that are used, as of its JSON.
const TRENDS: [&str; 8] = [
    "http_req_duration",
    "iteration_duration",
    "http_reqs",
    "iterations",
    "http_req_failed",
    "checks",
    "checks_succeeded",
    "dropped_iterations",
];

impl Trend<'_> {
    /// `http_reqs......................: 100     9.9/s`; before it a mark where a threshold stands.
    fn of(text: &str) -> Option<Trend<'_>> {
        let (name, told) = split_at(text.trim_start_matches(['✓', '✗']).trim_start(), "..: ")?;
        let name = name.trim_end_matches('.');
        TRENDS.contains(&name).then_some(Trend { name, told: told.trim() })
    }

    fn add(&self, metrics: &mut Metrics) {
        let (lower, higher) = (Some(Direction::Lower), Some(Direction::Higher));
        let statistic = |key: &str| {
            let value = self.told.split_whitespace().find_map(|word| word.strip_prefix(key));
            value.and_then(milliseconds)
        };
        let mut words = self.told.split_whitespace();
        let first = words.next().unwrap_or_default();
        let share = || first.strip_suffix('%').and_then(|share| share.parse::<f64>().ok()).map(|share| share / 100.0);
        let name = |what: &str| format!("k6.{}.{what}", self.name);
        match self.name {
            "http_req_duration" | "iteration_duration" => {
                metrics.add(&name("med"), statistic("med="), Some("ms"), lower);
                metrics.add(&name("p95"), statistic("p(95)="), Some("ms"), lower);
            }
            "http_reqs" | "iterations" => {
                let rate = words.next().and_then(|rate| rate.strip_suffix("/s")).and_then(|rate| rate.parse().ok());
                metrics.add(&name("rate"), rate, Some("1/s"), higher);
            }
            "http_req_failed" => metrics.add(&name("rate"), share(), None, lower),
            "dropped_iterations" => metrics.add(&name("count"), first.parse().ok(), None, lower),
            _ => metrics.add("k6.checks.rate", share(), None, higher),
        }
    }
}

/// Milliseconds in `629.93us`, `1.49ms`, `0.0001 secs`, `1m2.5s`.
fn milliseconds(mut text: &str) -> Option<f64> {
    let mut sum = None;
    while !text.is_empty() {
        let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let (number, rest) = text.split_at_checked(digits)?;
        let (unit, rest) = rest.split_at_checked(rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()))?;
        let factor = match unit.trim() {
            "ns" => 1e-6,
            "us" | "µs" | "μs" => 1e-3,
            "ms" => 1.0,
            "s" | "sec" | "secs" => 1e3,
            "m" => 60e3,
            "h" => 3_600e3,
            _ => return None,
        };
        sum = Some(sum.unwrap_or(0.0) + number.parse::<f64>().ok()? * factor);
        text = rest;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, Option<f64>)> {
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!(parsed.format, &FORMAT);
        parsed.figures.metrics.into_iter().map(|(name, figure)| (name, figure.value)).collect()
    }

    fn expected(told: &[(&str, f64)]) -> Vec<(String, Option<f64>)> {
        told.iter().map(|(name, value)| ((*name).to_owned(), Some(*value))).collect()
    }

    #[test]
    fn each_tool_s_rate_and_latencies_are_read() {
        let wrk = "Running 1s test @ http://a/\n  1 threads and 2 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   600.00us    1.49ms  12.88ms   89.80%\n";
        let end = "  31029 requests in 1.10s, 3.99MB read\nRequests/sec:  28114.5\nTransfer/sec:      3.62MB\n";
        let told = [("wrk.failures", 0.0), ("wrk.latency.mean", 0.6), ("wrk.requests.rate", 28114.5)];
        assert_eq!(values(&format!("{wrk}{end}")), expected(&told));
        let more = "  Latency Distribution\n     50%   40.00us\n     99%    2.50ms\n";
        let told = expected(&[
            ("wrk.failures", 0.0),
            ("wrk.latency.p50", 0.04),
            ("wrk.latency.p99", 2.5),
            ("wrk.requests.rate", 28114.5),
        ]);
        assert_eq!(values(&format!("{wrk}{more}{end}")), told);
        let ab = "This is ApacheBench, Version 2.3\nComplete requests:      50\nFailed requests:        1\nRequests per second:    530.5 [#/sec] (mean)\n  50%      1\n  95%     17\n 100%     32 (longest request)\n";
        let told =
            [("ab.failures", 2.0), ("ab.latency.p50", 1.0), ("ab.latency.p95", 17.0), ("ab.requests.rate", 530.5)];
        assert_eq!(values(ab), expected(&told));
        let hey = "\nSummary:\n  Total:\t0.0036 secs\n  Requests/sec:\t138.5\n\nLatency distribution:\n  50% in 0.0005 secs\n  0% in 0.0000 secs\n";
        assert_eq!(values(hey), expected(&[("hey.latency.p50", 0.5), ("hey.requests.rate", 138.5)]));
        let cannon = "│ Stat    │ 2.5% │ 50%  │ 97.5% │ 99%  │ Avg     │\n│ Latency │ 0 ms │ 1 ms │ 2 ms  │ 3 ms │ 0.02 ms │\n│ Stat      │ 1%      │ Avg     │\n│ Req/Sec   │ 29,775  │ 29,768  │\n";
        let told = [("latency.p50", 1.0), ("latency.p97_5", 2.0), ("latency.p99", 3.0), ("requests.rate", 29768.0)];
        assert_eq!(
            values(cannon),
            expected(
                &told
                    .map(|(name, value)| (format!("autocannon.{name}"), value))
                    .each_ref()
                    .map(|(name, value)| (name.as_str(), *value))
            )
        );
    }

    #[test]
    fn locust_s_last_tables_count() {
        let rates = "Type     Name    # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s\n--|--|--\n\
                     GET      /          135     0(0.00%) |      6       3      16      6 |   52.03        0.00\n--|--|--\n         \
                     Aggregated          182   47(25.82%) |      6       2      16      6 |   70.14       18.11\n\n";
        let percentiles = "Type     Name    50%    66%    95%   100% # reqs\n--|--|--\n         Aggregated      7      8     13     16    182\n";
        let first = rates.replace("70.14", "12.00");
        let told = expected(&[
            ("locust.failures", 25.82),
            ("locust.requests.rate", 70.14),
            ("locust.response_time.p50", 7.0),
            ("locust.response_time.p95", 13.0),
        ]);
        assert_eq!(values(&format!("{first}{rates}{percentiles}")), told);
        let value = |name: &str| values(rates).into_iter().find(|(told, _)| told == name).and_then(|(_, value)| value);
        assert_eq!((value("locust.response_time.p50"), value("locust.response_time.p95")), (Some(6.0), None));
    }

    #[test]
    fn what_is_answered_with_an_error_fails_and_what_is_not_answered_has_no_latency() {
        let value = |text: &str, name: &str| {
            values(text).into_iter().find(|(told, _)| told == name).unwrap_or_else(|| panic!("{name}")).1
        };
        let wrk = "Thread Stats   Avg\n  76 requests in 1.03s, 21.62KB read\n  Non-2xx or 3xx responses: 38\nRequests/sec: 73.64\n";
        assert_eq!(value(wrk, "wrk.failures"), Some(50.0));
        let ab = |failed: u64, bytes: u64| {
            format!(
                "This is ApacheBench, Version 2.3\nComplete requests: 20\nFailed requests: {failed}\nNon-2xx responses: 5\n\
                 Total transferred: {bytes} bytes\nRequests per second: 9.5 [#/sec] (mean)\n  50% 0\n"
            )
        };
        assert_eq!(value(&ab(0, 9), "ab.failures"), Some(25.0));
        assert_eq!(value(&ab(0, 9), "ab.latency.p50"), Some(0.0));
        assert_eq!(value(&ab(30, 0), "ab.failures"), Some(100.0));
        assert_eq!((value(&ab(30, 0), "ab.latency.p50"), value(&ab(30, 0), "ab.requests.rate")), (None, None));
        let cannon = "│ Stat │ 50% │\n│ Latency │ 0 ms │\n│ Stat │ Avg │\n│ Req/Sec │ 0 │\n514 errors (2 timeouts)\n0 2xx responses, 32 non 2xx\n";
        let told = ["latency.p50", "requests.rate", "errors", "timeouts", "non2xx"]
            .map(|name| value(cannon, &format!("autocannon.{name}")));
        assert_eq!(told, [None, Some(0.0), Some(514.0), Some(2.0), Some(32.0)]);
        let cannon = cannon.replace("32 non 2xx", "573 non 2xx responses");
        assert_eq!(value(&cannon, "autocannon.non2xx"), Some(573.0));
    }

    #[test]
    fn k6_s_metrics_are_those_of_its_json() {
        let text = "     checks.........................: 95.00% ✓ 190       ✗ 10\n     data_received..................: 2.2 MB  218 kB/s\n   ✓ http_req_duration..............: avg=117.55ms min=102.77ms med=115.5ms max=186.6ms p(90)=125.5ms p(95)=1m2.5s\n       { expected_response:true }...: avg=1ms med=1ms p(95)=1ms\n     http_req_failed................: 5.00%  ✓ 5         ✗ 95\n     http_reqs......................: 100     9.5/s\n     vus............................: 1       min=1      max=10\n";
        let told = [
            ("k6.checks.rate", 0.95),
            ("k6.http_req_duration.med", 115.5),
            ("k6.http_req_duration.p95", 62_500.0),
            ("k6.http_req_failed.rate", 0.05),
            ("k6.http_reqs.rate", 9.5),
        ];
        assert_eq!(values(text), expected(&told));
        let newer = "    checks_succeeded...: 100.00% 200 out of 200\n    http_reqs......: 10 2.5/s\n";
        assert_eq!(values(newer), expected(&[("k6.checks.rate", 1.0), ("k6.http_reqs.rate", 2.5)]));
    }

    #[test]
    fn what_is_cut_or_nobody_s_is_rejected() {
        let cut = parse(&Input::bytes("x", b"Summary:\n  Requests/sec:\t13")).unwrap_err();
        assert_eq!(cut.reject(), Some(Reject::Malformed));
        assert_eq!(parse(&Input::bytes("x", b"Requests/sec: 3\n")).unwrap_err().reject(), Some(Reject::NoResult));
        assert!(["", "5", "5 apples", "ms"].iter().all(|text| milliseconds(text).is_none()));
    }
}
