//! Large reports, and the barest loops that can be run over them: what `benches/big.sh` and `benches/speed.sh` measure with.
//!
//! `cargo bench --bench reports -- write FAMILY MEGABYTES` prints a report, the same bytes each time;
//! `cargo bench --bench reports -- bare FAMILY FILE` runs the loop and prints what it counted.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a bench, not the product")]

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use serde::Deserialize;
use serde::de::IgnoredAny;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", family, megabytes] => write(family, megabytes.parse().unwrap()),
        ["bare", family, file] => println!("{}", bare(family, file)),
        _ => println!("see benches/big.sh and benches/speed.sh, which call this"),
    }
}

/// A report in pieces of some kilobytes each.
struct Family {
    before: &'static str,
    piece: fn(u64, &mut String),
    between: &'static str,
    after: &'static str,
}

fn family(name: &str) -> Family {
    match name {
        "junit" => Family {
            before: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n",
            piece: junit,
            between: "",
            after: "</testsuites>\n",
        },
        "lcov" => Family { before: "TN:\n", piece: lcov, between: "", after: "" },
        "cobertura" => Family {
            before: "<?xml version=\"1.0\" ?>\n<coverage line-rate=\"0.5\" branch-rate=\"0.5\" version=\"7.6\" timestamp=\"1\">\n\
                     <sources><source>/src</source></sources>\n<packages><package name=\"app\" line-rate=\"0.5\"><classes>\n",
            piece: cobertura,
            between: "",
            after: "</classes></package></packages>\n</coverage>\n",
        },
        "go-test-json" => Family { before: "", piece: go_test_json, between: "", after: "" },
        "sarif" => Family {
            before: "{\"version\":\"2.1.0\",\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"runs\":[{\"tool\":\
                     {\"driver\":{\"name\":\"scan\",\"rules\":[{\"id\":\"R0\"},{\"id\":\"R1\",\"defaultConfiguration\":\
                     {\"level\":\"error\"}}]}},\"results\":[\n",
            piece: sarif,
            between: ",\n",
            after: "\n]}]}\n",
        },
        _ => panic!("no family {name}"),
    }
}

