import { MINUTE } from "../../testkit/Time.js"
import { codeOf, dataOf, detailOf, grouped, isGood, reporter, settingsAt, shown } from "./Reading.js"
import type { RecordedRequest, Trace, Violation } from "./Trace.js"

const report = reporter("doors", "Specification, Keys and scopes; Errors")

interface Key {
  readonly scopes: ReadonlyArray<string>
  readonly revoked_at: number
}

const ALL = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]
const PRESETS: Readonly<Record<string, ReadonlyArray<string>>> = { full: ALL, read: ["tickets:read", "clients:read"] }

/** Every key that was made, what it may do, and when it was revoked. */
const keysOf = ({ exchanges }: Trace): Map<string, Key> => {
  const keys = new Map<string, Key>()
  for (const exchange of exchanges) {
    if (!isGood(exchange)) continue
    const data = dataOf<{ readonly id?: string; readonly key_id?: string }>(exchange)
    const asked = exchange.body as { readonly scopes?: ReadonlyArray<string>; readonly preset?: string } | undefined
    if (exchange.method === "POST" && exchange.path === "/sandbox/shops")
      keys.set(data.key_id ?? "", { scopes: ALL, revoked_at: Number.POSITIVE_INFINITY })
    if (exchange.method === "POST" && /^\/sandbox\/shops\/[^/]+\/keys$/.test(exchange.path))
      keys.set(data.id ?? "", {
        scopes: asked?.scopes ?? PRESETS[asked?.preset ?? "full"] ?? ALL,
        revoked_at: Number.POSITIVE_INFINITY
      })
    const revoked = exchange.method === "DELETE" ? /^\/sandbox\/keys\/([^/]+)$/.exec(exchange.path)?.[1] : undefined
    const known = revoked === undefined ? undefined : keys.get(revoked)
    if (revoked !== undefined && known !== undefined && exchange.now < known.revoked_at)
      keys.set(revoked, { ...known, revoked_at: exchange.now })
  }
  return keys
}

const SCOPES: ReadonlyArray<readonly [method: string, path: RegExp, scope: string]> = [
  ["GET", /^\/v1\/tickets(\/|$)/, "tickets:read"],
  ["POST", /^\/v1\/tickets(\/|$)/, "tickets:write"],
  ["GET", /^\/v1\/clients(\/|$)/, "clients:read"],
  ["POST", /^\/v1\/clients\/[^/]+\/loyalty\/(stamps|redeem)$/, "loyalty:write"]
]

const FLAGS: ReadonlyArray<readonly [flag: string, code: string]> = [
  ["active", "ACCOUNT_DEACTIVATED"],
  ["approved", "SHOP_NOT_APPROVED"],
  ["api_enabled", "API_DISABLED"]
]

const keyWrong = (exchange: RecordedRequest, { revoked_at }: Key): string | null => {
  const isTurnedAway = exchange.answer?.status === 401
  if (isTurnedAway && exchange.now < revoked_at) return "a good key was turned away"
  const isRefused = isTurnedAway || detailOf(exchange, "limit") === "unauthenticated_per_minute"
  return !isRefused && exchange.now > revoked_at + MINUTE
    ? "a key worked more than a minute after it was revoked"
    : null
}

const flagWrong = (exchange: RecordedRequest, settings: Readonly<Record<string, unknown>>): string | null => {
  const off = FLAGS.find(([flag]) => settings[flag] === false)
  const code = codeOf(exchange)
  if (off !== undefined) return isGood(exchange) ? `answered while the shop's ${off[0]} is off` : null
  return FLAGS.some(([, name]) => name === code) ? `${code}, where nothing of the shop is off` : null
}

const scopeWrong = (exchange: RecordedRequest, { scopes }: Key): string | null => {
  const needed = SCOPES.find(([method, path]) => method === exchange.method && path.test(exchange.path))?.[2]
  if (codeOf(exchange) === "FORBIDDEN")
    return needed === undefined || scopes.includes(needed) || detailOf(exchange, "scope") !== needed
      ? "forbidden to a key with the right"
      : null
  return isGood(exchange) && needed !== undefined && !scopes.includes(needed)
    ? `allowed to a key without ${needed}`
    : null
}

/** Keys open what they are for, until a minute after they are revoked, while their shop is open. */
export const checkDoors = (trace: Trace): ReadonlyArray<Violation> => {
  const keys = keysOf(trace)
  const ofShops = grouped(
    trace.exchanges.filter((one) => one.key !== null && one.answer !== null && one.path.startsWith("/v1")),
    ({ shop }) => shop ?? ""
  )
  return [...ofShops].flatMap(([shop, mine]) => {
    const settings = settingsAt(trace, shop)
    return mine.flatMap((exchange) => {
      const key = keys.get(exchange.key ?? "")
      if (key === undefined) return []
      const message =
        keyWrong(exchange, key) ?? flagWrong(exchange, settings(exchange.now)) ?? scopeWrong(exchange, key)
      return report(message, shown(exchange))
    })
  })
}
