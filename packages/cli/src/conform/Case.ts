import type { World } from "./World.js"

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

/** Where a case's rule stands in the repository. */
export const ruleAt = (anchor: string): string => `docs/specification.md#${anchor}`

/** A key of {@link sections}. */
export type Section = keyof typeof sections

/** One rule of the specification, and how a server is asked whether it keeps it. */
export interface Case {
  /** Unique, and stable from one version to the next: reports and `--only` name it. */
  readonly id: string
  readonly section: Section
  /** What is demanded, in one sentence of ours. */
  readonly rule: string
  /** The anchor in `docs/specification.md` of the rule that demands it. */
  readonly anchor: string
  /** A case that needs only a key runs without a sandbox too, on the shop of the key. */
  readonly needs: "sandbox" | "key"
  /** Rejects with `Broken` where the server does otherwise. Its shops are its own, the clock stands. */
  readonly run: (world: World) => Promise<void>
}

/** A case as its file writes it. */
export type Row = Omit<Case, "section" | "needs"> & Partial<Pick<Case, "needs">>

/** The cases of one section; they need the sandbox where they do not say otherwise. */
export const casesOf = (section: Section, rows: ReadonlyArray<Row>): ReadonlyArray<Case> =>
  rows.map((row) => ({ needs: "sandbox", ...row, section }))
