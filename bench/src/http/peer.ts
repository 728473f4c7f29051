// The peer: the same endpoints written by hand on fastify. The benchmark runs it in its own process.

import { Limits, Policies } from "@workshop/core"
import fastify, { type FastifyReply, type FastifyRequest } from "fastify"
import { requestId, uuid } from "./PeerIds.js"
import { type LimitStatus, MinuteLimit, scarcer } from "./PeerLimits.js"
import { type Body, bodySchema, formats, headersSchema, noQuery, paramsSchema } from "./PeerSchemas.js"
import { create, type Key, openShop, Refusal, sha256 } from "./PeerStore.js"
import { announce, KEYS_PER_SHOP, key, SCOPES, SHOPS, ticketBody } from "./Workload.js"

declare module "fastify" {
  interface FastifyContextConfig {
    readonly scope?: string
  }
  interface FastifyRequest {
    key: Key | null
    limitStatus: LimitStatus | null
    now: number
  }
}

const BELIEVED_MS = 30_000
const keysByHash = new Map<string, Key>()
const believed = new Map<string, { readonly key: Key; readonly until: number }>()
const requests = new MinuteLimit("requests_per_minute", Policies.requests_per_minute.limit)
const writes = new MinuteLimit("writes_per_minute", Policies.writes_per_minute.limit)
const strangers = new MinuteLimit("unauthenticated_per_minute", Policies.unauthenticated_per_minute.limit)

const keyOf = (text: string, now: number): Key | undefined => {
  const entry = believed.get(text)
  if (entry !== undefined && now < entry.until) return entry.key
  const found = keysByHash.get(sha256(text))
  if (found !== undefined) believed.set(text, { key: found, until: now + BELIEVED_MS })
  return found
}

const usedUp = (limit: MinuteLimit, status: LimitStatus) =>
  new Refusal(429, "TOO_MANY_ATTEMPTS", { limit: limit.name }, status)

const turnAway = (request: FastifyRequest): Refusal => {
  const window = strangers.at(request.ip, request.now)
  if (strangers.isUsedUp(window)) return usedUp(strangers, strangers.statusOf(window))
  window.used++
  return new Refusal(401, "UNAUTHENTICATED", undefined, strangers.statusOf(window))
}

const shopRefusal = ({ shop, scopes }: Key, scope: string | undefined): Refusal | undefined => {
  if (!shop.is_active) return new Refusal(403, "ACCOUNT_DEACTIVATED")
  if (!shop.is_approved) return new Refusal(403, "SHOP_NOT_APPROVED")
  if (!shop.is_api_enabled) return new Refusal(403, "API_DISABLED")
  if (scope === undefined) return new Refusal(404, "NOT_FOUND")
  return scopes.includes(scope) ? undefined : new Refusal(403, "FORBIDDEN", { scope })
}

const admit = (request: FastifyRequest): Refusal | undefined => {
  const now = Date.now()
  request.now = now
  const text = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1]
  const key = text === undefined ? undefined : keyOf(text, now)
  if (key === undefined) return turnAway(request)
  const asked = requests.at(key.id, now)
  if (requests.isUsedUp(asked)) return usedUp(requests, requests.statusOf(asked))
  const refusal = shopRefusal(key, request.routeOptions.config?.scope)
  if (refusal === undefined && request.method === "POST") {
    const written = writes.at(key.id, now)
    if (writes.isUsedUp(written)) return usedUp(writes, writes.statusOf(written))
    written.used++
    asked.used++
    request.limitStatus = scarcer(requests.statusOf(asked), writes.statusOf(written))
  } else {
    asked.used++
    request.limitStatus = requests.statusOf(asked)
  }
  request.key = key
  return refusal
}

const send = (
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  limitStatus: LimitStatus | null,
  body: string
) => {
  reply.code(status)
  reply.header("Content-Type", "application/json; charset=utf-8")
  reply.header("Cache-Control", "no-store")
  reply.header("X-Content-Type-Options", "nosniff")
  reply.header("Request-Id", request.id)
  if (limitStatus !== null) {
    reply.header("RateLimit-Limit", String(limitStatus.limit))
    reply.header("RateLimit-Remaining", String(limitStatus.remaining))
    reply.header("RateLimit-Reset", String(Math.max(0, Math.ceil((limitStatus.resets_at - request.now) / 1000))))
  }
  return reply.send(body)
}

const app = fastify({
  bodyLimit: Limits.body_bytes,
  keepAliveTimeout: 5000,
  genReqId: requestId,
  requestIdHeader: false,
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true, formats } }
})
app.decorateRequest("key", null)
app.decorateRequest("limitStatus", null)
app.decorateRequest("now", 0)
app.addHook("onRequest", (request, _, done) => done(admit(request)))

app.setNotFoundHandler((_, reply) => reply.send(new Refusal(404, "NOT_FOUND")))
app.setErrorHandler((error: Error & { readonly statusCode?: number }, request, reply) => {
  const status = error.statusCode ?? 500
  const code = error instanceof Refusal ? error.code : status < 500 ? "VALIDATION_ERROR" : "INTERNAL"
  const limitStatus = error instanceof Refusal ? (error.limitStatus ?? request.limitStatus) : request.limitStatus
  const details = error instanceof Refusal ? error.details : { issues: [error.message] }
  const body = { success: false, error: { code, message: error.message, details } }
  if (status === 429) reply.header("Retry-After", "60")
  return send(request, reply, status, limitStatus, JSON.stringify(body))
})

app.get<{ readonly Params: { readonly id: string } }>(
  "/v1/tickets/:id",
  { config: { scope: "tickets:read" }, schema: { params: paramsSchema, querystring: noQuery } },
  (request, reply) => {
    const ticket = request.key!.shop.tickets.get(request.params.id.toLowerCase())
    if (ticket === undefined) return reply.send(new Refusal(404, "NOT_FOUND"))
    return send(request, reply, 200, request.limitStatus, `{"success":true,"data":${JSON.stringify(ticket)}}`)
  }
)

app.post<{ readonly Body: Body; readonly Headers: { readonly "idempotency-key": string } }>(
  "/v1/tickets",
  { config: { scope: "tickets:write" }, schema: { headers: headersSchema, body: bodySchema, querystring: noQuery } },
  (request, reply) => {
    const { price_minor, deposit_minor } = request.body
    if ((deposit_minor ?? 0) > (price_minor ?? Number.POSITIVE_INFINITY))
      return reply.send(new Refusal(400, "VALIDATION_ERROR", { issues: [{ in: "body", field: "deposit_minor" }] }))
    const { ticket, is_replay, limitStatus } = create(request.key!, request.body, request.headers["idempotency-key"])
    if (is_replay) reply.header("Idempotent-Replayed", "true")
    const body = `{"success":true,"data":${ticket},"meta":{"replayed":${is_replay}}}`
    return send(
      request,
      reply,
      is_replay ? 200 : 201,
      limitStatus === undefined ? request.limitStatus : scarcer(request.limitStatus!, limitStatus),
      body
    )
  }
)

const now = Date.now()
const first = JSON.parse(ticketBody(0)) as Body
const tickets = Array.from({ length: SHOPS }, (_, n) => {
  const shop = openShop(now)
  for (let i = 0; i < KEYS_PER_SHOP; i++)
    keysByHash.set(sha256(key(n + i * SHOPS)), { id: uuid(now), shop, scopes: SCOPES })
  create({ id: "", shop, scopes: SCOPES }, first, "first")
  return [...shop.tickets.keys()][0]!
})
const address = await app.listen({ host: "127.0.0.1", port: 0 })
announce({ port: Number(new URL(address).port), tickets })
