import { bodyText } from "@workshop/core/internal"
import { readOnce } from "../readOnce.js"
import { CLIENT_WAITS_MS, type Fleet, type KnownKey, type KnownShop } from "./Fleet.js"
import type { Json } from "./History.js"
import type { Node } from "./Node.js"

/** A request that must get a response: the till repeats it with the same key until it does. */
export interface Open {
  readonly shop: KnownShop
  readonly key: KnownKey
  readonly path: string
  readonly body: Json
  readonly idempotency_key: string
}

interface Request {
  readonly shop: KnownShop
  readonly key: KnownKey
  readonly method: string
  readonly path: string
  readonly query?: string
  readonly body?: Json
  readonly idempotency_key?: string
}

/** The tills of the shops, which send requests with keys and follow the changes of tickets. */
export class Tills {
  readonly open = new Map<string, Open>()
  readonly #fleet: Fleet

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  /** Sends a request to a node. Calls `onAnswer` with null if there is no response. */
  send(
    request: Request,
    onResponse: (status: number | null, response: Json) => void = () => {},
    node: Node = this.#fleet.simulation.draws.oneOf(this.#fleet.up())
  ): void {
    const { simulation, history } = this.#fleet
    const { draws } = simulation
    const { shop, key, method, path, query = "", body, idempotency_key } = request
    const at = simulation.now
    const troubles = node.troublesOf(shop.cell)
    let isOver = false
    const over_ = (status: number | null, headers: Readonly<Record<string, string>>, response: Json) => {
      if (isOver) return
      isOver = true
      const common = { kind: "exchange" as const, at, ended_at: simulation.now, node: node.machine.name }
      const sent = {
        shop: shop.index,
        key: key.id,
        method,
        path,
        query,
        idempotency_key: idempotency_key ?? null,
        body: body ?? null
      }
      const isTroubled = node.troublesOf(shop.cell) > troubles || status === null
      history.exchanges.push({ ...common, ...sent, status, headers, response, isTroubled })
      onResponse(status, response)
    }
    const headers: Readonly<Record<string, string | undefined>> = {
      authorization: `Bearer ${key.text}`,
      "idempotency-key": idempotency_key,
      "content-type": body === undefined ? undefined : "application/json"
    }
    const bytes = new TextEncoder().encode(body === undefined ? "" : JSON.stringify(body))
    simulation.later(
      draws.integerBetween(0, 4),
      () => {
        const cancel = node.ask(
          {
            method,
            path,
            query,
            header: (name) => headers[name],
            repeats: () => false,
            address: "192.0.2.7",
            body: readOnce(bytes)
          },
          (response) => {
            const text = bodyText(response)
            const lower = Object.fromEntries(
              Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value])
            )
            simulation.later(draws.integerBetween(0, 4), () => over_(response.status, lower, JSON.parse(text)))
          }
        )
        // The client disconnects after its timeout. In half of the cases the node notices this and aborts the request.
        simulation.later(CLIENT_WAITS_MS, () => {
          if (!isOver && draws.chance(0.5) && !node.machine.isDead) cancel()
        })
      },
      node.machine
    )
    simulation.later(CLIENT_WAITS_MS, () => over_(null, {}, null))
  }

  /** Sends a request with an Idempotency-Key up to four times, until a node is available and accepts the API key. */
  insist(open: Open, onResponse: (status: number, response: Json) => void = () => {}): void {
    this.open.set(open.idempotency_key, open)
    const send = (left: number) =>
      this.send({ ...open, method: "POST" }, (status, response) => {
        if (status !== null && status !== 503 && status !== 429 && status !== 401 && status !== 403) {
          this.open.delete(open.idempotency_key)
          onResponse(status, response)
        } else if (left > 0)
          this.#fleet.simulation.later(this.#fleet.simulation.draws.integerBetween(50, 1500), () => send(left - 1))
      })
    send(3)
  }

  keyOf(shop: KnownShop, pick: number): KnownKey {
    const good = shop.keys.filter(({ isRevoked }) => !isRevoked)
    // Sometimes a revoked key is used, which the service must refuse.
    return pick % 8 === 0 ? shop.keys[pick % shop.keys.length]! : good[pick % good.length]!
  }

  useEverywhere(shop: KnownShop, key: KnownKey): void {
    for (const node of this.#fleet.up()) this.send({ shop, key, method: "GET", path: "/v1/shop" }, () => {}, node)
  }

  /** Follows a shop's changes page by page, and continues from the last page. */
  follow(shop: KnownShop, pick: number, onEnd: () => void = () => {}): void {
    if (shop.sync.isBusy) return
    shop.sync.isBusy = true
    const page = (left: number) => {
      const { since, cursor } = shop.sync
      const query = new URLSearchParams({ updated_since: since, limit: "3", ...(cursor === null ? {} : { cursor }) })
      this.send(
        { shop, key: this.keyOf(shop, pick * 12 + 1), method: "GET", path: "/v1/tickets", query: query.toString() },
        (status, response) => {
          if (status !== 200) {
            shop.sync.isBusy = false
            return left > 0 ? this.#fleet.simulation.later(900, () => this.follow(shop, pick + 1, onEnd)) : onEnd()
          }
          for (const ticket of response.data) shop.mirror.set(ticket.id, ticket)
          if (response.meta.has_more) {
            shop.sync.cursor = response.meta.next_cursor
            return page(left - 1)
          }
          shop.sync = { since: response.meta.synced_until, cursor: null, isBusy: false }
          onEnd()
        }
      )
    }
    page(200)
  }
}
