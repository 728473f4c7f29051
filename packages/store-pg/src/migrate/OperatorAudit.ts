import { type AuditAct, Entropy } from "@workshop/core"
import { auditEntry } from "@workshop/core/store"
import { Effect } from "effect"
import type { Session } from "./Session.js"

const APPEND = `insert /* workshop append operator entry */ into audit_entry (shop_id, id, created_at, actor, act, details)
  values ($1, $2, $3, $4, $5, $6)`

/** Adds an operator's act on the database to the audit log of the session's schema, with the current `Actor` of core. */
export const recordAct = (session: Session, act: AuditAct, details: Readonly<Record<string, unknown>> = {}) =>
  auditEntry({ act, details }).pipe(
    Effect.provide(Entropy.layer),
    Effect.flatMap((entry) =>
      session.run(APPEND, [
        entry.shop_id,
        entry.id,
        entry.created_at,
        entry.actor,
        entry.act,
        JSON.stringify(entry.details)
      ])
    )
  )
