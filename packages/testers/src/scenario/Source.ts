import { inputIssues } from "@workshop/core"
import { findNearestName } from "@workshop/core/internal"
import { SchemaAST as AST, Option, type ParseResult } from "effect"
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

/** A suggestion such as `; did you mean "create ticket"?`, or an empty text. */
export const didYouMean = (written: string, names: ReadonlyArray<string>): string => {
  const name = findNearestName(written, names)
  return name === undefined ? "" : `; did you mean "${name}"?`
}

/** A line and a column in a file, both from 1. */
export interface Position {
  /** The line, from 1. */
  readonly line: number
  /** The column, from 1. */
  readonly column: number
}

/** The place of a value in the file: the fields that lead to it, from the top. */
export type Path = ReadonlyArray<string | number>

/** An error in a file, with advice. */
export interface Problem extends Position {
  /** The path of the value, such as `steps.2.expect.status`; empty for the whole file. */
  readonly path: string
  /** The error and the advice, in one line. */
  readonly message: string
}

const pairOf = (node: unknown, field: string | number) =>
  isMap(node)
    ? node.items.find(({ key }) => isNode(key) && String((key as { value?: unknown }).value) === String(field))
    : undefined

const childOf = (node: unknown, field: string | number): unknown =>
  isSeq(node) ? node.items[Number(field)] : (pairOf(node, field)?.value ?? undefined)

const startOf = (node: unknown): number | undefined =>
  isNode(node) ? ((node as Node).range?.[0] ?? undefined) : undefined

const hints: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "indent with spaces, not with tabs",
  DUPLICATE_KEY: "this name occurs twice, so remove one of the two",
  BLOCK_AS_IMPLICIT_KEY: "this line is indented too far, or a text with a colon needs quotes",
  MULTILINE_IMPLICIT_KEY: "this line is indented too far, or a text with a colon needs quotes",
  NON_STRING_KEY: "a name must be a text, and not a list or an object",
  UNEXPECTED_TOKEN: "put a text that contains { } [ ] > or # in quotes"
}

const syntaxErrorMessage = ({ code, message }: YAMLError): string =>
  `is not valid YAML: ${message.split("\n")[0]}; ${hints[code] ?? "correct this line"}.`

const UNENDING_ALIASES =
  "has aliases (*name) that are too large or contain themselves. Write out the content instead of the aliases."

const EMPTY_FILE = "is empty. Create a scenario to start from with workshop scenario new."

/** The value of a document; undefined if its aliases are circular or expand to too much. */
const toPlainValue = (document: Document): unknown => {
  try {
    const value: unknown = document.toJS()
    JSON.stringify(value)
    return value
  } catch {
    return undefined
  }
}

/** The text of a scenario, with the positions of its values. */
export class Source {
  /** The value of the text, as JSON; undefined if it is not valid YAML. */
  readonly value: unknown
  /** The first syntax error only, because the others mostly follow from it. */
  readonly faults: ReadonlyArray<Problem>
  readonly #document: Document
  readonly #lines = new LineCounter()

