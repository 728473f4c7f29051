import { SchemaAST as AST, Data, Option, type ParseResult, Schema } from "effect"

/** One error in an input: its field, and what to change. */
export interface Issue {
  /** The dotted path of the field, such as `items.1.label`, or the name of an option or argument. */
  readonly field: string
  /** The rule that the value breaks, such as `must be a whole number`, to be read after the name of the field. */
  readonly message: string
  /** The location in the API's request of an argument that is not a field of its body, such as an id in the path. */
  readonly api?: { readonly in: "body" | "query" | "path" | "header"; readonly field: string }
}

/** An input breaks a rule that depends on the shop's data, such as a quote below the deposit (Specification, Errors; Tickets). */
export class InvalidInput extends Data.TaggedError("InvalidInput")<{
  readonly issues: ReadonlyArray<Issue>
  /**
   * The arguments to pass, if a method was called with too few or the wrong arguments. Responses of the API do not
   * contain this.
   */
  readonly usage?: string
}> {
  /** All issues in one text, for logs and for people. */
  override get message() {
    const issues = this.issues.map(({ field, message }) => `${field} ${message}`)
    return [...issues, ...(this.usage === undefined ? [] : [this.usage])].join("; ")
  }
}

const literalsOf = (ast: AST.AST): ReadonlyArray<string> | undefined => {
  if (AST.isLiteral(ast)) return ast.literal === null ? [] : [String(ast.literal)]
  if (!AST.isUnion(ast)) return undefined
  const members = ast.types.map(literalsOf)
  return members.every((member) => member !== undefined) ? members.flat() : undefined
}

/** A description of a type's values for people. */
const describeExpectation = (ast: AST.AST): string => {
  const values = literalsOf(ast)
  if (values !== undefined) return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(", ")}`
  switch (ast._tag) {
    case "StringKeyword":
    case "TemplateLiteral":
      return "must be a string"
    case "NumberKeyword":
      return "must be a number"
    case "BooleanKeyword":
      return "must be true or false"
    case "TypeLiteral":
      return "must be an object"
    case "TupleType":
      return "must be a list"
    case "Refinement":
      return isIntegerSchema(ast) ? "must be a whole number" : describeExpectation(ast.from)
    case "Transformation":
      return describeExpectation(ast.from)
    case "Union":
      return describeExpectation(ast.types[0]!)
    default:
      return "is not valid"
  }
}

const isIntegerSchema = (ast: AST.Refinement): boolean =>
  ast.annotations[AST.SchemaIdAnnotationId] === Schema.IntSchemaId

const isNull = (ast: AST.AST): boolean => AST.isLiteral(ast) && ast.literal === null

/** The rule that a filter of `Schema` states in its description, such as "a non empty string". */
const descriptionMessage = (issue: ParseResult.Refinement): string | undefined => {
  if (issue.issue._tag !== "Type" || issue.issue.message !== undefined) return undefined
  const description = Option.getOrUndefined(AST.getDescriptionAnnotation(issue.ast))
  return description !== undefined && /^an? /.test(description) ? `must be ${description}` : undefined
}

/** The message of the schema's author, if it is plain text. */
const authorMessage = (ast: AST.Annotated, issue: ParseResult.ParseIssue): string | undefined => {
  const message = Option.getOrUndefined(AST.getMessageAnnotation(ast))?.(issue)
  return typeof message === "string" ? message : undefined
}

/** The name of a whole value by the identifier or brand of its schema, in the style of fields, such as `ticket_id`. */
export const nameOfValue = (ast: AST.Annotated): string | undefined => {
  const brand = Option.map(AST.getBrandAnnotation(ast), ([brand]) => String(brand))
  const name = Option.getOrUndefined(Option.orElse(AST.getIdentifierAnnotation(ast), () => brand))
  return name?.replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase()
}

// This compares the tag, because `Date` in the realm of a test runner is another class.
const isDate = (value: unknown): boolean => Object.prototype.toString.call(value) === "[object Date]"

/** A message without the value that Effect's own decoders repeat, as in `Unable to decode "x" into a number`. */
const removeValue = (message: string | undefined): string | undefined =>
  message?.startsWith("Unable to decode ")
    ? `must be ${message.slice(message.lastIndexOf(" into ") + " into ".length).split(". ")[0]}`
    : message

/** The message for a value of another type. JSON has no dates, so a date comes from a program, such as from a column of its database. */
const wrongTypeMessage = (issue: ParseResult.Type): string => {
  const message = removeValue(issue.message) ?? authorMessage(issue.ast, issue) ?? describeExpectation(issue.ast)
  return message === "must be a string" && isDate(issue.actual)
    ? `${message}, such as the toISOString() of the Date`
    : message
}

const toArray = <A>(oneOrMany: ParseResult.SingleOrNonEmpty<A>): ReadonlyArray<A> =>
  Array.isArray(oneOrMany) ? oneOrMany : [oneOrMany as A]

const pathTo = (path: string, suffix: ParseResult.Path): string =>
  [path, ...toArray(suffix).map(String)].filter((part) => part !== "").join(".")

/** The errors of the closest alternative of a union: the one other than null that was refused at the deepest field. */
const findClosestIssues = (issue: ParseResult.Composite, path: string): ReadonlyArray<Issue> => {
  if (literalsOf(issue.ast) !== undefined) return [{ field: path, message: describeExpectation(issue.ast) }]
  const choices = toArray(issue.issues).filter((choice) => !(choice._tag === "Type" && isNull(choice.ast)))
  // Null is never the only alternative.
  return inputIssues(choices.find((choice) => choice._tag !== "Type") ?? choices[0]!, path)
}

/**
 * The errors that a schema found, one line each, with dotted paths. Values are never repeated, because they may be huge, deep or secret.
 */
export const inputIssues = (issue: ParseResult.ParseIssue, path = ""): ReadonlyArray<Issue> => {
  switch (issue._tag) {
    case "Pointer":
      return inputIssues(issue.issue, pathTo(path, issue.path))
    case "Composite":
      return AST.isUnion(issue.ast)
        ? findClosestIssues(issue, path)
        : toArray(issue.issues).flatMap((inner) => inputIssues(inner, path))
    case "Refinement": {
      if (issue.kind === "From") return inputIssues(issue.issue, path)
      const message =
        authorMessage(issue.ast, issue) ??
        (isIntegerSchema(issue.ast) ? describeExpectation(issue.ast) : descriptionMessage(issue))
      return message === undefined ? inputIssues(issue.issue, path) : [{ field: path, message }]
    }
    case "Transformation": {
      const message = issue.kind === "Transformation" ? authorMessage(issue.ast, issue) : undefined
      return message === undefined ? inputIssues(issue.issue, path) : [{ field: path, message }]
    }
    case "Missing":
      return [{ field: path, message: "is required" }]
    case "Unexpected":
      return [{ field: path, message: "is unknown; correct its name or remove it" }]
    case "Type":
      return [{ field: path, message: wrongTypeMessage(issue) }]
    case "Forbidden":
      return [{ field: path, message: "is not valid" }]
  }
}
