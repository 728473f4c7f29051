import type { HttpRequest } from "@workshop/core/http"
import { sandboxAllowed } from "./sandboxAllowed.js"

/** The headers that proxies add. Behind a proxy every request comes from this machine, even if another one sent it. */
const PROXY_HEADERS = [
  "forwarded",
  "via",
  "x-real-ip",
  ...["for", "by", "host", "port", "prefix", "proto", "scheme", "server", "ssl"].map((what) => `x-forwarded-${what}`)
]

/** The `Sec-Fetch-Site` of a request that the sandbox's own page sent, or whose address somebody typed. */
const OWN_SITES = ["same-origin", "none"]

/** Whether the `Host` is this machine's or absent. It is checked, because another site can make its own host name resolve to this machine. */
const isAddressedHere = (host: string | undefined): boolean =>
  host === undefined || sandboxAllowed(host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1"), null)

/** Whether a page of another origin sent the request. Browsers say so in these headers, even in a POST without a body. */
const isOfAnotherPage = ({ header }: HttpRequest): boolean => {
  const origin = header("origin")?.toLowerCase()
  const host = header("host")?.toLowerCase()
  const site = header("sec-fetch-site")
  return (
    (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) ||
    (site !== undefined && !OWN_SITES.includes(site))
  )
}

/**
 * Why a sandbox without a token refuses a request; undefined if nothing shows that it came from another machine or page.
 */
export const foreignRefusal = (request: HttpRequest): "SandboxHostForeign" | "SandboxSenderForeign" | undefined => {
  if (!isAddressedHere(request.header("host"))) return "SandboxHostForeign"
  return PROXY_HEADERS.some((name) => request.header(name) !== undefined) || isOfAnotherPage(request)
    ? "SandboxSenderForeign"
    : undefined
}
