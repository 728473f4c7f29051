import { casesOf, test } from "../Case.js"
import { expectSame } from "../Expectations.js"

/** The version (Specification, Versions). */
export const versioningCases = casesOf("§9", [
  test("version-in-path (rule-version-in-path, key): The API is under /v1, and under no other version.", async (shop) => {
    const { key } = shop
    ;(await shop.env.api("GET", "/v1/shop", { bearer: key })).ok()
    for (const path of ["/v2/shop", "/shop"])
      (await shop.env.api("GET", path, { bearer: key })).refused(404, "NOT_FOUND")
  }),
  test("version-in-events (rule-version-in-path): Every event carries the version of the API.", async (shop) => {
    await shop.moved("ready", "collected")
    const versions = (await shop.events()).map(({ api_version }) => api_version)
    expectSame(versions, ["1", "1", "1"], "the versions in the events")
  })
])
