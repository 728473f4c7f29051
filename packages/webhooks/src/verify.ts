// This module needs only Web Crypto, so it runs in Node, Bun, Deno, workers and browsers. It imports nothing, so you
// can copy this file.

/** The reason why a delivery is rejected, for logs and not for the response. */
export type VerifyFailure =
  /** There is no signature header. */
  | "missing"
  /** The header is not `t=<seconds>,v1=<hex>` with at least one `v1`. */
  | "malformed"
  /** No `v1` is a signature of this body and this `t` with these secrets. */
  | "mismatch"
  /** The signature is valid but too old: the event is late, or an attacker replays it. */
  | "too_old"
  /** The signature is valid but `t` is too far in the future: one of the two clocks is wrong. */
  | "too_new"

/** `t` is the time of sending, in seconds since 1970. */
export type VerifyResult =
  | { readonly ok: true; readonly t: number }
  | { readonly ok: false; readonly reason: VerifyFailure }

/** The tolerance of {@link verify} without `toleranceSeconds`. */
export const DEFAULT_TOLERANCE_SECONDS = 300

/** Options of {@link verify}. */
export interface VerifyOptions {
  /** The maximum difference between `t` and `now`; {@link DEFAULT_TOLERANCE_SECONDS} by default. */
  readonly toleranceSeconds?: number
  /** The current time, as a date or in milliseconds since 1970; by default from the receiver's clock. */
  readonly now?: Date | number
}

interface ParsedHeader {
  /** The text from the header, because that text was signed. */
  readonly t: string
  readonly signatures: ReadonlyArray<Uint8Array>
}

const MAX_HEADER_CHARACTERS = 1024
const SECONDS = /^(?:0|[1-9]\d{0,11})$/
const SHA256_HEX = /^[0-9a-f]{64}$/

/**
 * Encodes bytes as lower-case hex.
 * @internal
 */
export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))

/** Parses a header, which must have one `t`. It ignores schemes other than `v1`, which are for later versions. */
const parseHeader = (header: string): ParsedHeader | undefined => {
  if (header.length > MAX_HEADER_CHARACTERS) return undefined
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

/**
 * HMAC-SHA256 with the whole text of a secret as the key.
 * @internal
 */
export const computeHmac = async (secret: string, message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> => {
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const key = await crypto.subtle.importKey("raw", utf8.encode(secret), algorithm, false, ["sign"])
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, message))
}

/** Compares every byte, so that the duration does not depend on the position of the first difference. */
const isSameBytes = (a: Uint8Array, b: Uint8Array): boolean => {
  let differentBits = a.length ^ b.length
  for (let i = 0; i < a.length; i++) differentBits |= (a[i] ?? 0) ^ (b[i] ?? 0)
  return differentBits === 0
}

/**
 * The secrets as a list. Throws if there is none, or an empty one.
 * @internal
 */
export const toSecretList = (secrets: string | ReadonlyArray<string>): ReadonlyArray<string> => {
  const list = typeof secrets === "string" ? [secrets] : secrets
  if (list.length > 0 && list.every((secret) => typeof secret === "string" && secret !== "")) return list
  throw new TypeError(
    "The webhook's secret is missing or incomplete. Pass the complete secret, which begins with whsec_, to verify and sign."
  )
}

/**
 * The bytes that are signed: the seconds, a dot and the body.
 * @internal
 */
export const messageOf = (t: string, rawBody: string | Uint8Array): Uint8Array<ArrayBuffer> => {
  const start = utf8.encode(`${t}.`)
  const body = typeof rawBody === "string" ? utf8.encode(rawBody) : rawBody
  const message = new Uint8Array(start.length + body.length)
  message.set(start)
  message.set(body, start.length)
  return message
}

/**
 * Checks that a delivery was signed by the service within the last minutes, and was not changed (Specification,
 * Webhooks).
 * @param rawBody The body as it was received, before any parser, because JSON that is parsed and serialized again may
 * be another text.
 * @param header The value of the signature header, `Service-Signature` unless the service is configured differently.
 * @param secrets The webhook's secret with `whsec_`, or two secrets while a receiver changes from one to the other.
 * @throws TypeError for no secret, an empty secret, or a parsed body, because these are bugs of the receiver.
 */
export const verify = async (
  rawBody: string | Uint8Array,
  header: string | null | undefined,
  secrets: string | ReadonlyArray<string>,
  options: VerifyOptions = {}
): Promise<VerifyResult> => {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now } = options
  const keys = toSecretList(secrets)
  if (typeof rawBody !== "string" && !(rawBody instanceof Uint8Array)) {
    throw new TypeError(
      "The body is neither a string nor bytes. Pass the raw body to verify, before it is parsed as JSON."
    )
  }
  if (header === null || header === undefined || header === "") return { ok: false, reason: "missing" }
  const signed = parseHeader(header)
  if (signed === undefined) return { ok: false, reason: "malformed" }

  const message = messageOf(signed.t, rawBody)
  const expected = await Promise.all(keys.map((secret) => computeHmac(secret, message)))
  const matches = signed.signatures.flatMap((signature) =>
    expected.map((expectedSignature) => isSameBytes(signature, expectedSignature))
  )
  if (!matches.includes(true)) return { ok: false, reason: "mismatch" }

  // biome-ignore lint/plugin: a receiver has neither Effect nor the service's clock.
  const seconds = Math.floor(Number(now ?? new Date()) / 1000)
  const t = Number(signed.t)
  // With `<`, a clock or a tolerance that is NaN would accept every delivery.
  if (!(t >= seconds - toleranceSeconds)) return { ok: false, reason: "too_old" }
  if (!(t <= seconds + toleranceSeconds)) return { ok: false, reason: "too_new" }
  return { ok: true, t }
}
