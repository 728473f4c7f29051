import { Schema } from "effect"
import { ServiceLimits } from "../domain/Limits.js"

const { list_max, list_default } = ServiceLimits

const count = (most: number) => Schema.optionalWith(Schema.Int.pipe(Schema.between(1, most)), { exact: true })

/**
 * Which part of a shop's events or deliveries an owner reads: the latest, at most `limit` (1,000 where it is left out, 10,000 at
 * most), of those before the event whose `seq` is `before`.
 */
export const OwnerPage = Schema.Struct({ before: count(Number.MAX_SAFE_INTEGER), limit: count(list_max) })
export type OwnerPage = typeof OwnerPage.Type

/** The page as the store is asked for it. */
export const pageOf = ({ before, limit = list_default }: OwnerPage) => ({ before, limit: Math.min(limit, list_max) })
