import {
  type Behaviour,
  eventJson,
  eventLine,
  findSilence,
  healthy,
  KnownTickets,
  makeForwarder,
  type PointedWebhook,
  type ReceivedDelivery,
  type Receiver,
  type Registration,
  type RegistrationResult,
  type Reply,
  readSandboxClock,
  readSecret,
  register,
  statusReply,
  type TicketNews,
  type Totals
} from "@workshop/testers/internal/receive"
import { makeReceiver } from "@workshop/testers/receiver"
import { Clock, Console, Deferred, Effect, Runtime, Schedule, type Scope } from "effect"
import { type CommandRefused, refuse, toCommandRefused } from "../CommandRefused.js"
import { makeAskSandbox } from "../sandbox/Sandbox.js"
import { cannotListen } from "../terminal/listenAddress.js"
import { paintFor } from "../terminal/Output.js"
import type { ReceiveFlags } from "./ReceiveOptions.js"

/** Runs `onKey` for each key typed in the terminal, until the scope closes; Ctrl-C arrives as the key `\u0003`. */
const handleKeyPresses = <A, R>(
  onKey: (key: string) => Effect.Effect<A, never, R>
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const { stdin } = process
    const fork = Runtime.runFork(yield* Effect.runtime<R>())
    const onData = (typed: Buffer) => {
      for (const key of typed.toString("utf8")) fork(onKey(key))
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => stdin.setRawMode(true).on("data", onData).resume()),
      () => Effect.sync(() => stdin.off("data", onData).setRawMode(false).pause())
    )
  })

/** The effect of a key, given the receiver's current behaviour and the behaviour that the command line set. */
interface LiveKey {
  readonly label: string
  readonly changeFrom: (now: Behaviour, wanted: Behaviour) => Partial<Behaviour>
}

const DELAY_MS = 3000
const FAIL_SHARE = 0.3
/** The discard port, on which no server listens. */
const DISCARD_ADDRESS = "http://127.0.0.1:9/"

/** The keys that work in the terminal of `workshop receive`. */
const liveKeys = {
  "1": { label: "200", changeFrom: () => healthy },
  "5": { label: "500", changeFrom: () => ({ reply: statusReply(500) }) },
  g: { label: "gone (410)", changeFrom: () => ({ reply: statusReply(410) }) },
  d: {
    label: "delay on/off",
    changeFrom: ({ delay_ms }, wanted) => ({ delay_ms: delay_ms > 0 ? 0 : wanted.delay_ms || DELAY_MS })
  },
  f: {
    label: "random failures on/off",
    changeFrom: ({ failShare }, wanted) => ({ failShare: failShare > 0 ? 0 : wanted.failShare || FAIL_SHARE })
  },
  r: {
    label: "redirect",
    changeFrom: (_, { reply }) => ({
      reply: typeof reply === "object" && reply.kind === "redirect" ? reply : { kind: "redirect", to: DISCARD_ADDRESS }
    })
  },
  e: { label: "endless body", changeFrom: () => ({ reply: { kind: "endless" } }) },
  s: { label: "silent", changeFrom: () => ({ reply: { kind: "silent" } }) },
  c: { label: "cut off", changeFrom: () => ({ reply: { kind: "cut" } }) }
} as const satisfies Readonly<Record<string, LiveKey>>

/** The line that explains all keys. */
export const legend: string = [
  "Keys:",
  [...Object.entries(liveKeys).map(([key, { label }]) => `${key} ${label}`), "h these keys", "q quit"].join(" | ")
].join(" ")

/** The change that a key makes; undefined for a key that changes nothing. */
export const behaviourChangeOf = (key: string, now: Behaviour, wanted: Behaviour): Partial<Behaviour> | undefined =>
  Object.hasOwn(liveKeys, key)
    ? (liveKeys as Readonly<Record<string, LiveKey>>)[key]?.changeFrom(now, wanted)
    : undefined

