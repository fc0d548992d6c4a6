//! Bad input of every sort, numbered as in the design's list of bad reports: what must be rejected is, with its place and
//! with help, and what must be survived gives the same figures as its clean copy.

use std::io::Read;

use highwater::error::{Error, Reject};
use highwater::ingest::{self, Details, Input, Parsed, RawBytes, TestDetails};
use highwater::model::cases::Outcome;
use proptest::prelude::*;

fn read(format: &str, bytes: &[u8]) -> Result<Parsed, Error> {
    ingest::parse(&Input::bytes("report", bytes), Some(ingest::format(format).unwrap()))
}

fn sniffed(bytes: &[u8]) -> Result<Parsed, Error> {
    ingest::parse(&Input::bytes("report", bytes), None)
}

/// The code of the rejection, and its message.
fn rejected(format: &str, text: &str) -> (Reject, String) {
    let error = read(format, text.as_bytes()).unwrap_err();
    assert_eq!(error.place.path.as_deref(), Some("report"), "every error names the file");
    (error.reject().unwrap(), error.message.clone())
}

fn tests_of(parsed: &Parsed) -> &TestDetails {
    match &parsed.details {
        Details::Tests(details) => details,
        other => panic!("{other:?}"),
    }
}

/// tests, passed, failed, errored, skipped.
fn counts(parsed: &Parsed) -> [u64; 5] {
    let figures = &parsed.figures;
    [figures.tests, figures.passed, figures.failed, figures.errored, figures.skipped].map(Option::unwrap)
}

const JUNIT: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites><testsuite name=\"s\" tests=\"2\">\n<testcase classname=\"c\" name=\"a\" time=\"0.1\"/>\n<testcase classname=\"c\" name=\"b\"><failure message=\"no\"/></testcase></testsuite></testsuites>\n";
const LCOV: &str = "TN:\nSF:a.py\nDA:1,1\nDA:2,0\nend_of_record\n";
const SARIF: &str = "{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"x\"}},\"results\":[{\"level\":\"error\",\"message\":{\"text\":\"m\"}}]}]}\n";
const GO: &str = "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"T\"}\n{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"T\",\"Elapsed\":0.01}\n{\"Action\":\"pass\",\"Package\":\"p\"}\n";
const COBERTURA: &str = "<coverage line-rate=\"0.5\"><packages><package><classes><class filename=\"a.py\"><lines><line number=\"1\" hits=\"1\"/><line number=\"2\" hits=\"0\"/></lines></class></classes></package></packages></coverage>";

const CLEAN: [(&str, &str); 5] =
    [("junit", JUNIT), ("lcov", LCOV), ("sarif", SARIF), ("go-test-json", GO), ("cobertura", COBERTURA)];

#[test]
fn the_clean_ones_are_read() {
    for (format, text) in CLEAN {
        let parsed = sniffed(text.as_bytes()).unwrap();
        assert_eq!(parsed.format.name, format);
        assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
    }
    assert_eq!(counts(&read("junit", JUNIT.as_bytes()).unwrap()), [2, 1, 1, 0, 0]);
}

#[test]
fn p01_empty_in_every_way() {
    for format in ingest::FORMATS {
        for empty in ["", " \n\t\r\n", "\u{feff}", "\u{feff}\n"] {
            assert_eq!(rejected(format.name, empty).0, Reject::Empty, "{} {empty:?}", format.name);
        }
    }
    assert_eq!(sniffed(b"").unwrap_err().reject(), Some(Reject::Empty));
    assert!(ingest::detect(&Input::bytes("report", b"\n")).is_err());
}

