import { group } from "../terminal/commands.js"
import { oneOf } from "../terminal/decoders.js"
import { list, yes } from "../terminal/flags.js"
import { idOf, own, ownerCommand } from "./ownerCommand.js"

const command = ownerCommand(() => import("./keys.js"))

const flag = own("key")
const shop = idOf("shop")

const create = command({
  name: "create",
  description: "Make a key; its text is shown once",
  examples: [
    "workshop key create 0197... --name Till --preset full",
    "workshop key create 0197... --name Screen --scopes tickets:read,clients:read",
    "workshop key create 0197... --name Fair --preset read --expires-at 2027-01-31T12:00:00Z"
  ],
  options: {
    name: flag({ flag: "--name <text>", description: "What the key is for, such as Till." }),
    preset: flag({
      ...oneOf(["full", "read"]),
      flag: "--preset <preset>",
      description: "What the key may do; everything (full) by default."
    }),
    scopes: list({
      flag: "--scopes <scope>",
      description: "In place of a preset: tickets:read, tickets:write, clients:read, loyalty:write, between commas.",
      variable: "WORKSHOP_KEY_SCOPES"
    }),
    expires_at: flag({
      flag: "--expires-at <instant>",
      description: "From when the key is refused, such as 2027-01-31T12:00:00Z or 2027-01-31; never by default."
    }),
    shop
  },
  act: (keys, fields) => keys.create(fields)
})

const listAll = command({
  name: "list",
  description: "List a shop's keys, revoked ones too",
  examples: ["workshop key list 0197..."],
  options: { shop },
  act: (keys, flags) => keys.list(flags.shop)
})

const revoke = command({
  name: "revoke",
  description: "Revoke a key, for good",
  examples: ["workshop key revoke 0197...", "workshop key revoke 0197... --yes"],
  options: { yes, key: idOf("key") },
  act: (keys, flags) => keys.revoke(flags.key, flags.yes)
})

/** `workshop key` (Specification, Commands): a shop's API keys. */
export const keyCommand = group(
  {
    name: "key",
    examples: ["workshop key create 0197... --name Till --preset full", "workshop key list 0197..."]
  },
  [create, listAll, revoke]
)
