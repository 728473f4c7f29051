import { Console, type Effect } from "effect"
import { type Paint, paintFor } from "./Style.js"
import { widthFor } from "./Table.js"

/** What a command has to say: for a program, and for a person. */
export interface Said {
  /** What `--json` prints. */
  readonly data: unknown
  readonly lines: (look: { readonly paint: Paint; readonly width: number }) => ReadonlyArray<string>
}

/** Prints it: JSON of one value where asked, else lines that fit the terminal. */
export const say = ({ data, lines }: Said, asJson: boolean): Effect.Effect<void> =>
  Console.log(asJson ? JSON.stringify(data, null, 2) : lines({ paint: paintFor(), width: widthFor() }).join("\n"))
