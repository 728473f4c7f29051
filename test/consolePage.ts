import type { AddressInfo } from "node:net"
import { connect, createServer, type Socket } from "node:net"
import { type Entropy, type StorePorts, sandboxAddresses } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { pages, serve } from "@workshop/http-node"
import { sandboxRoutes } from "@workshop/http-node/sandbox"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Exit, type Layer, ManagedRuntime, Scope } from "effect"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, beforeAll, describe } from "vitest"
import { bundle } from "../packages/console/scripts/bundle.mjs"
import { inProcessServiceLayer } from "../packages/testers/src/testkit/InProcessService.js"
import { chromiumPath, NO_CHROMIUM } from "../scripts/chromium.mjs"
import { openBrowser } from "./browser.js"

/** Any JSON value. */
// biome-ignore lint/suspicious/noExplicitAny: the expectations of the tests check its shape
export type Json = any

/** The instant at which each sandbox's clock starts, a Friday morning. */
export const START = Date.parse("2026-11-20T10:20:42.000Z")

/** The fields of a new shop, except its name. */
export const LIKE = { currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }

/** A region of the page, by its accessible name. */
export const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true })

/** Opens the tab with this name beside the ticket. */
export const side = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Beside the ticket" }).getByRole("button", { name }).click()

/** A sandbox with its console on a socket. Only calls of the sandbox move its clock. */
export class ConsoleSandbox {
  #requests = 0
  private constructor(
    readonly base: string,
    readonly shop: string,
    readonly key: string,
    readonly close: () => Promise<void>
  ) {}

  static async open(token: string | null = null, seed = 5): Promise<ConsoleSandbox> {
    const parts = { store: MemoryStore.layer as Layer.Layer<StorePorts, never, Entropy>, seed, start: START }
    const service = inProcessServiceLayer({ ...parts, receiverAt: () => undefined })
    const runtime = ManagedRuntime.make(service)
    const scope = Effect.runSync(Scope.make())
    const started = Effect.gen(function* () {
      const api = yield* workshopRoutes({ validateResponses: false })
      const groups = yield* sandboxRoutes({ token, webhookPolicy: sandboxAddresses, validateResponses: false, api })
      return yield* serve(yield* pipeline([...groups, ...(yield* pages())]), {
        host: "127.0.0.1",
        port: 0,
        trustProxy: false
      })
    })
    const { port } = await runtime.runPromise(Scope.extend(started, scope))
    const base = `http://127.0.0.1:${port}`
    const opened = await fetch(`${base}/sandbox/shops`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ ...LIKE, name: "Atelier Lac" })
    })
    const { data } = (await opened.json()) as Json
    return new ConsoleSandbox(base, data.shop.id, data.key, async () => {
      await runtime.runPromise(Scope.close(scope, Exit.void))
      await runtime.dispose()
    })
  }

  /** Calls the sandbox as an app, an owner or the clock would, and resolves with the data. */
  async sandbox(method: string, path: string, body?: unknown): Promise<Json> {
    return this.#ask(method, `/sandbox${path}`, body, {})
  }

  /** Calls the API as a till would, with the shop's key, and resolves with the data. */
  async till(
    method: string,
    path: string,
    body?: unknown,
    idempotency_key = `till-${++this.#requests}`
  ): Promise<Json> {
    return this.#ask(method, `/v1${path}`, body, {
      authorization: `Bearer ${this.key}`,
      "idempotency-key": idempotency_key
    })
  }

  async #ask(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Json> {
    const type = body === undefined ? {} : { "content-type": "application/json" }
    const text = body === undefined ? null : JSON.stringify(body)
    const response = await fetch(this.base + path, { method, body: text, headers: { ...type, ...headers } })
    return ((await response.json()) as Json).data
  }

  #page: Page | undefined

  /** Opens the console in one page that the tests share, because opening a page takes longer than loading one. */
  async samePage(browser: Browser): Promise<Page> {
    this.#page ??= (await this.page(browser)).page
    await this.#page.evaluate("sessionStorage.clear()")
    await this.#page.goto("about:blank")
    await this.#page.goto(`${this.base}/console#${this.shop}`)
    await this.#page.getByText("live", { exact: true }).waitFor()
    return this.#page
  }

  /** Opens the console in a new page, and collects the messages and errors of the browser. */
  async page(browser: Browser, options: BrowserContextOptions = {}, base = this.base) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    const complaints: Array<string> = []
    page.on("console", (message) => complaints.push(message.text()))
    page.on("pageerror", (error) => complaints.push(String(error)))
    await page.goto(`${base}/console`)
    return { page, complaints }
  }
}

/** A proxy that forwards connections to a server, until it drops all of them and refuses new ones. */
export class DroppingProxy {
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((socket) => this.#pass(socket))
  #port = 0
  #isDropped = false
  base = ""

  private constructor() {}

  static async open(target: string): Promise<DroppingProxy> {
    const proxy = new DroppingProxy()
    proxy.restore(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve))
    proxy.base = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`
    return proxy
  }

  #pass(socket: Socket): void {
    if (this.#isDropped) return void socket.destroy()
    const onward = connect(this.#port, "127.0.0.1")
    for (const end of [socket, onward]) {
      this.#sockets.add(end)
      end.on("error", () => end.destroy())
      end.on("close", () => {
        socket.destroy()
        onward.destroy()
      })
    }
    socket.pipe(onward).pipe(socket)
  }

  /** Closes every connection, and each new one. */
  drop(): void {
    this.#isDropped = true
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  /** Forwards connections again, to the server at `target`. */
  restore(target: string): void {
    this.#port = Number(new URL(target).port)
    this.#isDropped = false
  }

  close(): void {
    this.drop()
    this.#server.close()
  }
}

/** A browser, and a sandbox whose pages it opens. */
export interface InChromium {
  browser: Browser
  sandbox: ConsoleSandbox
}

/** A suite of tests in a real browser, with its own sandbox. Without Chromium it is skipped with a warning. */
export const describeInChromium = (title: string, tests: (on: InChromium) => void): void => {
  const executablePath = chromiumPath()
  if (executablePath === undefined) console.warn(`Skipped: ${title}. ${NO_CHROMIUM}.`)
  describe.skipIf(executablePath === undefined)(title, { timeout: 120_000 }, () => {
    const on = {} as InChromium
    beforeAll(async () => {
      await bundle()
      on.browser = await openBrowser()
      on.sandbox = await ConsoleSandbox.open()
    }, 120_000)
    afterAll(async () => {
      await on.browser?.close()
      await on.sandbox?.close()
    })
    tests(on)
  })
}
