import { givenShapes } from "./answerShapes.js"
import { type Complaint, complainOfName } from "./Complaint.js"
import { TAKEN } from "./checkTexts.js"
import { fieldOf, isObject } from "./Fields.js"
import type { Shape } from "./Shape.js"
import type { Path } from "./Source.js"

/** A name that a scenario gives. */
export interface Given {
  readonly path: Path
  readonly name: string
  readonly shape: Shape
}

const fieldsOf = (value: unknown) => (isObject(value) ? Object.entries(value) : [])

/** The names under `given`: shops and their keys, one shop where none is named, and clients. */
export const givenNames = (given: unknown): ReadonlyArray<Given> => {
  const shops = fieldsOf(fieldOf(given, "shops"))
  const ofShops = shops.flatMap(([name, shop]): ReadonlyArray<Given> => {
    const path = ["given", "shops", name]
    const keys = fieldsOf(fieldOf(shop, "keys"))
    return [
      { path, name, shape: givenShapes.shop },
      ...keys.map(([key]) => ({ path: [...path, "keys", key], name: key, shape: givenShapes.key }))
    ]
  })
  const none = { path: ["given"], name: "shop", shape: givenShapes.shop }
  const clients = fieldsOf(fieldOf(given, "clients"))
  return [
    ...(shops.length > 0 ? [] : [none]),
    ...ofShops,
    ...clients.map(([name]) => ({ path: ["given", "clients", name], name, shape: givenShapes.client }))
  ]
}

/** Names that are given twice, or mean something of themselves. */
export const checkGiven = (names: ReadonlyArray<Given>): ReadonlyArray<Complaint> =>
  names.flatMap(({ path, name }, i) => {
    if (TAKEN.includes(name)) return [complainOfName(path, `${name} has a meaning of its own: take another name.`)]
    return names.findIndex((other) => other.name === name) < i
      ? [complainOfName(path, `${name} is the name of something else already: take another.`)]
      : []
  })
