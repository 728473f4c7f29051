import { Array as Arrays, Cause, Clock, Effect, FiberRef, FiberRefs, HashMap, Layer, Logger, LogLevel } from "effect"
import { durationInWords } from "../../domain/Instant.js"
import { defaultLimits, Limits, type PolicyName, ServiceLimits } from "../../domain/Limits.js"
import type { ClientNotification } from "../../domain/Notification.js"
import {
  type Complaint,
  findOptionRefusal,
  isObject,
  mustBeBoolean,
  mustBeFunction,
  OptionRefused,
  unknownOptionMessage
} from "../../domain/OptionChecks.js"
import { isNetwork } from "../../domain/PublicAddress.js"
import type { NoticeRecord, SendResult } from "../../domain/Webhook.js"
import { productionAddresses, type WebhookAddressPolicy } from "../../domain/WebhookAddress.js"
import { Entropy } from "../../ports/Entropy.js"
import { ClientNotifier, NotificationFailed, OwnerNotifier } from "../../ports/Notifiers.js"
import { PolicyLimits } from "../../ports/PolicyLimits.js"
import { ProfanityFilter } from "../../ports/ProfanityFilter.js"
import type { StorePorts } from "../../ports/StorePorts.js"
import { TrackingPages } from "../../ports/TrackingPages.js"
import { WebhookPolicy } from "../../ports/WebhookPolicy.js"
import { checkSignatureHeader, type WebhookPost, WebhookSender } from "../../ports/WebhookSender.js"
import * as Notifiers from "../background/DefaultNotifiers.js"
import * as Profanity from "../Profanity.js"

/** A text of a ticket, to be checked for forbidden words. */
export interface CheckedText {
  /** The path of its field, such as `items.0.label`. */
  readonly field: string
  /** The text as the caller sent it. */
  readonly text: string
}

/** A word that must not be used. */
export interface ForbiddenText {
  /** The path of the field that contains the word. */
  readonly field: string
  /** The word, for shops that allow it. */
  readonly word: string
}

/** A line of the log. */
export interface LogLine {
  /** The time of the line. */
  readonly at: Date
  /** The severity of the line. */
  readonly level: "debug" | "info" | "warning" | "error"
  /** One sentence. */
  readonly message: string
  /** Details, such as `request_id`, `shop_id`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The error that the line reports, if there is one. */
  readonly error?: unknown
}

/** The age at which old rows are removed. */
export interface RetentionOption {
  /** How long events and their attempts are kept, in milliseconds: at least seven days, and 90 by default. */
  readonly keepEventsMs?: number
}

/** The options of a workshop; only the store has no default. */
export interface PromiseOptions<E = never> {
  /** The `layer` of a store, such as `PgStore.layer` of `@workshop/store-pg`. */
  readonly store: Layer.Layer<StorePorts, E, Entropy>
  /** Sends webhooks: the `layer` of `@workshop/http-node/sender`. Without it or `send`, events wait for a process that has one. */
  readonly sender?: Layer.Layer<WebhookSender>
  /**
   * Sends webhooks, in place of `sender`: makes one POST and returns its status, as `fetch` does. If it rejects, the
   * attempt failed. It must not reach private addresses or follow redirects, so send through your own gateway.
   */
  readonly send?: (request: WebhookPost) => Promise<{ readonly status: number }>
  /** The addresses to which webhooks may be sent, by default port 443 of public addresses. */
  readonly webhookPolicy?: Partial<WebhookAddressPolicy>
  /** The header of a webhook's signature, `Service-Signature` by default. Where you serve the OpenAPI document, pass it to `documentOf` too. */
  readonly signatureHeader?: string
  /**
   * Notifies a client outside their inbox, and a walk-in by the telephone number on the ticket. If it rejects or takes
   * longer than ten seconds, it is called again later with the same `id`. Without it, notifications wait at most three
   * days for a process with a notifier, so a script needs none. To notify nobody, pass `async () => {}`.
   */
  readonly notifyClient?: (notification: ClientNotification) => Promise<unknown>
  /** Sends a notice about the webhook to a shop's owner, with the same retries; by default it is logged. */
  readonly notifyOwner?: (notice: NoticeRecord) => Promise<unknown>
  /**
   * Returns the forbidden words in the texts of a ticket, in place of the default list. It is called before every
   * creation, so it must be fast.
   */
  readonly profanity?: (
    texts: ReadonlyArray<CheckedText>
  ) => Promise<ReadonlyArray<ForbiddenText>> | ReadonlyArray<ForbiddenText>
  /** Returns the time in milliseconds since 1970, in place of the system's clock. */
  readonly now?: () => number
  /**
   * Returns `n` random bytes, in place of the system's. The service makes ids, tracking codes, keys and secrets from
   * them.
   */
  readonly randomBytes?: (n: number) => Uint8Array
  /** Receives the lines of the log, in place of the console. */
  readonly logger?: (line: LogLine) => void
  /**
   * Called with each error that no caller gets: errors of background work, errors that a mount turned into a 500, and
   * each error of a notifier, as the `cause` of a `NotificationFailed`. The line's `fields` then have the `shop_id` and
   * the `ticket_id`.
   */
  readonly onError?: (error: unknown, line: LogLine) => void
  /**
   * Limits that replace the specification's, by policy; null removes a limit. All processes on a store need the same
   * limits.
   */
  readonly limits?: Readonly<Partial<Record<PolicyName, number | null>>>
  /** The age from which the background work removes old rows from the database; false to remove nothing. */
  readonly retention?: RetentionOption | false
  /**
   * The beginning of `tracking_url` for shops without a `tracking_base_url`, such as `https://shop.example/t/`. If you
   * serve the clients' pages, see `trackingPages` of the mounts. Without this option, tickets of such shops have no
   * page.
   */
  readonly trackingBaseUrl?: string
  /**
   * Whether the workshop closes due tickets, delivers, notifies and removes old rows by itself until it is stopped;
   * true by default. With false, this begins with `background.start()`, such as when a server listens, or you call the
   * methods `runOnce`, such as from a cron job.
   */
  readonly background?: boolean
  /** A clock of Effect in place of `now`, for tests. It also controls how long a sleep takes. */
  readonly clock?: Clock.Clock
}

