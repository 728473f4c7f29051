import { Effect, Scope } from "effect"
import type { Doing, ScenarioReceiver, ScenarioShop, StepBroken } from "./Act.js"
import { idOf } from "./Act.js"
import { type Call, dataOf, type Exchange, exchange, isSuccess } from "./Exchange.js"
import { type Names, NameUnknown, resolve } from "./Names.js"
import { type Inbox, type World, WorldBroken } from "./World.js"

/** What a step says of how it is made. */
export interface Manner {
  readonly shop?: string
  readonly key?: string | null
  readonly idempotency_key?: string | null
}

interface ClockView {
  readonly now: string
  readonly frozen: boolean
}

const withKey = (value: unknown): string | null => {
  const key = typeof value === "object" && value !== null ? (value as { key?: unknown }).key : value
  return typeof key === "string" ? key : null
}

const noSandbox = (base: string, { status }: Exchange): string =>
  status === 401
    ? `The sandbox at ${base} asks for its token: give it in WORKSHOP_SANDBOX_TOKEN.`
    : `There is no sandbox at ${base} (${status}): start the service with workshop serve --sandbox --store memory.`

/** Everything that changes while a scenario runs: its names, its clock, its receivers. */
export class Stage {
  readonly #world: World
  readonly #scope: Scope.Scope
  readonly #values = new Map<string, unknown>()
  readonly #inboxes = new Map<string, Inbox>()
  readonly #looked = new Map<string, number>()
  #first: ScenarioShop = { id: "", key: "" }
  #clock: ClockView = { now: "", frozen: false }
  #keys = 0

  constructor(world: World, scope: Scope.Scope) {
    this.#world = world
    this.#scope = scope
  }

  get world(): World {
    return this.#world
  }

  /** What names stand for now; `n` is the place in a repetition. */
  names(n?: number): Names {
    const values = new Map(this.#values)
    return { values: n === undefined ? values : values.set("n", n), now: this.#clock.now }
  }

  name(name: string, value: unknown): void {
    this.#values.set(name, value)
  }

  /** Names a shop; the first is the one that steps mean unless they say otherwise. */
  open(name: string, shop: ScenarioShop): void {
    if (this.#values.size === 0) this.#first = shop
    this.name(name, shop)
  }

  readonly ask = (call: Call): Effect.Effect<Exchange, WorldBroken> => exchange(this.#world, call)

  readonly #bearer = (): Record<string, string> => {
    const token = this.#world.sandbox_token
    return token === null ? {} : { authorization: `Bearer ${token}` }
  }

  readonly raw = (method: string, path: string, body?: unknown): Effect.Effect<Exchange, WorldBroken> =>
    this.ask({ method, path: `/sandbox${path}`, headers: this.#bearer(), ...(body === undefined ? {} : { body }) })

  /** Moves the clock, which answers once all that is due has run. */
  readonly clock = (move: Readonly<Record<string, unknown>>): Effect.Effect<Exchange, WorldBroken> =>
    Effect.tap(this.raw("POST", "/clock", move), (answer) =>
      Effect.sync(() => {
        if (isSuccess(answer)) this.#clock = dataOf(answer) as ClockView
      })
    )

  /** Lets the clock stand while the scenario runs, and go on as before when it ends. */
  readonly begin: Effect.Effect<void, WorldBroken, Scope.Scope> = Effect.gen(this, function* () {
    const before = yield* this.raw("GET", "/clock")
    if (!isSuccess(before)) return yield* new WorldBroken({ message: noSandbox(this.#world.base, before) })
    const { frozen } = dataOf(before) as ClockView
    yield* Effect.acquireRelease(this.clock({ freeze: true }), () =>
      frozen ? Effect.void : Effect.orElseSucceed(this.clock({ freeze: false }), () => undefined)
    )
  })

  /** What is due now runs first, so that an act meets its consequences. */
  readonly sandbox = (method: string, path: string, body?: unknown): Effect.Effect<Exchange, WorldBroken> =>
    Effect.zipRight(this.clock({ advance_ms: 0 }), this.raw(method, path, body))

  /** A clock that runs is read before each step. */
  readonly refresh: Effect.Effect<void, WorldBroken> = Effect.suspend(() =>
    this.#clock.frozen ? Effect.void : Effect.asVoid(this.clock({ advance_ms: 0 }))
  )

  /** The shop's receiver; one that is new is set as the shop's webhook and told its secret. */
  readonly receiver = ({ id }: ScenarioShop): Effect.Effect<ScenarioReceiver, StepBroken> =>
    Effect.gen(this, function* () {
      const known = this.#inboxes.get(id)
      if (known !== undefined) return known
      const inbox = yield* this.#world.openInbox.pipe(Scope.extend(this.#scope))
      const set = yield* this.raw("PUT", `/shops/${id}/webhook`, { url: inbox.url })
      const secret = (dataOf(set) as { secret?: unknown } | undefined)?.secret
      if (typeof secret !== "string") {
        return yield* new NameUnknown({
          message: `the webhook cannot be set: ${set.status} ${JSON.stringify(set.body)}`
        })
      }
      yield* inbox.trust(secret)
      this.#inboxes.set(id, inbox)
      return inbox
    })

  /** What a step is made with. */
  readonly doing = Effect.fnUntraced(function* (this: Stage, manner: Manner, names: Names) {
    const shop = manner.shop === undefined ? this.#first : yield* this.#shop(manner.shop, names)
    const key = manner.key === undefined ? shop.key : yield* this.#key(manner.key, names)
    const given = yield* resolve(manner.idempotency_key ?? null, names)
    this.#keys += 1
    const idempotency_key =
      manner.idempotency_key === undefined ? `scenario-${this.#keys}` : given === null ? null : String(given)
    const place = (list: string) => `${shop.id} ${list}`
    const doing: Doing = {
      names,
      shop,
      key,
      idempotency_key,
      ask: this.ask,
      sandbox: this.sandbox,
      clock: this.clock,
      receiver: this.receiver(shop),
      trust: (secret) => this.#inboxes.get(shop.id)?.trust(secret) ?? Effect.void,
      looked: {
        at: (list) => this.#looked.get(place(list)) ?? 0,
        upTo: (list, n) => void this.#looked.set(place(list), n)
      }
    }
    return doing
  })

  readonly #key = Effect.fnUntraced(function* (reference: string | null, names: Names) {
    if (reference === null) return null
    const key = withKey(yield* resolve(reference, names))
    return key ?? (yield* new NameUnknown({ message: `${reference} has no key: name a shop or a key` }))
  })

  readonly #shop = Effect.fnUntraced(function* (reference: string, names: Names) {
    const value = yield* resolve(reference, names)
    const id = yield* idOf(value)
    return { id, key: withKey(value) ?? "" } satisfies ScenarioShop
  })
}
