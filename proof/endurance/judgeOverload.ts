/** The measurements of an overload, which the rules below judge. */
export interface Overload {
  /** The successes per second with as many clients as the service always admits. */
  readonly capacity: number
  /** The requests per second that the generator should send. */
  readonly wanted: number
  /** The requests per second that the generator sent. */
  readonly offered: number
  /** The longest delay of a request in the generator. */
  readonly lag_ms: number
  /** The successes per second under overload. */
  readonly handled: number
  readonly handled_p99_ms: number
  /** The latency of the 503 responses after the first {@link SETTLED_S} seconds of the overload. */
  readonly refused_p99_ms: number
  /**
   * The latency of the 429 responses. It is longer, because the service checks limits only after it has admitted a
   * request.
   */
  readonly limited_p99_ms: number
  /** The share of requests without a response. */
  readonly lost: number
  /** The largest number of requests in flight that the service reported. */
  readonly in_flight: number
  readonly before_mib: number
  readonly most_mib: number
  /**
   * The seconds after the overload until the service handles half of its capacity quickly and without refusals;
   * undefined if it never does.
   */
  readonly recovered_s: number | undefined
  readonly unexpected: ReadonlyArray<string>
}

/** A process admits all requests in the first half second of a burst. After this number of seconds they have ended. */
export const SETTLED_S = 3

/** The service counts as recovered in a second whose 99th percentile of latencies is at most this. */
export const WELL_MS = 500

/**
 * The number of requests that a process always admits. Beyond it, the process admits as many as ended in the last
 * second.
 */
const ALWAYS = 32

const RULES: ReadonlyArray<{
  readonly broken: (overload: Overload) => boolean
  readonly says: (overload: Overload) => string
}> = [
  {
    broken: ({ offered, wanted, lag_ms }) => offered < 0.95 * wanted || lag_ms > 250,
    says: ({ offered, wanted, lag_ms }) =>
      `the generator sent ${Math.round(offered)} of ${Math.round(wanted)} requests a second, up to ${Math.round(lag_ms)} ms late: the run says nothing`
  },
  {
    broken: ({ handled, capacity }) => handled < capacity / 2,
    says: ({ handled, capacity }) =>
      `${Math.round(handled)} requests a second were handled, of a capacity of ${Math.round(capacity)}`
  },
  {
    broken: ({ handled_p99_ms }) => handled_p99_ms > 3000,
    says: ({ handled_p99_ms }) => `of the handled requests, one in a hundred took over ${Math.round(handled_p99_ms)} ms`
  },
  {
    broken: ({ refused_p99_ms, limited_p99_ms }) => refused_p99_ms > 1000 || limited_p99_ms > 3000,
    says: ({ refused_p99_ms, limited_p99_ms }) =>
      `one refusal in a hundred took over ${Math.round(refused_p99_ms)} ms (503) or ${Math.round(limited_p99_ms)} ms (429)`
  },
  {
    broken: ({ lost }) => lost > 0.01,
    says: ({ lost }) => `${(lost * 100).toFixed(1)} % of the requests got no response`
  },
  {
    broken: ({ in_flight, capacity }) => in_flight > Math.max(2 * ALWAYS, 2 * capacity),
    says: ({ in_flight, capacity }) => `${in_flight} requests were in flight, at a capacity of ${Math.round(capacity)}`
  },
  {
    broken: ({ before_mib, most_mib }) => most_mib > before_mib + 200,
    says: ({ before_mib, most_mib }) => `memory rose from ${before_mib} to ${most_mib} MiB`
  },
  {
    broken: ({ recovered_s }) => recovered_s === undefined || recovered_s > 5,
    says: ({ recovered_s }) =>
      recovered_s === undefined ? "the process did not recover" : `it took ${recovered_s} s to recover`
  }
]

/** The rules that an overload broke, in words. */
export const judgeOverload = (overload: Overload): ReadonlyArray<string> => [
  ...RULES.flatMap(({ broken, says }) => (broken(overload) ? [says(overload)] : [])),
  ...overload.unexpected
]
