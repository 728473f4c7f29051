/** The figures of an overload, by which it is judged. */
export interface Overload {
  /** Successes a second with as many clients as the service always admits. */
  readonly capacity: number
  /** Wanted and sent requests a second. */
  readonly wanted: number
  readonly offered: number
  /** How late the generator sent. */
  readonly lag_ms: number
  /** Successes a second under overload. */
  readonly handled: number
  readonly handled_p99_ms: number
  /** Of the responses 503 that came once it had lasted for {@link SETTLED_S} seconds. */
  readonly refused_p99_ms: number
  /** Of the responses 429: the service looks at limits when it has admitted a request. */
  readonly limited_p99_ms: number
  /** The share of requests without a response. */
  readonly lost: number
  /** The most requests that the service reported in flight. */
  readonly in_flight: number
  readonly before_mib: number
  readonly most_mib: number
  /** After the overload, within how many seconds half of the capacity is served without refusals and in time; undefined if never. */
  readonly recovered_s: number | undefined
  readonly unexpected: ReadonlyArray<string>
}

/** A process takes a burst whole for half a second. The requests of this burst are over within so many seconds. */
export const SETTLED_S = 3

/** A second counts as well if nothing is refused or lost, and 99 of 100 responses take no longer. */
export const WELL_MS = 500

/** Requests that always may run; beyond them, as many as ended in the last second, doubled for what changes within a second. */
const ALWAYS = 32

const RULES: ReadonlyArray<{
  readonly broken: (seen: Overload) => boolean
  readonly says: (seen: Overload) => string
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

/** Which rules an overload broke. */
export const judgeOverload = (seen: Overload): ReadonlyArray<string> => [
  ...RULES.flatMap(({ broken, says }) => (broken(seen) ? [says(seen)] : [])),
  ...seen.unexpected
]
