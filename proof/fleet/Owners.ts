import { KeyInput, Keys, Offers, ShopPatch, Shops, Webhooks } from "@workshop/core"
import { scopePresets } from "@workshop/core/internal"
import { type Effect, Exit, Schema, type Types } from "effect"
import { CLIENT_WAITS_MS, type Fleet, type KnownShop } from "./Fleet.js"
import type { Json } from "./History.js"
import type { Services } from "./Node.js"

/** The actions of owners and clients in the app. */
export class Owners {
  readonly #fleet: Fleet

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  act<A, E>(
    shop: KnownShop | undefined,
    act: string,
    about: Json,
    work: Effect.Effect<A, E, Services>,
    onDone: (result: Types.NoInfer<A>) => void = () => {},
    tries = 0
  ): void {
    const { simulation, history } = this.#fleet
    const node = simulation.draws.oneOf(this.#fleet.up())
    const at = simulation.now
    let isOver = false
    const over_ = (outcome: "done" | "refused" | "unknown", result: Json) => {
      if (isOver) return
      isOver = true
      history.acts.push({
        kind: "act",
        at,
        ended_at: simulation.now,
        node: node.machine.name,
        shop: shop?.index ?? -1,
        act,
        about,
        outcome,
        response: result
      })
      if (outcome === "done") onDone(result)
      else if (outcome === "unknown" && tries > 0) this.act(shop, act, about, work, onDone, tries - 1)
    }
    simulation.later(
      0,
      () =>
        node.act(work, (exit) => {
          if (Exit.isSuccess(exit)) return over_("done", exit.value)
          const failure: Json = exit.cause._tag === "Fail" ? exit.cause.error : exit.cause
          over_(failure._tag === "StoreUnavailable" || exit.cause._tag !== "Fail" ? "unknown" : "refused", failure)
        }),
      node.machine
    )
    simulation.later(CLIENT_WAITS_MS, () => over_("unknown", null))
  }

  patch(shop: KnownShop, patch: Json): void {
    const input = Schema.decodeUnknownSync(ShopPatch)(patch)
    this.act(shop, "change", patch, Shops.change(shop.id as never, input), () => {}, 20)
  }

  turnOn(shop: KnownShop, tries = 0): void {
    this.act(shop, "turn on", {}, Webhooks.enable(shop.id as never), () => {}, tries)
  }

  setAddress(shop: KnownShop, tries = 0): void {
    const url = `https://${this.#fleet.fresh("receiver")}.example.com/${shop.index}`
    this.act(shop, "address", { url }, Webhooks.set(shop.id as never, url as never), () => {}, tries)
  }

  makeKey(shop: KnownShop): void {
    const input = KeyInput.make({ name: this.#fleet.fresh("key"), scopes: [...scopePresets.full] })
    const created = Keys.create(shop.id as never, input)
    this.act(shop, "make a key", {}, created, ({ record, key }) =>
      shop.keys.push({ id: record.id, text: key, isRevoked: false })
    )
  }

  answerOffer(decision: "accept" | "block", a: number, b: number): void {
    const client = this.#fleet.client(a)
    const find = Offers.ofClient(client.id as never)
    this.act(undefined, "look at offers", { client: client.id }, find, (all) => {
      const open = all.filter(({ status }) => status === "open")
      const offer = open[b % Math.max(1, open.length)]
      if (offer === undefined) return
      const shop = this.#fleet.shops.find(({ id }) => id === offer.shop_id)
      const about = { client: client.id, ticket: offer.ticket_id }
      this.act(shop, decision, about, Offers[decision](client.id as never, offer.id))
    })
  }
}
