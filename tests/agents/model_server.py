"""A model that does what a script says, for real agents to talk to over loopback.

usage: model_server.py SCRIPT LOG PROJECT

SCRIPT is a JSON list of what the model does, one entry a request:
  {"run": "COMMAND"}                     a call of the agent's shell tool
  {"write": "PATH", "content": "TEXT"}   a call of the agent's file writing tool, or of its shell if it offers none; PATH
                                         is relative to PROJECT
  {"say": "TEXT"}                        an answer without a call: the agent's turn ends
After the last entry it says "done". A request that offers no shell tool (a title, a summary) is answered in words and
takes no entry. LOG gets a line of JSON for each request: {"path", "is_turn", "body"}.

The first line on standard output is the port. Speaks Anthropic Messages, OpenAI Responses and Chat Completions, and
Gemini generateContent, streamed or not.
"""

import json
import os
import shlex
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# How each agent's tools take a command or a file; the first that a request offers is called.
SHELLS = {
    "Bash": lambda c: {"command": c, "description": "scripted"},
    "run_shell_command": lambda c: {"command": c, "description": "scripted"},
    "exec_command": lambda c: {"cmd": c},
    "shell_command": lambda c: {"command": c},
    "shell": lambda c: {"command": ["bash", "-lc", c]},
    "bash": lambda c: {"command": c, "description": "scripted"},
    "terminal": lambda c: {"command": c},
    "developer__shell": lambda c: {"command": c},
}
WRITERS = {
    "Write": lambda p, t: {"file_path": p, "content": t},
    "write_file": lambda p, t: {"file_path": p, "content": t},
    "write": lambda p, t: {"filePath": p, "content": t},
    "create": lambda p, t: {"path": p, "file_text": t},
    "file_editor": lambda p, t: {"command": "create", "path": p, "file_text": t},
}


def offered(body):
    """Names of the tools in a request, whichever interface it is."""
    names = []
    for tool in body.get("tools") or []:
        for declared in tool.get("functionDeclarations", [tool]):
            names.append((declared.get("function") or declared).get("name"))
    return names


class Model:
    """The script, and how far it is."""

    def __init__(self, script, log, project):
        self.script, self.log, self.project = script, log, project
        self.at, self.answers = 0, 0
        self.lock = threading.Lock()

    def answer(self, path, body):
        """(number, text, call or None) for this request; call is (id, tool, arguments)."""
        with self.lock:
            names = offered(body)
            shell = next((n for n in SHELLS if n in names), None)
            if shell is None:
                did = {"say": "Scripted session"}
            elif self.at < len(self.script):
                did = self.script[self.at]
                self.at += 1
            else:
                did = {"say": "done"}
            self.log.write(json.dumps({"path": path, "is_turn": shell is not None, "body": body}) + "\n")
            self.log.flush()
            self.answers += 1
            number, call_id = self.answers, f"call_{self.answers}"
        if "run" in did:
            return number, "", (call_id, shell, SHELLS[shell](did["run"]))
        if "write" in did:
            writer = next((n for n in WRITERS if n in names), None)
            path = os.path.join(self.project, did["write"])
            if writer is not None:
                return number, "", (call_id, writer, WRITERS[writer](path, did["content"]))
            command = f"printf %s {shlex.quote(did['content'])} > {shlex.quote(path)}"
            return number, "", (call_id, shell, SHELLS[shell](command))
        return number, did["say"], None


def anthropic(body, number, text, call):
    """Events of Messages, as (name, data); and the whole message."""
    if call:
        block = {"type": "tool_use", "id": "toolu_" + call[0], "name": call[1], "input": call[2]}
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[2])}
    else:
        block = {"type": "text", "text": text}
        start = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": text}
    stop = "tool_use" if call else "end_turn"
    usage = {"input_tokens": 100, "output_tokens": 10}
    whole = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model", "scripted"),
        "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }
    events = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return [(e["type"], e) for e in events], whole


