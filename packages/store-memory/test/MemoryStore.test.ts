import { runContract } from "@workshop/core/testing/runContract"
import { layer } from "@workshop/store-memory/MemoryStore"

runContract("The memory store", layer)