const mustBeLayer = (value: unknown): Complaint =>
  Layer.isLayer(value) ? undefined : "must be a layer, such as the export layer of @workshop/store-memory"
const mustBeSender = (value: unknown): Complaint =>
  Layer.isLayer(value)
    ? undefined
    : "must be the layer of @workshop/http-node/sender; pass a function as the option send"
const isWholeNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const mustBeLimits = (value: unknown): Complaint => {
  if (!isObject(value)) return "must be an object with a number for each policy, such as { requests_per_minute: 300 }"
  const unknown = unknownOptionMessage(value, Object.keys(defaultLimits), { one: "policy", many: "policies" })
  if (unknown !== undefined) return unknown
  for (const [policy, limit] of Object.entries(value)) {
    if (limit !== null && limit !== undefined && !isWholeNumber(limit))
      return `must have a whole number or null for ${policy}`
  }
  return undefined
}

const mustBeRetention = (value: unknown): Complaint => {
  if (value === false) return undefined
  if (!isObject(value)) return "must be false or an object with keepEventsMs"
  const unknown = unknownOptionMessage(value, ["keepEventsMs"])
  if (unknown !== undefined) return unknown
  const { keepEventsMs } = value
  const min = ServiceLimits.events_kept_min_ms
  return keepEventsMs === undefined || (isWholeNumber(keepEventsMs) && keepEventsMs >= min)
    ? undefined
    : `must have a keepEventsMs of at least ${min}, which is ${durationInWords(min / 1000)}`
}

const mustBePolicy = (value: unknown): Complaint => {
  if (!isObject(value)) return "must be an object with ports, allowLoopbackHttp or refusedNetworks"
  const unknown = unknownOptionMessage(value, ["ports", "allowLoopbackHttp", "refusedNetworks"])
  if (unknown !== undefined) return unknown
  const { ports = [443], allowLoopbackHttp = false, refusedNetworks = [] } = value
  if (
    !Array.isArray(ports) ||
    ports.length === 0 ||
    !ports.every((port) => isWholeNumber(port) && port > 0 && port < 65_536)
  )
    return "must have a list of ports from 1 to 65535"
  if (typeof allowLoopbackHttp !== "boolean") return "must have true or false for allowLoopbackHttp"
  return Array.isArray(refusedNetworks) &&
    refusedNetworks.every((network) => typeof network === "string" && isNetwork(network))
    ? undefined
    : "must have networks such as 203.0.113.0/24 in refusedNetworks"
}

