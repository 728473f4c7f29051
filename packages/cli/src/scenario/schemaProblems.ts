import { flatten } from "@workshop/core/domain/SchemaIssue"
import { SchemaAST as AST, Option, type ParseResult } from "effect"
import { didYouMean } from "../terminal/nearestName.js"
import { type Complaint, complain, complainOfName } from "./Complaint.js"
import type { Path } from "./Source.js"

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

const leaf = (issue: ParseResult.ParseIssue, path: Path): ReadonlyArray<Complaint> => {
  const ast = "ast" in issue ? issue.ast : undefined
  const message = (ast && authored(ast, issue)) ?? flatten(issue)[0]?.message ?? "is not valid"
  return [complain(path, message)]
}

const unknownField = (owner: AST.AST, path: Path): Complaint => {
  const known = fieldsOf(owner)
  if (known.length === 0) return complainOfName(path, "is no name: use letters, digits and _, without a $")
  const list = known.length > 0 && known.length <= 12 ? ` It takes ${known.join(", ")}.` : ""
  const meant = didYouMean(String(path.at(-1)), known)
  return complainOfName(path, `is not known here${meant === "" ? `; correct its name or leave it out.${list}` : meant}`)
}

/** What a schema found wrong, a line each; of a choice, what is wrong with the one that comes nearest. */
export const complaintsOf = (
  issue: ParseResult.ParseIssue,
  path: Path = [],
  owner?: AST.AST
): ReadonlyArray<Complaint> => {
  switch (issue._tag) {
    case "Pointer":
      return complaintsOf(
        issue.issue,
        [...path, ...many(issue.path).map((part) => (typeof part === "symbol" ? String(part) : part))] as Path,
        owner
      )
    case "Composite": {
      const inner = many(issue.issues)
      if (!AST.isUnion(issue.ast)) return inner.flatMap((one) => complaintsOf(one, path, issue.ast))
      const deep = inner.find(goesDeep)
      return deep === undefined ? leaf(issue, path) : complaintsOf(deep, path)
    }
    case "Unexpected":
      return [unknownField(owner ?? AST.anyKeyword, path)]
    case "Refinement":
    case "Transformation":
      return goesDeep(issue) ? complaintsOf(issue.issue, path) : leaf(issue, path)
    default:
      return leaf(issue, path)
  }
}
