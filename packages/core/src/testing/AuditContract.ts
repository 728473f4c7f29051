import { audited } from "../decisions/Command.js"
import { changeShop, type ShopPatch } from "../decisions/shopSettings.js"
import { type AuditEntry, NO_SHOP } from "../domain/AuditEntry.js"
import type { ShopId } from "../domain/Identifier.js"
import { cases, same } from "./ContractCase.js"
import { freshId, openShop, run } from "./Fixtures.js"

const PATCH = {} as ShopPatch

/** Changes nothing of a shop, and writes down that it did. */
const touched = (shop_id: ShopId, note: string) =>
  run(audited(changeShop(shop_id, PATCH), "owner:amira", () => ({ act: "shop.changed", details: { note } })))

const notesOf = (entries: ReadonlyArray<AuditEntry>) => entries.map(({ details }) => details.note)

/** The audit log. */
export const auditContract = cases({
  "an act of a command is there with it, field by field, the latest first": function* ({ clock, auditLog: log, shop }) {
    const other = yield* openShop()
    for (const note of ["one", "two", "three"]) {
      clock.advance(1)
      yield* touched(shop.id, note)
    }
    yield* touched(other.id, "another shop's")
    const entries = yield* log.list(shop.id, null, 10)
    yield* same("the shop's alone", notesOf(entries), ["three", "two", "one"])
    const [latest, ...earlier] = entries
    yield* same("fields", latest, {
      shop_id: shop.id,
      id: latest?.id,
      created_at: clock.unsafeCurrentTimeMillis(),
      actor: "owner:amira",
      act: "shop.changed",
      details: { note: "three" }
    })
    yield* same("a page", yield* log.list(shop.id, null, 1), [latest])
    yield* same("the next", yield* log.list(shop.id, latest!.id, 5), earlier)
    yield* same("none is left", yield* log.list(shop.id, earlier.at(-1)!.id, 5), [])
  },

  "an act that is refused, or tells nothing, leaves no line": function* ({ shop, auditLog }) {
    yield* run(audited(changeShop(shop.id, PATCH), "owner:amira", () => null))
    yield* same("nothing", yield* auditLog.list(shop.id, null, 10), [])
  },

  "an act of no one shop is among all, and among no shop's": function* ({ clock, auditLog: log, shop }) {
    yield* touched(shop.id, "first")
    clock.advance(1)
    const entry: AuditEntry = {
      shop_id: NO_SHOP,
      id: yield* freshId<string>(),
      created_at: clock.unsafeCurrentTimeMillis(),
      actor: "cli:“ops” \u{1F9F5}",
      act: "client.exported",
      details: { client_id: yield* freshId<string>() }
    }
    yield* log.append(entry)
    const all = yield* log.list(null, null, 2)
    yield* same("all", [all[0], all[1]?.details.note], [entry, "first"])
    yield* same("the shop's", (yield* log.list(shop.id, null, 10)).length, 1)
  }
})
