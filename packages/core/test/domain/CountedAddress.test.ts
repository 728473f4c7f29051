import { describe, expect, it } from "vitest"
import { toCountedAddress } from "../../src/domain/PublicAddress.js"

describe("the address for which requests and connections are counted", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002:ffff::1", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
    ["fe80::1%eth0", "fe80::/64"],
    ["::1", "::/64"],
    ["unknown", "unknown"]
  ])("the address %s is counted as %s", (address, counted) => {
    expect(toCountedAddress(address)).toBe(counted)
  })

  it("a network has the configured size", () => {
    expect(toCountedAddress("2001:db8:1:2ff:3:4:5:6", 56)).toBe("2001:db8:1:200::/56")
    expect(toCountedAddress("2001:db8:1:2::9", 128)).toBe("2001:db8:1:2::9/128")
  })
})
