import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { plugin } from "../../src/lint.js"

// TypeScript 7 has no checker with a JavaScript API, so this test uses the lowest supported TypeScript.
const ts = createRequire(new URL("../../../../test/smallest-typescript/package.json", import.meta.url))(
  "typescript"
) as typeof import("../../../../test/smallest-typescript/node_modules/typescript/lib/typescript.js")

const FILE = "/program.ts"
const RULE = plugin.rules["ignored-refusal"]

/** The statements that the rule reports. */
const reported = (text: string): ReadonlyArray<string> => {
  const host = ts.createCompilerHost({})
  const readOwn = (name: string) =>
    name === FILE ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true) : undefined
  const options = { strict: true, target: ts.ScriptTarget.ES2022, types: [] }
  const program = ts.createProgram([FILE], options, {
    ...host,
    getCurrentDirectory: () => fileURLToPath(new URL(".", import.meta.url)),
    getSourceFile: (name, ...rest) => readOwn(name) ?? host.getSourceFile(name, ...rest)
  })
  const checker = program.getTypeChecker()
  const reports: Array<string> = []
  const source = program.getSourceFile(FILE)!
  const { ExpressionStatement } = RULE.create({
    sourceCode: {
      parserServices: { program, getTypeAtLocation: (node: unknown) => checker.getTypeAtLocation(node as never) }
    },
    report: ({ node }: { readonly node: unknown }) => reports.push((node as { getText: () => string }).getText())
  } as never)
  const visit = (
    node: import("../../../../test/smallest-typescript/node_modules/typescript/lib/typescript.js").Node
  ): void => {
    if (ts.isExpressionStatement(node)) ExpressionStatement(node)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return reports
}

it("the lint rule reports every result that is never used, awaited or not, and nothing else", {
  timeout: 60_000
}, () => {
  const text = `type Result<A, E> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly refusal: E }
declare const move: () => Promise<Result<number, string>>
declare const orThrow: () => Promise<number>
declare const use: (result: unknown) => void
const main = async () => {
  await move()
  move()
  move().then((result) => result)
  use(await move())
  const made = await move()
  if (!made.ok) throw made.refusal
  await orThrow()
  await fetch("http://a.test").then(({ ok }) => ({ ok }))
}
`
  expect(reported(text)).toEqual(["await move()", "move()", "move().then((result) => result)"])
})

it("the lint rule says that it needs types if the parser has none", () => {
  expect(() => RULE.create({ sourceCode: {}, report: () => undefined })).toThrow(
    "workshop/ignored-refusal needs type information. Set parserOptions.projectService of typescript-eslint"
  )
})
