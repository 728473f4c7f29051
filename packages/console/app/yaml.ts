/** A text that needs no quotes in YAML, also between brackets. */
const PLAIN = /^(?:\d{3} )?[A-Za-z$/][\w $.+/@-]*(?<! )$/
/** Texts that YAML would read as another value. */
const WORDS = /^(true|false|null|yes|no|on|off|y|n)$/i

const scalar = (value: unknown): string =>
  typeof value === "string" && PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value)

/** Writes a value on one line of YAML: `{ service: Hem, price_minor: 900 }`. */
export const flow = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[${value.map(flow).join(", ")}]`
  if (typeof value !== "object" || value === null) return scalar(value)
  const fields = Object.entries(value).map(([name, field]) => `${scalar(name)}: ${flow(field)}`)
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`
}