#[test]
fn p02_cut_short_is_said_with_line_and_column() {
    let cut = &JUNIT[..JUNIT.len() - 30];
    let error = read("junit", cut.as_bytes()).unwrap_err();
    assert!(error.message.starts_with("test report ends before its root element is closed"), "{}", error.message);
    assert_eq!((error.place.line, error.place.column.is_some()), (Some(4), true));
    assert_eq!(error.cause.as_deref(), Some("read as junit, as told; the tag that begins at line 4 is not closed"));
    assert!(error.help.as_deref().unwrap().ends_with("leave it out: `begin` and `record` take --skip test"));
    let error = sniffed(&SARIF.as_bytes()[..SARIF.len() - 5]).unwrap_err();
    assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(1)));
    assert_eq!(error.cause.as_deref(), Some("read as sarif, by its content"));
    // An XML library may report a clean end here.
    for open in [
        "<testsuites><testsuite></testsuite>",
        "<testsuites>",
        "<testsuites",
        "<testsuites/",
        "<testsuites><!-- ",
        "<testsuites><![CDATA[]]",
    ] {
        assert_eq!(rejected("junit", open).0, Reject::Malformed, "{open}");
    }
    assert_eq!(sniffed(b"<?xml version=\"1.0\"?>\n").unwrap_err().reject(), Some(Reject::Malformed));
    assert_eq!(sniffed(b"<?xml version").unwrap_err().reject(), Some(Reject::Malformed));
}

#[test]
fn p03_other_text_is_no_report() {
    let html = "<!DOCTYPE html>\n<html><head><title>502</title></head><body>Bad <b>gateway</b></body></html>";
    for text in [
        html,
        "bash: pytest: command not found\n",
        "2026-01-01 INFO started\n2026-01-01 INFO done\n",
        "{\"a\": 1}",
        "[]",
        "null",
    ] {
        assert_eq!(ingest::detect(&Input::bytes("report", text.as_bytes())).unwrap(), None, "{text}");
        assert_eq!(sniffed(text.as_bytes()).unwrap_err().reject(), Some(Reject::NotThisFormat), "{text}");
        for (format, _) in CLEAN {
            let code = rejected(format, text).0;
            assert!(matches!(code, Reject::NotThisFormat | Reject::Malformed), "{format} {text}: {code:?}");
        }
    }
}

#[test]
fn p04_nul_bytes() {
    for (format, text) in CLEAN {
        assert_eq!(rejected(format, &"\0".repeat(5000)).0, Reject::Malformed, "{format}");
        let half = format!("{}{}", &text[..text.len() / 2], "\0".repeat(5000));
        assert_eq!(rejected(format, &half).0, Reject::Malformed, "{format}");
    }
    assert_eq!(sniffed(&[0; 100]).unwrap_err().reject(), Some(Reject::Malformed));
}

#[test]
fn p05_text_around_the_document() {
    let before = format!("Running tests...\nDone.\n{JUNIT}");
    for error in [read("junit", before.as_bytes()), sniffed(before.as_bytes())].map(Result::unwrap_err) {
        assert_eq!(error.reject(), Some(Reject::Malformed));
        assert!(error.message.contains("before the XML declaration"), "{}", error.message);
        assert!(error.help.as_deref().unwrap().contains("output"));
    }
    assert_eq!(rejected("junit", &format!("{JUNIT}Done.\n")).0, Reject::Malformed);
    assert!(read("junit", format!("\n \n{JUNIT}\n\n").as_bytes()).is_ok(), "blank lines may stand before it");
    for around in [format!("> eslint .\n\n{SARIF}"), format!("{SARIF}npm notice\n"), format!("a\n{SARIF}\nb {{}}")] {
        assert_eq!(sniffed(around.as_bytes()).unwrap().figures.errors, Some(1), "{around}");
    }
    let between = GO.replace('\n', "\nsome output\n");
    assert_eq!(counts(&sniffed(between.as_bytes()).unwrap()), [1, 1, 0, 0, 0]);
}

#[test]
fn p06_two_documents_in_one_file() {
    assert_eq!(rejected("junit", &JUNIT.repeat(2)).0, Reject::Malformed);
    assert_eq!(rejected("junit", "<testsuites/><testsuites/>").1, "a second document follows in the same file");
    assert_eq!(rejected("cobertura", &COBERTURA.repeat(2)).0, Reject::Malformed);
    assert_eq!(rejected("sarif", &SARIF.repeat(2)).1, "a second JSON document follows in the same file");
    assert_eq!(rejected("sarif", &SARIF.trim().repeat(2)).0, Reject::Malformed);
    let inside = JUNIT.replace("<testcase classname=\"c\" name=\"a\"", &format!("{JUNIT}<testcase"));
    assert_eq!(rejected("junit", &inside).0, Reject::Malformed);
}

