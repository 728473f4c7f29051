import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { eventTypes } from "../../src/domain/EventType.js"
import { Limits, Policies, ServiceLimits } from "../../src/domain/Limits.js"
import { ReopenWindowPassed } from "../../src/domain/TicketLifecycle.js"
import { sendErrors } from "../../src/domain/Webhook.js"
import { ReplayInput } from "../../src/services/DeliveryHistory.js"

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe("Specification, Limits: every limit has the specification's value", () => {
  const VALUES: ReadonlyArray<readonly [name: keyof typeof Limits, value: number, section: string]> = [
    ["active_keys_per_shop", 5, "Specification, Limits"],
    ["idempotency_key_characters", 80, "Specification, Limits"],
    ["external_ref_characters", 64, "Specification, Limits"],
    ["caller_id_characters", 80, "docs/embed.md"],
    ["items_min", 2, "Specification, Limits"],
    ["items_max", 20, "Specification, Limits"],
    ["page_min", 1, "Specification, Limits"],
    ["page_max", 100, "Specification, Limits"],
    ["page_default", 50, "Specification, Limits"],
    ["stamps_per_call_min", 1, "Specification, Limits"],
    ["stamps_per_call_max", 10, "Specification, Limits"],
    ["reopen_window_ms", 24 * HOUR, "Specification, Limits"],
    ["closure_ms", 60 * DAY, "Specification, Limits"],
    ["webhook_tolerance_ms", 5 * MINUTE, "Specification, Limits"],
    ["webhook_timeout_ms", 10 * SECOND, "Specification, Limits"],
    ["webhook_redirects_max", 0, "Specification, Webhooks"],
    ["webhook_response_head_bytes", 8_192, "docs/decisions.md"],
    ["webhook_response_headers", 64, "docs/decisions.md"],
    ["webhook_response_body_bytes", 16_384, "Specification, Webhooks"],
    ["webhook_response_kept_bytes", 4_096, "docs/decisions.md"],
    ["key_revocation_ms", MINUTE, "Specification, Keys and scopes"],
    ["secret_overlap_ms", 24 * HOUR, "Specification, Webhooks"],
    ["others_max", 100, "Specification, Lists and sync"],
    ["request_head_bytes", 16_384, "docs/operating.md"],
    ["body_bytes", 65_536, "Specification, Errors"],
    ["tracking_after_end_ms", 30 * DAY, "docs/decisions.md"],
    ["idempotency_memory_ms", 30 * DAY, "Specification, Idempotency"],
    ["service_characters", 120, "Specification, Tickets"],
    ["item_characters", 200, "Specification, Tickets"],
    ["description_characters", 2000, "Specification, Tickets"],
    ["item_label_characters", 200, "Specification, Tickets"],
    ["item_service_characters", 120, "Specification, Tickets"],
    ["amount_minor_max", 1_000_000_000_000, "Specification, Tickets"],
    ["ticket_number_max", 9999, "Specification, Resources"],
    ["deliveries_in_flight_per_shop", 4, "Specification, Webhooks"],
    ["unwanted_body_bytes", 262_144, "Specification, Requests and responses"],
    ["issues_max", 50, "Specification, Errors"],
    ["issue_field_characters", 200, "docs/decisions.md"],
    ["query_parameters_max", 64, "docs/decisions.md"],
    ["named_values_max", 20, "docs/decisions.md"],
    ["name_characters", 120, "docs/decisions.md"],
    ["note_characters", 500, "docs/decisions.md"],
    ["url_characters", 2048, "docs/decisions.md"],
    ["program_stamps_max", 1000, "docs/decisions.md"],
    ["forbidden_words_max", 1000, "docs/decisions.md"],
    ["client_list_of_shop_max", 200, "docs/decisions.md"],
    ["client_list_shops_max", 100, "docs/decisions.md"],
    ["replay_step_events", 1000, "docs/decisions.md"],
    ["replay_named_events", 1000, "docs/decisions.md"]
  ]
  for (const [name, value, section] of VALUES) {
    it(`${name} is ${value} (${section})`, () => expect(Limits[name]).toBe(value))
  }

  it("the specification has a value for every limit", () => {
    expect(Object.keys(Limits).sort()).toEqual(VALUES.map(([name]) => name as string).sort())
  })
})

describe("Specification, Limits: texts and copies of a limit agree with it", () => {
  it("the refusal to reopen says 24 hours (Specification, States)", () => {
    const { message } = new ReopenWindowPassed({
      state: "collected",
      updated_at: 0,
      from: "collected",
      to: "workshop",
      allowed: []
    })
    expect(message).toBe("The ticket was collected more than 24 hours ago, so it can no longer be changed")
  })

  it("the event of a closure says 60 days (Specification, Webhooks)", () => {
    expect(eventTypes["ticket.abandoned"]).toMatch(/ for 60 days$/)
  })

  it("the error of a response with a large head says 8 KiB and 64 headers (Specification, Webhooks)", () => {
    expect(sendErrors.too_large_head).toBe(
      "the status line and headers of the response were larger than 8 KiB, or the response had more than 64 headers"
    )
  })

  it("a replay names at most 1000 events (docs/decisions.md)", () => {
    const named = (n: number) => Array.from({ length: n }, () => "019a0000-0000-7000-8000-000000000001")
    const accepts = (n: number) => Either.isRight(Schema.decodeUnknownEither(ReplayInput)({ event_ids: named(n) }))
    const { replay_named_events: max } = Limits
    expect([accepts(max), accepts(max + 1)]).toEqual([true, false])
  })
})

