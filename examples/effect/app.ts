import { HttpRouter, HttpServerResponse } from "@effect/platform"
import { type Caller, CommittedEvents, TicketNumber, Tickets } from "@workshop/core"
import { httpApp } from "@workshop/core/http"
import { makeHttpMetrics } from "@workshop/http-node"
import { Effect, Schema, Stream } from "effect"
import { health } from "./health.js"

const CounterPath = Schema.Struct({ number: Schema.compose(Schema.NumberFromString, TicketNumber) })

const notFound = HttpServerResponse.text("No such ticket\n", { status: 404 })

/** An Effect server with the API under `/workshop`, and its own route on the same services. */
export const makeApp = (counter: Caller) =>
  Effect.gen(function* () {
    const tickets = yield* Tickets
    const api = yield* httpApp({ observe: makeHttpMetrics() })
    const atCounter = Effect.gen(function* () {
      const { number } = yield* HttpRouter.schemaPathParams(CounterPath)
      const { data } = yield* tickets.byNumber(counter, number)
      return HttpServerResponse.text(`${data.service}: ${data.state}\n`)
    }).pipe(
      Effect.catchTags({
        TicketNotFound: () => Effect.succeed(notFound),
        ShopNotFound: () => Effect.succeed(notFound),
        ParseError: () => Effect.succeed(notFound),
        StoreUnavailable: () => Effect.succeed(HttpServerResponse.text("Try again\n", { status: 503 }))
      })
    )
    return HttpRouter.empty.pipe(
      HttpRouter.get("/counter/:number", atCounter),
      HttpRouter.mountApp("/workshop", api),
      HttpRouter.concat(health),
      Effect.catchTag("RouteNotFound", () => Effect.succeed(HttpServerResponse.text("Nothing here\n", { status: 404 })))
    )
  })

/** Logs each event of this process in one line. */
export const screen = Effect.flatMap(CommittedEvents, ({ stream }) =>
  Stream.runForEach(stream, ({ type, id }) => Effect.logInfo(`${type} ${id}`))
)
