//! The methods, in both revisions in the field. A request that names its revision in `_meta` is answered by that one;
//! one that does not comes from a client that has shaken hands, or is about to. Nothing is remembered in between.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value, json};

use super::tools::{Server, TOOLS};
use super::wire::{Fault, Request};

/// The stateless revision.
const STATELESS: &str = "2026-07-28";

/// Revisions with a handshake, the latest first. What we answer is the same in all of them.
const WITH_HANDSHAKE: [&str; 2] = ["2025-11-25", "2025-06-18"];

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The request names a revision that is not served.
const UNSUPPORTED_VERSION: i64 = -32022;

/// How long a client may keep what never changes while we run, in milliseconds.
const KEPT_MS: u32 = 3_600_000;

const INSTRUCTIONS: &str = "highwater measures the coding loop of this work tree from outside: after each iteration it reads \
     the reports of the project's own tools, judges the iteration against those before it, and keeps a copy of the files. \
     assess tells the judgement of the newest iteration, history the trajectory, compare what differs between two, explain \
     what a rule means. record reads the reports that are there and adds an iteration; restore puts an iteration's files \
     back, and only says what it would do unless dry_run is false.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Revision {
    Stateless,
    WithHandshake,
}

/// Answers one request.
///
/// # Errors
/// What is wrong with it. What a tool cannot do is a result.
pub fn answer(server: &Server<'_>, request: &Request) -> Result<Value, Fault> {
    let revision = revision(request)?;
    let mut result = match (request.method.as_str(), revision) {
        ("initialize", Revision::WithHandshake) => initialize(&request.params),
        ("ping", Revision::WithHandshake) => json!({}),
        ("server/discover", Revision::Stateless) => discover(),
        ("server/discover", Revision::WithHandshake) => return Err(lacks(VERSION_KEY)),
        ("tools/list", _) => list(&request.params)?,
        ("tools/call", _) => call(server, &request.params)?,
        (method, _) => return Err(Fault::new(Fault::METHOD_NOT_FOUND, format!("no method is named {method:?}"))),
    };
    if revision == Revision::Stateless {
        let fields = json!({"resultType": "complete", "_meta": {SERVER_KEY: server_info()}});
        add(&mut result, fields);
        if request.method != "tools/call" {
            add(&mut result, json!({"ttlMs": KEPT_MS, "cacheScope": "public"}));
        }
    }
    Ok(result)
}

fn revision(request: &Request) -> Result<Revision, Fault> {
    let meta = match request.params.get("_meta") {
        None => return Ok(Revision::WithHandshake),
        Some(Value::Object(meta)) => meta,
        Some(_) => return Err(Fault::new(Fault::INVALID_PARAMS, "_meta is not an object")),
    };
    match meta.get(VERSION_KEY) {
        None => Ok(Revision::WithHandshake),
        Some(Value::String(version)) if WITH_HANDSHAKE.contains(&version.as_str()) => Ok(Revision::WithHandshake),
        Some(Value::String(version)) if version == STATELESS => match meta.get(CAPABILITIES_KEY) {
            Some(Value::Object(_)) => Ok(Revision::Stateless),
            _ => Err(lacks(CAPABILITIES_KEY)),
        },
        Some(Value::String(version)) => Err(Fault {
            data: Some(json!({"supported": supported(), "requested": version})),
            ..Fault::new(UNSUPPORTED_VERSION, format!("protocol version {version:?} is not supported"))
        }),
        Some(_) => Err(Fault::new(Fault::INVALID_PARAMS, format!("{VERSION_KEY} is not a string"))),
    }
}

fn lacks(key: &str) -> Fault {
    Fault::new(Fault::INVALID_PARAMS, format!("_meta lacks {key}"))
}

fn supported() -> Vec<&'static str> {
    std::iter::once(STATELESS).chain(WITH_HANDSHAKE).collect()
}

fn server_info() -> Value {
    json!({"name": "highwater", "version": env!("CARGO_PKG_VERSION")})
}

fn initialize(params: &Map<String, Value>) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let [latest, ..] = WITH_HANDSHAKE;
    let version = WITH_HANDSHAKE.into_iter().find(|version| Some(*version) == wanted).unwrap_or(latest);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

fn discover() -> Value {
    json!({"supportedVersions": supported(), "capabilities": {"tools": {}}, "instructions": INSTRUCTIONS})
}

fn list(params: &Map<String, Value>) -> Result<Value, Fault> {
    if params.contains_key("cursor") {
        return Err(Fault::new(Fault::INVALID_PARAMS, "there is one page of tools, and no cursor was given out"));
    }
    let tools = TOOLS.iter().map(|tool| tool.definition()).collect::<Option<Vec<Value>>>();
    tools.map(|tools| json!({"tools": tools})).ok_or_else(|| Fault::new(Fault::INTERNAL, "a tool has no schema"))
}

fn call(server: &Server<'_>, params: &Map<String, Value>) -> Result<Value, Fault> {
    let invalid = |what: String| Fault::new(Fault::INVALID_PARAMS, what);
    let name = params.get("name").and_then(Value::as_str).ok_or_else(|| invalid("no tool is named".into()))?;
    let tool = TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| invalid(format!("unknown tool: {name}")))?;
    let none = Map::new();
    let arguments = match params.get("arguments") {
        None => &none,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(invalid("the arguments are not an object".into())),
    };
    // A fault of ours costs one answer, not the server.
    catch_unwind(AssertUnwindSafe(|| tool.answer(server, arguments)))
        .map_err(|_| Fault::new(Fault::INTERNAL, format!("highwater has a fault of its own in {name}")))
}

fn add(result: &mut Value, fields: Value) {
    if let (Value::Object(result), Value::Object(fields)) = (result, fields) {
        result.extend(fields);
    }
}
