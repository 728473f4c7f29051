import { inspect } from "node:util"
import { expect, it } from "vitest"
import { paintColoured, paintPlain } from "../../src/terminal/Paint.js"

it.each([
  ["good", "green"],
  ["bad", "red"],
  ["warn", "yellow"],
  ["name", "cyan"],
  ["faint", "gray"],
  ["strong", "bold"]
] as const)("a text with the tone %s has Node's codes of the style %s", (tone, style) => {
  const [begin, end] = inspect.colors[style]!
  expect(paintColoured(tone, "ready")).toBe(`\u001b[${begin}mready\u001b[${end}m`)
  expect(paintColoured(tone, "")).toBe("")
  expect(paintPlain(tone, "ready")).toBe("ready")
})
