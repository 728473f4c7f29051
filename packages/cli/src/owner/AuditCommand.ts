import { wholeNumber } from "../terminal/decoders.js"
import { value } from "../terminal/flags.js"
import { own, ownerCommand } from "./ownerCommand.js"

const command = ownerCommand(() => import("./audits.js"))

const flag = own("audit")

/** `workshop audit`: what owners and operators did. */
export const auditCommand = command({
  name: "audit",
  examples: ["workshop audit --shop 0197...", "workshop audit --limit 1000 --json"],
  options: {
    shop: flag({ flag: "--shop <id>", description: "Only what was done to this shop." }),
    before: flag({
      flag: "--before <entry>",
      description: "Only what came before this entry."
    }),
    limit: value({
      flag: "--limit <number>",
      description: "How many entries at most, the latest first.",
      decoder: wholeNumber(1, 10_000),
      fallback: "100",
      variable: "WORKSHOP_AUDIT_LIMIT"
    })
  },
  act: (audits, bounds) => audits.list(bounds)
})
