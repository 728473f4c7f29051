import { Effect } from "effect"
import type { Audited } from "../decisions/Command.js"
import { type AuditEntry, NO_SHOP } from "../domain/AuditEntry.js"
import type { ShopId } from "../domain/Identifier.js"
import { ENTROPY_BYTES, identifier } from "../domain/Moment.js"
import { Entropy } from "../ports/Entropy.js"
import { AuditLog } from "../ports/StorePorts.js"
import { Actor } from "./Actor.js"

/** The audit log's entry of an act that no command of a shop does: by the present {@link Actor}, now. */
export const auditEntry = Effect.fnUntraced(function* (told: Audited, shop_id: ShopId = NO_SHOP) {
  const created_at = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const id = identifier<string>({ now: created_at, entropy: yield* Entropy.draw(ENTROPY_BYTES) }, 0)
  return { ...told, shop_id, id, created_at, actor: yield* Actor.current } satisfies AuditEntry
})

/** The audit log: who did what, and when. */
export class Audit extends Effect.Service<Audit>()("@workshop/core/Audit", {
  accessors: true,
  effect: Effect.gen(function* () {
    const log = yield* AuditLog
    const entropy = yield* Entropy
    return {
      /** At most `limit` entries, the latest first: of a shop, or all for null; the next page is before the last one's id. */
      list: (shop_id: ShopId | null, before: string | null, limit: number) => log.list(shop_id, before, limit),
      /** Writes down an act outside a shop's commands, just before it is done: what was begun is never missing. */
      note: (told: Audited, shop_id?: ShopId) =>
        auditEntry(told, shop_id).pipe(Effect.provideService(Entropy, entropy), Effect.flatMap(log.append))
    }
  })
}) {}
