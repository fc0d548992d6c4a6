"""A collector on a port of its own, two iterations told to it, and the official decoder."""

import base64
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

program, work = sys.argv[1], pathlib.Path(sys.argv[2])
work.mkdir()
seen, answers = [], {"status": 200, "hangs": False}


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        seen.append((self.path, dict(self.headers), body))
        if answers["hangs"]:
            time.sleep(30)
        self.send_response(answers["status"])
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
endpoint = f"http://127.0.0.1:{server.server_port}/"


def highwater(*words, **variables):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    started = time.monotonic()
    done = subprocess.run([program, *words], cwd=work, env=clean | variables, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - started


def junit(tests):
    cases = "".join(f"<testcase classname='t' name='{n}'/>" for n in range(tests))
    (work / "junit.xml").write_text(f"<testsuite name='s'>{cases}</testsuite>")


def decoded(path, message):
    """OTLP writes ids in hexadecimal digits where protobuf's JSON has base64."""
    def ids(value):
        if isinstance(value, dict):
            as_bytes = ("traceId", "spanId", "parentSpanId")
            return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in as_bytes else ids(v) for k, v in value.items()}
        return [ids(one) for one in value] if isinstance(value, list) else value

    bodies = [json.loads(body) for at, _, body in seen if at == path]
    return [json_format.ParseDict(ids(body), message()) for body in bodies]


variables = {
    "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=secret%20one",
    "OTEL_RESOURCE_ATTRIBUTES": "host.name=here",
}
junit(3)
code, _, err, _ = highwater("begin", "--loop", "auth", "--report", "junit.xml", **variables)
assert (code, err) == (0, ""), err
(work / "a.py").write_text("x = 1\n")
junit(1)
code, _, err, _ = highwater("run", "--loop", "auth", "--", "touch", "junit.xml", **variables)
assert code == 0 and "warning" not in err, err
assert all(headers["api-key"] == "secret one" for _, headers, _ in seen) and len(seen) == 4, seen

spans = [span for request in decoded("/v1/traces", ExportTraceServiceRequest)
         for of in request.resource_spans for scope in of.scope_spans for span in scope.spans]
baseline, second = spans
assert len(baseline.trace_id) == 16 and len(baseline.span_id) == 8 and baseline.parent_span_id == b""
assert second.trace_id == baseline.trace_id and second.parent_span_id == baseline.span_id != second.span_id
assert second.start_time_unix_nano <= second.end_time_unix_nano and abs(second.end_time_unix_nano / 1e9 - time.time()) < 60
attributes = {one.key: one.value for one in second.attributes}
assert attributes["highwater.iteration"].int_value == 1 and attributes["cicd.pipeline.result"].string_value == "failure"
assert {event.name for event in second.events} == {"highwater.alert"} and second.status.code == 2

requests = decoded("/v1/metrics", ExportMetricsServiceRequest)
metrics = {one.name: one for of in requests[-1].resource_metrics for scope in of.scope_metrics for one in scope.metrics}
assert [point.as_int for point in metrics["highwater.tests"].gauge.data_points] == [1, 0]
assert metrics["cicd.pipeline.run.duration"].histogram.data_points[0].count == 1
resource = {one.key: one.value.string_value for one in requests[-1].resource_metrics[0].resource.attributes}
assert resource == {"service.name": "highwater", "host.name": "here"}, resource
print(f"{len(spans)} spans and {len(metrics)} metrics are as the collector's own decoder reads them")

code, without, _, base = highwater("record", "--report", "junit.xml", "--json")
for what, change, limit in [
    ("refuses", {"status": 401}, 2.0),
    ("redirects", {"status": 302}, 2.0),
    ("hangs", {"hangs": True}, 2.0),
    ("is not there", {"endpoint": "http://127.0.0.1:1"}, 2.0),
    ("has 100 ms", {"hangs": True, "OTEL_EXPORTER_OTLP_TIMEOUT": "100"}, 0.2),
]:
    answers.update({"status": 200, "hangs": False} | {k: v for k, v in change.items() if k in answers})
    more = {k: v for k, v in change.items() if k.startswith("OTEL")}
    at = variables | {"OTEL_EXPORTER_OTLP_ENDPOINT": change.get("endpoint", endpoint)} | more
    (work / "junit.xml").touch()
    code, out, err, took = highwater("record", "--report", "junit.xml", "--json", **at)
    assert code == 0 and json.loads(out)["iteration"] > 1, (what, code, out, err)
    assert err.count("\n") == 1 and err.startswith("warning: telemetry was not sent: the collector "), (what, err)
    assert took < base + limit + 1.0, (what, took, base)
    print(f"a collector that {what}: recorded, one line, {took - base:.2f} s more")
answers.update({"status": 200, "hangs": False})
count = len(seen)
code, _, err, _ = highwater("record", "--report", "junit.xml", OTEL_SDK_DISABLED="true", **variables)
assert code == 0 and len(seen) == count
