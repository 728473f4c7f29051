import type { CaseShop } from "./CaseEnvironment.js"

/** The sections of the specification, in the order in which reports list their cases. */
export const sections = {
  "§1": "What the service does: envelope, money, dates",
  "§2": "Resources and their fields",
  "§3": "States and transitions",
  "§4": "Endpoints",
  "§5": "Authentication and scopes",
  "§6": "Events, signatures, deliveries",
  "§7": "Errors",
  "§8": "Limits",
  "§9": "Versioning",
  sandbox: "The sandbox"
} as const

/** A key of {@link sections}. */
export type Section = keyof typeof sections

/** One rule of the specification, and the requests that test whether a server follows it. */
export interface Case {
  /** The unique id of the case. It does not change between versions, because reports and `--only` name it. */
  readonly id: string
  /** The section of the specification with the rule. */
  readonly section: Section
  /** The requirement, in one sentence. */
  readonly rule: string
  /** The anchor of the rule in `docs/specification.md`. */
  readonly anchor: string
  /**
   * The access that the case needs. A case that needs only a key also runs without a sandbox, on the shop of the key.
   */
  readonly needs: "sandbox" | "key"
  /**
   * Runs the case in its own shop while the clock is frozen. Rejects with `ExpectationFailed` if the server breaks the
   * rule.
   */
  readonly run: (shop: CaseShop) => Promise<void>
}

/**
 * Defines a case. Its title is `id (anchor): rule`, or `id (anchor, key): rule` for a case that needs only a key.
 */
export const test = (title: string, run: Case["run"]): Omit<Case, "section"> => {
  const [, id, anchor, key, rule] = /^([^\s(]+) \(([\w-]+)(, key)?\): (.+)$/.exec(title) ?? []
  if (id === undefined || anchor === undefined || rule === undefined)
    throw new Error(`The title of a case must have the form id (anchor): rule. Correct the title ${title}`)
  return { id, anchor, rule, needs: key === undefined ? "sandbox" : "key", run }
}

/** The cases of one section. */
export const casesOf = (section: Section, cases: ReadonlyArray<Omit<Case, "section">>): ReadonlyArray<Case> =>
  cases.map((testCase) => ({ ...testCase, section }))
