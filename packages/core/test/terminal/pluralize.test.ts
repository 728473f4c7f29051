import { expect, it } from "vitest"
import { pluralize } from "../../src/terminal/pluralize.js"

it("a counted noun is singular only after 1", () => {
  expect([0, 1, 2].map((n) => pluralize(n, "ticket"))).toEqual(["0 tickets", "1 ticket", "2 tickets"])
  expect(pluralize(1200, "ticket", "1,200")).toBe("1,200 tickets")
})
