/** Entry `@workshop/core/client`: a client of the API by promises; needs neither Effect nor Node. */

export { type Client, createClient, type RepeatableOptions, type SyncMeta, type TicketQuery } from "./client/Client.js"
export type { ClientFailure, ClientResult } from "./client/ClientFailure.js"
export type { CallOptions, ClientOptions } from "./client/Exchange.js"
