import { Effect } from "effect"
import { it } from "vitest"
import { sixtyOneDays } from "../../core/test/services/sixtyOneDays.js"
import { layer } from "../src/MigratedStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { testing } from "./nodes/Node.js"

it(
  "on Postgres under the TestClock, 61 days pass at once, and each act has its own time",
  () => testing(Effect.flatMap(testDatabase, ({ url }) => sixtyOneDays(layer({ url })))),
  60_000
)
