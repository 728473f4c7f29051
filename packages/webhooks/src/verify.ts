// Needs only Web Crypto, so it runs in Node, Bun, Deno, workers and browsers. It imports nothing, so you can copy this file.

/** Why a delivery is rejected; for logs, and not for the response. */
export type VerifyFailure =
  /** There is no signature header. */
  | "missing"
  /** The header is not `t=<seconds>,v1=<hex>` with at least one `v1`. */
  | "malformed"
  /** No `v1` belongs to this body, this `t` and these secrets. */
  | "mismatch"
  /** The signature is valid but too old: the event is late, or an attacker replays it. */
  | "too_old"
  /** The signature is valid but `t` is too far in the future: one of the two clocks is wrong. */
  | "too_new"

/** `t` is the time of sending, in seconds since 1970. */
export type Verified =
  | { readonly ok: true; readonly t: number }
  | { readonly ok: false; readonly reason: VerifyFailure }

/** Options of {@link verify}. */
export interface VerifyOptions {
  /** How far `t` may lie from `now`, either way; 300 by default. */
  readonly toleranceSeconds?: number
  /** The present, as a date or in milliseconds since 1970; the receiver's own clock by default. For tests, whose clock signs. */
  readonly now?: Date | number
}

interface Signed {
  /** The text from the header, because that text was signed. */
  readonly t: string
  readonly signatures: ReadonlyArray<Uint8Array>
}

const LONGEST_HEADER = 1024
const SECONDS = /^(?:0|[1-9]\d{0,11})$/
const SHA256_HEX = /^[0-9a-f]{64}$/

/** The two digits of each byte. */
export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))

/** Schemes other than `v1` are for later versions and pass unread; of `t` there is one. */
const parse = (header: string): Signed | undefined => {
  if (header.length > LONGEST_HEADER) return undefined
  let t: string | undefined
  const signatures: Array<Uint8Array> = []
  for (const item of header.split(",")) {
    const [, scheme, value] = /^([^ \t=]+)=(.*)$/.exec(item.replaceAll(/^[ \t]+|(?<![ \t])[ \t]+$/g, "")) ?? []
    if (scheme === undefined || value === undefined) return undefined
    if (scheme === "t") {
      if (t !== undefined || !SECONDS.test(value)) return undefined
      t = value
    } else if (scheme === "v1") {
      if (!SHA256_HEX.test(value)) return undefined
      signatures.push(fromHex(value))
    }
  }
  return t === undefined || signatures.length === 0 ? undefined : { t, signatures }
}

const utf8 = new TextEncoder()

/** HMAC-SHA256 under the whole text of a secret. */
export const hmac = async (secret: string, message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> => {
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const key = await crypto.subtle.importKey("raw", utf8.encode(secret), algorithm, false, ["sign"])
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, message))
}

/** Compares every byte, so that the time it takes does not depend on where the first difference is. */
const same = (a: Uint8Array, b: Uint8Array): boolean => {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0)
  return difference === 0
}

/** One secret or more, or a mistake of the receiver's. */
export const asList = (secrets: string | ReadonlyArray<string>): ReadonlyArray<string> => {
  const list = typeof secrets === "string" ? [secrets] : secrets
  if (list.length > 0 && list.every((secret) => typeof secret === "string" && secret !== "")) return list
  throw new TypeError(
    "verify and sign need the webhook's secret, which begins whsec_: without it no delivery can be checked"
  )
}

/** The bytes that are signed: the seconds, a dot and the body. */
export const messageOf = (t: string, rawBody: string | Uint8Array): Uint8Array<ArrayBuffer> => {
  const start = utf8.encode(`${t}.`)
  const body = typeof rawBody === "string" ? utf8.encode(rawBody) : rawBody
  const message = new Uint8Array(start.length + body.length)
  message.set(start)
  message.set(body, start.length)
  return message
}

/**
 * Whether a delivery comes from the service, unaltered and within the last minutes (Specification, Webhooks).
 * @param rawBody The body as it arrived, before any parser: the same JSON written out again is another text.
 * @param header The value of the signature header, `Service-Signature` unless the service names it otherwise.
 * @param secrets The webhook's secret, `whsec_` included; or two, while a receiver changes from one to the other.
 * @throws TypeError for no secret, an empty one, and a body that was already parsed: mistakes of the receiver's own.
 */
export const verify = async (
  rawBody: string | Uint8Array,
  header: string | null | undefined,
  secrets: string | ReadonlyArray<string>,
  { toleranceSeconds = 300, now }: VerifyOptions = {}
): Promise<Verified> => {
  const keys = asList(secrets)
  if (typeof rawBody !== "string" && !(rawBody instanceof Uint8Array)) {
    throw new TypeError("verify needs the raw body, a string or bytes: read it before it is parsed as JSON")
  }
  if (header === null || header === undefined || header === "") return { ok: false, reason: "missing" }
  const signed = parse(header)
  if (signed === undefined) return { ok: false, reason: "malformed" }

  const message = messageOf(signed.t, rawBody)
  const expected = await Promise.all(keys.map((secret) => hmac(secret, message)))
  const matches = signed.signatures.flatMap((given) => expected.map((right) => same(given, right)))
  if (!matches.includes(true)) return { ok: false, reason: "mismatch" }

  // biome-ignore lint/plugin: a receiver has neither Effect nor a clock of ours.
  const seconds = Math.floor(Number(now ?? new Date()) / 1000)
  const t = Number(signed.t)
  // The other way round, a clock or a tolerance that is not a number would let everything pass.
  if (!(t >= seconds - toleranceSeconds)) return { ok: false, reason: "too_old" }
  if (!(t <= seconds + toleranceSeconds)) return { ok: false, reason: "too_new" }
  return { ok: true, t }
}
