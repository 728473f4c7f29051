import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { DEFAULT_SCHEMA, inSchema } from "../../src/connection/Schema.js"
import { DEPENDS_ON_VALUES, PreparedTexts } from "../../src/fast/PreparedTexts.js"

/** Texts that differ in a table, a title or a literal, some of which depend on their values. */
const text = fc
  .tuple(
    fc.constantFrom("read ticket", "list tickets", "search tickets", "shops of person"),
    fc.constantFrom("workshop.ticket", 'workshop."shop"', "'workshop.x'", "myworkshop.ticket"),
    fc.nat({ max: 9 })
  )
  .map(([title, table, limit]) => `select /* workshop ${title} */ * from ${table} where id = $1 limit ${limit}`)
const schema = fc.constantFrom(DEFAULT_SCHEMA, "other", "Third")

describe("PreparedTexts sends the statements that a client without prepared statements sends", () => {
  it("the text is the statement in its schema, and a name belongs to one text only", () => {
    const textsByName = new Map<string, string>()
    fc.assert(
      fc.property(text, schema, (statement, name) => {
        const sent = PreparedTexts.ofSchema(name).of(statement)
        expect(sent.text).toBe(inSchema(statement, name))
        expect(sent.name === undefined).toBe(DEPENDS_ON_VALUES.test(statement))
        if (sent.name === undefined) return
        expect(textsByName.get(sent.name) ?? sent.text).toBe(sent.text)
        textsByName.set(sent.name, sent.text)
        expect(PreparedTexts.ofSchema(name).of(statement)).toEqual(sent)
      }),
      { seed: 1127, numRuns: 1000 }
    )
  })

  it("a statement beyond the most that a connection prepares is sent without a name", () => {
    const texts = PreparedTexts.ofSchema("full")
    const sent = Array.from({ length: 510 }, (_, n) => texts.of(`select ${n} from workshop.shop`))
    expect(sent.filter(({ name }) => name !== undefined)).toHaveLength(500)
    expect(sent.at(-1)).toEqual({ name: undefined, text: 'select 509 from "full".shop' })
    expect(texts.of("select 0 from workshop.shop")).toEqual(sent[0])
  })
})