#[test]
fn p07_a_wrong_root_says_what_it_looks_like() {
    for format in ["junit", "lcov", "sarif", "go-test-json"] {
        let (input, told) = (Input::bytes("report", COBERTURA.as_bytes()), ingest::format(format));
        let error = ingest::parse_all(&input, told).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{format}");
        let cause = error.cause.as_deref().unwrap();
        assert!(cause.contains("; it looks like cobertura (root element coverage"), "{cause}");
    }
    assert_eq!(rejected("cobertura", JUNIT).0, Reject::NotThisFormat);
    assert_eq!(rejected("cobertura", "<coverage><project/></coverage>").0, Reject::NotThisFormat);
}

#[test]
fn p08_byte_order_mark_and_line_ends() {
    for (format, text) in CLEAN {
        let figures = read(format, text.as_bytes()).unwrap().figures;
        for variant in [format!("\u{feff}{text}"), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
            assert_eq!(sniffed(variant.as_bytes()).unwrap().figures, figures, "{format}");
        }
    }
}

#[test]
fn p09_utf16_and_declared_latin_1() {
    for (format, text) in CLEAN {
        let figures = read(format, text.as_bytes()).unwrap().figures;
        let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect();
        for bytes in [little, big] {
            let parsed = sniffed(&bytes).unwrap_or_else(|error| panic!("{format}: {error}"));
            assert_eq!((parsed.format.name, parsed.figures), (format, figures.clone()));
        }
    }
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><testsuites><testcase classname=\"c\" name=\"\xe9t\xe9\"/></testsuites>";
    assert_eq!(tests_of(&sniffed(latin).unwrap()).cases.outcome("c::été"), Some(Outcome::Passed));
}

#[test]
fn p10_invalid_utf8_is_replaced_and_ids_stay_distinct() {
    let junit = b"<testsuites><testcase name=\"a\xff\"/><testcase name=\"a\xfe\"><failure message=\"\xc3(\"/></testcase></testsuites>";
    let parsed = sniffed(junit).unwrap();
    assert_eq!(counts(&parsed), [2, 1, 1, 0, 0]);
    let ids: Vec<&str> = tests_of(&parsed).cases.cases.keys().map(String::as_str).collect();
    assert_eq!(ids, ["a\\xfe", "a\\xff"]);
    let go = b"{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"\xff\"}\n{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"\xfe\"}\n";
    assert_eq!(tests_of(&sniffed(go).unwrap()).cases.cases.len(), 2);
}

#[test]
fn p11_control_characters_are_stored_escaped() {
    let junit = "<testsuites><testcase name=\"a\x1b]52;c;AAAA\x07\"><failure>\x1b[31mred &#27;[0m\u{202e}</failure><system-out><![CDATA[\x1b[1m \x00 \x01]]></system-out></testcase></testsuites>";
    let parsed = sniffed(junit.as_bytes()).unwrap();
    let (id, case) = tests_of(&parsed).cases.cases.first_key_value().unwrap();
    assert_eq!(id, "a\\x1b]52;c;AAAA\\x07");
    assert_eq!(case.message.as_deref(), Some("red \\u{202e}"));
    let sarif = SARIF.replace("\"m\"", "\"\\u001b[31mred\\u0000\"");
    let Details::Lint(details) = sniffed(sarif.as_bytes()).unwrap().details else { panic!("lint") };
    assert_eq!(details.findings[0].message, "red\\x00");
}

