import ipaddr from "ipaddr.js"

// IANA assigns global unicast only from this block. All addresses that contain an IPv4 address (mapped, compatible, translated, NAT64) are
// outside it, except 6to4 and Teredo, which ipaddr.js recognizes.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3")

// These addresses look public but are internal: the first is the host of a virtual machine on Azure. ISATAP puts an IPv4 address, which may
// be private, after 5efe in the last 64 bits of an address of any network.
const AZURE_HOST = ipaddr.IPv4.parseCIDR("168.63.129.16/32")
const isIsatap = ({ parts }: ipaddr.IPv6): boolean => (parts[4]! & 0xfdff) === 0 && parts[5] === 0x5efe

/**
 * Whether an address literal is global unicast, so that a webhook may be sent there (Specification, Webhooks). It reads addresses in the
 * form of the system's resolver and sockets: four decimal numbers, or IPv6 without brackets. Anything else, including an address with a
 * zone (`%eth0`), is not public. Special-purpose blocks are refused as a whole, even if the registry marks a part as reachable, because no
 * receiver is in an anycast block of a protocol.
 */
export const isPublicAddress = (ip: string): boolean => {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) {
    const address = ipaddr.IPv4.parse(ip)
    return address.range() === "unicast" && !address.match(AZURE_HOST)
  }
  if (ip.includes("%") || !ipaddr.IPv6.isValid(ip)) return false
  const address = ipaddr.IPv6.parse(ip)
  return address.match(GLOBAL_UNICAST) && address.range() === "unicast" && !isIsatap(address)
}

/** Whether a text is a network, such as `203.0.113.0/24` or `2001:db8::/32`. */
export const isNetwork = (text: string): boolean => ipaddr.isValidCIDR(text)

/** Whether an address, in the form of {@link isPublicAddress}, is in one of the networks. */
export const isInNetworks = (ip: string, networks: ReadonlyArray<string>): boolean => {
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.parse(ip)
  return networks.some((network) => {
    const [block, bits] = ipaddr.parseCIDR(network)
    return block.kind() === address.kind() && address.match(block, bits)
  })
}

/** The default number of bits of an IPv6 address that identify its network. */
export const IPV6_PREFIX = 64

/**
 * The address for which requests and connections are counted: for IPv6 the network, such as `2001:db8:1:2::/64`,
 * because a client with one address of a network can use all of them. An IPv4 address within IPv6 counts as that IPv4
 * address.
 */
export const toCountedAddress = (address: string, ipv6Prefix: number = IPV6_PREFIX): string => {
  if (!ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.IPv6.parse(address)
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.split("%", 1)[0]}/${ipv6Prefix}`)}/${ipv6Prefix}`
}
