import { Language, Limits, ShopId, ShopInput, ShopPatch, type ShopRecord, Shops } from "@workshop/core"
import { toIso, toIsoOrNull } from "@workshop/core/internal"
import type { Column } from "@workshop/core/internal/terminal"
import type { ShopHead } from "@workshop/core/store"
import { Effect } from "effect"
import { refuse } from "../CommandRefused.js"
import { CommandHints } from "../database/CommandHints.js"
import { flagsOf } from "../terminal/commands.js"
import { oneOf, webAddress, wholeNumber, yesOrNo } from "../terminal/decoders.js"
import { recordOutput, rowsOutput } from "../terminal/Output.js"
import { group, Operand } from "../terminal/program.js"
import { decodeFields, type FlagFields, fieldFlag, givenFieldsOf, idFrom, idOf, ownerCommand } from "./ownerCommand.js"

const PAGE_SIZE = 500

const shopRow = ({ created_at, ...shop }: ShopRecord) => ({ ...shop, created_at: toIso(created_at) })

const shopView = (shop: ShopRecord, { next_number }: Pick<ShopHead, "next_number">) => ({
  ...shopRow(shop),
  next_number
})

type Row = ReturnType<typeof shopRow>

const formatFlags = ({ approved, active, api_enabled }: Row): string =>
  [approved ? "" : "not approved", active ? "" : "deactivated", api_enabled ? "" : "API off"]
    .filter((flag) => flag !== "")
    .join(", ")

const columns: ReadonlyArray<Column<Row>> = [
  { title: "ID", cell: ({ id }) => id, isWhole: true },
  { title: "NAME", cell: ({ name }) => name },
  { title: "CURRENCY", cell: ({ currency, decimals }) => `${currency} (${decimals})` },
  { title: "TIME ZONE", cell: ({ time_zone }) => time_zone },
  { title: "PROGRAMME", cell: ({ program }) => (program.active ? (program.name ?? "on") : "off") },
  { title: "OPENED", cell: ({ created_at }) => created_at.slice(0, 10) },
  { title: "", cell: formatFlags }
]

// `-` stands for an empty list.
const listOrDefault = (words: ReadonlyArray<string>) =>
  words.length === 0 ? null : words.filter((word) => word !== "-")

/** The flags of a new shop whose default depends on another flag. */
interface NewShopFlags extends FlagFields {
  readonly currency: string | null
  readonly decimals: number | null
  readonly languages: ReadonlyArray<string>
}

/** Opens a shop. */
export const createShop = Effect.fnUntraced(function* (fields: NewShopFlags) {
  const shop = yield* Shops.create(
    yield* decodeFields(ShopInput, { ...fields, languages: listOrDefault(fields.languages) })
  )
  const { command, condition } = yield* CommandHints
  return recordOutput(shopRow(shop), [
    `Create its first API key with this command${condition}: ${command(`key create ${shop.id} --name Till --preset full`)}`
  ])
})

/** Lists all shops. */
export const listShops = Effect.gen(function* () {
  const shops = yield* Shops
  const records: Array<ShopRecord> = []
  for (;;) {
    const page = yield* shops.list(records.at(-1)?.id ?? null, PAGE_SIZE)
    records.push(...page)
    if (page.length < PAGE_SIZE) break
  }
  return rowsOutput(records.map(shopRow), columns, "There are no shops yet. Create one with workshop shop create.")
})

/** Shows a shop. */
export const showShop = Effect.fnUntraced(function* (typed: string) {
  const { shop, head } = yield* Shops.byId(yield* idFrom(ShopId, "a shop", typed))
  return recordOutput(shopView(shop, head))
})

/** A text of the programme; an empty one removes it. */
const textField = (field: string, typed: string | null) =>
  typed === null ? {} : { [field]: typed === "" ? null : typed }

/** The settings whose flags differ from the fields of a change. */
interface Settings extends FlagFields {
  readonly program_name: string | null
  readonly reward_label: string | null
  readonly forbidden_words: ReadonlyArray<string>
  readonly allowed_words: ReadonlyArray<string>
  readonly languages: ReadonlyArray<string>
}

