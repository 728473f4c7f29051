import { createServer, type IncomingMessage, type Server } from "node:http"
import { verify } from "@workshop/webhooks"

/** The part of an event that every receiver reads first. */
export interface WebhookEvent {
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

const MAX_BODY_BYTES = 1024 * 1024

const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

/** The maximum number of remembered event ids; the oldest are dropped first. */
const MAX_REMEMBERED_IDS = 100_000

/**
 * A server that receives webhooks. `work` runs once for each event, after the response. It must handle its own errors,
 * because the service does not repeat an event that has had a response of 2xx. A real receiver keeps `seen` in its
 * database, in `work`'s transaction.
 */
export const createReceiver = (secret: string, work: (event: WebhookEvent) => void): Server => {
  const seen = new Set<string>()
  return createServer(async (request, response) => {
    const answer = (status: number) => response.writeHead(status).end()
    // The service signed the received bytes, and JSON that is parsed and serialized again may be another text.
    const body = await bodyOf(request).catch(() => undefined)
    if (body === undefined) return answer(413)
    const header = request.headers["service-signature"]
    const verdict = await verify(body, typeof header === "string" ? header : null, secret)
    if (!verdict.ok) return answer(400)
    answer(204)
    const event = JSON.parse(body.toString()) as WebhookEvent
    if (seen.has(event.id)) return
    seen.add(event.id)
    const [oldest = ""] = seen
    if (seen.size > MAX_REMEMBERED_IDS) seen.delete(oldest)
    work(event)
  })
}
