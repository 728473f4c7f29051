import { Clock, Console, Deferred, Effect, Runtime, Schedule } from "effect"
import { keyPresses } from "../terminal/keyPresses.js"
import { cannotListen } from "../terminal/listenAddress.js"
import { paintFor } from "../terminal/Style.js"
import { saying } from "../testkit/Receiver.js"
import { eventJson, eventLine, KnownTickets, type News } from "./eventLine.js"
import { behaviourInWords, changeBy, legend } from "./liveKeys.js"
import type { ReceiveFlags } from "./ReceiveOptions.js"
import * as Receiver from "./Receiver.js"
import {
  type Pointed,
  type Registered,
  type Registration,
  register,
  sandboxNow,
  secretNow,
  silenceOf
} from "./register.js"

const behaviourOf = ({ status, delay, failShare, redirect, gone, endless }: ReceiveFlags): Receiver.Behaviour => ({
  answer: gone
    ? saying(410)
    : endless
      ? { kind: "endless" }
      : redirect === null
        ? saying(status)
        : { kind: "redirect", to: redirect },
  delay_ms: delay,
  fail_share: failShare
})

const registrationOf = ({
  register: base,
  shop,
  key,
  sandboxToken: token,
  enable
}: ReceiveFlags): Registration | null => (base === null ? null : { base, shop, key, token, enable })

const NO_NEWS: News = { kind: "changes", changes: [] }

/** Prints each request as it comes. */
const printing = (asJson: boolean, runtime: Runtime.Runtime<never>) => {
  const tickets = new KnownTickets()
  const paint = paintFor()
  const print = Runtime.runSync(runtime)
  return (received: Receiver.ReceivedDelivery): void => {
    const { event, outcome } = received
    const news: News = event === null || outcome === "refused" ? NO_NEWS : tickets.newsOf(event)
    if (event !== null && outcome === "event") tickets.learn(event)
    print(Console.log(asJson ? eventJson(received, news) : eventLine(received, news, paint)))
  }
}

const inWords = (silence: string | null): string => {
  if (silence === null) return "The webhook is on again."
  if (silence === "removed") return "The webhook was removed, so nothing arrives: start this again."
  if (silence === "moved") return "The webhook leads elsewhere now, so nothing arrives: start this again."
  return `The webhook is off (${silence}), so nothing arrives: start with --enable to turn it on, which sends what was parked.`
}

const LOOK_EVERY = "5 seconds"

/** Looks every few seconds whether events still come, and says so when that changes. */
const watching = (pointed: Pointed, off_reason: string | null, asJson: boolean) => {
  let known = off_reason
  const look = Effect.gen(function* () {
    // A server that does not answer tells nothing new.
    const silence = yield* Effect.orElseSucceed(silenceOf(pointed), () => known)
    if (silence === known) return
    known = silence
    const said = paintFor()("warn", inWords(silence))
    yield* Console.log(asJson ? JSON.stringify({ kind: "webhook", off_reason: silence }) : said)
  })
  return Effect.repeat(look, Schedule.spaced(LOOK_EVERY))
}

const greeting = (url: string, registration: Registration | null, registered: Registered | null) => {
  const paint = paintFor()
  if (registration === null || registered === null) return [`Listening on ${url}`]
  const { shop_id, opened, replaced, off_reason } = registered
  const key = ["It is a new shop. Its key is shown this once:", paint("strong", `export WORKSHOP_KEY=${opened}`)]
  return [
    `Listening on ${url}: the webhook of shop ${shop_id} points here now`,
    ...(replaced === null
      ? []
      : [`Until now it led to ${replaced}, and it stays here when this ends: set that address again afterwards.`]),
    ...(opened === null ? [] : key),
    ...(off_reason === null ? [] : [paint("warn", inWords(off_reason))])
  ]
}

const totalsInWords = ({ event, again, failed, refused }: Receiver.Totals): string =>
  `Events ${event}, duplicates ${again}, failed on request ${failed}, refused ${refused}`

/** Does what the keys say, until `q` or Ctrl-C. */
const obeyKeys = (receiver: Receiver.Receiver, asked: Receiver.Behaviour, quit: Deferred.Deferred<void>) =>
  keyPresses((key) =>
    Effect.gen(function* () {
      if (key === "q" || key === "\u0003") return yield* Deferred.succeed(quit, undefined)
      if (key === "h") return yield* Console.log(legend)
      const change = changeBy(key, yield* receiver.behaviour, asked)
      if (change === undefined) return
      const behaviour = yield* receiver.behave(change)
      return yield* Console.log(paintFor()("faint", `From now on it ${behaviourInWords(behaviour)}`))
    })
  )

/** What `workshop receive` does (Specification, Commands): until interrupted, or `q`. */
export const receive = (asked: ReceiveFlags) =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<never>()
    const registration = registrationOf(asked)
    const behaviour = behaviourOf(asked)
    const quit = yield* Deferred.make<void>()
    const pointed = yield* Deferred.make<Pointed>()
    const receiver = yield* Effect.mapError(
      Receiver.make({
        host: asked.host,
        port: asked.port,
        secrets: asked.secret,
        behaviour,
        seed: asked.seed,
        header: asked.signatureHeader,
        tolerance_seconds: asked.tolerance / 1000,
        now: registration === null ? Clock.currentTimeMillis : sandboxNow(registration),
        secretNow: registration === null ? Effect.succeed(null) : Effect.flatMap(Deferred.await(pointed), secretNow),
        keep: 1,
        onReceived: printing(asked.json, runtime)
      }),
      cannotListen
    )
    const registered = registration === null ? null : yield* register(registration, receiver.url)
    if (registration !== null && registered !== null) {
      const hook = { registration, shop_id: registered.shop_id, url: receiver.url }
      yield* Deferred.succeed(pointed, hook)
      yield* receiver.trust([registered.secret, ...asked.secret])
      yield* Effect.forkScoped(watching(hook, registered.off_reason, asked.json))
    }
    yield* Effect.addFinalizer(() =>
      Effect.flatMap(receiver.totals, (totals) =>
        Console.log(asked.json ? JSON.stringify({ kind: "totals", ...totals }) : totalsInWords(totals))
      )
    )
    const { url } = receiver
    const isTyping = process.stdin.isTTY === true && !asked.json
    yield* Console.log(
      asked.json
        ? JSON.stringify({ kind: "listening", url, ...(registered === null ? {} : registered) })
        : [...greeting(url, registration, registered), ...(isTyping ? [legend] : [])].join("\n")
    )
    if (isTyping) yield* obeyKeys(receiver, behaviour, quit)
    return yield* Deferred.await(quit)
  }).pipe(Effect.scoped)
