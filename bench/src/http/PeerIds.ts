import { randomFillSync } from "node:crypto"

const pool = Buffer.allocUnsafe(8192)
let at = pool.length

/** The position of the next `n` unused random bytes in the pool. */
const draw = (n: number): number => {
  if (at + n > pool.length) {
    randomFillSync(pool)
    at = 0
  }
  at += n
  return at - n
}

/** A request's id. */
export const requestId = (): string => {
  const from = draw(12)
  return pool.toString("hex", from, from + 12)
}

/** A UUID of version 7. */
export const uuid = (now: number): string => {
  const time = now.toString(16).padStart(12, "0")
  const from = draw(10)
  pool[from] = (pool[from]! & 0x0f) | 0x70
  pool[from + 2] = (pool[from + 2]! & 0x3f) | 0x80
  const rest = pool.toString("hex", from, from + 10)
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`
}

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** A tracking code, `XXXX-XXXX`. */
export const trackingCode = (): string => {
  const from = draw(8)
  let code = ""
  for (let i = from; i < from + 8; i++) {
    if (i === from + 4) code += "-"
    code += CROCKFORD[pool[i]! & 31]
  }
  return code
}