describe("Specification, Limits: every policy has the specification's value", () => {
  const VALUES = [
    ["requests_per_minute", 120, "minute", "key"],
    ["writes_per_minute", 30, "minute", "key"],
    ["tickets_per_hour", 150, "hour", "shop"],
    ["tickets_per_day", 600, "calendar_day", "shop"],
    ["moves_per_day", 100, "calendar_day", "ticket"],
    ["notifications_per_day", 50, "calendar_day", "ticket"],
    ["lookups_per_hour", 60, "hour", "shop"],
    ["lookups_per_day", 300, "calendar_day", "shop"],
    ["stamps_per_day", 20, "calendar_day", "client and key"],
    ["unauthenticated_per_minute", 120, "minute", "address"],
    ["tracking_per_minute", 60, "minute", "address"]
  ] as const
  for (const [name, limit, window, per] of VALUES) {
    it(`${name}: ${limit} per ${window} and ${per} (Specification, Limits)`, () => {
      expect(Policies[name]).toMatchObject({ limit, window, per })
    })
  }

  it("the specification has a value for every policy (Specification, Limits)", () => {
    expect(Object.keys(Policies).sort()).toEqual(VALUES.map(([name]) => name as string).sort())
  })
})

describe("docs/limits.md: a number that limits something is a row of Limits.ts", () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url))
  // Constants of an algorithm or a text format, which limit nothing that a caller can reach.
  const TECHNIQUE = [
    ...["SECOND_MS", "MINUTE_MS", "HOUR_MS", "DAY_MS", "LAST_IDENTIFIER", "IDENTIFIERS_PER_MS", "IDENTIFIER_BYTES"],
    ...[
      "SECRET_BYTES",
      "DIGEST_CHARACTERS",
      "IPV6_PREFIX",
      "LONGEST",
      "FIRST_INSTANT",
      "LAST_INSTANT",
      "MAX_CACHED_DATES"
    ],
    ...["POOL_BYTES", "MAX_IDENTIFIER_COUNT", "MAX_IDLE_ROUNDS", "MAX_DEPTH", "NANOS_PER_MS"],
    ...["MAX_WINDOWS", "MIN_SWEPT_ENTRIES", "FIRST_RETRY", "MAX_TURNS"],
    // Constants of a store over several cells: the size of a process's cache of shops' cells, and the sizes of batches of copies and claims.
    ...["MAX_CACHED_CLIENTS", "MAX_CACHED_PLACES", "MAX_REMEMBERED_SHOPS", "MAX_COPY_ATTEMPTS"],
    ...["LOOK_EVERY", "TURNS_PER_CLAIM"],
    // The horizon of a test clock's due work, and the longest time between the starts of two records of one attempt.
    ...["YEAR_MS", "SAME_MS"],
    // The number of rows that a command or a page of an import has. An import itself has no limit.
    ...["ROWS_AT_ONCE", "PAGE"],
    // The interval and the number of polls for the first shop while another process opens it.
    ...["LOOK_MS", "LOOKS"]
  ]
  const sources = ["core/src/domain", "core/src/decisions", "core/src/ports", "core/src/services", "store-memory/src"]

  it("no other module of the core or of the memory store defines a limit", () => {
    const definitions = sources.flatMap((folder) =>
      readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts") && name !== "Limits.ts")
        .flatMap((name) => {
          const text = readFileSync(`${root}/${folder}/${name}`, "utf8")
          const constants = text.matchAll(/^(?:export )?const ([A-Z][A-Z0-9_]*)(?:: \w+)? = -?(?:\d|"\d+ |[A-Z]+_MS)/gm)
          return [...constants].map(([, constant]) => constant!)
        })
    )
    expect(definitions.filter((name) => !TECHNIQUE.includes(name))).toEqual([])
  })

  it("every row of ServiceLimits has a docstring", () => {
    const text = readFileSync(`${root}/core/src/domain/Limits.ts`, "utf8")
    for (const name of Object.keys(ServiceLimits)) expect(text).toMatch(new RegExp(`\\*/\\n {2}${name}:`))
  })

  it("the thresholds at which a process refuses work have these values", () =>
    expect(ServiceLimits).toMatchObject({
      requests_running_min: 32,
      request_burst_ms: 500,
      request_count_window_ms: 1000,
      unavailable_retry_after_ms: 1000,
      key_look_ups_waiting: 50,
      key_look_up_pause_ms: 10,
      command_wait_max_ms: 5000,
      commands_waiting: 10_000,
      commands_waiting_per_shop: 1000,
      commands_per_batch: 128,
      rate_limits_waiting: 10_000
    }))

  it("a sender reads a response for a second, and closes an idle connection after four (Specification, Webhooks)", () =>
    expect(ServiceLimits).toMatchObject({
      webhook_body_ms: SECOND,
      webhook_connection_idle_ms: 4 * SECOND,
      webhook_addresses_max: 64
    }))

  it("a command is tried 16 times, and events are stored for 90 days by default (docs/operating.md)", () =>
    expect(ServiceLimits).toMatchObject({ command_attempts: 16, events_kept_ms: 90 * DAY }))

  it("a key that another process revokes stops working within a minute (Specification, Keys and scopes)", () =>
    expect(ServiceLimits.api_key_cache_ms).toBeLessThan(Limits.key_revocation_ms))

  it("a lease lasts longer than the ten seconds of an attempt and one second for its record (Specification, Webhooks)", () =>
    expect(ServiceLimits.delivery_lease_ms).toBeGreaterThan(Limits.webhook_timeout_ms + ServiceLimits.webhook_body_ms))
})
