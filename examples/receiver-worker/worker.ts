import { verify } from "@workshop/webhooks"

/** The platform's bindings of the worker: the webhook's secret, a queue for the work, and the ids of events that were seen already. */
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

/** Longer than the last retry comes after the first attempt. */
const REMEMBERED_S = 7 * 86_400

/** A worker that takes webhooks: checks the signature, drops what came before, queues the rest, answers at once. */
export default {
  fetch: async (request: Request, { WEBHOOK_SECRET, WORK, SEEN }: Env): Promise<Response> => {
    if (request.method !== "POST") return new Response(null, { status: 404 })
    const body = await request.text()
    const verdict = await verify(body, request.headers.get("service-signature"), WEBHOOK_SECRET)
    if (!verdict.ok) return new Response(null, { status: 400 })
    const event = JSON.parse(body) as WebhookEvent
    if ((await SEEN.get(event.id)) !== null) return new Response(null, { status: 204 })
    // Queued before it is noted: twice is allowed, never is not.
    await WORK.send(event)
    await SEEN.put(event.id, "", { expirationTtl: REMEMBERED_S })
    return new Response(null, { status: 204 })
  }
}
