import type { Case } from "./Case.js"
import { accessCases } from "./cases/access.js"
import { clientCases } from "./cases/clients.js"
import { closureCases } from "./cases/closures.js"
import { creationCases } from "./cases/creation.js"
import { deliveryCases } from "./cases/deliveries.js"
import { errorCases } from "./cases/errors.js"
import { eventCases } from "./cases/events.js"
import { idempotencyCases } from "./cases/idempotency.js"
import { limitCases } from "./cases/limits.js"
import { listCases } from "./cases/lists.js"
import { numberCases } from "./cases/numbers.js"
import { envelopeCases, fieldCases, versioningCases } from "./cases/resources.js"
import { sandboxCases } from "./cases/sandbox.js"
import { statusCases } from "./cases/status.js"

/** Every case, in the order of the specification. */
export const suite: ReadonlyArray<Case> = [
  envelopeCases,
  fieldCases,
  statusCases,
  closureCases,
  creationCases,
  idempotencyCases,
  listCases,
  numberCases,
  clientCases,
  accessCases,
  eventCases,
  deliveryCases,
  errorCases,
  limitCases,
  versioningCases,
  sandboxCases
].flat()
