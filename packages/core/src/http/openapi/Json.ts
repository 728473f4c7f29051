/** A piece of the document. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
/** An object of the document. */
export type JsonObject = { readonly [key: string]: Json }
