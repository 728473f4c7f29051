import type { IncomingMessage } from "node:http"
import type { CallerFields } from "@workshop/core/http"
import type { PromiseWorkshop } from "@workshop/core/promise"
import { mountNode } from "@workshop/http-node"
import express, { type Express } from "express"

/** The signed-in users by their sessions, which a team's server has already and uses instead of API keys. */
export type Sessions = ReadonlyMap<string, CallerFields>

const sessionOf = ({ headers }: IncomingMessage): string =>
  /(?:^|; )session=([^;]+)/.exec(headers.cookie ?? "")?.[1] ?? ""

/** An Express server with its own routes and a workshop. */
export const createApp = (workshop: PromiseWorkshop, sessions: Sessions): Express => {
  const app = express()

  // The API is mounted twice: for signed-in users, and for tills, which send a key. It comes before the body parser,
  // which it does not need.
  const forSessions = mountNode(workshop, { authenticate: (request) => sessions.get(sessionOf(request)) })
  const forKeys = mountNode(workshop)
  app.use("/workshop", (request, response, next) =>
    (request.headers.authorization === undefined ? forSessions : forKeys)(request, response, next)
  )
  app.use(express.json())

  // The server's own route uses the same tickets.
  app.get("/counter/:number", async (request, response) => {
    // Express sends a string as HTML, and the text of a ticket may contain a script.
    response.type("text/plain")
    const caller = sessions.get(sessionOf(request))
    if (caller === undefined) return void response.status(401).send("Sign in first\n")
    const found = await workshop.tickets.byNumber({ ...caller, via: "app" }, Number(request.params.number))
    if (found.ok) return void response.send(`${found.value.data.service}: ${found.value.data.state}\n`)
    if (found.refusal._tag === "InvalidInput") return void response.status(400).send(`${found.refusal.message}\n`)
    if (found.refusal._tag === "TicketNotFound") return void response.status(404).send("No such ticket\n")
    console.error(found.refusal.message)
    return void response.status(503).send("Try again\n")
  })

  // Streams events to a screen in the workshop. `onEvent` is called with the events of all shops, so the route selects those of the screen's shop.
  app.get("/screen", (request, response) => {
    const caller = sessions.get(sessionOf(request))
    if (caller === undefined) return void response.status(401).type("text/plain").send("Sign in first\n")
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
    const stop = workshop.onEvent(({ type, id, shop_id }) => {
      if (shop_id === caller.shop_id) response.write(`id: ${id}\ndata: ${type}\n\n`)
    })
    request.once("close", stop)
  })
  return app
}
