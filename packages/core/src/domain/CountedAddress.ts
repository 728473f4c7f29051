import ipaddr from "ipaddr.js"

/** By how many bits an IPv6 address names its network, where nothing else is said. */
export const IPV6_PREFIX = 64

/**
 * The address by which requests and connections are counted: of IPv6 the network, such as `2001:db8:1:2::/64`, because
 * whoever has one address there has all of them. An IPv4 address within IPv6 counts as itself.
 */
export const countedAddress = (address: string, ipv6Prefix: number = IPV6_PREFIX): string => {
  if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.IPv6.parse(address)
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.split("%", 1)[0]}/${ipv6Prefix}`)}/${ipv6Prefix}`
}
