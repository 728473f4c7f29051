import { createHash } from "node:crypto"
import {
  ApiKeyCache,
  CachedRateLimits,
  type ClientAccount,
  InvalidInput,
  type KeyId,
  Keys,
  type ShopId,
  type ShopRecord,
  type StoreUnavailable
} from "@workshop/core"
import { toIso } from "@workshop/core/internal"
import { BodyLimit, type GroupHandlers } from "@workshop/core/internal/http"
import { ClockAdvance } from "@workshop/core/sandbox"
import { type Change, Directory, SandboxData, ServiceLimits, Store } from "@workshop/core/store"
import { Effect, Either, Schema } from "effect"
import { ClockView, clockView } from "./ClockApi.js"
import { dataOnly, endpoint, groupOf } from "./endpoints.js"
import type { Faults } from "./Faults.js"
import type { Feed } from "./Feed.js"
import type { ReceiverBehaviour, Receivers } from "./Receivers.js"
import { LoggedRequest, type RequestLog } from "./RequestLog.js"

/** The version of session files that this server writes and reads. */
const VERSION = 1

/** The maximum size of a session file, in bytes. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

/** The maximum number of characters of logged requests in a session file. */
const MAX_LOGGED_CHARACTERS = 16 * 1024 * 1024

/** The maximum number of changes in one command. It is limited because a command blocks its shop. */
const CHANGES_AT_ONCE = 500

const Fields = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const Rows = Schema.Array(Fields)

const SessionFile = Schema.Struct({
  version: Schema.Literal(VERSION),
  digest: Schema.String.annotations({
    description: "The SHA-256 of the rest of the file. A file that was changed is not imported"
  }),
  exported_at: Schema.String,
  clock: Schema.Struct({ now: Schema.String, frozen: Schema.Boolean }),
  clients: Rows,
  shops: Rows,
  keys: Schema.Array(Schema.Struct({ id: Schema.String, key: Schema.String })),
  receivers: Schema.Record({ key: Schema.String, value: Fields }),
  requests: Schema.Array(LoggedRequest)
}).annotations({ identifier: "Session" })

/** A session file in a request. Its other fields are checked only after its version. */
const SentFile = Fields.annotations({
  identifier: "SessionInput",
  description: "The response of GET /sandbox/session, or only its data",
  jsonSchema: {
    type: "object",
    description: "The response of GET /sandbox/session, or only its data",
    properties: { version: { type: "integer", const: VERSION }, data: { type: "object" } }
  }
})

const isFields = Schema.is(Fields)

/** Removes the response's envelope from an exported session, if there is one. */
const unwrapSession = (sent: typeof SentFile.Type) => (!("version" in sent) && isFields(sent.data) ? sent.data : sent)

/** The contents of a session file, without its version and its digest. */
interface Session {
  readonly exported_at: string
  readonly clock: { readonly now: string; readonly frozen: boolean }
  readonly clients: ReadonlyArray<ClientAccount>
  readonly shops: ReadonlyArray<{ readonly shop: ShopRecord; readonly changes: ReadonlyArray<Change> }>
  readonly keys: ReadonlyArray<{ readonly id: KeyId; readonly key: string }>
  readonly receivers: Readonly<Record<string, ReceiverBehaviour>>
  readonly requests: ReadonlyArray<LoggedRequest>
}

/** The endpoints that reset, export and import the sandbox (Specification, Sandbox). */
export class SessionApi extends groupOf(
  "session",
  ["Session", "Reset, export and import of the sandbox"],
  endpoint("POST", "resetSandbox", "/reset", ClockView, [
    "Reset the sandbox",
    "Removes everything: shops, clients, tickets, events, the request log, receivers and faults. The clock shows the real time again. The shop and the key with which the server was started are created again, and the key has the same text. Streams get `reset`. The response is a 403 if the data were not created by a sandbox."
  ]),
  endpoint("GET", "exportSession", "/session", SessionFile, [
    "Export the sandbox",
    "Returns one file with the shops with their tickets, events, attempts, cards and webhooks, the clients, keys and receivers, the clock, and the request log. The file contains keys and secrets in plain text. It does not contain the audit log, the used limits or the faults."
  ]),
  endpoint("POST", "importSession", "/session", ClockView, [
    "Import a sandbox",
    "Replaces all data with a session that `GET /sandbox/session` returned (the response, or only its `data`). The clock then shows the time of the export. A file of another version, or a file that was changed, is refused. The response is a 403 if the data were not created by a sandbox."
  ])
    .setPayload(SentFile)
    .annotate(BodyLimit, MAX_FILE_BYTES)
) {}

const digestOf = (session: unknown): string => createHash("sha256").update(JSON.stringify(session)).digest("hex")

const refuse = (field: string, message: string) => Either.left(new InvalidInput({ issues: [{ field, message }] }))

/**
 * Reads the contents of a session file. Refuses a file of another version, or one that was changed after the export.
 */
const sessionIn = ({ version, digest, ...rest }: Readonly<Record<string, unknown>>) => {
  if (version === undefined)
    return refuse("version", "is missing; send the file that GET /sandbox/session returned, or its data")
  if (version !== VERSION) {
    const message = `is ${JSON.stringify(version)}, but this server reads only version ${VERSION}; import the file with the release that wrote it`
    return refuse("version", message)
  }
  return digest === digestOf(rest)
    ? Either.right(rest as unknown as Session)
    : refuse(
        "digest",
        "does not match the file, which was changed or shortened after its export; export the session again"
      )
}