#[test]
fn p12_xml_that_is_not_well_formed() {
    for bad in [
        "<testsuites><testsuite></testsuites></testsuite>",
        "<testsuites></testsuite>",
        "<testsuites><testcase name=a/></testsuites>",
        "<testsuites><testcase name/></testsuites>",
        "<testsuites><testcase name=\"a\" name=\"b\"/></testsuites>",
        "<testsuites><testcase name=\"a<b\"/></testsuites>",
        "<testsuites><testcase name=\"a & b\"/></testsuites>",
        "<testsuites>a & b</testsuites>",
        "<testsuites>&;</testsuites>",
        "<testsuites>< testcase/></testsuites>",
        "<testsuites><></testsuites>",
        "<testsuites><1/></testsuites>",
        "<testsuites><!ELEMENT x></testsuites>",
        "</testsuites>",
        "<testsuites/></testsuites>",
        "<testsuites/><![CDATA[x]]>",
        "<testsuites/>x",
    ] {
        let (code, _) = rejected("junit", bad);
        assert_eq!(code, Reject::Malformed, "{bad}");
        let place = read("junit", bad.as_bytes()).unwrap_err().into_fault().place;
        assert!(place.line.is_some() && place.column.is_some(), "{bad}");
    }
}

#[test]
fn p13_a_document_type_is_passed_over() {
    let doctype = "<?xml version=\"1.0\"?>\n<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n";
    assert_eq!(sniffed(format!("{doctype}{COBERTURA}").as_bytes()).unwrap().figures.lines_total, Some(2));
    let subset = "<!DOCTYPE coverage [ <!-- it's > --> <!ENTITY a \"]>\"> ]>";
    assert_eq!(sniffed(format!("{subset}{COBERTURA}").as_bytes()).unwrap().figures.lines_covered, Some(1));
}

#[test]
fn p14_entities_are_never_expanded() {
    let laughs = "<!DOCTYPE testsuites [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;\">]>";
    let name = format!("{laughs}<testsuites><testcase name=\"&c;\"/></testsuites>");
    assert_eq!(rejected("junit", &name), (Reject::Malformed, "entity \"c\" is not known".into()));
    let xxe = "<!DOCTYPE testsuites [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><testsuites><testcase name=\"&x;\"/></testsuites>";
    assert_eq!(rejected("junit", xxe).0, Reject::Malformed);
    // Where no figure needs it, it stays as it stands.
    let text = format!("{laughs}<testsuites><testcase name=\"n\"><failure>&c;</failure></testcase></testsuites>");
    let parsed = read("junit", text.as_bytes()).unwrap();
    assert_eq!(tests_of(&parsed).cases.cases["n"].message.as_deref(), Some("&c;"));
}

#[test]
fn p15_nesting_has_a_limit() {
    let nested = |depth: usize| format!("{}{}", "<testsuite>".repeat(depth), "</testsuite>".repeat(depth));
    assert!(read("junit", nested(256).as_bytes()).is_ok());
    for depth in [257, 1_000_000] {
        let (code, message) = rejected("junit", &nested(depth));
        assert!(code == Reject::Malformed && message.starts_with("too deep"), "{message}");
    }
    let lists = |depth: usize| {
        SARIF.replace("\"version\"", &format!("\"x\":{}{},\"version\"", "[".repeat(depth), "]".repeat(depth)))
    };
    assert!(read("sarif", lists(126).as_bytes()).is_ok());
    for depth in [127, 1_000_000] {
        let (code, message) = rejected("sarif", &lists(depth));
        assert!(code == Reject::Malformed && message.starts_with("too deep"), "{message}");
    }
}

#[test]
fn p16_long_attributes_are_refused_and_long_text_is_skipped() {
    let long = "x".repeat(9 * 1024 * 1024);
    let attribute = format!("<testsuites><testcase name=\"{long}\"/></testsuites>");
    assert_eq!(rejected("junit", &attribute), (Reject::Malformed, "a tag is longer than 8 MiB".into()));
    for text in [format!("<![CDATA[{long}]]>"), long.clone(), format!("<!--{long}-->"), format!("<?x {long}?>")] {
        let junit = format!("<testsuites><testcase name=\"n\"><system-out>{text}</system-out></testcase></testsuites>");
        assert_eq!(counts(&read("junit", junit.as_bytes()).unwrap()), [1, 1, 0, 0, 0]);
    }
    assert_eq!(rejected("lcov", &format!("SF:{long}\nend_of_record\n")).0, Reject::Malformed);
    assert_eq!(counts(&read("go-test-json", format!("{long}\n{GO}").as_bytes()).unwrap()), [1, 1, 0, 0, 0]);
}

