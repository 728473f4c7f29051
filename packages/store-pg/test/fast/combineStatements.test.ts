import type { ClientId, ShopId } from "@workshop/core"
import type { Change } from "@workshop/core/store"
import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { BatchChanges } from "../../src/commands/SaveStatements.js"
import { BEGIN, type Connection, connect, ROLLBACK } from "../../src/connection/Connection.js"
import type { Statement } from "../../src/connection/Statement.js"
import { combineStatements } from "../../src/fast/combineStatements.js"
import { testDatabase } from "../cluster/TestDatabase.js"
import { node, runTest } from "../nodes/Node.js"

/** The text with its values in place of its parameters. */
const withValues = ({ text, values }: Statement) => text.replace(/\$(\d+)/g, (_, n) => String(values[Number(n) - 1]))

const statement = fc
  .tuple(fc.constantFrom("put", "remove", "wake"), fc.integer({ min: 0, max: 12 }), fc.nat())
  .map(([verb, count, from]): Statement => {
    const parameters = Array.from({ length: count }, (_, i) => `$${i + 1}`)
    const values = parameters.map((_, i) => `<${from + i}>`)
    return { name: `${verb} ${count}`, text: `${verb} (${[...parameters, parameters[0]].join(", ")})`, values }
  })

const client = fc.integer({ min: 0, max: 3 }).map((n) => `0197d1a0-0000-7000-8000-00000000000${n}` as ClientId)

/** A change of one of four clients or notifications, so that several changes of a run meet in a row. */
const changeOf = (shop_id: ShopId): fc.Arbitrary<Change> =>
  fc.oneof(
    fc.tuple(client, fc.nat({ max: 9 })).map(
      ([client_id, known_at]): Change => ({
        _tag: "LinkPut",
        row: { shop_id, client_id, known_at, blocked_at: null }
      })
    ),
    client.map((client_id) => ({ _tag: "LinkRemoved", row: { shop_id, client_id } }) as unknown as Change),
    fc.tuple(client, fc.nat({ max: 9 })).map(
      ([client_id, balance]): Change => ({
        _tag: "CardPut",
        row: { shop_id, client_id, balance, lifetime: balance, rewards_redeemed: 0, updated_at: 1 }
      })
    ),
    fc.tuple(client, fc.nat({ max: 9 })).map(
      ([id, due_at]) =>
        ({
          _tag: "QueuedNotificationPut",
          row: { shop_id, id, receiver: "owner", attempts_made: 0, due_at }
        }) as unknown as Change
    ),
    client.map((id) => ({ _tag: "QueuedNotificationRemoved", row: { shop_id, id } }) as unknown as Change)
  )

const statementsOf = (changes: ReadonlyArray<Change>, shop_id: ShopId) => {
  const batch = new BatchChanges()
  for (const change of changes) batch.add(change, shop_id)
  return batch.statements()
}

const rows: Statement = {
  name: "rows",
  text: `select (select json_agg(t order by client_id) from workshop.client_link t) as links,
    (select json_agg(t order by client_id) from workshop.loyalty_card t) as cards,
    (select json_agg(t order by id) from workshop.queued_notification t) as notifications`,
  values: []
}

/** The rows after the statements, in a transaction that is rolled back. */
const rowsAfter = ({ send }: Connection, ...statements: ReadonlyArray<Statement>) =>
  Effect.map(send([BEGIN, ...statements, rows, ROLLBACK]), (results) => results.at(-2)!.rows)

describe("a combined statement does what its parts do one after the other", () => {
  it("each part is in the text once, in order, with its own values", () => {
    fc.assert(
      fc.property(fc.array(statement, { minLength: 2, maxLength: 6 }), (parts) => {
        const combined = withValues(combineStatements(parts))
        const ctes = parts.map((part, i) => `part_${i} as (${withValues(part)})`)
        expect(combined.replace(/^with \/\* workshop [^*]* \*\/ /, "")).toBe(`${ctes.join(",\n")}\nselect where false`)
      }),
      { seed: 1127, numRuns: 500 }
    )
  })

  it("a single statement stays as it is, and statements with the same names share one text", () => {
    fc.assert(
      fc.property(fc.array(statement, { minLength: 1, maxLength: 4 }), (parts) => {
        expect(combineStatements([parts[0]!])).toBe(parts[0])
        const { name, text } = combineStatements(parts)
        expect(combineStatements(parts.map((part) => ({ ...part, values: [...part.values] })))).toMatchObject({
          name,
          text
        })
      }),
      { seed: 1127, numRuns: 200 }
    )
  })

  it("the changes of a batch leave the same rows in Postgres", { timeout: 60_000 }, () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const { id: shop_id } = yield* Effect.provide(openShop(), yield* node({ url }))
        const connection = yield* connect({ url, name: "combined", lock_timeout_ms: 1_000 })
        const changes = fc.array(changeOf(shop_id), { minLength: 1, maxLength: 12 })
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(changes, changes, async (before, after) => {
              const existing = statementsOf(before, shop_id)
              const parts = statementsOf(after, shop_id)
              const run = (...statements: ReadonlyArray<Statement>) =>
                Effect.runPromise(rowsAfter(connection, ...existing, ...statements))
              expect(await run(combineStatements(parts))).toEqual(await run(...parts))
            }),
            { seed: 1127, numRuns: 60 }
          )
        )
      })
    )
  )
})
