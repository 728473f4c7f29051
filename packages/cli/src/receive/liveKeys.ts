import { saying } from "../testkit/Receiver.js"
import { type Behaviour, healthy } from "./Receiver.js"

/** What a key changes, given how the receiver behaves and what the command line asked for. */
interface LiveKey {
  readonly says: string
  readonly next: (now: Behaviour, asked: Behaviour) => Partial<Behaviour>
}

const DELAY_MS = 3000
const FAIL_SHARE = 0.3
/** The discard port: nothing answers there. */
const NOWHERE = "http://127.0.0.1:9/"

/** What the keys typed in the terminal of `workshop receive` do. */
export const liveKeys = {
  "1": { says: "200", next: () => healthy },
  "5": { says: "500", next: () => ({ answer: saying(500) }) },
  g: { says: "gone (410)", next: () => ({ answer: saying(410) }) },
  d: {
    says: "delay on or off",
    next: ({ delay_ms }, asked) => ({ delay_ms: delay_ms > 0 ? 0 : asked.delay_ms || DELAY_MS })
  },
  f: {
    says: "fail some or none",
    next: ({ fail_share }, asked) => ({ fail_share: fail_share > 0 ? 0 : asked.fail_share || FAIL_SHARE })
  },
  r: {
    says: "redirect",
    next: (_, { answer }) => ({
      answer: typeof answer === "object" && answer.kind === "redirect" ? answer : { kind: "redirect", to: NOWHERE }
    })
  },
  e: { says: "endless body", next: () => ({ answer: { kind: "endless" } }) },
  s: { says: "silent", next: () => ({ answer: { kind: "silent" } }) },
  c: { says: "cut off", next: () => ({ answer: { kind: "cut" } }) }
} as const satisfies Readonly<Record<string, LiveKey>>

/** All keys on one line. */
export const legend: string = [
  "Keys:",
  [...Object.entries(liveKeys).map(([key, { says }]) => `${key} ${says}`), "h these keys", "q quit"].join(" | ")
].join(" ")

/** What a key changes; undefined for one that changes nothing. */
export const changeBy = (key: string, now: Behaviour, asked: Behaviour): Partial<Behaviour> | undefined =>
  Object.hasOwn(liveKeys, key) ? (liveKeys as Readonly<Record<string, LiveKey>>)[key]?.next(now, asked) : undefined

const answerInWords = ({ answer }: Behaviour): string => {
  if (typeof answer === "function") return "answers as it chooses"
  if (answer.kind === "status") return `answers ${answer.status}`
  if (answer.kind === "redirect") return `redirects to ${answer.to}`
  return {
    endless: "answers without an end",
    trickle: "answers a byte a second",
    silent: "says nothing",
    cut: "cuts off"
  }[answer.kind]
}

/** A behaviour in a few words. */
export const behaviourInWords = (behaviour: Behaviour): string =>
  [
    answerInWords(behaviour),
    ...(behaviour.delay_ms > 0 ? [`after ${behaviour.delay_ms} ms`] : []),
    ...(behaviour.fail_share > 0 ? [`fails ${Math.round(behaviour.fail_share * 100)} of 100`] : [])
  ].join(", ")
