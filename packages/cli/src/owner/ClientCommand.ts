import {
  Audit,
  appCaller,
  ClientCorrection,
  ClientId,
  ClientInput,
  ClientNotFound,
  Clients,
  OfferId,
  Offers,
  Phone,
  ShopId
} from "@workshop/core"
import { toIso } from "@workshop/core/internal"
import { type Column, pluralize } from "@workshop/core/internal/terminal"
import { Directory } from "@workshop/core/store"
import { offerView } from "@workshop/http-node/internal"
import { Effect, Schema } from "effect"
import { refuse } from "../CommandRefused.js"
import { flagsOf, optionalFlag, yesFlag } from "../terminal/commands.js"
import { confirm } from "../terminal/confirm.js"
import { yesOrNo } from "../terminal/decoders.js"
import { recordOutput, rowsOutput, sentenceOutput } from "../terminal/Output.js"
import { group } from "../terminal/program.js"
import { decodeFields, type FlagFields, fieldFlag, givenFieldsOf, idFrom, idOf, ownerCommand } from "./ownerCommand.js"

const clientIdFrom = (typed: string) => idFrom(ClientId, "a client", typed)
const offerIdFrom = (typed: string) => idFrom(OfferId, "an offer", typed)
const shopIdFrom = (typed: string | null) => idFrom(ShopId, "a shop", typed)

const offerColumns: ReadonlyArray<Column<ReturnType<typeof offerView>>> = [
  { title: "ID", cell: ({ id }) => id, isWhole: true },
  { title: "SHOP", cell: ({ shop_id }) => shop_id, isWhole: true },
  { title: "TICKET", cell: ({ ticket_id }) => ticket_id },
  { title: "STATUS", cell: ({ status }) => status },
  { title: "MADE", cell: ({ created_at }) => created_at.slice(0, 10) }
]

/** Records in the audit log that an operator acted for a client. */
const recordAct = (did: string, details: Readonly<Record<string, string>>, shop_id?: ShopId) =>
  Audit.record({ act: "client.acted_for", details: { did, ...details } }, shop_id)

/** Opens a client's account. */
export const createClient = Effect.fnUntraced(function* (fields: FlagFields) {
  const client = yield* Clients.register(yield* decodeFields(ClientInput, fields))
  yield* recordAct("create", { client_id: client.id })
  return recordOutput(client)
})

/** Shows an account or, if a shop is named, the client as that shop sees them. */
export const showClient = Effect.fnUntraced(function* (typed: string, shop: string | null) {
  const id = yield* clientIdFrom(typed)
  if (shop !== null) return recordOutput(yield* Clients.byId(appCaller(yield* shopIdFrom(shop)), id))
  const account = yield* Effect.flatMap(Directory, (directory) => directory.account(id))
  if (account === null) return yield* refuse(`There is no client ${id}. Create an account with workshop client create.`)
  return recordOutput({ ...account, created_at: toIso(account.created_at) })
})

/** Runs an effect on an account. If the account does not exist, the error names it. */
const nameMissingAccount = <A, E, R>(id: ClientId, act: Effect.Effect<A, E | ClientNotFound, R>) =>
  Effect.mapError(act, (refusal) =>
    refusal instanceof ClientNotFound
      ? refuse(`There is no account ${id}. Check the id. The account may already have been erased.`)
      : (refusal as Exclude<E, ClientNotFound>)
  )

/** Exports everything that is stored about the client, in all shops. */
export const exportClient = Effect.fnUntraced(function* (typed: string) {
  const id = yield* clientIdFrom(typed)
  const data = yield* nameMissingAccount(id, Clients.export(id))
  return { data, lines: () => JSON.stringify(data, null, 2).split("\n") }
})

/** Corrects a name or a phone number; a field that is omitted keeps its value. */
export const correctClient = Effect.fnUntraced(function* (typed: string, fields: FlagFields) {
  const id = yield* clientIdFrom(typed)
  const correction = givenFieldsOf(fields)
  if (Object.keys(correction).length === 0) {
    return yield* refuse("Name the fields to correct, such as --phone +21620123456.")
  }
  const account = yield* nameMissingAccount(id, Clients.correct(id, yield* decodeFields(ClientCorrection, correction)))
  return recordOutput({ ...account, created_at: toIso(account.created_at) })
})

/** Erases the client permanently, or completes an interrupted erasure. */
export const eraseClient = Effect.fnUntraced(function* (
  typed: string,
  alsoPhones: ReadonlyArray<string>,
  isWanted: boolean
) {
  const id = yield* clientIdFrom(typed)
  const { also_phone } = yield* decodeFields(Schema.Struct({ also_phone: Schema.Array(Phone) }), {
    also_phone: alsoPhones
  })
  yield* confirm(
    `This permanently removes the account ${id}, and the client's names and phone numbers from the data of every shop.`,
    isWanted
  )
  const { shops } = yield* nameMissingAccount(id, Clients.erase(id, also_phone))
  const count = pluralize(shops.length, "shop")
  const where = shops.length === 0 ? "about whom no shop had data" : `in ${count}: ${shops.join(", ")}`
  return sentenceOutput(
    { id, shops },
    `The client ${id} is erased, ${where}. Ask the shops to erase their own copies of the client's data.`
  )
})

/** Records that the client visits a shop, which then knows the client. */
export const recordVisit = Effect.fnUntraced(function* (typed: string, shop: string | null) {
  const [client_id, shop_id] = [yield* clientIdFrom(typed), yield* shopIdFrom(shop)]
  yield* Clients.visit(client_id, shop_id)
  yield* recordAct("visit", { client_id }, shop_id)
  return sentenceOutput(
    { client_id, shop_id },
    `The shop ${shop_id} now knows the client ${client_id}, unless the client has blocked the shop.`
  )
})

