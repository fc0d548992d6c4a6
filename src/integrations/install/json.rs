//! JSON of other programs, edited as text: a member is put behind the last one or taken out, and every other byte stays,
//! comments, order, indentation and line ends among them. Home of `jsonc_parser`.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use crate::error::{Error, Result};

/// A value to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A string.
    Text(String),
    /// A whole number.
    Number(u32),
    /// An array.
    List(Vec<Node>),
    /// An object, its keys in the order of writing.
    Map(Vec<(&'static str, Node)>),
}

impl Node {
    /// A string.
    pub fn text(text: &str) -> Node {
        Node::Text(text.to_owned())
    }

    /// The value inside objects of these keys, the first the outermost.
    fn below(self, keys: &[&'static str]) -> Node {
        keys.iter().rev().fold(self, |node, key| Node::Map(vec![(key, node)]))
    }

    /// As JSON: its first line is to stand behind `indent`, its other lines begin with it.
    fn print(&self, style: &Style, indent: &str) -> String {
        let members = |open: char, close: char, members: Vec<String>| {
            if members.is_empty() {
                return format!("{open}{close}");
            }
            if style.on_one_line {
                return format!("{open}{}{close}", members.join(", "));
            }
            let (eol, inner) = (style.eol, style.deeper(indent));
            format!("{open}{eol}{inner}{}{eol}{indent}{close}", members.join(&format!(",{eol}{inner}")))
        };
        let inner = style.deeper(indent);
        match self {
            Node::Text(text) => quoted(text),
            Node::Number(number) => number.to_string(),
            Node::List(list) => members('[', ']', list.iter().map(|one| one.print(style, &inner)).collect()),
            Node::Map(map) => {
                let member = |(key, node): &(&str, Node)| format!("{}: {}", quoted(key), node.print(style, &inner));
                members('{', '}', map.iter().map(member).collect())
            }
        }
    }

    /// Whether `value` says the same; the order of keys says nothing.
    pub fn is(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Node::Text(text), Value::StringLit(literal)) => *text == literal.value,
            (Node::Number(number), Value::NumberLit(literal)) => number.to_string() == literal.value,
            (Node::List(list), Value::Array(array)) => {
                list.len() == array.elements.len() && list.iter().zip(&array.elements).all(|(node, one)| node.is(one))
            }
            (Node::Map(map), Value::Object(object)) => {
                map.len() == object.properties.len()
                    && map.iter().all(|(key, node)| property(object, key).is_some_and(|at| node.is(at.value)))
            }
            _ => false,
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// How the text at hand is laid out.
struct Style {
    /// One step of indentation.
    unit: String,
    eol: &'static str,
    /// Nothing but one line, which stays one.
    on_one_line: bool,
}

impl Style {
    fn deeper(&self, indent: &str) -> String {
        if self.on_one_line { String::new() } else { format!("{indent}{}", self.unit) }
    }
}

/// A property of an object: the last of its name, which is the one that counts.
pub struct Property<'a, 'v> {
    /// Which one, from 0.
    pub index: usize,
    /// What it says.
    pub value: &'v Value<'a>,
}

/// The property of that name.
pub fn property<'a, 'v>(object: &'v Object<'a>, key: &str) -> Option<Property<'a, 'v>> {
    let found = object.properties.iter().enumerate().rev().find(|(_, one)| one.name.as_str() == key);
    found.map(|(index, one)| Property { index, value: &one.value })
}

/// A piece of the text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
}

impl Span {
    fn of(ranged: &impl Ranged) -> Span {
        Span { start: ranged.start(), end: ranged.end() }
    }
}

/// An object's or array's inside: from behind its bracket up to its closing one, and what stands there.
struct Inside {
    start: usize,
    end: usize,
    members: Vec<Span>,
}

impl Inside {
    fn of(value: &Value<'_>) -> Option<Inside> {
        let members = match value {
            Value::Object(object) => object.properties.iter().map(Span::of).collect(),
            Value::Array(array) => array.elements.iter().map(Span::of).collect(),
            _ => return None,
        };
        Some(Inside { start: value.start() + 1, end: value.end().checked_sub(1)?, members })
    }
}

/// JSON with comments and trailing commas, as the agents read their settings.
pub struct Json<'a> {
    text: &'a str,
    /// The value; `None` if there is nothing but white space and comments.
    pub root: Option<Value<'a>>,
    /// Comments among them.
    tokens: Vec<TokenAndRange<'a>>,
}

impl<'a> Json<'a> {
    /// Reads the text, which has no byte order mark.
    ///
    /// # Errors
    /// Bad input with line and column, if it is no JSON even with comments and trailing commas allowed.
    pub fn parse(text: &'a str) -> Result<Json<'a>> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &collect, &options).map_err(|error| {
            let number = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
            Error::bad_input("not JSON")
                .line_column(number(error.line_display()), number(error.column_display()))
                .because(error.kind().to_string())
                .help("mend it, then try again; nothing was changed")
        })?;
        Ok(Json { text, root: parsed.value, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// The text with `node` appended to the array that the keys lead to; what is absent on the way is made.
    ///
    /// # Errors
    /// Bad input with line and column, if something else than an object or an array is in the way.
    pub fn append(&self, keys: &[&'static str], node: Node) -> Result<String> {
        let style = self.style();
        let Some(mut at) = self.root.as_ref() else {
            let made = Node::List(vec![node]).below(keys).print(&style, "");
            return Ok(format!("{}{made}{}", self.text, style.eol));
        };
        let mut left = keys;
        while let Some((key, rest)) = left.split_first() {
            let Value::Object(object) = at else { return Err(self.is_no(at, "an object")) };
            let Some(found) = property(object, key) else {
                let made = Node::List(vec![node]).below(rest);
                let print = |style: &Style, indent: &str| format!("{}: {}", quoted(key), made.print(style, indent));
                return Ok(self.put(at, &style, &print));
            };
            (at, left) = (found.value, rest);
        }
        let Value::Array(_) = at else { return Err(self.is_no(at, "an array")) };
        Ok(self.put(at, &style, &|style, indent| node.print(style, indent)))
    }

    /// The text with a key of the root that is not there yet.
    ///
    /// # Errors
    /// As [`Json::append`].
    pub fn put_key(&self, key: &'static str, node: &Node) -> Result<String> {
        let style = self.style();
        let Some(root) = &self.root else {
            let made = Node::Map(vec![(key, node.clone())]).print(&style, "");
            return Ok(format!("{}{made}{}", self.text, style.eol));
        };
        let Value::Object(_) = root else { return Err(self.is_no(root, "an object")) };
        Ok(self.put(root, &style, &|style, indent| format!("{}: {}", quoted(key), node.print(style, indent))))
    }

    fn is_no(&self, at: &Value<'_>, wanted: &str) -> Error {
        let before = self.cut(0, at.start());
        let number = |count: usize| u64::try_from(count + 1).unwrap_or(u64::MAX);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        Error::bad_input(format!("this is not {wanted}"))
            .line_column(number(before.matches('\n').count()), number(column))
            .because("hooks are an object of events, each an array")
            .help("mend it, then try again; nothing was changed")
    }

    /// The text with one more member at the end of `container`.
    fn put(&self, container: &Value<'_>, style: &Style, print: &dyn Fn(&Style, &str) -> String) -> String {
        let Some(inside) = Inside::of(container) else { return self.text.to_owned() };
        let Some(last) = inside.members.last() else { return self.put_first(&inside, style, print) };
        let comma = self.comma_after(last.end);
        let behind = comma.map_or(last.end, |comma| comma.end);
        let line_start = self.line_start(last.start);
        let indent = self.cut(line_start, last.start);
        if line_start >= inside.start && is_blank(indent) {
            // What is said of the last member on its own line stays with it.
            let place = self.end_of_remarks(behind);
            let piece = format!("{}{indent}{}", style.eol, print(style, indent));
            return match comma {
                None => self.splice(&[(Span { start: last.end, end: last.end }, ","), (at(place), &piece)]),
                Some(_) => self.splice(&[(at(place), &format!("{piece},"))]),
            };
        }
        let one_line = Style { unit: String::new(), eol: style.eol, on_one_line: true };
        let piece = print(&one_line, "");
        match comma {
            None => self.splice(&[(at(behind), &format!(", {piece}"))]),
            Some(_) => self.splice(&[(at(behind), &format!(" {piece},"))]),
        }
    }

    fn put_first(&self, inside: &Inside, style: &Style, print: &dyn Fn(&Style, &str) -> String) -> String {
        let comments = self.tokens.iter().map(|token| token.range);
        let place = comments.filter(|one| inside.start <= one.start && one.end <= inside.end).map(|one| one.end).max();
        let place = place.unwrap_or(inside.start);
        if style.on_one_line {
            return self.splice(&[(at(place), &print(style, ""))]);
        }
        let outer = indent_of(self.cut(self.line_start(inside.start), inside.start));
        let indent = style.deeper(outer);
        let mut piece = format!("{}{indent}{}", style.eol, print(style, &indent));
        if !self.cut(place, inside.end).contains('\n') {
            piece = format!("{piece}{}{outer}", style.eol);
        }
        self.splice(&[(at(place), &piece)])
    }

    /// The text without the member `index` of `container`; what [`Json::append`] put there goes to the byte, an only member
    /// excepted, which leaves nothing inside but comments.
    pub fn without(&self, container: &Value<'_>, index: usize) -> String {
        let Some(inside) = Inside::of(container) else { return self.text.to_owned() };
        let Some(member) = inside.members.get(index) else { return self.text.to_owned() };
        let comma = self.comma_after(member.end);
        let mut gone = Span {
            start: self.cut(0, member.start).trim_end().len(),
            end: comma.map_or(member.end, |comma| comma.end),
        };
        let is_on_next_line = |text: &str| text.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        if self.ends_in_line_comment(member.start) && !is_on_next_line(self.cut(gone.end, self.text.len())) {
            gone.start = member.start;
        }
        let next = inside.members.get(index + 1);
        let previous = index.checked_sub(1).and_then(|index| inside.members.get(index));
        match (previous, next) {
            // The first of several on a line: the blank behind it goes, too.
            (None, Some(next))
                if gone.start == inside.start && self.cut(gone.end, next.start).trim_matches(' ').is_empty() =>
            {
                gone.end = next.start;
            }
            (None, None) => {
                let rest = [self.cut(inside.start, gone.start), self.cut(gone.end, inside.end)];
                if rest.iter().all(|rest| rest.trim().is_empty()) {
                    gone = Span { start: inside.start, end: inside.end };
                }
            }
            (Some(previous), None) if comma.is_none() => {
                if let Some(comma) = self.comma_after(previous.end) {
                    return self.splice(&[(comma, ""), (gone, "")]);
                }
            }
            _ => {}
        }
        self.splice(&[(gone, "")])
    }

    fn style(&self) -> Style {
        let eol = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let inside = self.root.as_ref().and_then(Inside::of);
        let first = inside.as_ref().and_then(|inside| Some((inside, inside.members.first()?)));
        let Some((inside, first)) = first else { return Style { unit: "  ".to_owned(), eol, on_one_line: false } };
        let unit = self.cut(self.line_start(first.start), first.start);
        let unit = if is_blank(unit) && !unit.is_empty() { unit } else { "  " };
        let on_one_line = !self.cut(inside.start, inside.end).contains('\n');
        Style { unit: unit.to_owned(), eol, on_one_line }
    }

    fn comma_after(&self, end: usize) -> Option<Span> {
        let is_comment = |token: &Token<'_>| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
        let next =
            self.tokens.iter().skip_while(|token| token.range.start < end).find(|token| !is_comment(&token.token));
        next.filter(|token| token.token == Token::Comma).map(Span::of)
    }

    /// Where the comments end that begin behind `place` on its line.
    fn end_of_remarks(&self, place: usize) -> usize {
        let mut end = place;
        for token in self.tokens.iter().skip_while(|token| token.range.start < place) {
            let is_comment = matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
            if !is_comment || self.cut(end, token.range.start).contains('\n') {
                break;
            }
            end = token.range.end;
        }
        end
    }

    fn ends_in_line_comment(&self, place: usize) -> bool {
        let before = self.tokens.iter().take_while(|token| token.range.end <= place).last();
        before.is_some_and(|token| matches!(token.token, Token::CommentLine(_)))
    }

    fn line_start(&self, place: usize) -> usize {
        self.cut(0, place).rfind('\n').map_or(0, |end| end + 1)
    }

    fn cut(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The text with pieces replaced; they are in order and do not overlap.
    fn splice(&self, pieces: &[(Span, &str)]) -> String {
        let mut made = String::with_capacity(self.text.len());
        let mut done = 0;
        for (span, piece) in pieces {
            made.push_str(self.cut(done, span.start));
            made.push_str(piece);
            done = span.end;
        }
        made.push_str(self.cut(done, self.text.len()));
        made
    }
}

fn at(place: usize) -> Span {
    Span { start: place, end: place }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n'))
}

fn indent_of(line: &str) -> &str {
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}
