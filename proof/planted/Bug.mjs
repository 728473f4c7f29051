/**
 * A bug to plant: it replaces a piece of the sources by another while they are compiled, and nowhere else. `from` occurs once in its file;
 * `fit.mjs` checks that.
 *
 * @typedef {{ readonly id: string, readonly file: string, readonly what: string, readonly from: string, readonly to: string }} Bug
 */

/** @param {string} folder @returns {(name: string, id: string, what: string, from: string, to: string) => Bug} */
export const below = (folder) => (name, id, what, from, to) => ({
  id,
  file: `packages/${folder}/${name}.ts`,
  what,
  from,
  to
})
