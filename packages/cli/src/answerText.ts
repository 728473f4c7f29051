/** The most bytes of an answer that a tester's command reads: a list of a hundred tickets has one at most. */
const MOST_BYTES = 64 * 1024 * 1024

/** The text of an answer. Whoever is tested may send without an end, or little that unpacks to much. */
export const answerText = async (response: Response, most = MOST_BYTES): Promise<string> => {
  const decoder = new TextDecoder()
  let [text, left] = ["", most]
  for await (const chunk of response.body ?? []) {
    left -= chunk.length
    if (left < 0) throw new Error(`its answer is longer than ${most} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
