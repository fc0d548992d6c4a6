// Hands the events of opencode to `highwater hook run --agent opencode`, and does what it answers. Written by
// `highwater hook install --agent opencode`; `highwater hook uninstall --agent opencode` removes it.
import { spawn, spawnSync } from "node:child_process"

type Answer = { prompt?: string; context?: string }

const command = ["hook", "run", "--agent", "opencode"]

// Whatever goes wrong here, opencode goes on as if there were no plugin.
function understood(text: string): Answer {
  try {
    return text.trim() ? JSON.parse(text) : {}
  } catch {
    return {}
  }
}

// `opencode run` does not wait for a handler when a session is idle: only what has returned by then was done.
function askAndWait(cwd: string, event: object): Answer {
  try {
    const input = JSON.stringify(event)
    const child = spawnSync("highwater", command, { cwd, input, encoding: "utf8", timeout: 900_000 })
    return understood(child.stdout ?? "")
  } catch {
    return {}
  }
}

function ask(cwd: string, event: object): Promise<Answer> {
  return new Promise((resolve) => {
    try {
      const child = spawn("highwater", command, { cwd, stdio: ["pipe", "pipe", "ignore"], timeout: 20_000 })
      let text = ""
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (piece: string) => (text += piece))
      child.stdin.on("error", () => {})
      child.on("error", () => resolve({}))
      child.on("close", () => resolve(understood(text)))
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve({})
    }
  })
}

export const Highwater = async ({ client, directory }: any) => {
  // Sessions of subagents end within a turn, and are no turns.
  const inner = new Set<string>()
  return {
    event: async ({ event }: any) => {
      const { type, properties = {} } = event ?? {}
      if (type === "session.created") {
        const { id: sessionID, parentID } = properties.info ?? {}
        if (parentID) inner.add(sessionID)
        else await ask(directory, { type, sessionID, directory })
      }
      if (type === "session.idle" && !inner.has(properties.sessionID)) {
        const { sessionID } = properties
        const { prompt } = askAndWait(directory, { type, sessionID, directory })
        if (!prompt) return
        const body = { parts: [{ type: "text", text: prompt }] }
        await client.session.promptAsync({ path: { id: sessionID }, body }).catch(() => {})
      }
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }: any, output: any) => {
      const call = { type: "tool.execute.after", sessionID, directory, tool, callID, args, output }
      const { context } = await ask(directory, call)
      if (context && typeof output?.output === "string") output.output += `\n\n${context}`
    },
    "experimental.session.compacting": async ({ sessionID }: any, output: any) => {
      const { context } = await ask(directory, { type: "session.compacting", sessionID, directory })
      if (context) output?.context?.push(context)
    },
  }
}
