import { Limits } from "@workshop/core"
import { SendFailed } from "./SendFailed.js"

const { webhook_response_head_bytes, webhook_response_headers } = Limits

const PROTOCOL = "HTTP/1."
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/
const LINE_END = /\r?\n/
const HEAD_END = /\r?\n\r?\n/g
/** The number of last characters of an incomplete head in which the end of the head may begin. */
const PARTIAL_HEAD_END = 3
const FOLD = /\r?\n[\t ]+/g
const CONTENT_LENGTH = /^\d{1,15}$/
const CHUNKED_LAST = /(?:^|[,\s])chunked$/i
const KEEP_ALIVE_SECONDS = /(?:^|[,\s])timeout\s*=\s*(\d{1,9})/i
const CHUNK_SIZE = /^([0-9a-f]{1,8})[\t ]*(?:;.*)?$/i
const LF = 10

/** Node's error codes for malformed responses. */
type ParseErrorCode =
  | "HPE_INVALID_CONSTANT"
  | "HPE_INVALID_HEADER_TOKEN"
  | "HPE_INVALID_CONTENT_LENGTH"
  | "HPE_UNEXPECTED_CONTENT_LENGTH"

const malformedResponse = (detail: ParseErrorCode): SendFailed => new SendFailed({ error: "malformed", detail })
const headTooLarge = (): SendFailed => new SendFailed({ error: "too_large_head", detail: "HPE_HEADER_OVERFLOW" })

/** Finds the end of a chunked body (RFC 9112 §7.1). */
class ChunkedBody {
  isComplete = false
  #nextLine: "size" | "after data" | "trailer" = "size"
  #line = ""
  #data_left = 0

  /** Returns the index after the body's last byte in `bytes`, or -1 if the chunks are malformed. */
  read(bytes: Buffer, from: number): number {
    let at = from
    while (at < bytes.length && !this.isComplete) {
      if (this.#data_left > 0) {
        const takenBytes = Math.min(this.#data_left, bytes.length - at)
        this.#data_left -= takenBytes
        at += takenBytes
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

/** The framing of the body: its remaining length, its chunks, or the end of the connection. */
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

/** Parses header lines. Joins repeated headers with commas, except for Content-Length, which must not be repeated. */
const readHeaders = (lines: ReadonlyArray<string>): Headers | SendFailed => {
  if (lines.length > webhook_response_headers) return headTooLarge()
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, header, raw] = HEADER.exec(line) ?? []
    if (header === undefined) return malformedResponse("HPE_INVALID_HEADER_TOKEN")
    const name = header.toLowerCase()
    const value = raw!.replace(/^[\t ]+/, "").trimEnd()
    const existingValue = headers.get(name)
    if (name === "content-length") {
      if (existingValue !== undefined) return malformedResponse("HPE_UNEXPECTED_CONTENT_LENGTH")
      if (!CONTENT_LENGTH.test(value)) return malformedResponse("HPE_INVALID_CONTENT_LENGTH")
    }
    headers.set(name, existingValue === undefined ? value : `${existingValue},${value}`)
  }
  const isAmbiguous = headers.has("content-length") && headers.has("transfer-encoding")
  return isAmbiguous ? malformedResponse("HPE_INVALID_CONTENT_LENGTH") : headers
}

/**
 * Parses an HTTP/1.1 response (RFC 9112) only to determine its status, its end, and whether the connection can be
 * reused. It never decompresses a body, and rejects an ambiguous head.
 */
export class ResponseParser {
  /** The status, as soon as the status line has arrived. Informational responses are skipped. */
  status: number | null = null
  /** Whether the whole head has arrived. */
  hasHead = false
  /** Whether the response has ended and no bytes followed it. */
  isComplete = false
  /** Whether the rest of the body cannot be parsed, because the protocol changes or the chunks are malformed. */
  isUnreadable = false
  /**
   * The receiver's keep-alive timeout in seconds; 0 if it closes the connection, null if the response does not contain
   * it.
   */
  keep_alive_s: number | null = 0
  /** The number of bytes after the head, including the sizes of chunks. */
  body_bytes = 0
  #head = ""
  #head_bytes = 0
  #body: Body = "until close"

  /** Parses a further chunk. Returns the error in the head, if any. */
  add(chunk: Buffer): SendFailed | undefined {
    if (this.hasHead) {
      this.#readBody(chunk, 0)
      return undefined
    }
    const lengthBefore = this.#head.length
    this.#head += chunk.toString("latin1", 0, webhook_response_head_bytes - this.#head_bytes + 1)
    let begin = 0
    // Searches only the new chunk, because searching a long head again for each byte that arrives would take a second.
    HEAD_END.lastIndex = Math.max(0, lengthBefore - PARTIAL_HEAD_END)
    while (!this.hasHead) {
      const end = HEAD_END.exec(this.#head)
      if (end === null) break
      const failure = this.#readHead(this.#head.slice(begin, end.index))
      if (failure !== undefined) return failure
      begin = HEAD_END.lastIndex
    }
    this.#head_bytes += this.#head.length - lengthBefore
    if (this.hasHead) {
      this.#head = ""
      this.#readBody(chunk, begin - lengthBefore)
      return undefined
    }
    if (this.#head_bytes > webhook_response_head_bytes) return headTooLarge()
    this.#head = this.#head.slice(begin)
    return this.#readStatusEarly()
  }

  /** Parses the status line before the rest of the head has arrived. */
  #readStatusEarly(): SendFailed | undefined {
    if (!PROTOCOL.startsWith(this.#head.slice(0, PROTOCOL.length))) return malformedResponse("HPE_INVALID_CONSTANT")
    const end = this.#head.indexOf("\n")
    if (end === -1) return undefined
    const status = STATUS_LINE.exec(this.#head.slice(0, this.#head[end - 1] === "\r" ? end - 1 : end))?.[2]
    if (status === undefined) return malformedResponse("HPE_INVALID_CONSTANT")
    if (!status.startsWith("1")) this.status = Number(status)
    return undefined
  }

  #readHead(head: string): SendFailed | undefined {
    const [statusLine = "", ...lines] = head.replace(FOLD, " ").split(LINE_END)
    const [, minorVersion, code] = STATUS_LINE.exec(statusLine) ?? []
    if (code === undefined) return malformedResponse("HPE_INVALID_CONSTANT")
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
    // Bytes after the end are no response to a request. Malformed chunks have no end.
    this.isComplete = !this.isUnreadable && this.#bodyEnd(chunk, from) === chunk.length
  }

  /**
   * Returns the index in the chunk at which the response ends; undefined if the response does not end in this chunk.
   */
  #bodyEnd(chunk: Buffer, from: number): number | undefined {
    if (this.#body === "until close") return undefined
    if (typeof this.#body !== "number") {
      const end = this.#body.read(chunk, from)
      if (end === -1) this.isUnreadable = true
      return this.#body.isComplete ? end : undefined
    }
    const remainingBytes = this.#body - (chunk.length - from)
    this.#body = Math.max(0, remainingBytes)
    return remainingBytes > 0 ? undefined : chunk.length + remainingBytes
  }
}
