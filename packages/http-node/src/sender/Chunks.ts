const CR = 13
const LF = 10
const SEMICOLON = 59

/** Where in a body in chunks one is: before or in a size, in what follows it on its line, and so on. */
type At = "size" | "extension" | "data" | "after data" | "trailer" | "end"

/** The longest size that is believed, in hexadecimal digits. */
const MOST_DIGITS = 8

const digit = (byte: number): number => {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

/** A body in chunks (RFC 9112 §7.1), read only for where it ends. */
export class Chunks {
  #at: At = "size"
  #digits = 0
  #left = 0
  #is_empty_line = true

  /** Whether all of it was there. */
  get isWhole(): boolean {
    return this.#at === "end"
  }

  /** Reads on from a place. Answers where it stopped: at the end of the body or of the bytes; -1 where this is no such body. */
  read(bytes: Buffer, from: number): number {
    let i = from
    while (i < bytes.length && this.#at !== "end") {
      if (this.#at === "data") {
        const taken = Math.min(this.#left, bytes.length - i)
        this.#left -= taken
        i += taken
        if (this.#left === 0) this.#at = "after data"
      } else if (!this.#step(bytes[i++]!)) return -1
    }
    return i
  }

  #step(byte: number): boolean {
    if (this.#at === "size") return this.#size(byte)
    if (this.#at === "extension") return byte === LF ? this.#sized() : true
    if (this.#at === "after data") {
      if (byte === LF) this.#at = "size"
      return byte === LF || byte === CR
    }
    if (byte === LF) {
      if (this.#is_empty_line) this.#at = "end"
      this.#is_empty_line = true
    } else if (byte !== CR) this.#is_empty_line = false
    return true
  }

  #size(byte: number): boolean {
    const value = digit(byte)
    if (value >= 0) {
      this.#left = 16 * this.#left + value
      return ++this.#digits <= MOST_DIGITS
    }
    if (this.#digits === 0) return false
    if (byte === LF) return this.#sized()
    this.#at = "extension"
    return byte === CR || byte === SEMICOLON || byte === 32 || byte === 9
  }

  #sized(): boolean {
    this.#at = this.#left === 0 ? "trailer" : "data"
    this.#digits = 0
    return true
  }
}
