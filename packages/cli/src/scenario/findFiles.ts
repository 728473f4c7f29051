import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { Either } from "effect"

const SCENARIO = /\.ya?ml$/

const below = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !/(^|[\\/])node_modules[\\/]/.test(name))
    .map((name) => join(folder, name))
    .toSorted()

const isGlob = (asked: string): boolean => /[*?]/.test(asked)

/** `*` and `?` stay within a folder, `**` does not. */
const globPattern = (glob: string): RegExp => {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("**/", "\u0000")
    .replaceAll("**", "\u0001")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]")
    .replaceAll("\u0000", "(?:.*/)?")
    .replaceAll("\u0001", ".*")
  return new RegExp(`^${source}$`)
}

const matching = (glob: string): ReadonlyArray<string> => {
  const plain = glob.replace(/^\.\//, "")
  const fixed = plain.slice(0, plain.search(/[*?]/))
  const folder = fixed.includes("/") ? fixed.slice(0, fixed.lastIndexOf("/")) || "/" : "."
  const pattern = globPattern(plain)
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? below(folder).filter((path) => pattern.test(path))
    : []
}

const found = (asked: string): Either.Either<ReadonlyArray<string>, string> => {
  const stat = statSync(asked, { throwIfNoEntry: false })
  if (stat?.isDirectory()) {
    const files = below(asked).filter((path) => SCENARIO.test(path))
    return files.length > 0 ? Either.right(files) : Either.left(`There is no .yaml file in ${asked}.`)
  }
  if (stat !== undefined) return Either.right([asked])
  if (!isGlob(asked)) {
    return Either.left(
      `There is no file ${asked}; workshop scenario new ${asked.replace(SCENARIO, "")} would write one.`
    )
  }
  const files = matching(asked)
  return files.length > 0 ? Either.right(files) : Either.left(`No file matches ${asked}.`)
}

/** The scenario files that names of files, folders and patterns such as `specs/*.yaml` stand for, each once. */
export const findFiles = (asked: ReadonlyArray<string>): Either.Either<ReadonlyArray<string>, string> =>
  Either.map(Either.all(asked.map(found)), (lists) => [...new Set(lists.flat())])
