import * as MemoryStore from "@workshop/store-memory"
import { Effect } from "effect"
import { it } from "vitest"
import { sixtyOneDays } from "./sixtyOneDays.js"

it("under the TestClock the background work wakes at each due time, so that 61 days take an instant", () =>
  Effect.runPromise(sixtyOneDays(MemoryStore.layer)))
