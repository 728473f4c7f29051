import { DateTime, JSONSchema, ParseResult, Schema } from "effect"
import { it } from "vitest"
import { nextMidnight, TimeZone } from "../../src/domain/CalendarDay.js"
import { DateTimeText } from "../../src/domain/Instant.js"
import { Phone } from "../../src/domain/Phone.js"
import { isPublicAddress } from "../../src/domain/PublicAddress.js"
import { Text } from "../../src/domain/Text.js"
import * as W from "../../src/domain/WebhookAddress.js"
import * as WordList from "../../src/domain/WordList.js"
import { DefaultWords } from "../../src/services/DefaultWords.js"

const time = (name: string, n: number, f: (i: number) => unknown) => {
  for (let i = 0; i < n / 5; i++) f(i)
  const s = performance.now()
  for (let i = 0; i < n; i++) f(i)
  console.log(name, (((performance.now() - s) * 1e6) / n).toFixed(0), "ns")
}
it("bench", () => {
  const t = ParseResult.decodeUnknownEither(Text(120))
  time("text", 1e6, (i) => t("Ourlet de pantalon " + (i & 7)))
  time("text é", 1e6, (i) => t("Réparation d’écran " + (i & 7)))
  const long = "x".repeat(1990)
  const t2 = ParseResult.decodeUnknownEither(Text(2000))
  time("text 2000", 1e5, (i) => t2(long + (i & 7)))
  const p = ParseResult.decodeUnknownEither(Phone)
  time("phone", 1e5, (i) => p("+21620" + (100000 + (i % 100000))))
  const d = ParseResult.decodeUnknownEither(DateTimeText)
  time("datetime", 1e6, (i) => d("2026-11-20T10:20:4" + (i & 7) + "Z"))
  const z = ParseResult.decodeUnknownEither(TimeZone)
  time("zone", 1e6, () => z("Africa/Tunis"))
  const tz = Schema.decodeSync(TimeZone)("Asia/Kolkata")
  const cairo = Schema.decodeSync(TimeZone)("Africa/Cairo")
  time("midnight", 1e5, (i) => nextMidnight(1.79e12 + i * 1000, tz))
  time("midnight change day", 1e4, (i) => nextMidnight(Date.UTC(2026, 3, 23, 20) + i, cairo))
  time("midnight change day 2", 1e4, (i) =>
    nextMidnight(Date.UTC(2026, 2, 29, 0, 20) + i, Schema.decodeSync(TimeZone)("Europe/Paris"))
  )
  time("effect", 1e4, (i) =>
    DateTime.unsafeMakeZoned(1.79e12 + i * 1000, { timeZone: "Africa/Tunis" }).pipe(
      DateTime.add({ days: 1 }),
      DateTime.startOf("day")
    )
  )
  time("words short", 1e5, (i) => WordList.contains(DefaultWords, "Ourlet de pantalon " + (i & 7)))
  time("words é", 1e5, (i) => WordList.contains(DefaultWords, "Réparation d’écran " + (i & 7)))
  const desc =
    "The zip of the left pocket is broken and the lining is torn; replace both, keep the old buttons. ".repeat(20)
  time("words 2000", 1e4, (i) => WordList.contains(DefaultWords, desc + i))
  time("v4", 1e5, (i) => isPublicAddress("93.184.216." + (i & 255)))
  time("v6", 1e5, (i) => isPublicAddress("2606:4700::" + (i & 255)))
  time("webhook", 1e5, (i) => W.parse("https://shop.example.com/hook/" + (i & 255), W.production))
  console.log(
    JSON.stringify(
      JSONSchema.make(
        Schema.Struct({
          a: Text(120).annotations({ description: "The service" }),
          p: Phone,
          n: Schema.optionalWith(Schema.NullOr(Text(5)), { exact: true }),
          b: Text(80).pipe(Schema.brand("K")),
          f: Text(10).pipe(Schema.pattern(/a/)),
          d: DateTimeText
        })
      ).properties
    )
  )
  const e = ParseResult.decodeUnknownEither(
    Schema.Struct({
      a: Schema.NullOr(Text(3)),
      p: Phone.pipe(Schema.optional),
      n: Schema.optionalWith(Schema.NullOr(Text(5)), { exact: true }),
      d: Schema.optionalWith(Schema.NullOr(DateTimeText), { exact: true })
    }),
    { errors: "all" }
  )
  const r = e({ a: "long text", p: 5, n: 7, d: "x" })
  if (r._tag === "Left") console.log(JSON.stringify(ParseResult.ArrayFormatter.formatIssueSync(r.left)))
})
