import type { PromiseWorkshop } from "@workshop/core/promise"
import { mountNode } from "@workshop/http-node"
import { type FastifyInstance, fastify } from "fastify"

/** A Fastify server with the API under `/workshop`, for those who have a key. */
export const createApp = (workshop: PromiseWorkshop): FastifyInstance => {
  const app = fastify()
  const handle = mountNode(workshop, { prefix: "/workshop" })

  app.register(async (scope) => {
    // The API reads bodies itself, and says what is wrong with them in its own words.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null))
    scope.all("/workshop/v1/*", (request, reply) => {
      reply.hijack()
      handle(request.raw, reply.raw)
    })
  })

  app.get("/health", () => ({ ok: true }))
  return app
}
