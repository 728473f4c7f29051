import { Agent, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { HttpRouter, HttpServer, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Deferred, Effect, Exit, Layer, Scope } from "effect"
import { expect, it } from "vitest"
import { drainOnClose } from "../../src/index.js"

/** Starts an Effect server, and returns its port and a function that stops it. */
const started = async (slow: Effect.Effect<void>, timeoutMs?: number) => {
  const socket = createServer()
  const app = HttpRouter.empty.pipe(
    HttpRouter.get("/", HttpServerResponse.text("quick")),
    HttpRouter.get("/slow", Effect.as(slow, HttpServerResponse.text("slow")))
  )
  const layer = Layer.scopedDiscard(drainOnClose(socket, timeoutMs === undefined ? {} : { timeoutMs })).pipe(
    Layer.provide(HttpServer.serve(app)),
    Layer.provide(NodeHttpServer.layer(() => socket, { host: "127.0.0.1", port: 0 }))
  )
  const scope = Effect.runSync(Scope.make())
  await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const { port } = socket.address() as AddressInfo
  return { port, end: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** Sends a GET. Returns the body, or the error's code if there is no response. */
const get = (port: number, path: string, agent: Agent) =>
  new Promise<string>((resolve) => {
    const sent = request({ host: "127.0.0.1", port, path, agent }, (response) => {
      let text = ""
      response.on("data", (chunk) => {
        text += chunk
      })
      response.once("end", () => resolve(text))
    })
    sent.once("error", (error) => resolve(String((error as NodeJS.ErrnoException).code)))
    sent.end()
  })

it("a draining server responds to every request that it accepted, and ends even if clients keep sending", async () => {
  const { port, end } = await started(Effect.void)
  const agent = new Agent({ keepAlive: true, maxSockets: 10 })
  const isLoaded = Effect.runSync(Deferred.make<void>())
  let count = 0
  const client = async () => {
    const texts = new Set<string>()
    while (true) {
      const text = await get(port, "/", agent)
      texts.add(text)
      if (text === "ECONNREFUSED") return texts
      if (++count === 100) Deferred.unsafeDone(isLoaded, Effect.void)
    }
  }
  const clients = Promise.all(Array.from({ length: 10 }, client))
  await Effect.runPromise(Deferred.await(isLoaded))
  await end()
  for (const texts of await clients) expect([...texts]).toEqual(["quick", "ECONNREFUSED"])
  agent.destroy()
})

it("a draining server waits for a running request, and then ends even if the client keeps the connection open", async () => {
  const gate = Effect.runSync(Deferred.make<void>())
  const runs = Effect.runSync(Deferred.make<void>())
  const { port, end } = await started(Effect.zipRight(Deferred.succeed(runs, undefined), Deferred.await(gate)))
  const agent = new Agent({ keepAlive: true })
  const slow = get(port, "/slow", agent)
  await Effect.runPromise(Deferred.await(runs))
  const ended = end()
  while ((await get(port, "/", new Agent())) !== "ECONNREFUSED");
  await Effect.runPromise(Deferred.succeed(gate, undefined))
  expect(await slow).toBe("slow")
  await ended
  agent.destroy()
})

it("a draining server ends after its time limit even if a request still runs", async () => {
  const runs = Effect.runSync(Deferred.make<void>())
  const { port, end } = await started(Effect.zipRight(Deferred.succeed(runs, undefined), Effect.never), 300)
  const slow = get(port, "/slow", new Agent({ keepAlive: true }))
  await Effect.runPromise(Deferred.await(runs))
  await end()
  expect(await slow).toBe("ECONNRESET")
})
