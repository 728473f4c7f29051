import { connect } from "node:net"
import { productionAddresses } from "@workshop/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { answer, answering, receiver, sendOnce, until } from "./Receiver.js"

/** Addresses that lead to this machine, by kind: as hosts of a webhook's URL, and as records of a name. */
const inside: ReadonlyArray<readonly [kind: string, literals: ReadonlyArray<string>, found: ReadonlyArray<string>]> = [
  [
    "IPv4",
    ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "017700000001", "0.0.0.0", "0"],
    ["127.0.0.1", "0.0.0.0"]
  ],
  ["IPv6 loopback", ["[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]"], ["::1", "0:0:0:0:0:0:0:1"]],
  ["IPv6 unspecified", ["[::]", "[0::0]", "[::0.0.0.0]"], ["::", "0:0:0:0:0:0:0:0"]],
  [
    "IPv4-mapped IPv6",
    ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:0:0]"],
    ["::ffff:127.0.0.1", "::ffff:0.0.0.0"]
  ],
  ["IPv4-compatible IPv6", ["[::127.0.0.1]", "[::7f00:1]"], ["::127.0.0.1", "::7f00:1"]],
  ["NAT64", ["[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]"], ["64:ff9b::7f00:1", "64:ff9b:1::a00:1"]],
  ["6to4", ["[2002:7f00:1::]", "[2002:a00:1::1]"], ["2002:7f00:1::", "2002:c0a8:101::1"]],
  ["Teredo", ["[2001:0:7f00:1::]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]"], ["2001::7f00:1", "2001:0:a00:1::"]]
]

/** A receiver that listens on all IPv4 and IPv6 addresses of this machine. */
const everywhere = () => receiver({ host: "::" })

const REFUSED = { status: null, error: "refused_address", address: null }

describe("a listener on all addresses of this machine gets no connection (Specification, Webhooks)", () => {
  it("the listener accepts a plain connection to each of the addresses, so that the tests below prove something", async () => {
    await using at = await everywhere()
    const calls = ["127.0.0.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"].map((host) => connect(at.port, host))
    await until(() => at.connections.length === calls.length)
    for (const call of calls) call.destroy()
  })

  it.each(inside)(
    "a local address in the form %s gets no connection as the host of a webhook's URL",
    async (_, literals) => {
      await using at = await everywhere()
      const policy = { ...productionAddresses, ports: [at.port] }
      for (const host of literals)
        expect([host, await sendOnce(`https://${host}:${at.port}/`, { policy })]).toMatchObject([host, REFUSED])
      expect(at.connections).toHaveLength(0)
    }
  )

  it.each(inside)(
    "a local address in the form %s gets no connection as the address of a name, alone or with a public address",
    async (_, _literals, records) => {
      await using at = await everywhere()
      const policy = { ...productionAddresses, ports: [at.port] }
      for (const address of records)
        for (const all of [[address], ["93.184.216.34", address], [address, "2606:4700:4700::1111"]]) {
          const sent = await sendOnce(`https://shop.test:${at.port}/`, { policy, resolve: () => Effect.succeed(all) })
          expect([all, sent]).toMatchObject([all, REFUSED])
        }
      expect(at.connections).toHaveLength(0)
    }
  )

  it.each(inside)(
    "a local address in the form %s gets no connection as the target of a redirect",
    async (_, literals) => {
      await using at = await everywhere()
      for (const host of literals) {
        await using from = await answering(answer("302 Found", [`Location: http://${host}:${at.port}/`]))
        expect([host, await sendOnce(from.url)]).toMatchObject([host, { status: 302, error: null }])
      }
      expect(at.connections).toHaveLength(0)
    }
  )
})
