"""The official Python client, in the work tree WORK with a loop of two iterations and the reports of a third.

The argument is how it connects: legacy (by the handshake), auto (it asks the server) or a stateless revision.
"""

import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters


async def main(mode: str) -> None:
    root = Path(os.environ["WORK"])
    server = StdioServerParameters(
        command=os.environ["HIGHWATER"], args=["mcp"], cwd=root, env={"HIGHWATER_ROOT": str(root)}
    )
    async with Client(server, mode=mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28"), client.protocol_version
        tools = (await client.list_tools()).tools
        changing = [tool.name for tool in tools if tool.annotations.destructive_hint]
        assert changing == ["record", "restore"], changing

        async def call(name: str, **arguments):
            # The client checks the answer against the tool's schema, and raises if it is not so.
            result = await client.call_tool(name, arguments)
            assert not result.is_error and result.content[0].text, result
            return result.structured_content

        assert (await call("status"))["iteration"] == 1
        assert (await call("record", label="worse", metrics={"p95": 12.5}))["classification"] == "regression"
        assert (await call("assess", loop_id="story"))["recommendation"]["action"] == "rollback"
        assert (await call("history", limit=2))["before"] == 1
        assert len((await call("compare", a=1, b=2))["tests"]["lost"]) == 1
        assert (await call("best"))["best"]["iteration"] == 1
        assert "regression" in (await call("report", what="2"))["text"]
        assert (await call("explain", rule="test_count_decreased"))["what"] == "rule"
        assert (await call("restore", iteration=1))["dry_run"] is True
        assert (root / "code.txt").read_text() == "bad\n"
        await call("restore", iteration=1, dry_run=False)
        assert (root / "code.txt").read_text() == "good\n"

        assert (await client.call_tool("compare", {"a": 1})).is_error
        try:
            await client.call_tool("shell", {})
        except MCPError as error:
            assert error.error.code == -32602, error
        else:
            raise AssertionError("an unknown tool was called")
        print(f"python mcp {version('mcp')}, {mode}, {client.protocol_version}: {len(tools)} tools, all called")


asyncio.run(main(sys.argv[1]))