#[test]
fn p17_attributes_have_a_limit() {
    let many = |count: usize, kind: &str| {
        let attributes: String = (0..count).map(|n| format!(" {kind}a{n}=\"\"")).collect();
        format!("<testsuites{attributes}/>")
    };
    assert!(read("junit", many(256, "").as_bytes()).is_ok());
    for bad in [many(257, ""), many(100_000, ""), many(100_000, "xmlns:")] {
        assert_eq!(rejected("junit", &bad).0, Reject::Malformed);
    }
}

/// Endless test cases, as a report of `count` of them.
struct Cases {
    left: u64,
    rest: Vec<u8>,
}

impl RawBytes for Cases {}

impl Read for Cases {
    fn read(&mut self, target: &mut [u8]) -> std::io::Result<usize> {
        if self.rest.is_empty() && self.left > 0 {
            self.left -= 1;
            self.rest = match self.left {
                0 => b"</testsuite>".to_vec(),
                left => format!("<testcase classname=\"c\" name=\"t{left}\"/>").into_bytes(),
            };
        }
        let length = self.rest.len().min(target.len());
        target[..length].copy_from_slice(&self.rest[..length]);
        self.rest.drain(..length);
        Ok(length)
    }
}

#[test]
fn p18_p19_many_tests_are_counted_and_a_limit_holds() {
    let open = || Ok(Box::new(Cases { left: 250_002, rest: b"<testsuite>".to_vec() }) as Box<dyn RawBytes>);
    let parsed = ingest::parse(&Input::source("pipe", &open, 1 << 30), None).unwrap();
    assert_eq!(counts(&parsed)[0], 250_001);
    assert_eq!(tests_of(&parsed).dropped, 100_001);
    assert!(parsed.warnings.iter().any(|warning| warning.contains("not kept")));
    let error = ingest::parse(&Input::source("pipe", &open, 1_000_000), None).unwrap_err();
    assert_eq!(error.reject(), Some(Reject::Refused));
    assert!(error.message.contains("1000000 bytes") && error.cause.is_none());
}

#[test]
fn p20_a_key_twice_in_one_object() {
    for (once, twice) in [
        ("\"version\":\"2.1.0\"", "\"version\":\"2.1.0\",\"version\":\"2.1.0\""),
        ("\"level\":\"error\"", "\"level\":\"error\",\"level\":\"note\""),
        ("\"runs\":[", "\"runs\":[],\"runs\":["),
        ("\"results\":[", "\"results\":[],\"results\":["),
    ] {
        let (code, message) = rejected("sarif", &SARIF.replace(once, twice));
        assert!(code == Reject::Malformed && message.contains("duplicate"), "{twice}: {message}");
    }
}

#[test]
fn p21_p22_p23_p24_numbers_that_are_none() {
    for hits in
        ["NaN", "inf", "1e400", "3.7", "18446744073709551616", "\"1\"", "1,234", "1 %", "+5", "１２", "", "0x1", "--1"]
    {
        let lcov = LCOV.replace("DA:1,1", &format!("DA:1,{hits}"));
        // lcov's third field is a checksum, so "1,234" is one hit there.
        assert_eq!(read("lcov", lcov.as_bytes()).is_ok(), hits == "1,234", "{hits}");
        let cobertura = COBERTURA.replace("hits=\"1\"", &format!("hits='{hits}'"));
        assert_eq!(rejected("cobertura", &cobertura).0, Reject::Malformed, "{hits}");
    }
    for (text, lines) in [("DA:1,-1", 2), ("DA:0,5", 1)] {
        let figures = read("lcov", LCOV.replace("DA:1,1", text).as_bytes()).unwrap().figures;
        assert_eq!((figures.lines_covered, figures.lines_total), (Some(0), Some(lines)), "{text}");
    }
    assert!(read("lcov", LCOV.replace("DA:2,0", "DA:99999999999,0").as_bytes()).is_err());
    assert!(read("lcov", LCOV.replace("end_of", "LF:18446744073709551615\nLF:1\nend_of").as_bytes()).is_err());
    // What no figure comes from is not held against the report.
    let junit = JUNIT.replace("tests=\"2\"", "tests=\"-1\" failures=\"1e400\"");
    assert_eq!(counts(&read("junit", junit.as_bytes()).unwrap()), [2, 1, 1, 0, 0]);
}

