import { Chunks } from "./Chunks.js"
import { NotSent } from "./NotSent.js"

/** How large the head of an answer may be, those of informational answers before it included. */
export const HEAD_BYTES = 8 * 1024
const MOST_HEADERS = 64

const START = "HTTP/1."
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/
const END_OF_LINE = /\r?\n/
/** Characters of the longest end of a head, but for the one that completes it. */
const LONGEST_END = 3
const FOLD = /\r?\n[\t ]+/g

/** The names that Node's own parser has for what is wrong with an answer. */
type Fault =
  | "HPE_INVALID_CONSTANT"
  | "HPE_INVALID_HEADER_TOKEN"
  | "HPE_INVALID_CONTENT_LENGTH"
  | "HPE_UNEXPECTED_CONTENT_LENGTH"

const malformed = (detail: Fault): NotSent => new NotSent({ error: "malformed", detail })
const tooLarge = (): NotSent => new NotSent({ error: "too_large_head", detail: "HPE_HEADER_OVERFLOW" })

/** The headers that say where the answer ends and whether the connection stays. */
interface Framing {
  length: number | null
  coding: string | null
  connection: string
  keep_alive: string
}

const LENGTH = /^\d{1,15}$/
const KEPT_S = /(?:^|[,\s])timeout\s*=\s*(\d{1,9})/i

const framed = (framing: Framing, name: string, value: string): NotSent | undefined => {
  switch (name.toLowerCase()) {
    case "content-length":
      if (framing.length !== null) return malformed("HPE_UNEXPECTED_CONTENT_LENGTH")
      if (!LENGTH.test(value)) return malformed("HPE_INVALID_CONTENT_LENGTH")
      framing.length = Number(value)
      return undefined
    case "transfer-encoding":
      framing.coding = framing.coding === null ? value : `${framing.coding},${value}`
      return undefined
    case "connection":
      framing.connection += `,${value.toLowerCase()}`
      return undefined
    case "keep-alive":
      framing.keep_alive += `,${value}`
      return undefined
  }
  return undefined
}

/** How much of what comes is body: so many bytes, what the chunks say, or all until the connection ends. */
type Body = number | Chunks | "rest"

/**
 * An answer of HTTP/1.1 as it comes in, read for its status, for where it ends and for whether its connection may serve
 * again, and for nothing else (RFC 9112). What is ambiguous is refused.
 */
export class Answer {
  /** As soon as its line is there; informational answers are passed over. */
  status: number | null = null
  /** Whether the head is there in whole. */
  has_head = false
  /** Whether it came to its end, with nothing after that. */
  is_whole = false
  /** Whether what follows the head is nothing that can be read on: another protocol, or no chunks where chunks were promised. */
  is_senseless = false
  /** How long the receiver keeps the connection for a next request: not at all, so many seconds, or untold. */
  kept_s: number | null = 0
  /** Bytes of what follows the head, sizes of chunks and the like included. */
  body_bytes = 0
  #head = ""
  #head_bytes = 0
  #body: Body = "rest"

