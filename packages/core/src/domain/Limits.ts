import { DEFAULT_TOLERANCE_SECONDS } from "@workshop/webhooks"
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./Instant.js"

/**
 * The limits that callers and owners notice: every limit of the contract, with its unit in its name (Specification, Limits; Idempotency;
 * Tickets; Clients and loyalty; Webhooks). Durations are in milliseconds, lengths in Unicode code points.
 */
export const Limits = {
  /** The length of a ticket's service, which is the work to do. */
  service_characters: 120,
  /** The item that was brought in. */
  item_characters: 200,
  /** The note for the people in the workshop. */
  description_characters: 2000,
  /** The name of one of a ticket's items, or of a part. */
  item_label_characters: 200,
  /** The work on one of a ticket's items. */
  item_service_characters: 120,
  /** The caller's own reference of a ticket. */
  external_ref_characters: 64,
  /** The id of a caller of an embedded service. */
  caller_id_characters: 80,
  /** The header `Idempotency-Key`. */
  idempotency_key_characters: 80,
  /** The names of shops, keys, people, programs and rewards, and a forbidden word. */
  name_characters: 120,
  /** The note of a quote, and the reason of a delay. */
  note_characters: 500,
  /** A URL, a parameter of the path, and a cursor. */
  url_characters: 2048,
  /** The minimum number of items, for a ticket that has items. */
  items_min: 2,
  /** The most items of a ticket. */
  items_max: 20,
  /** The largest amount of money, in minor units. */
  amount_minor_max: 1_000_000_000_000,
  /** The largest printed number; the next ticket has number 1. */
  ticket_number_max: 9999,
  /** The smallest `limit` of a page. */
  page_min: 1,
  /** The largest `limit` of a page. */
  page_max: 100,
  /** The rows of a page without `limit`. */
  page_default: 50,
  /** The other tickets with the same number that a response lists. */
  others_max: 100,
  /** The rows of one shop in a client's list of offers or notifications: the latest ones. */
  client_list_of_shop_max: 200,
  /** The shops in a client's list of offers or notifications. */
  client_list_shops_max: 100,
  /** The fewest stamps that one request adds. */
  stamps_per_call_min: 1,
  /** The most stamps that one request adds. */
  stamps_per_call_max: 10,
  /** The most stamps that a reward costs or a ticket earns. */
  program_stamps_max: 1000,
  /** The issues that a 400 lists. */
  issues_max: 50,
  /** The length of a field's name in an issue; a longer name is cut. */
  issue_field_characters: 200,
  /** The parameters of a query. */
  query_parameters_max: 64,
  /** The values of a list that one request names, such as states, scopes or languages. */
  named_values_max: 20,
  /** The words that a shop forbids or allows. */
  forbidden_words_max: 1000,
  /** The API keys of a shop that work at the same time. */
  active_keys_per_shop: 5,
  /** The deliveries that are sent to a shop's webhook at the same time. */
  deliveries_in_flight_per_shop: 4,
  /** The events that one step of a replay queues. */
  replay_step_events: 1000,
  /** The events that a replay names by id. */
  replay_named_events: 1000,
  /** The head of a request, with the request line. */
  request_head_bytes: 16 * 1024,
  /** The body of a request. */
  body_bytes: 64 * 1024,
  /** How much the server reads of a body that it refuses, before it closes the connection. */
  unwanted_body_bytes: 256 * 1024,
  /** How long a collected ticket can be reopened. */
  reopen_window_ms: 24 * HOUR_MS,
  /** The time after which a ready ticket that is not collected, or a ticket in the workshop without news, is closed. */
  closure_ms: 60 * DAY_MS,
  /** How long a ticket's tracking page can be read after the ticket has ended. */
  tracking_after_end_ms: 30 * DAY_MS,
  /** How long the first response to an idempotency key is returned again. */
  idempotency_memory_ms: 30 * DAY_MS,
  /** How long a revoked key may still work on other nodes. */
  key_revocation_ms: MINUTE_MS,
  /** How long events are also signed with a webhook's previous secret. */
  secret_overlap_ms: 24 * HOUR_MS,
  /** The age from which a receiver refuses a signature. */
  webhook_tolerance_ms: DEFAULT_TOLERANCE_SECONDS * SECOND_MS,
  /** How long a receiver may take to respond. */
  webhook_timeout_ms: 10 * SECOND_MS,
  /** The redirects that a sender follows: none, because their target may be an address that is not public. The attempt fails. */
  webhook_redirects_max: 0,
  /** The head of a receiver's response, with the informational responses before it; a larger one makes the attempt fail. */
  webhook_response_head_bytes: 8 * 1024,
  /** The headers of a receiver's response; more of them make the attempt fail. */
  webhook_response_headers: 64,
  /** How much of the body of a receiver's response is read. */
  webhook_response_body_bytes: 16 * 1024,
  /** How much of the start of a receiver's response is stored in the log. */
  webhook_response_kept_bytes: 4 * 1024
} as const

