import type { LoyaltyCard } from "@workshop/core/promise"
import { type CallName, callOf } from "../../testkit/Calls.js"
import type { TicketJson } from "../../testkit/ResponseTypes.js"
import { type Breach, makeBreach } from "./Breach.js"
import type { LoyaltySettings, RecordedRequest, ShopTrace, Trace } from "./Trace.js"
import {
  type CheckFinding,
  codeOf,
  evidenceOf,
  groupEventsByTicket,
  groupValues,
  isReplay,
  isSuccess,
  isTicketCreation,
  makeCheck,
  type Operation,
  operationsOf,
  recordedDataOf,
  settingsAt,
  successfulCalls,
  toEpochMs
} from "./traceQueries.js"

type Program = LoyaltySettings["program"]

const programAt = (trace: Trace, shop: string) => {
  const settings = settingsAt(trace, shop)
  return (now: number): Program =>
    (settings(now).program as Program | undefined) ?? { active: false, stamps_required: 10, stamps_per_ticket: 1 }
}

/**
 * The stamps that tickets earned for each client: once for each ticket, when it is first ready or collected as ready.
 */
const countEarnedStamps = (shop: ShopTrace, program: (now: number) => Program): Map<string, number> => {
  const stamps = new Map<string, number>()
  for (const events of groupEventsByTicket(shop.events).values()) {
    const firstEvent = events.find(({ type, created_at, data }) => {
      const { client, outcome } = data.ticket
      const earns = type === "ticket.ready" || (type === "ticket.collected" && outcome === "ready")
      return earns && client !== null && program(toEpochMs(created_at)).active
    })
    const client = firstEvent?.data.ticket.client?.id
    if (firstEvent === undefined || client === undefined) continue
    stamps.set(client, (stamps.get(client) ?? 0) + program(toEpochMs(firstEvent.created_at)).stamps_per_ticket)
  }
  return stamps
}

/** The card that a client must have after all acknowledged requests. */
const computeExpectedCard = (
  operations: ReadonlyArray<Operation>,
  tickets: number,
  program: (now: number) => Program
) => {
  let [balance, lifetime, redeemed] = [tickets, tickets, 0]
  for (const { call, results } of operations)
    for (const { data } of results) {
      if (call === "add stamps") {
        const { added } = data as { readonly added: number }
        balance += added
        lifetime += added
      } else {
        const { reward } = data as { readonly reward: { readonly redeemed_at: string } }
        balance -= program(toEpochMs(reward.redeemed_at)).stamps_required
        redeemed += 1
      }
    }
  return { balance, lifetime, rewards_redeemed: redeemed }
}

const findCardProblem = (
  card: LoyaltyCard,
  expected: ReturnType<typeof computeExpectedCard>,
  required: number
): string | null => {
  for (const name of ["balance", "lifetime", "rewards_redeemed"] as const)
    if (card[name] !== expected[name]) return `${name} is ${card[name]}, but the responses add up to ${expected[name]}`
  const available = Math.floor(card.balance / required)
  return card.rewards_available === available
    ? null
    : `rewards_available is ${card.rewards_available} instead of ${available}`
}

/** Each card has the stamps that tickets earned and the shop added, minus the stamps of redeemed rewards. */
export const checkLoyalty = makeCheck("loyalty", "Specification, Endpoints; Clients and loyalty", function* (trace) {
  const operations = operationsOf(trace).filter(({ call }) => call !== "create ticket")
  for (const shop of trace.shops) {
    const program = programAt(trace, shop.id)
    const tickets = countEarnedStamps(shop, program)
    for (const { client, status, data } of shop.cards) {
      const operationsOfClient = operations.filter(
        (operation) => operation.shop === shop.id && callOf(operation.exchanges[0]!)?.id === client
      )
      // If the outcome of a request is unknown, the card may be with or without its effect.
      if (status !== 200 || data === null || operationsOfClient.some(({ isUnknown }) => isUnknown)) continue
      const expected = computeExpectedCard(operationsOfClient, tickets.get(client) ?? 0, program)
      const message = findCardProblem(data.card, expected, data.program.stamps_required)
      if (message !== null)
        yield [
          makeBreach("rule-stamps", `the loyalty card of client ${client} is wrong: ${message}`),
          { shop: shop.id, client, card: data.card, expected }
        ]
    }
  }
})

/** The instants at which clients blocked shops. */
const blocksOf = (
  trace: Trace
): ReadonlyArray<{ readonly shop: string; readonly client: string; readonly at: number }> =>
  successfulCalls(trace, "block shop").flatMap(({ shop, now, actor }) =>
    shop === null ? [] : [{ shop, client: actor.replace(/^client /, ""), at: now }]
  )

const CLIENT_CALLS = new Set<CallName>(["get client", "get loyalty", "add stamps", "redeem reward"])

