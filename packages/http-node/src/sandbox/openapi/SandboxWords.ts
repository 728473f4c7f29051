/** The description of the path parameter `{id}`, by the preceding path segment. */
export const pathIds: Readonly<Record<string, string>> = {
  shops: "The shop's id",
  keys: "The key's id",
  clients: "The client's id",
  offers: "The offer's id",
  tickets: "The ticket's id"
}

/** The introduction of the sandbox's document, in Markdown. */
export const introduction = `These requests do everything that the shop's app, its owner, its clients and the clock would do, so that a tester can test every rule over HTTP in any language. A server offers them if it was started with \`--sandbox\`.

Responses have the envelope of the API. No API key is needed; if the sandbox has a token, send it as \`Authorization: Bearer <token>\`. The requests count against no limit.`
