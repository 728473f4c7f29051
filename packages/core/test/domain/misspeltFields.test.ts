import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { quickReader } from "../../src/fast/QuickReader.js"
import {
  ClientCorrection,
  ClientInput,
  DelayInput,
  inputIssues,
  KeyInput,
  OwnerPage,
  PartInput,
  PhotoInput,
  QuoteInput,
  ReplayInput,
  ShopInput,
  ShopPatch,
  TicketEdit,
  TicketInput,
  TicketQuery,
  TicketQueryJson
} from "../../src/index.js"

const inputs = {
  ClientCorrection,
  ClientInput,
  DelayInput,
  KeyInput,
  OwnerPage,
  PartInput,
  PhotoInput,
  QuoteInput,
  ReplayInput,
  ShopInput,
  ShopPatch,
  TicketEdit,
  TicketInput,
  TicketQuery,
  TicketQueryJson
}

describe("a misspelt field of an input", () => {
  it.each(Object.entries(inputs))(
    "a misspelt field is refused by its name, with any options of the decoding: %s",
    (_, schema) => {
      for (const onExcessProperty of [undefined, "ignore", "preserve"] as const) {
        const read = Schema.decodeUnknownEither(schema as Schema.Schema<unknown>, {
          errors: "all",
          ...(onExcessProperty && { onExcessProperty })
        })
        const issues = Either.match(read({ statee: "ready" }), {
          onLeft: ({ issue }) => inputIssues(issue),
          onRight: () => []
        })
        expect(issues.filter(({ field }) => field === "statee")).toHaveLength(1)
      }
    }
  )

  it("a misspelt field in a part of an input is refused too", () => {
    const read = Schema.decodeUnknownEither(TicketInput, { errors: "all" })
    const refused = Either.flip(
      read({ service: "Hem", items: [{ label: "Coat", prise_minor: 1 }, { label: "Scarf" }] })
    )
    expect(Either.map(refused, ({ issue }) => inputIssues(issue))).toMatchObject({
      right: [{ field: "items.0.prise_minor" }]
    })
  })

  it("the API does not run this check, because the quick reader reads its inputs without the schema", () => {
    expect(quickReader(TicketInput, true)?.({ service: "Hem" })).toEqual({ service: "Hem" })
    expect(quickReader(TicketInput, false)).toBeUndefined()
  })
})
