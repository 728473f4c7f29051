import { Command } from "@effect/cli"
import { Effect } from "effect"
import { list, maybe, toggle, yes } from "../terminal/Flags.js"
import { nameOne } from "../terminal/nameOne.js"
import { text } from "../terminal/Readers.js"
import { databaseOptions, idOf, own, yesOrNo } from "./OwnerOptions.js"

const load = Effect.promise(() => Promise.all([import("./act.js"), import("./clients.js")]))

const needed = (name: string, description: string) =>
  own("client")({ name, placeholder: "text", description, read: text })

const createOptions = {
  ...databaseOptions,
  givenName: needed("given-name", "The client's given name."),
  familyName: needed("family-name", "The client's family name."),
  phone: needed("phone", "The client's number, in international form: +21620123456."),
  hideName: toggle("hide-name", "Shops see the family name's initial alone.", "WORKSHOP_CLIENT_HIDE_NAME")
}

const client = idOf("client", "client")
const offer = idOf("offer", "offer")
const shop = { name: "shop", placeholder: "id", read: text }

const create = Command.make("create", createOptions, (asked) =>
  Effect.flatMap(load, ([{ act }, clients]) => act(asked, clients.create(asked)))
).pipe(Command.withDescription("Open a client's account"))

const showOptions = {
  ...databaseOptions,
  shop: maybe({ ...shop, description: "As this shop sees the client, with their tickets and card." }),
  client
}

const show = Command.make("show", showOptions, (asked) =>
  Effect.flatMap(load, ([{ act }, clients]) => act(asked, clients.show(asked.client, asked.shop)))
).pipe(Command.withDescription("Show a client's account, or the client as a shop sees them"))

const visitOptions = {
  ...databaseOptions,
  shop: maybe({ ...shop, description: "The shop at whose counter the client is." }),
  client
}

const visit = Command.make("visit", visitOptions, (asked) =>
  Effect.flatMap(load, ([{ act }, clients]) => act(asked, clients.visit(asked.client, asked.shop)))
).pipe(Command.withDescription("A visit to a shop's counter: the shop knows the client"))

const offers = Command.make("offers", { ...databaseOptions, client }, (asked) =>
  Effect.flatMap(load, ([{ act }, clients]) => act(asked, clients.offers(asked.client)))
).pipe(Command.withDescription("List the tickets offered to a client"))

const accept = Command.make("accept", { ...databaseOptions, client, offer }, (asked) =>
  Effect.flatMap(load, ([{ act }, clients]) => act(asked, clients.accept(asked.client, asked.offer)))
).pipe(Command.withDescription("Accept an offer: the ticket is the client's"))

const block = Command.make("block", { ...databaseOptions, yes, client, offer }, (asked) =>
  Effect.flatMap(load, ([{ act }, clients]) => act(asked, clients.block(asked.client, asked.offer, asked.yes)))
).pipe(Command.withDescription("Block the shop of an offer, for good"))

const exportAll = Command.make("export", { ...databaseOptions, client }, (asked) =>
  Effect.flatMap(load, ([{ act }, clients]) => act(asked, clients.exportAll(asked.client)))
).pipe(Command.withDescription("Print everything that is stored about a client, as JSON"))

const flag = own("client")

const correctOptions = {
  ...databaseOptions,
  givenName: flag({ name: "given-name", placeholder: "text", description: "The right given name.", read: text }),
  familyName: flag({ name: "family-name", placeholder: "text", description: "The right family name.", read: text }),
  phone: flag({ name: "phone", placeholder: "text", description: "The right number.", read: text }),
  hideName: flag({
    name: "hide-name",
    placeholder: "yes|no",
    description: "Shops see the family name's initial alone.",
    read: yesOrNo
  }),
  client
}

const correct = Command.make("correct", correctOptions, (asked) =>
  Effect.flatMap(load, ([{ act }, clients]) => act(asked, clients.correct(asked.client, asked)))
).pipe(Command.withDescription("Correct a client's name or number; what is not named stays"))

const eraseOptions = {
  ...databaseOptions,
  yes,
  alsoPhones: list({
    name: "also-phone",
    placeholder: "phone",
    description: "A further number that was the client's, such as one before a correction; several between commas.",
    read: text,
    variable: "WORKSHOP_CLIENT_ALSO_PHONE"
  }),
  client
}

const erase = Command.make("erase", eraseOptions, (asked) =>
  Effect.flatMap(load, ([{ act }, clients]) => act(asked, clients.erase(asked.client, asked.alsoPhones, asked.yes)))
).pipe(Command.withDescription("Erase a client, for good; run it again where it was interrupted"))

/** `workshop client` (Specification, Commands): clients' accounts, and what clients do. */
export const clientCommand = Command.make("client", {}, () => nameOne("client")).pipe(
  Command.withDescription("Clients' accounts, and what clients do, against a database"),
  Command.withSubcommands([create, show, visit, offers, accept, block, exportAll, correct, erase])
)
