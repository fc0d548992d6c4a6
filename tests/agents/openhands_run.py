"""One turn of OpenHands' own agent: openhands_run.py BASE_URL PROJECT STATE PROMPT."""

import sys

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.hooks import HookConfig
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr

url, project, state, prompt = sys.argv[1:5]
llm = LLM(usage_id="agent", model="openai/scripted", base_url=url, api_key=SecretStr("scripted-key"), stream=False)
agent = Agent(llm=llm, tools=[Tool(name=TerminalTool.name), Tool(name=FileEditorTool.name)])
# The SDK reads no hooks of its own accord.
hooks = HookConfig.load(working_dir=project)
conversation = Conversation(agent=agent, workspace=project, persistence_dir=state, hook_config=hooks)
conversation.send_message(prompt)
conversation.run()
conversation.close()
