import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { untilAsync } from "../../../test/until.js"
import { runCommandLine } from "./runCommandLine.js"
import { build, run, type Workshop, Workshops } from "./Workshop.js"

beforeAll(build, 120_000)

/** Several processes start at the same time, which slows each of them. */
const LONG = { timeout: 60_000 }

const processes = new Workshops()
const serve = (args: ReadonlyArray<string> = [], extra: Readonly<Record<string, string>> = {}) =>
  processes.start(["serve", ...args], { WORKSHOP_PORT: "0", WORKSHOP_STORE: "memory", ...extra })
afterAll(() => processes.end())

const get = async (url: string, key: string) => {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` } })
  return (await response.json()) as { success: boolean; data: never; error?: { code: string } }
}

/** Sends the head of a create. The request is in flight until `finish` sends its body. */
const unfinishedCreate = async (port: number, key: string) => {
  const socket = connect({ port, host: "127.0.0.1" })
  let text = ""
  socket.on("data", (chunk) => {
    text += chunk
  })
  const head = [
    "POST /v1/tickets HTTP/1.1",
    "Host: x",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    "Idempotency-Key: slow",
    "Content-Length: 17",
    "Expect: 100-continue"
  ]
  socket.write(`${head.join("\r\n")}\r\n\r\n`)
  await once(socket, "data")
  expect(text).toContain("100 Continue")
  return {
    socket,
    finish: async () => {
      socket.write('{"service":"Hem"}')
      await once(socket, "end")
      return text
    }
  }
}

/** Waits until no process listens on the port. */
const refuses = (port: number) =>
  untilAsync(
    `a closed port ${port}`,
    async () => {
      const socket = connect({ port, host: "127.0.0.1" })
      const isAccepted = await new Promise<boolean>((resolve) => {
        socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
      })
      socket.destroy()
      return isAccepted
    },
    (isAccepted) => !isAccepted
  )

describe("workshop serve starts (Specification, Commands)", LONG, () => {
  let plain: Workshop
  let sandboxed: Workshop
  let demo: Workshop

  beforeAll(() => {
    plain = serve()
    sandboxed = serve(["--sandbox"], {
      WORKSHOP_TRUST_PROXY: "yes",
      WORKSHOP_SANDBOX_TOKEN: "sandbox-token-of-thirty-two-chars"
    })
    demo = serve(["--demo"])
  })

  it("workshop serve prints curl commands for a create and a list, which work when pasted into bash", async () => {
    const { base, key } = await plain.listens()
    expect(plain.stdout).toContain(
      "\nTo try the service in a browser with demo data: npx workshop serve --sandbox --demo --store memory\n"
    )
    const [create = "", list = ""] = plain.stdout.split("\n").filter((line) => line.startsWith("curl "))
    const paste = (line: string) => JSON.parse(execFileSync("bash", ["-c", line], { encoding: "utf8" }))
    expect(paste(create)).toMatchObject({
      success: true,
      data: { number: 1, state: "workshop" },
      meta: { replayed: false }
    })
    expect(paste(create)).toMatchObject({ success: true, data: { number: 1 }, meta: { replayed: true } })
    expect(paste(list)).toMatchObject({ data: [{ number: 1 }] })
    expect(await get(`${base}/v1/shop`, key)).toMatchObject({ data: { name: "My workshop", currency: "TND" } })
    expect(plain.stderr).toBe("")
  })

  it("workshop serve serves no sandbox by default", async () => {
    const { base } = await plain.listens()
    expect((await fetch(`${base}/sandbox/clock`)).status).toBe(404)
  })

  it("moving the clock of --sandbox past sixty days closes an old ticket", async () => {
    const { base, key } = await sandboxed.listens()
    const post = (path: string, bearer: string, body: unknown) =>
      fetch(base + path, {
        method: "POST",
        headers: { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json", "Idempotency-Key": "k" },
        body: JSON.stringify(body)
      })
    expect((await post("/v1/tickets", key, { service: "Hem" })).status).toBe(201)
    expect(
      (await post("/sandbox/clock", "sandbox-token-of-thirty-two-chars", { advance_ms: 60 * 24 * 60 * 60 * 1000 }))
        .status
    ).toBe(200)
    expect(await get(`${base}/v1/tickets`, key)).toMatchObject({ data: [{ state: "abandoned" }] })
  })

  it("every sandbox call requires the token of WORKSHOP_SANDBOX_TOKEN", async () => {
    const { base } = await sandboxed.listens()
    const clock = (headers: Record<string, string>) => fetch(`${base}/sandbox/clock`, { headers })
    expect((await clock({})).status).toBe(401)
    expect((await clock({ Authorization: "Bearer sandbox-token-of-thirty-two-chars" })).status).toBe(200)
  })

  it("--demo fills the shop with tickets in every state but abandoned, and with a known client who has a reward", async () => {
    const { base, key } = await demo.listens()
    const { data: tickets } = await get(`${base}/v1/tickets`, key)
    const states = (tickets as ReadonlyArray<{ state: string }>).map(({ state }) => state)
    expect([...new Set(states)].sort()).toEqual(["collected", "impossible", "ready", "workshop"])
    const lookUp = demo.stdout.split("\n").findLast((line) => line.startsWith("curl "))
    expect(JSON.parse(execFileSync("bash", ["-c", lookUp ?? "false"], { encoding: "utf8" }))).toMatchObject({
      data: { display_name: "Amira Ben Salah", loyalty: { balance: 10, rewards_available: 1 } }
    })
    expect(demo.stdout.match(/export WORKSHOP_KEY=/g)).toHaveLength(1)
  })

  it("--words replaces the default forbidden words with the words of the file, in shops of every language", async () => {
    const folder = mkdtempSync(join(tmpdir(), "words-"))
    const file = join(folder, "words.txt")
    writeFileSync(file, "# Our own\n\ngrumble\r\nblue moon\n")
    const { base, key } = await serve(["--words", file]).listens()
    const create = async (service: string) => {
      const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", "Idempotency-Key": service }
      return (await fetch(`${base}/v1/tickets`, { method: "POST", headers, body: JSON.stringify({ service }) })).status
    }
    expect(await Promise.all(["Grumble!", "a blue-moon", "fuck", "Our own"].map(create))).toEqual([422, 422, 201, 201])
    const missing = await run(["serve", "--store", "memory", "--port", "0", "--words", join(folder, "none.txt")])
    writeFileSync(join(folder, "empty.txt"), "# Nothing\n")
    const empty = serve(["--words", join(folder, "empty.txt")])
    await empty.listens()
    expect(empty.stderr).toMatch(/empty\.txt is empty, so only words that a shop itself forbids are refused/)
    expect(missing.status).toBe(1)
    expect(missing.stderr).toMatch(/^The word list \S+none\.txt cannot be read \(.*\)\. Give --words a text file.*\n$/)
  })

  it("with WORKSHOP_TRUST_PROXY, requests without a valid key are counted by their forwarded address", async () => {
    const remaining = async (base: string, address: string) =>
      (await fetch(`${base}/v1/shop`, { headers: { "X-Forwarded-For": address } })).headers.get("RateLimit-Remaining")
    const { base } = await sandboxed.listens()
    expect([await remaining(base, "192.0.2.1"), await remaining(base, "192.0.2.1, 192.0.2.2")]).toEqual(["119", "119"])
    const { base: wary } = await demo.listens()
    expect([await remaining(wary, "192.0.2.1"), await remaining(wary, "192.0.2.2")]).toEqual(["119", "118"])
  })
})

describe.concurrent("workshop serve stops (Specification, Commands)", LONG, () => {
  it("with --shutdown-delay workshop serve still serves after SIGTERM, and /readyz is 503 before connections are refused", async () => {
    const workshop = serve(["--shutdown-delay", "3s"])
    const { base, port, key } = await workshop.listens()
    expect((await fetch(`${base}/readyz`)).status).toBe(200)
    workshop.kill("SIGTERM")
    const said = await untilAsync(
      "a node that is not ready",
      async () => {
        const response = await fetch(`${base}/readyz`)
        return { status: response.status, text: await response.text() }
      },
      ({ status }) => status === 503
    )
    expect(said.text).toContain("This process is stopping")
    expect(await get(`${base}/v1/tickets`, key)).toMatchObject({ success: true })
    await refuses(port)
    expect(await workshop.exited).toBe(0)
  })

  it("a stop by Ctrl-C does not wait for --shutdown-delay", async () => {
    const workshop = serve(["--shutdown-delay", "10m"])
    await workshop.listens()
    workshop.kill("SIGINT")
    expect(await workshop.exited).toBe(0)
  })

  it.each(["SIGTERM", "SIGINT"] as const)(
    "after %s, workshop serve finishes its running requests, accepts no others and exits with 0",
    async (signal) => {
      const workshop = serve()
      const { port, key } = await workshop.listens()
      const create = await unfinishedCreate(port, key)
      workshop.kill(signal)
      await refuses(port)
      const answer = await create.finish()
      expect(answer).toContain("HTTP/1.1 201 Created")
      expect(answer).toContain("Connection: close")
      expect(await workshop.exited).toBe(0)
      expect(workshop.stderr).toBe("")
    }
  )

  it("workshop serve under npx prints the kill command that ends it, because killing npx does not", async () => {
    const workshop = serve([], { npm_command: "exec" })
    const [, pid] = await workshop.says(
      /^Stop the server with Ctrl-C\. In a script, use kill (\d+), because killing npx or npm does not stop the server\.$/m
    )
    process.kill(Number(pid), "SIGTERM")
    expect(await workshop.exited).toBe(0)
  })

  it("two simultaneous SIGINTs, which npm causes on Ctrl-C, count as one", async () => {
    const workshop = serve()
    const { port, key } = await workshop.listens()
    const create = await unfinishedCreate(port, key)
    workshop.kill("SIGINT")
    workshop.kill("SIGINT")
    await refuses(port)
    expect(await create.finish()).toContain("HTTP/1.1 201 Created")
    expect(await workshop.exited).toBe(0)
  })

  it("a client that never finishes its request does not delay the stop for ten seconds", async () => {
    const workshop = serve()
    const { port, key } = await workshop.listens()
    await unfinishedCreate(port, key)
    const before = performance.now()
    workshop.kill("SIGTERM")
    expect(await workshop.exited).toBe(0)
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  it("a second signal ends workshop serve at once", async () => {
    const workshop = serve()
    const { port, key } = await workshop.listens()
    const { socket } = await unfinishedCreate(port, key)
    socket.on("error", () => {})
    const again = setInterval(() => workshop.kill("SIGTERM"), 50)
    expect(await workshop.exited).toBe(1)
    clearInterval(again)
  })

  it("a second process on the same port is refused, until the first one is killed with SIGKILL", async () => {
    const first = serve()
    const { port } = await first.listens()
    expect(await run(["serve", "--store", "memory", "--port", String(port)])).toEqual({
      status: 1,
      stdout: "",
      stderr: `127.0.0.1 port ${port} is already in use. Stop the program that listens there, or choose another port with --port (0 selects a free one).\n`
    })
    first.kill("SIGKILL")
    expect(await first.exited).toBe("SIGKILL")
    const { base } = await serve(["--port", String(port)]).listens()
    expect((await fetch(`${base}/healthz`)).status).toBe(200)
  })
})

describe("clients' pages (docs/tracking-pages.md)", LONG, () => {
  const ticketOf = async (base: string, key: string) => {
    const headers = { Authorization: `Bearer ${key}`, "Idempotency-Key": "tracked", "Content-Type": "application/json" }
    const response = await fetch(`${base}/v1/tickets`, { method: "POST", headers, body: '{"service":"Hem"}' })
    return (
      (await response.json()) as { readonly data: { readonly tracking_code: string; readonly tracking_url: string } }
    ).data
  }

  it("clients' pages are served at tracking_url only with --tracking-pages", async () => {
    const [on, off] = [serve(["--tracking-pages"]), serve()]
    const { base, key } = await on.listens()
    expect(on.stdout).toContain(`Clients follow their tickets at ${base}/t/{tracking_code}`)
    const { tracking_code, tracking_url } = await ticketOf(base, key)
    expect(tracking_url).toBe(`${base}/t/${tracking_code}`)
    const page = await fetch(tracking_url, { headers: { "Accept-Language": "ar" } })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('dir="rtl"')])

    const plain = await off.listens()
    const ticket = await ticketOf(plain.base, plain.key)
    expect(ticket.tracking_url).toBeNull()
    expect((await fetch(`${plain.base}/t/${ticket.tracking_code}`)).status).toBe(404)
  })

  it("tracking_url begins with WORKSHOP_PUBLIC_URL, and WORKSHOP_TRACKING_PAGES serves the pages", async () => {
    const extra = { WORKSHOP_TRACKING_PAGES: "true", WORKSHOP_PUBLIC_URL: "https://tickets.example/" }
    const { base, key } = await serve([], extra).listens()
    const { tracking_code, tracking_url } = await ticketOf(base, key)
    expect(tracking_url).toBe(`https://tickets.example/t/${tracking_code}`)
    expect((await fetch(`${base}/t/${tracking_code}`)).status).toBe(200)
  })

  it("workshop dispatch refuses --tracking-pages without --public-url, which must be a web address", async () => {
    const asked = ["dispatch", "--tracking-pages", "--database-url", "postgres://nobody@127.0.0.1:1/none"]
    const { status, stderr } = await run(asked)
    expect([status, stderr]).toEqual([1, expect.stringContaining("--tracking-pages also needs --public-url")])
    expect((await run(["serve", "--public-url", "tickets"])).stderr).toContain("must be an http or https address")
  })
})

