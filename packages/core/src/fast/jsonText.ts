const NOTHING: object = {}
let latest = NOTHING
let latest_text = ""

/**
 * The JSON of a decision's result, which never changes again. The latest text is kept, because a result is stored for repetitions and is in
 * its event and in the response: these share one text, in place of three, which is a tenth of a create.
 */
export const resultText = (result: unknown): string => {
  if (typeof result !== "object" || result === null) return JSON.stringify(result)
  if (result !== latest) {
    latest_text = JSON.stringify(result)
    latest = result
  }
  return latest_text
}

/** The JSON of any value; of the latest result, the text that is kept. */
export const jsonText = (value: unknown): string => (value === latest ? latest_text : JSON.stringify(value))
