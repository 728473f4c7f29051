import { existsSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { editorSchema } from "@workshop/testers/internal/scenario"
import { Console, Effect } from "effect"
import { refuse } from "../CommandRefused.js"

/** The file that `workshop scenario new` writes: a scenario that passes, with comments on how it works. */
const startingText = (schema: string): string => `# yaml-language-server: $schema=${schema}
# Run it:  npx workshop scenario run FILE
# All actions and expectations: docs/scenarios.md

name: A collected ticket goes back to the workshop within 24 hours, and not later
section: "3"

# The shops and clients at the start. Every name can be used with a $ before it: $lac.id, $amira.phone
given:
  shops:
    lac:
      webhook: true # a receiver that responds 200 to every event
  clients:
    amira:
      knows: [$lac] # she visited the counter earlier

# One step after another. A step without \`expect\` must succeed.
steps:
  - create ticket: { service: Resoling, item: Brown boots, client_id: $amira.id }
    as: boots # from here on $boots is this ticket
    expect: { status: 201, data: { state: workshop, number: $number } }

  - set status: { ticket: $boots, status: ready }
  - set status: { ticket: $boots, status: collected }

  # The clock is stopped until a step moves it.
  - advance: 24h
  - set status: { ticket: $boots, status: workshop }
    expect: { data: { state: workshop, collected_at: null } }

  - set status: { ticket: $boots, status: ready }
  - set status: { ticket: $boots, status: collected }
  - advance: 24h
  - advance: 1ms
  - set status: { ticket: $boots, status: workshop }
    expect: 409 REOPEN_WINDOW

  # The shop's system received these events, in this order, each with a valid signature.
  - expect received:
      - ticket.created
      - client.linked
      - ticket.ready
      - { type: client.notified, data: { channel: app } }
      - ticket.collected
      - { type: ticket.reopened, data: { from: collected } }
      - ticket.ready
      - client.notified
      - ticket.collected
`

const SCHEMA = "scenario.schema.json"

const refusalMessages: Readonly<Record<string, (file: string) => string>> = {
  EEXIST: (file) => `The file ${file} already exists and was not changed. Choose another name.`,
  ENOENT: (file) => `There is no folder ${dirname(file)}. Create the folder first.`
}

const writeNewFile = (file: string, text: string) =>
  Effect.try({
    try: () => writeFileSync(file, text, { flag: "wx" }),
    catch: (cause) => {
      const refusalMessage = refusalMessages[(cause as { code?: string }).code ?? ""]
      return refuse(refusalMessage?.(file) ?? `The file ${file} cannot be written. Choose another folder.`)
    }
  })

/**
 * `workshop scenario new`: writes a file to start from, and the schema next to it unless there is one. No file is
 * overwritten.
 */
export const writeStartingFile = Effect.fnUntraced(function* (name: string) {
  const file = /\.ya?ml$/.test(name) ? name : `${name}.yaml`
  yield* writeNewFile(file, startingText(SCHEMA))
  const schema = join(dirname(file), SCHEMA)
  if (!existsSync(schema)) yield* writeNewFile(schema, editorSchema())
  yield* Console.log(`Created ${file}. Run it with: npx workshop scenario run ${file}`)
})
