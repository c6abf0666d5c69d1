"""Posts an ask with the official Python SDK and gets its answer with the next result."""

import asyncio
import re
import subprocess
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

ASK = {
    "topic": "Release",
    "create_topic": True,
    "questions": [{"id": "go", "question": "Deploy 4.2?", "options": [{"label": "Yes"}, {"label": "No"}]}],
}


async def main(transport, compass, *where):
    if transport == "stdio":
        server = StdioServerParameters(command=compass, args=["agent", "mcp", "--agent", "bot"], env=None)
        streams = stdio_client(server)
    else:
        url, token = where
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
        streams = streamable_http_client(url, http_client=http)
    async with streams as opened:
        async with ClientSession(opened[0], opened[1]) as session:
            about = await session.initialize()
            print("protocol", about.protocol_version, "server", about.server_info.name)
            print("tools", len((await session.list_tools()).tools))

            async def call(tool, arguments):
                result = await session.call_tool(tool, arguments)
                (block,) = result.content
                print(f"> {tool}\n{block.text}")
                return block.text

            posted = await call("comms_post_ask", ASK)
            ask = re.search("ask ([0-9a-f]{32})", posted).group(1)
            subprocess.run([compass, "answer", "--ask", ask, "--option", "go=0"], check=True)
            answered = await call("compass_set_status", {"activity": "deploying"})
            assert f'id="{ask}"] Your ask was answered by ' in answered, answered
            again = await call("compass_set_status", {"activity": "deploying"})
            assert "[messages " not in again, again


asyncio.run(main(*sys.argv[1:]))
