import type { Event, EventRecord, Instant } from "@workshop/core"
import { toIso } from "@workshop/core/internal"
import { Schema } from "effect"

/** The schema of the keys of a table. Its description lists their meanings. */
export const enumSchema = <Word extends string>(meanings: Readonly<Record<Word, string>>) =>
  Schema.Literal(...(Object.keys(meanings) as [Word, ...Array<Word>])).annotations({
    description: meaningsMarkdown(meanings)
  })

/** The keys of a table with their meanings, as Markdown for the OpenAPI document. */
export const meaningsMarkdown = (meanings: Readonly<Record<string, string>>): string =>
  Object.entries(meanings)
    .map(([word, meaning]) => `${word}: ${meaning}`)
    .join("; ")

/** The record from which a view is made. */
type ViewSource<View> = {
  readonly [Name in keyof View]: Name extends `${string}_at` ? Instant | Extract<View[Name], null> : View[Name]
}

/**
 * Makes a function that picks a view's fields from a record. It converts instants, whose names end in `_at`, to the
 * API's format.
 */
export const viewOf = <Fields extends Schema.Struct.Fields>({ fields }: Schema.Struct<Fields>) => {
  const names = Object.keys(fields)
  return (record: ViewSource<Schema.Struct<Fields>["Type"]>): Schema.Struct<Fields>["Type"] => {
    const shown = (name: string) => {
      const value: unknown = record[name as keyof typeof record]
      return name.endsWith("_at") && typeof value === "number" ? toIso(value) : value
    }
    return Object.fromEntries(names.map((name) => [name, shown(name)])) as Schema.Struct<Fields>["Type"]
  }
}

/** The parsed body of an event. */
export const eventView = ({ body }: Pick<EventRecord, "body">) => JSON.parse(body) as Event

/** The number label of an event's ticket; null for an event without a ticket. */
export const numberLabelOf = (event: EventRecord): string | null => {
  const { ticket } = eventView(event).data as { readonly ticket?: { readonly number_label: string | null } }
  return ticket?.number_label ?? null
}
