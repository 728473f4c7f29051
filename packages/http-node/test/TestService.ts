import { ClientInput, Clients, Closer, Offers, ShopInput, Shops } from "@workshop/core"
import { pipeline, trackingRoutes, workshopRoutes } from "@workshop/core/http"
import { SettableClock } from "@workshop/core/testing"
import { serve } from "@workshop/http-node"
import { Cause, Effect, Exit, ManagedRuntime, Schema, Scope } from "effect"
import { Faults } from "./spec/Faults.js"
import { TestShop } from "./spec/TestShop.js"
import { type ApiResponse, type Call, Wire } from "./spec/Wire.js"
import { layerOf, type Services } from "./TestServiceLayer.js"

/** The time at which the clock of every test service starts, a Friday. */
export const START = "2026-11-20T10:20:42.123Z"

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A valid id that no row has. */
export const NOBODY = "01890000-0000-7000-8000-000000000000"

/** A client's account as the app shows it to the client. */
export interface Person {
  readonly id: string
  readonly phone: string
}

/** The options of a test service. */
interface TestServiceOptions {
  readonly seed?: number
  /** The base URL of the tracking pages, at the root of this test service; null if the pages are off. */
  readonly tracking_base_url?: string | null
}

/**
 * The whole service on a real socket, with a clock that moves only when a test moves it. The tests of a file share one
 * service, and each creates its own shops and clients, because limits count by API key and by shop.
 */
export class TestService {
  readonly clock: SettableClock
  readonly faults: Faults
  readonly wire: Wire
  /** The base URL of the service, for requests whose responses have no envelope. */
  readonly base: string
  /** The log lines of the service. */
  readonly logs: Array<string>
  readonly #runtime: ManagedRuntime.ManagedRuntime<Services, never>
  readonly #close: () => Promise<void>
  #people = 0
  #keys = 0

  private constructor(
    parts: Pick<TestService, "clock" | "faults" | "wire" | "logs" | "base">,
    runtime: ManagedRuntime.ManagedRuntime<Services, never>,
    close: () => Promise<void>
  ) {
    this.clock = parts.clock
    this.faults = parts.faults
    this.wire = parts.wire
    this.base = parts.base
    this.logs = parts.logs
    this.#runtime = runtime
    this.#close = close
  }

  static async open({ seed = 1, tracking_base_url = null }: TestServiceOptions = {}): Promise<TestService> {
    const clock = new SettableClock(Date.parse(START))
    const faults = new Faults()
    const logs: Array<string> = []
    const runtime = ManagedRuntime.make(layerOf(clock, faults, seed, logs, tracking_base_url))
    const scope = await runtime.runPromise(Scope.make())
    const at = await runtime.runPromise(
      Effect.gen(function* () {
        const branch = yield* workshopRoutes({ validateResponses: true })
        const branches = tracking_base_url === null ? [branch] : [branch, yield* trackingRoutes()]
        return yield* serve(yield* pipeline(branches), { host: "127.0.0.1", port: 0, trustProxy: true })
      }).pipe(Scope.extend(scope))
    )
    const wire = new Wire(at.port)
    const base = `http://127.0.0.1:${at.port}`
    return new TestService({ clock, faults, wire, logs, base }, runtime, async () => {
      wire.close()
      await runtime.runPromise(Scope.close(scope, Exit.void))
      await runtime.dispose()
    })
  }

  close(): Promise<void> {
    return this.#close()
  }

  get now(): number {
    return this.clock.unsafeCurrentTimeMillis()
  }

  /** The instant `ms` milliseconds from now, in the format of the API. */
  iso(ms = 0): string {
    return new Date(this.now + ms).toISOString()
  }

  /** Sends a request, and returns the response after checking its envelope. */
  api<D = unknown>(method: string, path: string, call: Call = {}): Promise<ApiResponse<D>> {
    return this.wire.ask<D>(method, path, call)
  }

  /** Runs an act of the app, the owner or a client directly on the services, without HTTP. */
  async act<A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> {
    const exit = await this.#runtime.runPromiseExit(effect)
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
    return exit.value
  }

  /** Runs an act that must be refused, and returns the refusal's tag. */
  async refusal<A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E, Services>): Promise<string> {
    return (await this.act(Effect.flip(effect)))._tag
  }

  /** Creates an approved and active shop with the API and the loyalty programme on, and with a key of all scopes. */
  async shop(settings: Readonly<Record<string, unknown>> = {}): Promise<TestShop> {
    const { name, currency, decimals, time_zone, tracking_base_url, ...patch } = settings
    const input = {
      name: "Atelier Lac",
      currency: "TND",
      decimals: 3,
      time_zone: "Africa/Tunis",
      ...withoutUndefined({ name, currency, decimals, time_zone, tracking_base_url })
    }
    const { id } = await this.act(
      Effect.flatMap(Shops, (shops) => shops.create(Schema.decodeUnknownSync(ShopInput)(input)))
    )
    const shop = new TestShop(this, id)
    const program = { active: true, name: "Stamps", stamps_required: 10, stamps_per_ticket: 1, reward_label: "A hem" }
    await shop.change({ program, ...patch })
    await shop.open(`${this.#keys++}`)
    return shop
  }

  /** Creates a client's account with a new phone number. */
  async client(person: Readonly<Record<string, unknown>> = {}): Promise<Person> {
    const phone = this.phone()
    const input = Schema.decodeUnknownSync(ClientInput)({
      given_name: "Amira",
      family_name: "Ben Salah",
      phone,
      ...person
    })
    const { id } = await this.act(Effect.flatMap(Clients, (clients) => clients.register(input)))
    return { id, phone: input.phone }
  }

  /** A Tunisian mobile number that no account of this service has. */
  phone(): string {
    return `+2162${String(++this.#people).padStart(7, "0")}`
  }

  /** Creates a client whom the shop knows, because the client has visited it. */
  async known(shop: TestShop, person: Readonly<Record<string, unknown>> = {}): Promise<Person> {
    const client = await this.client(person)
    await this.visit(client, shop)
    return client
  }

  visit(client: Person, shop: TestShop): Promise<void> {
    return this.act(Effect.flatMap(Clients, (clients) => clients.visit(client.id as never, shop.id)))
  }

  /** Creates a client whom the shop knew and who then blocked the shop. */
  async blocker(shop: TestShop): Promise<Person> {
    const client = await this.known(shop)
    await this.block(client, shop)
    return client
  }

  /** Offers a ticket of the shop to the client, who then blocks the shop. */
  async block(client: Person, shop: TestShop): Promise<void> {
    await shop.create({ service: "Hem", client_phone: client.phone })
    await this.answerOffer(client, "block")
  }

  /** Accepts the client's newest open offer, or blocks its shop. */
  answerOffer(client: Person, decision: "accept" | "block"): Promise<void> {
    return this.act(
      Effect.flatMap(Offers, (offers) =>
        Effect.flatMap(offers.ofClient(client.id as never), (clientOffers) => {
          const offer = clientOffers.findLast(({ status }) => status === "open")
          return offer === undefined
            ? Effect.dieMessage("No open offer")
            : offers[decision](client.id as never, offer.id)
        })
      )
    )
  }

  /** The client's notifications in the app, oldest first. */
  inbox(client: Person) {
    return this.act(Effect.flatMap(Clients, (clients) => clients.inbox(client.id as never)))
  }

  /** Closes the tickets that are due, and returns their number. */
  closeDue(): Promise<number> {
    return this.act(Effect.flatMap(Closer, (closer) => closer.runOnce))
  }
}

const withoutUndefined = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
