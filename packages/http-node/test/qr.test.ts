import { qrSvg } from "@workshop/http-node"
import { qrLines } from "@workshop/http-node/adapter"
import decodeQr from "qr/decode.js"
import { describe, expect, it } from "vitest"

const URL_TEXT = "https://tickets.example/t/7K3M-Q9XD"
const SCALE = 4

/** Reads a square of modules, true where they are dark, as a camera would. */
const read = (rows: ReadonlyArray<ReadonlyArray<boolean>>): string => {
  const side = rows.length * SCALE
  const data = new Uint8Array(side * side * 4)
  for (let at = 0; at < side * side; at++) {
    const isDark = rows[Math.floor(Math.floor(at / side) / SCALE)]?.[Math.floor((at % side) / SCALE)]
    data.set(isDark === true ? [0, 0, 0, 255] : [255, 255, 255, 255], at * 4)
  }
  return decodeQr({ width: side, height: side, data })
}

/** The modules that an SVG draws dark. */
const drawn = (svg: string): ReadonlyArray<ReadonlyArray<boolean>> => {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1])
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  for (const [, x, y, width] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g))
    rows[Number(y)]?.fill(true, Number(x), Number(x) + Number(width))
  return rows
}

/** The modules that a terminal shows dark, which are those without a block. */
const shown = (lines: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<boolean>> =>
  lines.flatMap((line) => [[..."▄ "], [..."▀ "]].map((dark) => [...line].map((block) => dark.includes(block))))

describe("the QR code of an address", () => {
  it("the SVG encodes the address, on a white background with four light modules around the code", () => {
    const svg = qrSvg(URL_TEXT)
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" [^>]*role="img"[^>]*><path fill="#fff" d="M0 0h/)
    const rows = drawn(svg)
    expect(read(rows)).toBe(URL_TEXT)
    expect([...rows.slice(0, 4), ...rows.slice(-4)].flat()).not.toContain(true)
    expect(rows.flatMap((row) => [...row.slice(0, 4), ...row.slice(-4)])).not.toContain(true)
  })

  it("the half blocks encode the address", () => {
    const lines = qrLines(URL_TEXT)
    expect(lines.every((line) => /^[█▀▄ ]+$/.test(line))).toBe(true)
    const rows = shown(lines)
    const width = rows[0]!.length
    expect(read(rows.slice(0, width))).toBe(URL_TEXT)
  })

  it("a code can contain the longest address of a shop", () => {
    const address = `https://shop.example/${"a".repeat(300)}/7K3M-Q9XD`
    expect(read(drawn(qrSvg(address)))).toBe(address)
  })
})
