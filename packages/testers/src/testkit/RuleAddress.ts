/** The place of a rule in the repository, by its anchor on the page. */
export const ruleAt = (anchor: string): string => `docs/specification.md#${anchor}`
