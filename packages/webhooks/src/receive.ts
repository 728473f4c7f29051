import type { Event } from "./events.js"
import { type VerifyFailure, type VerifyOptions, verify } from "./verify.js"

/** A verified delivery with its event, or why it is rejected. */
export type Received =
  | { readonly ok: true; readonly event: Event }
  | { readonly ok: false; readonly reason: VerifyFailure | "not_an_event" }

const isEvent = (value: unknown): value is Event =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "id" in value

/**
 * Checks a delivery's signature and reads its event: {@link verify}, then `JSON.parse`. Types that your version does not know
 * come through too: answer 2xx to them.
 * @param rawBody The body as it arrived, before any parser.
 * @param header The value of the signature header, `Service-Signature` unless the service names it otherwise.
 * @param secrets The webhook's secret, `whsec_` included; or two, while you change from one to the other.
 * @throws TypeError as {@link verify} does.
 */
export const receive = async (
  rawBody: string | Uint8Array,
  header: string | null | undefined,
  secrets: string | ReadonlyArray<string>,
  options: VerifyOptions = {}
): Promise<Received> => {
  const verified = await verify(rawBody, header, secrets, options)
  if (!verified.ok) return verified
  try {
    const event: unknown = JSON.parse(typeof rawBody === "string" ? rawBody : new TextDecoder().decode(rawBody))
    if (isEvent(event)) return { ok: true, event }
  } catch {
    // Not JSON: below.
  }
  return { ok: false, reason: "not_an_event" }
}
