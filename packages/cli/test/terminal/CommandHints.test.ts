import { describe, expect, it } from "vitest"
import { makeHints } from "../../src/database/CommandHints.js"

const embedded = { store: "embedded", databaseUrl: null, dataDir: ".workshop" } as const
const postgres = (databaseUrl: string) => ({ ...embedded, store: "postgres", databaseUrl }) as const

describe("a printed command runs when it is pasted (Specification, Commands)", () => {
  it.each([
    ["the default folder", embedded, "workshop key list"],
    ["another folder", { ...embedded, dataDir: "/srv/data" }, "workshop key list --data-dir /srv/data"],
    [
      "a folder whose name must be quoted",
      { ...embedded, dataDir: "it's mine" },
      String.raw`workshop key list --data-dir 'it'\''s mine'`
    ],
    [
      "a database without a password",
      postgres("postgres://db/workshop?sslmode=require"),
      "workshop key list --database-url 'postgres://db/workshop?sslmode=require'"
    ]
  ])("a printed command names %s as a shell needs it", (_, choice, line) => {
    const { command, condition } = makeHints(choice, {})
    expect([command("key list"), condition]).toEqual([line, ""])
  })

  it.each(["postgres://me:secret@db/workshop", "postgres://db/workshop?password=secret", "host=db password=secret"])(
    "a printed command names DATABASE_URL instead of the address %s",
    (url) => {
      const { command, condition } = makeHints(postgres(url), {})
      expect([command("key list"), condition]).toEqual(["workshop key list", " (set DATABASE_URL as for this process)"])
    }
  )

  it("a printed command begins with npx if npm or npx started this process", () => {
    expect(makeHints(embedded, { npm_command: "exec" }).command("key list")).toBe("npx workshop key list")
  })
})