/**
 * How the service itself works: leases, caches, batches and pauses. Every store and every process uses these rows; `docs/limits.md`
 * prints them with their docstrings. Names that end in `_ms` are in milliseconds.
 */
export const ServiceLimits = {
  /** The rewards that an imported loyalty card may have redeemed. */
  imported_rewards: 200,
  /** The bad rows that the report of an import lists; all are counted. */
  import_rows_listed: 1_000,
  /** The requests that a process may always run at once. It runs more if more ended in the last second, and refuses the others with a 503. */
  requests_running_min: 32,
  /** How long a process accepts a burst of requests beyond the number that ended in the last second. */
  request_burst_ms: 500,
  /** The time over which a process counts the requests that ended. */
  request_count_window_ms: SECOND_MS,
  /** The `Retry-After` of a 503. */
  unavailable_retry_after_ms: SECOND_MS,
  /** The look-ups of unknown keys, from addresses at their limit, that wait in a process; a further one gets a 429. They run one by one. */
  key_look_ups_waiting: 50,
  /** The pause after each of these look-ups, in real time. */
  key_look_up_pause_ms: 10,
  /** How long a command waits for earlier commands and for the lock of its shop, in real time; then it gets a 503. */
  command_wait_max_ms: 5 * SECOND_MS,
  /** The commands that may wait in a process; a further one gets a 503. */
  commands_waiting: 10_000,
  /** The commands of one shop that may wait in a process; a further one gets a 503. */
  commands_waiting_per_shop: 1_000,
  /** The commands that one transaction runs. */
  commands_per_batch: 128,
  /** The attempts to run a command whose random tracking code is taken, or a batch of commands that conflicts with other transactions. */
  command_attempts: 16,
  /** The updates of rate limits that may wait in a process; a request with a further one gets a 503. */
  rate_limits_waiting: 10_000,
  /** How long the store may take to respond before a process counts as not ready. */
  readiness_ms: 2 * SECOND_MS,
  /**
   * The requests that may wait in a process for unavailable cells, in case these respond again; it refuses the others
   * at once.
   */
  requests_waiting_for_cells: 8,
  /** How long a scrape of the metrics waits for the database. Gauges that are late show their last value. */
  measuring_ms: 2 * SECOND_MS,
  /** How long a process uses a cached API key without reading it again, unless it is notified of a change. It is shorter than `key_revocation_ms`. */
  api_key_cache_ms: 30 * SECOND_MS,
  /** The API keys that a process caches; if there are more, it empties the cache. */
  api_key_cache_size: 10_000,
  /** A process stores the last use of a key at most this often. */
  key_use_every_ms: MINUTE_MS,
  /** How long a process collects uses of keys, in real time, before it stores them in one write. */
  key_use_batch_ms: 100,
  /** How long a claimed delivery belongs to its process: longer than an attempt can last. */
  delivery_lease_ms: 15 * SECOND_MS,
  /** The deliveries that one process has in flight, not counting those that wait for slow receivers. */
  deliveries_in_flight_per_process: 256,
  /** After this time, in real time, a delivery no longer occupies one of these slots. */
  delivery_slow_after_ms: 250,
  /** The maximum number of deliveries in flight, including slow ones, is the number of slots times this factor. */
  delivery_slow_factor: 16,
  /** The shortest pause between two claims while deliveries are in flight. */
  delivery_claim_pause_min_ms: 1,
  /** The longest pause between two claims; otherwise it is as long as the last claim took. */
  delivery_claim_pause_max_ms: 5,
  /** How often a process queries due deliveries if it is not notified of any. */
  delivery_poll_ms: 250,
  /** How often a process queries leases that have ended. */
  delivery_reclaim_every_ms: SECOND_MS,
  /** A process that always has deliveries queries the replays once in this many claims. */
  delivery_claims_per_replay_look: 16,
  /** The replays that a process advances at once. */
  replays_per_look: 100,
  /** How long a sender reads the rest of a response after its status line, for the log and to reuse the connection. */
  webhook_body_ms: SECOND_MS,
  /** The time after which a sender closes an idle connection: shorter than the timeout of most receivers, so that they seldom close first. */
  webhook_connection_idle_ms: 4 * SECOND_MS,
  /** The addresses that the name of a receiver may have; the check of thousands would delay every other shop. */
  webhook_addresses_max: 64,
  /** Jitter delays a retry by at most this share of its delay, so that retries do not all start at once. */
  retry_jitter_share: 0.1,
  /** Jitter delays a retry by at most this time. */
  retry_jitter_max_ms: 5 * MINUTE_MS,
  /** The notifications that one process sends at once. */
  notifications_in_flight_per_process: 256,
  /** How long a notifier may take for one notification, in real time. */
  notifier_timeout_ms: 10 * SECOND_MS,
  /** How long a client's notification waits for a process with a notifier. Then a process without one removes it. */
  notification_wait_max_ms: 3 * DAY_MS,
  /** How often a process queries due notifications. */
  notification_poll_ms: SECOND_MS,
  /** The time after which a last attempt without a result counts as failed. */
  notification_last_look_ms: MINUTE_MS,
  /** How long a process that stops waits for work in flight, in real time. */
  stop_grace_ms: 5 * SECOND_MS,
  /** How often a process queries tickets to close. */
  closure_poll_ms: SECOND_MS,
  /** The tickets to close that a process reads at once. */
  closures_per_batch: 256,
  /** The maximum number of changes in a ticket's history: the first one, and the latest. */
  history_changes: 100,
  /**
   * The rows of a client that one command rewrites; a low number, so that the shop's other commands do not wait long.
   */
  erasure_batch_rows: 100,
  /** The events that a search for a client's data reads at once. */
  erasure_batch_events: 1000,
  /** The rows of each kind that one statement reads for an export or an erasure of a client, which reads all pages. */
  personal_data_page: 1000,
  /** The tickets that a repair of a shop's clock reads at once. */
  clock_repair_batch_tickets: 100,
  /** `/readyz` reports data that are farther ahead of the server's clock than this. */
  data_ahead_max_ms: 10 * SECOND_MS,
  /** How many of the shops that are ahead `/readyz` names. */
  data_ahead_named: 5,
  /** How often `/readyz` compares the data with the clock, in real time, as long as they agree. */
  data_ahead_check_every_ms: MINUTE_MS,
  /**
   * The tolerance for clocks that differ: a window that ends later than its full length plus this time was opened by a
   * wrong clock, and starts again.
   */
  window_clock_skew_ms: 5 * SECOND_MS,
  /** The used-up windows of each policy that a process caches; beyond that it drops the oldest. */
  used_up_windows: 10_000,
  /**
   * The shortest time for which events and their attempts can be stored: longer than all retries take, and than a shop
   * usually takes to ask about an event.
   */
  events_kept_min_ms: 7 * DAY_MS,
  /** How long events and their attempts are stored by default. */
  events_kept_ms: 90 * DAY_MS,
  /** The rows of a list without pages: the latest ones. */
  list_max: 10_000,
  /** The attempts that are read of one event: the latest ones. Replays can add any number. */
  attempts_read_max: 100,
  /** The tickets with one tracking code that are read; codes are unique only within a shop. */
  tracked_max: 8,
  /** The changes that one page of a list with `updated_since` and a filter reads. */
  changes_read_max: 1000,
  /** The rows of a list without pages if an owner gives no `limit`. */
  list_default: 1000,
  /** The events that a stream buffers for a slow reader; if there are more, it drops the oldest. */
  event_stream_buffer: 1024,
  /** Requests up to this length are their own fingerprint; longer ones are hashed. */
  fingerprint_characters: 512
} as const

