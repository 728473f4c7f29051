import { describe, expect, it } from "vitest"
import { responseText } from "../../src/testkit/Api.js"

describe("the response of a tested server", () => {
  it("the text of a response is decoded even if chunks end within a character", async () => {
    const bytes = new TextEncoder().encode("é👢")
    const body = new ReadableStream({
      start: (stream) => {
        for (const byte of bytes) stream.enqueue(Uint8Array.of(byte))
        stream.close()
      }
    })
    expect(await responseText(new Response(body))).toBe("é👢")
    expect(await responseText(new Response(null, { status: 204 }))).toBe("")
  })

  it("a response that is longer than the limit is cancelled", async () => {
    let isCancelled = false
    const body = new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(1000)),
      cancel: () => {
        isCancelled = true
      }
    })
    await expect(responseText(new Response(body), 10_000)).rejects.toThrow("longer than 10000 bytes")
    expect(isCancelled).toBe(true)
  })
})
