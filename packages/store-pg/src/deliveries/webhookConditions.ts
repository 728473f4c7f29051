/*
 * SQL of the rules of core that depend on a webhook and its deliveries. The parameters are aliases of tables, or of
 * subqueries with the same columns.
 */

/** The condition that the webhook `w` is on, as `isWebhookOn` of core decides it. */
export const isWebhookOn = (w: string): string => `${w}.off_reason is null`

/** The condition that the delivery `d` was queued before its webhook `w` was last turned on. */
export const isReleased = (d: string, w: string): string => `${d}.generation < ${w}.generation`

/** The instant at which the deliveries became due that a webhook `w` released when it was last turned on. */
export const releasedAt = (w: string): string => `${w}.enabled_at`

/** The instant at which the delivery `d` of the webhook `w` is due, as `presentSchedule` of core decides it. */
export const presentDueAt = (d: string, w: string): string =>
  `case when ${isReleased(d, w)} then ${releasedAt(w)} else ${d}.due_at end`
