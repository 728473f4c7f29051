import { type Browser, chromium } from "playwright-core"
import { inject } from "vitest"
import type {} from "../packages/store-pg/test/cluster/globalSetup.js"

/** Connects to the Chromium that a run starts once, because each start takes seconds of processor time. Closing it closes one's own pages. */
export const openBrowser = async (): Promise<Browser> => {
  const response = await fetch(`http://127.0.0.1:${inject("clusterDoor")}/browser`)
  const words = await response.text()
  if (!response.ok) throw new Error(`No browser: ${words}`)
  return chromium.connect(words)
}
