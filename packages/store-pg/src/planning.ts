/** Settings of a session, by name. */
export type Settings = Readonly<Record<string, string>>

// Every statement of the store finds its rows, and their order, by an index. A plan made while a table was new and small
// would read or sort all of it, and go on doing so when it holds millions; so the planner is told not to.
const BY_INDEX = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_sort: "off",
  jit: "off"
}

/** For statements whose one way is plain from their keys: each is planned once for its connection. */
export const PLANNED_ONCE: Settings = { ...BY_INDEX, plan_cache_mode: "force_generic_plan" }

/** For reads, where the best of several indexes depends on what is asked and on how much there is. */
export const PLANNED_EACH_TIME: Settings = { ...BY_INDEX, plan_cache_mode: "force_custom_plan" }
