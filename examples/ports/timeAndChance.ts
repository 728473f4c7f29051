/** The time put off by so many milliseconds, such as on a machine whose clock is known to be slow. */
export const shifted = (ms: number) => (): number => Date.now() + ms

/**
 * A source of ids of your own, such as a hardware generator's. Ids, tracking codes, keys and secrets all come of these
 * bytes, so they must be as hard to guess as the system's.
 */
export const bytesFrom =
  (fill: (bytes: Uint8Array<ArrayBuffer>) => void) =>
  (n: number): Uint8Array => {
    const bytes = new Uint8Array(n)
    fill(bytes)
    return bytes
  }
