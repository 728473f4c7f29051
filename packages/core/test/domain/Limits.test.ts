import { describe, expect, it } from "vitest"
import { Limits, Policies } from "../../src/domain/Limits.js"
import { LAST_TICKET_NUMBER } from "../../src/domain/TicketNumber.js"

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe("spec §8: every limit has the specification's value", () => {
  const VALUES: ReadonlyArray<readonly [name: keyof typeof Limits, value: number, section: string]> = [
    ["active_keys_per_shop", 5, "spec §8"],
    ["idempotency_key_characters", 80, "spec §8"],
    ["external_ref_characters", 64, "spec §8"],
    ["items_min", 2, "spec §8"],
    ["items_max", 20, "spec §8"],
    ["page_min", 1, "spec §8"],
    ["page_max", 100, "spec §8"],
    ["page_default", 50, "spec §8"],
    ["stamps_per_call_min", 1, "spec §8"],
    ["stamps_per_call_max", 10, "spec §8"],
    ["reopen_window_ms", 24 * HOUR, "spec §8"],
    ["closure_ms", 60 * DAY, "spec §8"],
    ["secret_overlap_ms", 24 * HOUR, "spec §6"],
    ["others_max", 100, "contract §1"],
    ["body_bytes", 65_536, "contract §2"],
    ["idempotency_memory_ms", 30 * DAY, "contract §3"],
    ["service_characters", 120, "contract §4"],
    ["item_characters", 200, "contract §4"],
    ["description_characters", 2000, "contract §4"],
    ["item_label_characters", 200, "contract §4"],
    ["item_service_characters", 120, "contract §4"],
    ["amount_minor_max", 1_000_000_000_000, "contract §4"]
  ]
  for (const [name, value, section] of VALUES) {
    it(`${name} is ${value} (${section})`, () => expect(Limits[name]).toBe(value))
  }

  it("numbers start again after 9999 (spec §2)", () => expect(LAST_TICKET_NUMBER).toBe(9999))
})

describe("spec §8: every policy has the specification's value", () => {
  const VALUES = [
    ["requests_per_minute", 120, "minute", "key"],
    ["writes_per_minute", 30, "minute", "key"],
    ["tickets_per_hour", 150, "hour", "shop"],
    ["tickets_per_day", 600, "calendar_day", "shop"],
    ["lookups_per_hour", 60, "hour", "shop"],
    ["lookups_per_day", 300, "calendar_day", "shop"],
    ["stamps_per_day", 20, "calendar_day", "client and key"],
    ["unauthenticated_per_minute", 120, "minute", "address"]
  ] as const
  for (const [name, limit, window, per] of VALUES) {
    it(`${name}: ${limit} per ${window} and ${per} (spec §8, contract §8)`, () => {
      expect(Policies[name]).toMatchObject({ limit, window, per })
    })
  }

  it("there are no others (contract §8)", () => {
    expect(Object.keys(Policies).sort()).toEqual(VALUES.map(([name]) => name as string).sort())
  })
})
