import type { CallName } from "../../testkit/Calls.js"
import type { EventJson } from "../../testkit/ResponseTypes.js"
import { DAY } from "../../testkit/Time.js"
import {
  type Activity,
  drawKnownTicket,
  drawTicket,
  type HeldKey,
  type KnownClient,
  type KnownShop,
  type KnownTicket,
  type PlanContext,
  type PlannedRequest,
  planRequest,
  rememberTicket,
  successData
} from "../Actors.js"
import { type ReceiverBehaviour, receiverBehaviours } from "../Observers.js"

type Requests = ReadonlyArray<PlannedRequest>

const planInShop =
  (plan: (shop: KnownShop, planning: PlanContext) => Requests | null): Activity["plan"] =>
  (planning) => {
    const shop = planning.dice.pick(planning.actors.shops)
    return shop === undefined ? null : plan(shop, planning)
  }

const planOnTicket = (
  plan: (shop: KnownShop, ticket: KnownTicket, planning: PlanContext) => Requests
): Activity["plan"] =>
  planInShop((shop, planning) => {
    const ticket = drawKnownTicket(shop, planning.dice)
    return ticket === undefined ? null : plan(shop, ticket, planning)
  })

const planInApp = (shop: KnownShop, action: string, call: CallName, id: string, body: unknown): PlannedRequest => ({
  ...planRequest("app", action, shop.id, [call, id, body]),
  onResponse: rememberTicket(shop)
})

const planOnTicketInApp = (
  action: string,
  call: CallName,
  bodyOf: (planning: PlanContext, ticket: KnownTicket) => unknown
): Activity["plan"] =>
  planOnTicket((shop, ticket, planning) => [planInApp(shop, action, call, ticket.id, bodyOf(planning, ticket))])

const planCreationInApp = (planning: PlanContext, times: number): Requests | null => {
  const shop = planning.dice.pick(planning.actors.shops)
  if (shop === undefined) return null
  return Array.from({ length: times }, () =>
    planInApp(shop, "create in the app", "create in app", shop.id, drawTicket(planning))
  )
}

/** Activities of the shop in its app (Specification, Sandbox). */
const appActivities: ReadonlyArray<Activity> = [
  { weight: 5, plan: (planning) => planCreationInApp(planning, 1) },
  { weight: 0.15, plan: (planning) => planCreationInApp(planning, planning.dice.integerBetween(40, 170)) },
  {
    weight: 4,
    plan: planOnTicketInApp("quote", "propose quote", ({ dice }, { deposit_minor }) => ({
      price_minor: deposit_minor + dice.integerBetween(0, 50_000),
      note: "A new price"
    }))
  },
  {
    weight: 2,
    plan: planOnTicketInApp("edit", "edit ticket", ({ actors }) => ({ description: actors.freshName("note") }))
  },
  {
    weight: 2,
    plan: planOnTicketInApp("delay", "announce delay", ({ actors, dice }) => ({
      promised_at: new Date(actors.now + dice.integerBetween(1, 20) * DAY).toISOString(),
      reason: "The part"
    }))
  },
  {
    weight: 2,
    plan: planOnTicketInApp("part", "record part", ({ dice }) => ({
      label: "Zip",
      status: dice.oneOf(["ordered", "received"])
    }))
  },
  {
    weight: 1,
    plan: planOnTicketInApp("photo", "attach photo", ({ actors }) => ({
      photo_url: `https://photos.example.com/${actors.freshName("photo")}.jpg`
    }))
  }
]

const GIVEN_NAMES = ["Amira", "Karim", "Leila", "Sami", "Nour", "Hedi"] as const

/** A client opens an account. */
export const planRegistration = ({ actors, dice }: PlanContext): PlannedRequest => {
  const phone = actors.freshPhone()
  const body = { given_name: dice.oneOf(GIVEN_NAMES), family_name: "Ben Salah", phone, hide_name: dice.chance(0.3) }
  const onResponse: PlannedRequest["onResponse"] = (response) => {
    const created = successData<{ readonly id: string }>(response)
    if (created !== null) actors.clients.push({ id: created.id, phone, offers: [] })
  }
  return { ...planRequest("client", "register", null, ["register", "", body]), onResponse }
}

