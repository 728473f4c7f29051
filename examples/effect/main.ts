import { createServer } from "node:http"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { drainOnClose } from "@workshop/http-node"
import { Effect, Layer } from "effect"
import { makeApp, screen } from "./app.js"
import { background, openShop, services } from "./workshop.js"

const socket = createServer()

const serving = Effect.gen(function* () {
  const { counter, key } = yield* openShop
  yield* Effect.forkScoped(screen)
  yield* HttpServer.serveEffect(yield* makeApp(counter))
  yield* Effect.logInfo(`Listening on http://127.0.0.1:4023. Try:
curl -s http://127.0.0.1:4023/workshop/v1/tickets -H 'Authorization: Bearer ${key}' -H 'Idempotency-Key: 1' -H 'Content-Type: application/json' -d '{"service":"Hem"}'
curl -s http://127.0.0.1:4023/counter/1`)
  // A scope closes in reverse order, so running requests still have their routes and services.
  yield* drainOnClose(socket)
  // The background work is built last, so that a receiver of webhooks in this server listens for as long as deliveries
  // are made.
  yield* Layer.build(background)
  return yield* Effect.never
})

const server = NodeHttpServer.layer(() => socket, { host: "127.0.0.1", port: 4023 })

NodeRuntime.runMain(serving.pipe(Effect.scoped, Effect.provide(Layer.merge(services, server))))
