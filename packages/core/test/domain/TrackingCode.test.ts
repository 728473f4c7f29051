import { Either, ParseResult, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { TrackingCodeText, trackingUrl } from "../../src/domain/TrackingCode.js"

const read = ParseResult.decodeUnknownEither(TrackingCodeText)

describe("a tracking code as a person types it (Specification, Lists and sync)", () => {
  it.each([
    ["7K3M-Q9XD", "7K3M-Q9XD"],
    ["  7k3mq9xd\n", "7K3M-Q9XD"],
    ["7-K-3-M-q-9-x-d", "7K3M-Q9XD"],
    ["7K3M\u2013Q9XD", "7K3M-Q9XD"],
    ["oOiI-lL0z", "0011-110Z"],
    ["aAzZ-bByY", "AAZZ-BBYY"]
  ])("%j is read as %j", (text, code) => {
    expect(read(text)).toEqual(Either.right(code))
    expect(Schema.encodeSync(TrackingCodeText)(code)).toBe(code)
  })

  it.each(["", "7K3M-Q9X", "7K3M-Q9XDA", "7K3M Q9XD", "U7K3-MQ9X", "7K3M-Q9X!", "7K3M-Q9\u017fD", "-", "É7K3MQ9X"])(
    "%j is not a tracking code",
    (text) => {
      const result = read(text)
      expect(Either.isLeft(result) && ParseResult.ArrayFormatter.formatIssueSync(result.left)).toMatchObject([
        { message: "must be a tracking code such as 7K3M-Q9XD" }
      ])
    }
  )

  it("the page of a code is at the address of the shop's pages, if there is one", () => {
    expect(trackingUrl("https://track.example/", "7K3M-Q9XD")).toBe("https://track.example/7K3M-Q9XD")
    expect(trackingUrl(null, "7K3M-Q9XD")).toBeNull()
  })
})
