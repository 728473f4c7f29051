import {
  type Corruption,
  dataOf,
  eventOf,
  exchangeOf,
  first,
  isStatus,
  type Json,
  type OpenTrace,
  repeat,
  shiftInstant
} from "./Corruption.js"

const MINUTE = 60_000
const DAY = 86_400_000

const ofShops: ReadonlyArray<Corruption> = [
  {
    name: "two tickets have the same number",
    rule: "numbers",
    breaks: "rule-create-numbers",
    lie: (seen) => {
      const { shop, i } = eventOf(
        seen,
        ({ type }, { events }) => type === "ticket.created" && events.filter((event) => event.type === type).length > 2
      )
      const next = first(shop.events.slice(i + 1).map((event) => (event.type === "ticket.created" ? event : undefined)))
      next.data.ticket!.number = shop.events[i]!.data.ticket!.number
    }
  },
  {
    name: "a number is skipped",
    rule: "numbers",
    breaks: "rule-create-numbers",
    lie: (seen) => {
      eventOf(seen, ({ type }) => type === "ticket.created").event.data.ticket!.number += 1
    }
  },
  {
    name: "a ticket is missing from the list",
    rule: "numbers",
    breaks: "rule-list-newest-first",
    lie: (seen) => void first(seen.shops.filter(({ listed }) => listed.length > 3)).listed.pop()
  },
  {
    name: "a ticket changes its state in a way that does not exist",
    rule: "histories",
    breaks: "rule-status-workshop-ready",
    lie: (seen) => {
      const { event } = eventOf(seen, ({ type }) => type === "ticket.ready")
      event.type = "ticket.collected"
      event.data.ticket!.state = "collected"
    }
  },
  {
    name: "a ticket is reopened after its window",
    rule: "histories",
    breaks: "rule-reopen-at-24h",
    lie: (seen) => {
      const { shop, event } = eventOf(seen, ({ type, data }) => type === "ticket.reopened" && data.from === "collected")
      const before = shop.events.filter(
        ({ data }) => data.ticket?.id === event.data.ticket?.id && data.ticket?.state === "collected"
      )
      for (const one of before) one.data.ticket!.collected_at = shiftInstant(one.data.ticket!.collected_at, -2 * DAY)
    }
  },
  {
    name: "a ticket is closed a millisecond late",
    rule: "histories",
    breaks: "rule-closure-at-its-own-instant",
    lie: (seen) => {
      const { ticket } = eventOf(seen, ({ type }) => type === "ticket.abandoned").event.data
      ticket!.abandoned_at = shiftInstant(ticket!.abandoned_at, 1)
    }
  },
  {
    name: "an expired ticket is never closed",
    rule: "histories",
    breaks: "rule-closure-uncollected",
    lie: (seen) => {
      const ticket = first(seen.shops.map(({ listed }) => listed.find(({ state }) => state === "ready")))
      ticket.ready_at = shiftInstant(new Date(seen.ended_at).toISOString(), -60 * DAY)
    }
  },
  {
    name: "updated_at decreases",
    rule: "histories",
    breaks: "rule-instants-held",
    lie: (seen) => {
      const { ticket } = eventOf(seen, ({ type }) => type === "ticket.ready").event.data
      ticket!.updated_at = shiftInstant(ticket!.created_at, -1)
    }
  },
  {
    name: "an event is lost",
    rule: "events",
    breaks: "rule-event-steps",
    lie: (seen) => {
      const { shop, i } = eventOf(seen, ({ type }) => type === "ticket.ready")
      shop.events.splice(i, 1)
    }
  },
  {
    name: "an event has no request as its cause",
    rule: "events",
    breaks: "rule-event-steps",
    lie: (seen) => {
      const { shop, i, event } = eventOf(seen, ({ type }) => type === "quote.accepted")
      shop.events.splice(i, 0, { ...structuredClone(event), id: "another" })
    }
  },
  {
    name: "a card shows a stamp too many",
    rule: "loyalty",
    breaks: "rule-stamps",
    lie: (seen) => {
      first(
        seen.shops.flatMap(({ cards }) =>
          cards.map(({ data }) => (data === null || data.card.lifetime === 0 ? undefined : data))
        )
      ).card.balance += 1
    }
  },
  {
    name: "the feed omitted a ticket",
    rule: "sync",
    breaks: "rule-sync-equal-instants",
    lie: (seen) => void first(seen.shops.filter(({ synced }) => synced.length > 3)).synced.splice(1, 1)
  },
  {
    name: "the feed omitted a change",
    rule: "sync",
    breaks: "rule-sync-equal-instants",
    lie: (seen) => {
      const ticket = first(seen.shops.map(({ synced }) => synced.find(({ state }) => state === "collected")))
      ticket.state = "ready"
    }
  }
]

const pageOf = (seen: OpenTrace) =>
  exchangeOf(
    seen,
    (one) => isStatus(200, /^\/v1\/tickets$/, "GET")(one) && one.query.startsWith("limit=100") && dataOf(one).length > 3
  )

