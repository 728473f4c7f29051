import type { IncomingMessage } from "node:http"
import type { CallerFields } from "@workshop/core/http"
import type { PromiseWorkshop } from "@workshop/core/promise"
import { mountNode } from "@workshop/http-node"
import { type FastifyInstance, type FastifyRequest, fastify } from "fastify"

/** Returns the signed-in user, whom your plugins have added to Fastify's request. */
export type SessionOf = (request: FastifyRequest) => CallerFields | null

/** A Fastify server with the API under `/workshop`, for callers with a key or for your own users. */
export const createApp = (workshop: PromiseWorkshop, sessionOf?: SessionOf): FastifyInstance => {
  const app = fastify()
  const handle = mountNode<IncomingMessage, [request: FastifyRequest]>(workshop, {
    prefix: "/workshop",
    ...(sessionOf && { authenticate: (_, request) => sessionOf(request) })
  })

  app.register(async (scope) => {
    // The API parses bodies itself, and responds to wrong ones in its own format.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null))
    scope.all("/workshop/v1/*", (request, reply) => {
      reply.hijack()
      handle(request.raw, reply.raw, undefined, request)
    })
  })

  app.get("/health", () => ({ ok: true }))
  return app
}
