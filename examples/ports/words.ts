import type { CheckedText, ForbiddenText } from "@workshop/core/promise"

/**
 * Words by a service of your own, which names the rude words of a text. It is asked before every create, so it must be
 * quick; if it is unavailable, the text passes, since a counter that cannot open a ticket is worse than a word on one.
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
