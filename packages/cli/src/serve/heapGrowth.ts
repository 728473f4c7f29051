import v8 from "node:v8"

/** The growth of the heap since the last collection at which the next one begins, in per cent. */
const HEAP_GROWTH = 40

/**
 * Limits the memory that garbage takes. By default V8 collects old objects only after the heap has grown up to four
 * times, and returns little of that memory. The objects of requests that wait for slow clients become old, so many such
 * clients could double the size of the process with garbage alone.
 */
export const boundHeapGrowth = (setFlag: (flag: string) => void = v8.setFlagsFromString): void =>
  setFlag(`--heap-growing-percent=${HEAP_GROWTH}`)
