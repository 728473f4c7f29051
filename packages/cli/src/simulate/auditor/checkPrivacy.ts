import type { ClosedShop, Evidence, Exchange, SeenTicket, Violation } from "./Evidence.js"
import { actOf, codeOf, dataOf, goodActs, grouped, isGood, isReplay, ms, shown } from "./Reading.js"

const violation = (message: string, evidence: unknown): Violation => ({
  rule: "privacy",
  section: "Specification, Endpoints; Clients and loyalty",
  message,
  evidence
})

/** Since when each client of a shop blocks it. An offer's shop stands in the exchange. */
const blocksOf = (
  evidence: Evidence
): ReadonlyArray<{ readonly shop: string; readonly client: string; readonly at: number }> =>
  goodActs(evidence, "blockOffer").flatMap(({ shop, now, body: _, actor }) =>
    shop === null ? [] : [{ shop, client: actor.replace(/^client /, ""), at: now }]
  )

const OF_CLIENT = /^\/v1\/clients(?:\/([^/]+)(\/.*)?)?$/

/** What an exchange asks about clients, and about whom; null where it asks nothing of them. */
const asksAbout = (
  exchange: Exchange,
  phones: Map<string, string>
): { readonly kind: string; readonly client: string | null } | null => {
  const found = OF_CLIENT.exec(exchange.path)
  if (found !== null) {
    const [, id, rest = ""] = found
    const phone = new URLSearchParams(exchange.query).get("phone") ?? ""
    return id === undefined ? { kind: "phone", client: phones.get(phone) ?? null } : { kind: `id${rest}`, client: id }
  }
  const client = (exchange.body as { readonly client_id?: string } | undefined)?.client_id
  return exchange.key !== null && actOf(exchange)?.kind === "create" && client !== undefined
    ? { kind: "create", client }
    : null
}

/** A 404 as it looks to whoever asked, without what every answer has of its own. */
const looks = ({ answer }: Exchange): string =>
  JSON.stringify([answer?.status, answer?.body, Object.keys(answer?.headers ?? {}).sort()])

const alike = (asked: ReadonlyArray<readonly [string, Exchange]>): ReadonlyArray<Violation> =>
  [...grouped(asked, ([kind]) => kind)].flatMap(([kind, all]) => {
    const ways = grouped(all, ([, exchange]) => looks(exchange))
    const examples = [...ways.values()].map(([one]) => shown(one![1]))
    return ways.size > 1 ? [violation(`unknown and blocking clients are told apart (${kind})`, examples)] : []
  })

const namesClient = (data: unknown, client: string): boolean =>
  (Array.isArray(data) ? data : [data]).some(
    (one: { readonly id?: string; readonly client?: SeenTicket["client"] } | undefined) =>
      one?.client?.id === client || one?.id === client
  )

const afterBlock = (evidence: Evidence, shops: Map<string, ClosedShop>): ReadonlyArray<Violation> =>
  blocksOf(evidence).flatMap(({ shop, client, at }) => {
    const told = evidence.exchanges.filter(
      (one) =>
        one.shop === shop &&
        one.key !== null &&
        one.now > at &&
        isGood(one) &&
        !isReplay(one) &&
        namesClient(dataOf(one), client)
    )
    const raised = (shops.get(shop)?.events ?? []).filter(
      ({ created_at, data }) =>
        ms(created_at) > at && (data.ticket?.client?.id === client || data.client?.id === client)
    )
    return [
      ...told.map((one) => violation(`a client who blocks the shop is named to it`, shown(one))),
      ...raised.map((event) => violation(`an event names a client who blocks the shop`, event))
    ]
  })

/** A number's holder is linked by nobody but themselves: a create never says whether there is one (Specification, Endpoints). */
const offered = (exchange: Exchange): Violation | null => {
  const body = exchange.body as { readonly client_phone?: string; readonly client_id?: string } | undefined
  if (
    actOf(exchange)?.kind !== "create" ||
    !isGood(exchange) ||
    body?.client_phone === undefined ||
    body.client_id !== undefined
  )
    return null
  const ticket = dataOf<SeenTicket>(exchange)
  return ticket.client === null && ticket.client_phone === body.client_phone
    ? null
    : violation("a ticket offered to a number is answered with its holder", shown(exchange))
}

/** A client who blocks a shop is, for that shop, one that never was. */
export const checkPrivacy = (evidence: Evidence): ReadonlyArray<Violation> => {
  const phones = new Map(evidence.clients.map(({ id, phone }) => [phone, id]))
  const blocks = new Map(blocksOf(evidence).map(({ shop, client, at }) => [`${shop} ${client}`, at]))
  const refused: Array<readonly [string, Exchange]> = []
  const found: Array<Violation> = []
  for (const exchange of evidence.exchanges) {
    const told = offered(exchange)
    if (told !== null) found.push(told)
    const asked = asksAbout(exchange, phones)
    if (asked === null) continue
    if (codeOf(exchange) === "NOT_FOUND") refused.push([asked.kind, exchange])
    const blocked_at = blocks.get(`${exchange.shop} ${asked.client}`) ?? Number.POSITIVE_INFINITY
    if (isGood(exchange) && !isReplay(exchange) && exchange.now > blocked_at)
      found.push(violation("a client who blocks the shop was found", shown(exchange)))
  }
  const shops = new Map(evidence.shops.map((shop) => [shop.id, shop]))
  return [...found, ...alike(refused), ...afterBlock(evidence, shops)]
}
