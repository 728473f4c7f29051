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
  Profanity,
  type Quotes,
  type SendResult,
  type Shops,
  type StorePorts,
  StoreUnavailable,
  WebhookSender,
  type Webhooks,
  Workshop
} from "@workshop/core"
import { type HttpResponse, type Pipeline, pipeline, workshopRoutes } from "@workshop/core/http"
import {
  type Cell,
  type CellsOptions,
  type Change,
  cellPorts,
  Deliveries,
  Directory,
  RateLimits,
  Reads,
  Store
} from "@workshop/core/store"
import {
  Context,
  Effect,
  Either,
  type Exit,
  type Fiber,
  Layer,
  Logger,
  LogLevel,
  Queue,
  Runtime,
  type Scope,
  Stream
} from "effect"
import type { History } from "./History.js"
import { Machine, type Simulation } from "./Simulation.js"

/** The faults of a node's connections to other parts, which the script sets. All are off by default. */
export interface Faults {
  /** True if the store cannot be reached. */
  isStoreUnavailable: boolean
  /** The share of calls that fail before they reach the store. */
  failing: number
  /** The share of calls whose result is lost after the store has executed them. */
  lostAnswers: number
  /** True if notifications of changed keys and settings are lost. */
  dropsNotifications: boolean
  /** The names of the cells that do not respond. */
  readonly unavailableCells: Set<string>
  /** The share of notifications that fail. */
  failingNotifiers: number
}

const none = (): Faults => ({
  isStoreUnavailable: false,
  failing: 0,
  lostAnswers: 0,
  dropsNotifications: false,
  unavailableCells: new Set(),
  failingNotifiers: 0
})

/** The services of a node for its shops' owners and clients. */
export type Services = Shops | Keys | Webhooks | Offers | Clients | Quotes | DeliveryHistory | Reads

/** The parts that all nodes share: the store, the receivers, and the history. */
export interface NodeEnvironment {
  readonly simulation: Simulation
  readonly history: History
  readonly store: Context.Context<StorePorts>
  /** The cells of the store, if it has several. Each node has its own connection to each cell. */
  readonly cells: CellsOptions | null
  readonly nodes: Array<Node>
  readonly receive: (
    node: Node,
    post: {
      readonly url: string
      readonly shop_id: string
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    },
    onResult: (sent: SendResult) => void
  ) => void
}

/**
 * A process of the service: its pipeline, dispatcher, closer and notification sender, over ports that sometimes fail.
 */
export class Node {
  readonly machine: Machine
  readonly faults = none()
  /** The number of faults that hit the node, from which the judge sees whether a fault hit a request. */
  #troubles = 0
  readonly #troublesOfCells = new Map<string, number>()
  readonly #around: NodeEnvironment
  readonly changedShops = Effect.runSync(Queue.unbounded<string | null>())
  #pipe: Pipeline | null = null
  #main: Fiber.RuntimeFiber<unknown, unknown> | null = null
  #isOver = false
  #runtime: Runtime.Runtime<Services> | null = null

  constructor(name: string, around: NodeEnvironment) {
    this.#around = around
    this.machine = new Machine(name, around.simulation)
    around.nodes.push(this)
  }

  get isUp(): boolean {
    return this.#pipe !== null && !this.machine.isDead
  }

