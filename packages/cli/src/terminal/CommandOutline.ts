import { stripVTControlCharacters } from "node:util"
import type { Command } from "@effect/cli"
import { CliConfig, CommandDescriptor, HelpDoc } from "@effect/cli"

/** A flag as the shell completes it. */
export interface OutlinedFlag {
  readonly name: string
  readonly does: string
  /** What its value is, as in `port` or `memory|postgres`; null for a flag without one. */
  readonly value: string | null
  readonly isRepeatable: boolean
}

/** What stands in its place on a command line, such as the id of a shop. */
export interface OutlinedOperand {
  readonly name: string
  readonly isOptional: boolean
  readonly isRepeatable: boolean
}

/** A command by its words, as in `shop create`: what it does, its flags, its operands and its subcommands. */
export interface Outlined {
  readonly words: ReadonlyArray<string>
  readonly does: string
  readonly flags: ReadonlyArray<OutlinedFlag>
  readonly operands: ReadonlyArray<OutlinedOperand>
  readonly subcommands: ReadonlyArray<string>
}

/** How `@effect/cli` 0.77 keeps a command: it has no public way to walk through subcommands of subcommands. */
type Node =
  | { readonly _tag: "Standard" | "GetUserInput"; readonly name: string; readonly description: HelpDoc.HelpDoc }
  | { readonly _tag: "Map"; readonly command: Node }
  | { readonly _tag: "Subcommands"; readonly parent: Node; readonly children: ReadonlyArray<Node> }

const textOf = (doc: HelpDoc.HelpDoc): string =>
  stripVTControlCharacters(HelpDoc.toAnsiText(doc)).replaceAll(/\s+/g, " ").trim()

/** The first sentence that is ours: `@effect/cli` puts the type of the value before it. */
const sentencesOf = (doc: HelpDoc.HelpDoc): string => {
  const ours = textOf(doc).replace(/^(A user-defined piece of text|A true or false value)\. /, "")
  return /^(.*?[.;:]) /.exec(ours)?.[1]?.slice(0, -1) ?? ours.replace(/\.$/, "")
}

/** What a command's help lists: flags as `--port number` or `--secret text...`, operands as `<file>...`. */
const listedIn = (doc: HelpDoc.HelpDoc): ReadonlyArray<readonly [term: string, about: HelpDoc.HelpDoc]> => {
  if (doc._tag === "Sequence") return [...listedIn(doc.left), ...listedIn(doc.right)]
  if (doc._tag !== "DescriptionList") return []
  return doc.definitions.map(([term, about]) => [textOf(HelpDoc.p(term)), about])
}

const DOTS = "..."

/** A term without the dots of what may be repeated, and whether it had them. */
const undotted = (term: string): readonly [text: string, isRepeatable: boolean] =>
  term.endsWith(DOTS) ? [term.slice(0, -DOTS.length), true] : [term, false]

const flagsIn = (doc: HelpDoc.HelpDoc): ReadonlyArray<OutlinedFlag> =>
  listedIn(doc).flatMap(([term, about]) => {
    const [text, isRepeatable] = undotted(term)
    const [name = "", value = null] = text.split(" ")
    return name.startsWith("--") ? [{ name, does: sentencesOf(about), value, isRepeatable }] : []
  })

const operandsIn = (doc: HelpDoc.HelpDoc): ReadonlyArray<OutlinedOperand> =>
  listedIn(doc).flatMap(([term, about]) => {
    const [text, isRepeatable] = undotted(term)
    if (!text.startsWith("<")) return []
    const isOptional = isRepeatable || textOf(about).includes("This setting is optional")
    return [{ name: text.slice(1, -1), isRepeatable, isOptional }]
  })

const outline = (node: Node, above: ReadonlyArray<string>): ReadonlyArray<Outlined> => {
  if (node._tag === "Map") return outline(node.command, above)
  if (node._tag === "Subcommands") {
    const [own] = outline(node.parent, above)
    if (own === undefined) return []
    const below = node.children.flatMap((child) => outline(child, own.words))
    const subcommands = below.flatMap(({ words }) => (words.length === own.words.length + 1 ? words.slice(-1) : []))
    return [{ ...own, subcommands }, ...below]
  }
  const help = CommandDescriptor.getHelp(
    node as unknown as CommandDescriptor.Command<unknown>,
    CliConfig.make({ showBuiltIns: false })
  )
  const words = [...above, node.name]
  const does = textOf(node.description)
  return [{ words, does, flags: flagsIn(help), operands: operandsIn(help), subcommands: [] }]
}

/** A command and all below it, each by its words; itself comes first. */
export const outlineOf = <Name extends string, R, E, A>(
  command: Command.Command<Name, R, E, A>
): readonly [Outlined, ...ReadonlyArray<Outlined>] => {
  const [first, ...others] = outline(command.descriptor as unknown as Node, [])
  return [first!, ...others]
}
