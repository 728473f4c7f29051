import { HOUR } from "../../testkit/Time.js"
import { ms, reporter } from "./Reading.js"
import type { ShopTrace, Trace, Violation } from "./Trace.js"

const report = reporter("webhooks", "Specification, Webhooks")

const MOST_FAILURES = 20
const LONGEST = 72 * HOUR

const offWrong = ({ webhook, deliveries, notices }: ShopTrace): string | null => {
  if (webhook === null || webhook.on) return null
  const { off_reason, failures_in_row, first_failure_at } = webhook
  const attempts = deliveries.flatMap((delivery) => delivery.attempts)
  const told = notices.filter(({ kind }) => kind === "webhook_off")
  if (told.length === 0) return "it is off, and its owner was not told"
  if (off_reason === "gone")
    return attempts.some(({ status }) => status === 410) ? null : "it is off as gone, and never got a 410"
  const last = Math.max(...attempts.map(({ started_at }) => ms(started_at)))
  const isDue = failures_in_row >= MOST_FAILURES && first_failure_at !== null && last - ms(first_failure_at) >= LONGEST
  return isDue ? null : `it is off after ${failures_in_row} failures since ${first_failure_at}`
}

const onWrong = ({ webhook, deliveries }: ShopTrace): string | null => {
  if (webhook?.on !== true || webhook.first_failure_at === null) return null
  const failed = deliveries.flatMap(({ attempts }) => attempts).filter(({ status }) => status === null || status >= 300)
  const last = Math.max(...failed.map(({ started_at }) => ms(started_at)))
  const isOverdue = webhook.failures_in_row >= MOST_FAILURES && last - ms(webhook.first_failure_at) >= LONGEST
  return isOverdue ? `it is on after ${webhook.failures_in_row} failures since ${webhook.first_failure_at}` : null
}

/** A webhook turns off at a 410, or after twenty failures in a row over seventy-two hours, and then its owner knows. */
export const checkWebhooks = ({ shops }: Trace): ReadonlyArray<Violation> =>
  shops.flatMap((shop) => {
    const message = offWrong(shop) ?? onWrong(shop)
    return message === null
      ? []
      : report(`the webhook of ${shop.id}: ${message}`, { webhook: shop.webhook, notices: shop.notices })
  })
