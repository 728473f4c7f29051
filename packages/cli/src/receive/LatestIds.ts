/** The ids seen latest, at most so many of them: what makes an event that comes again known. */
export class LatestIds {
  readonly #ids = new Set<string>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Notes an id as just seen; the one seen longest ago goes where there are too many. */
  add(id: string): void {
    this.#ids.delete(id)
    this.#ids.add(id)
    if (this.#ids.size <= this.#most) return
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest)
      return
    }
  }
}
