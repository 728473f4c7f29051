import ipaddr from "ipaddr.js"

// IANA hands out global unicast from this block alone. Everything that carries an IPv4 address inside (mapped,
// compatible, translated, NAT64) lies outside it, save 6to4 and Teredo, which ipaddr.js knows by name.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3")

/**
 * Whether an address literal is global unicast, so that a webhook may be sent there (Specification, Webhooks). For addresses as
 * the system's resolver and sockets give them: four decimal numbers, or IPv6 without brackets. Anything else, also
 * an address with a zone (`%eth0`), is not public. Special-purpose blocks are refused whole, even where the registry
 * calls a part of one reachable: no receiver lives in an anycast block of a protocol.
 */
export const isPublicAddress = (ip: string): boolean => {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) return ipaddr.IPv4.parse(ip).range() === "unicast"
  if (ip.includes("%") || !ipaddr.IPv6.isValid(ip)) return false
  const address = ipaddr.IPv6.parse(ip)
  return address.match(GLOBAL_UNICAST) && address.range() === "unicast"
}
