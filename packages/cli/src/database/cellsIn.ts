import { Effect } from "effect"

/** The cells that the flags name. */
export const cellsIn = (flags: { readonly schema: string | null; readonly cells: string | null }) =>
  Effect.gen(function* () {
    const { parseCells } = yield* Effect.promise(() => import("@workshop/store-pg"))
    return { schema: flags.schema ?? undefined, cells: yield* parseCells(flags.cells ?? "") }
  })