  /**
   * The number of faults that can affect a shop in this cell: faults of the node, of this cell and of the home cell.
   */
  troublesOf(cell: string | null): number {
    const cells = new Set([cell, this.#around.cells?.cells[0].name])
    const counts = [...cells].map((name) => this.#troublesOfCells.get(name ?? "") ?? 0)
    return counts.reduce((sum, count) => sum + count, this.#troubles)
  }

  start(seed: number): void {
    const program = Effect.gen(this, function* () {
      this.#pipe = yield* pipeline([yield* workshopRoutes({ validateResponses: true })])
      this.#runtime = yield* Effect.runtime<Services>()
      const [dispatcher, closer, notifications] = yield* Effect.all([Dispatcher, Closer, NotificationSender])
      yield* Effect.all([dispatcher.run, closer.run, notifications.run], { concurrency: "unbounded" })
    }).pipe(Effect.provide(this.#layer(seed)), Effect.scoped)
    const { history, simulation } = this.#around
    this.#main = Effect.runFork(program, { scheduler: this.machine })
    this.#main.addObserver((exit) => {
      if (!this.#isOver && !this.machine.isDead)
        history.note({ kind: "crash", at: simulation.now, node: this.machine.name, what: String(exit) })
    })
  }

  /** Stops the node after a run. */
  finish(): void {
    this.#isOver = true
    this.machine.finish()
    if (this.#main !== null) this.#main.unsafeInterruptAsFork(this.#main.id())
  }

  /**
   * Handles a request. Calls `onResponse` with the response, but never if the node dies. Returns a function that aborts the
   * request.
   */
  ask(request: Parameters<Pipeline>[0], onResponse: (response: HttpResponse) => void): () => void {
    const fiber = Runtime.runFork(this.#runtime!)(this.#pipe!(request), { scheduler: this.machine })
    fiber.addObserver((exit) => {
      if (exit._tag === "Success") onResponse(exit.value)
    })
    return () => fiber.unsafeInterruptAsFork(fiber.id())
  }

  /** Runs an action of an owner or a client. */
  act<A, E>(work: Effect.Effect<A, E, Services>, done: (exit: Exit.Exit<A, E>) => void): void {
    Runtime.runFork(this.#runtime!)(work, { scheduler: this.machine }).addObserver(done)
  }

  readonly #wait = Effect.suspend(() => Effect.sleep(this.#around.simulation.draws.integerBetween(0, 3)))

  /** Fails with the probability of `share`. Otherwise lets other fibers run first with the probability `waits`. */
  #risk(waits: number, share: (faults: Faults) => number): Effect.Effect<void, StoreUnavailable> {
    return Effect.suspend((): Effect.Effect<void, StoreUnavailable> => {
      const { draws } = this.#around.simulation
      const failing = share(this.faults)
      if (failing > 0 && draws.chance(failing)) {
        this.#troubles++
        return Effect.fail(new StoreUnavailable({}))
      }
      return draws.chance(waits) ? this.#wait : Effect.void
    })
  }

  #atRiskOf(waits: number) {
    const before = this.#risk(waits, ({ isStoreUnavailable, failing }) => (isStoreUnavailable ? 1 : failing))
    const after = this.#risk(waits, ({ lostAnswers }) => lostAnswers)
    return <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E | StoreUnavailable> =>
      before.pipe(Effect.zipRight(call), Effect.zipLeft(after))
  }

  readonly #risky = this.#atRiskOf(0.5)

  /**
   * The node queries the queue five times as often as all other ports together. It rarely waits there, because a run
   * would otherwise take twice as long.
   */
  readonly #rarelyWaiting = this.#atRiskOf(0.1)

  /**
   * A port whose methods are wrapped by `how`, if they are effects or return them. The methods in `plain` are
   * unchanged.
   */
  #changed<P extends object>(
    port: P,
    wrap: (call: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>,
    plain: ReadonlyArray<string> = []
  ): P {
    return Object.fromEntries(
      Object.entries(port).map(([name, method]) => {
        if (plain.includes(name)) return [name, method]
        if (Effect.isEffect(method)) return [name, wrap(method as Effect.Effect<unknown>)]
        return [name, (...args: ReadonlyArray<unknown>) => wrap(method(...args))]
      })
    ) as P
  }

  /** A cell over the connection of this node, which the script can make unavailable. */
  readonly #reached = ({ name, ports }: Cell): Cell => {
    const { draws } = this.#around.simulation
    const wrap = <A, E>(call: Effect.Effect<A, E>) =>
      Effect.suspend((): Effect.Effect<A, E | StoreUnavailable> => {
        if (this.faults.unavailableCells.has(name)) {
          this.#troublesOfCells.set(name, (this.#troublesOfCells.get(name) ?? 0) + 1)
          return Effect.fail(new StoreUnavailable({}))
        }
        return draws.chance(0.1) ? Effect.zipRight(this.#wait, call) : call
      })
    const services = [...ports.unsafeMap].map(
      ([tag, port]) => [tag, this.#changed(port, wrap as never, ["changedShops", "changed", "join"])] as const
    )
    return { name, ports: Context.unsafeMake(new Map(services)) }
  }

  #store(inner: Context.Tag.Service<Store>): Context.Tag.Service<Store> {
    const { history, nodes, simulation } = this.#around
    const committed = (changes: ReadonlyArray<Change>) => {
      for (const change of changes) history.committed(simulation.now, this.machine.name, change)
      const about = changes.find(({ _tag }) => _tag === "KeyPut" || _tag === "ShopPut")
      if (about === undefined) return
      const row = about.row as { readonly shop_id?: string; readonly id: string }
      const shop_id = row.shop_id ?? row.id
      for (const node of nodes)
        if (node !== this && !node.faults.dropsNotifications)
          simulation.later(
            simulation.draws.integerBetween(1, 30),
            () => node.changedShops.unsafeOffer(shop_id),
            node.machine
          )
    }
    return {
      transact: (command) =>
        this.#risky(
          Effect.suspend(() => {
            let changes: ReadonlyArray<Change> = []
            const noting: typeof command = {
              ...command,
              run: (state, moment) => {
                // A store whose save was rejected lets the command decide again with other entropy.
                if (simulation.draws.chance(0.1))
                  command.run(state, { ...moment, entropy: simulation.draws.bytes(moment.entropy.length) })
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

  /** The ports of the store with the faults of this node. */
  readonly #atRisk = (store: Context.Context<StorePorts>): Context.Context<StorePorts> => {
    const directory = this.#changed(Context.get(store, Directory), this.#risky, ["changedShops"])
    return store.pipe(
      Context.add(Store, this.#store(Context.get(store, Store))),
      Context.add(Reads, this.#changed(Context.get(store, Reads), this.#risky)),
      Context.add(Deliveries, this.#changed(Context.get(store, Deliveries), this.#rarelyWaiting, ["changed"])),
      Context.add(RateLimits, this.#changed(Context.get(store, RateLimits), this.#risky)),
      Context.add(Directory, {
        ...directory,
        changedShops: Stream.fromQueue(this.changedShops) as typeof directory.changedShops
      })
    )
  }

  readonly #ports: Effect.Effect<Context.Context<StorePorts>, never, Scope.Scope> = Effect.suspend(() => {
    const { cells: options, store } = this.#around
    if (options === null) return Effect.succeed(this.#atRisk(store))
    const { cells, directory } = options
    const [home, ...others] = cells
    const reached = [this.#reached(home), ...others.map(this.#reached)] as const
    return Effect.map(cellPorts({ cells: reached, directory }), this.#atRisk)
  })

  #layer(seed: number) {
    const { history, receive, simulation } = this.#around
    const notify = (to: "client" | "owner") => (row: { readonly id: string; readonly shop_id: string }) =>
      Effect.suspend(() => {
        if (simulation.draws.chance(this.faults.failingNotifiers)) return Effect.fail(new NotificationFailed({}))
        history.note({ kind: "notified", at: simulation.now, to, id: row.id, shop: row.shop_id })
        return Effect.void
      })
    const sender = Layer.succeed(WebhookSender, {
      send: (post) => Effect.async<SendResult>((resume) => receive(this, post, (sent) => resume(Effect.succeed(sent))))
    })
    const services = NotificationSender.Default.pipe(
      Layer.provide(
        Layer.merge(
          Layer.succeed(ClientNotifier, { notify: notify("client") }),
          Layer.succeed(OwnerNotifier, { notify: notify("owner") })
        )
      ),
      Layer.provideMerge(Workshop.layer),
      Layer.provideMerge(Layer.scopedContext(this.#ports)),
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
