import type { Case } from "./Case.js"
import { accessCases } from "./cases/access.js"
import { clientCases } from "./cases/clients.js"
import { closureCases } from "./cases/closures.js"
import { creationCases } from "./cases/creation.js"
import { deliveryCases } from "./cases/deliveries.js"
import { envelopeCases } from "./cases/envelope.js"
import { errorCases } from "./cases/errors.js"
import { eventCases } from "./cases/events.js"
import { fieldCases } from "./cases/fields.js"
import { idempotencyCases } from "./cases/idempotency.js"
import { limitCases } from "./cases/limits.js"
import { listCases } from "./cases/lists.js"
import { loyaltyCases } from "./cases/loyalty.js"
import { numberCases } from "./cases/numbers.js"
import { reopeningCases } from "./cases/reopening.js"
import { sandboxCases } from "./cases/sandbox.js"
import { signatureCases } from "./cases/signatures.js"
import { statusCases, statusEffectCases } from "./cases/status.js"
import { switchOffCases } from "./cases/switchOff.js"
import { syncingCases } from "./cases/syncing.js"
import { textCases } from "./cases/texts.js"
import { versioningCases } from "./cases/versioning.js"

/** Every case, in the order of the specification. */
export const suite: ReadonlyArray<Case> = [
  envelopeCases,
  fieldCases,
  statusCases,
  statusEffectCases,
  reopeningCases,
  closureCases,
  creationCases,
  textCases,
  idempotencyCases,
  listCases,
  syncingCases,
  numberCases,
  clientCases,
  loyaltyCases,
  accessCases,
  eventCases,
  signatureCases,
  deliveryCases,
  switchOffCases,
  errorCases,
  limitCases,
  versioningCases,
  sandboxCases
].flat()
