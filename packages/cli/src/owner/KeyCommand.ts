import { Command } from "@effect/cli"
import { Effect } from "effect"
import { list, yes } from "../terminal/Flags.js"
import { nameOne } from "../terminal/nameOne.js"
import { oneOf, text } from "../terminal/Readers.js"
import { databaseOptions, idOf, own } from "./OwnerOptions.js"

const load = Effect.promise(() => Promise.all([import("./act.js"), import("./keys.js")]))

const createOptions = {
  ...databaseOptions,
  name: own("key")({
    name: "name",
    placeholder: "text",
    description: "What the key is for, such as Till.",
    read: text
  }),
  preset: own("key")({
    name: "preset",
    placeholder: "full|read",
    description: "full (what it is unless told) or read.",
    read: oneOf(["full", "read"])
  }),
  scopes: list({
    name: "scopes",
    placeholder: "scope",
    description: "In place of a preset: tickets:read, tickets:write, clients:read, loyalty:write, between commas.",
    read: text,
    variable: "WORKSHOP_KEY_SCOPES"
  }),
  expiresAt: own("key")({
    name: "expires-at",
    placeholder: "instant",
    description: "From when the key is refused, such as 2027-01-31T12:00:00Z; never where it is left out.",
    read: text
  })
}

const shop = idOf("shop", "shop")

const create = Command.make("create", { ...createOptions, shop }, (asked) =>
  Effect.flatMap(load, ([{ act }, keys]) => act(asked, keys.create(asked)))
).pipe(Command.withDescription("Make a key; its text is shown once"))

const listAll = Command.make("list", { ...databaseOptions, shop }, (asked) =>
  Effect.flatMap(load, ([{ act }, keys]) => act(asked, keys.list(asked.shop)))
).pipe(Command.withDescription("List a shop's keys, revoked ones too"))

const revoke = Command.make("revoke", { ...databaseOptions, yes, key: idOf("key", "key") }, (asked) =>
  Effect.flatMap(load, ([{ act }, keys]) => act(asked, keys.revoke(asked.key, asked.yes)))
).pipe(Command.withDescription("Revoke a key, for good"))

/** `workshop key` (Specification, Commands): a shop's API keys. */
export const keyCommand = Command.make("key", {}, () => nameOne("key")).pipe(
  Command.withDescription("A shop's API keys, against a database"),
  Command.withSubcommands([create, listAll, revoke])
)
