import { group } from "../terminal/commands.js"
import { yesOrNo } from "../terminal/decoders.js"
import { list, optional, toggle, yes } from "../terminal/flags.js"
import { idOf, own, ownerCommand } from "./ownerCommand.js"

const command = ownerCommand(() => import("./clients.js"))

const flag = own("client")
const words = (name: string, description: string) => flag({ flag: `--${name} <text>`, description })
const shop = (description: string) => optional({ flag: "--shop <id>", description, isEmptyValue: true })
const client = idOf("client")
const offer = idOf("offer")

const create = command({
  name: "create",
  description: "Open a client's account",
  examples: ["workshop client create --given-name Amira --family-name 'Ben Salah' --phone +21620123456"],
  options: {
    given_name: words("given-name", "The client's given name."),
    family_name: words("family-name", "The client's family name."),
    phone: words("phone", "The client's number, in international form: +21620123456."),
    hide_name: toggle("hide-name", "Shops see only the initial of the family name.", "WORKSHOP_CLIENT_HIDE_NAME")
  },
  act: (clients, fields) => clients.create(fields)
})

const show = command({
  name: "show",
  description: "Show a client's account, or the client as a shop sees them",
  examples: ["workshop client show 0197..."],
  options: { shop: shop("As this shop sees the client, with their tickets and card."), client },
  act: (clients, flags) => clients.show(flags.client, flags.shop)
})

const visit = command({
  name: "visit",
  description: "A visit to a shop's counter: the shop knows the client",
  examples: ["workshop client visit 0197... --shop 0198..."],
  options: { shop: shop("The shop at whose counter the client is."), client },
  act: (clients, flags) => clients.visit(flags.client, flags.shop)
})

const offers = command({
  name: "offers",
  description: "List the tickets offered to a client",
  examples: ["workshop client offers 0197..."],
  options: { client },
  act: (clients, flags) => clients.offers(flags.client)
})

const accept = command({
  name: "accept",
  description: "Accept an offer: the ticket is the client's",
  examples: ["workshop client accept 0199... 019a..."],
  options: { client, offer },
  act: (clients, flags) => clients.accept(flags.client, flags.offer)
})

const block = command({
  name: "block",
  description: "Block the shop of an offer, for good",
  examples: ["workshop client block 0199... 019a... --yes"],
  options: { yes, client, offer },
  act: (clients, flags) => clients.block(flags.client, flags.offer, flags.yes)
})

const exportAll = command({
  name: "export",
  description: "Print everything that is stored about a client, as JSON",
  examples: ["workshop client export 0197... > client.json"],
  options: { client },
  act: (clients, flags) => clients.exportAll(flags.client)
})

const correct = command({
  name: "correct",
  description: "Correct a client's name or number; what is not named stays",
  examples: ["workshop client correct 0197... --phone +21620123457"],
  options: {
    given_name: words("given-name", "The right given name."),
    family_name: words("family-name", "The right family name."),
    phone: words("phone", "The right number."),
    hide_name: flag({
      ...yesOrNo,
      flag: "--hide-name <yes|no>",
      description: "Shops see only the initial of the family name."
    }),
    client
  },
  act: (clients, { client, ...fields }) => clients.correct(client, fields)
})

const erase = command({
  name: "erase",
  description: "Erase a client, for good; run it again where it was interrupted",
  examples: ["workshop client erase 0197... --yes", "workshop client erase 0197... --also-phone +21620123456"],
  options: {
    yes,
    alsoPhones: list({
      flag: "--also-phone <phone>",
      description: "A further number that was the client's, such as one before a correction; several between commas.",
      variable: "WORKSHOP_CLIENT_ALSO_PHONE"
    }),
    client
  },
  act: (clients, flags) => clients.erase(flags.client, flags.alsoPhones, flags.yes)
})

/** `workshop client` (Specification, Commands): clients' accounts, and what clients do. */
export const clientCommand = group(
  {
    name: "client",
    examples: ["workshop client create --given-name Amira --family-name 'Ben Salah' --phone +21620123456"]
  },
  [create, show, visit, offers, accept, block, exportAll, correct, erase]
)
