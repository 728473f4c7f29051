import { createHmac } from "node:crypto"
import type { Event } from "../../testkit/Shapes.js"
import { DAY, SECOND } from "../../testkit/Time.js"
import { dataOf, goodActs, isGood, ms, reporter } from "./Reading.js"
import type { ReceivedDelivery, ShopTrace, Trace, Violation } from "./Trace.js"

const report = reporter("signatures", "Specification, Webhooks")

interface Secret {
  readonly text: string
  readonly since: number
  readonly until: number
}

/** A shop's secrets, each with the time in which it signs: until a day after the next one came. */
const secretsOf = (trace: Trace, shop: string): ReadonlyArray<Secret> => {
  const set = trace.exchanges.filter(
    (one) => one.method === "PUT" && one.path === `/sandbox/shops/${shop}/webhook` && isGood(one)
  )
  const rotated = goodActs(trace, "rotate").filter(({ id }) => id === shop)
  const told = [...set.slice(0, 1), ...rotated].map((one) => ({
    text: dataOf<{ readonly secret: string }>(one).secret,
    since: one.now
  }))
  return told.map(({ text, since }, i) => {
    const next = told[i + 1]?.since
    // Only the two newest sign: a third makes the first fall silent.
    const third = told[i + 2]?.since ?? Number.POSITIVE_INFINITY
    return { text, since, until: next === undefined ? Number.POSITIVE_INFINITY : Math.min(next + DAY, third) }
  })
}

const hexOf = (secret: string, t: string, body: string): string =>
  createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")

const FORM = /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/

const signatureWrong = (
  { signature, body }: ReceivedDelivery,
  sent_at: number,
  secrets: ReadonlyArray<Secret>
): string | null => {
  if (signature === null) return "it bears no signature"
  const [, t = "", rest = ""] = FORM.exec(signature) ?? []
  if (t === "") return `its signature reads ${signature}`
  if (Number(t) !== Math.floor(sent_at / SECOND))
    return `it says it was sent at ${t}, and was sent at ${Math.floor(sent_at / SECOND)}`
  const signed = rest
    .slice(1)
    .split(",")
    .map((part) => part.slice("v1=".length))
  const sure = secrets.filter(({ since, until }) => since < sent_at && sent_at < until)
  const possible = secrets.filter(({ since, until }) => since <= sent_at && sent_at <= until)
  const missing = sure.find(({ text }) => !signed.includes(hexOf(text, t, body)))
  if (missing !== undefined) return "a secret in force did not sign"
  return signed.every((hex) => possible.some(({ text }) => hexOf(text, t, body) === hex))
    ? null
    : "it is signed with a secret not in force"
}

const inShop = (trace: Trace, shop: ShopTrace): ReadonlyArray<Violation> => {
  const secrets = secretsOf(trace, shop.id)
  const attempts = new Map(shop.deliveries.map((delivery) => [delivery.event_id, delivery.attempts]))
  const counted = new Map<string, number>()
  return trace.receptions.flatMap((reception) => {
    if (reception.shop !== shop.id) return []
    const { id } = JSON.parse(reception.body) as Event
    const nth = counted.get(id) ?? 0
    counted.set(id, nth + 1)
    const attempt = attempts.get(id)?.[nth]
    // One that is not logged is for the check of deliveries.
    if (attempt === undefined) return []
    const message = signatureWrong(reception, ms(attempt.started_at), secrets)
    return message === null ? [] : report(`event ${id}, attempt ${nth + 1}: ${message}`, { shop: shop.id, reception })
  })
}

/** Every delivery is signed, at its time, with the secret in force, and for a day after a rotation with the one before too. */
export const checkSignatures = (trace: Trace): ReadonlyArray<Violation> =>
  trace.shops.flatMap((shop) => inShop(trace, shop))
