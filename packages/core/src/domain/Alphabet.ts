/** Writes bytes in an alphabet of 32 or 64 characters: five or six bits a character, the last one filled up with zeros. */
export const inAlphabet = (alphabet: string): ((bytes: Uint8Array) => string) => {
  const size = Math.log2(alphabet.length)
  return (bytes) => {
    let bits = 0
    let held = 0
    let text = ""
    for (const byte of bytes) {
      bits = (bits << 8) | byte
      held += 8
      while (held >= size) {
        held -= size
        text += alphabet[bits >> held]
        bits &= (1 << held) - 1
      }
    }
    return held === 0 ? text : text + alphabet[bits << (size - held)]
  }
}
