import { readFileSync } from "node:fs"
import { Closer, Entropy, Profanity, sandboxAddresses } from "@workshop/core"
import { pipeline, webHandler, workshopRoutes } from "@workshop/core/http"
import { ClockAdvance, SandboxClock, sandboxRoutes } from "@workshop/http-node/sandbox"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openFirstShop } from "../packages/cli/src/serve/FirstShop.js"
import { layer as workshopLayer } from "../packages/core/src/services/Workshop.js"

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8")
const BASE = "http://127.0.0.1:4010"

/** A curl command of the README, and the response below it. */
interface Shown {
  readonly command: string
  readonly status: number
  /** True if the text before the response says that the README shows only a part of it. */
  readonly isPart: boolean
  readonly answer: unknown
}

/** A fenced block with its language, or the text between two blocks. */
interface Part {
  readonly language: string | undefined
  readonly text: string
}

const partsOf = (page: string): ReadonlyArray<Part> =>
  page.split(/^```/m).map((text, i) => {
    if (i % 2 === 0) return { language: undefined, text }
    const [language = "", ...lines] = text.split("\n")
    return { language, text: lines.join("\n").trim() }
  })

type Step = { readonly export: readonly [string, string] } | { readonly shown: Shown }

/** The README's steps, in order. A `json` block is the response to the curl command before it. */
const stepsOf = (page: string): ReadonlyArray<Step> => {
  const parts = partsOf(page)
  return parts.flatMap(({ language, text }, i): ReadonlyArray<Step> => {
    if (language !== "sh") return []
    const [, name, value] = /^export (\w+)=(\S+)$/m.exec(text) ?? []
    const exported = name === undefined || value === undefined ? [] : [{ export: [name, value] as const }]
    const curl = /^curl [\s\S]*/m.exec(text)?.[0]
    if (curl === undefined) return exported
    const [words, response] = [parts[i + 1]?.text ?? "", parts[i + 2]]
    const status = /\b([1-5]\d\d)\b/.exec(words)?.[1]
    if (response?.language !== "json" || status === undefined)
      throw new Error(`The README shows no response to ${curl}`)
    const shown = { command: curl, status: Number(status), isPart: /\bin part\b/.test(words) }
    return [...exported, { shown: { ...shown, answer: JSON.parse(response.text) } }]
  })
}

/** The request that curl would send for a command. */
const requestOf = (command: string): Request => {
  const words = [...command.replaceAll("\\\n", " ").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? ""
  )
  const after = (...flags: ReadonlyArray<string>) =>
    words.flatMap((word, i) => (flags.includes(word) ? [words[i + 1] ?? ""] : []))
  const url = words.find((word) => word.startsWith(BASE)) ?? ""
  const headers = after("-H").map((line) => [
    line.slice(0, line.indexOf(":")),
    line.slice(line.indexOf(":") + 1).trim()
  ])
  const [json] = after("-d")
  const method = after("-X")[0] ?? (json === undefined ? "GET" : "POST")
  return new Request(url, {
    method,
    headers: headers as Array<[string, string]>,
    ...(json === undefined ? {} : { body: json })
  })
}

/**
 * Values that differ from run to run. The test compares their forms, and requires equal values wherever the README's
 * are equal.
 */
const CHANGING = [
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/,
  /^wk_(live|test)_[A-Za-z0-9_-]{43}$/
]
const formOf = (value: unknown) => (typeof value === "string" ? CHANGING.find((form) => form.test(value)) : undefined)

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/**
 * Compares a response with the one on the page. `learned` maps the page's ids, instants and codes to those of this run.
 */
const hold = (shown: unknown, actual: unknown, isPart: boolean, learned: Map<string, string>, path = "$"): void => {
  const form = formOf(shown)
  if (form !== undefined) {
    expect(actual, path).toMatch(form)
    const known = learned.get(shown as string)
    if (known !== undefined && !/T\d\d:/.test(known)) expect(actual, path).toBe(known)
    learned.set(shown as string, actual as string)
  } else if (isObject(shown)) {
    expect(isObject(actual) && Array.isArray(actual) === Array.isArray(shown), path).toBe(true)
    const fields = actual as Record<string, unknown>
    if (!isPart || Array.isArray(shown)) expect(Object.keys(fields), path).toEqual(Object.keys(shown))
    for (const [name, value] of Object.entries(shown)) hold(value, fields[name], isPart, learned, `${path}.${name}`)
  } else if (path.endsWith(".ahead_ms")) {
    // The difference to the real clock decreases between two requests, because the real clock runs.
    expect(Number(shown) - Number(actual), path).toBeLessThan(60_000)
  } else expect(actual, path).toEqual(shown)
}

const layer = ClockAdvance.layer([Closer]).pipe(
  Layer.provideMerge(workshopLayer),
  Layer.provideMerge(MemoryStore.layer),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer),
  Layer.provideMerge(SandboxClock.layer)
)
const runtime = ManagedRuntime.make(layer)

const serving = Effect.gen(function* () {
  const api = yield* workshopRoutes({ validateResponses: true })
  const branches = yield* sandboxRoutes({
    token: null,
    webhookPolicy: sandboxAddresses,
    validateResponses: true,
    api
  })
  return {
    answer: webHandler(yield* pipeline(branches), yield* Effect.runtime<never>()),
    key: (yield* openFirstShop).key
  }
})

describe("the README's commands, run in order", () => {
  const variables = new Map<string, string>()
  const learned = new Map<string, string>()
  let answer: (request: Request) => Promise<Response>

  beforeAll(async () => {
    const served = await runtime.runPromise(serving)
    answer = served.answer
    variables.set("WORKSHOP_KEY", served.key)
  })
  afterAll(() => runtime.dispose())

  const filledIn = (command: string) => command.replaceAll(/\$(\w+)/g, (whole, name) => variables.get(name) ?? whole)

  const steps = stepsOf(README)
  it.each(steps.map((step) => ["export" in step ? `export ${step.export[0]}` : step.shown.command, step] as const))(
    "the README's step %j runs and shows what the page says",
    async (_, step) => {
      if ("export" in step) {
        const [name, value] = step.export
        expect(learned.has(value), `${name} is something that an answer showed`).toBe(true)
        variables.set(name, learned.get(value) ?? value)
        return
      }
      const { command, status, isPart, answer: shown } = step.shown
      const response = await answer(requestOf(filledIn(command)))
      const body = await response.json()
      expect(response.status, JSON.stringify(body)).toBe(status)
      hold(shown, body, isPart, learned)
    }
  )

  it("the README's commands show a create, a replay, an error, and a ticket that the sandbox closes", () => {
    const statuses = steps.flatMap((step) => ("shown" in step ? [step.shown.status] : []))
    expect(statuses).toEqual(expect.arrayContaining([201, 200, 409]))
    expect(README).toContain('"abandon_reason": "no_news"')
  })
})
