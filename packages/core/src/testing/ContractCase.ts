import { Data, Effect } from "effect"
import type { YieldWrap } from "effect/Utils"
import type { TicketRecord } from "../domain/Ticket.js"
import type { Entropy } from "../ports/Entropy.js"
import {
  AuditLog,
  Closures,
  Deliveries,
  DeliveryLog,
  Directory,
  NotificationQueue,
  PersonalData,
  RateLimits,
  Reads,
  Store,
  type StorePorts
} from "../ports/StorePorts.js"
import { openShop } from "./Fixtures.js"
import { RiggedEntropy } from "./RiggedEntropy.js"
import { SettableClock, TEST_START } from "./SettableClock.js"
import { TestDispatcher } from "./TestDispatcher.js"

/**
 * One guarantee of the store: its name, and an effect that fails if the store violates it. A case opens its own shops
 * and clients, so several cases can run on one store, even if it has other data. Run one case at a time, with a
 * `SettableClock` and a `RiggedEntropy`, because a case sets both.
 */
export interface ContractCase {
  /** The guarantee as a sentence, for the title of a test. */
  readonly name: string
  /** Fails with a description of the difference, or dies, if the store violates the guarantee. */
  readonly effect: Effect.Effect<void, unknown, StorePorts | Entropy>
}

/** The store violates a guarantee. */
export class ContractBroken extends Data.TaggedError("ContractBroken")<{ readonly message: string }> {}

const openBench = Effect.gen(function* () {
  const clock = yield* SettableClock.current
  clock.set(TEST_START)
  const ports = yield* Effect.all({
    store: Store,
    reads: Reads,
    directory: Directory,
    deliveries: Deliveries,
    deliveryLog: DeliveryLog,
    auditLog: AuditLog,
    closures: Closures,
    notificationQueue: NotificationQueue,
    personalData: PersonalData,
    limits: RateLimits
  })
  const [entropy, shop] = [yield* RiggedEntropy.current, yield* openShop()]
  return { ...ports, clock, start: clock.unsafeCurrentTimeMillis(), entropy, shop, dispatcher: new TestDispatcher() }
})

/** The store's ports, a clock set to `start`, the entropy, and a new `shop` for the case. */
export type CaseFixture = Effect.Effect.Success<typeof openBench>

type Step = YieldWrap<Effect.Effect<unknown, unknown, StorePorts | Entropy>>

/** The cases of one subject, by their names. */
export const makeCases = (
  bodies: Record<string, (bench: CaseFixture) => Generator<Step, void>>
): ReadonlyArray<ContractCase> =>
  Object.entries(bodies).map(([name, body]) => ({
    name,
    effect: Effect.flatMap(openBench, (bench) =>
      Effect.ensuring(
        Effect.gen<Step, void>(() => body(bench)),
        Effect.orDie(bench.dispatcher.close)
      )
    )
  }))

/** Prints a value with its fields sorted, so that equal values have equal texts. */
const formatValue = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`
  if (value instanceof Set) return formatValue([...value])
  if (typeof value === "object" && value !== null && !(value instanceof Error)) {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${fields.map(([name, field]) => `${name}: ${formatValue(field)}`).join(", ")}}`
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

/** Fails unless two values are equal, field by field. */
export const expectSame = (what: string, actual: unknown, expected: unknown): Effect.Effect<void, ContractBroken> => {
  const [found, wanted] = [formatValue(actual), formatValue(expected)]
  return expectThat(`${what}\n  expected ${wanted}\n  but got  ${found}`, found === wanted)
}

/** Fails with this text unless the condition is true. */
export const expectThat = (what: string, condition: boolean): Effect.Effect<void, ContractBroken> =>
  condition ? Effect.void : Effect.fail(new ContractBroken({ message: what }))

/** Returns one field of each row, or for several field names a list of these fields for each row. */
export const pluck: {
  <T, K extends keyof T>(rows: ReadonlyArray<T> | undefined, field: K): Array<T[K]>
  <T>(rows: ReadonlyArray<T> | undefined, ...fields: ReadonlyArray<keyof T>): Array<Array<T[keyof T]>>
} = <T>(rows: ReadonlyArray<T> = [], ...fields: ReadonlyArray<keyof T>): Array<never> =>
  rows.map((row) => (fields.length === 1 ? row[fields[0]!] : fields.map((field) => row[field]))) as Array<never>

/** The ids of the tickets that a read returned. */
export const ticketIds = (tickets: ReadonlyArray<{ readonly record: TicketRecord }>): ReadonlyArray<string> =>
  tickets.map(({ record }) => record.id)
