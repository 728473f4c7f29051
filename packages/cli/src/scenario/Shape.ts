import { SchemaAST as AST } from "effect"
import { didYouMean } from "../terminal/nearestName.js"

/** What is known of a value before there is any: the schema that it will have. */
export type Shape = AST.AST

/** Of which nothing is known. */
export const anything: Shape = AST.unknownKeyword

const membersOf = (shape: Shape): ReadonlyArray<AST.AST> => {
  if (AST.isUnion(shape)) return shape.types.flatMap(membersOf)
  if (AST.isSuspend(shape)) return membersOf(shape.f())
  if (AST.isRefinement(shape)) return membersOf(shape.from)
  return [shape]
}

const isOpen = (member: AST.AST): boolean =>
  AST.isTypeLiteral(member)
    ? member.indexSignatures.length > 0
    : AST.isUnknownKeyword(member) || AST.isTransformation(member) || AST.isDeclaration(member)

const fieldIn = (member: AST.AST, field: string): ReadonlyArray<Shape> => {
  if (isOpen(member)) return [anything]
  if (AST.isTypeLiteral(member))
    return member.propertySignatures.filter(({ name }) => name === field).map(({ type }) => type)
  if (!AST.isTupleType(member)) return []
  if (field === "length") return [AST.numberKeyword]
  return /^\d+$/.test(field) ? [...member.elements, ...member.rest].map(({ type }) => type) : []
}

const namesIn = (member: AST.AST): ReadonlyArray<string> =>
  AST.isTypeLiteral(member) ? member.propertySignatures.map(({ name }) => String(name)) : []

const MOST_NAMED = 12

const instead = (field: string, members: ReadonlyArray<AST.AST>): string => {
  const names = [...new Set(members.flatMap(namesIn))]
  const meant = didYouMean(field, names)
  if (meant !== "") return meant
  if (members.some(AST.isTupleType)) return "; it is a list: name an entry by its place, from 0."
  if (names.length === 0) return "; it has no fields."
  return names.length > MOST_NAMED ? "; correct its name." : `; it has ${names.join(", ")}.`
}

/** The shape of what a path leads to, or why it leads nowhere, as a sentence; `start` is what the path begins at. */
export const follow = (
  shape: Shape,
  path: ReadonlyArray<string>,
  start: string
): { readonly shape: Shape } | { readonly astray: string } => {
  let at = shape
  let walked = start
  for (const field of path) {
    const members = membersOf(at)
    const found = members.flatMap((member) => fieldIn(member, field))
    if (found.length === 0) return { astray: `${walked} has no ${field}${instead(field, members)}` }
    at = AST.Union.make(found)
    walked = `${walked}.${field}`
  }
  return { shape: at }
}
