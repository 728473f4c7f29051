// Writes the generated files from the built sources, most of which contain the tables of rules for readers.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fingerprintOf } from "../packages/core/dist/decisions/Idempotency.js"
import { auditActs } from "../packages/core/dist/domain/AuditEntry.js"
import { displayName, isVisible, visibleClient } from "../packages/core/dist/domain/Client.js"
import {
  claimOrder,
  compareClaims,
  nextAttempt,
  nextClaims,
  presentSchedule
} from "../packages/core/dist/domain/Delivery.js"
import { eventTypes } from "../packages/core/dist/domain/EventType.js"
import { Limits, MAX_ATTEMPTS, Policies, retryDelays_ms, ServiceLimits } from "../packages/core/dist/domain/Limits.js"
import { notificationPhone } from "../packages/core/dist/domain/Notification.js"
import { visibleOffers } from "../packages/core/dist/domain/Offer.js"
import { nextNumber, preferredByNumber } from "../packages/core/dist/domain/Ticket.js"
import { closure, fieldsOfMove, moveTo, nextDeadline } from "../packages/core/dist/domain/TicketLifecycle.js"
import { acknowledges, failureSteps, isGone, recordFailure } from "../packages/core/dist/domain/Webhook.js"
import { allowsHost, reachableAddresses } from "../packages/core/dist/domain/WebhookAddress.js"
import { errorCodes, failureRows } from "../packages/core/dist/http/ErrorTable.js"
import { document } from "../packages/core/dist/http/openapi/OpenApi.js"
import { limitExample, refusalExample, refusalSamples } from "../packages/core/dist/http/openapi/Refusals.js"
import { movesTable, stateDiagram, statesTable } from "../packages/core/dist/http/openapi/Text.js"
import { document as sandboxDocument } from "../packages/http-node/dist/sandbox/openapi/SandboxDocument.js"
import { CONNECTION_LIMITS, SERVER_TIMEOUTS } from "../packages/http-node/dist/serverLimits.js"
import { invariants } from "../packages/store-pg/dist/check/invariants.js"
import { apiTypes } from "./apiTypes.mjs"
import { capacity, fleets, measuredOn, ratios, sections, speedCode } from "./benchResults.mjs"
import { packagesDiagram, requestDiagram } from "./diagrams.mjs"
import { clientMethods, promiseMethods } from "./methodsTable.mjs"

const NOTE = "<!-- Written by `npm run codegen`; change the tables in packages/core/src instead. -->"
const diagram = `\`\`\`mermaid\n${stateDiagram}\n\`\`\``

