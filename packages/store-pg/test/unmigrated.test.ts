import { type LogLine, start } from "@workshop/core/promise"
import { Effect } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { layer } from "../src/PgStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { runTest } from "./nodes/Node.js"

describe("a database that was never migrated", { timeout: 60_000 }, () => {
  it("on an unmigrated database, all background work logs one line in total, with the remedy and without a stack", () =>
    runTest(
      Effect.flatMap(testDatabase, ({ url }) =>
        Effect.promise(async () => {
          const client = new pg.Client({ connectionString: url })
          await client.connect()
          await client.query("drop schema workshop cascade")
          const lines: Array<LogLine> = []
          const workshop = await start({
            store: layer({ url }),
            send: async () => ({ status: 200 }),
            notifyClient: async () => {},
            logger: (line) => void lines.push(line)
          })
          const works = [workshop.closer, workshop.dispatcher, workshop.notificationSender, workshop.retention]
          for (const work of works) {
            const message = expect.stringMatching(/^The database does not have the workshop's schema/)
            expect(await work.runOnce()).toMatchObject({ ok: false, refusal: { message } })
          }
          await expect.poll(() => lines.length).toBeGreaterThan(0)
          // Each of the four background processes runs at the start, so all four have failed by now.
          await workshop.stop()
          expect(lines.map(({ message, error }) => [message, error])).toEqual([
            [
              expect.stringMatching(
                /^The background work has stopped until this is solved\. The database does not have the workshop's schema.*\. To create or update the schema, call /
              ),
              undefined
            ]
          ])
          await client.end()
        })
      )
    ))
})
