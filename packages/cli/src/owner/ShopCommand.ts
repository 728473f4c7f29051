import { Command } from "@effect/cli"
import { Language } from "@workshop/core/domain/Language"
import { Limits } from "@workshop/core/domain/Limits"
import { Effect } from "effect"
import { list, value } from "../terminal/Flags.js"
import { nameOne } from "../terminal/nameOne.js"
import { oneOf, optional, text, webAddress, wholeNumber } from "../terminal/Readers.js"
import { databaseOptions, idOf, own, yesOrNo } from "./OwnerOptions.js"

const load = Effect.promise(() => Promise.all([import("./act.js"), import("./shops.js")]))

const flag = own("shop")
const onOrOff = (name: string, description: string) => flag({ name, placeholder: "yes|no", description, read: yesOrNo })
const words = (name: string, description: string) => flag({ name, placeholder: "text", description, read: text })
const stamps = (name: string, least: number, description: string) =>
  flag({ name, placeholder: "number", description, read: wholeNumber(least, Limits.program_stamps_max) })

const languages = (description: string) =>
  list({
    name: "languages",
    placeholder: "code",
    description: `${description} There are ${Language.literals.join(", ")}.`,
    read: oneOf([...Language.literals, "-"]),
    variable: "WORKSHOP_SHOP_LANGUAGES"
  })

const createOptions = {
  ...databaseOptions,
  name: flag({ name: "name", placeholder: "text", description: "The shop's name.", read: text }),
  currency: flag({
    name: "currency",
    placeholder: "code",
    description: "Its currency, such as TND or EUR.",
    read: text
  }),
  decimals: value({
    name: "decimals",
    placeholder: "number",
    description:
      "How many decimals its amounts have; it cannot be changed later. Default: those of the currency, 3 for TND, 2 for EUR.",
    read: optional(wholeNumber(0, 9)),
    fallback: "",
    variable: "WORKSHOP_SHOP_DECIMALS"
  }),
  timeZone: flag({
    name: "time-zone",
    placeholder: "zone",
    description: "Its time zone, such as Africa/Tunis.",
    read: text
  }),
  trackingBaseUrl: flag({
    name: "tracking-base-url",
    placeholder: "url",
    description: "What stands before the code in a ticket's tracking address.",
    read: webAddress
  }),
  languages: languages(
    "Whose default words are refused, between commas. Default: en, fr and what its time zone speaks."
  )
}

const setOptions = {
  ...databaseOptions,
  approved: onOrOff("approved", "The shop may work at all."),
  active: onOrOff("active", "The account is open."),
  apiEnabled: onOrOff("api-enabled", "The API is switched on."),
  programActive: onOrOff("program-active", "The loyalty programme is on."),
  programName: words("program-name", "The programme's name; '' for none."),
  stampsRequired: stamps("stamps-required", 1, "The stamps that a reward takes."),
  stampsPerTicket: stamps("stamps-per-ticket", 0, "The stamps that a ticket earns."),
  rewardLabel: words("reward-label", "What the reward is; '' for none."),
  nextNumber: flag({
    name: "next-number",
    placeholder: "number",
    description: "The number of the next ticket.",
    read: wholeNumber(1, 9999)
  }),
  forbiddenWords: list({
    name: "forbidden-words",
    placeholder: "word",
    description: "Words refused besides the default list, between commas; - for none.",
    read: text,
    variable: "WORKSHOP_SHOP_FORBIDDEN_WORDS"
  }),
  allowedWords: list({
    name: "allowed-words",
    placeholder: "word",
    description: "Words and phrases of the default list that this shop may use, between commas; - for none.",
    read: text,
    variable: "WORKSHOP_SHOP_ALLOWED_WORDS"
  }),
  languages: languages("Whose default words are refused, between commas; - for none.")
}

const shop = idOf("shop", "shop")

const create = Command.make("create", createOptions, (asked) =>
  Effect.flatMap(load, ([{ act }, shops]) => act(asked, shops.create(asked)))
).pipe(Command.withDescription("Open a shop: approved, active, with the API switched on"))

const listAll = Command.make("list", databaseOptions, (asked) =>
  Effect.flatMap(load, ([{ act }, shops]) => act(asked, shops.list))
).pipe(Command.withDescription("List all shops"))

const show = Command.make("show", { ...databaseOptions, shop }, (asked) =>
  Effect.flatMap(load, ([{ act }, shops]) => act(asked, shops.show(asked.shop)))
).pipe(Command.withDescription("Show a shop's settings"))

const set = Command.make("set", { ...setOptions, shop }, (asked) =>
  Effect.flatMap(load, ([{ act }, shops]) => act(asked, shops.set(asked.shop, asked)))
).pipe(Command.withDescription("Change a shop's settings; what is not named stays"))

const repairClock = Command.make("repair-clock", { ...databaseOptions, shop }, (asked) =>
  Effect.flatMap(load, ([{ act }, shops]) => act(asked, shops.repairClock(asked.shop)))
).pipe(Command.withDescription("Bring a shop that a wrong clock dated ahead back to the present"))

/** `workshop shop` (Specification, Commands): what an operator does with shops. */
export const shopCommand = Command.make("shop", {}, () => nameOne("shop")).pipe(
  Command.withDescription("Shops and their settings, against a database"),
  Command.withSubcommands([create, listAll, show, set, repairClock])
)