/** The endpoint and the client of a request; null if the request is not about a client. */
const clientRequestOf = (
  exchange: RecordedRequest,
  phones: Map<string, string>
): { readonly call: CallName; readonly client: string | null } | null => {
  const call = callOf(exchange)
  if (call === null || exchange.key === null) return null
  if (CLIENT_CALLS.has(call.name)) return { call: call.name, client: call.id }
  if (call.name === "find client")
    return { call: call.name, client: phones.get(new URLSearchParams(exchange.query).get("phone") ?? "") ?? null }
  const client = (exchange.body as { readonly client_id?: string } | undefined)?.client_id
  return call.name === "create ticket" && client !== undefined ? { call: call.name, client } : null
}

/** The text of a 404 as the caller sees it, without the fields that differ in every response. */
const comparableText = ({ response }: RecordedRequest): string =>
  JSON.stringify([response?.status, response?.body, Object.keys(response?.headers ?? {}).sort()])

const privacyBreach = (message: string): Breach => makeBreach("rule-privacy-look-up", message)

function* findDistinguishable404s(refused: ReadonlyArray<readonly [string, RecordedRequest]>): Iterable<CheckFinding> {
  for (const [call, all] of groupValues(refused, ([call]) => call)) {
    const ways = groupValues(all, ([, exchange]) => comparableText(exchange))
    const examples = [...ways.values()].map(([one]) => evidenceOf(one![1]))
    if (ways.size > 1)
      yield [
        privacyBreach(`the responses about an unknown client and about a client who blocks the shop differ (${call})`),
        examples
      ]
  }
}

const isClientNamed = (data: unknown, client: string): boolean =>
  (Array.isArray(data) ? data : [data]).some(
    (record: { readonly id?: string; readonly client?: TicketJson["client"] } | undefined) =>
      record?.client?.id === client || record?.id === client
  )

function* findNamesAfterBlock(
  { exchanges, shops }: Trace,
  blocks: ReturnType<typeof blocksOf>
): Iterable<CheckFinding> {
  for (const { shop, client, at } of blocks) {
    const laterRequests = exchanges.filter(
      (exchange) => exchange.shop === shop && exchange.key !== null && exchange.now > at
    )
    for (const exchange of laterRequests)
      if (isSuccess(exchange) && !isReplay(exchange) && isClientNamed(recordedDataOf(exchange), client))
        yield [privacyBreach("a response names a client who blocks the shop"), evidenceOf(exchange)]
    for (const event of shops.find(({ id }) => id === shop)?.events ?? []) {
      const { ticket, client: namedClient } = event.data
      if (toEpochMs(event.created_at) > at && (ticket?.client?.id === client || namedClient?.id === client))
        yield [privacyBreach("an event names a client who blocks the shop"), event]
    }
  }
}

/**
 * True if a response shows that a phone number has an account. It must not, because only clients link themselves
 * (Specification, Endpoints).
 */
const isHolderShown = (exchange: RecordedRequest): boolean => {
  const body = exchange.body as { readonly client_phone?: string; readonly client_id?: string } | undefined
  if (!isTicketCreation(exchange) || !isSuccess(exchange)) return false
  if (body?.client_phone === undefined || body.client_id !== undefined) return false
  const ticket = recordedDataOf<TicketJson>(exchange)
  return ticket.client !== null || ticket.client_phone !== body.client_phone
}

/** A shop's requests about a client who blocks it get the same responses as for a client who does not exist. */
export const checkPrivacy = makeCheck("privacy", "Specification, Endpoints; Clients and loyalty", function* (trace) {
  const phones = new Map(trace.clients.map(({ id, phone }) => [phone, id]))
  const blocks = blocksOf(trace)
  const blockInstants = new Map(blocks.map(({ shop, client, at }) => [`${shop} ${client}`, at]))
  const notFound: Array<readonly [string, RecordedRequest]> = []
  for (const exchange of trace.exchanges) {
    if (isHolderShown(exchange))
      yield [
        makeBreach(
          "rule-create-offer",
          "the response about a ticket that was offered to a phone number shows who has the number"
        ),
        evidenceOf(exchange)
      ]
    const request = clientRequestOf(exchange, phones)
    if (request === null) continue
    if (codeOf(exchange) === "NOT_FOUND") notFound.push([request.call, exchange])
    const blocked_at = blockInstants.get(`${exchange.shop} ${request.client}`) ?? Number.POSITIVE_INFINITY
    if (isSuccess(exchange) && !isReplay(exchange) && exchange.now > blocked_at)
      yield [privacyBreach("a request about a client who blocks the shop succeeded"), evidenceOf(exchange)]
  }
  yield* findDistinguishable404s(notFound)
  yield* findNamesAfterBlock(trace, blocks)
})