fn write(name: &str, megabytes: u64) {
    let family = family(name);
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let mut piece = String::new();
    let mut written = 0;
    out.write_all(family.before.as_bytes()).unwrap();
    for number in 0.. {
        piece.clear();
        (family.piece)(number, &mut piece);
        if number > 0 {
            out.write_all(family.between.as_bytes()).unwrap();
        }
        out.write_all(piece.as_bytes()).unwrap();
        written += piece.len() as u64;
        if written >= megabytes * 1_000_000 {
            break;
        }
    }
    out.write_all(family.after.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// A suite of 50 tests, one of which fails with ten lines of traceback.
fn junit(number: u64, text: &mut String) {
    writeln!(text, "<testsuite name=\"tests.test_m{number}\" tests=\"50\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"1.250\">")
        .unwrap();
    for test in 0..50 {
        write!(text, "  <testcase classname=\"tests.test_m{number}.TestThing\" name=\"test_case_{test}[a-{test}]\" time=\"0.0{test:02}\"")
            .unwrap();
        match test {
            7 => {
                text.push_str("><failure message=\"assert 1 == 2&#10;  where 1 = f()\" type=\"AssertionError\">");
                for line in 0..10 {
                    writeln!(text, "tests/test_m{number}.py:{line}: in test_case &lt;lambda&gt;").unwrap();
                }
                text.push_str("</failure></testcase>\n");
            }
            9 => text.push_str("><skipped message=\"later\"/></testcase>\n"),
            _ => text.push_str("/>\n"),
        }
    }
    text.push_str("</testsuite>\n");
}

/// A source file of 400 lines, of which 160 can run, with 10 functions and 20 branches.
fn lcov(number: u64, text: &mut String) {
    writeln!(text, "SF:src/part{}/file{number}.c", number % 97).unwrap();
    for function in 0..10 {
        writeln!(text, "FN:{},do_thing_{function}", function * 40 + 1).unwrap();
    }
    for function in 0..10 {
        writeln!(text, "FNDA:{},do_thing_{function}", function % 3).unwrap();
    }
    text.push_str("FNF:10\nFNH:6\n");
    for branch in 0..20 {
        writeln!(text, "BRDA:{},0,{},{}", branch * 10 + 3, branch % 2, if branch % 5 == 0 { "-" } else { "4" })
            .unwrap();
    }
    text.push_str("BRF:20\nBRH:16\n");
    for line in 0..160 {
        writeln!(text, "DA:{},{}", line * 5 / 2 + 1, (line + number) % 7).unwrap();
    }
    let covered = (0..160).filter(|line: &u64| !(line + number).is_multiple_of(7)).count();
    writeln!(text, "LF:160\nLH:{covered}\nend_of_record").unwrap();
}

fn cobertura(number: u64, text: &mut String) {
    writeln!(
        text,
        "<class name=\"file{number}\" filename=\"src/part{}/file{number}.py\" line-rate=\"0.85\" branch-rate=\"0.5\" complexity=\"0\">\
         <methods/><lines>",
        number % 97
    )
    .unwrap();
    for line in 0..160 {
        let (at, hits) = (line * 5 / 2 + 1, (line + number) % 7);
        if line % 8 == 0 {
            writeln!(text, "<line number=\"{at}\" hits=\"{hits}\" branch=\"true\" condition-coverage=\"50% (1/2)\"/>")
                .unwrap();
        } else {
            writeln!(text, "<line number=\"{at}\" hits=\"{hits}\"/>").unwrap();
        }
    }
    text.push_str("</lines></class>\n");
}

/// A package of 20 tests with some output.
fn go_test_json(number: u64, text: &mut String) {
    let mut event = |action: &str, rest: &str| {
        writeln!(
            text,
            "{{\"Time\":\"2024-05-01T12:00:00.123456789Z\",\"Action\":\"{action}\",\"Package\":\"example.org/m/p{number}\"{rest}}}"
        )
        .unwrap();
    };
    event("start", "");
    for test in 0..20 {
        let name = format!(",\"Test\":\"TestThing{test}\"");
        event("run", &name);
        event("output", &format!("{name},\"Output\":\"=== RUN   TestThing{test}\\n\""));
        event("output", &format!("{name},\"Output\":\"    thing_test.go:{test}: got \\\"3\\\" want 4\\n\""));
        let (mark, action) = if test == 13 { ("FAIL", "fail") } else { ("PASS", "pass") };
        event("output", &format!("{name},\"Output\":\"--- {mark}: TestThing{test} (0.01s)\\n\""));
        event(action, &format!("{name},\"Elapsed\":0.01"));
    }
    event("output", ",\"Output\":\"FAIL\\n\"");
    event("fail", ",\"Elapsed\":0.25");
}

fn sarif(number: u64, text: &mut String) {
    for result in 0..10 {
        let comma = if result == 0 { "" } else { ",\n" };
        write!(
            text,
            "{comma}{{\"ruleId\":\"R{}\",\"ruleIndex\":{},\"message\":{{\"text\":\"The name 'x{result}' is defined but never used here.\"}},\
             \"locations\":[{{\"physicalLocation\":{{\"artifactLocation\":{{\"uri\":\"src/part{}/file{number}.c\",\"uriBaseId\":\"SRCROOT\"}},\
             \"region\":{{\"startLine\":{},\"startColumn\":5,\"endColumn\":17}}}}}}],\"partialFingerprints\":{{\"hash\":\"{number:016x}:{result}\"}}}}",
            result % 2,
            result % 2,
            number % 97,
            result * 3 + 1
        )
        .unwrap();
    }
}

/// Runs the barest loop that could do the work at all, and returns something that it counted.
fn bare(family: &str, path: &str) -> u64 {
    let file = std::fs::File::open(path).unwrap();
    match family {
        "junit" | "cobertura" => bare_xml(BufReader::with_capacity(1 << 16, file)),
        "lcov" => bare_lines(BufReader::with_capacity(1 << 16, file)),
        "go-test-json" => bare_json_lines(BufReader::with_capacity(1 << 16, file)),
        "sarif" => bare_sarif(file),
        _ => panic!("no family {family}"),
    }
}

/// Events of quick-xml, attributes not looked at.
fn bare_xml(file: impl BufRead) -> u64 {
    let mut reader = quick_xml::Reader::from_reader(file);
    let (mut buffer, mut events) = (Vec::new(), 0);
    loop {
        match reader.read_event_into(&mut buffer).unwrap() {
            quick_xml::events::Event::Eof => return events,
            _ => events += 1,
        }
        buffer.clear();
    }
}

/// Lines by memchr, one by one.
fn bare_lines(mut file: impl BufRead) -> u64 {
    let (mut line, mut ended) = (Vec::new(), 0);
    while file.read_until(b'\n', &mut line).unwrap() > 0 {
        ended += u64::from(std::hint::black_box(&line).starts_with(b"end_of_record"));
        line.clear();
    }
    ended
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event<'a> {
    #[serde(borrow)]
    action: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    package: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    test: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<std::borrow::Cow<'a, str>>,
}

/// serde_json over each line.
fn bare_json_lines(mut file: impl BufRead) -> u64 {
    let (mut line, mut tests) = (Vec::new(), 0);
    while file.read_until(b'\n', &mut line).unwrap() > 0 {
        let event: Event<'_> = serde_json::from_slice(&line).unwrap();
        std::hint::black_box((&event.package, &event.output));
        tests += u64::from(event.test.is_some() && event.action == "pass");
        line.clear();
    }
    tests
}

#[derive(Deserialize)]
struct Log {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    results: Vec<Finding>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: Option<String>,
    level: Option<String>,
    message: Option<Message>,
    locations: Option<Vec<Location>>,
    #[serde(default)]
    suppressions: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Message {
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Option<Physical>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Option<Artifact>,
    region: Option<Region>,
}

#[derive(Deserialize)]
struct Artifact {
    uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: Option<u64>,
}

/// serde_json into the smallest types that hold what a finding is.
fn bare_sarif(file: impl Read) -> u64 {
    let log: Log = serde_json::from_reader(BufReader::with_capacity(1 << 16, file)).unwrap();
    let results = log.runs.iter().flat_map(|run| &run.results);
    let counts = |result: &Finding| {
        let place = result.locations.iter().flatten().find_map(|one| one.physical_location.as_ref());
        let line = place.and_then(|place| place.region.as_ref()?.start_line);
        let uri = place.and_then(|place| place.artifact_location.as_ref()?.uri.as_ref());
        std::hint::black_box((&result.rule_id, &result.message.as_ref().and_then(|one| one.text.as_ref()), line, uri));
        result.level.as_deref() != Some("none") && result.suppressions.is_empty()
    };
    results.filter(|result| counts(result)).count() as u64
}
