/**
 * Entry `@workshop/store-memory`: for tests and demonstrations, and for authors of a store who want an example. It has
 * a store in the process's memory, as a layer and as single ports.
 *
 * @example
 * ```ts
 * import * as MemoryStore from "@workshop/store-memory"
 * ```
 *
 * @packageDocumentation
 */

export { Memory } from "./Memory.js"
export { memoryAuditLog } from "./MemoryAuditLog.js"
export { layerCells, memoryCells } from "./MemoryCells.js"
export { memoryClosures } from "./MemoryClosures.js"
export { memoryDeliveries, memoryDeliveryLog } from "./MemoryDeliveries.js"
export { memoryDirectory } from "./MemoryDirectory.js"
export { memoryNotificationQueue } from "./MemoryNotificationQueue.js"
export { memoryPersonalData } from "./MemoryPersonalData.js"
export { memoryRateLimits } from "./MemoryRateLimits.js"
export { memoryReads } from "./MemoryReads.js"
export { memorySandboxData } from "./MemorySandboxData.js"
export { layer, layerOn } from "./MemoryStore.js"
