import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./Instant.js"

/**
 * Every number that bounds something, once, with its unit in its name (Specification, Limits; Idempotency; Tickets; Clients and loyalty; Webhooks).
 * Durations are in milliseconds, lengths in Unicode code points.
 */
export const Limits = {
  service_characters: 120,
  item_characters: 200,
  description_characters: 2000,
  item_label_characters: 200,
  item_service_characters: 120,
  external_ref_characters: 64,
  idempotency_key_characters: 80,
  name_characters: 120,
  note_characters: 500,
  url_characters: 2048,
  items_min: 2,
  items_max: 20,
  amount_minor_max: 1_000_000_000_000,
  page_min: 1,
  page_max: 100,
  page_default: 50,
  others_max: 100,
  client_list_of_shop_max: 200,
  stamps_per_call_min: 1,
  stamps_per_call_max: 10,
  program_stamps_max: 1000,
  issues_max: 50,
  issue_field_characters: 200,
  query_parameters_max: 64,
  named_values_max: 20,
  forbidden_words_max: 1000,
  active_keys_per_shop: 5,
  deliveries_in_flight_per_shop: 4,
  replay_step_events: 1000,
  replay_named_events: 1000,
  body_bytes: 64 * 1024,
  unwanted_body_bytes: 256 * 1024,
  reopen_window_ms: 24 * HOUR_MS,
  closure_ms: 60 * DAY_MS,
  idempotency_memory_ms: 30 * DAY_MS,
  secret_overlap_ms: 24 * HOUR_MS,
  webhook_tolerance_ms: 5 * MINUTE_MS,
  webhook_answer_ms: 10 * SECOND_MS
} as const

/** How long a policy's window lasts: a minute or an hour from its first use, or the shop's own calendar day. */
export type WindowKind = "minute" | "hour" | "calendar_day"

/** What bounds the use of the service, a row each; the keys are the names that answers carry in `details.limit` (Specification, Limits). */
export const Policies = {
  requests_per_minute: { limit: 120, window: "minute", per: "key", counts: "requests" },
  writes_per_minute: { limit: 30, window: "minute", per: "key", counts: "write operations" },
  tickets_per_hour: {
    limit: 150,
    window: "hour",
    per: "shop",
    counts: "tickets (app and API together)"
  },
  tickets_per_day: {
    limit: 600,
    window: "calendar_day",
    per: "shop",
    counts: "tickets (app and API together)"
  },
  lookups_per_hour: { limit: 60, window: "hour", per: "shop", counts: "look-ups by phone number" },
  lookups_per_day: { limit: 300, window: "calendar_day", per: "shop", counts: "look-ups by phone number" },
  stamps_per_day: { limit: 20, window: "calendar_day", per: "client and key", counts: "stamps added" },
  moves_per_day: { limit: 100, window: "calendar_day", per: "ticket", counts: "changes of state" },
  notifications_per_day: { limit: 50, window: "calendar_day", per: "ticket", counts: "times the client was notified" },
  unauthenticated_per_minute: { limit: 120, window: "minute", per: "address", counts: "requests without a good key" }
} as const satisfies Record<
  string,
  { readonly limit: number; readonly window: WindowKind; readonly per: string; readonly counts: string }
>

/** The name of a policy of {@link Policies}. */
export type PolicyName = keyof typeof Policies
