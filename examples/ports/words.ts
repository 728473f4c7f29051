import { ProfanityFilter } from "@workshop/core"
import { Effect, Layer } from "effect"

/**
 * Words by a service of your own, which names the rude words of a text. It is asked before every create, so it must be
 * quick; where it is away the text passes, since a counter that cannot open a ticket is worse than a word on one.
 */
export const wordsBy = (rudeWordsOf: (text: string) => Promise<ReadonlyArray<string>>): Layer.Layer<ProfanityFilter> =>
  Layer.succeed(ProfanityFilter, {
    find: (texts) =>
      Effect.forEach(texts, ([field, text]) =>
        Effect.map(
          Effect.promise(() => rudeWordsOf(text).catch(() => [])),
          (words) => words.map((word) => ({ field, word }))
        )
      ).pipe(
        Effect.map((found) => found.flat()),
        Effect.timeout("200 millis"),
        Effect.catchTag("TimeoutException", () => Effect.succeed([]))
      )
  })
