import type { Ticket } from "../../testkit/Shapes.js"
import {
  actOf,
  check,
  codeOf,
  dataOf,
  type Finding,
  goodActs,
  grouped,
  isGood,
  isReplay,
  ms,
  shown
} from "./queries.js"
import type { RecordedRequest, Trace } from "./Trace.js"

/** The instant from which each client blocks a shop. The exchange names the offer's shop. */
const blocksOf = (
  trace: Trace
): ReadonlyArray<{ readonly shop: string; readonly client: string; readonly at: number }> =>
  goodActs(trace, "blockOffer").flatMap(({ shop, now, body: _, actor }) =>
    shop === null ? [] : [{ shop, client: actor.replace(/^client /, ""), at: now }]
  )

const OF_CLIENT = /^\/v1\/clients(?:\/([^/]+)(\/.*)?)?$/

/** The kind of a request about a client, and the client; null for other requests. */
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

/** A 404 as the caller sees it, without what differs in every response. */
const looks = ({ answer }: RecordedRequest): string =>
  JSON.stringify([answer?.status, answer?.body, Object.keys(answer?.headers ?? {}).sort()])

function* alike(asked: ReadonlyArray<readonly [string, RecordedRequest]>): Iterable<Finding> {
  for (const [kind, all] of grouped(asked, ([kind]) => kind)) {
    const ways = grouped(all, ([, exchange]) => looks(exchange))
    const examples = [...ways.values()].map(([one]) => shown(one![1]))
    if (ways.size > 1) yield [`unknown and blocking clients are told apart (${kind})`, examples]
  }
}

const namesClient = (data: unknown, client: string): boolean =>
  (Array.isArray(data) ? data : [data]).some(
    (one: { readonly id?: string; readonly client?: Ticket["client"] } | undefined) =>
      one?.client?.id === client || one?.id === client
  )

function* afterBlock({ exchanges, shops }: Trace, blocks: ReturnType<typeof blocksOf>): Iterable<Finding> {
  for (const { shop, client, at } of blocks) {
    const answered = exchanges.filter((one) => one.shop === shop && one.key !== null && one.now > at)
    for (const one of answered)
      if (isGood(one) && !isReplay(one) && namesClient(dataOf(one), client))
        yield ["a client who blocks the shop is named to it", shown(one)]
    for (const event of shops.find(({ id }) => id === shop)?.events ?? []) {
      const { ticket, client: named } = event.data
      if (ms(event.created_at) > at && (ticket?.client?.id === client || named?.id === client))
        yield ["an event names a client who blocks the shop", event]
    }
  }
}

/** Only holders of a number link themselves: a create never says whether there is one (Specification, Endpoints). */
const isHolderShown = (exchange: RecordedRequest): boolean => {
  const body = exchange.body as { readonly client_phone?: string; readonly client_id?: string } | undefined
  if (actOf(exchange)?.kind !== "create" || !isGood(exchange)) return false
  if (body?.client_phone === undefined || body.client_id !== undefined) return false
  const ticket = dataOf<Ticket>(exchange)
  return ticket.client !== null || ticket.client_phone !== body.client_phone
}

/** For a shop, a client who blocks it does not exist. */
export const checkPrivacy = check("privacy", "Specification, Endpoints; Clients and loyalty", function* (trace) {
  const phones = new Map(trace.clients.map(({ id, phone }) => [phone, id]))
  const blocks = blocksOf(trace)
  const blocked = new Map(blocks.map(({ shop, client, at }) => [`${shop} ${client}`, at]))
  const refused: Array<readonly [string, RecordedRequest]> = []
  for (const exchange of trace.exchanges) {
    if (isHolderShown(exchange)) yield ["a ticket offered to a number is answered with its holder", shown(exchange)]
    const asked = asksAbout(exchange, phones)
    if (asked === null) continue
    if (codeOf(exchange) === "NOT_FOUND") refused.push([asked.kind, exchange])
    const blocked_at = blocked.get(`${exchange.shop} ${asked.client}`) ?? Number.POSITIVE_INFINITY
    if (isGood(exchange) && !isReplay(exchange) && exchange.now > blocked_at)
      yield ["a client who blocks the shop was found", shown(exchange)]
  }
  yield* alike(refused)
  yield* afterBlock(trace, blocks)
})