const planByClient = (
  { id }: KnownClient,
  action: string,
  shop: string | null,
  call: CallName,
  target = id,
  body?: unknown
) => planRequest(`client ${id}`, action, shop, [call, target, body])

/** A client visits a shop, which then knows the client. */
export const planVisit = (client: KnownClient, shop: KnownShop): PlannedRequest =>
  planByClient(client, "visit", shop.id, "visit", client.id, { shop_id: shop.id })

const planLookAtOffers = (client: KnownClient): PlannedRequest => ({
  ...planByClient(client, "look at offers", null, "get offers"),
  onResponse: (response) => {
    const offers =
      successData<ReadonlyArray<{ readonly id: string; readonly shop_id: string; readonly status: string }>>(response)
    client.offers = (offers ?? [])
      .filter(({ status }) => status === "open")
      .map(({ id, shop_id }) => ({ id, shop: shop_id }))
  }
})

const answerOffer: Activity["plan"] = ({ actors, dice }) => {
  const client = dice.pick(actors.clients)
  if (client === undefined) return null
  const offer = dice.pick(client.offers)
  if (offer === undefined) return [planLookAtOffers(client)]
  const isAccepted = dice.chance(0.93)
  const copies = dice.chance(0.1) ? 2 : 1
  const [action, call] = isAccepted
    ? (["accept an offer", "accept offer"] as const)
    : (["block a shop", "block shop"] as const)
  const onResponse = () => {
    client.offers = client.offers.filter(({ id }) => id !== offer.id)
  }
  return Array.from({ length: copies }, () => ({
    ...planByClient(client, action, offer.shop, call, offer.id),
    onResponse
  }))
}

/** Activities of clients (Specification, Sandbox). */
const clientActivities: ReadonlyArray<Activity> = [
  { weight: 0.5, plan: (planning) => (planning.actors.clients.length < 40 ? [planRegistration(planning)] : null) },
  {
    weight: 3,
    plan: ({ actors, dice }) => {
      const [client, shop] = [dice.pick(actors.clients), dice.pick(actors.shops)]
      return client === undefined || shop === undefined ? null : [planVisit(client, shop)]
    }
  },
  { weight: 12, plan: answerOffer },
  {
    weight: 5,
    plan: planOnTicket((shop, { id }, { dice }) => {
      const decision = dice.chance(0.7) ? "accept" : "refuse"
      return [planRequest("client", `${decision} a quote`, shop.id, [`${decision} quote`, id])]
    })
  }
]

/** The largest number of active keys of a shop (Specification, Keys and scopes). */
export const MAX_KEYS = 5

const planByOwner = ({ id }: KnownShop, action: string, call: CallName, body?: unknown, target = id): PlannedRequest =>
  planRequest("owner", action, id, [call, target, body])

/** The owner creates a key. */
export const planKey = (shop: KnownShop, preset: "full" | "read", action = "make a key"): PlannedRequest => ({
  ...planByOwner(shop, action, "create key", { name: "Till", preset }),
  onResponse: (response) => {
    const created = successData<{ readonly id: string; readonly key: string }>(response)
    if (created !== null) shop.keys.push({ id: created.id, text: created.key, scopes: preset, isRevoked: false })
  }
})

/** The owner revokes a key. */
export const planRevocation = (shop: KnownShop, key: HeldKey): PlannedRequest => ({
  ...planByOwner(shop, "revoke a key", "revoke key", undefined, key.id),
  onResponse: () => {
    key.isRevoked = true
  }
})

/** The owner turns a flag of the shop on again. */
export const planSwitchOn = (shop: KnownShop, flag: string): PlannedRequest => ({
  ...planByOwner(shop, "switch on", "change shop", { [flag]: true }),
  onResponse: () => {
    shop.offFlag = null
  }
})

/** The owner sets the webhook to the shop's receiver. */
export const planWebhook = (shop: KnownShop, { receiverOf }: PlanContext): PlannedRequest => ({
  ...planByOwner(shop, "set a webhook", "set webhook", { url: receiverOf(shop.id) }),
  onResponse: () => {
    shop.isWebhookSet = true
  }
})

