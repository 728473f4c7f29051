import { Effect } from "effect"
import { idOf, needed, type ScenarioShop, type StepBroken } from "./Act.js"
import { dataOf } from "./Exchange.js"
import type { Fields } from "./Fields.js"
import { behaviourOf } from "./machineActs.js"
import { resolve } from "./Names.js"
import type { Scenario } from "./readScenario.js"
import type { GivenClient, GivenShop } from "./Scenario.js"
import type { Stage } from "./Stage.js"

const usualShop = { currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const defined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const openShop = Effect.fnUntraced(function* (stage: Stage, name: string, given: GivenShop) {
  const { keys = {}, webhook, program, name: known = capitalised(name), ...settings } = given
  const { currency, decimals, time_zone, tracking_base_url, ...changes } = settings
  const shop = defined({ currency, decimals, time_zone, tracking_base_url })
  const opening = stage.raw("POST", "/shops", { name: known, ...usualShop, ...shop })
  const opened = dataOf(yield* needed(opening, `given.shops.${name}`)) as {
    readonly shop: { readonly id: string }
    readonly key_id: string
    readonly key: string
  }
  const handle = { ...opened.shop, key_id: opened.key_id, key: opened.key } satisfies ScenarioShop & Fields
  stage.open(name, handle)
  const rights = Object.entries(keys)
  for (const [key, right] of rights) {
    const body = { name: key, ...(typeof right === "string" ? { preset: right } : { scopes: right }) }
    const made = yield* needed(stage.raw("POST", `/shops/${handle.id}/keys`, body), `given.shops.${name}.keys.${key}`)
    stage.name(key, dataOf(made))
  }
  if (webhook !== undefined) {
    const receiver = yield* stage.receiver(handle)
    yield* receiver.behave(behaviourOf(webhook === true ? 200 : webhook))
  }
  const settled = program === undefined ? undefined : { active: true, ...program }
  const patch = defined({ program: settled, ...changes })
  if (Object.keys(patch).length > 0) {
    yield* needed(stage.raw("PATCH", `/shops/${handle.id}`, patch), `given.shops.${name}`)
  }
})

const openAccount = Effect.fnUntraced(function* (stage: Stage, name: string, given: GivenClient) {
  const { knows = [], phone = yield* stage.world.nextPhone, ...rest } = given
  const person = { given_name: capitalised(name), family_name: "Example", phone, ...rest }
  const opened = yield* needed(stage.raw("POST", "/clients", person), `given.clients.${name}`)
  const { id } = dataOf(opened) as { readonly id: string }
  stage.name(name, { id, ...person })
  for (const reference of knows) {
    const shop_id = yield* Effect.flatMap(resolve(reference, stage.names()), idOf)
    yield* needed(stage.raw("POST", `/clients/${id}/visits`, { shop_id }), `given.clients.${name}.knows`)
  }
})

/** Makes what a scenario gives: its shops with their keys and receivers, and its clients. */
export const furnish = (stage: Stage, { shops, clients }: Scenario): Effect.Effect<void, StepBroken> =>
  Effect.zipRight(
    Effect.forEach(shops, ([name, shop]) => openShop(stage, name, shop), { discard: true }),
    Effect.forEach(clients, ([name, client]) => openAccount(stage, name, client), { discard: true })
  )
