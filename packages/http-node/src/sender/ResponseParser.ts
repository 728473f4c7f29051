import { Limits } from "@workshop/core"
import { SendFailed } from "./SendFailed.js"

const { webhook_response_head_bytes, webhook_response_headers } = Limits

const PROTOCOL = "HTTP/1."
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/
const LINE_END = /\r?\n/
const HEAD_END = /\r?\n\r?\n/g
/** Of a head that is not complete, only this many of the last characters are kept. */
const PARTIAL_HEAD_END = 3
const FOLD = /\r?\n[\t ]+/g
const CONTENT_LENGTH = /^\d{1,15}$/
const CHUNKED_LAST = /(?:^|[,\s])chunked$/i
const KEEP_ALIVE_SECONDS = /(?:^|[,\s])timeout\s*=\s*(\d{1,9})/i
const CHUNK_SIZE = /^([0-9a-f]{1,8})[\t ]*(?:;.*)?$/i
const LF = 10

/** Node's names for what is wrong with a response. */
type ParseErrorCode =
  | "HPE_INVALID_CONSTANT"
  | "HPE_INVALID_HEADER_TOKEN"
  | "HPE_INVALID_CONTENT_LENGTH"
  | "HPE_UNEXPECTED_CONTENT_LENGTH"

const malformed = (detail: ParseErrorCode): SendFailed => new SendFailed({ error: "malformed", detail })
const headTooLarge = (): SendFailed => new SendFailed({ error: "too_large_head", detail: "HPE_HEADER_OVERFLOW" })

/** Finds the end of a chunked body (RFC 9112 §7.1). */
class ChunkedBody {
  isComplete = false
  #nextLine: "size" | "after data" | "trailer" = "size"
  #line = ""
  #data_left = 0

  /** Returns the index after the last byte that belongs to the body, or -1 if the chunks are malformed. */
  read(bytes: Buffer, from: number): number {
    let at = from
    while (at < bytes.length && !this.isComplete) {
      if (this.#data_left > 0) {
        const taken = Math.min(this.#data_left, bytes.length - at)
        this.#data_left -= taken
        at += taken
        continue
      }
      const end = bytes.indexOf(LF, at)
      this.#line += bytes.toString("latin1", at, end === -1 ? bytes.length : end)
      if (this.#nextLine === "after data" && this.#line !== "" && this.#line !== "\r") return -1
      if (end === -1) return bytes.length
      if (!this.#readLine(this.#line.replace(/\r$/, ""))) return -1
      this.#line = ""
      at = end + 1
    }
    return at
  }

  #readLine(line: string): boolean {
    if (this.#nextLine === "trailer") {
      this.isComplete = line === ""
      return true
    }
    if (this.#nextLine === "after data") {
      this.#nextLine = "size"
      return true
    }
    const size = CHUNK_SIZE.exec(line)?.[1]
    if (size === undefined) return false
    this.#data_left = Number.parseInt(size, 16)
    this.#nextLine = this.#data_left === 0 ? "trailer" : "after data"
    return true
  }
}

type Headers = ReadonlyMap<string, string>

/** How the end of the body is found: by its length, by its chunks, or by the end of the connection. */
type Body = number | ChunkedBody | "until close"

const bodyOf = (status: number, headers: Headers): Body => {
  if (status === 101) return "until close"
  if (status === 204 || status === 304) return 0
  const coding = headers.get("transfer-encoding")
  if (coding !== undefined) return CHUNKED_LAST.test(coding) ? new ChunkedBody() : "until close"
  const length = headers.get("content-length")
  return length === undefined ? "until close" : Number(length)
}

const keepAliveSeconds = (isHttp10: boolean, headers: Headers): number | null => {
  const options =
    headers
      .get("connection")
      ?.toLowerCase()
      .split(/[,\s]+/) ?? []
  if (options.includes("close") || (isHttp10 && !options.includes("keep-alive"))) return 0
  const seconds = KEEP_ALIVE_SECONDS.exec(headers.get("keep-alive") ?? "")?.[1]
  return seconds === undefined ? null : Number(seconds)
}

/** Reads header lines. Repeated headers are joined by commas, except for Content-Length, which must not be repeated. */
const readHeaders = (lines: ReadonlyArray<string>): Headers | SendFailed => {
  if (lines.length > webhook_response_headers) return headTooLarge()
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, header, raw] = HEADER.exec(line) ?? []
    if (header === undefined) return malformed("HPE_INVALID_HEADER_TOKEN")
    const name = header.toLowerCase()
    const value = raw!.replace(/^[\t ]+/, "").trimEnd()
    const before = headers.get(name)
    if (name === "content-length") {
      if (before !== undefined) return malformed("HPE_UNEXPECTED_CONTENT_LENGTH")
      if (!CONTENT_LENGTH.test(value)) return malformed("HPE_INVALID_CONTENT_LENGTH")
    }
    headers.set(name, before === undefined ? value : `${before},${value}`)
  }
  const isAmbiguous = headers.has("content-length") && headers.has("transfer-encoding")
  return isAmbiguous ? malformed("HPE_INVALID_CONTENT_LENGTH") : headers
}

