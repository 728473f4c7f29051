import type { Failure, Result } from "./Result.js"

/** Failures that look alike: the same request got the same response, or the same was found. */
export interface Cause {
  /** `POST /v1/tickets: HTTP 404`; null where no request shows the failure. */
  readonly request: string | null
  readonly found: string
  /** The cases that failed so, by their ids. */
  readonly cases: ReadonlyArray<string>
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

const requestOf = ({ exchange }: Failure): string | null => {
  if (exchange === undefined) return null
  const { pathname } = new URL(exchange.url)
  return `${exchange.method} ${pathname.replaceAll(ID, "{id}")}: HTTP ${exchange.answer.status}`
}

/** The failures of a run by their causes, the one with the most cases first. */
export const causesOf = (results: ReadonlyArray<Result>): ReadonlyArray<Cause> => {
  const found = new Map<string, Cause>()
  for (const { case: one, failure } of results) {
    if (failure === undefined) continue
    const [request, what] = [requestOf(failure), failure.found.replaceAll(ID, "{id}")]
    const name = `${request} ${what}`
    found.set(name, { request, found: what, cases: [...(found.get(name)?.cases ?? []), one.id] })
  }
  return [...found.values()].toSorted((a, b) => b.cases.length - a.cases.length)
}