  /** Takes what came. Answers what is wrong with the head, if anything is. */
  add(chunk: Buffer): NotSent | undefined {
    if (this.has_head) {
      this.#follow(chunk, 0)
      return undefined
    }
    const before = this.#head.length
    this.#head += chunk.toString("latin1", 0, HEAD_BYTES - this.#head_bytes + 1)
    let begin = 0
    // What came before has no end in it. Searched again with each byte of a head that comes one by one, it would take a second.
    let unsearched = Math.max(0, before - LONGEST_END)
    while (!this.has_head) {
      const end = this.#endOfHead(unsearched)
      if (end === undefined) break
      const refused = this.#readHead(this.#head.slice(begin, end.at))
      if (refused !== undefined) return refused
      begin = end.next
      unsearched = begin
    }
    this.#head_bytes += this.#head.length - before
    if (this.has_head) {
      this.#head = ""
      this.#follow(chunk, begin - before)
      return undefined
    }
    if (this.#head_bytes > HEAD_BYTES) return tooLarge()
    this.#head = this.#head.slice(begin)
    return this.#peek()
  }

  #endOfHead(from: number): { readonly at: number; readonly next: number } | undefined {
    for (let at = this.#head.indexOf("\n", from); at !== -1; at = this.#head.indexOf("\n", at + 1)) {
      const next = this.#head[at + 1] === "\r" ? at + 2 : at + 1
      if (this.#head[next] === "\n") return { at: this.#head[at - 1] === "\r" ? at - 1 : at, next: next + 1 }
    }
    return undefined
  }

  /** What the start of a head tells: whether it is one at all, and the status. */
  #peek(): NotSent | undefined {
    const head = this.#head
    if (!START.startsWith(head.slice(0, START.length))) return malformed("HPE_INVALID_CONSTANT")
    const end = head.indexOf("\n")
    if (end === -1) return undefined
    const status = STATUS_LINE.exec(head.slice(0, head[end - 1] === "\r" ? end - 1 : end))?.[2]
    if (status === undefined) return malformed("HPE_INVALID_CONSTANT")
    if (!status.startsWith("1")) this.status = Number(status)
    return undefined
  }

  #readHead(head: string): NotSent | undefined {
    const [first = "", ...lines] = head.replace(FOLD, " ").split(END_OF_LINE)
    const [, minor, code] = STATUS_LINE.exec(first) ?? []
    if (code === undefined) return malformed("HPE_INVALID_CONSTANT")
    if (lines.length > MOST_HEADERS) return tooLarge()
    const framing: Framing = { length: null, coding: null, connection: "", keep_alive: "" }
    for (const line of lines) {
      const [, name, value] = HEADER.exec(line) ?? []
      if (name === undefined) return malformed("HPE_INVALID_HEADER_TOKEN")
      const refused = framed(framing, name, value!.replace(/^[\t ]+/, "").trimEnd())
      if (refused !== undefined) return refused
    }
    if (framing.length !== null && framing.coding !== null) return malformed("HPE_INVALID_CONTENT_LENGTH")
    const status = Number(code)
    if (status < 200 && status !== 101) return undefined
    this.status = status
    this.has_head = true
    this.is_senseless = status === 101
    this.#body = bodyOf(status, framing)
    this.kept_s = keptSeconds(minor === "0", framing)
    return undefined
  }

  #follow(chunk: Buffer, from: number): void {
    this.body_bytes += chunk.length - from
    const end = this.#endOfBody(chunk, from)
    // More than an answer is no answer to anything.
    this.is_whole = end === chunk.length
  }

  /** Where in the chunk the answer ends; undefined where it does not. */
  #endOfBody(chunk: Buffer, from: number): number | undefined {
    if (this.#body === "rest") return undefined
    if (typeof this.#body !== "number") {
      const end = this.#body.read(chunk, from)
      if (end === -1) this.is_senseless = true
      return this.#body.isWhole ? end : undefined
    }
    const left = this.#body - (chunk.length - from)
    this.#body = Math.max(0, left)
    return left > 0 ? undefined : chunk.length + left
  }
}

const bodyOf = (status: number, { length, coding }: Framing): Body => {
  if (status === 101) return "rest"
  if (status === 204 || status === 304) return 0
  if (coding !== null) return /(?:^|[,\s])chunked$/i.test(coding) ? new Chunks() : "rest"
  return length ?? "rest"
}

const keptSeconds = (isOld: boolean, { connection, keep_alive }: Framing): number | null => {
  const words = connection.split(/[,\s]+/)
  if (words.includes("close") || (isOld && !words.includes("keep-alive"))) return 0
  const told = KEPT_S.exec(keep_alive)?.[1]
  return told === undefined ? null : Number(told)
}