/** @param {ReadonlyArray<string>} head @param {ReadonlyArray<ReadonlyArray<string>>} rows */
const table = (head, rows) => [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")
/** @param {string} text */
const code = (text) => `\`${text}\``

/** @param {string} path @param {ReadonlyArray<string>} parts */
const page = (path, parts) => writeFileSync(path, `${parts.join("\n\n")}\n`)

/**
 * Inserts text between the two markers with a name. A file without them does not change.
 * @param {string} path
 * @param {string} name
 * @param {string} text
 */
const insert = (path, name, text) => {
  const markers = new RegExp(`(<!-- ${name}: generated -->)[\\s\\S]*?(<!-- ${name}: end -->)`)
  const before = readFileSync(path, "utf8")
  if (!markers.test(before)) throw new Error(`${path} has no place for ${name}`)
  writeFileSync(
    path,
    before.replace(markers, (_, open, close) => `${open}\n\n${text}\n\n${close}`)
  )
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const SECOND_MS = 1000

/** @param {number} ms */
const span = (ms) => {
  /** @param {number} n @param {string} unit */
  const counted = (n, unit) => `${n} ${unit}${n === 1 ? "" : "s"}`
  if (ms > 3 * DAY_MS) return counted(ms / DAY_MS, "day")
  if (ms >= HOUR_MS) return counted(ms / HOUR_MS, "hour")
  if (ms >= MINUTE_MS && ms % MINUTE_MS === 0) return counted(ms / MINUTE_MS, "minute")
  return ms >= SECOND_MS ? counted(ms / SECOND_MS, "second") : `${ms} ms`
}

/** A limit with its unit, which is the suffix of its name. @param {string} name @param {number} value */
const amount = (name, value) => {
  const number = value.toLocaleString("en-US")
  if (/(?:_m|M)s$/.test(name)) return span(value)
  if (/bytes$/i.test(name)) return value < 1024 * 1024 ? `${value / 1024} KiB` : `${value / 1024 / 1024} MiB`
  if (name.endsWith("_characters")) return `${number} characters`
  return number
}

/** The docstrings of a table's rows by name, because the page shows the same text as an editor. @param {string} file */
const docstringsOf = (file) =>
  Object.fromEntries(
    [
      ...readFileSync(file, "utf8").matchAll(/^ {2}\/\*\*\s+((?:(?!\*\/)[\s\S])+?)\s+\*\/\n {2}(?:readonly )?(\w+):/gm)
    ].map(([, text, name]) => [name, text?.replace(/^\* /, "").replace(/\s*\n\s*\* ?/g, " ")])
  )

/**
 * The rules that are functions, each with its file in `packages/core/src`.
 * @type {ReadonlyArray<readonly [string, Function, string]>}
 */
const rules = [
  ["The ticket that `by-number` returns", preferredByNumber, "Ticket"],
  ["The number of the next ticket", nextNumber, "Ticket"],
  ["The move that a status makes", moveTo, "TicketLifecycle"],
  ["The fields that a move sets and clears", fieldsOfMove, "TicketLifecycle"],
  ["When a ticket closes by itself", closure, "TicketLifecycle"],
  ["The next deadline of a ticket: its closure, or the end of its time for reopening", nextDeadline, "TicketLifecycle"],
  ["Whether a shop sees a client", isVisible, "Client"],
  ["The fields of a client that a shop sees", visibleClient, "Client"],
  ["The name of a client that a shop sees, in full or abbreviated", displayName, "Client"],
  ["The offers that a client sees", visibleOffers, "Offer"],
  ["The phone number to which a client's notification goes", notificationPhone, "Notification"],
  [`Which delivery of a shop goes first, by ${claimOrder.map(code).join(", ")}`, compareClaims, "Delivery"],
  ["Which deliveries of all shops are claimed", nextClaims, "Delivery"],
  ["When a failed attempt is made again", nextAttempt, "Delivery"],
  [
    "The schedule of a delivery after its webhook was turned on again: its due time, and its attempts since then",
    presentSchedule,
    "Delivery"
  ],
  ["The addresses to which a webhook's URL may lead", reachableAddresses, "WebhookAddress"],
  ["Whether a host with several addresses is allowed", allowsHost, "WebhookAddress"],
  ["Whether a response acknowledges an event: a redirect does not, and is not followed", acknowledges, "Webhook"],
  ["Whether a response turns the webhook off at once", isGone, "Webhook"],
  ["When a failing webhook turns off", recordFailure, "Webhook"],
  ["Whether two requests with one Idempotency-Key are the same", fingerprintOf, "../decisions/Idempotency"]
]

const WINDOW = {
  minute: "a minute from the first use",
  hour: "an hour from the first use",
  calendar_day: "the shop's calendar day"
}

const samples = Object.entries(refusalSamples)
/** @param {string} tag */
const sampleOf = (tag) => samples.find(([, { refusal }]) => refusal._tag === tag)
/** @param {string} code */
const exampleOf = (code) => {
  const sample = samples
    .map(([name]) => refusalExample(/** @type {any} */ (name)))
    .find(({ value }) => value.error.code === code)
  return code === "TOO_MANY_ATTEMPTS" ? limitExample("writes_per_minute") : sample
}
const conflicts = Object.entries(failureRows).flatMap(([tag, row]) => {
  const sample = "reason" in row ? sampleOf(tag) : undefined
  return "reason" in row && sample !== undefined
    ? [[code(row.reason), sample[1].when, refusalExample(/** @type {any} */ (sample[0])).value.error.message]]
    : []
})

writeFileSync("openapi.json", `${JSON.stringify(document, null, 2)}\n`)

const TYPES_NOTE = "// Written by `npm run codegen` from the schemas in packages/core/src; change those instead."
/** @param {string} file @param {ReadonlyArray<string>} roots */
const types = (file, roots) => writeFileSync(file, `${TYPES_NOTE}\n\n${apiTypes(/** @type {any} */ (document), roots)}`)
types("packages/client/src/types.ts", [
  "Client",
  "ConflictDetails",
  "FieldDetails",
  "IssueDetails",
  "LimitDetails",
  "ListMeta",
  "Loyalty",
  "NumberMeta",
  "RepeatableMeta",
  "RewardRedeemed",
  "ScopeDetails",
  "Shop",
  "ShopChannel",
  "StampsGiven",
  "Ticket",
  "TicketInput",
  "TicketStatus"
])
types("packages/webhooks/src/events.ts", ["Event"])
writeFileSync("openapi.sandbox.json", `${JSON.stringify(sandboxDocument, null, 2)}\n`)

page("docs/states.md", [
  "# States",
  NOTE,
  "This page is the reference for the states of a ticket: how a ticket moves between them, and which event each move sends. It is generated from the tables that the service uses, `statusMoves` and `closureMoves` of `packages/core/src/domain/TicketLifecycle.ts`.",
  diagram,
  statesTable,
  "## Moves",
  movesTable,
  "The service refuses every other move with 409 `CONFLICT`; [errors](errors.md) explains the reasons.",
  "## Events",
  table(
    ["type", "sent when"],
    Object.entries(eventTypes).map(([type, when]) => [code(type), when])
  )
])

/** The refusals of the services for programs that embed them: the tag, and the response of the API. */
const refusals = Object.entries(failureRows).flatMap(([tag, row]) => {
  const [, sample] = sampleOf(tag) ?? []
  const when = tag === "LimitReached" ? "A limit of the shop or of the caller is used up" : sample?.when
  if (when === undefined || !(tag === "LimitReached" || sample?.refusal instanceof Error)) return []
  const reason = "reason" in row ? code(row.reason) : ""
  return [[code(tag), String(errorCodes[row.code].status), code(row.code), reason, when]]
})

page("docs/errors.md", [
  "# Errors",
  NOTE,
  'This page is the reference for developers of API clients and of programs that embed the service: it lists every error with its cause. The body of every error is `{"success": false, "error": {"code", "message", "details"}}`. Let your program use `code` and `details`; `message` is for people, and its text may change.',
  table(
    ["status", "code", "meaning"],
    Object.entries(errorCodes).map(([name, { status, meaning }]) => [String(status), code(name), meaning])
  ),
  "## Reasons of a 409",
  "`details.reason` of a `CONFLICT` is one of these. A refused move also has `details.from`, `details.to` and `details.allowed`. Every 409 about a ticket has the ticket's current `details.state` and `details.updated_at`, except `IDEMPOTENCY_KEY_REUSED`, which is about the key.",
  table(["reason", "when", "for example"], conflicts),
  "## Refusals in your own program",
  "A program that [embeds](embed.md) the services gets a refusal as a value with a `_tag`. The API responds to it with the status, code and reason in its row. In your own routes, `refusalResponse(refusal)` returns this response, and in Effect `respondWithFailure` does. A Promise method is refused with `InvalidInput` for every invalid value. In Effect, decoding invalid input fails with `ParseError`, which gets the same response; a service fails with `InvalidInput` only if the stored data do not allow a value.",
  table(["tag", "status", "code", "reason", "when"], refusals),
  "## All clients of a pool were in use",
  "A call that got no client of a pool in time is also refused with `StoreUnavailable`, although Postgres works. The refusal's message begins with `All 5 clients of your pool were in use for 5000 ms`, and says what to change. The response does not have this message, so log the error in your own routes. For calls of the services and for `withClient`, the service logs it as a warning at most once a minute for each pool, and counts each refusal in `workshop_pg_pool_exhausted_total` ([metrics](operating.md#metrics)).",
  table(
    ["pool", "waits", "change"],
    [
      [
        "yours, in `withClient`",
        "its `connectionTimeoutMillis`; without it, for ever",
        "`max`, if Postgres has connections left; `connectionTimeoutMillis`, if the calls wait for the lock of one shop; or how long each transaction keeps its client"
      ],
      [
        "yours, as the option `pool` of the store",
        "2000 ms, or its `connectionTimeoutMillis` if that is less",
        "`max`; or give the transactions with `within` [a separate pool](your-database.md#many-transactions-at-once)"
      ],
      ["the store's own, for reads", "2000 ms", "the option `readConnections` of the store, or the number of processes"]
    ]
  ),
  "## Repeat a request",
  "Of the refused requests, repeat only those with a 429 or a 503, with the same `Idempotency-Key`. After a 503 wait as long as `Retry-After` says and a random part of a second more, so that the requests that were refused together do not come back together, and give up after a few tries. A 500 is a bug, and every other 4xx needs another request.",
  "## Examples",
  ...["VALIDATION_ERROR", "CONFLICT", "PROFANITY", "TOO_MANY_ATTEMPTS"].map(
    (name) => `\`\`\`json\n${JSON.stringify(exampleOf(name)?.value, null, 2)}\n\`\`\``
  )
])

/** The meaning of a row, which must not be empty. @param {Record<string, string>} meanings @param {string} name */
const meaningOf = (meanings, name) => {
  if (!meanings[name]) throw new Error(`docs/limits.md needs the meaning of ${name}: add a docstring to its row`)
  return meanings[name]
}

const limitMeanings = docstringsOf("packages/core/src/domain/Limits.ts")
const serverMeanings = docstringsOf("packages/http-node/src/serverLimits.ts")

page("docs/limits.md", [
  "# Limits",
  NOTE,
  "This page is the reference for all limits: those that API clients meet, and those that operators and developers of stores need. Each number is one row of `packages/core/src/domain/Limits.ts`, or of the table that its section names, which decisions, services and all stores read. Technical constants that neither a client nor an operator notices, such as the size of a cache or of a statement, are in the module that uses them. [Change a rule](changing-a-rule.md) says how to change a limit.",
  "## How often",
  "A 429 names the policy in `details.limit`, and `Retry-After` gives the seconds until its window ends. The headers `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` of other responses describe the policy with the fewest uses left.",
  table(
    ["policy", "at most", "of", "per", "window"],
    Object.entries(Policies).map(([name, { limit, counts, per, window }]) => [
      code(name),
      String(limit),
      counts,
      per,
      WINDOW[window]
    ])
  ),
  "## How much",
  table(
    ["name", "value", "meaning"],
    Object.entries(Limits).map(([name, value]) => [code(name), amount(name, value), meaningOf(limitMeanings, name)])
  ),
  "## How the service works",
  "No response names these rows of `ServiceLimits`. Operators and developers of stores need them.",
  table(
    ["name", "value", "meaning"],
    Object.entries(ServiceLimits).map(([name, value]) => [
      code(name),
      amount(name, value),
      meaningOf(limitMeanings, name)
    ])
  ),
  "## The server's connections",
  "These rows are `CONNECTION_LIMITS` and `SERVER_TIMEOUTS` of `packages/http-node/src/serverLimits.ts`. The time-outs are real time. [Operating](operating.md#connections) says what the server does at each limit, and which option of `workshop serve` changes it.",
  table(
    ["name", "value", "meaning"],
    Object.entries(CONNECTION_LIMITS).map(([name, value]) => [
      code(name),
      amount(name, value),
      meaningOf(serverMeanings, name)
    ])
  ),
  table(
    ["name", "value", "meaning"],
    Object.entries(SERVER_TIMEOUTS).map(([name, value]) => [
      code(name),
      amount(name, value),
      meaningOf(serverMeanings, name)
    ])
  ),
  "## Retries",
  `An event is tried ${MAX_ATTEMPTS} times in all: at once, and after each of the delays of \`retryDelays_ms\`, which count from the end of the previous attempt. Notifications to clients and owners follow the same table.`,
  table(
    ["attempt", "after"],
    retryDelays_ms.map((delay, i) => [String(i + 2), span(delay)])
  ),
  "## Webhooks that fail",
  "The service takes a step when both numbers of its row are reached. A success resets the count to 0. A 410 turns the webhook off at once. The table is `failureSteps` of `packages/core/src/domain/Webhook.ts`.",
  table(
    ["consecutive failures", "over at least", "then"],
    failureSteps.map(({ failures, age_ms, kind }) => [
      String(failures),
      span(age_ms),
      kind === "webhook_off" ? "the webhook turns off, and its owner is notified" : "its owner is warned"
    ])
  ),
  "## Rules that are functions",
  "These rules are pure functions in `packages/core/src`. Every store calls them, or builds its SQL from the tables that they read.",
  table(
    ["rule", "function", "file"],
    rules.map(([rule, { name }, file]) => [rule, code(name), code(join("domain", `${file}.ts`))])
  )
])

insert(
  "docs/operating.md",
  "audit acts",
  table(
    ["act", "meaning, and recorded details"],
    Object.entries(auditActs).map(([act, what]) => [code(act), what])
  )
)
insert(
  "docs/operating.md",
  "checks",
  table(
    ["check", "finds"],
    invariants(0).map(({ name, finds }) => [code(name), finds])
  )
)
insert(
  "docs/embed.md",
  "methods",
  table(
    ["method", "what it does", "value", "refusals of its own"],
    promiseMethods().map(([method, sentences, value, refusals]) => [
      code(method),
      sentences,
      value === "" ? "" : code(value),
      refusals.map((tag) => code(tag)).join(", ")
    ])
  )
)
insert(
  "docs/embed.md",
  "client methods",
  table(
    ["method", "what it does", "value"],
    clientMethods().map(([method, says, value]) => [code(method), says, code(value)])
  )
)
insert("README.md", "states", diagram)
const { head, rows } = ratios()
insert("README.md", "benchmarks", `${measuredOn()}\n\n${table(head, rows)}`)
insert("docs/performance.md", "measured on", measuredOn())
insert("docs/performance.md", "bench results", sections(table))
insert("docs/scaling.md", "fleets", fleets(table))
insert("docs/performance.md", "capacity", capacity(table, { hours: 10 }))
insert("docs/how-it-is-built.md", "packages", packagesDiagram)
insert("docs/how-it-is-built.md", "request", requestDiagram)
const speed = speedCode()
insert("docs/how-it-is-built.md", "speed", table(speed.head, speed.rows))

// The package contains the specification, because its docstrings name sections of it.
const REPOSITORY = "https://github.com/workshop-tickets/workshop/blob/main"
writeFileSync(
  "packages/core/specification.md",
  readFileSync("docs/specification.md", "utf8")
    .replaceAll(/\]\((?!https?:|#|\.\.\/)([^)]+)\)/g, `](${REPOSITORY}/docs/$1)`)
    .replaceAll("](../", `](${REPOSITORY}/`)
)
