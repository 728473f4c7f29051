import { type CallName, callOf } from "../../testkit/Calls.js"
import { idsIn } from "../../testkit/Ids.js"
import type { RecordedRequest, Trace, Violation } from "../auditor/Trace.js"
import { recordedDataOf } from "../auditor/traceQueries.js"

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** The actions of a scenario by their calls, each with the way in which its argument names its subject. */
const SUBJECT_KINDS: Partial<Record<CallName, "ticket" | "client" | "shop">> = {
  "create ticket": "shop",
  "create in app": "shop",
  "change shop": "shop",
  "set status": "ticket",
  notified: "ticket",
  "edit ticket": "ticket",
  "propose quote": "ticket",
  "announce delay": "ticket",
  "record part": "ticket",
  "attach photo": "ticket",
  "accept quote": "ticket",
  "refuse quote": "ticket",
  "add stamps": "client",
  "redeem reward": "client",
  visit: "client"
}

/** The actions whose only argument is the name of their subject. */
const SUBJECT_ONLY: ReadonlySet<CallName> = new Set(["accept quote", "refuse quote", "redeem reward", "visit"])

/** The action of a request and the id in its path; undefined if scenarios have no such actionion. */
const actOf = (exchange: RecordedRequest) => {
  const call = callOf(exchange)
  const kind = call === null ? undefined : SUBJECT_KINDS[call.name]
  return call === null || kind === undefined ? undefined : { ...call, kind }
}

/** The requests that led to a violation: all requests about the tickets and clients of its evidence, in their shop. */
const requestsLeadingTo = (
  { exchanges, shops, clients }: Trace,
  { evidence }: Violation
): ReadonlyArray<RecordedRequest> => {
  const evidenceIds = new Set(idsIn(evidence))
  const clientIds = new Set(clients.map(({ id }) => id))
  const subjectShop = shops.find(
    ({ id, listed }) => evidenceIds.has(id) || listed.some((ticket) => evidenceIds.has(ticket.id))
  )
  const phones = clients.flatMap(({ id, phone }) => (evidenceIds.has(id) ? [phone] : []))
  const isAbout = (exchange: RecordedRequest) => {
    const act = actOf(exchange)
    if (act === undefined || exchange.response === null) return false
    if (act.name === "change shop") return true
    const requestIds = [
      act.id,
      recordedDataOf<{ id?: string } | undefined>(exchange)?.id ?? "",
      ...idsIn(exchange.body)
    ]
    const text = JSON.stringify(exchange.body) ?? ""
    return requestIds.some((id) => evidenceIds.has(id)) || phones.some((phone) => text.includes(phone))
  }
  const shopRequests = exchanges.filter(
    ({ shop }) => subjectShop === undefined || shop === null || shop === subjectShop.id
  )
  const involvedRequests = shopRequests.filter(isAbout)
  // All requests about the client's tickets are included, because the client earns stamps with collected tickets.
  const tickets = new Set(
    involvedRequests.flatMap((request) => [
      actOf(request)?.id ?? "",
      recordedDataOf<{ id?: string } | undefined>(request)?.id ?? ""
    ])
  )
  for (const id of clientIds) tickets.delete(id)
  return shopRequests.filter(
    (request) =>
      involvedRequests.includes(request) || (request.response !== null && tickets.has(actOf(request)?.id ?? "-"))
  )
}

/**
 * A violation as a scenario: the requests that led to it, with the responses that they got, and the rule that was
 * broken.
 */
export const violationScenario = (trace: Trace, violation: Violation, command: string): string => {
  const names = new Map<string, string>()
  const phones = new Map<string, string>()
  const requests = requestsLeadingTo(trace, violation)
  const nameOf = (kind: string, id: string) => {
    const name =
      names.get(id) ??
      `${kind}${[...names.values()].filter((existingName) => existingName.startsWith(kind)).length + 1}`
    names.set(id, name)
    return name
  }
  const text = JSON.stringify(requests.map(({ path, body }) => [path, body]))
  for (const { id, phone } of trace.clients)
    if (text.includes(id) || text.includes(phone)) phones.set(phone, nameOf("client", id))
  const toReferences = (value: unknown, now: number): unknown => {
    if (typeof value === "string") {
      if (phones.has(value)) return `$${phones.get(value)}.phone`
      if (names.has(value)) return `$${names.get(value)}.id`
      const shift = INSTANT.test(value) ? Date.parse(value) - now : null
      return shift === null ? value : shift === 0 ? "$now" : `$now ${shift < 0 ? "-" : "+"} ${Math.abs(shift)}ms`
    }
    if (Array.isArray(value)) return value.map((item) => toReferences(item, now))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, toReferences(one, now)]))
  }
  const idempotencyKeys = requests.flatMap(({ idempotency_key }) => (idempotency_key === null ? [] : [idempotency_key]))
  let now = trace.started_at
  const lines = requests.flatMap((exchange) => {
    const { name, id, kind } = actOf(exchange)!
    const { response, body, idempotency_key } = exchange
    const elapsed_ms = exchange.now - now
    now = Math.max(now, exchange.now)
    const createdId = recordedDataOf<{ id?: string } | undefined>(exchange)?.id
    const isNew = /^create/.test(name) && createdId !== undefined && !names.has(createdId)
    const fields = toReferences(body ?? {}, now) as Record<string, unknown>
    const argument =
      kind === "shop"
        ? fields
        : SUBJECT_ONLY.has(name)
          ? `$${nameOf(kind, id)}`
          : { [kind]: `$${nameOf(kind, id)}`, ...fields }
    const { code, details } = response?.body.error ?? {}
    return [
      ...(elapsed_ms > 0 ? [`  - advance: ${elapsed_ms}ms`] : []),
      `  - ${name}: ${JSON.stringify(argument)}`,
      ...(isNew ? [`    as: ${nameOf("ticket", createdId)}`] : []),
      ...(idempotency_key !== null &&
      idempotencyKeys.indexOf(idempotency_key) !== idempotencyKeys.lastIndexOf(idempotency_key)
        ? [`    idempotency_key: ${JSON.stringify(idempotency_key)}`]
        : []),
      ...(response !== null && response.status >= 300
        ? [`    expect: ${[response.status, details?.reason ?? code].filter(Boolean).join(" ")}`]
        : [])
    ]
  })
  const clients = [...phones.values()].map((name) => `    ${name}: {}`)
  return [
    `# ${violation.rule}: ${violation.message}`,
    `# Breaks: ${violation.rule_at}`,
    `# Found by: ${command}`,
    "# The steps lead to the violation. Each expects the refusal that the run got. Add an expectation of what the rule requires.",
    `name: ${JSON.stringify(`${violation.rule}: ${violation.message}`)}`,
    ...(clients.length === 0 ? [] : ["given:", "  shops: { shop: {} }", "  clients:", ...clients]),
    "steps:",
    ...(lines.length === 0 ? ["  - get shop: {}"] : lines),
    ""
  ].join("\n")
}
