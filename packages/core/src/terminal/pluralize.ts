/** A number with its noun, in the singular or the plural; `text` is the printed form of the number. */
export const pluralize = (n: number, noun: string, text: string = String(n)): string =>
  `${text} ${noun}${n === 1 ? "" : "s"}`
