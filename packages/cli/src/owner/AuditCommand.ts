import { Command } from "@effect/cli"
import { Effect } from "effect"
import { value } from "../terminal/Flags.js"
import { text, wholeNumber } from "../terminal/Readers.js"
import { databaseOptions, own } from "./OwnerOptions.js"

const load = Effect.promise(() => Promise.all([import("./act.js"), import("./audits.js")]))

const flag = own("audit")

const options = {
  ...databaseOptions,
  shop: flag({ name: "shop", placeholder: "id", description: "Only what was done to this shop.", read: text }),
  before: flag({ name: "before", placeholder: "entry", description: "Only what came before this entry.", read: text }),
  limit: value({
    name: "limit",
    placeholder: "number",
    description: "How many entries at most, the latest first.",
    read: wholeNumber(1, 10_000),
    fallback: "100",
    variable: "WORKSHOP_AUDIT_LIMIT"
  })
}

/** `workshop audit`: what owners and operators did. */
export const auditCommand = Command.make("audit", options, (asked) =>
  Effect.flatMap(load, ([{ act }, audits]) => act(asked, audits.list(asked)))
).pipe(Command.withDescription("List what owners and operators did, against a database"))