#[test]
fn p25_more_covered_than_there_is() {
    let branch = COBERTURA.replace("hits=\"1\"", "hits=\"1\" condition-coverage=\"200% (4/2)\"");
    assert_eq!(rejected("cobertura", &branch), (Reject::Malformed, "4 of 2 branches covered".into()));
}

#[test]
fn p21_p22_p24_p25_percentages() {
    let share = |text: &str| {
        let json = format!("{{\"result\":{{\"line\":{text}}}}}");
        read("simplecov-last-run", json.as_bytes()).map(|parsed| parsed.figures.percent_covered.unwrap().get())
    };
    for (text, expected) in [("0", 0.0), ("-0.0", 0.0), ("100", 100.0), ("71.42", 71.42)] {
        let share = share(text).unwrap();
        assert!(share == expected && share.is_sign_positive(), "{text}");
    }
    for bad in ["101", "-1", "1e400", "NaN", "Infinity", "inf", "\"71\"", "71 %", "1,5", "+5", "null"] {
        assert_eq!(share(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
    }
    for bad in ["101.0%", "-1.0%", "1e400%", "NaN%", "inf%", "1,5%", "５%", "5"] {
        let text = format!("a.go:3:\tf\t50.0%\ntotal:\t(statements)\t{bad}\n");
        assert_eq!(rejected("go-cover-func", &text).0, Reject::Malformed, "{bad}");
    }
}

#[test]
fn p26_p27_nothing_at_all_is_said_as_zero_of_zero() {
    let figures = read("lcov", b"SF:a\nend_of_record\n").unwrap().figures;
    assert_eq!((figures.lines_covered, figures.lines_total, figures.branches_total), (Some(0), Some(0), None));
    let none = read("cobertura", b"<coverage><packages/></coverage>").unwrap().figures;
    assert_eq!((none.lines_covered, none.lines_total), (Some(0), Some(0)));
    let no_tests = read("junit", b"<testsuites/>").unwrap();
    assert_eq!(counts(&no_tests), [0; 5]);
    assert_eq!(no_tests.figures.flaky, None);
}

#[test]
fn p28_elements_stand_against_the_header() {
    let parsed = read("junit", JUNIT.replace("tests=\"2\"", "tests=\"50\" failures=\"1\"").as_bytes()).unwrap();
    assert_eq!(counts(&parsed), [2, 1, 1, 0, 0]);
    assert_eq!(parsed.declared.unwrap().tests, Some(50));
    assert_eq!(parsed.warnings, ["the report's own totals say tests 50, but its elements add up to 2"]);
    let lcov = read("lcov", LCOV.replace("end_of", "LF:3\nLH:1\nend_of").as_bytes()).unwrap();
    assert_eq!((lcov.figures.lines_total, lcov.declared.unwrap().lines_total), (Some(2), Some(3)));
    assert_eq!(read("junit", JUNIT.as_bytes()).unwrap().declared, None);
}

#[test]
fn p29_the_same_test_twice_is_two_tests_and_the_worse_by_name() {
    let twice = "<testsuite><testcase name=\"a\"><failure/></testcase><testcase name=\"a\"/></testsuite>";
    let parsed = read("junit", twice.as_bytes()).unwrap();
    assert_eq!(counts(&parsed), [2, 1, 1, 0, 0]);
    assert_eq!(tests_of(&parsed).cases.outcome("a"), Some(Outcome::Failed));
    assert_eq!((tests_of(&parsed).duplicates, parsed.warnings.len()), (1, 1));
}

#[test]
fn p30_half_a_surrogate_pair_and_nul_in_names() {
    let junit = "<testsuites><testcase name=\"a&#xD800;&#0;&#99999999;\"/></testsuites>";
    assert_eq!(
        tests_of(&read("junit", junit.as_bytes()).unwrap()).cases.outcome("a&#xD800;&#0;&#99999999;"),
        Some(Outcome::Passed)
    );
    let name = |name: &str| GO.replace("\"T\"", &format!("\"{name}\""));
    assert!(tests_of(&read("go-test-json", name("a\\u0000").as_bytes()).unwrap()).cases.outcome("p::a\\x00").is_some());
    let half = name("a\\ud800");
    assert!(tests_of(&read("go-test-json", half.as_bytes()).unwrap()).cases.outcome("p::a\\ud800").is_some());
    assert_eq!(rejected("go-test-json", &name("a\"")), (Reject::Malformed, "an event is damaged".into()));
    assert_eq!(rejected("sarif", &SARIF.replace("\"m\"", "\"\\ud800\"")).0, Reject::Malformed);
}

#[test]
fn p31_p32_open_records() {
    let cut = LCOV.replace("end_of_record\n", "");
    let error = read("lcov", cut.as_bytes()).unwrap_err();
    assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(4)));
    assert_eq!(rejected("lcov", "SF:a\nDA:1,1\nSF:b\nend_of_record\n").0, Reject::Malformed);
    assert_eq!(rejected("lcov", &format!("{LCOV}TN:\n")).0, Reject::Malformed);
    assert_eq!(rejected("lcov", &format!("{LCOV}end_of_record\n")).0, Reject::Malformed);
    let unfinished = GO.lines().next().unwrap();
    assert_eq!(counts(&read("go-test-json", unfinished.as_bytes()).unwrap()), [1, 0, 1, 0, 0]);
    let cut = format!("{unfinished}\n{{\"Action\":\"pa");
    let error = read("go-test-json", cut.as_bytes()).unwrap_err();
    assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)));
}

