/** A number with its noun, in the singular or the plural; `shown` is the printed form of the number. */
export const pluralize = (n: number, noun: string, shown: string = String(n)): string =>
  `${shown} ${noun}${n === 1 ? "" : "s"}`
