import type { Ticket } from "../../testkit/Shapes.js"
import { actOf, codeOf, dataOf, goodActs, grouped, isGood, isReplay, ms, reporter, shown } from "./Reading.js"
import type { RecordedRequest, ShopTrace, Trace, Violation } from "./Trace.js"

const report = reporter("privacy", "Specification, Endpoints; Clients and loyalty")

/** Since when each client of a shop blocks it. An offer's shop stands in the exchange. */
const blocksOf = (
  trace: Trace
): ReadonlyArray<{ readonly shop: string; readonly client: string; readonly at: number }> =>
  goodActs(trace, "blockOffer").flatMap(({ shop, now, body: _, actor }) =>
    shop === null ? [] : [{ shop, client: actor.replace(/^client /, ""), at: now }]
  )

const OF_CLIENT = /^\/v1\/clients(?:\/([^/]+)(\/.*)?)?$/

/** What an exchange asks about clients, and about whom; null where it asks nothing of them. */
const asksAbout = (
  exchange: RecordedRequest,
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
const looks = ({ answer }: RecordedRequest): string =>
  JSON.stringify([answer?.status, answer?.body, Object.keys(answer?.headers ?? {}).sort()])

const alike = (asked: ReadonlyArray<readonly [string, RecordedRequest]>): ReadonlyArray<Violation> =>
  [...grouped(asked, ([kind]) => kind)].flatMap(([kind, all]) => {
    const ways = grouped(all, ([, exchange]) => looks(exchange))
    const examples = [...ways.values()].map(([one]) => shown(one![1]))
    return ways.size > 1 ? report(`unknown and blocking clients are told apart (${kind})`, examples) : []
  })

const namesClient = (data: unknown, client: string): boolean =>
  (Array.isArray(data) ? data : [data]).some(
    (one: { readonly id?: string; readonly client?: Ticket["client"] } | undefined) =>
      one?.client?.id === client || one?.id === client
  )

const afterBlock = (trace: Trace, shops: Map<string, ShopTrace>): ReadonlyArray<Violation> =>
  blocksOf(trace).flatMap(({ shop, client, at }) => {
    const named = trace.exchanges.filter(
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
      ...named.flatMap((one) => report(`a client who blocks the shop is named to it`, shown(one))),
      ...raised.flatMap((event) => report(`an event names a client who blocks the shop`, event))
    ]
  })

/** A number's holder is linked by nobody but themselves: a create never says whether there is one (Specification, Endpoints). */
const offered = (exchange: RecordedRequest): ReadonlyArray<Violation> => {
  const body = exchange.body as { readonly client_phone?: string; readonly client_id?: string } | undefined
  if (
    actOf(exchange)?.kind !== "create" ||
    !isGood(exchange) ||
    body?.client_phone === undefined ||
    body.client_id !== undefined
  )
    return []
  const ticket = dataOf<Ticket>(exchange)
  return ticket.client === null && ticket.client_phone === body.client_phone
    ? []
    : report("a ticket offered to a number is answered with its holder", shown(exchange))
}

/** A client who blocks a shop is, for that shop, one that never was. */
export const checkPrivacy = (trace: Trace): ReadonlyArray<Violation> => {
  const phones = new Map(trace.clients.map(({ id, phone }) => [phone, id]))
  const blocks = new Map(blocksOf(trace).map(({ shop, client, at }) => [`${shop} ${client}`, at]))
  const refused: Array<readonly [string, RecordedRequest]> = []
  const found: Array<Violation> = []
  for (const exchange of trace.exchanges) {
    found.push(...offered(exchange))
    const asked = asksAbout(exchange, phones)
    if (asked === null) continue
    if (codeOf(exchange) === "NOT_FOUND") refused.push([asked.kind, exchange])
    const blocked_at = blocks.get(`${exchange.shop} ${asked.client}`) ?? Number.POSITIVE_INFINITY
    if (isGood(exchange) && !isReplay(exchange) && exchange.now > blocked_at)
      found.push(...report("a client who blocks the shop was found", shown(exchange)))
  }
  const shops = new Map(trace.shops.map((shop) => [shop.id, shop]))
  return [...found, ...alike(refused), ...afterBlock(trace, shops)]
}
