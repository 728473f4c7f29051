import { type Behaviour, healthy, type Receiver, statusReply } from "@workshop/testers/internal/receive"
import { Console, Deferred, Effect, Runtime, type Scope } from "effect"
import { paintFor } from "../terminal/Output.js"

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

/** Handles the typed keys until `q` or Ctrl-C. */
export const handleKeys = (receiver: Receiver, wanted: Behaviour, quit: Deferred.Deferred<void>) =>
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
