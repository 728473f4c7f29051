import type { AuditLog } from "./AuditLog.js"
import type { Closures } from "./Closures.js"
import type { Deliveries } from "./Deliveries.js"
import type { DeliveryLog } from "./DeliveryLog.js"
import type { Directory } from "./Directory.js"
import type { Messages } from "./Messages.js"
import type { PersonalData } from "./PersonalData.js"
import type { RateLimits } from "./RateLimits.js"
import type { Reads } from "./Reads.js"
import type { Store } from "./Store.js"

/** All that a store provides. */
export type StorePorts =
  | AuditLog
  | Closures
  | Deliveries
  | DeliveryLog
  | Directory
  | Messages
  | PersonalData
  | RateLimits
  | Reads
  | Store
