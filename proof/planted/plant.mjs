import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { bugs } from "./bugs.mjs"

/** The folder of the project. */
export const root = fileURLToPath(new URL("../..", import.meta.url))

/** The number of occurrences of a part in a text. @param {string} text @param {string} part */
const count = (text, part) => text.split(part).length - 1

/**
 * The reason why a bug cannot be planted; undefined if it can.
 * @param {import("./Bug.mjs").Bug} bug
 * @returns {string | undefined}
 */
export const misfit = ({ id, file, from }) => {
  const times = count(readFileSync(root + file, "utf8"), from)
  return times === 1
    ? undefined
    : `${file} holds the text that the planted bug ${id} replaces ${times} times: write its \`from\` anew in proof/planted/bugs.mjs, so that it occurs once.`
}

/** The bug with an id. @param {string} id */
export const bugOf = (id) => {
  const match = bugs.find((bug) => bug.id === id)
  if (match === undefined) throw new Error(`There is no planted bug ${id}: see proof/planted/bugs.mjs`)
  return match
}

/** The text of a source file with a bug in it. @param {import("./Bug.mjs").Bug} bug @param {string} text */
export const planted = ({ from, to }, text) => text.replace(from, () => to)
