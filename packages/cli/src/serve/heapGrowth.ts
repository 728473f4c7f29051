import v8 from "node:v8"

/** By how much the heap may grow beyond what was alive at the last collection, in per cent. */
const HEAP_GROWTH = 40

/**
 * Keeps garbage from taking more memory than what is alive. V8 collects what outlived its first moments only when the heap has
 * grown to a multiple, up to four times, and gives little of that back. Requests that wait for slow clients live so long, so a
 * crowd of such clients would grow the process to twice its size with garbage alone.
 */
export const boundHeapGrowth = (setFlag: (flag: string) => void = v8.setFlagsFromString): void =>
  setFlag(`--heap-growing-percent=${HEAP_GROWTH}`)