/** Lists the tickets offered to the client. */
export const listOffers = Effect.fnUntraced(function* (typed: string) {
  const offers = yield* Offers.ofClient(yield* clientIdFrom(typed))
  return rowsOutput(offers.map(offerView), offerColumns, "No tickets are offered to this client.")
})

/** Accepts an offer: the ticket becomes the client's. */
export const acceptOffer = Effect.fnUntraced(function* (client: string, offer: string) {
  const [client_id, id] = [yield* clientIdFrom(client), yield* offerIdFrom(offer)]
  yield* Offers.accept(client_id, id)
  yield* recordAct("accept", { client_id, offer_id: id })
  return sentenceOutput(
    { id, status: "accepted" },
    `The offer ${id} is accepted. Its ticket is now linked to the client, unless the ticket is abandoned or was already linked.`
  )
})

/** Blocks the shop of an offer for the client, permanently. */
export const blockShop = Effect.fnUntraced(function* (client: string, offer: string, isWanted: boolean) {
  const [client_id, id] = [yield* clientIdFrom(client), yield* offerIdFrom(offer)]
  yield* confirm(
    `This makes the client ${client_id} block the shop of the offer ${id} permanently. A later visit does not lift the block.`,
    isWanted
  )
  yield* Offers.block(client_id, id)
  yield* recordAct("block", { client_id, offer_id: id })
  return sentenceOutput({ id, status: "blocked" }, "The client has blocked the shop of this offer.")
})

const own = flagsOf("client")
const field = fieldFlag("client")
const textFlag = (name: string, description: string) => field(`--${name} <text>`, description)
const shopFlag = (description: string) => optionalFlag("--shop <id>", description, { isEmptyValue: true })
const client = idOf("client")
const offer = idOf("offer")

/** `workshop client` (Specification, Commands): clients' accounts, and what clients do. */
export const clientCommand = group(
  {
    name: "client",
    examples: ["workshop client create --given-name Amira --family-name 'Ben Salah' --phone +21620123456"]
  },
  [
    ownerCommand({
      name: "create",
      description: "Create a client's account",
      examples: ["workshop client create --given-name Amira --family-name 'Ben Salah' --phone +21620123456"],
      options: {
        given_name: textFlag("given-name", "The client's given name."),
        family_name: textFlag("family-name", "The client's family name."),
        phone: textFlag("phone", "The client's phone number in international format, such as +21620123456."),
        hide_name: own.toggle("hide-name", "Shops see only the initial of the family name.")
      },
      run: createClient
    }),
    ownerCommand({
      name: "show",
      description: "Show a client's account, or the client as a shop sees them",
      examples: ["workshop client show 0197..."],
      options: {
        shop: shopFlag("Show the client as this shop sees them, with their tickets and loyalty card."),
        client
      },
      run: ({ client, shop }) => showClient(client, shop)
    }),
    ownerCommand({
      name: "visit",
      description: "Record a client's visit to a shop's counter, so that the shop knows the client",
      examples: ["workshop client visit 0197... --shop 0198..."],
      options: { shop: shopFlag("The shop that the client visits."), client },
      run: ({ client, shop }) => recordVisit(client, shop)
    }),
    ownerCommand({
      name: "offers",
      description: "List the tickets offered to a client",
      examples: ["workshop client offers 0197..."],
      options: { client },
      run: ({ client }) => listOffers(client)
    }),
    ownerCommand({
      name: "accept",
      description: "Accept an offer, so that the ticket is linked to the client",
      examples: ["workshop client accept 0199... 019a..."],
      options: { client, offer },
      run: ({ client, offer }) => acceptOffer(client, offer)
    }),
    ownerCommand({
      name: "block",
      description: "Block the shop of an offer permanently",
      examples: ["workshop client block 0199... 019a... --yes"],
      options: { yes: yesFlag, client, offer },
      run: ({ client, offer, yes }) => blockShop(client, offer, yes)
    }),
    ownerCommand({
      name: "export",
      description: "Print everything that is stored about a client, as JSON",
      examples: ["workshop client export 0197... > client.json"],
      options: { client },
      run: ({ client }) => exportClient(client)
    }),
    ownerCommand({
      name: "correct",
      description: "Correct a client's name or phone number; other fields keep their values",
      examples: ["workshop client correct 0197... --phone +21620123457"],
      options: {
        given_name: textFlag("given-name", "The corrected given name."),
        family_name: textFlag("family-name", "The corrected family name."),
        phone: textFlag("phone", "The corrected phone number."),
        hide_name: field("--hide-name <yes|no>", "Shops see only the initial of the family name.", yesOrNo),
        client
      },
      run: ({ client, ...fields }) => correctClient(client, fields)
    }),
    ownerCommand({
      name: "erase",
      description: "Erase a client permanently, or finish an erasure that was interrupted",
      examples: ["workshop client erase 0197... --yes", "workshop client erase 0197... --also-phone +21620123456"],
      options: {
        yes: yesFlag,
        alsoPhones: own.repeatable(
          "--also-phone <phone>",
          "Another phone number of the client, such as one before a correction. For several numbers, separate them by commas or repeat the flag."
        ),
        client
      },
      run: ({ client, alsoPhones, yes }) => eraseClient(client, alsoPhones, yes)
    })
  ]
)
