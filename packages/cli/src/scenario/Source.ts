import {
  type Document,
  isMap,
  isNode,
  isPair,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLError
} from "yaml"

/** A place in a file, from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** The place of a value in the file: the fields that lead to it, from the top. */
export type Path = ReadonlyArray<string | number>

/** Something that is wrong with a file, and what to do. */
export interface Problem extends Position {
  /** Such as `steps.2.expect.status`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
}

const pairOf = (node: unknown, field: string | number) =>
  isMap(node)
    ? node.items.find(({ key }) => isNode(key) && String((key as { value?: unknown }).value) === String(field))
    : undefined

const child = (node: unknown, field: string | number): unknown =>
  isSeq(node) ? node.items[Number(field)] : (pairOf(node, field)?.value ?? undefined)

const startOf = (node: unknown): number | undefined =>
  isNode(node) ? ((node as Node).range?.[0] ?? undefined) : undefined

const hints: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "indent with spaces, not with tabs",
  DUPLICATE_KEY: "this name is there twice: keep one of them",
  BLOCK_AS_IMPLICIT_KEY: "this line is indented too far, or a text with a colon needs quotes",
  MULTILINE_IMPLICIT_KEY: "this line is indented too far, or a text with a colon needs quotes",
  UNEXPECTED_TOKEN: "a text with { } [ ] > or # in it needs quotes"
}

const wrong = ({ code, message }: YAMLError): string =>
  `is no YAML: ${message.split("\n")[0]}; ${hints[code] ?? "correct this line"}.`

const UNENDING = "has aliases (*name) that stand for too much, or for themselves: write out what they stand for."

const EMPTY = "is empty: workshop scenario new writes one to begin with."

/** The value of a document; undefined where its aliases never end, or expand to too much. */
const unfolded = (document: Document): unknown => {
  try {
    const value: unknown = document.toJS()
    JSON.stringify(value)
    return value
  } catch {
    return undefined
  }
}

/** A scenario's text, with the places of all that is in it. */
export class Source {
  /** The value of the text, as JSON; undefined where it is not valid YAML. */
  readonly value: unknown
  /** The first syntax error: the others mostly follow from it. */
  readonly faults: ReadonlyArray<Problem>
  readonly #document: Document
  readonly #lines = new LineCounter()

  constructor(text: string) {
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false })
    const [first] = this.#document.errors
    this.value = first === undefined ? unfolded(this.#document) : undefined
    if (first !== undefined) this.faults = [{ ...this.#at(first.pos[0]), path: "", message: wrong(first) }]
    else if (this.value === undefined) this.faults = [{ ...this.#at(0), path: "", message: UNENDING }]
    else this.faults = this.value === null ? [{ ...this.#at(0), path: "", message: EMPTY }] : []
  }

  /** The position of the value at a path, or else of the value that would contain it. */
  place(path: Path): Position {
    let node: unknown = this.#document.contents
    let start = startOf(node)
    for (const field of path) {
      const pair = pairOf(node, field)
      const next = child(node, field)
      start = startOf(next) ?? (isPair(pair) ? startOf(pair.key) : undefined) ?? start
      node = next
    }
    return this.#at(start ?? 0)
  }

  /** The position of the name of a field. */
  placeOfName(path: Path): Position {
    const last = path.at(-1)
    let node: unknown = this.#document.contents
    for (const field of path.slice(0, -1)) node = child(node, field)
    const start = last === undefined ? undefined : startOf(pairOf(node, last)?.key)
    return start === undefined ? this.place(path) : this.#at(start)
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}
