import { Draws } from "../fleet/Simulation.js"

/** Values that often break programs: bounds, other types, other alphabets, other spellings of the same value. */
const HARD: ReadonlyArray<unknown> = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 53),
  "",
  " ",
  "0",
  "-1",
  "NaN",
  "null",
  "undefined",
  "__proto__",
  "constructor",
  [],
  {},
  [[]],
  [null],
  { toString: 1 },
  { length: -1 },
  "\u0000",
  "\ud800",
  "\uffff",
  "é",
  "e\u0301",
  "\u202eabc",
  "👩‍👩‍👧",
  "a".repeat(121),
  "x".repeat(2001),
  "%00",
  "%",
  "%zz",
  "../..",
  "' or 1=1 --",
  "$(x)",
  "{{x}}",
  "2026-02-30T00:00:00Z",
  "2026-11-20T10:20:42.123456789Z",
  "2026-11-20T24:00:00Z",
  "+275760-09-13T00:00:00Z",
  "-000001-01-01T00:00:00Z",
  "9999-12-31T23:59:60Z",
  "+21620123456",
  "+",
  "tel:+1",
  "01a1f7f8-2cae-7000-b085-f083f7c56faf",
  "00000000-0000-0000-0000-000000000000",
  "0x10",
  "1e3",
  "١٢",
  "https://127.0.0.1/",
  "https://[::1]:1/"
]

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

const TEXTS = [
  "Hem",
  "Resoling",
  "Zip",
  "ready",
  "workshop",
  "collected",
  "impossible",
  "repair",
  "prepare",
  "sms",
  "call",
  "whatsapp"
]

/** Generates inputs from a seed. Most are nearly valid, because nearly valid inputs get furthest into the code. */
export class Grammar {
  readonly draws: Draws

  constructor(seed: number) {
    this.draws = new Draws(seed)
  }

  hard(): unknown {
    return this.draws.oneOf(HARD)
  }

  word(): string {
    return this.draws.chance(0.7) ? this.draws.oneOf(TEXTS) : textOf(this.hard())
  }

  /** Random characters, most of them printable. */
  noise(max: number): string {
    const length = this.draws.integerBetween(0, max)
    let text = ""
    for (let i = 0; i < length; i++)
      text += String.fromCharCode(
        this.draws.chance(0.85) ? this.draws.integerBetween(32, 126) : this.draws.integerBetween(0, 255)
      )
    return text
  }

  /** A text with a few characters removed, doubled, swapped or replaced. */
  bent(text: string): string {
    let bent = text
    for (let times = this.draws.integerBetween(0, 3); times > 0; times--) {
      const at = this.draws.integerBetween(0, bent.length)
      const [before, after] = [bent.slice(0, at), bent.slice(at)]
      const choice = this.draws.integerBetween(0, 4)
      if (choice === 0) bent = before + after.slice(1)
      else if (choice === 1) bent = before + this.noise(4) + after
      else if (choice === 2) bent = before + after.slice(0, 5).repeat(this.draws.integerBetween(1, 4)) + after
      else if (choice === 3) bent = before.slice(0, this.draws.integerBetween(0, before.length)) + after
      else bent = before + textOf(this.hard()) + after.slice(1)
    }
    return bent
  }

  /** An object with some fields left out, replaced or added. */
  body(fields: Readonly<Record<string, unknown>>): unknown {
    if (this.draws.chance(0.04)) return this.hard()
    const body: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(fields)) {
      if (this.draws.chance(0.25)) continue
      body[name] = this.draws.chance(0.2) ? this.hard() : this.draws.chance(0.1) ? this.bent(textOf(value)) : value
    }
    if (this.draws.chance(0.05)) body[this.word()] = this.hard()
    return body
  }

  /** The text of a JSON body, which is sometimes invalid or has a duplicate member. */
  json(value: unknown): string {
    const text = JSON.stringify(value) ?? ""
    const choice = this.draws.integerBetween(0, 29)
    if (choice === 0) return this.bent(text)
    if (choice === 1) return text.replace("{", '{"service":"Hem","service":"Zip",')
    if (choice === 2) return "[".repeat(this.draws.integerBetween(1, 3000))
    return text
  }
}
