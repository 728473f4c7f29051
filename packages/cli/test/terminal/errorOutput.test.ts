import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { Cause, type ConfigError, ConfigProvider, Console, Effect, Exit } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeWorkshop } from "../../src/commandLine.js"
import { everyCommand, pathOf } from "../../src/terminal/program.js"
import { exitOf } from "../../src/terminal/runProcess.js"
import { runCommandLine } from "../runCommandLine.js"
import { bin, build, environment, run } from "../Workshop.js"

const LONG = { timeout: 60_000 }
const ID = "01980000-0000-7000-8000-000000000000"

const operands: Readonly<Record<string, string>> = {
  shell: "fish",
  file: "examples/scenarios",
  name: "/dev/null/no-folder",
  url: "https://shop.example/events"
}

/** The words of every command, with the operands that it needs. */
const commands = everyCommand((await makeWorkshop())(() => undefined)).map((command) => [
  ...pathOf(command).split(" ").slice(1),
  ...command.registeredArguments.map((operand) => operands[operand.name()] ?? ID)
])

const failures: ReadonlyArray<readonly [string, Effect.Effect<never>]> = [
  ["a defect", Effect.die(new TypeError("nothing has no length"))],
  ["a defect without a message", Effect.die(undefined)],
  ["an interruption by the command itself", Effect.interrupt]
]

/** Makes a program fail when it reads a variable or prints a result, because every command does one of the two. */
const failing =
  (failure: Effect.Effect<never>) =>
  <A, E>(program: Effect.Effect<A, E>): Effect.Effect<A, E> => {
    const empty = ConfigProvider.fromMap(new Map()).flattened
    const variables = ConfigProvider.fromFlat({
      ...empty,
      load: () => failure as Effect.Effect<never, ConfigError.ConfigError>
    })
    const console = Console.consoleWith((base) => Effect.succeed({ ...base, log: () => failure }))
    return Effect.flatMap(console, (broken) => Effect.withConsole(program, broken)).pipe(
      Effect.withConfigProvider(variables)
    )
  }

describe("no command ends with a failure and an empty standard error (Specification, Commands)", LONG, () => {
  it.each(failures)("%s is reported for every command", async (_, failure) => {
    expect(commands.length).toBeGreaterThan(30)
    for (const command of commands) {
      const { status, stderr } = await runCommandLine(command, {}, failing(failure))
      expect({ command, status, isTold: stderr.trim() !== "" }).toEqual({ command, status: 1, isTold: true })
    }
  })

  it("a bug is reported as a bug, with its trace; a refusal is reported with its own message, or as a bug if it has none", () => {
    const bug = new TypeError("nothing has no length")
    const { complaint } = exitOf(Exit.die(bug), ["shop", "list"])
    expect(complaint).toMatch(
      /^workshop shop stopped because of a bug in the program \(TypeError: nothing has no length\)\. Report the bug with the lines below\.\n.*TypeError/
    )
    expect(complaint).toContain("errorOutput.test.ts")
    expect(exitOf(Exit.fail({ message: "No." }), ["shop"]).complaint).toBe("No.")
    for (const cause of [Cause.empty, Cause.fail({ message: " " })]) {
      expect(exitOf(Exit.failCause(cause), ["shop"]).complaint).toBe(
        "workshop shop stopped because of a bug in the program (it failed without an error). Report the bug with the lines below."
      )
    }
  })
})

/** Runs a line of bash in which `makeWorkshop` is the built program. */
const bash = async (line: string, env: Readonly<Record<string, string>> = {}) => {
  const script = `set -o pipefail; workshop() { "${process.execPath}" "${bin}" "$@"; }; ${line}`
  const child = spawn("bash", ["-c", script], { env: environment(env), stdio: ["ignore", "pipe", "pipe"] })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  return { status, stdout, stderr }
}

/** A server that serves only GET /v1/shop, so that nearly every case of `conform` fails and the report is long. */
let server: Server
let base = ""

describe.concurrent("a separate process", LONG, () => {
  beforeAll(async () => {
    await build()
    server = createServer((request, response) => {
      const scopes = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]
      response.statusCode = request.url === "/v1/shop" ? 200 : 404
      const error = { code: "NOT_FOUND", message: "Not found" }
      response.end(
        JSON.stringify(request.url === "/v1/shop" ? { success: true, data: { scopes } } : { success: false, error })
      )
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }, 120_000)
  afterAll(() => server.close())

  it("the output of a failed command is complete, even for a slow reader", async () => {
    const command = `workshop conform --base-url ${base} --key wk_live_x --json`
    // The reader begins only after the last line of standard error, which the command writes after its report.
    const { status, stdout, stderr } = await bash(
      `fifo=$(mktemp -u); mkfifo $fifo; ${command} 2>$fifo | { read -r said <$fifo; rm $fifo; echo "$said" >&2; cat; }`
    )
    expect(stdout.length).toBeGreaterThan(140_000)
    expect(JSON.parse(stdout).counts.failed).toBeGreaterThan(50)
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^The server breaks \d+ rules of the specification\.\n$/)
    })
  })

  it("a reader that stops early, such as head, ends the process without an error", async () => {
    expect(await bash("workshop openapi | head -n 1")).toEqual({ status: 0, stdout: "{\n", stderr: "" })
  })

  it("a command that fails prints the reason even if its output is not read", async () => {
    const { status, stderr } = await bash(`workshop conform --base-url ${base} --key wk_live_x --json | true`)
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^The server breaks \d+ rules/) })
  })

  it("an uncaught error is reported as a bug", async () => {
    const preload = "setImmediate(() => process.nextTick(() => { throw new Error('nobody') }))"
    const { status, stdout, stderr } = await run(["serve", "--store", "memory", "--port", "0"], {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(`process.on("newListener", (name) => { if (name === "uncaughtException") ${preload} })`)}`
    })
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" })
    expect(stderr).toMatch(/^workshop serve stopped because of a bug in the program \(Error: nobody\)\. Report the bug/)
  })
})
