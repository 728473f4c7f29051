import type { Event, EventRecord, Instant } from "@workshop/core"
import { toIso } from "@workshop/core/adapter"
import { Schema } from "effect"

/** The schema of the keys of a table; its description has their meanings. */
export const wordOf = <Word extends string>(meanings: Readonly<Record<Word, string>>) =>
  Schema.Literal(...(Object.keys(meanings) as [Word, ...Array<Word>])).annotations({
    description: meaningsIn(meanings)
  })

/** The keys of a table with their meanings, as the document lists them. */
export const meaningsIn = (meanings: Readonly<Record<string, string>>): string =>
  Object.entries(meanings)
    .map(([word, meaning]) => `${word}: ${meaning}`)
    .join("; ")

/** A record that a view shows. */
type Recorded<View> = {
  readonly [Name in keyof View]: Name extends `${string}_at` ? Instant | Extract<View[Name], null> : View[Name]
}

/** Makes the function that picks a view's fields from a record, with instants, whose names end in `_at`, as the API writes them. */
export const viewOf = <Fields extends Schema.Struct.Fields>({ fields }: Schema.Struct<Fields>) => {
  const names = Object.keys(fields)
  return (record: Recorded<Schema.Struct<Fields>["Type"]>): Schema.Struct<Fields>["Type"] => {
    const shown = (name: string) => {
      const value: unknown = record[name as keyof typeof record]
      return name.endsWith("_at") && typeof value === "number" ? toIso(value) : value
    }
    return Object.fromEntries(names.map((name) => [name, shown(name)])) as Schema.Struct<Fields>["Type"]
  }
}

/** An event as it is sent. */
export const eventView = ({ body }: Pick<EventRecord, "body">) => JSON.parse(body) as Event

/** The number of an event's ticket as people write it; null for an event without a ticket. */
export const numberLabelOf = (event: EventRecord): string | null => {
  const { ticket } = eventView(event).data as { readonly ticket?: { readonly number_label: string | null } }
  return ticket?.number_label ?? null
}
