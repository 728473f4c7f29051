import { inspect } from "node:util"

/** What a piece of text tells, and so how it looks. */
export type Tone = "good" | "bad" | "warn" | "name" | "faint" | "strong"

const looks = {
  good: "green",
  bad: "red",
  warn: "yellow",
  name: "cyan",
  faint: "gray",
  strong: "bold"
} as const satisfies Record<Tone, string>

/** Gives text the look of a tone, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string

/** Whatever is written stays without colours. */
export const plain: Paint = (_, text) => text

/** Colours, whoever reads. `util.styleText` would look at standard output itself, in some versions of Node. */
export const coloured: Paint = (tone, text) => {
  const codes = inspect.colors[looks[tone]]
  return text === "" || codes === undefined ? text : `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m`
}

/** Where something is written to, as far as its looks are concerned. */
export interface Outlet {
  readonly isTTY?: boolean
  readonly columns?: number
}

/**
 * Whether an outlet gets colours: a terminal that can show them, and never with `NO_COLOR` (https://no-color.org).
 * `FORCE_COLOR` decides before both, as it does for Node: on, or off where it is 0 or false.
 */
export const wantsColour = (
  { isTTY }: Outlet,
  { FORCE_COLOR = "", NO_COLOR = "", TERM }: Readonly<Record<string, string | undefined>>
): boolean =>
  FORCE_COLOR === "" ? isTTY === true && NO_COLOR === "" && TERM !== "dumb" : !/^(0|false)$/i.test(FORCE_COLOR)

/** How to write to an outlet, standard output unless told. `--no-color` sets `NO_COLOR`, so it is heeded too. */
export const paintFor = (outlet: Outlet = process.stdout): Paint =>
  wantsColour(outlet, process.env) ? coloured : plain
