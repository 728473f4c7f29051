import type { TlsOptions } from "node:tls"
import { productionAddresses } from "@workshop/core"
import { Effect } from "effect"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import * as certificates from "./certificates.js"
import { answer, answering, post, receiver, withSender } from "./Receiver.js"

const { authority: ca, key } = certificates
const OK = answer("200 OK")

/** Options of a sender that treats loopback as a public address. */
const abroad = (port: number) => ({
  policy: { ...productionAddresses, ports: [port] },
  resolve: () => Effect.succeed(["127.0.0.1"]),
  isPublic: (ip: string) => ip === "127.0.0.1",
  ca
})

const secure = (tls: TlsOptions) => answering(OK, { tls: { key, ...tls } })

describe("encrypted connections of the sender", () => {
  it("the sender connects to the checked address, verifies the certificate for the URL's host, and reuses the connection", async () => {
    let asked_for: string | undefined
    const SNICallback = (name: string, done: (error: null) => void) => {
      asked_for = name
      done(null)
    }
    await using at = await secure({ cert: certificates.forShop, SNICallback })
    await withSender(abroad(at.port), async (send) => {
      const url = `https://shop.test:${at.port}/hook`
      const [first, second] = [await send(post(url)), await send(post(url))]
      expect(first).toMatchObject({ status: 200, address: "127.0.0.1" })
      expect(first.timings).toMatchObject({ lookup_ms: expect.any(Number), tls_ms: expect.any(Number) })
      expect(second).toMatchObject({ status: 200, timings: { connect_ms: null, tls_ms: null } })
    })
    expect(asked_for).toBe("shop.test")
    expect(at.requests[0]).toContain(`\r\nHost: shop.test:${at.port}\r\n`)
    expect(at.connections).toHaveLength(1)
  })

  it("a URL with an IP address is accepted if the certificate is for that address", async () => {
    await using good = await secure({ cert: certificates.forAddress })
    await using bad = await secure({ cert: certificates.forShop })
    const sent = (port: number) => withSender(abroad(port), (send) => send(post(`https://127.0.0.1:${port}/`)))
    // Production refuses a loopback literal, even with a trusted certificate; the sandbox accepts it.
    expect(await sent(good.port)).toMatchObject({ error: "refused_address" })
    const sandboxed = (port: number) => withSender({ ca }, (send) => send(post(`https://127.0.0.1:${port}/`)))
    expect(await sandboxed(good.port)).toMatchObject({ status: 200 })
    expect(await sandboxed(bad.port)).toMatchObject({ error: "tls", detail: "ERR_TLS_CERT_ALTNAME_INVALID" })
  })

  it.each([
    ["for another name", { cert: certificates.forOther }, "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["that is self-signed", { cert: certificates.selfSigned }, "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["that has expired", { cert: certificates.expired }, "CERT_HAS_EXPIRED"]
  ])("a certificate %s is refused, before a byte of the event is sent", async (_, tls, detail) => {
    await using at = await secure(tls)
    await withSender(abroad(at.port), async (send) => {
      expect(await send(post(`https://shop.test:${at.port}/`))).toMatchObject({ status: null, error: "tls", detail })
    })
    expect(at.requests).toHaveLength(0)
  })

  it("a certificate of an authority that the system does not know is refused, even if the environment allows it", async () => {
    await using at = await secure({ cert: certificates.forShop })
    const { ca: _, ...trusting } = abroad(at.port)
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0")
    vi.spyOn(process, "emitWarning").mockReturnValue()
    onTestFinished(() => {
      vi.unstubAllEnvs()
      vi.restoreAllMocks()
    })
    const sent = await withSender(trusting, (send) => send(post(`https://shop.test:${at.port}/`)))
    expect(sent).toMatchObject({ status: null, error: "tls" })
    expect(at.requests).toHaveLength(0)
  })

  it.each([
    ["a TLS version below 1.2", { cert: certificates.forShop, maxVersion: "TLSv1.1", minVersion: "TLSv1" } as const],
    ["a client certificate", { cert: certificates.forShop, requestCert: true, rejectUnauthorized: true }]
  ])("the attempt fails if the receiver requires %s", async (_, tls) => {
    await using at = await secure(tls)
    await withSender(abroad(at.port), async (send) => {
      const { status, error } = await send(post(`https://shop.test:${at.port}/`))
      // With TLS 1.3 the receiver refuses only after the handshake, with an alert or by closing the connection.
      expect([status, error === "tls" || error === "reset"]).toEqual([null, true])
    })
    expect(at.requests).toHaveLength(0)
  })

  it("an attempt fails if the receiver does not use TLS, and the time of the handshake counts towards the deadline", async () => {
    await using plain = await receiver({ onConnection: (socket) => void socket.write(OK) })
    await using silent = await receiver({})
    const sent = ({ port }: { port: number }) =>
      withSender({ ...abroad(port), deadlineMs: 200 }, (send) => send(post(`https://shop.test:${port}/`)))
    expect(await sent(plain)).toMatchObject({ status: null, error: "tls" })
    const late = await sent(silent)
    expect(late).toMatchObject({ status: null, error: "timeout", address: "127.0.0.1" })
    expect(late.timings).toMatchObject({ connect_ms: expect.any(Number), tls_ms: null })
  })
})
