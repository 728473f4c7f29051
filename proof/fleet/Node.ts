import {
  ClientNotifier,
  type Clients,
  Closer,
  type DeliveryHistory,
  Dispatcher,
  Entropy,
  type Keys,
  NotificationFailed,
  NotificationSender,
  type Offers,
  OwnerNotifier,
  observing,
  Profanity,
  type Quotes,
  type Sent,
  type Shops,
  type StorePorts,
  StoreUnavailable,
  WebhookSender,
  type Webhooks,
  Workshop
} from "@workshop/core"
import { type HttpResponse, type Pipeline, pipeline, workshopRoutes } from "@workshop/core/http"
import { type Change, Deliveries, Directory, RateLimits, Reads, Store } from "@workshop/core/store"
import { Context, Effect, Either, type Exit, type Fiber, Layer, Logger, LogLevel, Queue, Runtime, Stream } from "effect"
import type { History } from "./History.js"
import { Machine, type World } from "./World.js"

/** What goes wrong between a node and the rest, as the script says: all off by default. */
export interface Faults {
  /** The store cannot be reached. */
  isStoreAway: boolean
  /** The share of calls that fail before the store has done anything. */
  failing: number
  /** The share of commands that are committed and whose answer gets lost. */
  lostAnswers: number
  /** News of changed keys and settings do not come. */
  isDeaf: boolean
  /** The share of notifications that fail. */
  failingNotifiers: number
}

const none = (): Faults => ({ isStoreAway: false, failing: 0, lostAnswers: 0, isDeaf: false, failingNotifiers: 0 })

/** What a node can do for its shops' owners and clients. */
export type Services = Shops | Keys | Webhooks | Offers | Clients | Quotes | DeliveryHistory | Reads

/** What all nodes share: the store, the receivers, and whoever writes down what happens. */
export interface Surroundings {
  readonly world: World
  readonly history: History
  readonly store: Context.Context<StorePorts>
  readonly nodes: Array<Node>
  readonly receive: (
    node: Node,
    post: {
      readonly url: string
      readonly shop_id: string
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    },
    answer: (sent: Sent) => void
  ) => void
}

/** A process of the service: its pipeline, dispatcher, closer and notification sender, over ports that fail now and then. */
export class Node {
  readonly machine: Machine
  readonly faults = none()
  /** Counts faults that hit the node, so that one can tell whether any hit a request. */
  troubles = 0
  readonly #around: Surroundings
  readonly news = Effect.runSync(Queue.unbounded<string | null>())
  #pipe: Pipeline | null = null
  #main: Fiber.RuntimeFiber<unknown, unknown> | null = null
  #isOver = false
  #runtime: Runtime.Runtime<Services> | null = null

  constructor(name: string, around: Surroundings) {
    this.#around = around
    this.machine = new Machine(name, around.world)
    around.nodes.push(this)
  }

  get isUp(): boolean {
    return this.#pipe !== null && !this.machine.isDead
  }

  start(seed: number): void {
    const program = Effect.gen(this, function* () {
      this.#pipe = yield* pipeline([yield* workshopRoutes({ validateResponses: true })])
      this.#runtime = yield* Effect.runtime<Services>()
      const [dispatcher, closer, notifications] = yield* Effect.all([Dispatcher, Closer, NotificationSender])
      yield* Effect.all([dispatcher.run, closer.run, notifications.run], { concurrency: "unbounded" })
    }).pipe(Effect.provide(this.#layer(seed)), Effect.scoped)
    const { history, world } = this.#around
    this.#main = Effect.runFork(program, { scheduler: this.machine })
    this.#main.addObserver((exit) => {
      if (!this.#isOver && !this.machine.isDead)
        history.note({ kind: "crash", at: world.now, node: this.machine.name, what: String(exit) })
    })
  }

  /** Ends it after a run. */
  bury(): void {
    this.#isOver = true
    this.machine.bury()
    if (this.#main !== null) this.#main.unsafeInterruptAsFork(this.#main.id())
  }

  /** Answers a request; `answer` gets null where the node died. */
  ask(request: Parameters<Pipeline>[0], answer: (response: HttpResponse) => void): () => void {
    const fiber = Runtime.runFork(this.#runtime!)(this.#pipe!(request), { scheduler: this.machine })
    fiber.addObserver((exit) => {
      if (exit._tag === "Success") answer(exit.value)
    })
    return () => fiber.unsafeInterruptAsFork(fiber.id())
  }

  /** Does something for an owner or a client. */
  act<A, E>(work: Effect.Effect<A, E, Services>, done: (exit: Exit.Exit<A, E>) => void): void {
    Runtime.runFork(this.#runtime!)(work, { scheduler: this.machine }).addObserver(done)
  }

  /** Lets other fibers run, or hits the call with a fault. */
  readonly #risk = Effect.suspend((): Effect.Effect<void, StoreUnavailable> => {
    const { draws } = this.#around.world
    if (this.faults.isStoreAway || (this.faults.failing > 0 && draws.chance(this.faults.failing))) {
      this.troubles++
      return Effect.fail(new StoreUnavailable({}))
    }
    return draws.chance(0.5) ? this.#wait : Effect.void
  })

  readonly #wait = Effect.suspend(() => Effect.sleep(this.#around.world.draws.between(0, 3)))

  readonly #loseAnswer = Effect.suspend((): Effect.Effect<void, StoreUnavailable> => {
    const { draws } = this.#around.world
    if (this.faults.lostAnswers > 0 && draws.chance(this.faults.lostAnswers)) {
      this.troubles++
      return Effect.fail(new StoreUnavailable({}))
    }
    return draws.chance(0.5) ? this.#wait : Effect.void
  })

