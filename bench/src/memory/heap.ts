import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** The heap of this process in bytes after a garbage collection. */
export const neededBytes = (): number => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
