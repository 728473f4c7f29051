import { stripVTControlCharacters } from "node:util"
import type { Command } from "@effect/cli"
import { CliConfig, CommandDescriptor, HelpDoc } from "@effect/cli"

/** A flag as the shell completes it. */
export interface OutlinedFlag {
  readonly name: string
  readonly does: string
}

/** A command as the shell completes it: its words, as in `shop create`, what it does, its flags and its subcommands. */
export interface Outlined {
  readonly words: ReadonlyArray<string>
  readonly does: string
  readonly flags: ReadonlyArray<OutlinedFlag>
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

const flagsIn = (doc: HelpDoc.HelpDoc): ReadonlyArray<OutlinedFlag> => {
  if (doc._tag === "Sequence") return [...flagsIn(doc.left), ...flagsIn(doc.right)]
  if (doc._tag !== "DescriptionList") return []
  return doc.definitions.flatMap(([term, about]) => {
    const name = /--[\w-]+/.exec(textOf(HelpDoc.p(term)))?.[0]
    return name === undefined ? [] : [{ name, does: sentencesOf(about) }]
  })
}

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
  return [{ words, does: textOf(node.description), flags: flagsIn(help), subcommands: [] }]
}

/** A command and all below it, each by its words. */
export const outlineOf = <Name extends string, R, E, A>(
  command: Command.Command<Name, R, E, A>
): ReadonlyArray<Outlined> => outline(command.descriptor as unknown as Node, [])
