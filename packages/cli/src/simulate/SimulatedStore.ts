import type { Entropy, StorePorts } from "@workshop/core"
import * as MemoryStore from "@workshop/store-memory"
import { Context, type Layer } from "effect"
import type { CommandRefused } from "../CommandRefused.js"
import { type StoreChoice, storeLayer } from "../StoreChoice.js"

type Kept = Pick<StoreChoice, "store" | "databaseUrl" | "dataDir">

/** Only the memory store takes its randomness from the simulation, which makes a seed's run the same again. */
const chosen = (kept: Kept): Layer.Layer<StorePorts, CommandRefused, Entropy> =>
  kept.store === "memory" ? MemoryStore.layer : storeLayer({ ...kept, migrate: true })

/** The store that a simulation in this process plays on: the chosen one, unless a test puts one there that breaks a promise. */
export class SimulatedStore extends Context.Reference<SimulatedStore>()("@workshop/cli/SimulatedStore", {
  defaultValue: () => chosen
}) {}
