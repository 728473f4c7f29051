import { qrSvg } from "@workshop/http-node"
import { qrLines } from "@workshop/http-node/internal"
import decodeQr from "qr/decode.js"
import { describe, expect, it } from "vitest"

const URL_TEXT = "https://tickets.example/t/7K3M-Q9XD"
const SCALE = 4

/** Decodes a QR code from its modules; true is dark. */
const read = (rows: ReadonlyArray<ReadonlyArray<boolean>>): string => {
  const side = rows.length * SCALE
  const data = new Uint8Array(side * side * 4)
  for (let at = 0; at < side * side; at++) {
    const isDark = rows[Math.floor(Math.floor(at / side) / SCALE)]?.[Math.floor((at % side) / SCALE)]
    data.set(isDark === true ? [0, 0, 0, 255] : [255, 255, 255, 255], at * 4)
  }
  return decodeQr({ width: side, height: side, data })
}

/** The modules of the code in an SVG; true is dark. */
const drawn = (svg: string): ReadonlyArray<ReadonlyArray<boolean>> => {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1])
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  for (const [, x, y, width] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g))
    rows[Number(y)]?.fill(true, Number(x), Number(x) + Number(width))
  return rows
}

/** The modules of the code in terminal lines; true is dark, which a terminal shows where no block is printed. */
const darkModules = (lines: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<boolean>> =>
  lines.flatMap((line) => [[..."▄ "], [..."▀ "]].map((dark) => [...line].map((block) => dark.includes(block))))

describe("the QR code of a URL", () => {
  it("the SVG encodes the URL, on a white background with a margin of four light modules", () => {
    const svg = qrSvg(URL_TEXT)
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" [^>]*role="img"[^>]*><path fill="#fff" d="M0 0h/)
    const rows = drawn(svg)
    expect(read(rows)).toBe(URL_TEXT)
    expect([...rows.slice(0, 4), ...rows.slice(-4)].flat()).not.toContain(true)
    expect(rows.flatMap((row) => [...row.slice(0, 4), ...row.slice(-4)])).not.toContain(true)
  })

  it("the half blocks for a terminal encode the URL", () => {
    const lines = qrLines(URL_TEXT)
    expect(lines.every((line) => /^[█▀▄ ]+$/.test(line))).toBe(true)
    const rows = darkModules(lines)
    const width = rows[0]!.length
    expect(read(rows.slice(0, width))).toBe(URL_TEXT)
  })

  it("a code has room for the longest URL that a shop can set", () => {
    const address = `https://shop.example/${"a".repeat(300)}/7K3M-Q9XD`
    expect(read(drawn(qrSvg(address)))).toBe(address)
  })
})