/** The check of each option of `start`. */
export const promiseOptions: Readonly<Record<keyof PromiseOptions, (value: unknown) => Complaint>> = {
  store: mustBeLayer,
  sender: mustBeSender,
  send: mustBeFunction,
  webhookPolicy: mustBePolicy,
  signatureHeader: checkSignatureHeader,
  notifyClient: mustBeFunction,
  notifyOwner: mustBeFunction,
  profanity: mustBeFunction,
  now: mustBeFunction,
  randomBytes: mustBeFunction,
  logger: mustBeFunction,
  onError: mustBeFunction,
  limits: mustBeLimits,
  retention: mustBeRetention,
  trackingBaseUrl: (value) =>
    typeof value === "string" && /^https?:\/\/.*[/=]$/.test(value) && URL.canParse(value)
      ? undefined
      : "must be a web address that ends with / or =, to which the tracking code is appended, such as https://shop.example/t/",
  background: mustBeBoolean,
  clock: (value) =>
    isObject(value) && Clock.ClockTypeId in value
      ? undefined
      : "must be a Clock of Effect; pass a function as the option now"
}

/** The first wrong option of `start`, in a sentence; null if all are right. */
export const findStartRefusal = (options: unknown): OptionRefused | null => {
  const refuse = (option: string, what: string) =>
    new OptionRefused({ option, message: `The option ${option} of start ${what}` })
  const refused = findOptionRefusal("start", options ?? {}, promiseOptions)
  if (refused !== null) return refused
  const { store, sender, send, now, clock } = (options ?? {}) as Partial<PromiseOptions>
  if (store === undefined)
    return refuse("store", "is missing. Pass a store, such as the export layer of @workshop/store-memory.")
  if (sender !== undefined && send !== undefined)
    return refuse("send", "cannot be given together with sender. Omit one of the two.")
  return now !== undefined && clock !== undefined
    ? refuse("now", "cannot be given together with clock. Omit one of the two.")
    : null
}

const makeNotifier = <Record>(notify: (record: Record) => Promise<unknown>) => ({
  notify: (record: Record) =>
    Effect.asVoid(
      Effect.tryPromise({
        try: async () => notify(record),
        catch: (cause) => new NotificationFailed({ cause })
      })
    )
})

const UNTIMED = { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null }
const realClock = Clock.make()

/** An error with the errors that it wraps, because an error of `fetch` has the reason only in its cause. */
const describeWithCauses = (error: unknown): string => {
  if (!(error instanceof Error) || error.cause === undefined) return String(error)
  const { code } = error.cause as { readonly code?: unknown }
  // The error for several addresses of a host has no message of its own.
  const cause =
    error.cause instanceof AggregateError && typeof code === "string" ? code : describeWithCauses(error.cause)
  return `${String(error)}: ${cause}`
}

/** Makes a sender from the option `send`, with the same time-out as any other sender. */
const senderLayer = (send: NonNullable<PromiseOptions["send"]>) =>
  Layer.succeed(WebhookSender, {
    send: (post) =>
      Effect.suspend(() => {
        const began_ns = realClock.unsafeCurrentTimeNanos()
        const headers = { "content-type": "application/json", ...post.headers }
        const endedResult = (result: Pick<SendResult, "status" | "error" | "detail">): SendResult => ({
          ...result,
          address: null,
          timings: { ...UNTIMED, total_ms: Number((realClock.unsafeCurrentTimeNanos() - began_ns) / 1_000_000n) },
          head: ""
        })
        return Effect.tryPromise(async () => (await send({ ...post, headers })).status).pipe(
          Effect.timeout(Limits.webhook_timeout_ms),
          Effect.withClock(realClock),
          Effect.match({
            onSuccess: (status) =>
              Number.isInteger(status)
                ? endedResult({ status, error: null, detail: null })
                : endedResult({ status: null, error: "malformed", detail: "send returned no status" }),
            onFailure: (failure) =>
              failure._tag === "TimeoutException"
                ? endedResult({ status: null, error: "timeout", detail: null })
                : endedResult({ status: null, error: "connect", detail: describeWithCauses(failure.error) })
          })
        )
      })
  })

const filterLayer = (find: NonNullable<PromiseOptions["profanity"]>) =>
  Layer.succeed(ProfanityFilter, {
    find: (texts) => Effect.promise(async () => find(texts.map(([field, text]) => ({ field, text }))))
  })

