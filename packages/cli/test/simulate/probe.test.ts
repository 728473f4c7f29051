import { Clock, Effect } from "effect"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { it } from "vitest"
import { audit } from "@workshop/cli/simulate/auditor/audit"
import { inProcessFace, layer } from "@workshop/cli/simulate/InProcessFace"
import { cast, simulation } from "@workshop/cli/simulate/simulation"

const seeds = (process.env.SEEDS ?? "1").split(",").map(Number)
const steps = Number(process.env.STEPS ?? 300)
it("probe", async () => {
  for (const seed of seeds) {
    const t = performance.now()
    const c = cast(seed)
    const evidence = await Effect.runPromise(
      Effect.flatMap(inProcessFace, (face) =>
        simulation(face, c, { seed, steps, shops: 3 }, { isOver: () => false, progress: () => Effect.void, token: null })
      ).pipe(Effect.provide(layer(MemoryStore.layer, seed, c.receivers)), Effect.scoped)
    )
    const t1 = performance.now()
    const violations = audit(evidence)
    const t2 = performance.now()
    console.log(seed, c.witness.digest().slice(0, 12), "exchanges", evidence.exchanges.length, "receptions", evidence.receptions.length, Math.round(t1 - t), Math.round(t2 - t1), "violations", violations.length)
    const by: Record<string, number> = {}
    for (const e of evidence.exchanges) { const k = `${e.act} ${e.answer?.status ?? "cut"} ${e.answer?.body.error?.code ?? ""} ${e.answer?.body.error?.details?.reason ?? e.answer?.body.error?.details?.limit ?? ""}`; by[k] = (by[k] ?? 0) + 1 }
    if (process.env.ACTS) console.log(Object.entries(by).sort().map(([a, b]) => `${b} ${a}`).join("\n"))
    const seen = new Set<string>()
    for (const v of violations) { const k = v.rule + v.message.replaceAll(/[0-9a-f]{8}-[0-9a-f-]+/g, "ID").replaceAll(/\d+/g, "N"); if (seen.has(k)) continue; seen.add(k); console.log(v.rule, v.message, JSON.stringify(v.evidence).slice(0, Number(process.env.LEN ?? 600))) }
  }
}, 600000)
