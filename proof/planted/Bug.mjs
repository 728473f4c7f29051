/**
 * A bug to plant. The bundler replaces `from` by `to` while it compiles the file; the file itself does not change.
 * `from` must occur exactly once in the file, which `fit.mjs` checks.
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
