import { type Browser, chromium } from "playwright-core"
import { inject } from "vitest"
import type {} from "../packages/store-pg/test/cluster/globalSetup.js"

/**
 * Connects to the Chromium of the test run, which starts only once, because a start takes seconds of processor time.
 * Closing the connection closes its own pages, and not Chromium.
 */
export const openBrowser = async (): Promise<Browser> => {
  const response = await fetch(`http://127.0.0.1:${inject("clusterDoor")}/browser`)
  const words = await response.text()
  if (!response.ok) throw new Error(`No browser: ${words}`)
  return chromium.connect(words)
}
