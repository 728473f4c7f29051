import { expect, it } from "vitest"
import { quoteShell } from "../../src/domain/quoteShell.js"

it("a quoted text is one word of a shell, even if it contains quotes", () => {
  expect(quoteShell("a b$c")).toBe("'a b$c'")
  expect(quoteShell("l'atelier d'Amira")).toBe(String.raw`'l'\''atelier d'\''Amira'`)
})
