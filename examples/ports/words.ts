import type { CheckedText, ForbiddenText } from "@workshop/core/promise"

/**
 * Finds forbidden words with your own service, which returns the rude words of a text. It is called before every
 * creation, so it must be fast. If it is unavailable, the text is accepted, because a counter that cannot create
 * tickets is worse than a rude word.
 */
export const wordsBy =
  (rudeWordsOf: (text: string) => Promise<ReadonlyArray<string>>) =>
  async (texts: ReadonlyArray<CheckedText>): Promise<ReadonlyArray<ForbiddenText>> => {
    const late = new Promise<ReadonlyArray<string>>((resolve) => {
      AbortSignal.timeout(200).addEventListener("abort", () => resolve([]))
    })
    const found = await Promise.all(
      texts.map(async ({ field, text }) => {
        const words = await Promise.race([rudeWordsOf(text).catch(() => []), late])
        return words.map((word) => ({ field, word }))
      })
    )
    return found.flat()
  }
