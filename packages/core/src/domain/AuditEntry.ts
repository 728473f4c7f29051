import type { ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"

/** The acts of owners and operators that are logged, each with a description of what its entry contains in addition to the actor and the time. */
export const auditActs = {
  "shop.created": "A shop was created. The entry has its name",
  "shop.changed":
    "Settings of a shop were changed. The entry has their new values, but only the lengths of lists of words",
  "shop.clock_repaired":
    "The clock of a shop that was ahead was repaired. The entry has the instant until which the shop was ahead",
  "key.created": "An API key was created. The entry has its id, name, scopes and expiry",
  "key.revoked": "An API key was revoked. The entry has its id and name",
  "webhook.set": "The webhook's URL was set. The entry has only the host, because the path may be a secret",
  "webhook.rotated": "The webhook's secret was replaced",
  "webhook.enabled": "The webhook was turned on again",
  "webhook.disabled": "The webhook was turned off",
  "webhook.removed": "The webhook was removed with all waiting deliveries",
  "webhook.pinged": "A ping was sent. The entry has the event's id",
  "deliveries.replayed":
    "Events were replayed. The entry has the period and state by which they were chosen, or how many ids were given",
  "tickets.imported": "Tickets were imported. The entry has how many tickets, clients and cards were created",
  "client.exported": "A client's data were exported. The entry has the client's id",
  "client.corrected":
    "A client's account was corrected. The entry has the client's id and the names of the changed fields",
  "client.erased": "A client was erased. The entry has the client's id",
  "client.acted_for":
    "An operator did on the command line what a client does. The entry has the action and the ids that were given",
  "database.migrated":
    "The database was migrated. The entry has the versions before and after, and the schema from which the tables were moved",
  "database.cells_added": "Cells were added. The entry has their names",
  "database.cell_removed": "A cell without shops was removed. The entry has its name",
  "database.cell_moved":
    "A cell was moved to another node. The entry has its name, both nodes, the duration, and the longest pause of writes",
  "database.roles_granted": "The database roles were granted their rights",
  "database.secrets_resealed":
    "Webhook secrets were encrypted again, or stored unencrypted. The entry has the key's id, or null if they are unencrypted"
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
