import { createSocket } from "node:dgram"
import type { AddressInfo } from "node:net"
import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import { nameServers } from "../../src/sender/Resolver.js"

const A = 1
const AAAA = 28
type Records = Readonly<Record<number, ReadonlyArray<ReadonlyArray<number>> | "unknown" | "silent">>

/** A DNS reply: the header, a copy of the question, and the records. */
const reply = (question: Buffer, type: number, records: ReadonlyArray<ReadonlyArray<number>> | "unknown") => {
  const addresses = records === "unknown" ? [] : records
  const nameEnd = question.indexOf(0, 12) + 5
  const head = Buffer.from(question.subarray(0, 12))
  head.writeUInt16BE(records === "unknown" ? 0x8183 : 0x8180, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  const rows = addresses.map((bytes) => Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]))
  return Buffer.concat([head, question.subarray(12, nameEnd), ...rows])
}

/** A name server on loopback that returns the same records for every name. */
const nameServer = async (records: Records) => {
  const socket = createSocket("udp4")
  let questions = 0
  socket.on("message", (question, { port, address }) => {
    questions += 1
    const type = question[question.indexOf(0, 12) + 2]!
    const known = records[type] ?? []
    if (known !== "silent") socket.send(reply(question, type, known), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
  return {
    server: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    asked: () => questions,
    [Symbol.dispose]: () => void socket.close()
  }
}

const ask = (server: string) => Effect.runPromise(Effect.either(nameServers([server])("shop.example.com")))

describe("the look-up of a name at the system's name servers", () => {
  const v6 = [0x26, 6, 0x47, 0, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11]

  it("a look-up returns all IPv4 and IPv6 addresses, IPv4 first", async () => {
    using dns = await nameServer({
      [A]: [
        [93, 184, 216, 34],
        [127, 0, 0, 1]
      ],
      [AAAA]: [v6]
    })
    const addresses = ["93.184.216.34", "127.0.0.1", "2606:4700:4700::1111"]
    expect(await ask(dns.server)).toEqual(Either.right(addresses))
  })

  it("a look-up succeeds with addresses of one kind only", async () => {
    using four = await nameServer({ [A]: [[93, 184, 216, 34]] })
    using six = await nameServer({ [A]: "unknown", [AAAA]: [v6] })
    expect(await ask(four.server)).toEqual(Either.right(["93.184.216.34"]))
    expect(await ask(six.server)).toEqual(Either.right(["2606:4700:4700::1111"]))
  })

  it("a look-up fails for an unknown name and for a name without addresses", async () => {
    using unknown = await nameServer({ [A]: "unknown", [AAAA]: "unknown" })
    using empty = await nameServer({})
    expect(await ask(unknown.server)).toMatchObject({ left: { error: "lookup", detail: "ENOTFOUND" } })
    expect(await ask(empty.server)).toMatchObject({ left: { error: "lookup", detail: "ENODATA" } })
  })

  it("interrupting a look-up does not wait for the name server, and occupies no thread", async () => {
    using dns = await nameServer({ [A]: "silent", [AAAA]: "silent" })
    const asking = nameServers([dns.server])("shop.example.com")
    const many = Effect.all(
      Array.from({ length: 50 }, () => Effect.timeoutOption(asking, 50)),
      { concurrency: "unbounded" }
    )
    const answers = await Effect.runPromise(many)
    expect(new Set(answers.map(({ _tag }) => _tag))).toEqual(new Set(["None"]))
    expect(dns.asked()).toBeGreaterThan(0)
  })
})
