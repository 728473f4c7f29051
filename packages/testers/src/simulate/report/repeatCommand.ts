import { SIGNATURE_HEADER } from "@workshop/core/internal"
import type { SimulationBounds } from "../simulation.js"

/** The service that a simulation calls: a kind of store in this process, or a running server. */
interface SimulatedService {
  /** The kind of store, such as `memory`. */
  readonly store: string
  /** The address of a running server; null for a store in this process. */
  readonly baseUrl: string | null
  readonly signatureHeader: string
}

/** The command that repeats a run. */
export const formatRepeatCommand = (
  { store, baseUrl, signatureHeader }: SimulatedService,
  { seed, steps, shops }: SimulationBounds
): string => {
  const storeFlag = baseUrl !== null ? ` --base-url ${baseUrl}` : store === "memory" ? "" : ` --store ${store}`
  const headerFlag = signatureHeader === SIGNATURE_HEADER ? "" : ` --signature-header ${signatureHeader}`
  return `npx workshop simulate --seed ${seed} --steps ${steps} --shops ${shops}${storeFlag}${headerFlag}`
}
