/** Returns the time plus `ms` milliseconds, such as for a machine whose clock is known to be slow. */
export const shifted = (ms: number) => (): number => Date.now() + ms

/**
 * Your own source of random bytes, such as a hardware generator. Ids, tracking codes, keys and secrets are made from
 * these bytes, so they must be as hard to guess as the system's.
 */
export const bytesFrom =
  (fill: (bytes: Uint8Array<ArrayBuffer>) => void) =>
  (n: number): Uint8Array => {
    const bytes = new Uint8Array(n)
    fill(bytes)
    return bytes
  }