/** A clock whose time is `now`, and whose sleeps take real time. */
const clockOf = (now: () => number): Clock.Clock => ({
  ...realClock,
  sleep: realClock.sleep,
  unsafeCurrentTimeMillis: now,
  unsafeCurrentTimeNanos: () => realClock.unsafeCurrentTimeNanos(),
  currentTimeMillis: Effect.sync(now),
  currentTimeNanos: Effect.sync(() => realClock.unsafeCurrentTimeNanos())
})

const levelOf = (level: LogLevel.LogLevel): LogLine["level"] => {
  if (LogLevel.greaterThanEqual(level, LogLevel.Error)) return "error"
  if (LogLevel.greaterThanEqual(level, LogLevel.Warning)) return "warning"
  return LogLevel.greaterThanEqual(level, LogLevel.Info) ? "info" : "debug"
}

const lineOf = ({ date, logLevel, message, annotations, cause }: Logger.Logger.Options<unknown>): LogLine => {
  const parts = Arrays.ensure(message)
  const [errors, texts] = Arrays.partition(parts, (part) => typeof part === "string")
  const error = Cause.isEmpty(cause) ? errors[0] : Cause.squash(cause)
  return {
    at: date,
    level: levelOf(logLevel),
    message: texts.join(" "),
    fields: Object.fromEntries(HashMap.toEntries(annotations)),
    ...(error !== undefined && { error })
  }
}

/** Ignores errors of an embedder's function, because they must not stop the work that logs. */
const callSafely = (call: () => void): void => {
  try {
    call()
  } catch (error) {
    globalThis.console.error(error)
  }
}

/**
 * Logs a failed notification in one line with its reason. The stack, which mostly shows this service's code, is a debug
 * line.
 */
const shortLogger = Logger.make<unknown, void>((entry) => {
  const isShort =
    !Cause.isEmpty(entry.cause) &&
    Cause.squash(entry.cause) instanceof NotificationFailed &&
    LogLevel.greaterThan(FiberRefs.getOrDefault(entry.context, FiberRef.currentMinimumLogLevel), LogLevel.Debug)
  Logger.defaultLogger.log(isShort ? { ...entry, cause: Cause.empty } : entry)
})

const loggerLayer = ({ logger, onError }: Pick<PromiseOptions, "logger" | "onError">): Layer.Layer<never> => {
  const lines =
    logger === undefined
      ? Logger.replace(Logger.defaultLogger, shortLogger)
      : Logger.replace(
          Logger.defaultLogger,
          Logger.make((entry) => callSafely(() => logger(lineOf(entry))))
        )
  if (onError === undefined) return lines
  const errors = Logger.make((entry) => {
    const line = lineOf(entry)
    if (line.level === "error") callSafely(() => onError(line.error ?? new Error(line.message), line))
  })
  return Layer.merge(lines, Logger.add(errors))
}

const toLimits = (limits: NonNullable<PromiseOptions["limits"]>) => {
  const setLimits = Object.entries(limits).filter(([, limit]) => limit !== undefined)
  return {
    ...defaultLimits,
    ...Object.fromEntries(setLimits.map(([policy, limit]) => [policy, limit ?? Number.POSITIVE_INFINITY]))
  }
}

/** The services and settings that follow from the options. */
export const settingsOf = <E>(options: PromiseOptions<E>) => {
  const { notifyClient, notifyOwner, profanity, randomBytes, now } = options
  const clock = now === undefined ? options.clock : clockOf(now)
  const policy = { ...productionAddresses, ...options.webhookPolicy }
  const environment = Layer.mergeAll(
    loggerLayer(options),
    clock === undefined ? Layer.empty : Layer.setClock(clock),
    Layer.succeed(WebhookPolicy, policy),
    options.limits === undefined ? Layer.empty : Layer.succeed(PolicyLimits, toLimits(options.limits)),
    Layer.succeed(TrackingPages, { base_url: options.trackingBaseUrl ?? null })
  )
  return {
    environment,
    sender: options.send === undefined ? options.sender : senderLayer(options.send),
    notifiers: Layer.merge(
      notifyClient === undefined
        ? Notifiers.noClientNotifier
        : Layer.succeed(ClientNotifier, makeNotifier(notifyClient)),
      notifyOwner === undefined ? Notifiers.logOwner : Layer.succeed(OwnerNotifier, makeNotifier(notifyOwner))
    ),
    profanity: profanity === undefined ? Profanity.layer : filterLayer(profanity),
    entropy: randomBytes === undefined ? Entropy.layer : Layer.succeed(Entropy, Entropy.of({ bytes: randomBytes }))
  }
}