  constructor(text: string) {
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, stringKeys: true })
    const [first] = this.#document.errors
    this.value = first === undefined ? toPlainValue(this.#document) : undefined
    if (first !== undefined) this.faults = [{ ...this.#at(first.pos[0]), path: "", message: syntaxErrorMessage(first) }]
    else if (this.value === undefined) this.faults = [{ ...this.#at(0), path: "", message: UNENDING_ALIASES }]
    else this.faults = this.value === null ? [{ ...this.#at(0), path: "", message: EMPTY_FILE }] : []
  }

  /** The position of the value at a path, or otherwise of the value that would contain it. */
  positionOf(path: Path): Position {
    let node: unknown = this.#document.contents
    let start = startOf(node)
    for (const field of path) {
      const pair = pairOf(node, field)
      const next = childOf(node, field)
      start = startOf(next) ?? (isPair(pair) ? startOf(pair.key) : undefined) ?? start
      node = next
    }
    return this.#at(start ?? 0)
  }

  /** The position of the name of a field. */
  positionOfName(path: Path): Position {
    const lastSegment = path.at(-1)
    let node: unknown = this.#document.contents
    for (const field of path.slice(0, -1)) node = childOf(node, field)
    const start = lastSegment === undefined ? undefined : startOf(pairOf(node, lastSegment)?.key)
    return start === undefined ? this.positionOf(path) : this.#at(start)
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}

/** A problem at a place of a scenario. */
export interface PathProblem {
  readonly path: Path
  readonly message: string
  /** True if the name of the field is wrong, not its value. */
  readonly isOfName: boolean
  /** A text that all problems with the same cause share; only the first of them is reported. */
  readonly groupKey?: string
}

/** The problems that a check finds. */
export type Problems = Iterable<PathProblem>

/** A problem with the value at a path. */
export const problemAt = (path: Path, message: string, groupKey?: string): PathProblem => ({
  path,
  message,
  isOfName: false,
  ...(groupKey === undefined ? {} : { groupKey })
})

/** A problem with the name of a field. */
export const problemWithName = (path: Path, message: string): PathProblem => ({ path, message, isOfName: true })

type PlacedProblem = Problem & Pick<PathProblem, "groupKey">

const followersInWords = (lines: ReadonlyArray<number>): string =>
  lines.length === 1
    ? `Line ${lines[0]} has the same mistake.`
    : `Lines ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)} have the same mistake.`

/** Adds the later lines with the same mistake to the message of a problem. */
const withFollowers = ({ groupKey, ...problem }: PlacedProblem, problems: ReadonlyArray<PlacedProblem>): Problem => {
  const lines = problems
    .filter((other) => groupKey !== undefined && other.groupKey === groupKey)
    .map(({ line }) => line)
  const laterLines = [...new Set(lines)].filter((line) => line !== problem.line)
  return laterLines.length === 0
    ? problem
    : { ...problem, message: `${problem.message} ${followersInWords(laterLines)}` }
}

/** The problems in the order of the file, with only the first one at each place and of each mistake. */
export const placeProblems = (problems: ReadonlyArray<PathProblem>, source: Source): ReadonlyArray<Problem> => {
  const located = problems.map(
    ({ path, message, isOfName, groupKey }): PlacedProblem => ({
      ...(isOfName ? source.positionOfName(path) : source.positionOf(path)),
      path: path.join("."),
      message: /[.?]$/.test(message) ? message : `${message}.`,
      ...(groupKey === undefined ? {} : { groupKey })
    })
  )
  const inOrder = located
    .filter(({ path }, i) => located.findIndex((other) => other.path === path) === i)
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
  return inOrder
    .filter(({ groupKey }, i) => groupKey === undefined || inOrder.findIndex((one) => one.groupKey === groupKey) === i)
    .map((problem) => withFollowers(problem, inOrder))
}

const toList = <A>(one: ParseResult.SingleOrNonEmpty<A>): ReadonlyArray<A> => (Array.isArray(one) ? one : [one as A])

/** The names of the fields of a schema; for a union, the fields of all its members. */
const fieldNamesOf = (ast: AST.AST): ReadonlyArray<string> => {
  if (AST.isTypeLiteral(ast)) return ast.propertySignatures.map(({ name }) => String(name))
  if (AST.isUnion(ast)) return ast.types.flatMap(fieldNamesOf)
  if (AST.isRefinement(ast) || AST.isTransformation(ast)) return fieldNamesOf(ast.from)
  return []
}

const goesDeep = (issue: ParseResult.ParseIssue): boolean => {
  switch (issue._tag) {
    case "Pointer":
      return true
    case "Composite":
      return toList(issue.issues).some(goesDeep)
    case "Refinement":
    case "Transformation":
      return goesDeep(issue.issue)
    default:
      return false
  }
}

const authorMessage = (ast: AST.Annotated, issue: ParseResult.ParseIssue): string | undefined => {
  const message = Option.getOrUndefined(AST.getMessageAnnotation(ast))?.(issue)
  return typeof message === "string" ? message : undefined
}

const leafProblems = (issue: ParseResult.ParseIssue, path: Path): ReadonlyArray<PathProblem> => {
  const ast = "ast" in issue ? issue.ast : undefined
  const message = (ast && authorMessage(ast, issue)) ?? inputIssues(issue)[0]?.message ?? "is not valid"
  return [problemAt(path, message)]
}

const unknownFieldProblem = (owner: AST.AST, path: Path): PathProblem => {
  const fields = fieldNamesOf(owner)
  if (fields.length === 0) return problemWithName(path, "is not a valid name. Use letters, digits and _, without a $")
  const list = fields.length <= 12 ? ` The fields are ${fields.join(", ")}.` : ""
  const suggestion = didYouMean(String(path.at(-1)), fields)
  return problemWithName(
    path,
    `is not a known field${suggestion === "" ? `. Correct its name, or remove it.${list}` : suggestion}`
  )
}

/** The problems that a schema found, one line for each; for a union, the problems of the nearest member. */
export const schemaProblems = (
  issue: ParseResult.ParseIssue,
  path: Path = [],
  owner?: AST.AST
): ReadonlyArray<PathProblem> => {
  switch (issue._tag) {
    case "Pointer":
      return schemaProblems(
        issue.issue,
        [...path, ...toList(issue.path).map((part) => (typeof part === "symbol" ? String(part) : part))] as Path,
        owner
      )
    case "Composite": {
      const inner = toList(issue.issues)
      if (!AST.isUnion(issue.ast)) return inner.flatMap((innerIssue) => schemaProblems(innerIssue, path, issue.ast))
      const deepIssue = inner.find(goesDeep)
      return deepIssue === undefined ? leafProblems(issue, path) : schemaProblems(deepIssue, path)
    }
    case "Unexpected":
      return [unknownFieldProblem(owner ?? AST.anyKeyword, path)]
    case "Refinement":
    case "Transformation":
      return goesDeep(issue) ? schemaProblems(issue.issue, path) : leafProblems(issue, path)
    default:
      return leafProblems(issue, path)
  }
}
