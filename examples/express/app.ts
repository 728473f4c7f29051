import type { IncomingMessage } from "node:http"
import type { CallerFields } from "@workshop/core/http"
import type { PromiseWorkshop } from "@workshop/core/promise"
import { mountNode } from "@workshop/http-node"
import express, { type Express } from "express"

/** The people of this shop's back office, by their sessions: what a team has already, instead of API keys. */
export type Sessions = ReadonlyMap<string, CallerFields>

const sessionOf = ({ headers }: IncomingMessage): string =>
  /(?:^|; )session=([^;]+)/.exec(headers.cookie ?? "")?.[1] ?? ""

/** An Express server that had routes of its own and got a workshop. */
export const createApp = (workshop: PromiseWorkshop, sessions: Sessions): Express => {
  const app = express()

  // The whole API, for whoever is signed in here, and for tills, which send a key. Before the body parser, which it does not need.
  const forSessions = mountNode(workshop, { authenticate: (request) => sessions.get(sessionOf(request)) })
  const forKeys = mountNode(workshop)
  app.use("/workshop", (request, response, next) =>
    (request.headers.authorization === undefined ? forSessions : forKeys)(request, response, next)
  )
  app.use(express.json())

  // A route of one's own, on the same tickets.
  app.get("/counter/:number", async (request, response) => {
    // Express takes a string for HTML, and what is written on a ticket may hold a script.
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
