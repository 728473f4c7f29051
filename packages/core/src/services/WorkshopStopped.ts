import { Context, Layer, type Runtime } from "effect"
import { RefusalOf } from "../domain/RefusalOf.js"

/** A method or a mount of a workshop was called after its `stop`. Call it again only on another workshop, such as in another process. */
export class WorkshopStopped extends RefusalOf(
  "WorkshopStopped",
  "This workshop was stopped. Call stop only after the last request, or start another workshop."
) {}

/**
 * Whether a workshop was stopped. Its mounts read this from the runtime, because they have no other reference to the
 * workshop.
 */
export class Lifecycle extends Context.Tag("@workshop/core/Lifecycle")<Lifecycle, { isStopped: boolean }>() {
  static readonly layer = Layer.sync(Lifecycle, () => ({ isStopped: false }))
}

/** Whether the workshop of a runtime was stopped. */
export const isStopped = ({ context }: Runtime.Runtime<Lifecycle>): boolean => Context.get(context, Lifecycle).isStopped
