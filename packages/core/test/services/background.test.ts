import * as MemoryStore from "@workshop/store-memory"
import { Effect } from "effect"
import { it } from "vitest"
import { sixtyOneDays } from "./sixtyOneDays.js"

it("under the TestClock the background work wakes when something is due: 61 days take an instant, and each act has its own time", () =>
  Effect.runPromise(sixtyOneDays(MemoryStore.layer)))
