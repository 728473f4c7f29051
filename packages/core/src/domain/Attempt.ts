/** Why an attempt got no answer, each with what it means to the owner of the receiver (Specification, Webhooks). */
export const sendErrors = {
  timeout: "no status line came within the deadline, which counts from before the look-up",
  lookup: "the host's name has no address, or the name servers gave no answer",
  refused_address: "the address may not be called: its scheme, port or credentials, or where its host's name leads",
  connect: "none of the addresses took a connection",
  tls: "no trusted encryption: a certificate that is self-signed, out of date or for another name, or no handshake",
  reset: "the connection ended before a status line; the receiver may or may not have read the event",
  too_large_head: "the head of the answer was larger than 8 KiB or had more than 64 headers",
  malformed: "the answer was not HTTP/1.1"
} as const

/** A key of `sendErrors`. */
export type SendError = keyof typeof sendErrors

/**
 * How long each stage took, in whole milliseconds of real time, also in a sandbox whose clock stands; null where the
 * stage was not completed, or not needed: no look-up of an address literal, no dial on a connection kept alive.
 */
export interface Timings {
  readonly lookup_ms: number | null
  readonly connect_ms: number | null
  readonly tls_ms: number | null
  /** From the request's start to the first byte of the answer. */
  readonly first_byte_ms: number | null
  /** From the attempt's start to its end, what was read of the body included. */
  readonly total_ms: number
}

/** What came of one attempt to deliver an event. Either `status` or `error` is null, never both. */
export interface Sent {
  readonly status: number | null
  readonly error: SendError | null
  /** The system's own name for the error, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`, where there is one. */
  readonly detail: string | null
  /** The address last dialled. Null where none was: a refused address is not told, as it may be inside our network. */
  readonly address: string | null
  readonly timings: Timings
  /**
   * The start of the answer as it came over the wire: status line, headers and body, chunk sizes and all. At most
   * 4 KiB of UTF-8, lines parted by `\n`, and `?` for whatever is not text.
   */
  readonly head: string
}

/** Whether the receiver took the event: any 2xx (Specification, Webhooks). */
export const acknowledges = ({ status }: Pick<Sent, "status">): boolean =>
  status !== null && status >= 200 && status < 300

/** Whether the receiver wants no more events, which turns the webhook off at once (Specification, Webhooks). */
export const saysGone = ({ status }: Sent): boolean => status === 410
