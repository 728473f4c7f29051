import { expectSame } from "../Broken.js"
import { casesOf } from "../Case.js"

/** The version (Specification, Versions). */
export const versioningCases = casesOf("§9", [
  {
    id: "version-in-path",
    rule: "The API is under /v1, and under no other version.",
    anchor: "rule-version-in-path",
    needs: "key",
    run: async (world) => {
      const { key } = await world.shop()
      ;(await world.api("GET", "/v1/shop", { bearer: key })).ok()
      for (const path of ["/v2/shop", "/shop"])
        (await world.api("GET", path, { bearer: key })).refused(404, "NOT_FOUND")
    }
  },
  {
    id: "version-in-events",
    rule: "Every event carries the version of the API.",
    anchor: "rule-version-in-path",
    run: async (world) => {
      const shop = await world.shop()
      await shop.moved("ready", "collected")
      const versions = (await shop.events()).map(({ api_version }) => api_version)
      expectSame(versions, ["1", "1", "1"], "the versions in the events")
    }
  }
])
