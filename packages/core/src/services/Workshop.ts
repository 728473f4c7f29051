import { Layer } from "effect"
import { ApiKeyCache } from "./ApiKeyCache.js"
import { Audit } from "./Audit.js"
import { Clients } from "./Clients.js"
import { Closer } from "./Closer.js"
import { DeliveryHistory } from "./DeliveryHistory.js"
import { Keys } from "./Keys.js"
import { Loyalty } from "./Loyalty.js"
import { Offers } from "./Offers.js"
import { Progress, Quotes } from "./Progress.js"
import { Shops } from "./Shops.js"
import { Tickets } from "./Tickets.js"
import { Webhooks } from "./Webhooks.js"

/**
 * All services of the workshop, over the ports: provide a store (`@workshop/store-memory`), `Entropy.layer` and a `ProfanityFilter`
 * (`Profanity.layer` is the default one).
 */
export const layer = Layer.mergeAll(
  Tickets.Default,
  DeliveryHistory.Default,
  Progress.Default,
  Quotes.Default,
  Clients.Default,
  Loyalty.Default,
  Offers.Default,
  Keys.Default,
  Webhooks.Default,
  Closer.Default,
  Audit.Default
).pipe(Layer.provideMerge(Shops.Default), Layer.provideMerge(ApiKeyCache.Default))
