import { inAlphabet } from "./Alphabet.js"

/** Bytes of randomness in a key or a webhook secret. */
export const SECRET_BYTES = 32

/** Base64url without padding: 43 characters for 32 bytes (Specification, Keys and scopes; Webhooks). */
export const secretText = inAlphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

/** Whether a text could be that of {@link SECRET_BYTES} bytes. */
export const isSecretText = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)
