import { JSONSchema } from "effect"
import { ScenarioText } from "./Scenario.js"

const isNamed = (value: unknown): value is { readonly $id: string; readonly title?: string } =>
  typeof value === "object" && value !== null && "$id" in value

/** Effect names what takes anything, each time by the same `$id`, which validators refuse. */
const withoutIds = (_: string, value: unknown): unknown => {
  if (!isNamed(value)) return value
  const { $id: _id, title: _title, ...rest } = value
  return rest
}

/** The schema of scenario files for editors, from the schema that checks them. */
export const editorSchema = (): string => `${JSON.stringify(JSONSchema.make(ScenarioText), withoutIds, 2)}\n`