const replyInWords = ({ reply }: Behaviour): string => {
  if (typeof reply === "function") return "chooses each response"
  if (reply.kind === "status") return `responds ${reply.status}`
  if (reply.kind === "redirect") return `redirects to ${reply.to}`
  return {
    endless: "responds with an endless body",
    trickle: "responds with one byte per second",
    silent: "does not respond",
    cut: "closes the connection"
  }[reply.kind]
}

/** Describes a behaviour in a few words. */
export const behaviourInWords = (behaviour: Behaviour): string =>
  [
    replyInWords(behaviour),
    ...(behaviour.delay_ms > 0 ? [`after ${behaviour.delay_ms} ms`] : []),
    ...(behaviour.failShare > 0 ? [`fails ${Math.round(behaviour.failShare * 100)} % of events`] : [])
  ].join(", ")

/** The sandbox that the flags name; null if none is given. A server that does not respond is refused. */
const registrationOf = (flags: ReceiveFlags): Registration<CommandRefused> | null => {
  const { register: base, sandboxToken: token, shop, key, enable } = flags
  if (base === null) return null
  const ask = makeAskSandbox({ baseUrl: base, token })
  const refuseNoServer = () =>
    refuse(
      `No server responds at ${base}. Start workshop serve --sandbox --store memory, or give --register the address of a running server.`
    )
  const call = <A>(...given: Parameters<typeof ask>) => Effect.catchTag(ask<A>(...given), "NoResponse", refuseNoServer)
  return { base, call, shop, key, enable }
}

const replyOf = ({ status, redirect, gone, endless }: ReceiveFlags): Reply => {
  if (gone) return statusReply(410)
  if (endless) return { kind: "endless" }
  return redirect === null ? statusReply(status) : { kind: "redirect", to: redirect }
}

const behaviourOf = (flags: ReceiveFlags): Behaviour => ({
  ...(flags.forwardTo === null ? {} : { forward: makeForwarder(flags.forwardTo) }),
  reply: replyOf(flags),
  delay_ms: flags.delay,
  failShare: flags.failShare
})

/** Prints each request when it arrives. */
const makeDeliveryPrinter = (asJson: boolean, runtime: Runtime.Runtime<never>) => {
  const tickets = new KnownTickets()
  const paint = paintFor()
  const print = Runtime.runSync(runtime)
  return (received: ReceivedDelivery): void => {
    const { event, outcome } = received
    const news: TicketNews =
      event === null || outcome === "refused" ? { kind: "changes", changes: [] } : tickets.classify(event)
    if (event !== null && outcome === "event") tickets.remember(event)
    print(Console.log(asJson ? eventJson(received, news) : eventLine(received, news, paint)))
  }
}

const silenceInWords = (silence: string | null): string => {
  if (silence === null) return "The webhook is on again."
  if (silence === "removed")
    return "The webhook was removed, so nothing arrives. Restart this command to set the webhook again."
  if (silence === "moved")
    return "The webhook now has another address, so nothing arrives. Restart this command to set the webhook to this receiver again."
  return `The webhook is off (${silence}), so nothing arrives. Restart this command with --enable to turn the webhook on and send the waiting events.`
}

const POLL_INTERVAL = "5 seconds"

/** Checks every few seconds whether events can still arrive, and prints a line when the result changes. */
const watchWebhook = (pointed: PointedWebhook<CommandRefused>, off_reason: string | null, asJson: boolean) => {
  let reportedSilence = off_reason
  const check = Effect.gen(function* () {
    // If the server does not respond, the last result is kept.
    const silence = yield* Effect.orElseSucceed(findSilence(pointed), () => reportedSilence)
    if (silence === reportedSilence) return
    reportedSilence = silence
    const line = paintFor()("warn", silenceInWords(silence))
    yield* Console.log(asJson ? JSON.stringify({ kind: "webhook", off_reason: silence }) : line)
  })
  return Effect.repeat(check, Schedule.spaced(POLL_INTERVAL))
}

