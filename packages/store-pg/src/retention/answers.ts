import type { QueryResult } from "../Connection.js"

/** What a statement counted as `n`. */
export const countOf = (answer: QueryResult | undefined): number =>
  (answer?.rows[0] as { readonly n: number } | undefined)?.n ?? 0

/** Whether what a statement asked, as `is_true`, holds. */
export const isTrue = (answer: QueryResult | undefined): boolean =>
  (answer?.rows[0] as { readonly is_true: boolean } | undefined)?.is_true === true
