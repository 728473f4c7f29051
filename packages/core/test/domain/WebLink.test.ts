import { Either, JSONSchema, ParseResult } from "effect"
import { describe, expect, it } from "vitest"
import { inputIssues } from "../../src/domain/InvalidInput.js"
import { SecureWebLink, WebLink } from "../../src/domain/WebLink.js"

/** The link that a schema reads from a text, or the messages of its issues. */
const judge = (schema: typeof WebLink) => {
  const read = ParseResult.decodeUnknownEither(schema)
  return (input: unknown) => Either.getOrElse(read(input), (issue) => inputIssues(issue).map(({ message }) => message))
}
const secure = judge(SecureWebLink)
const either = judge(WebLink)

const LONGEST = `https://a.example/${"x".repeat(2048 - 18)}`

describe("an address that people open in a browser", () => {
  it("an address is stored as given, without the white space around it", () => {
    for (const url of ["https://a.example", "HTTPS://a.example/X?y=%20#z", "https://[2001:db8::1]:8443/", LONGEST])
      expect([secure(` ${url}\n`), either(url)]).toEqual([url, url])
  })

  it("the address of a picture must be https, that of a ticket's page http or https", () => {
    expect(either("http://t.example/")).toBe("http://t.example/")
    expect(secure("http://t.example/")).toEqual(["must start with https://"])
  })

  const CASES: ReadonlyArray<readonly [url: unknown, sentence: string]> = [
    ["javascript:alert(1)", "must start with https:// or http://"],
    ["data:text/html;base64,PGI+", "must start with https:// or http://"],
    ["//a.example/", "must start with https:// or http://"],
    ["https:/a.example/", "must start with https:// or http://"],
    ["a.example", "must start with https:// or http://"],
    ["", "must start with https:// or http://"],
    ["https://user:pw@a.example/", "must not contain a user name or a password"],
    ["https://:pw@a.example/", "must not contain a user name or a password"],
    ["https://user@a.example/", "must not contain a user name or a password"],
    ["https://", "must be a web address such as https://shop.example.com/"],
    ["https://a.example:99999/", "must be a web address such as https://shop.example.com/"],
    ["https://a.example/x y", "must not contain white space or control characters"],
    ["https://a.ex\tample/", "must not contain white space or control characters"],
    ["https://a.example/\u0000", "must not contain white space or control characters"],
    ["java\nscript:alert(1)", "must not contain white space or control characters"],
    [`${LONGEST}x`, "must be at most 2048 characters"],
    [7, "must be a string"]
  ]
  for (const [url, sentence] of CASES)
    it(`${JSON.stringify(url).slice(0, 40)} is refused: ${sentence}`, () => expect(either(url)).toEqual([sentence]))

  it("the OpenAPI schema of an address has the format uri", () => {
    expect(JSONSchema.make(SecureWebLink)).toMatchObject({ type: "string", format: "uri", maxLength: 2048 })
  })
})