def responses(body, number, text, call):
    """Events of Responses, as (name, data); and the whole response."""
    if call:
        item = {
            "type": "function_call", "id": "fc_" + call[0], "call_id": call[0], "name": call[1],
            "arguments": json.dumps(call[2]), "status": "completed",
        }
    else:
        item = {
            "type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }
    whole = {
        "id": f"resp_{number}", "object": "response", "created_at": 0, "model": body.get("model", "scripted"),
        "status": "completed", "output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110,
        },
    }
    events = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    events.append({"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}})
    if not call:
        at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events.append({"type": "response.output_text.delta", **at, "delta": text})
        events.append({"type": "response.output_text.done", **at, "text": text})
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return [(e["type"], {**e, "sequence_number": n}) for n, e in enumerate(events)], whole


def chat(body, number, text, call):
    """Chunks of Chat Completions, as (None, data); and the whole completion."""
    base = {"id": f"chatcmpl-{number}", "created": 0, "model": body.get("model", "scripted")}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    said = {"role": "assistant", "content": text or None}
    streamed = dict(said)
    if call:
        made = {"id": call[0], "type": "function", "function": {"name": call[1], "arguments": json.dumps(call[2])}}
        said["tool_calls"] = [made]
        streamed["tool_calls"] = [{"index": 0, **made}]
    stop = "tool_calls" if call else "stop"
    whole = {
        **base, "object": "chat.completion", "usage": usage,
        "choices": [{"index": 0, "message": said, "finish_reason": stop}],
    }
    chunk = {**base, "object": "chat.completion.chunk"}
    events = [
        (None, {**chunk, "choices": [{"index": 0, "delta": streamed, "finish_reason": None}]}),
        (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}),
        (None, {**chunk, "choices": [], "usage": usage}),
        (None, "[DONE]"),
    ]
    return events, whole


def gemini(body, number, text, call):
    """The one chunk of generateContent, as (None, data); and the same whole."""
    part = {"functionCall": {"id": call[0], "name": call[1], "args": call[2]}} if call else {"text": text}
    whole = {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
        "modelVersion": "scripted", "responseId": f"response_{number}",
    }
    return [(None, whole)], whole


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send_json(self, status, value):
        self.send_bytes(status, "application/json", json.dumps(value).encode())

    def send_bytes(self, status, kind, content):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_HEAD(self):
        self.send_bytes(200, "text/plain", b"")

    def do_GET(self):
        if self.path.split("?")[0].endswith("/models"):
            model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "script"}
            self.send_json(200, {"object": "list", "data": [model]})
        else:
            self.send_json(404, {"error": {"message": "the script has no such page"}})

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            return self.send_json(400, {"error": {"message": "not JSON"}})
        path = self.path.split("?")[0]
        if path.endswith("count_tokens") or path.endswith(":countTokens"):
            return self.send_json(200, {"input_tokens": 100, "totalTokens": 100})
        if path.endswith("/messages"):
            speak = anthropic
        elif path.endswith("/responses"):
            speak = responses
        elif path.endswith("/chat/completions"):
            speak = chat
        elif path.endswith("enerateContent"):
            speak = gemini
        else:
            return self.send_json(404, {"error": {"message": "the script has no such page"}})
        events, whole = speak(body, *self.server.model.answer(path, body))
        if not (body.get("stream") or path.endswith(":streamGenerateContent")):
            return self.send_json(200, whole)
        stream = []
        for name, data in events:
            line = data if isinstance(data, str) else json.dumps(data)
            stream.append((f"event: {name}\n" if name else "") + f"data: {line}\n\n")
        self.send_bytes(200, "text/event-stream", "".join(stream).encode())


def main():
    with open(sys.argv[1], encoding="utf-8") as script, open(sys.argv[2], "a", encoding="utf-8") as log:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.model = Model(json.load(script), log, sys.argv[3])
        print(server.server_port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
