import { Command } from "@effect/cli"
import { Console, Effect } from "effect"
import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { toggle } from "../terminal/Flags.js"

const options = { signatureHeader, yaml: toggle("yaml", "Print YAML in place of JSON.") }

/** `workshop openapi` (contract §11): the document that a server of the same `--signature-header` serves at `/openapi.json`. */
export const openApiCommand = Command.make("openapi", options, ({ signatureHeader: header, yaml }) =>
  Effect.gen(function* () {
    const { documentOf } = yield* Effect.promise(() => import("@workshop/core/http/openapi/OpenApi"))
    const document = documentOf({ signatureHeader: header })
    if (!yaml) return yield* Console.log(JSON.stringify(document, null, 2))
    const { stringify } = yield* Effect.promise(() => import("yaml"))
    return yield* Console.log(stringify(document, { aliasDuplicateObjects: false, lineWidth: 100 }))
  })
).pipe(Command.withDescription("Print the OpenAPI 3.1 document"))
