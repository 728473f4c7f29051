import { auditContract } from "./AuditContract.js"
import { changesContract } from "./ChangesContract.js"
import { claimOrderContract } from "./ClaimOrderContract.js"
import { clientChangesContract } from "./ClientChangesContract.js"
import { clientsContract } from "./ClientsContract.js"
import { clockRepairContract } from "./ClockRepairContract.js"
import { closuresContract } from "./ClosuresContract.js"
import type { ContractCase } from "./ContractCase.js"
import { deliveriesContract } from "./DeliveriesContract.js"
import { deliveryLogContract } from "./DeliveryLogContract.js"
import { directoryContract } from "./DirectoryContract.js"
import { leasesContract } from "./LeasesContract.js"
import { listContract } from "./ListContract.js"
import { messagesContract } from "./MessagesContract.js"
import { personalDataContract } from "./PersonalDataContract.js"
import { rateLimitsContract } from "./RateLimitsContract.js"
import { replayContract } from "./ReplayContract.js"
import { syncContract } from "./SyncContract.js"
import { transactContract } from "./TransactContract.js"
import { webhookRemovalContract } from "./WebhookRemovalContract.js"

/** Everything that a store promises, by port or concept. Whoever writes a store runs it: see `runContract`. */
export const storeContract = {
  "Store: commands": transactContract,
  "Store: changes": changesContract,
  "Store: changes of clients": clientChangesContract,
  "Store: a repaired clock": clockRepairContract,
  "Reads: the list": listContract,
  "Reads: the sync": syncContract,
  "Reads: clients": clientsContract,
  AuditLog: auditContract,
  Directory: directoryContract,
  Closures: closuresContract,
  Deliveries: deliveriesContract,
  "Deliveries: order of claims": claimOrderContract,
  "Deliveries: leases": leasesContract,
  "Deliveries: replays": replayContract,
  "Deliveries: removal of the webhook": webhookRemovalContract,
  DeliveryLog: deliveryLogContract,
  Messages: messagesContract,
  PersonalData: personalDataContract,
  RateLimits: rateLimitsContract
} as const satisfies Record<string, ReadonlyArray<ContractCase>>
