import { Effect } from "effect"
import type { AuditedAct } from "../decisions/Command.js"
import { type AuditEntry, NO_SHOP } from "../domain/AuditEntry.js"
import type { ShopId } from "../domain/Identifier.js"
import { ENTROPY_BYTES, makeIdentifier } from "../domain/Moment.js"
import { Entropy } from "../ports/Entropy.js"
import { AuditLog } from "../ports/StorePorts.js"
import { Actor } from "./Actor.js"

/** Makes the audit entry of an act that is not a command of a shop, with the current {@link Actor} and time. */
export const auditEntry = Effect.fnUntraced(function* (act: AuditedAct, shop_id: ShopId = NO_SHOP) {
  const created_at = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const id = makeIdentifier<string>({ now: created_at, entropy: yield* Entropy.draw(ENTROPY_BYTES) }, 0)
  return { ...act, shop_id, id, created_at, actor: yield* Actor.current } satisfies AuditEntry
})

/** The audit log: who did what, and when. */
export class Audit extends Effect.Service<Audit>()("@workshop/core/Audit", {
  accessors: true,
  effect: Effect.gen(function* () {
    const log = yield* AuditLog
    const entropy = yield* Entropy
    return {
      /**
       * At most `limit` entries of a shop, or of all shops for null, the latest first. For the next page, pass the last
       * entry's id as `before`.
       */
      list: (shop_id: ShopId | null, before: string | null, limit: number) => log.list(shop_id, before, limit),
      /** Adds the entry of an act that is not a command of a shop. Call it just before the act, so that no act is missing from the log. */
      record: (act: AuditedAct, shop_id?: ShopId) =>
        auditEntry(act, shop_id).pipe(Effect.provideService(Entropy, entropy), Effect.flatMap(log.append))
    }
  })
}) {}
