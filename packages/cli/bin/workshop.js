#!/usr/bin/env node
import { bundle, isBundled } from "./bundled.js"

try {
  // The bundle starts in a third of the time that the modules take.
  await (isBundled() ? import(`${bundle}`) : import("../dist/bin.js"))
} catch (error) {
  const isOurs = error instanceof Error && /[\\/]dist[\\/]/.test(error.message)
  if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error
  console.error(
    isOurs ? "Run npm run build first: workshop is not built yet." : "Run npm ci first: a package is missing."
  )
  process.exitCode = 1
}