/** The latest requests that fit into {@link MAX_LOGGED_CHARACTERS}. */
const latestRequests = (requests: ReadonlyArray<LoggedRequest>): ReadonlyArray<LoggedRequest> => {
  let remainingCharacters = MAX_LOGGED_CHARACTERS
  const firstShown = requests.findLastIndex(({ request, response }) => {
    remainingCharacters -= (request.body?.length ?? 0) + response.body.length
    return remainingCharacters < 0
  })
  return requests.slice(firstShown + 1)
}

/** Reads all rows of a paged list. */
const allPages = <Id extends string, Row extends { readonly id: Id }, E>(
  page: (after: Id | null, limit: number) => Effect.Effect<ReadonlyArray<Row>, E>
) =>
  Effect.gen(function* () {
    const allRows: Array<Row> = []
    for (;;) {
      const rows = yield* page(allRows.at(-1)?.id ?? null, ServiceLimits.list_max)
      allRows.push(...rows)
      if (rows.length < ServiceLimits.list_max) return allRows
    }
  })

/** The parts of a sandbox that are not in its store. */
interface SandboxParts {
  readonly log: RequestLog
  readonly feed: Feed
  readonly faults: Faults
  readonly receivers: Receivers
  /** Creates the first shop again. */
  readonly begin: Effect.Effect<void, StoreUnavailable>
}

/** Makes the effect that exports the sandbox. */
const makeExport = ({ log, receivers }: Pick<SandboxParts, "log" | "receivers">) =>
  Effect.gen(function* () {
    const sandboxData = yield* SandboxData
    const directory = yield* Directory
    const keys = yield* Keys
    const { state } = yield* ClockAdvance
    return Effect.gen(function* () {
      const { now, frozen } = yield* state
      const shops = yield* Effect.forEach(yield* allPages(directory.listShops), (shop) =>
        Effect.map(sandboxData.ofShop(shop.id), (changes) => ({ shop, changes }))
      )
      const ids = shops.flatMap(({ changes }) =>
        changes.flatMap((change) => (change._tag === "KeyPut" ? [change.row.id] : []))
      )
      const session: Session = {
        exported_at: toIso(now),
        clock: { now: toIso(now), frozen },
        clients: yield* allPages(directory.listClients),
        shops,
        keys: ids.flatMap((id) => {
          const key = keys.keyText(id)
          return key === null ? [] : [{ id, key }]
        }),
        receivers: receivers.behaviours,
        requests: latestRequests(log.all)
      }
      return dataOnly({ version: VERSION, digest: digestOf(session), ...session } as never)
    })
  })

/** Handles the endpoints that reset, export and import the sandbox. */
export const sessionHandlers = ({ log, feed, faults, receivers, begin }: SandboxParts) =>
  Effect.gen(function* () {
    const read = yield* makeExport({ log, receivers })
    const sandboxData = yield* SandboxData
    const directory = yield* Directory
    const store = yield* Store
    const keys = yield* Keys
    const cachedKeys = yield* ApiKeyCache
    const limits = yield* CachedRateLimits
    const { state, reset } = yield* ClockAdvance
    const isRemovable = Effect.flatMap(directory.isSandboxMade, (isMade) =>
      isMade ? Effect.void : Effect.fail({ _tag: "SandboxDataReal" } as const)
    )

    const clearMemory = Effect.gen(function* () {
      yield* sandboxData.clear
      log.clear()
      faults.set([])
      receivers.clear()
      limits.discard()
      keys.rememberKeyTexts(new Map())
      yield* cachedKeys.forget(null)
    })

    const putChanges = Effect.fnUntraced(function* (shop_id: ShopId, changes: ReadonlyArray<Change>) {
      for (let i = 0; i < changes.length; i += CHANGES_AT_ONCE) {
        const some = changes.slice(i, i + CHANGES_AT_ONCE)
        const run = () => Either.right({ result: undefined, changes: some, limitStatuses: [] })
        yield* Effect.catchTag(store.transact({ shop_id, loadRequests: [], run }), "ShopNotFound", Effect.die)
      }
    })

    const restore = Effect.fnUntraced(function* (session: Session) {
      for (const account of session.clients) yield* directory.createClient(account)
      for (const { shop, changes } of session.shops) {
        yield* directory.createShop(shop)
        yield* putChanges(shop.id, changes)
      }
      for (const [shop_id, behaviour] of Object.entries(session.receivers)) receivers.setBehaviour(shop_id, behaviour)
      keys.rememberKeyTexts(new Map(session.keys.map(({ id, key }) => [id, key])))
      log.restore(session.requests)
    })

    /** Replaces all data. Readers of the stream get only `reset`, after which they read all data again. */
    const replaceAllData = (at: Parameters<typeof reset>[0], fill: Effect.Effect<void, StoreUnavailable>) =>
      Effect.gen(function* () {
        yield* isRemovable
        yield* Effect.acquireUseRelease(
          Effect.sync(() => feed.pause()),
          () => reset(at, clearMemory, fill),
          () => Effect.sync(() => feed.reset())
        )
        return dataOnly(clockView(yield* state).data)
      }).pipe(Effect.uninterruptible)

    const handlers: GroupHandlers<typeof SessionApi, void> = {
      resetSandbox: () => replaceAllData(null, begin),
      exportSession: () => read,
      importSession: ({ payload }) =>
        Effect.flatMap(sessionIn(unwrapSession(payload)), (session) => {
          const { now, frozen } = session.clock
          return replaceAllData({ now: Date.parse(now), frozen }, restore(session))
        })
    }
    return handlers
  })