#[test]
fn p33_missing_attributes() {
    let parsed = read("cobertura", COBERTURA.replace(" hits=\"0\"", "").as_bytes()).unwrap();
    assert_eq!((parsed.figures.lines_total, parsed.warnings.len()), (Some(1), 1));
    let nothing = COBERTURA.replace(" hits=\"0\"", "").replace(" number=\"1\"", "");
    assert_eq!(rejected("cobertura", &nothing).0, Reject::Malformed);
    assert!(read("cobertura", COBERTURA.replace(" line-rate=\"0.5\"", "").as_bytes()).is_ok());
    let bare = "<testsuites><testsuite><testcase/><testcase><error/></testcase></testsuite></testsuites>";
    assert_eq!(counts(&read("junit", bare.as_bytes()).unwrap()), [2, 1, 0, 1, 0]);
}

#[test]
fn p34_odd_times_are_absent() {
    for (time, expected) in [("0.1", Some(100)), ("1,5", None), ("1.5e3", None), ("-3", None), ("NaN", None)] {
        let parsed = read("junit", JUNIT.replace("0.1", time).as_bytes()).unwrap();
        assert_eq!(tests_of(&parsed).cases.cases["c::a"].duration_ms, expected, "{time}");
    }
}

#[test]
fn p35_versions() {
    let version = |version: &str| SARIF.replace("2.1.0", version);
    for known in ["2.1.0", "2.1.0-rtm.5", "2.1"] {
        assert!(read("sarif", version(known).as_bytes()).unwrap().warnings.is_empty(), "{known}");
    }
    assert_eq!(read("sarif", version("2.2.0").as_bytes()).unwrap().warnings.len(), 1);
    for old in ["2.0.0", "1.0.0", "3.0", "x", ""] {
        assert_eq!(rejected("sarif", &version(old)).0, Reject::UnsupportedVersion, "{old}");
    }
    assert_eq!(rejected("sarif", &SARIF.replace("version", "edition")).0, Reject::NotThisFormat);
}

