import type { Ticket } from "@workshop/core"
import type { Change } from "@workshop/core/store"
import { Either } from "effect"
import { type BrokenServer, changes, decisions } from "./BrokenServer.js"

const MINUTE = 60_000
const HOUR = 60 * MINUTE

type RowOf<Tag extends Change["_tag"]> = Extract<Change, { readonly _tag: Tag }>["row"]

/** Changes the rows of one kind of change before the store writes them. */
const rows =
  <Tag extends Change["_tag"]>(tag: Tag, change: (row: RowOf<Tag>) => RowOf<Tag>) =>
  () =>
    changes((one) => (one._tag === tag ? ({ ...one, row: change(one.row as RowOf<Tag>) } as Change) : one))

const tagOf = (refusal: unknown) => (refusal as { readonly _tag: string })._tag

const isReopening = (change: Change): boolean =>
  change._tag === "EventRaised" &&
  change.row.type === "ticket.reopened" &&
  (JSON.parse(change.row.body) as { data: { from: Ticket["state"] } }).data.from === "collected"

/** Servers whose decisions break a rule. */
export const brokenDecisions: ReadonlyArray<BrokenServer> = [
  {
    does: "continues ticket numbers after 9999",
    caughtBy: ["create-number-wraps"],
    fault: () => {
      let number = 0
      return changes((one) => {
        if (one._tag === "TicketPut") number = one.row.number
        const isWrapping = one._tag === "HeadPut" && number === 9999 && one.row.next_number === 1
        return isWrapping ? { ...one, row: { ...one.row, next_number: 10_000 } } : one
      })
    }
  },
  {
    does: "refuses to reopen a ticket at exactly 24 hours",
    caughtBy: ["reopen-at-24h"],
    fault: () =>
      decisions((run, moment) => {
        const decision = run(moment)
        if (Either.isLeft(decision) || !decision.right.changes.some(isReopening)) return decision
        const later = run({ ...moment, now: moment.now + 1 })
        return Either.isLeft(later) ? later : decision
      })
  },
  {
    does: "reopens tickets up to 25 hours after they were collected",
    caughtBy: ["reopen-past-24h"],
    fault: () =>
      decisions((run, moment) => {
        const decision = run(moment)
        const isLate = Either.isLeft(decision) && tagOf(decision.left) === "ReopenWindowPassed"
        return isLate ? run({ ...moment, now: moment.now - HOUR }) : decision
      })
  },
  {
    does: "gives the wrong reason for a refusal after the reopening window",
    caughtBy: ["reopen-past-24h-any-status"],
    fault: () =>
      decisions((run, moment) => {
        const decision = run(moment)
        const isLate = Either.isLeft(decision) && tagOf(decision.left) === "ReopenWindowPassed"
        return isLate
          ? Either.left({ ...(decision.left as object), _tag: "InvalidTransition", message: "no" } as never)
          : decision
      })
  },
  {
    does: "dates closures a millisecond late",
    caughtBy: ["closure-uncollected", "closure-no-news"],
    fault: rows("TicketPut", (row) =>
      row.abandoned_at === null ? row : { ...row, abandoned_at: row.abandoned_at + 1 }
    )
  },
  {
    does: "closes a ticket in the workshop sixty days after it was created, even if the shop changed it since",
    caughtBy: ["closure-reset-notified", "closure-reset-quote", "closure-reset-part"],
    fault: rows("TicketPut", (row) => ({ ...row, shop_changed_at: row.created_at }))
  },
  {
    does: "allows two stamps a day too many",
    caughtBy: ["limit-stamps"],
    fault: () =>
      changes((one) =>
        one._tag === "StampLimitPut" && one.row.used > 10
          ? { ...one, row: { ...one.row, used: one.row.used - 2 } }
          : one
      )
  },
  {
    does: "creates 151 tickets an hour",
    caughtBy: ["limit-tickets-hour"],
    fault: () => {
      const begun = new Set<string>()
      return changes((one) => {
        if (one._tag !== "HeadPut" || one.row.tickets_per_hour.used !== 1 || begun.has(one.row.shop_id)) return one
        begun.add(one.row.shop_id)
        return { ...one, row: { ...one.row, tickets_per_hour: { ...one.row.tickets_per_hour, used: 0 } } }
      })
    }
  },
  {
    does: "retries after two minutes",
    caughtBy: ["delivery-retries", "signature-each-attempt"],
    fault: () =>
      changes((one, { now }) =>
        one._tag === "DeliveryPut" && one.row.due_at === now + MINUTE
          ? { ...one, row: { ...one.row, due_at: now + 2 * MINUTE } }
          : one
      )
  },
  {
    does: "retries a little later than next_attempt_at",
    caughtBy: ["delivery-retries"],
    fault: () =>
      changes((one, { now }) =>
        one._tag === "DeliveryPut" && one.row.due_at > now
          ? { ...one, row: { ...one.row, due_at: one.row.due_at + 40 } }
          : one
      )
  },
  {
    does: "abandons a delivery after seven attempts",
    caughtBy: ["delivery-retries"],
    fault: () =>
      changes((one) =>
        one._tag === "DeliveryPut" && one.row.attempts_since_reset === 7
          ? { _tag: "DeliveryRemoved", row: one.row }
          : one
      )
  },
  {
    does: "turns a webhook off at twenty failures, even if they are recent",
    caughtBy: ["webhook-failing-young"],
    fault: rows("WebhookPut", (row) => (row.failures_in_row >= 20 ? { ...row, off_reason: "failing" } : row))
  },
  {
    does: "never turns a failing webhook off",
    caughtBy: ["webhook-failing"],
    fault: rows("WebhookPut", (row) => (row.off_reason === "failing" ? { ...row, off_reason: null } : row))
  },
  {
    does: "gives a reopened ticket its stamps again",
    caughtBy: ["earns-once"],
    fault: rows("TicketPut", (row) => ({ ...row, stamps_earned: false }))
  },
  {
    does: "forgets Idempotency-Keys after a day",
    caughtBy: ["idempotency-remembered"],
    fault: rows("IdempotencyRecordPut", (row) => ({ ...row, expires_at: row.expires_at - 29 * 24 * HOUR }))
  },
  {
    does: "raises no event when a client is notified",
    caughtBy: ["notified-ready", "notified-sms"],
    fault: () => changes((one) => (one._tag === "EventRaised" && one.row.type === "client.notified" ? null : one))
  },
  {
    does: "forgets that the client was notified when a ticket is reopened",
    caughtBy: ["reopen-keeps-notified"],
    fault: () => {
      let isBack = false
      return decisions((run, moment) => {
        const decision = run(moment)
        if (Either.isLeft(decision)) return decision
        isBack = decision.right.changes.some((one) => one._tag === "EventRaised" && one.row.type === "ticket.reopened")
        if (!isBack) return decision
        const forgetful = decision.right.changes.map((one) =>
          one._tag === "TicketPut" ? { ...one, row: { ...one.row, notified_at: null } } : one
        )
        const { result } = decision.right
        return Either.right({ ...decision.right, changes: forgetful, result: { ...result, notified_at: null } })
      })
    }
  }
]