const startLines = (url: string, registered: RegistrationResult | null) => {
  const paint = paintFor()
  if (registered === null) return [`Listening on ${url}`]
  const { shop_id, opened, replaced, off_reason } = registered
  const key = ["The shop is new. Its key is shown only this once:", paint("strong", `export WORKSHOP_KEY=${opened}`)]
  return [
    `Listening on ${url} as the webhook address of shop ${shop_id}`,
    ...(replaced === null
      ? []
      : [
          `The webhook's address was ${replaced}. This command does not restore it at its end, so set it again yourself.`
        ]),
    ...(opened === null ? [] : key),
    ...(off_reason === null ? [] : [paint("warn", silenceInWords(off_reason))])
  ]
}

const totalsInWords = ({ event, again, failed, refused }: Totals): string =>
  `Events ${event}, duplicates ${again}, failed as requested ${failed}, refused ${refused}`

/** Handles the typed keys until `q` or Ctrl-C. */
const handleKeys = (receiver: Receiver, wanted: Behaviour, quit: Deferred.Deferred<void>) =>
  handleKeyPresses((key) =>
    Effect.gen(function* () {
      if (key === "q" || key === "\u0003") return yield* Deferred.succeed(quit, undefined)
      if (key === "h") return yield* Console.log(legend)
      const change = behaviourChangeOf(key, yield* receiver.behaviour, wanted)
      if (change === undefined) return
      const behaviour = yield* receiver.setBehaviour(change)
      return yield* Console.log(paintFor()("faint", `From now on the receiver ${behaviourInWords(behaviour)}`))
    })
  )

/** The work of `workshop receive` (Specification, Commands): it runs until it is interrupted or `q` is typed. */
export const receive = (flags: ReceiveFlags) =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<never>()
    const registration = registrationOf(flags)
    const behaviour = behaviourOf(flags)
    const quit = yield* Deferred.make<void>()
    const pointed = yield* Deferred.make<PointedWebhook<CommandRefused>>()
    const receiver = yield* Effect.mapError(
      makeReceiver({
        host: flags.host,
        port: flags.port,
        secrets: flags.secret,
        behaviour,
        seed: flags.seed,
        header: flags.signatureHeader,
        tolerance_seconds: flags.tolerance / 1000,
        now: registration === null ? Clock.currentTimeMillis : readSandboxClock(registration.call),
        secretNow: registration === null ? Effect.succeed(null) : Effect.flatMap(Deferred.await(pointed), readSecret),
        keep: 1,
        onReceived: makeDeliveryPrinter(flags.json, runtime)
      }),
      cannotListen
    )
    const registered =
      registration === null ? null : yield* Effect.mapError(register(registration, receiver.url), toCommandRefused)
    if (registration !== null && registered !== null) {
      const pointedWebhook = { call: registration.call, shop_id: registered.shop_id, url: receiver.url }
      yield* Deferred.succeed(pointed, pointedWebhook)
      yield* receiver.trust([registered.secret, ...flags.secret])
      yield* Effect.forkScoped(watchWebhook(pointedWebhook, registered.off_reason, flags.json))
    }
    yield* Effect.addFinalizer(() =>
      Effect.flatMap(receiver.totals, (totals) =>
        Console.log(flags.json ? JSON.stringify({ kind: "totals", ...totals }) : totalsInWords(totals))
      )
    )
    const { url } = receiver
    const isTyping = process.stdin.isTTY === true && !flags.json
    yield* Console.log(
      flags.json
        ? JSON.stringify({ kind: "listening", url, ...(registered === null ? {} : registered) })
        : [...startLines(url, registered), ...(isTyping ? [legend] : [])].join("\n")
    )
    if (isTyping) yield* handleKeys(receiver, behaviour, quit)
    return yield* Deferred.await(quit)
  }).pipe(Effect.scoped)
