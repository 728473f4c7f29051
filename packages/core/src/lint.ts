/**
 * Entry `@workshop/core/lint`: for projects that lint with ESLint and the types of typescript-eslint. It has a plugin
 * whose rule reports results of the Promise API that are not used.
 *
 * @example
 * ```ts
 * import { plugin } from "@workshop/core/lint"
 * ```
 *
 * @packageDocumentation
 */

/** The part of a type of TypeScript's checker that the rule needs. */
interface Type {
  readonly types?: ReadonlyArray<Type>
  readonly getProperty: (name: string) => unknown
}

interface Checker {
  readonly getAwaitedType: (type: Type) => Type | undefined
}

/** The part of typescript-eslint's parser that the rule uses. */
interface ParserServices {
  readonly getTypeAtLocation?: (node: unknown) => Type
  readonly program?: { readonly getTypeChecker: () => Checker } | null
}

/** A statement of the program that is checked. */
export interface StatementNode {
  /** The expression that the statement evaluates, as a node of ESTree. */
  readonly expression: unknown
}

/** The context that ESLint passes to a rule. */
export interface RuleContext {
  /** The source, with the type information of typescript-eslint if it is configured. */
  readonly sourceCode: { readonly parserServices?: unknown }
  /** Reports a problem at a node of the program. */
  readonly report: (problem: { readonly node: unknown; readonly messageId: "ignored" }) => void
}

/** Whether a type is a `Result`: one member of the union has a `refusal`, and all have `ok`. */
const isResult = (type: Type): boolean => {
  const parts = type.types ?? [type]
  const has = (name: string) => (part: Type) => part.getProperty(name) !== undefined
  return parts.every(has("ok")) && parts.some(has("refusal"))
}

/** Reports a statement that calls a method of the Promise API and does not use its result. */
const ignoredRefusal = {
  meta: {
    type: "problem",
    docs: { description: "Check the result of a call, or call the method on orThrow" },
    messages: {
      ignored:
        "This call ignores a refusal. Check `ok` of its result, wrap the call in unwrap, or call the method on orThrow."
    },
    schema: []
  },
  create: (context: RuleContext) => {
    const services = context.sourceCode.parserServices as ParserServices | undefined
    const { getTypeAtLocation, program } = services ?? {}
    if (getTypeAtLocation === undefined || !program)
      throw new Error(
        "workshop/ignored-refusal needs type information. Set parserOptions.projectService of typescript-eslint"
      )
    const checker = program.getTypeChecker()
    return {
      ExpressionStatement: (statement: StatementNode) => {
        const { expression } = statement
        const type = checker.getAwaitedType(getTypeAtLocation(expression))
        if (type !== undefined && isResult(type)) context.report({ node: expression, messageId: "ignored" })
      }
    }
  }
} as const

/** The plugin: `plugins: { workshop }`, with the rule `"workshop/ignored-refusal": "error"`. */
export const plugin = { meta: { name: "@workshop/core/lint" }, rules: { "ignored-refusal": ignoredRefusal } } as const
