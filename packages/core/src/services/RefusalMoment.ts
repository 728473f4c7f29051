import type { Instant } from "../domain/Instant.js"

const moments = new WeakMap<object, Instant>()

/** Keeps when a workshop refused, by its own clock, so that the response says how long to wait whatever clock that is. */
export const noteMoment = (refusal: unknown, now: Instant): void => {
  if (typeof refusal === "object" && refusal !== null) moments.set(refusal, now)
}

/** When a refusal was given, by the clock of its workshop; undefined for one that no workshop gave. */
export const momentOf = (refusal: object): Instant | undefined => moments.get(refusal)
