import { productionAddresses, sandboxAddresses } from "@workshop/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { sendFailed } from "../../src/sender/SendFailed.js"
import { authority, forShop, key } from "./certificates.js"
import { answer, answering, post, receiver, sendOnce, withSender } from "./Receiver.js"

const REFUSED = { status: null, error: "refused_address", detail: null, address: null }

/** The production policy with the port of a listener, so that every refusal is because of the address. */
const worldwide = (port: number) => ({ ...productionAddresses, ports: [port] })

/** A resolver that returns one of the lists after the other, and counts the look-ups. */
const resolving = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const asked: Array<string> = []
  const resolve = (name: string) => Effect.sync(() => answers[Math.min(asked.push(name), answers.length) - 1]!)
  return { asked, resolve }
}

describe("IP addresses in a webhook's URL (Specification, Webhooks)", () => {
  it.each([
    ...["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001"],
    ...["127.0.0.1.", "１２７.0.0.1", "%31%32%37.0.0.1", "0", "0.0.0.0", "127.255.255.254"],
    ...["10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "192.0.0.170", "198.18.0.1"],
    ...["192.0.2.1", "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...["[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[0:0:0:0:0:0:0:1]"],
    ...["[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fd00::1]"],
    ...["[ff02::1]", "[2001:db8::1]", "[fec0::1]", "[::ffff:0:127.0.0.1]", "[100::1]", "[5f00::1]"],
    ...["localhost", "LOCALHOST", "localhost.", "shop.localhost", "intranet"]
  ])("a URL with the host %s is refused without a look-up or a connection", async (host) => {
    await using v4 = await receiver({ host: "0.0.0.0" })
    const { asked, resolve } = resolving(["127.0.0.1"])
    const options = { policy: worldwide(v4.port), resolve, deadlineMs: 300 }
    expect(await sendOnce(`https://${host}:${v4.port}/`, options)).toMatchObject(REFUSED)
    expect(asked).toEqual([])
    expect(v4.connections).toHaveLength(0)
  })

  it("a network that the operator excludes is refused, as an address in the URL and as the address of a name", async () => {
    const { asked, resolve } = resolving(["93.184.216.34"], ["2606:4700::1", "93.184.217.1"])
    const policy = { ...productionAddresses, refusedNetworks: ["93.184.216.0/23", "2001:4860::/32"] }
    for (const host of ["93.184.216.34", "[2001:4860:4860::8888]", "shop.test", "other.test"])
      expect(await sendOnce(`https://${host}/`, { policy, resolve, deadlineMs: 300 })).toMatchObject(REFUSED)
    expect(asked).toEqual(["shop.test", "other.test"])
  })

  it.each([
    ["with http in production", "http://shop.test/"],
    ["another scheme", "ftp://shop.test/"],
    ["credentials", "https://user:secret@shop.test/"],
    ["another port", "https://shop.test:22/"],
    ["a fragment", "https://shop.test/#x"],
    ["that is only a host name", "shop.test"]
  ])("a URL %s is refused without a look-up", async (_, url) => {
    const { asked, resolve } = resolving(["127.0.0.1"])
    expect(await sendOnce(url, { policy: sandboxAddresses, resolve, isPublic: () => true })).toMatchObject(REFUSED)
    expect(asked).toEqual([])
  })

  it("the sender connects to loopback only in the sandbox, by IP address or by name", async () => {
    await using at = await answering(answer("200 OK"))
    const { asked, resolve } = resolving(["93.184.216.34"])
    for (const host of ["127.0.0.1", "127.1", "localhost", "shop.localhost"]) {
      const url = `http://${host}:${at.port}/`
      expect(await sendOnce(url, { resolve })).toMatchObject({ status: 200, address: "127.0.0.1" })
      expect(await sendOnce(url, { resolve, policy: productionAddresses })).toMatchObject(REFUSED)
    }
    expect(asked).toEqual([])
  })

  it("the sender connects to loopback over IPv6 if no server listens on IPv4", async () => {
    await using at = await answering(answer("200 OK"), { host: "::1" })
    expect(await sendOnce(`http://localhost:${at.port}/`)).toMatchObject({ status: 200, address: "::1" })
  })
})

describe("IP addresses to which a name resolves", () => {
  it.each([
    [["127.0.0.1"]],
    [["::1"]],
    [["0.0.0.0"]],
    [["::"]],
    [["10.1.2.3"]],
    [["169.254.169.254"]],
    [["::ffff:127.0.0.1"]],
    [["::ffff:7f00:1"]],
    [["64:ff9b::7f00:1"]],
    [["2002:7f00:1::"]],
    [["fe80::1%lo"]],
    [["127.1"]],
    [["not an address"]],
    [["93.184.216.34", "127.0.0.1"]],
    [["127.0.0.1", "93.184.216.34"]],
    [["2606:4700:4700::1111", "::1"]],
    [["93.184.216.34", "93.184.216.35", "93.184.216.36", "93.184.216.37", "93.184.216.38", "10.0.0.1"]]
  ])("a name with %s among its addresses is refused without a connection", async (addresses) => {
    await using v4 = await receiver({ host: "0.0.0.0" })
    const { asked, resolve } = resolving(addresses)
    const options = { policy: worldwide(v4.port), resolve, deadlineMs: 300 }
    expect(await sendOnce(`https://shop.test:${v4.port}/`, options)).toMatchObject(REFUSED)
    expect(asked).toEqual(["shop.test"])
    expect(v4.connections).toHaveLength(0)
  })

  it("a name with thousands of addresses is refused without a check of each address", async () => {
    const { resolve } = resolving(Array.from({ length: 4096 }, (_, i) => `93.184.${i >> 8}.${i & 255}`))
    let judged = 0
    const isPublic = () => ++judged > 0
    expect(await sendOnce("https://shop.test/", { policy: productionAddresses, resolve, isPublic })).toMatchObject(
      REFUSED
    )
    expect(judged).toBe(0)
  })

  it("the sandbox refuses private addresses too, and only names of loopback may resolve to loopback", async () => {
    await using at = await receiver({})
    const { resolve } = resolving(["127.0.0.1"])
    const policy = { ...worldwide(at.port), allowLoopbackHttp: true }
    expect(await sendOnce(`https://shop.test:${at.port}/`, { policy, resolve })).toMatchObject(REFUSED)
    expect(at.connections).toHaveLength(0)
  })

  it("the sender connects to the address that it checked, even if the name resolves to another address a moment later", async () => {
    await using vetted = await receiver({ host: "127.0.0.2", onConnection: (socket) => void socket.destroy() })
    await using rebound = await receiver({ host: "127.0.0.3" }).catch(() => receiver({}))
    const { asked, resolve } = resolving(["127.0.0.2"], ["127.0.0.3"])
    const options = { policy: worldwide(vetted.port), resolve, isPublic: (ip: string) => ip === "127.0.0.2" }
    expect(await sendOnce(`https://shop.test:${vetted.port}/`, options)).toMatchObject({ address: "127.0.0.2" })
    expect(asked).toEqual(["shop.test"])
    expect(vetted.connections).toHaveLength(1)
    expect(rebound.connections).toHaveLength(0)
  })

  it("the sender checks the connection's remote address again before it sends a byte", async () => {
    let read = 0
    const onConnection = (socket: NodeJS.ReadableStream) => void socket.on("data", ({ length }) => (read += length))
    await using at = await receiver({ onConnection })
    const { resolve } = resolving(["0.0.0.0"])
    // Linux connects 0.0.0.0 to loopback.
    const options = { policy: worldwide(at.port), resolve, isPublic: (ip: string) => ip === "0.0.0.0" }
    expect(await sendOnce(`https://shop.test:${at.port}/`, options)).toMatchObject(REFUSED)
    expect(read).toBe(0)
  })

  it("the sender looks the name up for every event, and does not reuse a connection to another address", async () => {
    await using at = await answering(answer("200 OK"), { host: "0.0.0.0", tls: { key, cert: forShop } })
    const { asked, resolve } = resolving(["127.0.0.2"], ["127.0.0.3"], ["127.0.0.3", "127.0.0.2"], ["10.0.0.1"])
    const isPublic = (ip: string) => ip.startsWith("127.")
    await withSender({ policy: worldwide(at.port), resolve, isPublic, ca: authority }, async (send) => {
      const url = `https://shop.test:${at.port}/`
      for (const address of ["127.0.0.2", "127.0.0.3", "127.0.0.3"]) {
        expect(await send(post(url))).toMatchObject({ status: 200, address })
      }
      expect(at.connections).toHaveLength(2)
      expect(await send(post(url))).toMatchObject(REFUSED)
    })
    expect(asked).toHaveLength(4)
  })

  it("the sender tries the addresses of a name in order until one accepts the connection", async () => {
    await using at = await receiver({ host: "127.0.0.3", onConnection: (socket) => void socket.destroy() })
    const { resolve } = resolving(["127.0.0.2", "127.0.0.3", "127.0.0.4"])
    const options = { policy: worldwide(at.port), resolve, isPublic: (ip: string) => ip.startsWith("127.") }
    const sent = await sendOnce(`https://shop.test:${at.port}/`, options)
    expect(sent).toMatchObject({ error: "tls", address: "127.0.0.3" })
    expect(at.connections).toHaveLength(1)
  })
})

describe("the look-up of a name", () => {
  it("a failed or empty look-up fails the attempt with the error lookup", async () => {
    const failing = {
      resolve: () => Effect.fail(sendFailed("lookup", Object.assign(new Error(), { code: "ENOTFOUND" })))
    }
    const empty = resolving([])
    expect(await sendOnce("https://shop.test/", failing)).toMatchObject({ error: "lookup", detail: "ENOTFOUND" })
    expect(await sendOnce("https://shop.test/", empty)).toMatchObject({ error: "lookup", detail: null })
  })

  it("the time of a look-up counts towards the attempt's deadline", async () => {
    const sent = await sendOnce("https://shop.test/", { resolve: () => Effect.never, deadlineMs: 50 })
    expect(sent).toMatchObject({ error: "timeout", address: null })
    expect(sent.timings).toMatchObject({ lookup_ms: null, connect_ms: null })
  })

  it("an unknown name fails the attempt without a connection", async () => {
    const sent = await sendOnce("https://shop.invalid/", { deadlineMs: 500 })
    expect(["lookup", "timeout"]).toContain(sent.error)
    expect(sent.address).toBeNull()
  })
})
