import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isInNetworks, isNetwork, isPublicAddress } from "../../src/domain/PublicAddress.js"

// Every special-purpose block of IANA's registries, with addresses at its start, at its end or within it.
const special: ReadonlyArray<readonly [block: string, addresses: ReadonlyArray<string>]> = [
  ["0.0.0.0/8", ["0.0.0.0", "0.0.0.1", "0.255.255.255"]],
  ["10.0.0.0/8", ["10.0.0.0", "10.0.0.1", "10.255.255.255"]],
  ["100.64.0.0/10", ["100.64.0.0", "100.100.100.200", "100.127.255.255"]],
  ["127.0.0.0/8", ["127.0.0.0", "127.0.0.1", "127.1.2.3", "127.255.255.255"]],
  ["169.254.0.0/16", ["169.254.0.0", "169.254.169.254", "169.254.255.255"]],
  ["172.16.0.0/12", ["172.16.0.0", "172.16.0.1", "172.31.255.255"]],
  ["192.0.0.0/24", ["192.0.0.0", "192.0.0.8", "192.0.0.170", "192.0.0.192", "192.0.0.255"]],
  ["192.0.2.0/24", ["192.0.2.0", "192.0.2.1", "192.0.2.255"]],
  ["192.31.196.0/24", ["192.31.196.1"]],
  ["192.52.193.0/24", ["192.52.193.1"]],
  ["192.88.99.0/24", ["192.88.99.0", "192.88.99.1", "192.88.99.255"]],
  ["192.168.0.0/16", ["192.168.0.0", "192.168.1.1", "192.168.255.255"]],
  ["192.175.48.0/24", ["192.175.48.1"]],
  ["198.18.0.0/15", ["198.18.0.0", "198.19.255.255"]],
  ["198.51.100.0/24", ["198.51.100.0", "198.51.100.255"]],
  ["203.0.113.0/24", ["203.0.113.0", "203.0.113.255"]],
  ["224.0.0.0/4", ["224.0.0.0", "224.0.0.251", "239.255.255.255"]],
  ["240.0.0.0/4", ["240.0.0.0", "250.1.2.3", "255.255.255.254"]],
  ["255.255.255.255/32", ["255.255.255.255"]],
  ["::/128 unspecified", ["::", "0:0:0:0:0:0:0:0"]],
  ["::1/128 loopback", ["::1", "0:0:0:0:0:0:0:1"]],
  ["::/96 IPv4-compatible", ["::127.0.0.1", "::7f00:1", "::8.8.8.8", "::10.0.0.1"]],
  ["::ffff:0:0/96 IPv4-mapped", ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "::FFFF:0a00:0001"]],
  ["::ffff:0:0:0/96 IPv4-translated", ["::ffff:0:127.0.0.1", "::ffff:0:808:808"]],
  ["64:ff9b::/96 NAT64", ["64:ff9b::a00:1", "64:ff9b::127.0.0.1", "64:ff9b::808:808"]],
  ["64:ff9b:1::/48 local NAT64", ["64:ff9b:1::", "64:ff9b:1::a00:1", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"]],
  ["100::/64 discard", ["100::", "100::1", "100::ffff:ffff:ffff:ffff"]],
  ["100:0:0:1::/64 dummy prefix", ["100:0:0:1::1"]],
  ["2001::/32 Teredo", ["2001::", "2001::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"]],
  ["2001::/23 protocol assignments", ["2001:1::1", "2001:1::2", "2001:1::3", "2001:5::1", "2001:1ff:ffff::"]],
  ["2001:2::/48 benchmarking", ["2001:2::", "2001:2:0:ffff::1"]],
  ["2001:3::/32 AMT", ["2001:3::1"]],
  ["2001:4:112::/48 AS112", ["2001:4:112::1"]],
  ["2001:10::/28 ORCHID", ["2001:10::1", "2001:1f:ffff::"]],
  ["2001:20::/28 ORCHIDv2", ["2001:20::1", "2001:2f:ffff::"]],
  ["2001:30::/28 drones", ["2001:30::1", "2001:3f:ffff::"]],
  ["2001:db8::/32 documentation", ["2001:db8::", "2001:db8::1", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"]],
  ["2002::/16 6to4", ["2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1", "2002:ffff:ffff::"]],
  ["2620:4f:8000::/48 AS112", ["2620:4f:8000::1"]],
  ["3fff::/20 documentation", ["3fff::", "3fff::1", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"]],
  ["5f00::/16 segment routing", ["5f00::", "5f00::1", "5f00:ffff::"]],
  ["fc00::/7 unique local", ["fc00::", "fc00::1", "fd00:ec2::254", "fdff:ffff::1"]],
  ["fe80::/10 link-local", ["fe80::", "fe80::1", "febf::1", "fe80::1%eth0"]],
  ["fec0::/10 site-local", ["fec0::1", "feff::1"]],
  ["ff00::/8 multicast", ["ff00::", "ff02::1", "ff0e::1"]],
  ["outside 2000::/3", ["1::1", "200::1", "400::1", "1fff::1", "4000::1", "8000::1", "c000::1", "e000::1", "f000::1"]]
]

const good = [
  ...["1.1.1.1", "8.8.8.8", "9.9.9.9", "93.184.216.34", "41.226.11.1", "196.203.0.1", "11.0.0.0", "9.255.255.255"],
  ...["100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255", "169.255.0.0"],
  ...["172.15.255.255", "172.32.0.0", "192.0.1.1", "192.0.3.1", "192.88.98.255", "192.88.100.0", "192.167.255.255"],
  ...["192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0"],
  ...["223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2606:4700:4700::1111", "2620:fe::fe", "2a00:1450::1"],
  ...["2001:db7:ffff::1", "2001:db9::1", "2003::1", "2620:4f:8001::1", "2c0f:f698::1", "2A02:26F0::1"]
]

const unreadable = [
  ...[
    "",
    " ",
    "localhost",
    "shop.example.com",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "8.8.8",
    "8.8.8.8.8"
  ],
  ...["256.1.1.1", "08.8.8.8", "8.8.8.8 ", "8.8.8.8:443", "[2606:4700::1]", "2606:4700::1%eth0", "2606:4700::1/64"],
  ...["2606:4700:::1", "2606:4700", "g::1", "8.8.8.8\u0000", "٨.٨.٨.٨"]
]

describe("only global unicast is public (Specification, Webhooks)", () => {
  it.each(special)("%s is not a public address", (_, addresses) => {
    for (const address of addresses) expect([address, isPublicAddress(address)]).toEqual([address, false])
  })

  it.each(good)("%s is a public address", (address) => expect(isPublicAddress(address)).toBe(true))

  it.each(unreadable)("a text that a resolver would not write is not an address: %j", (text) => {
    expect(isPublicAddress(text)).toBe(false)
  })

  it("no IPv6 address that contains an IPv4 address is public", () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16))
    fc.assert(
      fc.property(group, group, (high, low) => {
        for (const address of [
          `::${high}:${low}`,
          `::ffff:${high}:${low}`,
          `::ffff:0:${high}:${low}`,
          `64:ff9b::${high}:${low}`,
          `64:ff9b:1::${high}:${low}`,
          `2002:${high}:${low}::1`,
          `2001:0:${high}:${low}::1`,
          `2001::${high}:${low}`
        ])
          expect([address, isPublicAddress(address)]).toEqual([address, false])
      })
    )
  })

  it("the address of an Azure virtual machine's host is not public, and the addresses next to it are", () => {
    expect(isPublicAddress("168.63.129.16")).toBe(false)
    expect(["168.63.129.15", "168.63.129.17"].map(isPublicAddress)).toEqual([true, true])
  })

  it("no ISATAP address is public, with any network and any IPv4 address in it", () => {
    for (const address of [
      "2a00:1450::5efe:10.0.0.1",
      "2a00:1450::200:5efe:8.8.8.8",
      "2606:4700:0:0:0:5efe:a00:1",
      "2606:4700:1:2:200:5efe:c0a8:101"
    ])
      expect([address, isPublicAddress(address)]).toEqual([address, false])
    expect(isPublicAddress("2606:4700::1:5efe:a00:1")).toBe(true)
  })

  it("a network contains only addresses of its own family, to the bit", () => {
    const networks = ["203.0.112.0/23", "2606:4700:10::/44"]
    const within = (ip: string) => isInNetworks(ip, networks)
    expect(["203.0.112.0", "203.0.113.255", "2606:4700:1f:ffff::1"].map(within)).toEqual([true, true, true])
    expect(["203.0.111.255", "203.0.114.0", "2606:4700:20::1", "no address"].map(within)).toEqual([
      false,
      false,
      false,
      false
    ])
    expect(["203.0.112.0/23", "2001:db8::/32"].map(isNetwork)).toEqual([true, true])
    expect(["203.0.112.0", "203.0.112.0/33", "x/8", ""].map(isNetwork)).toEqual([false, false, false, false])
  })

  it("no text makes the check throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (text) => {
        expect(typeof isPublicAddress(text)).toBe("boolean")
      })
    )
  })
})
