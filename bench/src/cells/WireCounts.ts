import pg from "pg"

/** The numbers of statements and round trips of connections. */
export interface WireTraffic {
  readonly statements: number
  readonly round_trips: number
}

interface Wire {
  /** The connection's name in `pg_stat_activity`. */
  benchName?: string
  /** The number of barriers to which the server has not responded. */
  benchOpen?: number
  readonly once: (event: "readyForQuery", listener: () => void) => void
}

type Method = (this: Wire, ...args: Array<unknown>) => unknown

const wires = (pg as unknown as { readonly Connection: { readonly prototype: Record<string, Method> } }).Connection
  .prototype

const sent = new Map<string, { statements: number; round_trips: number }>()

const ofWire = (wire: Wire) => {
  const name = wire.benchName ?? ""
  const counts = sent.get(name) ?? { statements: 0, round_trips: 0 }
  sent.set(name, counts)
  return counts
}

/**
 * Counts a round trip, unless an earlier barrier is still without a response, because both then share one round trip.
 */
const asked = (wire: Wire): void => {
  if ((wire.benchOpen ?? 0) === 0) ofWire(wire).round_trips++
  wire.benchOpen = (wire.benchOpen ?? 0) + 1
}

const before = (method: string, note: (wire: Wire) => void): void => {
  const own = wires[method]!
  wires[method] = function (...args) {
    note(this)
    return own.apply(this, args)
  }
}

let isCounting = false

/**
 * Starts to count the statements and round trips of all connections of this process, by the names of the connections.
 */
export const countWires = (): void => {
  if (isCounting) return
  isCounting = true
  before("execute", (wire) => void ofWire(wire).statements++)
  before("query", (wire) => {
    ofWire(wire).statements++
    asked(wire)
  })
  before("sync", asked)
  const attach = wires.attachListeners!
  wires.attachListeners = function (...args) {
    const addListener = (this as unknown as { on: (event: string, listener: () => void) => void }).on.bind(this)
    addListener("readyForQuery", () => {
      this.benchOpen = Math.max(0, (this.benchOpen ?? 0) - 1)
    })
    return attach.apply(this, args)
  }
  const clients = pg.Client.prototype as unknown as Record<string, (...args: Array<unknown>) => unknown>
  const connect = clients.connect!
  clients.connect = function (
    this: { connection: Wire; connectionParameters: { application_name?: string } },
    ...args: Array<unknown>
  ) {
    this.connection.benchName = this.connectionParameters.application_name ?? ""
    return connect.apply(this as never, args)
  } as (...args: Array<unknown>) => unknown
}

/** The traffic since {@link countWires} of the connections whose names begin with `name`. */
export const sentBy = (name: string): WireTraffic =>
  [...sent].reduce(
    (sum, [of, one]) =>
      of.startsWith(name)
        ? { statements: sum.statements + one.statements, round_trips: sum.round_trips + one.round_trips }
        : sum,
    { statements: 0, round_trips: 0 }
  )
