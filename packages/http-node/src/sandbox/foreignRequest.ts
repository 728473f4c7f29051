import type { HttpRequest } from "@workshop/core/http"
import { sandboxAllowed } from "./sandboxAllowed.js"

/**
 * The headers that proxies add. A proxy on this machine forwards requests of other machines, whose remote address is
 * then loopback.
 */
const PROXY_HEADERS = [
  "forwarded",
  "via",
  "x-real-ip",
  ...["for", "by", "host", "port", "prefix", "proto", "scheme", "server", "ssl"].map((what) => `x-forwarded-${what}`)
]

/** The `Sec-Fetch-Site` of a request from the sandbox's own pages, or from the browser's address bar. */
const OWN_SITES = ["same-origin", "none"]

/**
 * Whether the `Host` is absent or a name of this machine. It is checked because a website can make its own host name
 * resolve to this machine.
 */
const isAddressedHere = (host: string | undefined): boolean =>
  host === undefined || sandboxAllowed(host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1"), null)

/**
 * Whether a page of another origin sent the request, according to headers that browsers send even with a POST without a
 * body.
 */
const isCrossOrigin = ({ header }: HttpRequest): boolean => {
  const origin = header("origin")?.toLowerCase()
  const host = header("host")?.toLowerCase()
  const site = header("sec-fetch-site")
  return (
    (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) ||
    (site !== undefined && !OWN_SITES.includes(site))
  )
}

/**
 * The refusal of a sandbox without a token for a request from another machine or from another site's page; undefined
 * for all other requests.
 */
export const foreignRefusal = (request: HttpRequest): "SandboxHostForeign" | "SandboxSenderForeign" | undefined => {
  if (!isAddressedHere(request.header("host"))) return "SandboxHostForeign"
  return PROXY_HEADERS.some((name) => request.header(name) !== undefined) || isCrossOrigin(request)
    ? "SandboxSenderForeign"
    : undefined
}