/** Changes settings; a setting that is omitted keeps its value. */
export const changeShop = Effect.fnUntraced(function* (typed: string, settings: Settings) {
  const id = yield* idFrom(ShopId, "a shop", typed)
  const { program_active, program_name, stamps_required, stamps_per_ticket, reward_label, ...fields } = settings
  const program = {
    ...givenFieldsOf({ active: program_active, stamps_required, stamps_per_ticket }),
    ...textField("name", program_name),
    ...textField("reward_label", reward_label)
  }
  const patch = givenFieldsOf({
    ...fields,
    program: Object.keys(program).length === 0 ? null : program,
    forbidden_words: listOrDefault(settings.forbidden_words),
    allowed_words: listOrDefault(settings.allowed_words),
    languages: listOrDefault(settings.languages)
  })
  if (Object.keys(patch).length === 0) {
    return yield* refuse("Name the settings to change, such as --api-enabled yes. --help lists all settings.")
  }
  const { shop, head } = yield* Shops.change(id, yield* decodeFields(ShopPatch, patch))
  return recordOutput(shopView(shop, head))
})

/** Repairs a shop whose latest data are dated in the future. */
export const repairClock = Effect.fnUntraced(function* (typed: string) {
  const id = yield* idFrom(ShopId, "a shop", typed)
  const { ahead_until, tickets } = yield* Shops.repairClock(id)
  const advice =
    ahead_until === null && tickets === 0
      ? "The shop is not ahead of this machine's clock, so there is nothing to repair."
      : "Tills that synced while the shop was ahead must sync again from the beginning, with updated_since=1970-01-01T00:00:00Z."
  return recordOutput({ id, ahead_until: toIsoOrNull(ahead_until), tickets_redated: tickets }, [advice])
})

/** Repairs all shops whose latest data are dated in the future, a few shops at a time. */
export const repairClocks = Effect.gen(function* () {
  const repaired: Array<{
    readonly id: ShopId
    readonly ahead_until: string | null
    readonly tickets_redated: number
  }> = []
  for (let ids = yield* Shops.ahead; ids.length > 0; ids = yield* Shops.ahead) {
    const repairedId = ids.find((id) => repaired.some((one) => one.id === id))
    if (repairedId !== undefined)
      return yield* refuse(
        `The shop ${repairedId} is ahead of this machine's clock again. Stop every process whose clock is wrong, and repeat the command.`
      )
    for (const id of ids) {
      const { ahead_until, tickets } = yield* Shops.repairClock(id)
      repaired.push({ id, ahead_until: toIsoOrNull(ahead_until), tickets_redated: tickets })
    }
  }
  return rowsOutput(
    repaired,
    [
      { title: "ID", cell: ({ id }) => id, isWhole: true },
      { title: "AHEAD UNTIL", cell: ({ ahead_until }) => ahead_until ?? "-" },
      { title: "REDATED TICKETS", cell: ({ tickets_redated }) => String(tickets_redated) }
    ],
    "No shop is ahead of this machine's clock, so there is nothing to repair."
  )
})

const own = flagsOf("shop")
const field = fieldFlag("shop")
const yesNoFlag = (name: string, description: string) => field(`--${name} <yes|no>`, description, yesOrNo)
const textFlag = (name: string, placeholder: string, description: string) =>
  field(`--${name} <${placeholder}>`, description)
const wordListFlag = (name: string, description: string) => own.repeatable(`--${name} <word>`, description)
const stampsFlag = (name: string, min: number, description: string) =>
  field(`--${name} <number>`, description, { decoder: wholeNumber(min, Limits.program_stamps_max) })
const languagesFlag = (description: string) =>
  own.repeatable("--languages <code>", description, oneOf([...Language.literals, "-"]))

const shop = idOf("shop")
const CREATE_EXAMPLE = "workshop shop create --name 'Atelier Lac' --currency TND --decimals 3 --time-zone Africa/Tunis"

