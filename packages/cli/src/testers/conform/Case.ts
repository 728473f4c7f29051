import type { Shop } from "./CaseEnvironment.js"

/** The parts of the specification by which cases and reports are ordered; the sandbox is the contract's (Specification, Sandbox). */
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

/** One rule of the specification, and how a server is asked whether it keeps it. */
export interface Case {
  /** Unique, and stable from one version to the next: reports and `--only` name it. */
  readonly id: string
  readonly section: Section
  /** The requirement, in one sentence. */
  readonly rule: string
  /** The anchor in `docs/specification.md` of the rule that demands it. */
  readonly anchor: string
  /** A case that needs only a key runs without a sandbox too, on the shop of the key. */
  readonly needs: "sandbox" | "key"
  /** Runs in a shop of its own, while the clock is frozen. Rejects with `ExpectationFailed` where the server breaks the rule. */
  readonly run: (shop: Shop) => Promise<void>
}

/**
 * Writes a case. Its title is `id (anchor): rule`, or `id (anchor, key): rule` for one that needs no sandbox, because it runs
 * as well on the shop of a key.
 */
export const test = (title: string, run: Case["run"]): Omit<Case, "section"> => {
  const [, id, anchor, key, rule] = /^([^\s(]+) \(([\w-]+)(, key)?\): (.+)$/.exec(title) ?? []
  if (id === undefined || anchor === undefined || rule === undefined)
    throw new Error(`The title of the case is not id (anchor): rule. It is ${title}`)
  return { id, anchor, rule, needs: key === undefined ? "sandbox" : "key", run }
}

/** The cases of one section. */
export const casesOf = (section: Section, cases: ReadonlyArray<Omit<Case, "section">>): ReadonlyArray<Case> =>
  cases.map((one) => ({ ...one, section }))