  readonly #risky = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E | StoreUnavailable> =>
    this.#risk.pipe(Effect.zipRight(call), Effect.zipLeft(this.#loseAnswer))

  /** The methods of a port that are effects, or make them, at risk. */
  #riskyPort<P extends object>(port: P, plain: ReadonlyArray<string> = []): P {
    return Object.fromEntries(
      Object.entries(port).map(([name, method]) => {
        if (plain.includes(name)) return [name, method]
        if (Effect.isEffect(method)) return [name, this.#risky(method as Effect.Effect<unknown>)]
        return [name, (...given: ReadonlyArray<unknown>) => this.#risky(method(...given))]
      })
    ) as P
  }

  #store(inner: Context.Tag.Service<Store>): Context.Tag.Service<Store> {
    const { history, nodes, world } = this.#around
    const committed = (changes: ReadonlyArray<Change>) => {
      for (const change of changes) history.committed(world.now, this.machine.name, change)
      const about = changes.find(({ _tag }) => _tag === "KeyPut" || _tag === "ShopPut")
      if (about === undefined) return
      const row = about.row as { readonly shop_id?: string; readonly id: string }
      const shop_id = row.shop_id ?? row.id
      for (const node of nodes)
        if (node !== this && !node.faults.isDeaf)
          world.later(world.draws.between(1, 30), () => node.news.unsafeOffer(shop_id), node.machine)
    }
    return {
      transact: (command) =>
        this.#risky(
          Effect.suspend(() => {
            let changes: ReadonlyArray<Change> = []
            const noting: typeof command = {
              ...command,
              run: (state, moment) => {
                // As a store does whose save was rejected: the command decides again, in another moment.
                if (world.draws.chance(0.1))
                  command.run(state, { ...moment, entropy: world.draws.bytes(moment.entropy.length) })
                const decided = command.run(state, moment)
                changes = Either.isRight(decided) ? decided.right.changes : []
                return decided
              }
            }
            return Effect.tap(inner.transact(noting), () => committed(changes))
          })
        )
    }
  }

  #ports(): Context.Context<StorePorts> {
    const { store } = this.#around
    const directory = this.#riskyPort(Context.get(store, Directory), ["news"])
    return store.pipe(
      Context.add(Store, this.#store(Context.get(store, Store))),
      Context.add(Reads, this.#riskyPort(Context.get(store, Reads))),
      Context.add(Deliveries, this.#riskyPort(Context.get(store, Deliveries), ["changed"])),
      Context.add(RateLimits, this.#riskyPort(Context.get(store, RateLimits))),
      Context.add(Directory, { ...directory, news: Stream.fromQueue(this.news) as typeof directory.news })
    )
  }

  #layer(seed: number) {
    const { history, receive, world } = this.#around
    const notify = (to: "client" | "owner") => (told: { readonly id: string; readonly shop_id: string }) =>
      Effect.suspend(() => {
        if (world.draws.chance(this.faults.failingNotifiers)) return Effect.fail(new NotificationFailed({}))
        history.note({ kind: "told", at: world.now, to, id: told.id, shop: told.shop_id })
        return Effect.void
      })
    const sender = Layer.succeed(WebhookSender, {
      send: (post) => Effect.async<Sent>((resume) => receive(this, post, (sent) => resume(Effect.succeed(sent))))
    })
    const services = NotificationSender.Default.pipe(
      Layer.provide(
        Layer.merge(
          Layer.succeed(ClientNotifier, { notify: notify("client") }),
          Layer.succeed(OwnerNotifier, { notify: notify("owner") })
        )
      ),
      Layer.provideMerge(Workshop.layer),
      Layer.provideMerge(observing(Layer.succeedContext(this.#ports()))),
      Layer.provideMerge(Profanity.layer),
      Layer.provideMerge(Entropy.layerSeeded(seed))
    )
    return Dispatcher.layer({ isJittered: false }).pipe(
      Layer.provide(sender),
      Layer.provideMerge(services),
      Layer.provideMerge(Layer.setClock(this.machine.clock)),
      Layer.provideMerge(Logger.minimumLogLevel(LogLevel.None))
    )
  }
}
