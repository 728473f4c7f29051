import {
  Currency,
  type ShopHead,
  ShopId,
  ShopInput,
  ShopPatch,
  type ShopRecord,
  Shops,
  toIso,
  toIsoOrNull,
  usualDecimals
} from "@workshop/core"
import { Effect, Schema } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { record, rows } from "../terminal/Output.js"
import { Pasting } from "../terminal/Pasting.js"
import type { Column } from "../terminal/Table.js"
import { decoded, given, idFrom } from "./fromFlags.js"

/** What `workshop shop create` was told. */
export interface AskedShop {
  readonly name: string | null
  readonly currency: string | null
  readonly decimals: number | null
  readonly timeZone: string | null
  readonly trackingBaseUrl: string | null
  readonly languages: ReadonlyArray<string>
}

/** What `workshop shop set` was told; null is left as it is. */
export interface AskedSettings {
  readonly approved: boolean | null
  readonly active: boolean | null
  readonly apiEnabled: boolean | null
  readonly programActive: boolean | null
  readonly programName: string | null
  readonly stampsRequired: number | null
  readonly stampsPerTicket: number | null
  readonly rewardLabel: string | null
  readonly nextNumber: number | null
  readonly forbiddenWords: ReadonlyArray<string>
  readonly allowedWords: ReadonlyArray<string>
  readonly languages: ReadonlyArray<string>
}

const PAGE = 500

const shopRow = ({ created_at, ...shop }: ShopRecord) => ({ ...shop, created_at: toIso(created_at) })

const shopView = (shop: ShopRecord, { next_number }: Pick<ShopHead, "next_number">) => ({
  ...shopRow(shop),
  next_number
})

type Row = ReturnType<typeof shopRow>

const flags = ({ approved, active, api_enabled }: Row): string =>
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
  { title: "", cell: flags }
]

// `-` stands for an empty list.
const listed = (words: ReadonlyArray<string>) => (words.length === 0 ? null : words.filter((word) => word !== "-"))

/** What a currency usually has; two where it is no currency, which is refused for that. */
const decimalsOf = (currency: string | null): number => (Schema.is(Currency)(currency) ? usualDecimals(currency) : 2)

const isKnown = (currency: string): boolean => Intl.supportedValuesOf("currency").includes(currency)

/** Opens a shop. */
export const create = Effect.fnUntraced(function* (asked: AskedShop) {
  const { name, currency } = asked
  const input = yield* decoded(ShopInput, {
    name,
    currency,
    decimals: asked.decimals ?? decimalsOf(currency),
    time_zone: asked.timeZone,
    tracking_base_url: asked.trackingBaseUrl,
    languages: listed(asked.languages)
  })
  if (asked.decimals === null && !isKnown(input.currency)) {
    return yield* new CommandRefused({
      message: `${input.currency} is no currency that this machine knows, and a shop keeps its currency for good: correct --currency, or give its --decimals too.`
    })
  }
  const shop = yield* Shops.create(input)
  const { command, condition } = yield* Pasting
  return record(shopRow(shop), [
    `Its first key${condition}: ${command(`key create ${shop.id} --name Till --preset full`)}`
  ])
})

/** All shops. */
export const list = Effect.gen(function* () {
  const shops = yield* Shops
  const found: Array<ShopRecord> = []
  for (;;) {
    const page = yield* shops.list(found.at(-1)?.id ?? null, PAGE)
    found.push(...page)
    if (page.length < PAGE) break
  }
  return rows(found.map(shopRow), columns, "There is no shop yet: workshop shop create opens one.")
})

/** One shop. */
export const show = Effect.fnUntraced(function* (typed: string) {
  const { shop, head } = yield* Shops.byId(yield* idFrom(ShopId, "a shop", typed))
  return record(shopView(shop, head))
})

/** A text of the programme: left out it stays, empty there is none any more. */
const text = (field: string, typed: string | null) => (typed === null ? {} : { [field]: typed === "" ? null : typed })

/** Changes settings; what was not named stays. */
export const set = Effect.fnUntraced(function* (typed: string, asked: AskedSettings) {
  const id = yield* idFrom(ShopId, "a shop", typed)
  const program = {
    ...given({
      active: asked.programActive,
      stamps_required: asked.stampsRequired,
      stamps_per_ticket: asked.stampsPerTicket
    }),
    ...text("name", asked.programName),
    ...text("reward_label", asked.rewardLabel)
  }
  const patch = given({
    approved: asked.approved,
    active: asked.active,
    api_enabled: asked.apiEnabled,
    program: Object.keys(program).length === 0 ? null : program,
    next_number: asked.nextNumber,
    forbidden_words: listed(asked.forbiddenWords),
    allowed_words: listed(asked.allowedWords),
    languages: listed(asked.languages)
  })
  if (Object.keys(patch).length === 0) {
    return yield* new CommandRefused({ message: "Name what to change, such as --api-enabled yes; --help lists all." })
  }
  const { shop, head } = yield* Shops.change(id, yield* decoded(ShopPatch, patch))
  return record(shopView(shop, head))
})

/** Brings a shop that was dated ahead back to the present. */
export const repairClock = Effect.fnUntraced(function* (typed: string) {
  const id = yield* idFrom(ShopId, "a shop", typed)
  const { ahead_until, tickets } = yield* Shops.repairClock(id)
  const said =
    ahead_until === null && tickets === 0
      ? "The shop is not ahead of this machine's clock: there is nothing to repair."
      : "Tills that read meanwhile begin their sync anew, with updated_since=1970-01-01T00:00:00Z."
  return record({ id, ahead_until: toIsoOrNull(ahead_until), tickets_dated_anew: tickets }, [said])
})
