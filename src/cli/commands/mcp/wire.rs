//! JSON-RPC 2.0, one message a line. A thread reads, so that a request can be cancelled while another one is answered;
//! they are answered one after the other.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::cli::lines::{self, Line};

/// A request is longer only by mistake.
const MAX_BYTES: u64 = 16 << 20;

/// Requests that wait to be answered, at most; then nothing more is read.
const WAITING: usize = 16;

/// Why a request has no result: JSON-RPC's code, and what is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl Fault {
    const PARSE: i64 = -32700;
    const INVALID_REQUEST: i64 = -32600;
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL: i64 = -32603;

    pub fn new(code: i64, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into(), data: None }
    }
}

/// What is to be answered.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// A string or an integer.
    id: Value,
    pub method: String,
    pub params: Map<String, Value>,
}

/// A line that was read.
#[derive(Debug, PartialEq)]
enum Message {
    Request(Request),
    /// The request of this id is not wanted any more.
    Cancelled(Value),
    /// Nothing that we act on: other notifications, answers to requests that we never make.
    Passed,
    /// It cannot be answered; the id, if it has one.
    Wrong(Option<Value>, Fault),
}

/// Requests that are not answered yet, by id as JSON; whether they were cancelled.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<BTreeMap<String, bool>>>);

impl Open {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_cancelled(&self, id: &Value) -> bool {
        self.lock().get(&id.to_string()).copied().unwrap_or_default()
    }
}

/// Answers what `input` asks, until it ends or `send`, which is given each answer's line, says that nobody reads them.
pub fn serve(
    input: impl BufRead + Send + 'static,
    answer: impl Fn(&Request) -> Result<Value, Fault>,
    send: impl Fn(&str) -> bool,
) {
    let open = Open::default();
    let (queue, messages) = sync_channel(WAITING);
    let reader = open.clone();
    std::thread::spawn(move || read_all(input, &queue, &reader));
    for message in messages {
        let (id, result) = match message {
            Message::Request(request) => {
                let result = if open.is_cancelled(&request.id) { None } else { Some(answer(&request)) };
                let was_cancelled = open.lock().remove(&request.id.to_string()) == Some(true);
                match result {
                    Some(result) if !was_cancelled => (Some(request.id), result),
                    _ => continue,
                }
            }
            Message::Wrong(id, fault) => (id, Err(fault)),
            Message::Cancelled(_) | Message::Passed => continue,
        };
        if !send(&format!("{}\n", response(id, result))) {
            return;
        }
    }
}

fn read_all(mut input: impl BufRead, queue: &SyncSender<Message>, open: &Open) {
    let mut bytes = Vec::new();
    loop {
        let message = match lines::next(&mut input, &mut bytes, MAX_BYTES) {
            Ok(Line::End) | Err(_) => return,
            Ok(Line::Whole) if bytes.trim_ascii().is_empty() => continue,
            Ok(Line::Whole) => parse(&bytes),
            Ok(Line::TooLong) => {
                let message = format!("the line is longer than {} MiB", MAX_BYTES >> 20);
                Message::Wrong(None, Fault::new(Fault::INVALID_REQUEST, message))
            }
        };
        let message = match message {
            Message::Cancelled(id) => {
                if let Some(cancelled) = open.lock().get_mut(&id.to_string()) {
                    *cancelled = true;
                }
                continue;
            }
            Message::Request(request) if open.lock().contains_key(&request.id.to_string()) => {
                // Answered under the id, it would be taken for the answer to the other one.
                Message::Wrong(None, Fault::new(Fault::INVALID_REQUEST, "a request with this id is being answered"))
            }
            Message::Request(request) => {
                open.lock().insert(request.id.to_string(), false);
                Message::Request(request)
            }
            other => other,
        };
        if queue.send(message).is_err() {
            return;
        }
    }
}

fn parse(line: &[u8]) -> Message {
    let wrong = |id: Option<&Value>, what: &str| {
        Message::Wrong(id.cloned(), Fault::new(Fault::INVALID_REQUEST, format!("not a request: {what}")))
    };
    let mut fields = match serde_json::from_slice(line) {
        Ok(Value::Object(fields)) => fields,
        Ok(Value::Array(_)) => return wrong(None, "batches are not taken, send one message a line"),
        Ok(_) => return wrong(None, "a message is an object"),
        Err(error) => return Message::Wrong(None, Fault::new(Fault::PARSE, format!("the line is not JSON: {error}"))),
    };
    let id = fields.remove("id");
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    if id.as_ref().is_some_and(|id| !is_id(id)) && fields.contains_key("method") {
        return wrong(None, "its id is neither a string nor an integer");
    }
    let method = match fields.remove("method") {
        Some(Value::String(method)) => method,
        None if fields.contains_key("result") || fields.contains_key("error") => return Message::Passed,
        _ => return wrong(id.as_ref().filter(|id| is_id(id)), "it has no method"),
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return wrong(id.as_ref(), "its jsonrpc is not \"2.0\"");
    }
    let params = match fields.remove("params") {
        Some(Value::Object(params)) => Some(params),
        None => Some(Map::new()),
        Some(_) => None,
    };
    match (id, params) {
        (Some(id), Some(params)) => Message::Request(Request { id, method, params }),
        (Some(id), None) => Message::Wrong(Some(id), Fault::new(Fault::INVALID_PARAMS, "the params are not an object")),
        (None, Some(mut params)) if method == "notifications/cancelled" => {
            params.remove("requestId").map_or(Message::Passed, Message::Cancelled)
        }
        (None, _) => Message::Passed,
    }
}