const planOnWebhook = (
  action: string,
  call: CallName,
  bodyOf: (shop: KnownShop, planning: PlanContext) => unknown = () => {}
) =>
  planInShop((shop, planning) => (shop.isWebhookSet ? [planByOwner(shop, action, call, bodyOf(shop, planning))] : null))

const STATES = ["dead", "delivered", "parked", "pending"] as const

const changeKeys = planInShop((shop, { dice }) => {
  const active = shop.keys.filter(({ isRevoked }) => !isRevoked)
  if (active.length >= MAX_KEYS && dice.chance(0.3)) return [planKey(shop, "read", "a key too many")]
  if (active.length < 3 || (active.length < MAX_KEYS && dice.chance(0.5)))
    return [planKey(shop, dice.chance(0.75) ? "full" : "read")]
  const key = dice.pick(active)
  return key === undefined ? null : [planRevocation(shop, key)]
})

const lookAtEvents = planInShop((shop) => [
  {
    ...planByOwner(shop, "look at events", "list events"),
    onResponse: (response) => {
      const events = successData<ReadonlyArray<EventJson>>(response) ?? []
      shop.events.splice(0, shop.events.length, ...events.slice(-20).map(({ id }) => id))
    }
  }
])

const changeProgram = planInShop((shop, { dice }) => {
  const program = {
    active: dice.chance(0.8),
    stamps_required: dice.integerBetween(2, 12),
    stamps_per_ticket: dice.integerBetween(0, 3)
  }
  return [planByOwner(shop, "change the programme", "change shop", { program })]
})

const switchOn: Activity["plan"] = ({ actors }) => {
  const shop = actors.shops.find(({ offFlag }) => offFlag !== null)
  return shop?.offFlag === undefined || shop.offFlag === null ? null : [planSwitchOn(shop, shop.offFlag)]
}

const switchOff = planInShop((shop, { dice }) => {
  if (shop.offFlag !== null) return null
  const flag = dice.oneOf(["active", "approved", "api_enabled"])
  const onResponse = () => {
    shop.offFlag = flag
  }
  return [{ ...planByOwner(shop, "switch off", "change shop", { [flag]: false }), onResponse }]
})

/** Activities of the owner, most of which are alone at their instant (Specification, Sandbox). */
const ownerActivities: ReadonlyArray<Activity> = [
  { weight: 2, isAlone: true, plan: changeKeys },
  { weight: 0.8, isAlone: true, plan: planOnWebhook("rotate the secret", "rotate secret") },
  { weight: 1.5, isAlone: true, plan: planOnWebhook("turn the webhook on", "enable webhook") },
  { weight: 1, plan: planOnWebhook("ping", "ping") },
  {
    weight: 0.7,
    isAlone: true,
    plan: planOnWebhook("replay", "replay events", ({ events }, { dice }) =>
      events.length > 0 && dice.chance(0.5) ? { event_ids: [dice.pick(events)] } : { state: dice.oneOf(STATES) }
    )
  },
  { weight: 0.5, plan: lookAtEvents },
  { weight: 0.8, isAlone: true, plan: changeProgram },
  { weight: 8, isAlone: true, plan: switchOn },
  { weight: 0.4, isAlone: true, plan: switchOff }
]

const BAD_MOODS = (Object.keys(receiverBehaviours) as ReadonlyArray<ReceiverBehaviour>).filter(
  (behaviour) => behaviour !== "well"
)

/** Activities of receivers, which fail and recover, and of shops that set their webhook late. */
const receiverActivities: ReadonlyArray<Activity> = [
  {
    weight: 3,
    isAlone: true,
    plan: planInShop((shop, { dice, receivers }) => {
      receivers.setBehaviour(shop.id, dice.chance(0.55) ? "well" : (dice.pick(BAD_MOODS) ?? "well"))
      return []
    })
  },
  { weight: 0.5, isAlone: true, plan: planInShop((shop, planning) => [planWebhook(shop, planning)]) }
]

/** All activities through the sandbox, with their weights. */
export const sandboxActivities: ReadonlyArray<Activity> = [
  ...appActivities,
  ...clientActivities,
  ...ownerActivities,
  ...receiverActivities
]
