import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runCommandLine } from "../runCommandLine.js"
import { build, run } from "../Workshop.js"

const LONG = { timeout: 240_000 }
const ID = "01980000-0000-7000-8000-000000000000"
const dataDir = mkdtempSync(join(tmpdir(), "workshop-flags-"))
const here = { DATABASE_URL: "", WORKSHOP_DATA_DIR: dataDir }

beforeAll(build, 120_000)
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

describe("the owner's flags (Specification, Commands)", LONG, () => {
  it("the owner's commands report each missing or invalid value, and an empty text clears a field", async () => {
    await run(["migrate"], here)
    const atelier = ["--name", "Atelier", "--currency", "TND", "--time-zone", "Africa/Tunis", "--json"]
    const { id } = JSON.parse((await runCommandLine(["shop", "create", ...atelier], here)).stdout)
    const refusal = async (...words: ReadonlyArray<string>) => {
      const { status, stdout, stderr } = await runCommandLine(words, here)
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" })
      return stderr
    }
    expect(await refusal("key", "create", id)).toBe(
      "--name is missing. Run this command with --help to see an example.\n"
    )
    expect(await refusal("key", "create", id, "--name", "")).toBe('--name must be 1 to 120 characters, and not "".\n')
    expect(await refusal("shop", "create", "--currency", "eur")).toBe(
      '--name, --time-zone are missing; --currency must be a currency code of three capital letters, such as TND, and not "eur". Run this command with --help to see an example.\n'
    )
    expect(await refusal("client", "create", "--given-name", "A", "--family-name", "B", "--phone", "12")).toBe(
      '--phone must be a phone number in international format, such as +21620123456, and not "12".\n'
    )
    expect(await refusal("client", "visit", ID)).toMatch(/^The id of a shop is missing\. /)
    expect(await refusal("client", "visit", ID, "--shop", "")).toMatch(/^"" is not the id of a shop\. /)
    expect(await refusal("shop", "set", id, "--api-enabled", "")).toBe(
      '--api-enabled (or WORKSHOP_SHOP_API_ENABLED) must be one of yes, no, and not "".\n'
    )
    expect(await refusal("shop", "set", id)).toMatch(/^Name the settings to change/)
    // --data-dir takes precedence over DATABASE_URL, because the command could otherwise change other data.
    const elsewhere = { ...here, DATABASE_URL: "postgres://127.0.0.1:1/elsewhere" }
    expect((await runCommandLine(["shop", "list", "--json"], elsewhere)).status).toBe(1)
    expect(
      JSON.parse((await runCommandLine(["shop", "list", "--json", "--data-dir", dataDir], elsewhere)).stdout)
    ).toMatchObject([{ id }])

    const set = async (...words: ReadonlyArray<string>) =>
      JSON.parse((await runCommandLine(["shop", "set", id, ...words, "--json"], here)).stdout).program
    const named = await set("--program-name", "Stamps", "--reward-label", "A hem", "--stamps-per-ticket", "0")
    expect(named).toMatchObject({ name: "Stamps", reward_label: "A hem", stamps_per_ticket: 0 })
    expect(await set("--program-name", "")).toMatchObject({ name: null, reward_label: "A hem", stamps_per_ticket: 0 })
    expect(await set("--reward-label=")).toMatchObject({ name: null, reward_label: null })
  })
})
