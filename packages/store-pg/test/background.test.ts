import { Effect } from "effect"
import { it } from "vitest"
import { sixtyOneDays } from "../../core/test/services/sixtyOneDays.js"
import { layer } from "../src/MigratedStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { runTest } from "./nodes/Node.js"

it(
  "background work on Postgres runs 61 days of TestClock time, and each action happens at its own instant",
  () => runTest(Effect.flatMap(testDatabase, ({ url }) => sixtyOneDays(layer({ url })))),
  60_000
)
