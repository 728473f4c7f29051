import type { History } from "./History.js"
import { judgeDeliveries, judgeHealth, judgeSignatures } from "./judgeDeliveries.js"
import { judgeAccess, judgeRequests, judgeSync } from "./judgeRequests.js"
import { judgeCards, judgeEvents, judgeTickets } from "./judgeTickets.js"

/** A rule that a run broke, with the evidence. */
export interface Breach {
  readonly rule: string
  readonly what: string
}

/** Checks a rule of the specification in a history, and yields the violations in words. */
export type Rule = (history: History) => Iterable<string>

/** All rules that are checked. They implement the specification without code of the service. */
export const rules: Readonly<Record<string, Rule>> = {
  crash: function* ({ notes }) {
    for (const note of notes)
      if (note.kind === "crash") yield `${note.node} ended by itself: ${note.what.slice(0, 300)}`
  },
  requests: judgeRequests,
  access: judgeAccess,
  sync: judgeSync,
  events: judgeEvents,
  tickets: judgeTickets,
  cards: judgeCards,
  deliveries: judgeDeliveries,
  signatures: judgeSignatures,
  health: judgeHealth
}

/** The rules that a run broke. */
export const judge = (history: History): ReadonlyArray<Breach> =>
  Object.entries(rules).flatMap(([rule, check]) => [...check(history)].map((what) => ({ rule, what })))
