// `secateur agent-setup opencode` writes this file, and `--remove` deletes it.
// What a command printed is replaced by what `secateur log` leaves of it. On any failure it stays as it is.
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"

const LEAST_CHARS = 1000 // shorter output is never pruned
const SECONDS = 5

const prune = (call) =>
  new Promise((resolve) => {
    setTimeout(resolve, SECONDS * 1000).unref()
    const limits = { timeout: SECONDS * 1000, killSignal: "SIGKILL", maxBuffer: 64 << 20 }
    const child = execFile("secateur", ["hook", "opencode"], limits, (error, answer) => resolve(error ? "" : answer))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(call))
  })

export const Secateur = async () => ({
  "tool.execute.after": async ({ tool, sessionID, args }, result) => {
    try {
      if (tool !== "bash") return
      const path = result.metadata?.outputPath // opencode keeps the whole there, and gives the model the end
      const output = path ? await readFile(path, "utf8") : result.output
      if (output.length < LEAST_CHARS) return
      const answer = JSON.parse((await prune({ command: args.command, output, sessionId: sessionID })) || "{}")
      if (typeof answer.output === "string") result.output = answer.output
    } catch {}
  },
})
