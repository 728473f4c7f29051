import type { ClientId } from "@workshop/core"
import { describe, expect, it } from "vitest"
import { eraser } from "../../src/domain/Person.js"

const client_id = "01980000-0000-7000-8000-000000000001" as ClientId

const erased = (name: string, text: string) => eraser({ client_id, names: [name], phones: [] })(text)

describe("a name taken out of a text", () => {
  it.each([
    ["Amélie", "for Am\u00e9lie, hem", "for [erased], hem"],
    ["Amélie", "for Ame\u0301lie, hem", "for [erased], hem"],
    ["Ame\u0301lie", "AM\u00c9LIE", "[erased]"],
    ["Ben Ali", "Ben  Ali and Ben\nAli and Ben\u00a0Ali", "[erased] and [erased] and [erased]"],
    ["O'Neil (jr.)", "the O'Neil (jr.) boots", "the [erased] boots"],
    ["Ali", "Aligned for ali, Khali", "Aligned for [erased], Khali"],
    ["A", "A hem for A", "A hem for A"]
  ])("%j of %j", (name, text, left) => expect(erased(name, text)).toBe(left))
})
