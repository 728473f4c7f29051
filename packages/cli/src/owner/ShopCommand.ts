import { Language, Limits } from "@workshop/core"
import { group } from "../terminal/commands.js"
import { oneOf, webAddress, wholeNumber, yesOrNo } from "../terminal/decoders.js"
import { list, optional, variableOf } from "../terminal/flags.js"
import { idOf, own, ownerCommand } from "./ownerCommand.js"

const command = ownerCommand(() => import("./shops.js"))

const flag = own("shop")
const onOrOff = (name: string, description: string) => flag({ ...yesOrNo, flag: `--${name} <yes|no>`, description })
const words = (name: string, placeholder: string, description: string) =>
  flag({ flag: `--${name} <${placeholder}>`, description })
const wordList = (name: string, description: string) =>
  list({
    flag: `--${name} <word>`,
    description,
    variable: variableOf(`--${name}`, "shop")
  })
const stamps = (name: string, least: number, description: string) =>
  flag({ flag: `--${name} <number>`, description, decoder: wholeNumber(least, Limits.program_stamps_max) })
const languages = (description: string) =>
  list({
    ...oneOf([...Language.literals, "-"]),
    flag: "--languages <code>",
    description,
    variable: "WORKSHOP_SHOP_LANGUAGES"
  })

const shop = idOf("shop")
const opening = "workshop shop create --name 'Atelier Lac' --currency TND --decimals 3 --time-zone Africa/Tunis"

const create = command({
  name: "create",
  description: "Open a shop: approved, active, with the API switched on",
  examples: [opening],
  options: {
    name: words("name", "text", "The shop's name."),
    currency: words("currency", "code", "Its currency, such as TND or EUR."),
    decimals: optional({
      flag: "--decimals <number>",
      description:
        "How many decimals its amounts have; it cannot be changed later. By default those of the currency, 3 for TND, 2 for EUR.",
      decoder: wholeNumber(0, 9),
      variable: "WORKSHOP_SHOP_DECIMALS"
    }),
    time_zone: words("time-zone", "zone", "Its time zone, such as Africa/Tunis."),
    tracking_base_url: flag({
      flag: "--tracking-base-url <url>",
      description: "What comes before the code in a ticket's tracking address.",
      decoder: webAddress
    }),
    languages: languages(
      "Whose default words are refused, between commas. By default en, fr and those of its time zone."
    )
  },
  act: (shops, fields) => shops.create(fields)
})

const listAll = command({
  name: "list",
  description: "List all shops",
  examples: ["workshop shop list --json"],
  options: {},
  act: (shops) => shops.list
})

const show = command({
  name: "show",
  description: "Show a shop's settings",
  examples: ["workshop shop show 0197..."],
  options: { shop },
  act: (shops, flags) => shops.show(flags.shop)
})

const set = command({
  name: "set",
  description: "Change a shop's settings; what is not named stays",
  remark:
    "A shop keeps its name, currency, decimals, time zone and tracking address for good: workshop shop create opens another shop.",
  examples: [
    "workshop shop set 0197... --api-enabled yes",
    "workshop shop set 0197... --program-active yes --stamps-required 10 --reward-label 'A free hem'",
    "workshop shop set 0197... --next-number 421"
  ],
  options: {
    approved: onOrOff("approved", "The shop may work at all."),
    active: onOrOff("active", "The account is open."),
    api_enabled: onOrOff("api-enabled", "The API is switched on."),
    program_active: onOrOff("program-active", "The loyalty programme is on."),
    program_name: words("program-name", "text", "The programme's name; '' for none."),
    stamps_required: stamps("stamps-required", 1, "The stamps that a reward takes."),
    stamps_per_ticket: stamps("stamps-per-ticket", 0, "The stamps that a ticket earns."),
    reward_label: words("reward-label", "text", "What the reward is; '' for none."),
    next_number: flag({
      flag: "--next-number <number>",
      description: "The number of the next ticket.",
      decoder: wholeNumber(1, 9999)
    }),
    forbidden_words: wordList("forbidden-words", "Words refused besides the default list, between commas; - for none."),
    allowed_words: wordList(
      "allowed-words",
      "Words and phrases of the default list that this shop may use, between commas; - for none."
    ),
    languages: languages("Whose default words are refused, between commas; - for none."),
    shop
  },
  act: (shops, { shop, ...fields }) => shops.set(shop, fields)
})

const repairClock = command({
  name: "repair-clock",
  description: "Bring a shop that a wrong clock dated ahead back to the present",
  examples: ["workshop shop repair-clock 0197..."],
  options: { shop },
  act: (shops, flags) => shops.repairClock(flags.shop)
})

/** `workshop shop` (Specification, Commands): what an operator does with shops. */
export const shopCommand = group(
  {
    name: "shop",
    examples: [opening, "workshop shop list"]
  },
  [create, listAll, show, set, repairClock]
)
