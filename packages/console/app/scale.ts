/** A scale of time on which the width of a pause is logarithmic, so that minutes and sixty days fit in one picture. */
export interface Scale {
  readonly width: number
  /** The position of an instant; the position of its last entry if it has several. */
  readonly at: (instant: number) => number
  /** The position of the nth entry of an instant. */
  readonly nth: (instant: number, n: number) => number
  /** The instant at a position. */
  readonly instantAt: (x: number) => number
  /** The pauses between entries, with their positions. */
  readonly pauses: ReadonlyArray<{ readonly from: number; readonly to: number; readonly ms: number }>
}

/** An instant, and the number of entries at it. */
export interface Anchor {
  readonly at: number
  readonly slots: number
}

/** The unit of the logarithm of a pause, in milliseconds. */
const FIRST = 20_000
/** The width of a pause without its logarithm, and the least width for each doubling, in pixels. */
const LEAST = 20
const DOUBLING = 2
/** The width of a further entry at the same instant, in pixels. */
const SLOT = 24
/** The share of the width that an entry and a pause get if both do not fit. */
const SQUEEZED = 0.6

const naturalOf = (ms: number): number => Math.log2(1 + ms / FIRST)

/**
 * Makes a scale with logarithmic pauses. `room` is the least width of the whole scale, and `pad` the margin at both
 * ends, in pixels.
 */
export const foldedScale = (anchors: ReadonlyArray<Anchor>, room: number, pad: number): Scale => {
  const gaps = anchors.slice(1).map(({ at }, i) => at - anchors[i]!.at)
  const natural = gaps.reduce((sum, gap) => sum + naturalOf(gap), 0)
  const wanted = anchors.reduce((sum, { slots }) => sum + (slots - 1) * SLOT, gaps.length * LEAST)
  const left = room - 2 * pad - natural * DOUBLING
  const share = Math.min(1, Math.max(SQUEEZED, left / Math.max(1, wanted)))
  const [slot, min] = [SLOT * share, LEAST * share]
  const unit = natural === 0 ? 0 : Math.max(DOUBLING, (room - 2 * pad - wanted * share) / natural)
  let x = pad
  const places = anchors.map(({ at, slots }, i) => {
    if (i > 0) x += min + unit * naturalOf(gaps[i - 1]!)
    const from = x
    x += (slots - 1) * slot
    return { at, from, to: x }
  })
  const width = Math.max(room, x + pad)
  const indexOf = (instant: number): number => places.findLastIndex(({ at }) => at <= instant)
  return {
    width,
    at: (instant) => {
      const i = indexOf(instant)
      if (i < 0) return 0
      const [place, next] = [places[i]!, places[i + 1]]
      if (next === undefined || instant === place.at) return place.to
      const share = naturalOf(instant - place.at) / naturalOf(next.at - place.at)
      return place.to + share * (next.from - place.to)
    },
    nth: (instant, n) => {
      const place = places[indexOf(instant)]
      return place === undefined ? pad : Math.min(place.to, place.from + n * slot)
    },
    instantAt: (wanted) => {
      const i = places.findLastIndex(({ from }) => from <= wanted)
      if (i < 0) return places[0]?.at ?? 0
      const [place, next] = [places[i]!, places[i + 1]]
      if (wanted <= place.to || next === undefined) return place.at
      const share = (wanted - place.to) / (next.from - place.to)
      return Math.round(place.at + FIRST * (2 ** (share * naturalOf(next.at - place.at)) - 1))
    },
    pauses: places.slice(1).map(({ at, from }, i) => ({ from: places[i]!.to, to: from, ms: at - places[i]!.at }))
  }
}

/** Makes a linear scale, which is `zoom` times as wide as the room. */
export const evenScale = (anchors: ReadonlyArray<Anchor>, room: number, pad: number, zoom: number): Scale => {
  const [first = 0, last = 1] = [anchors[0]?.at, anchors.at(-1)?.at]
  const width = room * zoom
  const unit = (width - 2 * pad) / Math.max(1, last - first)
  const at = (instant: number) => pad + (instant - first) * unit
  return { width, at, nth: at, instantAt: (x) => Math.round(first + (x - pad) / unit), pauses: [] }
}