/** `workshop shop` (Specification, Commands): what an operator does with shops. */
export const shopCommand = group(
  {
    name: "shop",
    examples: [CREATE_EXAMPLE, "workshop shop list"]
  },
  [
    ownerCommand({
      name: "create",
      description: "Create a shop that is approved, is active and may use the API",
      examples: [CREATE_EXAMPLE],
      options: {
        name: textFlag("name", "text", "The shop's name."),
        currency: textFlag("currency", "code", "The shop's currency, such as TND or EUR."),
        decimals: own.optional(
          "--decimals <number>",
          "How many decimals the shop's amounts have. This cannot be changed later. The default is that of the currency: 3 for TND, 2 for EUR.",
          { decoder: wholeNumber(0, 9) }
        ),
        time_zone: textFlag("time-zone", "zone", "The shop's time zone, such as Africa/Tunis."),
        tracking_base_url: field(
          "--tracking-base-url <url>",
          "The part of each ticket's tracking_url before the tracking code.",
          { decoder: webAddress }
        ),
        languages: languagesFlag(
          "Languages whose forbidden words are refused, separated by commas. The default is en, fr and the languages of the shop's time zone."
        )
      },
      run: createShop
    }),
    ownerCommand({
      name: "list",
      description: "List all shops",
      examples: ["workshop shop list --json"],
      options: {},
      run: () => listShops
    }),
    ownerCommand({
      name: "show",
      description: "Show a shop's settings",
      examples: ["workshop shop show 0197..."],
      options: { shop },
      run: ({ shop }) => showShop(shop)
    }),
    ownerCommand({
      name: "set",
      description: "Change a shop's settings; other settings keep their values",
      remark:
        "A shop's name, currency, decimals, time zone and tracking address cannot be changed. Create another shop with workshop shop create.",
      examples: [
        "workshop shop set 0197... --api-enabled yes",
        "workshop shop set 0197... --program-active yes --stamps-required 10 --reward-label 'A free hem'",
        "workshop shop set 0197... --next-number 421"
      ],
      options: {
        approved: yesNoFlag("approved", "Whether the shop is approved."),
        active: yesNoFlag("active", "Whether the shop's account is active."),
        api_enabled: yesNoFlag("api-enabled", "Whether the shop may use the API."),
        program_active: yesNoFlag("program-active", "Whether the shop's loyalty programme is on."),
        program_name: textFlag("program-name", "text", "The loyalty programme's name; '' for no name."),
        stamps_required: stampsFlag("stamps-required", 1, "How many stamps a reward costs."),
        stamps_per_ticket: stampsFlag("stamps-per-ticket", 0, "How many stamps a ticket earns."),
        reward_label: textFlag("reward-label", "text", "The reward's name; '' for no name."),
        next_number: field("--next-number <number>", "The number of the shop's next ticket.", {
          decoder: wholeNumber(1, Limits.ticket_number_max)
        }),
        forbidden_words: wordListFlag(
          "forbidden-words",
          "Words to refuse in addition to the default list, separated by commas; - for no words."
        ),
        allowed_words: wordListFlag(
          "allowed-words",
          "Words and phrases of the default list that this shop may use, separated by commas; - for no words."
        ),
        languages: languagesFlag(
          "Languages whose forbidden words are refused, separated by commas; - for no languages."
        ),
        shop
      },
      run: ({ shop, ...fields }) => changeShop(shop, fields)
    }),
    ownerCommand({
      name: "repair-clock",
      description: "Reset a shop's time to the present after a wrong clock moved it into the future",
      examples: ["workshop shop repair-clock 0197...", "workshop shop repair-clock --all"],
      options: {
        shop: new Operand<string | undefined>("[shop]", "The shop's id."),
        all: own.toggle("all", "Repair every shop that is ahead of this machine's clock.")
      },
      run: ({ shop, all }) => {
        if ((shop === undefined) !== all) return refuse("Give the id of one shop, or --all.")
        return shop === undefined ? repairClocks : repairClock(shop)
      }
    })
  ]
)
