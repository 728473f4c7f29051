import { DAY_MS } from "@workshop/core/domain/Instant"
import { LEAST_KEPT_MS } from "@workshop/store-pg/retention/KeptEvents"
import { Schema } from "effect"
import { observeOptions } from "../observe/ObserveOptions.js"
import { databaseUrlFlag, noMigrateFlag, secretsKey } from "../StoreChoice.js"
import { duration, host, port } from "../terminal/decoders.js"
import { optional, value } from "../terminal/flags.js"
import { refuseNetwork, signatureHeader, webhookPort } from "./WebhookOptions.js"

const LEAST_KEPT = `must be at least ${LEAST_KEPT_MS / DAY_MS}d, such as 7d or 90d`

/** How long events are kept; `serve` has it too. */
export const keepEvents = value({
  name: "keep-events",
  placeholder: "duration",
  description:
    "How long events and their attempts are kept in Postgres, at least 7d; those still to be delivered stay.",
  decoder: duration.pipe(Schema.filter((length) => length >= LEAST_KEPT_MS, { message: () => LEAST_KEPT })),
  fallback: "90d"
})

/** The flags of `workshop dispatch` (Specification, Commands). */
export const dispatchOptions = {
  databaseUrl: databaseUrlFlag("The Postgres database, such as postgres://user:password@host:5432/name."),
  noMigrate: noMigrateFlag,
  secretsKey,
  keepEvents,
  signatureHeader,
  webhookPort,
  refuseNetwork,
  statusHost: value({
    name: "status-host",
    placeholder: "address",
    description: "The address of --status-port; 0.0.0.0 listens on all.",
    decoder: host,
    fallback: "127.0.0.1"
  }),
  statusPort: optional({
    name: "status-port",
    placeholder: "number",
    description: "Answer /healthz, /readyz and /metrics there; 0 takes a free port. By default no port is opened.",
    decoder: port
  }),
  ...observeOptions
}
