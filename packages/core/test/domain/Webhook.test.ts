import { describe, expect, it } from "vitest"
import {
  acknowledges,
  hasSecretPrefix,
  makeWebhookSecret,
  overlapEndOf,
  recordFailure,
  recordSuccess,
  SendResult,
  type Webhook,
  WebhookNotSet,
  WebhookOffReason
} from "../../src/domain/Webhook.js"

const HOUR = 3_600_000
const START = 1_772_442_000_000
const webhook = {
  off_reason: null,
  failures_in_row: 0,
  first_failure_at: null,
  failure_steps_notified: 0,
  previous_until: null
} as unknown as Webhook

describe("Specification, Webhooks: the secret", () => {
  it("a secret is whsec_ and its bytes as text, and hasSecretPrefix recognises a truncated one", () => {
    expect(makeWebhookSecret(new Uint8Array(3))).toBe("whsec_AAAA")
    expect(["whsec_AAAA", "AAAAwhsec_", "AAAA"].map(hasSecretPrefix)).toEqual([true, false, false])
  })

  it("the previous secret signs until its end, and not at its end", () => {
    expect(overlapEndOf(webhook, 5)).toBeNull()
    expect([4, 5].map((now) => overlapEndOf({ ...webhook, previous_until: 5 }, now))).toEqual([5, null])
    expect(overlapEndOf(webhook, -5)).toBeNull()
  })
})

describe("Specification, Webhooks: the health of a webhook", () => {
  const failing = (failures_in_row: number, failure_steps_notified: number) => ({
    ...webhook,
    failures_in_row,
    first_failure_at: START,
    failure_steps_notified
  })
  const failed = (failures: number, hours: number, failure_steps_notified: number, status = 500) => {
    const { webhook, notice } = recordFailure(
      failing(failures - 1, failure_steps_notified),
      SendResult.responded(status),
      START + hours * HOUR
    )
    return [webhook.off_reason, webhook.failure_steps_notified, notice]
  }

  it("the owner is warned twice before the webhook turns off, each time when both the number of failures and the hours are reached", () => {
    expect(failed(6, 24, 0)).toEqual([null, 0, null])
    expect(failed(7, 23, 0)).toEqual([null, 0, null])
    expect(failed(7, 24, 0)).toEqual([null, 1, "webhook_failing"])
    expect(failed(8, 25, 1)).toEqual([null, 1, null])
    expect(failed(14, 48, 1)).toEqual([null, 2, "webhook_failing"])
    expect(failed(19, 72, 2)).toEqual([null, 2, null])
    expect(failed(20, 71, 2)).toEqual([null, 2, null])
    expect(failed(20, 72, 2)).toEqual(["failing", 3, "webhook_off"])
    expect(failed(1, 0, 0, 410)).toEqual(["gone", 0, "webhook_off"])
  })

  it("the hours count from the first failure, never from one in the future, and begin again after a success", () => {
    const first = recordFailure(webhook, SendResult.failed("timeout"), START).webhook
    expect([first.failures_in_row, first.first_failure_at]).toEqual([1, START])
    const second = recordFailure(first, SendResult.failed("timeout"), START + HOUR).webhook
    expect([second.failures_in_row, second.first_failure_at]).toEqual([2, START])
    expect(recordFailure(second, SendResult.failed("timeout"), START - HOUR).webhook.first_failure_at).toBe(
      START - HOUR
    )
    expect(recordSuccess({ ...second, failure_steps_notified: 1 })).toEqual({ ...webhook, failure_steps_notified: 0 })
    expect(recordSuccess(webhook)).toBe(webhook)
  })

  it("a webhook is off for one of three reasons, and one that was never set is refused with its own tag", () => {
    expect(WebhookOffReason.literals).toEqual(["gone", "failing", "disabled"])
    expect(new WebhookNotSet()._tag).toBe("WebhookNotSet")
  })

  it("only a status of 200 to 299 acknowledges an event", () => {
    const acknowledged = [null, 0, 199, 200, 299, 300].map((status) => acknowledges({ status }))
    expect(acknowledged).toEqual([false, false, false, true, true, false])
  })

  it("SendResult.responded and SendResult.failed leave all other fields empty", () => {
    const nothing = {
      detail: null,
      address: null,
      timings: { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 0 },
      head: ""
    }
    expect(SendResult.responded(204)).toEqual({ ...nothing, status: 204, error: null })
    expect(SendResult.failed("timeout")).toEqual({ ...nothing, status: null, error: "timeout" })
  })
})
