/** Entry `@workshop/store-memory`: a store in the process's memory, as a whole and in its parts. */

export { Memory } from "./Memory.js"
export { layerCells, memoryCells } from "./MemoryCells.js"
export { memoryDeliveries, memoryDeliveryLog } from "./MemoryDeliveries.js"
export { memoryClosures, memoryDirectory, memoryNotificationQueue } from "./MemoryDirectory.js"
export { memoryPersonalData } from "./MemoryPersonalData.js"
export { memoryReads } from "./MemoryReads.js"
export { memorySandboxData } from "./MemorySandboxData.js"
export { layer, layerOn, memoryAuditLog, memoryRateLimits } from "./MemoryStore.js"