/// An answer without an id is to a line whose id could not be read.
fn response(id: Option<Value>, result: Result<Value, Fault>) -> Value {
    let mut response = Map::new();
    response.insert("jsonrpc".to_owned(), json!("2.0"));
    if let Some(id) = id {
        response.insert("id".to_owned(), id);
    }
    match result {
        Ok(result) => response.insert("result".to_owned(), result),
        Err(fault) => {
            let mut error = json!({"code": fault.code, "message": fault.message});
            if let (Some(data), Some(error)) = (fault.data, error.as_object_mut()) {
                error.insert("data".to_owned(), data);
            }
            response.insert("error".to_owned(), error)
        }
    };
    Value::Object(response)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{BufReader, Cursor, Read};
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    /// Says when all of it was read.
    struct Input {
        bytes: Cursor<Vec<u8>>,
        ended: Sender<()>,
    }

    impl Read for Input {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let read = self.bytes.read(buffer)?;
            if read == 0 {
                let _ = self.ended.send(());
            }
            Ok(read)
        }
    }

    /// What each line is answered with; the method `wait` is answered once the whole input was read.
    fn answers(input: impl Into<Vec<u8>>) -> Vec<Value> {
        let told = RefCell::new(Vec::new());
        let (ended, end) = channel();
        let input = BufReader::new(Input { bytes: Cursor::new(input.into()), ended });
        let answer = |request: &Request| match request.method.as_str() {
            "echo" => Ok(json!({"echo": request.params})),
            "wait" => {
                end.recv().unwrap();
                Ok(json!({}))
            }
            _ => Err(Fault { data: Some(json!(1)), ..Fault::new(Fault::METHOD_NOT_FOUND, "no such method") }),
        };
        serve(input, answer, |line| {
            assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
            told.borrow_mut().push(serde_json::from_str(line).unwrap());
            true
        });
        told.into_inner()
    }

    fn codes(input: impl Into<Vec<u8>>) -> Vec<(Value, i64)> {
        let code = |answer: &Value| (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap_or(0));
        answers(input).iter().map(code).collect()
    }

    #[test]
    fn requests_are_answered_in_order_under_their_ids() {
        let input = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"a\":\"line\\nfeed\"}}\n\n\
                     {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"other\"}";
        assert_eq!(
            answers(input),
            [
                json!({"jsonrpc": "2.0", "id": 1, "result": {"echo": {"a": "line\nfeed"}}}),
                json!({"jsonrpc": "2.0", "id": "x", "error": {"code": -32601, "message": "no such method", "data": 1}}),
            ]
        );
    }

    #[test]
    fn what_is_no_request_is_told_with_the_code_and_does_not_end_the_server() {
        let deep = "[".repeat(1_000);
        for (line, code) in [
            ("{", -32700),
            ("{\"jsonrpc\":\"2.0\"", -32700),
            (deep.as_str(), -32700),
            ("[]", -32600),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}]", -32600),
            ("7", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"echo\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"echo\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"echo\"}", -32600),
        ] {
            let input = format!("{line}\n{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"echo\"}}\n");
            assert_eq!(codes(input), [(Value::Null, code), (json!(9), 0)], "{line:.60}");
        }
        for (line, code) in [
            ("{\"id\":1,\"method\":\"echo\"}", -32600),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"echo\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[1]}", -32602),
        ] {
            assert_eq!(codes(line), [(json!(1), code)], "{line}");
        }
        assert_eq!(codes(*b"\xff\xfe\n"), [(Value::Null, -32700)]);
    }

    #[test]
    fn notifications_and_answers_are_not_answered() {
        for line in [
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"params\":[]}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"unknown\"}}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        ] {
            assert_eq!(answers(line), [] as [Value; 0], "{line}");
        }
    }

    #[test]
    fn a_cancelled_request_is_not_answered_and_its_id_is_free_again() {
        let call = |id: u32, method: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}\n");
        let cancel = |id: u32| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
            )
        };
        // While the first is being answered, the second and it are cancelled: in this order, since it is not waited for once
        // it is cancelled.
        let input = [call(1, "wait"), call(2, "echo"), cancel(2), cancel(1), call(3, "echo")].concat();
        assert_eq!(codes(input), [(json!(3), 0)]);
        assert_eq!(codes([call(1, "wait"), call(1, "echo")].concat()), [(json!(1), 0), (Value::Null, -32600)]);
    }

    #[test]
    fn a_request_of_ten_megabytes_is_answered_and_one_over_the_limit_refused() {
        let call = |bytes: usize| {
            let pad = "x".repeat(bytes);
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"other\",\"params\":{{\"pad\":\"{pad}\"}}}}\n")
        };
        assert_eq!(codes(call(10 << 20)), [(json!(1), -32601)]);
        let limit = usize::try_from(MAX_BYTES).unwrap();
        assert_eq!(codes(call(limit) + &call(1)), [(Value::Null, -32600), (json!(1), -32601)]);
    }

    #[test]
    fn the_server_ends_once_nobody_reads() {
        let asked = RefCell::new(0);
        let input =
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"a\"}\n";
        let answer = |_: &Request| {
            *asked.borrow_mut() += 1;
            Ok(json!({}))
        };
        serve(Cursor::new(input.as_bytes().to_vec()), answer, |_| false);
        assert_eq!(asked.into_inner(), 1);
    }
}