const ofAnswers: ReadonlyArray<Corruption> = [
  {
    name: "a page is out of order",
    rule: "sync",
    breaks: "rule-list-newest-first",
    lie: (seen) => void dataOf(pageOf(seen)).reverse()
  },
  {
    name: "a key makes more requests than its limit allows",
    rule: "limits",
    breaks: "rule-limit-requests",
    lie: (seen) => repeat(seen, exchangeOf(seen, isStatus(200, /^\/v1\/tickets\//, "GET")), 121)
  },
  {
    name: "a client gets more stamps in a day than the limit allows",
    rule: "limits",
    breaks: "rule-limit-stamps",
    lie: (seen) => {
      const given = exchangeOf(
        seen,
        (one) => isStatus(200, /\/stamps$/)(one) && one.response?.body.meta?.replayed === false
      )
      repeat(seen, given, 21, (copy, n) => {
        copy.idempotency_key = `copy ${n}`
        dataOf(copy).card.lifetime += n + 1
      })
    }
  },
  {
    name: "a request is refused by a limit that is not exhausted",
    rule: "limits",
    breaks: "rule-limit-requests",
    lie: (seen) => {
      const { response } = exchangeOf(seen, (one) => isStatus(200, /^\/v1\/tickets\//, "GET")(one))
      const error = { code: "TOO_MANY_ATTEMPTS", message: "", details: { limit: "requests_per_minute" } }
      Object.assign(response as Json, { status: 429, body: { success: false, error } })
      Object.assign((response as Json).headers, {
        "ratelimit-limit": "120",
        "ratelimit-remaining": "0",
        "ratelimit-reset": "9",
        "retry-after": "9"
      })
    }
  },
  {
    name: "a repetition gets a different response",
    rule: "idempotency",
    breaks: "rule-replay",
    lie: (seen) => {
      dataOf(exchangeOf(seen, (one) => one.response?.body.meta?.replayed === true)).service = "Something else"
    }
  },
  {
    name: "one Idempotency-Key creates two tickets",
    rule: "idempotency",
    breaks: "rule-replay",
    lie: (seen) => {
      const created = exchangeOf(seen, (one) => isStatus(201, /^\/v1\/tickets$/)(one))
      repeat(seen, created, 1, (copy) => {
        dataOf(copy).id = "another"
      })
    }
  },
  {
    name: "the service fails",
    rule: "envelope",
    breaks: "rule-error-failures",
    lie: (seen) =>
      void Object.assign(exchangeOf(seen, isStatus(200, /^\/v1\/shop$/, "GET")).response as Json, { status: 500 })
  },
  {
    name: "a response has no Request-Id",
    rule: "envelope",
    breaks: "rule-error-request-id",
    lie: (seen) => {
      delete (exchangeOf(seen, isStatus(201, /^\/v1\/tickets$/)).response as Json).headers["request-id"]
    }
  },
  {
    name: "a move is refused for the wrong reason",
    rule: "refusals",
    breaks: "rule-reopen-at-24h",
    lie: (seen) => {
      const refused = exchangeOf(seen, (one) => one.response?.body.error?.details?.reason === "SAME_STATE")
      ;(refused.response as Json).body.error.details.reason = "REOPEN_WINDOW"
    }
  },
  {
    name: "a revoked key still works",
    rule: "access",
    breaks: "rule-key-revoked",
    lie: (seen) => {
      const isLater = (one: Json) =>
        seen.exchanges.some(
          (other) => other.method === "DELETE" && other.path.endsWith(one.key) && one.now > other.now + MINUTE
        )
      const turned = exchangeOf(seen, (one) => one.response?.status === 401 && isLater(one))
      Object.assign(turned.response as Json, { status: 200, body: { success: true, data: {} } })
    }
  },
  {
    name: "a key succeeds at a request outside its scopes",
    rule: "access",
    breaks: "rule-scope-all",
    lie: (seen) => {
      const { response } = exchangeOf(seen, (one) => one.response?.body.error?.code === "FORBIDDEN")
      Object.assign(response as Json, { status: 200, body: { success: true, data: {} } })
    }
  },
  {
    name: "unknown and blocking clients get different responses",
    rule: "privacy",
    breaks: "rule-privacy-look-up",
    lie: (seen) => {
      const refused = exchangeOf(seen, isStatus(404, /^\/v1\/clients$/, "GET"))
      ;(refused.response as Json).body.error.message = "This client blocks the shop"
    }
  },
  {
    name: "an event names a client who blocks the shop",
    rule: "privacy",
    breaks: "rule-privacy-look-up",
    lie: (seen) => {
      const block = exchangeOf(seen, isStatus(200, /\/block$/))
      const client = block.actor.replace("client ", "")
      const shop = first([seen.shops.find(({ id }) => id === block.shop)])
      const event = first([
        shop.events.find(({ created_at, data }) => Date.parse(created_at) > block.now && data.ticket !== undefined)
      ])
      event.data.ticket!.client = { id: client, display_name: "Amira B." }
    }
  }
]

const findDelivery = (seen: OpenTrace, fits: (delivery: Json) => boolean) => {
  const shop = first(seen.shops.filter(({ deliveries }) => deliveries.some(fits)))
  return { shop, delivery: first([shop.deliveries.find(fits)]) }
}

const idOf = (body: string): string => JSON.parse(body).id

const ofDeliveries: ReadonlyArray<Corruption> = [
  {
    name: "a received delivery is missing from the list",
    rule: "deliveries",
    breaks: "rule-delivery-no-webhook",
    lie: (seen) => void first(seen.shops.filter(({ deliveries }) => deliveries.length > 3)).deliveries.splice(2, 1)
  },
  {
    name: "a delivery counts as delivered without a 2xx",
    rule: "deliveries",
    breaks: "rule-delivery-status-all",
    lie: (seen) => {
      findDelivery(seen, ({ state, attempts }) => state === "delivered" && attempts.length === 1).delivery
        .attempts[0]!.status = 500
    }
  },
  {
    name: "a retry is sent early",
    rule: "deliveries",
    breaks: "rule-delivery-retries",
    lie: (seen) => {
      const { delivery } = findDelivery(
        seen,
        ({ attempts }) =>
          attempts.length >= 2 && Date.parse(attempts[1].started_at) - Date.parse(attempts[0].started_at) === MINUTE
      )
      delivery.attempts[1]!.started_at = shiftInstant(delivery.attempts[1]!.started_at, -1)
    }
  },
  {
    name: "a delivery is abandoned early",
    rule: "deliveries",
    breaks: "rule-delivery-retries",
    lie: (seen) => {
      findDelivery(seen, ({ state, attempts }) => state === "dead" && attempts.length === 8).delivery.attempts.pop()
    }
  },
  {
    name: "a body changes between attempts",
    rule: "deliveries",
    breaks: "rule-event-frozen",
    lie: (seen) => {
      const known = new Set<string>()
      const again = first(
        seen.receptions.filter(({ body }) => {
          const id = idOf(body)
          const isAgain = known.has(id)
          known.add(id)
          return isAgain
        })
      )
      again.body = again.body.replace("{", "{ ")
    }
  },
  {
    name: "a delivery never reached its receiver",
    rule: "deliveries",
    breaks: "rule-delivery-retries",
    lie: (seen) => void seen.receptions.splice(3, 1)
  },
  {
    name: "an event is delivered before an earlier one of its ticket",
    rule: "deliveries",
    breaks: "rule-delivery-order",
    lie: (seen) => {
      const sent = seen.receptions.map(({ body }, i) => ({
        i,
        id: idOf(body),
        ticket: JSON.parse(body).data.ticket?.id
      }))
      const times = new Map<string, number>()
      for (const { id } of sent) times.set(id, (times.get(id) ?? 0) + 1)
      const once = sent.filter(({ id, ticket }) => times.get(id) === 1 && ticket !== undefined)
      const pair = first(
        once.map((early, n) => {
          const late = once.slice(n + 1).find(({ ticket }) => ticket === early.ticket)
          return late === undefined ? undefined : { early, late }
        })
      )
      const [a, b] = [seen.receptions[pair.early.i]!, seen.receptions[pair.late.i]!]
      seen.receptions[pair.early.i] = b
      seen.receptions[pair.late.i] = a
    }
  },
  {
    name: "a webhook is off and its owner was not notified",
    rule: "webhooks",
    breaks: "rule-webhook-gone",
    lie: (seen) => {
      const shop = first(seen.shops.filter(({ webhook }) => webhook?.on === false))
      shop.notices = []
    }
  },
  {
    name: "a delivery has no signature",
    rule: "signatures",
    breaks: "rule-signature",
    lie: (seen) => {
      seen.receptions[0]!.signature = null
    }
  },
  {
    name: "a signature is wrong",
    rule: "signatures",
    breaks: "rule-signature",
    lie: (seen) => {
      const [reception] = seen.receptions
      reception!.signature = reception!.signature!.replace(/.$/, (last) => (last === "0" ? "1" : "0"))
    }
  },
  {
    name: "a signature has another timestamp than its attempt",
    rule: "signatures",
    breaks: "rule-signature",
    lie: (seen) => {
      const [reception] = seen.receptions
      reception!.signature = reception!.signature!.replace(/t=(\d+)/, (_, t) => `t=${Number(t) - 301}`)
    }
  },
  {
    name: "the previous secret does not sign in the 24 hours after its rotation",
    rule: "signatures",
    breaks: "rule-signature",
    lie: (seen) => {
      const twice = first(seen.receptions.filter(({ signature }) => /v1=.*v1=/.test(signature ?? "")))
      twice.signature = twice.signature!.replace(/,v1=[0-9a-f]+$/, "")
    }
  }
]

/** All corruptions that the auditor must report. */
export const corruptions: ReadonlyArray<Corruption> = [...ofShops, ...ofAnswers, ...ofDeliveries]
