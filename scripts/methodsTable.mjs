// The methods of the Promise API and of the client with their descriptions, read from the compiled declarations.
import { readFileSync } from "node:fs"

const CORE = "packages/core/dist"
const DECLARATIONS = [
  ["PromiseApi", "promiseApi"],
  ["PromiseTransfers", "promiseTransfers"],
  ["PromiseWorkshop", "makeCronMethods"]
]
/** The refusals of all methods, which the page names once. */
const COMMON = ["InvalidInput", "ShopNotFound", "StoreUnavailable", "WorkshopStopped"]

const moves = /type MoveRefusal = ([^;]+);/.exec(readFileSync(`${CORE}/domain/TicketLifecycle.d.ts`, "utf8"))?.[1]
if (moves === undefined) throw new Error("There is no type MoveRefusal")

/** The outer type arguments of a type such as `Result<A, B | C>`. @param {string} text */
const typeArguments = (text) => {
  const parts = [""]
  let depth = 0
  for (const sign of text) {
    if ("<{([".includes(sign)) depth++
    if (">})]".includes(sign)) depth--
    if (sign === "," && depth === 0) parts.push("")
    else parts.push(`${parts.pop()}${sign}`)
  }
  return parts.map((part) => part.trim())
}

/** The value and the refusals of a method's type, without the import paths of their types. @param {string} type */
const resultOf = (type) => {
  const bare = type.replaceAll(/import\("[^"]+"\)\./g, "").replaceAll(/\s+/g, " ")
  const inner = /^Promise<Result<(.*)>>$/.exec(bare)?.[1]
  return inner === undefined ? [bare] : typeArguments(inner)
}

/** A type in its short form for readers. @param {string} type @returns {string} */
const shortType = (type) => {
  const plain = type.replaceAll(/\(?string & Brand<"\w+">\)?/g, "string").replaceAll(/\breadonly /g, "")
  const repeated = /^IdempotentResult<(\w+)>$/.exec(plain)?.[1]
  if (repeated !== undefined) return `{ data: ${repeated}, replayed }`
  const fields = /^\{ (.*?);? \}$/.exec(plain)?.[1]?.split("; ")
  if (fields === undefined) return plain
  return `{ ${fields.map((field) => (/: [A-Z]/.test(field) ? field : field.replace(/:.*/, ""))).join(", ")} }`
}

/** The value of a method; empty if it has none. @param {string} type */
const shownValue = (type) => {
  const [value = ""] = resultOf(type)
  return value === "void" ? "" : shortType(value)
}

/** The tags of the refusals of a method. @param {string} type */
const refusalsOf = (type) => {
  const named = resultOf(type)[1]?.replace("MoveRefusal", moves)
  if (named === undefined) return []
  const tags = [...new Set(named.split("|").map((tag) => tag.trim()))].sort()
  const odd = tags.filter((tag) => !/^[A-Z]\w+$/.test(tag))
  if (odd.length > 0) throw new Error(`These are not tags of refusals: ${odd}`)
  return tags.filter((tag) => !COMMON.includes(tag))
}

/** Arguments that are shown by their fields. @type {Readonly<Record<string, string>>} */
const FIELDS = {
  ClientTicketRef: "{ client_id, ticket_id }",
  ClientOfferRef: "{ client_id, offer_id }",
  PlainVisit: "{ client_id, shop_id }"
}

/** The names of a method's parameters. @param {string} head */
const parametersOf = (head) =>
  typeArguments(head)
    .filter((one) => one !== "")
    .map((one) =>
      one.startsWith("{") ? "options" : (FIELDS[one.replace(/^.*: /s, "")] ?? one.replace(/\??:.*$/s, ""))
    )
    .join(", ")

/** @param {string} comment */
const sentences = (comment) =>
  comment
    .replaceAll(/^\s*\/?\*+\/?|\*\/\s*$/gm, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ \((?:The )?Specification, [^)]*\)/g, "")
    .trim()

/** @param {string} text */
const isWhole = (text) => {
  const signs = text.replaceAll("=>", "")
  const count = (/** @type {RegExp} */ sign) => signs.match(sign)?.length ?? 0
  return text.endsWith(";") && count(/[<{([]/g) === count(/[>})\]]/g)
}

/** The value of a method of the client. @param {string} type */
const clientValue = (type) =>
  (/^Promise<ClientResult<(\w+)/.exec(type)?.[1] ?? type)
    .replace("Promise<Page>", "Ticket[]")
    .replace(/^Pages.*/, "pages of Ticket[]")

/** @param {string} path @param {string} name */
const methodsOf = (path, name) => {
  const text = readFileSync(path, "utf8")
  const body = new RegExp(`const ${name}: [^\\n]*=> \\{\\n([\\s\\S]*?)\\n\\};`).exec(text)?.[1]
  if (body === undefined) throw new Error(`${path} declares no ${name}`)
  const rows = []
  let [group, comment, method] = ["", "", ""]
  for (const line of body.split("\n")) {
    if (method === "" && /^ +\/?\*/.test(line)) comment += `${line}\n`
    else if (method === "" && /^ {4}\w+: \{$/.test(line)) group = `${line.trim().replace(": {", "")}.`
    else if (method === "" && line === "    };") group = ""
    else method += `${line}\n`
    if (!isWhole(method.trim())) continue
    const [, called = "", head = "", type = ""] = /^(\w+): \((.*?)\) => (.*);$/s.exec(method.trim()) ?? []
    if (called === "") throw new Error(`This is not a method:\n${method}`)
    rows.push({ called: `${group}${called}`, parameters: parametersOf(head), says: sentences(comment), type })
    comment = ""
    method = ""
  }
  return rows
}

/**
 * A row for each method.
 * @returns {ReadonlyArray<readonly [method: string, sentences: string, value: string, refusals: ReadonlyArray<string>]>}
 */
export const promiseMethods = () => {
  const rows = DECLARATIONS.flatMap(([file = "", name = ""]) =>
    methodsOf(`${CORE}/services/promise/${file}.d.ts`, name)
  )
  return rows.map(({ called, parameters, says, type }) => [
    `${called}(${parameters})`,
    says,
    shownValue(type),
    refusalsOf(type)
  ])
}

/**
 * A row for each method of the client.
 * @returns {ReadonlyArray<readonly [method: string, sentences: string, value: string]>}
 */
export const clientMethods = () =>
  methodsOf("packages/client/dist/createClient.d.ts", "createClient").map(({ called, parameters, says, type }) => [
    // The options of the call are left out, because all methods have them.
    `${called}(${parameters.replace(/(, )?options$/, "")})`,
    says,
    clientValue(type)
  ])
