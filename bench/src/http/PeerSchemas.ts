import { Limits } from "@workshop/core"
import { isCleanText } from "../../../packages/core/dist/domain/Text.js"

/** A body that the schema accepts. */
export interface Body {
  readonly service: string
  readonly type?: "repair" | "prepare" | null
  readonly item?: string | null
  readonly description?: string | null
  readonly items?: ReadonlyArray<{
    readonly label: string
    readonly service?: string | null
    readonly price_minor?: number | null
  }> | null
  readonly client_id?: string | null
  readonly client_phone?: string | null
  readonly price_minor?: number | null
  readonly deposit_minor?: number | null
  readonly promised_at?: string | null
  readonly external_ref?: string | null
}

/** The formats of texts, for bounds that JSON Schema cannot express. */
export const formats = {
  text: (text: string) => isCleanText(text) && text.trim() !== "",
  moment: (text: string) => !Number.isNaN(Date.parse(text))
}

const UUID = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"

const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength, format: "text" }) as const
const nullable = <S extends object>(schema: S) => ({ ...schema, nullable: true }) as const
const amount = { type: "integer", minimum: 0, maximum: Limits.amount_minor_max } as const

export const bodySchema = {
  type: "object",
  additionalProperties: false,
  required: ["service"],
  properties: {
    service: text(Limits.service_characters),
    type: nullable({ type: "string", enum: ["repair", "prepare", null] }),
    item: nullable(text(Limits.item_characters)),
    description: nullable(text(Limits.description_characters)),
    items: nullable({
      type: "array",
      minItems: Limits.items_min,
      maxItems: Limits.items_max,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["label"],
        properties: {
          label: text(Limits.item_label_characters),
          service: nullable(text(Limits.item_service_characters)),
          price_minor: nullable(amount)
        }
      }
    }),
    client_id: nullable({ type: "string", pattern: UUID }),
    client_phone: nullable({ type: "string", maxLength: 64, pattern: "^\\s*\\+[^;]*$" }),
    price_minor: nullable(amount),
    deposit_minor: nullable(amount),
    promised_at: nullable({ type: "string", maxLength: 64, format: "moment" }),
    external_ref: nullable(text(Limits.external_ref_characters))
  }
} as const

export const headersSchema = {
  type: "object",
  required: ["idempotency-key"],
  properties: { "idempotency-key": text(Limits.idempotency_key_characters) }
} as const

export const paramsSchema = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", pattern: UUID } }
} as const

export const noQuery = { type: "object", additionalProperties: false, properties: {} } as const
