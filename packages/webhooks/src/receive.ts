import type { Event } from "./events.js"
import { type VerifyFailure, type VerifyOptions, verify } from "./verify.js"

/** A verified delivery with its event, or the reason why it is rejected. */
export type ReceiveResult =
  | { readonly ok: true; readonly event: Event }
  | { readonly ok: false; readonly reason: VerifyFailure | "not_an_event" }

const isEvent = (value: unknown): value is Event =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "id" in value

/**
 * Checks a delivery's signature with {@link verify}, and parses its event. It also returns events of types that your
 * version does not know: respond with a 2xx to them.
 * @param rawBody The body as it was received, before any parser.
 * @param header The value of the signature header, `Service-Signature` unless the service is configured differently.
 * @param secrets The webhook's secret with `whsec_`, or two secrets while you change from one to the other.
 * @throws TypeError like {@link verify}.
 */
export const receive = async (
  rawBody: string | Uint8Array,
  header: string | null | undefined,
  secrets: string | ReadonlyArray<string>,
  options: VerifyOptions = {}
): Promise<ReceiveResult> => {
  const verified = await verify(rawBody, header, secrets, options)
  if (!verified.ok) return verified
  try {
    const event: unknown = JSON.parse(typeof rawBody === "string" ? rawBody : new TextDecoder().decode(rawBody))
    if (isEvent(event)) return { ok: true, event }
  } catch {
    // The body is not JSON, which is handled below.
  }
  return { ok: false, reason: "not_an_event" }
}
