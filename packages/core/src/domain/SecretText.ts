/** Bytes of randomness in a key or a webhook secret. */
export const SECRET_BYTES = 32

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/** Base64url without padding: 43 characters for 32 bytes (contract §7, §9). */
export const secretText = (bytes: Uint8Array): string => {
  let bits = 0
  let held = 0
  let text = ""
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    held += 8
    while (held >= 6) {
      held -= 6
      text += alphabet[(bits >> held) & 63]
    }
    bits &= (1 << held) - 1
  }
  return held === 0 ? text : text + alphabet[(bits << (6 - held)) & 63]
}