describe(
  "errors go to standard error, say what is wrong and what to do, and exit with status 1 (Specification, Commands)",
  LONG,
  () => {
    it.each([
      [
        [],
        "Give one of the commands serve, dispatch, migrate, shop, key, webhook, client, ticket, import, export, audit, check, secrets, cell, logs, receive, verify, scenario, simulate, conform, openapi, completions. workshop --help describes them."
      ],
      [["sreve"], "error: unknown command 'sreve' (Did you mean serve?). See workshop --help."],
      [["serve", "--prot", "1"], "error: unknown option '--prot' (Did you mean --port?). See workshop serve --help."],
      [["serve", "--port"], "error: option '--port <number>' argument missing. See workshop serve --help."],
      [
        ["serve", "here"],
        "error: too many arguments for 'serve'. Expected 0 arguments but got 1. See workshop serve --help."
      ],
      [["serve", "--port", "70000"], '--port (or WORKSHOP_PORT) must be a port from 0 to 65535, and not "70000".'],
      [["serve", "--port", "http"], '--port (or WORKSHOP_PORT) must be a port from 0 to 65535, and not "http".'],
      [
        ["serve", "--store", "paper"],
        '--store (or WORKSHOP_STORE) must be one of memory, embedded, postgres, and not "paper".'
      ],
      [["serve", "--store", "postgres"], "--store postgres needs a database. Give its address with --database-url."],
      [
        ["serve", "--database-url", "base"],
        "The database address does not have the form postgres://user:password@host:5432/name. In a password, write # as %23 and / as %2F. Check --database-url, or DATABASE_URL."
      ],
      [
        ["serve", "--host", "http://x"],
        '--host (or WORKSHOP_HOST) must be an address of this machine, such as 127.0.0.1, and not "http://x".'
      ],
      [
        ["serve", "--store", "memory", "--host", "192.0.2.1"],
        "192.0.2.1 port 4010 is not an address of this machine. Choose one with --host, such as 127.0.0.1."
      ],
      [
        ["serve", "--demo-key", "wk_test_stable-key"],
        "--demo-key sets a key of the sandbox, which is off. Add --sandbox, or omit --demo-key."
      ],
      [
        ["serve", "--sandbox", "--demo-key", "wk_live_stable-key"],
        "--demo-key (or WORKSHOP_DEMO_KEY) must be wk_test_ followed by 8 to 64 letters, digits, - or _."
      ],
      [
        ["serve", "--sandbox", "--sandbox-token", "thirty-one-characters-are-short"],
        "--sandbox-token (or WORKSHOP_SANDBOX_TOKEN) must have at least 32 characters. Create a token with openssl rand -hex 16."
      ],
      [
        ["serve", "--host", "0.0.0.0", "--sandbox"],
        "Sandbox requests need no API key, so a sandbox that listens on 0.0.0.0 needs a token. Set WORKSHOP_SANDBOX_TOKEN, or listen on 127.0.0.1."
      ]
    ])("workshop %j is refused with what to do", async (args, sentence) => {
      expect(await runCommandLine(args)).toEqual({ status: 1, stdout: "", stderr: `${sentence}\n` })
    })

    it.each([
      [["--store", "memory", "--data-dir", "/tmp/x"], "--store memory does not use --data-dir. Omit one of the two."],
      [
        ["--database-url", "x", "--store", "memory"],
        "--store memory does not use --database-url. Omit one of the two."
      ],
      [
        ["--store", "embedded", "--database-url=x"],
        "--store embedded does not use --database-url. Omit one of the two."
      ],
      [["--data-dir=x", "--store=postgres"], "--store postgres does not use --data-dir. Omit one of the two."],
      [
        ["--data-dir", "x", "--database-url", "y"],
        "error: option '--data-dir <folder>' cannot be used with option '--database-url <url>'. See workshop serve --help."
      ]
    ])("workshop serve refuses %j, because the two flags contradict each other", async (words, stderr) => {
      expect(await runCommandLine(["serve", ...words])).toEqual({ status: 1, stdout: "", stderr: `${stderr}\n` })
    })

    it("the error for a folder in which Postgres cannot run names the flags to change", async () => {
      const { status, stderr } = await runCommandLine(["serve", "--store", "embedded", "--data-dir", "/dev/null/x"])
      expect(status).toBe(1)
      expect(stderr).toMatch(
        /^Postgres cannot run in \/dev\/null\/x \(ENOTDIR.*\). Choose another --data-dir. Use --store memory, or give the address of a Postgres with --database-url\.\n$/
      )
    })

    it("the values of environment variables are checked in the same way as typed flags", async () => {
      const port = await runCommandLine(["serve"], { WORKSHOP_PORT: "ten" })
      expect(port.stderr).toBe('--port (or WORKSHOP_PORT) must be a port from 0 to 65535, and not "ten".\n')
      const demo = await runCommandLine(["serve"], { WORKSHOP_DEMO: "perhaps" })
      expect(demo).toEqual({
        status: 1,
        stdout: "",
        stderr: 'WORKSHOP_DEMO must be true or false, and not "perhaps".\n'
      })
    })
  }
)

describe("help (Specification, Commands)", LONG, () => {
  it("workshop --help lists the commands", async () => {
    const { status, stdout, stderr } = await runCommandLine(["--help"])
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toContain("Usage: workshop [options] [command]")
    expect(stdout).toMatch(/^ {2}serve {2,}Serve the API over HTTP/m)
  })

  it("workshop serve --help names every flag with its default and its environment variable", async () => {
    const { status, stdout } = await runCommandLine(["serve", "--help"])
    expect(status).toBe(0)
    const flags = [...stdout.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name]) => name)
    // observe/operatingDocs.test.ts checks the variable and the default of each flag.
    expect(flags).toEqual(
      expect.arrayContaining(["store", "host", "port", "sandbox", "demo", "trust-proxy", "log-format"])
    )
    const help = stdout.replaceAll(/\s+/g, " ")
    expect(help.match(/env: \w+\)/g)).toHaveLength(flags.length)
    for (const fallback of ["4010", "127.0.0.1"]) expect(help).toContain(`(default: ${fallback}; env: `)
  })

  it("workshop --version prints the version and nothing else", async () => {
    expect(await run(["--version"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })
})
