import { verify } from "@workshop/webhooks"

/**
 * The worker's bindings: the webhook's secret, a queue for the work, and the ids of events that were received already.
 */
export interface Env {
  readonly WEBHOOK_SECRET: string
  readonly WORK: { readonly send: (event: WebhookEvent) => Promise<void> }
  readonly SEEN: {
    readonly get: (id: string) => Promise<string | null>
    readonly put: (id: string, value: string, options: { readonly expirationTtl: number }) => Promise<void>
  }
}

/** The part of an event that every receiver reads first. */
export interface WebhookEvent {
  readonly id: string
  readonly type: string
  readonly data: unknown
}

/** The time for which ids are stored, which is longer than all retries of an event take. */
const REMEMBERED_S = 7 * 86_400

/**
 * A worker that receives webhooks: it checks the signature, drops repeated events, queues the others, and responds at
 * once.
 */
export default {
  fetch: async (request: Request, { WEBHOOK_SECRET, WORK, SEEN }: Env): Promise<Response> => {
    if (request.method !== "POST") return new Response(null, { status: 404 })
    const body = await request.text()
    const verdict = await verify(body, request.headers.get("service-signature"), WEBHOOK_SECRET)
    if (!verdict.ok) return new Response(null, { status: 400 })
    const event = JSON.parse(body) as WebhookEvent
    if ((await SEEN.get(event.id)) !== null) return new Response(null, { status: 204 })
    // The event is queued before its id is stored, because an event may be processed twice but must not be lost.
    await WORK.send(event)
    await SEEN.put(event.id, "", { expirationTtl: REMEMBERED_S })
    return new Response(null, { status: 204 })
  }
}
