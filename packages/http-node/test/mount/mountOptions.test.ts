import { Dispatcher } from "@workshop/core"
import { httpApp, mountFetch } from "@workshop/core/http"
import { documentOf } from "@workshop/core/openapi"
import { start } from "@workshop/core/promise"
import { mountNode } from "@workshop/http-node"
import * as NodeSender from "@workshop/http-node/sender"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Runtime } from "effect"
import { afterAll, describe, expect, it } from "vitest"

const workshop = await start({ store: MemoryStore.layer, background: false })
afterAll(() => workshop.stop())

const run = (effect: Effect.Effect<unknown, unknown, never>) => Runtime.runPromise(workshop.runtime)(effect)
const built = (layer: unknown) => run(Effect.scoped(Layer.build(layer as Layer.Layer<never>)))

/** The functions that take options, except `start`, `createTestWorkshop` and the stores. */
const takers: Record<string, (options: never) => unknown> = {
  mountNode: (options) => mountNode(workshop, options),
  mountFetch: (options) => mountFetch(workshop, options),
  httpApp: (options) => run(httpApp(options) as never),
  sender: (options) => built(NodeSender.layer(options)),
  dispatcher: (options) => built(Dispatcher.layer(options)),
  documentOf
}

describe("a mount of a workshop", () => {
  it.each([
    ["nothing", undefined],
    ["a start that was not awaited", Promise.resolve(workshop)]
  ])("a mount refuses %s in place of a workshop, with a message that says what to pass", (_, value) => {
    const sentence = "A mount needs a workshop, not the promise that start returns. Await start, and pass its result."
    expect(() => mountNode(value as never)).toThrow(sentence)
    expect(() => mountFetch(value as never)).toThrow(sentence)
  })
})

describe("invalid options of mounts, senders and documents", () => {
  it.each([
    ["mountNode", { prefx: "/workshop" }, "mountNode has no option prefx. Did you mean prefix?"],
    [
      "mountNode",
      { addressOf: () => "one" },
      "mountNode has no option addressOf. The options are prefix, authenticate, unauthenticated, ipv6Prefix, trackingPages, observe, trustProxy."
    ],
    ["mountNode", { trustProxy: "yes" }, "The option trustProxy of mountNode must be true or false"],
    ["mountNode", "/workshop", "mountNode requires an object of options"],
    ["mountFetch", { autenticate: () => null }, "mountFetch has no option autenticate. Did you mean authenticate?"],
    [
      "mountFetch",
      { prefix: "workshop" },
      "The option prefix of mountFetch must be a path that begins with /, such as /workshop"
    ],
    [
      "mountFetch",
      { unauthenticated: "Sign in" },
      "The option unauthenticated of mountFetch must be an object with message, challenge"
    ],
    [
      "mountFetch",
      { unauthenticated: { messge: "Sign in" } },
      "The option unauthenticated of mountFetch has no option messge. Did you mean message?"
    ],
    [
      "mountFetch",
      { trackingPages: { template: "<p>" } },
      "The option trackingPages of mountFetch has a template that must be a function"
    ],
    ["httpApp", { prefixes: "/workshop" }, "httpApp has no option prefixes. Did you mean prefix?"],
    ["httpApp", { ipv6Prefix: 0 }, "The option ipv6Prefix of httpApp must be a whole number from 1 to 128"],
    ["sender", { deadline: 5 }, "The sender has no option deadline. Did you mean deadlineMs?"],
    [
      "dispatcher",
      { signatureheader: "X-Lac" },
      "The dispatcher has no option signatureheader. Did you mean signatureHeader?"
    ],
    [
      "documentOf",
      { signatureheader: "X-Lac" },
      "documentOf has no option signatureheader. Did you mean signatureHeader?"
    ]
  ])("%s refuses the options %j with a one-sentence message", async (taker, options, sentence) => {
    const refused = await Promise.resolve()
      .then(() => takers[taker]?.(options as never))
      .then(
        () => "accepted",
        (error: Error) => error.message
      )
    expect(refused).toBe(sentence)
  })
})
