import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { openShop } from "../../core/src/testing/Fixtures.js"
import { create, database, node, runTest } from "./nodes/Node.js"

const NO_SHOP = "01890000-0000-7000-8000-000000000001"

/** Invalid writes that an import script, an operator or a bug might make, each with the constraint that refuses it. */
const refused: ReadonlyArray<readonly [what: string, sql: string, constraint: string]> = [
  ["a state that does not exist", "update ticket set state = 'lost'", "ticket_state_known"],
  ["a number above 9999", "update ticket set number = 10000", "ticket_number_range"],
  ["a deposit above the price", "update ticket set price_minor = 1, deposit_minor = 2", "ticket_deposit_within_price"],
  ["an abandoned ticket without abandoned_at", "update ticket set state = 'abandoned'", "ticket_abandoned_whole"],
  ["two tickets with one change_seq", "update ticket set change_seq = 1", "ticket_change"],
  ["a next number above 9999", "update shop_head set next_number = 10000", "shop_head_next_number_range"],
  ["an unknown currency code", "update shop set currency = 'euro'", "shop_currency_code"],
  [
    "a second ledger entry for one ticket",
    `insert into loyalty_ledger select '${NO_SHOP}', gen_random_uuid(), gen_random_uuid(), 'ticket', 1, '${NO_SHOP}', null, 0 from generate_series(1, 2)`,
    "loyalty_ledger_earned"
  ],
  [
    "a card with a negative balance",
    `insert into loyalty_card values ('${NO_SHOP}', gen_random_uuid(), -1, 0, 0, null)`,
    "loyalty_card_balance_range"
  ],
  [
    "a second open offer of one ticket",
    `insert into offer (shop_id, id, ticket_id, phone, status, created_at)
      select '${NO_SHOP}', gen_random_uuid(), '${NO_SHOP}', '+1', 'open', 0 from generate_series(1, 2)`,
    "offer_open"
  ]
]

describe("rows that the service's rules never produce", () => {
  it.concurrent.each(refused)(
    "a constraint refuses %s",
    (_, sql, constraint) =>
      runTest(
        Effect.gen(function* () {
          const { url, session } = yield* database
          const ports = yield* node({ url })
          const { id } = yield* Effect.provide(openShop(), ports)
          yield* Effect.provide(Effect.zipRight(create(id), create(id)), ports)
          const error = yield* Effect.flip(session.run(sql))
          expect([error.code, error.message]).toEqual([
            expect.stringMatching(/^(23514|23505)$/),
            expect.stringContaining(`"${constraint}"`)
          ])
        })
      ),
    60_000
  )
})
