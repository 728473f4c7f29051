import type { ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"

/** The acts of owners and operators that are logged, each with a description of what its entry contains in addition to the actor and the time. */
export const auditActs = {
  "shop.created": "a shop was created: its name",
  "shop.changed": "settings of a shop were changed: their new values, for lists of words only their number",
  "shop.clock_repaired": "the clock of a shop that was dated ahead was repaired: until when it was ahead",
  "key.created": "a key was created: its id, name, scopes and expiry",
  "key.revoked": "a key was revoked: its id and name",
  "webhook.set": "the webhook's URL was set: its host only, because the path may be a secret",
  "webhook.rotated": "the webhook got a new secret",
  "webhook.enabled": "the webhook was turned on again",
  "webhook.disabled": "the webhook was turned off",
  "webhook.removed": "the webhook was removed with all waiting deliveries",
  "webhook.pinged": "a ping was sent: the id of the event",
  "deliveries.replayed": "events were replayed: their period and state, or how many ids were given",
  "tickets.imported": "tickets were imported: how many tickets, clients and cards were written",
  "client.exported": "a client's data were exported: the client's id",
  "client.corrected": "a client's account was corrected: the client's id and the names of the fields",
  "client.erased": "a client was erased: the client's id",
  "client.acted_for": "the command line did what a client does: which act, and the ids it was given",
  "database.migrated":
    "the tables were brought up to date: the versions before and after, and the schema they were moved from",
  "database.cells_added": "cells were added: their names",
  "database.cell_removed": "a cell without shops was removed: its name",
  "database.cell_moved":
    "a cell was moved to another node: its name, both nodes, how long it took, and the longest pause of writes",
  "database.roles_granted": "the database's roles were given their rights",
  "database.secrets_resealed": "webhook secrets were encrypted again, or stored in clear: the key's id, null in clear"
} as const

/** A key of {@link auditActs}. */
export type AuditAct = keyof typeof auditActs

/** An entry of the audit log. It never changes, and contains no secret and no client's name or phone number. */
export interface AuditEntry {
  /** The shop, or {@link NO_SHOP} if the act concerns no single shop. */
  readonly shop_id: ShopId
  /** The entry's id. */
  readonly id: string
  /** When the act was done, in milliseconds since 1970. */
  readonly created_at: Instant
  /** The actor, as named by the program that called the service. */
  readonly actor: string
  /** The act. */
  readonly act: AuditAct
  /** The details of the act, without personal data. */
  readonly details: Readonly<Record<string, unknown>>
}

/** The shop's id in the audit log for an act that concerns no single shop. */
export const NO_SHOP = "00000000-0000-0000-0000-000000000000" as ShopId
