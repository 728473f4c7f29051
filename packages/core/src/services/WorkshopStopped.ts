import { RefusalOf } from "../domain/RefusalOf.js"

/** A method or a mount of a workshop was called after its `stop`. Another try helps only in another process, or on another workshop. */
export class WorkshopStopped extends RefusalOf(
  "WorkshopStopped",
  "This workshop was stopped: call stop only after the last request, or start another workshop"
) {}

const stopped = new WeakSet<object>()

/** Keeps that the workshop of a runtime was stopped, for its mounts, which know the runtime alone. */
export const noteStopped = (runtime: object): void => void stopped.add(runtime)

/** Whether the workshop of a runtime was stopped. */
export const isStopped = (runtime: object): boolean => stopped.has(runtime)
