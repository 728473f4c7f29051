/** Encodes bytes in an alphabet of 32 or 64 characters: five or six bits per character, the last one padded with zeros. */
export const makeEncoder = (alphabet: string): ((bytes: Uint8Array) => string) => {
  const size = Math.log2(alphabet.length)
  return (bytes) => {
    let bits = 0
    let bufferedBits = 0
    let text = ""
    for (const byte of bytes) {
      bits = (bits << 8) | byte
      bufferedBits += 8
      while (bufferedBits >= size) {
        bufferedBits -= size
        text += alphabet[bits >> bufferedBits]
        bits &= (1 << bufferedBits) - 1
      }
    }
    return bufferedBits === 0 ? text : text + alphabet[bits << (size - bufferedBits)]
  }
}

/** The number of random bytes in a key or a webhook secret. */
export const SECRET_BYTES = 32

/** Base64url without padding: 43 characters for 32 bytes (Specification, Keys and scopes; Webhooks). */
export const toSecretText = makeEncoder("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

/** Whether a text has the form of an encoding of {@link SECRET_BYTES} bytes. */
export const isSecretText = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)
