/** The anchor in `docs/specification.md` of a rule that the auditor checks. A test checks that the anchors exist. */
type Anchor = `rule-${string}`

/** A rule of the specification that was broken, and how. */
export interface Breach {
  readonly anchor: Anchor
  readonly message: string
}

/** A breach of the rule with this anchor. */
export const makeBreach = (anchor: Anchor, message: string): Breach => ({ anchor, message })
