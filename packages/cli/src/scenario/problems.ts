import { inputIssues } from "@workshop/core"
import { SchemaAST as AST, Option, type ParseResult } from "effect"
import { didYouMean } from "../terminal/nearestName.js"
import type { Path, Problem, Source } from "./Source.js"

/** A problem at a place of a scenario. */
export interface PathProblem {
  readonly path: Path
  readonly message: string
  /** The field's name is wrong, and not its value. */
  readonly isOfName: boolean
  /** Common to all problems of one mistake, which is reported once, where it is met first. */
  readonly mistake?: string
}

/** Everything that a check finds. */
export type Problems = Iterable<PathProblem>

/** A problem with the value at a path. */
export const problemAt = (path: Path, message: string, mistake?: string): PathProblem => ({
  path,
  message,
  isOfName: false,
  ...(mistake === undefined ? {} : { mistake })
})

/** A problem with the name of a field. */
export const problemWithName = (path: Path, message: string): PathProblem => ({ path, message, isOfName: true })

type Placed = Problem & Pick<PathProblem, "mistake">

const inWords = (lines: ReadonlyArray<number>): string =>
  lines.length === 1
    ? `Line ${lines[0]} is skipped because of it.`
    : `Lines ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)} are skipped because of it.`

/** A mistake with those places after it that meet it again. */
const withFollowers = ({ mistake, ...problem }: Placed, all: ReadonlyArray<Placed>): Problem => {
  const lines = all.filter((other) => mistake !== undefined && other.mistake === mistake).map(({ line }) => line)
  const later = [...new Set(lines)].filter((line) => line !== problem.line)
  return later.length === 0 ? problem : { ...problem, message: `${problem.message} ${inWords(later)}` }
}

/** The problems in the order of the file: at each place the first one, and each mistake once. */
export const placed = (problems: ReadonlyArray<PathProblem>, source: Source): ReadonlyArray<Problem> => {
  const found = problems.map(
    ({ path, message, isOfName, mistake }): Placed => ({
      ...(isOfName ? source.placeOfName(path) : source.place(path)),
      path: path.join("."),
      message: /[.?]$/.test(message) ? message : `${message}.`,
      ...(mistake === undefined ? {} : { mistake })
    })
  )
  const inOrder = found
    .filter(({ path }, i) => found.findIndex((other) => other.path === path) === i)
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
  return inOrder
    .filter(({ mistake }, i) => mistake === undefined || inOrder.findIndex((one) => one.mistake === mistake) === i)
    .map((problem) => withFollowers(problem, inOrder))
}

const many = <A>(one: ParseResult.SingleOrNonEmpty<A>): ReadonlyArray<A> => (Array.isArray(one) ? one : [one as A])

/** The names of the fields that a schema knows; of a choice, those of all. */
const fieldsOf = (ast: AST.AST): ReadonlyArray<string> => {
  if (AST.isTypeLiteral(ast)) return ast.propertySignatures.map(({ name }) => String(name))
  if (AST.isUnion(ast)) return ast.types.flatMap(fieldsOf)
  if (AST.isRefinement(ast) || AST.isTransformation(ast)) return fieldsOf(ast.from)
  return []
}

const goesDeep = (issue: ParseResult.ParseIssue): boolean => {
  switch (issue._tag) {
    case "Pointer":
      return true
    case "Composite":
      return many(issue.issues).some(goesDeep)
    case "Refinement":
    case "Transformation":
      return goesDeep(issue.issue)
    default:
      return false
  }
}

const authored = (ast: AST.Annotated, issue: ParseResult.ParseIssue): string | undefined => {
  const message = Option.getOrUndefined(AST.getMessageAnnotation(ast))?.(issue)
  return typeof message === "string" ? message : undefined
}

const leaf = (issue: ParseResult.ParseIssue, path: Path): ReadonlyArray<PathProblem> => {
  const ast = "ast" in issue ? issue.ast : undefined
  const message = (ast && authored(ast, issue)) ?? inputIssues(issue)[0]?.message ?? "is not valid"
  return [problemAt(path, message)]
}

const unknownField = (owner: AST.AST, path: Path): PathProblem => {
  const known = fieldsOf(owner)
  if (known.length === 0) return problemWithName(path, "is no name: use letters, digits and _, without a $")
  const list = known.length > 0 && known.length <= 12 ? ` It takes ${known.join(", ")}.` : ""
  const meant = didYouMean(String(path.at(-1)), known)
  return problemWithName(
    path,
    `is not known here${meant === "" ? `; correct its name or leave it out.${list}` : meant}`
  )
}

/** The problems that a schema found, a line each; for a choice, those of the nearest alternative. */
export const schemaProblems = (
  issue: ParseResult.ParseIssue,
  path: Path = [],
  owner?: AST.AST
): ReadonlyArray<PathProblem> => {
  switch (issue._tag) {
    case "Pointer":
      return schemaProblems(
        issue.issue,
        [...path, ...many(issue.path).map((part) => (typeof part === "symbol" ? String(part) : part))] as Path,
        owner
      )
    case "Composite": {
      const inner = many(issue.issues)
      if (!AST.isUnion(issue.ast)) return inner.flatMap((one) => schemaProblems(one, path, issue.ast))
      const deep = inner.find(goesDeep)
      return deep === undefined ? leaf(issue, path) : schemaProblems(deep, path)
    }
    case "Unexpected":
      return [unknownField(owner ?? AST.anyKeyword, path)]
    case "Refinement":
    case "Transformation":
      return goesDeep(issue) ? schemaProblems(issue.issue, path) : leaf(issue, path)
    default:
      return leaf(issue, path)
  }
}