/** The time from the end of each failed attempt to the start of the next; the last attempt has none (Specification, Webhooks). */
export const retryDelays_ms = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS
] as const satisfies ReadonlyArray<number>

/** How many attempts an event has in all: one at once, and one after each delay. */
export const MAX_ATTEMPTS = retryDelays_ms.length + 1

/** How long a policy's window lasts: a minute or an hour from its first use, or the shop's own calendar day. */
export type WindowKind = "minute" | "hour" | "calendar_day"

/** The limits on the use of the service, one row each; the keys are the names in `details.limit` of a response (Specification, Limits). */
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
  notifications_per_day: { limit: 50, window: "calendar_day", per: "ticket", counts: "notifications of the client" },
  unauthenticated_per_minute: { limit: 120, window: "minute", per: "address", counts: "requests without a valid key" },
  tracking_per_minute: { limit: 60, window: "minute", per: "address", counts: "requests for tracking pages" }
} as const satisfies Record<
  string,
  { readonly limit: number; readonly window: WindowKind; readonly per: string; readonly counts: string }
>

/** The name of a policy of {@link Policies}. */
export type PolicyName = keyof typeof Policies

/** How often each policy may be used in its window. */
export type LimitsByPolicy = Readonly<Record<PolicyName, number>>

/** The limits of the specification. */
export const defaultLimits = Object.fromEntries(
  Object.entries(Policies).map(([policy, { limit }]) => [policy, limit])
) as LimitsByPolicy
