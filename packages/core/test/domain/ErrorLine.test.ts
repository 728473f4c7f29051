import { describe, expect, it } from "vitest"
import { rootCause, toOneLine } from "../../src/domain/ErrorLine.js"

const refused = new Error("connect ECONNREFUSED 127.0.0.1:5432")

describe("The line of a log for an error", () => {
  it("an error without a cause has its own message, and a value that is not an error has the message of an unavailable store", () => {
    expect(rootCause(refused)).toBe(refused)
    expect(toOneLine(refused)).toBe("connect ECONNREFUSED 127.0.0.1:5432")
    expect(toOneLine("refused")).toBe("the store is unavailable")
  })

  it("the message of the root cause follows in parentheses, unless the error's message contains it", () => {
    const outer = new Error("The store db.example cannot be reached.", {
      cause: new Error("no answer", { cause: refused })
    })
    expect(rootCause(outer)).toBe(refused)
    expect(toOneLine(outer)).toBe("The store db.example cannot be reached (connect ECONNREFUSED 127.0.0.1:5432)")
    const telling = new Error("Failed: connect ECONNREFUSED 127.0.0.1:5432", { cause: refused })
    expect(toOneLine(telling)).toBe("Failed: connect ECONNREFUSED 127.0.0.1:5432")
  })

  it("the root cause of Node's error for a host with several addresses is the error of the first address, unless Node's error has a message", () => {
    expect(rootCause(new AggregateError([refused, new Error("::1")]))).toBe(refused)
    const named = new AggregateError([refused], "All attempts failed", { cause: new Error("no route") })
    expect(rootCause(named).message).toBe("no route")
    const plain = new Error("", { cause: refused })
    expect(rootCause(plain)).toBe(refused)
  })
})
