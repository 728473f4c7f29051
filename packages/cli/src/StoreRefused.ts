import type { EmbeddedRefusal } from "@workshop/store-pg/embedded/EmbeddedRefused"
import type { DatabaseFailure } from "@workshop/store-pg/migrate/DatabaseFailed"
import { CommandRefused } from "./OneSentence.js"

const ANOTHER_STORE = "use --store memory, or give a Postgres with --database-url"

/** What the stores say in the names of their options, in those of the flags. */
const remedies: Readonly<Record<EmbeddedRefusal | Exclude<DatabaseFailure, "statement">, string>> = {
  no_binaries: ANOTHER_STORE,
  taken: "stop that one, or choose another with --data-dir",
  not_ours: "run as the one who made it, or choose another with --data-dir",
  other_version: "dump them with the program that wrote them, and load them into a new --data-dir",
  failed: `choose another --data-dir, ${ANOTHER_STORE}`,
  no_url: "check --database-url, or DATABASE_URL",
  unreachable: "check that it runs, and --database-url",
  untrusted:
    "check sslmode in the address, that sslrootcert is the authority of the server's certificate, and with verify-full that the certificate bears the host's name as the address has it"
}

const isMended = (reason: string): reason is keyof typeof remedies => reason in remedies

/** A store's refusal as that of a command, whose person has flags. */
export const storeRefused = (refusal: {
  readonly message: string
  readonly reason?: string
  readonly what?: string
}): CommandRefused => {
  const { message, reason = "", what = message } = refusal
  return new CommandRefused({ message: isMended(reason) ? `${what}: ${remedies[reason]}.` : message })
}
