import type { Schema } from "effect"
import { TicketEdit } from "../decisions/editTicket.js"
import { QuoteInput } from "../decisions/quoteTicket.js"
import { KeyInput, ShopPatch } from "../decisions/shopSettings.js"
import { TicketInput } from "../decisions/TicketInput.js"
import { DelayInput, PartInput, PhotoInput } from "../decisions/ticketProgress.js"
import { Caller } from "./Caller.js"
import { ClientCorrection, ClientInput } from "./Clients.js"
import { ReplayInput } from "./DeliveryHistory.js"
import { ShopInput } from "./Shops.js"
import { TicketQueryJson } from "./TicketQuery.js"

type Encoded<S extends Schema.Schema.Any> = Schema.Schema.Encoded<S>
type Read<S extends Schema.Schema.Any, Plain> = Schema.Schema<Schema.Schema.Type<S>, Plain>

/** On whose behalf a method is called, as plain values. */
export interface PlainCaller extends Encoded<typeof Caller> {}
/** A new ticket (Specification, Endpoints). */
export interface PlainTicket extends Encoded<typeof TicketInput> {}
/** What to change of a ticket (Specification, Tickets). */
export interface PlainTicketEdit extends Encoded<typeof TicketEdit> {}
/** Which tickets to list (Specification, Lists and sync). */
export interface PlainTicketQuery extends Encoded<typeof TicketQueryJson> {}
/** A later date for a ticket. */
export interface PlainDelay extends Encoded<typeof DelayInput> {}
/** A part that a ticket waits for. */
export interface PlainPart extends Encoded<typeof PartInput> {}
/** A picture of what a ticket is about. */
export interface PlainPhoto extends Encoded<typeof PhotoInput> {}
/** A new price for a ticket (Specification, Tickets). */
export interface PlainQuote extends Encoded<typeof QuoteInput> {}
/** A new client's account (Specification, Clients and loyalty). */
export interface PlainClient extends Encoded<typeof ClientInput> {}
/** What to correct of a client's account. */
export interface PlainCorrection extends Encoded<typeof ClientCorrection> {}
/** A new shop. */
export interface PlainShop extends Encoded<typeof ShopInput> {}
/** What to change of a shop's settings. */
export interface PlainShopPatch extends Encoded<typeof ShopPatch> {}
/** A new key of a shop (Specification, Keys and scopes). */
export interface PlainKey extends Encoded<typeof KeyInput> {}
/** Which events to send again (Specification, Sandbox). */
export interface PlainReplay extends Encoded<typeof ReplayInput> {}

/** The schemas of what the Promise face takes. Editors and errors call what goes in by these names, in place of all its fields. */
export const decodeInput = {
  caller: Caller as Read<typeof Caller, PlainCaller>,
  ticket: TicketInput as Read<typeof TicketInput, PlainTicket>,
  ticketEdit: TicketEdit as Read<typeof TicketEdit, PlainTicketEdit>,
  ticketQuery: TicketQueryJson as Read<typeof TicketQueryJson, PlainTicketQuery>,
  delay: DelayInput as Read<typeof DelayInput, PlainDelay>,
  part: PartInput as Read<typeof PartInput, PlainPart>,
  photo: PhotoInput as Read<typeof PhotoInput, PlainPhoto>,
  quote: QuoteInput as Read<typeof QuoteInput, PlainQuote>,
  correction: ClientCorrection as Read<typeof ClientCorrection, PlainCorrection>,
  client: ClientInput as Read<typeof ClientInput, PlainClient>,
  shop: ShopInput as Read<typeof ShopInput, PlainShop>,
  shopPatch: ShopPatch as Read<typeof ShopPatch, PlainShopPatch>,
  key: KeyInput as Read<typeof KeyInput, PlainKey>,
  replay: ReplayInput as Read<typeof ReplayInput, PlainReplay>
}
