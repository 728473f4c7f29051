import { DAY_MS } from "@workshop/core/domain/Instant"
import { LEAST_KEPT_MS } from "@workshop/store-pg/retention/KeptEvents"
import { Either } from "effect"
import { observeOptions } from "../observe/ObserveOptions.js"
import { databaseUrlFlag, noMigrateFlag, secretsKey } from "../StoreFlags.js"
import { value } from "../terminal/Flags.js"
import { duration, host, optional, port } from "../terminal/Readers.js"
import { refuseNetwork, signatureHeader, webhookPort } from "./WebhookOptions.js"

/** How long events are kept; `serve` has it too. */
export const keepEvents = value({
  name: "keep-events",
  placeholder: "duration",
  description:
    "How long events and their attempts are kept in Postgres, at least 7d; those still to be delivered stay.",
  read: (given) =>
    Either.filterOrLeft(
      duration(given),
      (length) => length >= LEAST_KEPT_MS,
      () => `must be at least ${LEAST_KEPT_MS / DAY_MS}d, such as 7d or 90d`
    ),
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
    read: host,
    fallback: "127.0.0.1"
  }),
  statusPort: value({
    name: "status-port",
    placeholder: "number",
    description:
      "Answer /healthz, /readyz and /metrics there; 0 takes a free port. Unless told, nothing is listened to.",
    read: optional(port),
    fallback: ""
  }),
  ...observeOptions
}
