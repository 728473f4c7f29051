import { createServer } from "node:http"
import { FileSystem, HttpApiBuilder, HttpMiddleware, HttpServer, HttpServerRequest } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Caller } from "@workshop/core"
import { CurrentCaller, errorFormat, groups } from "@workshop/core/http/joined"
import { drainOnClose } from "@workshop/http-node"
import { Config, Effect, flow, Layer, Option, Redacted, Schema } from "effect"
import { MyApi, refuse, SignedIn } from "./Api.js"
import { metrics, readyz } from "./HealthApi.js"
import { received } from "./Hook.js"
import { keep, place, read } from "./Orders.js"
import { MyShop } from "./Shop.js"
import { upload } from "./Upload.js"

/** The user of a session, and the shop of their tenant. */
const signedIn = Layer.effect(
  SignedIn,
  Effect.map(MyShop, ({ id }) => ({
    session: (session) => {
      const user = Redacted.value(session)
      if (!["amira", "zoe"].includes(user)) return refuse("UNAUTHENTICATED", "Sign in")
      const caller = { shop_id: id, caller_id: user, scopes: ["tickets:read", "tickets:write"], via: "api" }
      return Effect.orDie(Schema.decodeUnknown(Caller)(caller))
    }
  }))
)

const orders = HttpApiBuilder.group(MyApi, "orders", (handlers) =>
  handlers
    .handle("place", ({ payload }) => place(payload))
    .handle("read", ({ path }) => read(path.id))
    .handleRaw("upload", () => Effect.flatMap(CurrentCaller, ({ shop_id }) => upload(shop_id)))
)

const hooks = HttpApiBuilder.group(MyApi, "hooks", (handlers) =>
  Effect.map(MyShop, ({ secret }) => handlers.handleRaw("workshop", received(secret, flow(keep, Effect.orDie))))
)

const health = HttpApiBuilder.group(MyApi, "health", (handlers) =>
  handlers.handle("metrics", metrics).handle("readyz", readyz)
)

export const api = HttpApiBuilder.api(MyApi).pipe(
  Layer.provide([orders, hooks, health, groups(MyApi), errorFormat(MyApi)]),
  Layer.provide(signedIn)
)

const socket = createServer()

// Without this, a bug in your code is an empty 500 and at most a log line of the level INFO.
const logDefects = HttpMiddleware.make(Effect.tapDefect((cause) => Effect.logError("A request failed", cause)))

// Without the limit, a request to one of your endpoints, such as the receiver of webhooks, could fill the memory. The
// API has its own limit. A handler that reads the stream of a request has no limit.
const middleware = flow(logDefects, HttpServerRequest.withMaxBodySize(Option.some(FileSystem.KiB(64))))

// The server is provided here, so that it listens only after the API and the services are built, because an earlier
// request would get no response.
const routes = HttpApiBuilder.serve(middleware).pipe(
  HttpServer.withLogAddress,
  Layer.provide(
    NodeHttpServer.layerConfig(() => socket, { host: Config.succeed("127.0.0.1"), port: Config.integer("PORT") })
  )
)

/**
 * The server, which requires the services of the workshop. Layers close in reverse order, so the requests are drained
 * first.
 */
export const layer = Layer.scopedDiscard(drainOnClose(socket)).pipe(
  Layer.provide(routes),
  Layer.provide(api),
  Layer.provide(MyShop.Default),
  // The program's own rows are in the database of the store.
  Layer.provide(PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") }))
)
