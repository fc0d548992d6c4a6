// The official TypeScript client, in the work tree WORK with a loop of two iterations and the reports of a third.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const { HIGHWATER: command, WORK: root } = process.env;
const sdk = JSON.parse(readFileSync(new URL("node_modules/@modelcontextprotocol/sdk/package.json", import.meta.url)));
const client = new Client({ name: "tests/mcp", version: "1" });
await client.connect(new StdioClientTransport({ command, args: ["mcp"], cwd: root, env: { HIGHWATER_ROOT: root } }));
assert.equal(client.getServerVersion().name, "highwater");
await client.ping();

// Listing makes the client compile every outputSchema: from here on it checks the answers against them.
const { tools } = await client.listTools();
assert.deepEqual(
    tools.filter((tool) => tool.annotations.destructiveHint).map((tool) => tool.name),
    ["record", "restore"],
);
const call = async (name, args = {}) => {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError && result.content[0].text.length > 0, JSON.stringify(result));
    return result.structuredContent;
};
assert.equal((await call("status")).iteration, 1);
assert.equal((await call("record", { label: "worse", metrics: { p95: 12.5 } })).classification, "regression");
assert.equal((await call("assess", { loop_id: "story" })).recommendation.action, "rollback");
assert.equal((await call("history", { limit: 2 })).before, 1);
assert.deepEqual((await call("compare", { a: 1, b: 2 })).tests.lost.length, 1);
assert.equal((await call("best")).best.iteration, 1);
assert.match((await call("report", { what: "2" })).text, /regression/i);
assert.equal((await call("explain", { rule: "test_count_decreased" })).what, "rule");
assert.equal((await call("restore", { iteration: 1 })).dry_run, true);
assert.equal(readFileSync(join(root, "code.txt"), "utf8"), "bad\n");
await call("restore", { iteration: 1, dry_run: false });
assert.equal(readFileSync(join(root, "code.txt"), "utf8"), "good\n");

assert.equal((await client.callTool({ name: "compare", arguments: { a: 1 } })).isError, true);
await assert.rejects(client.callTool({ name: "shell", arguments: {} }), (error) => error.code === -32602);
await assert.rejects(client.listPrompts(), /prompts|-32601/);
await client.close();
console.log(`typescript sdk ${sdk.version}: ${tools.length} tools, all called`);
