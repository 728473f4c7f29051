import type { Path } from "./Source.js"

/** What is wrong with a scenario at a place. */
export interface Complaint {
  readonly path: Path
  readonly message: string
  /** It is the field's name that is wrong, and not what stands behind it. */
  readonly isOfName: boolean
  /** What all complaints of one mistake have in common: it is told once, where it is met first. */
  readonly mistake?: string
}

/** A complaint of what stands at a path. */
export const complain = (path: Path, message: string, mistake?: string): Complaint => ({
  path,
  message,
  isOfName: false,
  ...(mistake === undefined ? {} : { mistake })
})

/** A complaint of the name of a field. */
export const complainOfName = (path: Path, message: string): Complaint => ({ path, message, isOfName: true })
