import type { Instant } from "@workshop/core"

/** A calendar month in UTC, for which events and attempts have a partition each. */
export interface Month {
  /** As it ends the names of partitions, such as `2026_11`. */
  readonly name: string
  readonly from: Instant
  readonly until: Instant
}

const monthOf = (year: number, month: number): Month => {
  const from = Date.UTC(year, month)
  return { name: new Date(from).toISOString().slice(0, 7).replace("-", "_"), from, until: Date.UTC(year, month + 1) }
}

/** The month of an instant, and those that follow it. */
export const monthsFrom = (now: Instant, following: number): ReadonlyArray<Month> => {
  const date = new Date(now)
  return Array.from({ length: following + 1 }, (_, i) => monthOf(date.getUTCFullYear(), date.getUTCMonth() + i))
}

const NAME = /_(\d{4})_(\d{2})$/

/** The month after which a partition is named; undefined for one that somebody else made. */
export const monthNamed = (partition: string): Month | undefined => {
  const [, year, month] = NAME.exec(partition) ?? []
  return year === undefined ? undefined : monthOf(Number(year), Number(month) - 1)
}
