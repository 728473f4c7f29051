// The diagrams of docs/how-it-is-built.md: the dependencies of the packages, and the path of a request.
import { readdirSync, readFileSync } from "node:fs"
import { Effect } from "effect"
import { AUTHENTICATION } from "../packages/core/dist/http/authentication.js"
import { makeEndpointHandler } from "../packages/core/dist/http/endpointChecks.js"
import { workshopChecks } from "../packages/core/dist/http/workshopRoutes.js"

/** @param {ReadonlyArray<string>} lines */
const mermaid = (lines) => `\`\`\`mermaid\n${lines.join("\n")}\n\`\`\``

/** The packages of this project that each package depends on. */
const needs = readdirSync("packages").map((folder) => {
  const { dependencies = {} } = JSON.parse(readFileSync(`packages/${folder}/package.json`, "utf8"))
  const ours = Object.keys(dependencies).filter((name) => name.startsWith("@workshop/"))
  return { folder, ours: ours.map((name) => name.slice("@workshop/".length)).sort() }
})

/** The dependencies of the packages. An arrow is left out if others lead to the same package. */
export const packagesDiagram = mermaid([
  "flowchart LR",
  ...needs.flatMap(({ folder, ours }) => {
    const further = new Set(ours.flatMap((name) => needs.find((other) => other.folder === name)?.ours ?? []))
    return ours.filter((name) => !further.has(name)).map((name) => `    ${folder} --> ${name}`)
  })
])

/** A handler whose description alone is used. */
const handler = makeEndpointHandler({ handlers: new Map(), callerOf: () => null, validateResponses: false })

/** The path of a `POST /v1/tickets`. The checks are read from the service, in its order (Specification, Errors). */
const STEPS = /** @type {const} */ ([
  ["client", "server", "the request"],
  ["server", "checks", "method, path and headers"],
  ...workshopChecks({ ...AUTHENTICATION, run: () => Effect.never }, handler).steps.map(({ name, refuses }) => [
    "checks",
    "checks",
    `${name}: ${refuses}`
  ]),
  ["checks", "service", "the input, parsed by the endpoint's schemas"],
  ["service", "store", "a command: the data it needs, and a pure decision"],
  ["store", "store", "waits for the shop's earlier commands, loads, decides, saves all changes and events"],
  ["store", "service", "the ticket, or a refusal without any change"],
  ["service", "checks", "the outcome"],
  ["checks", "client", "the response: 201, or the refusal's status from the error table"],
  ["store", "dispatcher", "a claimed delivery"],
  ["dispatcher", "receiver", "the signed event, retried until a 2xx"]
])

/** The path of a request, from its first byte to the webhook. */
export const requestDiagram = mermaid([
  "sequenceDiagram",
  ...[...new Set(STEPS.flatMap((step) => step.slice(0, 2)))].map((name) => `    participant ${name}`),
  ...STEPS.map(([from, to, what]) => `    ${from}->>${to}: ${what}`)
])
