import {
  type Behaviour,
  eventJson,
  eventLine,
  findSilence,
  KnownTickets,
  makeForwarder,
  type PointedWebhook,
  type ReceivedDelivery,
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
import { Clock, Console, Deferred, Effect, Runtime, Schedule } from "effect"
import { type CommandRefused, refuse, toCommandRefused } from "../CommandRefused.js"
import { makeAskSandbox } from "../sandbox/Sandbox.js"
import { cannotListen } from "../terminal/listenAddress.js"
import { paintFor } from "../terminal/Output.js"
import { handleKeys, legend } from "./liveKeys.js"
import type { ReceiveFlags } from "./ReceiveOptions.js"

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