/**
 * Reads an HTTP/1.1 response (RFC 9112) for three things only: its status, where it ends, and whether the connection
 * may be used again. It never decompresses a body. It rejects a head that could be read in two ways.
 */
export class ResponseParser {
  /** Set as soon as the status line is there. Informational responses are skipped; a redirect is a status like any other. */
  status: number | null = null
  /** Whether the whole head was read. */
  hasHead = false
  /** Whether the response has ended and nothing came after it. */
  isComplete = false
  /** Whether the body cannot be read on, because the protocol changes or the chunks are malformed. */
  isUnreadable = false
  /** Seconds for which the receiver keeps the connection open; 0 if it closes it, null if it does not say. */
  keep_alive_s: number | null = 0
  /** Bytes after the head, including the sizes of chunks. */
  body_bytes = 0
  #head = ""
  #head_bytes = 0
  #body: Body = "until close"

  /** Reads on. Returns what is wrong with the head, if anything. */
  add(chunk: Buffer): SendFailed | undefined {
    if (this.hasHead) {
      this.#readBody(chunk, 0)
      return undefined
    }
    const before = this.#head.length
    this.#head += chunk.toString("latin1", 0, webhook_response_head_bytes - this.#head_bytes + 1)
    let begin = 0
    // Earlier chunks had no end in them. To search them again for each byte that arrives would take a second.
    HEAD_END.lastIndex = Math.max(0, before - PARTIAL_HEAD_END)
    while (!this.hasHead) {
      const end = HEAD_END.exec(this.#head)
      if (end === null) break
      const failure = this.#readHead(this.#head.slice(begin, end.index))
      if (failure !== undefined) return failure
      begin = HEAD_END.lastIndex
    }
    this.#head_bytes += this.#head.length - before
    if (this.hasHead) {
      this.#head = ""
      this.#readBody(chunk, begin - before)
      return undefined
    }
    if (this.#head_bytes > webhook_response_head_bytes) return headTooLarge()
    this.#head = this.#head.slice(begin)
    return this.#readStatusEarly()
  }

  /** Reads the status before the rest of the head is there. */
  #readStatusEarly(): SendFailed | undefined {
    if (!PROTOCOL.startsWith(this.#head.slice(0, PROTOCOL.length))) return malformed("HPE_INVALID_CONSTANT")
    const end = this.#head.indexOf("\n")
    if (end === -1) return undefined
    const status = STATUS_LINE.exec(this.#head.slice(0, this.#head[end - 1] === "\r" ? end - 1 : end))?.[2]
    if (status === undefined) return malformed("HPE_INVALID_CONSTANT")
    if (!status.startsWith("1")) this.status = Number(status)
    return undefined
  }

  #readHead(head: string): SendFailed | undefined {
    const [statusLine = "", ...lines] = head.replace(FOLD, " ").split(LINE_END)
    const [, minorVersion, code] = STATUS_LINE.exec(statusLine) ?? []
    if (code === undefined) return malformed("HPE_INVALID_CONSTANT")
    const headers = readHeaders(lines)
    if (headers instanceof SendFailed) return headers
    const status = Number(code)
    if (status < 200 && status !== 101) return undefined
    this.status = status
    this.hasHead = true
    this.isUnreadable = status === 101
    this.#body = bodyOf(status, headers)
    this.keep_alive_s = keepAliveSeconds(minorVersion === "0", headers)
    return undefined
  }

  #readBody(chunk: Buffer, from: number): void {
    this.body_bytes += chunk.length - from
    // Bytes after the end belong to no request of ours. Malformed chunks have no end, whatever follows them.
    this.isComplete = !this.isUnreadable && this.#bodyEnd(chunk, from) === chunk.length
  }

  /** Returns where in the chunk the response ends; undefined if it does not end there. */
  #bodyEnd(chunk: Buffer, from: number): number | undefined {
    if (this.#body === "until close") return undefined
    if (typeof this.#body !== "number") {
      const end = this.#body.read(chunk, from)
      if (end === -1) this.isUnreadable = true
      return this.#body.isComplete ? end : undefined
    }
    const left = this.#body - (chunk.length - from)
    this.#body = Math.max(0, left)
    return left > 0 ? undefined : chunk.length + left
  }
}
