import { Console, Effect } from "effect"
import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { command, flagsOf, toggleFlag } from "../terminal/commands.js"

const own = flagsOf("openapi")

const options = {
  signatureHeader,
  sandbox: own.toggle("sandbox", "Print the OpenAPI document of the sandbox API."),
  yaml: toggleFlag("yaml", "Print YAML instead of JSON.")
}

const documents = {
  api: async (signatureHeader: string) => (await import("@workshop/core/openapi")).documentOf({ signatureHeader }),
  sandbox: async () => (await import("@workshop/http-node/sandbox")).sandboxDocument()
}

/**
 * `workshop openapi` (Specification, Commands): the documents that a server serves at `/openapi.json` and
 * `/sandbox/openapi.json`, except for the address of the server.
 */
export const openApiCommand = command({
  name: "openapi",
  examples: ["workshop openapi > openapi.json", "workshop openapi --yaml"],
  options,
  run: ({ signatureHeader: header, sandbox, yaml }) =>
    Effect.gen(function* () {
      const document = yield* Effect.promise(() => (sandbox ? documents.sandbox() : documents.api(header)))
      if (!yaml) return yield* Console.log(JSON.stringify(document, null, 2))
      const { stringify } = yield* Effect.promise(() => import("yaml"))
      return yield* Console.log(stringify(document, { aliasDuplicateObjects: false, lineWidth: 100 }))
    })
})
