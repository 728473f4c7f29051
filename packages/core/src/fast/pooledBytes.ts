const POOL_BYTES = 8192

/**
 * A function that returns `n` random bytes: one call of the system's source serves many small requests, and no byte is returned twice.
 * Every request draws its id.
 */
export const pooledBytes = () => {
  let pool = new Uint8Array(0)
  let at = 0
  return (n: number): Uint8Array => {
    if (n > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(n))
    if (at + n > pool.length) {
      pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES))
      at = 0
    }
    at += n
    return pool.slice(at - n, at)
  }
}
