import { Effect } from "effect"
import { it } from "vitest"
import { sixtyOneDays } from "../../core/test/services/sixtyOneDays.js"
import { layer } from "../src/MigratedStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { testing } from "./nodes/Node.js"

it(
  "under the TestClock on Postgres, 61 days take an instant, and each act has its own time",
  () => testing(Effect.flatMap(testDatabase, ({ url }) => sixtyOneDays(layer({ url })))),
  60_000
)
