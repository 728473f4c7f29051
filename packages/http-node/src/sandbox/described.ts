import * as OpenApi from "@effect/platform/OpenApi"

/** The annotations of an operation in the document: its name for generated clients, what it does, and what its caller must know. */
export const described = (identifier: string, summary: string, description: string) =>
  OpenApi.annotations({ identifier, summary, description })

/** The name and the description of a group of operations. */
export const titled = (title: string, description: string) => OpenApi.annotations({ title, description })

/** The result of a handler that is nothing but its data. */
export const data = <A>(data: A): { readonly data: A } => ({ data })
