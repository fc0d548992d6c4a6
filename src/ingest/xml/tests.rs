use super::*;
use crate::error::Reject;

/// What comes out, with the place where each element begins.
fn events(text: &str) -> Result<String> {
    let input = Input::bytes("x", text.as_bytes());
    let mut xml = Xml::new(&input)?;
    let mut seen = String::new();
    loop {
        match xml.next()? {
            Event::Start(element) => {
                seen.push_str(&format!("<{} {}:{}>", element.name(), element.spot().line, element.spot().column));
            }
            Event::Text(text, true) => seen.push_str(&format!("[{text}]")),
            Event::Text(text, false) => seen.push_str(text),
            Event::End => seen.push_str("</>"),
            Event::Done => return Ok(seen),
        }
    }
}

fn fault(text: &str) -> (String, u64, u64) {
    let error = events(text).unwrap_err();
    assert_eq!(error.reject(), Some(Reject::Malformed));
    (error.message.clone(), error.place.line.unwrap(), error.place.column.unwrap())
}

#[test]
fn elements_have_their_place() {
    let text = "\n<?xml version='1.0'?>\n<!-- é -->\n <a é='&lt;'>é<b\n x='>'/><x:c>&amp;<![CDATA[<d>]]]]><![CDATA[]]></x:c></a>\n<!-- --> <?y?>";
    assert_eq!(events(text).unwrap(), "<a 4:2>é<b 4:15></><c 5:9>&amp;[<d>]]]</></>");
}

#[test]
fn attributes_are_unescaped_once() {
    let input = Input::bytes("x", b"<p:a b='&amp;lt;&#65;&#x42;' c=\"&quot;&apos;\" xmlns:p='n' d=''/>");
    let mut xml = Xml::new(&input).unwrap();
    let Event::Start(element) = xml.next().unwrap() else { panic!("a tag") };
    let [d, b, e, c] = element.attributes(["d", "b", "e", "c"]).unwrap();
    assert_eq!([d.as_deref(), b.as_deref(), e.as_deref(), c.as_deref()], [Some(""), Some("&lt;AB"), None, Some("\"'")]);
    assert_eq!((element.name(), element.namespace().as_deref()), ("a", Some("n")));
    assert_eq!(element.attribute_names(), ["b", "c", "xmlns:p", "d"]);
}

#[test]
fn faults_have_their_place() {
    assert_eq!(fault("<a>\n <b></c></a>"), ("element \"b\" is closed as \"c\"".into(), 2, 5));
    assert_eq!(fault("<a>\né"), ("report ends before its root element is closed".into(), 2, 2));
    assert_eq!(fault("<a><b>"), ("report ends before its root element is closed, inside \"b\"".into(), 1, 7));
    assert_eq!(fault(" "), ("report ends before its root element begins".into(), 1, 2));
    assert_eq!(fault("\nx<a/>").1, 2);
    assert_eq!(fault("<a b='1' b='2'/>").1, 1);
    assert_eq!(fault("<a><?xml version='1.0'?></a>").0, "an XML declaration stands inside the document");
    assert_eq!(fault("<a/>\n<?xml version='1.0'?>").0, "a second document follows in the same file");
    assert_eq!(fault("<!DOCTYPE a [").0, "report ends before its root element begins");
    assert_eq!(fault("<a/><!DOCTYPE a>").0, "a declaration stands where none may be");
    assert!(events("<?xml-stylesheet x?><a><?xml-x y?></a>").is_ok());
}

#[test]
fn a_tag_that_is_damaged_is_refused() {
    assert!(events("<a><testcase!b='1'/></a>").is_err() && events("<a b='1'c='2'/>").is_err());
    assert!(events("<a b='1'/>").is_ok() && events("<a b='1' ></a >").is_ok() && events("<a>]]></a>").is_err());
}

#[test]
fn a_tag_is_the_same_wherever_it_is_cut() {
    let tag = "<b name='x &amp; y' other=\"&lt;\"/>";
    for before in 64 * 1024 - 5 - tag.len()..64 * 1024 {
        let text = format!("<a>\n{}\n {tag}</a>", " ".repeat(before));
        let input = Input::bytes("x", text.as_bytes());
        let mut xml = Xml::new(&input).unwrap();
        loop {
            if let Event::Start(element) = xml.next().unwrap()
                && element.name() == "b"
            {
                let values = element.attributes(["other", "name"]).unwrap();
                assert_eq!(values, ["<", "x & y"].map(|value| Some(value.to_owned())));
                assert_eq!(element.spot(), Spot { line: 3, column: 2 });
                break;
            }
        }
    }
}

#[test]
fn references_are_checked_and_replaced() {
    assert_eq!(unescaped("a&lt;b&gt;&amp;amp;").unwrap(), "a<b>&amp;");
    assert_eq!(unescaped("&#x1b;&#10;&#xD800;&#0;&#x;").unwrap(), "\x1b\n&#xD800;&#0;&#x;");
    assert!(unescaped("&x;").is_err() && unescaped("&").is_err());
}
