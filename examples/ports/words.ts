import { ProfanityFilter } from "@workshop/core/ports/ProfanityFilter"
import { Effect, Layer } from "effect"

/**
 * Words by a service of your own. It is asked before every create, so it must be quick; where it is away the text
 * passes, since a counter that cannot open a ticket is worse than a word on one.
 */
export const wordsBy = (isRude: (text: string) => Promise<boolean>): Layer.Layer<ProfanityFilter> =>
  Layer.succeed(ProfanityFilter, {
    find: (texts) =>
      Effect.findFirst(texts, ([, text]) => Effect.promise(() => isRude(text).catch(() => false))).pipe(
        Effect.timeout("200 millis"),
        Effect.map((found) => (found._tag === "Some" ? found.value[0] : null)),
        Effect.catchTag("TimeoutException", () => Effect.succeed(null))
      )
  })
