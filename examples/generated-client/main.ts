import { createApi, walk } from "./walk.js"

const { WORKSHOP_URL: baseUrl = "http://127.0.0.1:4010", WORKSHOP_KEY: key } = process.env
if (key === undefined) {
  console.error("Set WORKSHOP_KEY to a key of the shop; `npm start` prints one, and serves where this looks for it.")
  process.exitCode = 1
} else {
  for (const line of await walk(createApi(baseUrl, key))) console.log(line)
}
