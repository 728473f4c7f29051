import { ShopId } from "@workshop/core"
import type { NoResponse } from "@workshop/testers/internal"
import type { Effect } from "effect"
import type { CommandRefused } from "../CommandRefused.js"
import type { AskSandbox } from "../sandbox/Sandbox.js"
import type { Output } from "../terminal/Output.js"
import { idFrom, idOf, ownerCommand, type ServiceRefusal, type Services } from "./ownerCommand.js"

/** The operand of every command of a shop's webhook. */
export const webhookOptions = { shop: idOf("shop") }

/** Decodes the typed id of a shop. */
export const shopIdFrom = (typed: string) => idFrom(ShopId, "a shop", typed)

/** A command of a shop's webhook that needs the shop's id and nothing else. */
export const shopIdCommand = <E extends ServiceRefusal>(
  name: string,
  description: string,
  act: (shop: string) => Effect.Effect<Output, E, Services>,
  remote: (shop: string, ask: AskSandbox) => Effect.Effect<Output, CommandRefused | NoResponse>
) =>
  ownerCommand({
    remote: ({ shop }, ask) => remote(shop, ask),
    name,
    description,
    examples: [`workshop webhook ${name} 0197...`],
    options: webhookOptions,
    act: ({ shop }) => act(shop)
  })