#[test]
fn p42_compressed_files_are_named_so() {
    for (magic, how) in [(&b"\x1f\x8b\x08\0"[..], "gzip"), (b"PK\x03\x04", "zip"), (b"\x28\xb5\x2f\xfd", "zstd")] {
        let error = sniffed(magic).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
        assert!(error.message.contains(how) && error.help.is_some(), "{error}");
    }
}

#[test]
fn p43_paths_inside_are_text_only() {
    for path in ["../../etc/passwd", "C:\\x", "https://example.org/x.py", "/dev/zero"] {
        let parsed = read("lcov", LCOV.replace("a.py", path).as_bytes()).unwrap();
        let Details::Coverage(details) = parsed.details else { panic!("coverage") };
        assert_eq!(details.files.keys().collect::<Vec<_>>(), [path]);
    }
}

#[test]
fn a_source_that_cannot_be_read_is_a_failure_of_the_machine() {
    let open = || Err(std::io::Error::other("device gone"));
    let error = ingest::parse(&Input::source("disk", &open, 100), None).unwrap_err();
    assert_eq!((error.reject(), error.cause.as_deref()), (None, Some("device gone")));
    assert_eq!(error.place.path.as_deref(), Some("disk"));
}

/// Bytes are read in chunks of 64 KiB: whatever their border cuts is put together again.
#[test]
fn a_border_between_chunks_changes_nothing() {
    let junit =
        "<testsuites><!-- c --><testcase name=\"é\"><failure>a&amp;b<![CDATA[x]]]]></failure></testcase></testsuites>";
    for (format, text) in CLEAN.into_iter().chain([("junit", junit)]) {
        let text = text.trim_start_matches("<?xml version=\"1.0\" encoding=\"utf-8\"?>");
        let whole = read(format, text.as_bytes()).unwrap();
        for before in (0..text.len()).step_by(7) {
            let padded = format!("{}\n{text}", " ".repeat(64 * 1024 - 1 - before));
            let parsed =
                read(format, padded.as_bytes()).unwrap_or_else(|error| panic!("{format} at {before}: {error}"));
            assert_eq!((&parsed.figures, &parsed.details), (&whole.figures, &whole.details), "{format} at {before}");
        }
    }
}

/// Pieces that parsers look for, so that random input gets past their first line.
fn shards() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "<testsuites>",
        "<testsuite name=\"pytest\" tests=\"1\">",
        "<testcase name=\"a\" ",
        "/>",
        "<failure>",
        "</failure>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<?xml ",
        "?>",
        "<!DOCTYPE [",
        "]>",
        "&#x0;",
        "&amp;",
        "\"",
        "'",
        "<coverage><packages>",
        "<class filename='a'>",
        "<lines>",
        "<line number=\"1\" hits=\"1\"/>",
        "SF:a\n",
        "DA:1,1\n",
        "BRDA:1,0,0,-\n",
        "end_of_record\n",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"runs\"",
        "\"version\"",
        "\"2.1.0\"",
        "\"results\"",
        "\"Action\":\"run\"",
        "\"Test\":\"T\"",
        "null",
        "1e400",
        "-1",
        "\r",
        "\n",
        "\u{feff}",
        "\x1b[",
        "\0",
        "test result: ok. 1 passed; 0 failed;",
        "== 1 passed in 0.1s ==\n",
        "error[E0308]: x\n",
    ];
    let piece = prop_oneof![
        4 => proptest::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_parse_or_err(bytes in shards()) {
        let input = Input::bytes("any", &bytes);
        for format in ingest::FORMATS.iter().copied().map(Some).chain([None]) {
            match ingest::parse(&input, format) {
                Ok(parsed) => {
                    let figures = parsed.figures;
                    let parts = [figures.passed, figures.failed, figures.errored, figures.skipped];
                    if let Some(tests) = figures.tests {
                        prop_assert_eq!(Some(tests), parts.into_iter().sum::<Option<u64>>());
                    }
                    prop_assert!(figures.lines_covered <= figures.lines_total);
                }
                Err(error) => prop_assert!(error.reject().is_some(), "{}", error),
            }
        }
    }
}
