import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Page, RouteGroup } from "@workshop/core/http"
import { Effect } from "effect"
import { onceAsked } from "./coalesce.js"
import { type ConstantBody, constantBody, constantPage, guarded, pageGroup } from "./page.js"

/** The page. Its addresses are relative, so that it also works behind a proxy that adds a path. */
const docsHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Workshop Ticket Service</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
  </head>
  <body>
    <noscript>This page needs JavaScript; <a href="openapi.json">openapi.json</a> says the same.</noscript>
    <div id="docs"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`

/** Starts the reader on the document of this very server: calls go to where the page came from. The key is forgotten with the page. */
const docsScript = `const here = new URL(".", location.href)
const response = fetch(new URL("openapi.json", here))
response.then((answer) => answer.json()).then((spec) => {
  spec.servers = [{ url: here.href.replace(/\\/$/, ""), description: "This server" }]
  SwaggerUIBundle({
    spec,
    dom_id: "#docs",
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    persistAuthorization: false,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    validatorUrl: null
  })
})
`

/** Packed with the package; in a clone they are still where npm put them. */
const packed = fileURLToPath(new URL("../assets/", import.meta.url))
const folder = () =>
  existsSync(packed) ? packed : dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"))

const file = (type: string, name: string) =>
  onceAsked(Effect.promise(async () => constantBody(type, await readFile(join(folder(), name)))))

const parts = (): Readonly<Record<string, Effect.Effect<ConstantBody>>> => ({
  "/docs": Effect.succeed(constantBody("text/html; charset=utf-8", docsHtml)),
  "/docs/start.js": Effect.succeed(constantBody("text/javascript; charset=utf-8", docsScript)),
  "/docs/swagger-ui-bundle.js": file("text/javascript; charset=utf-8", "swagger-ui-bundle.js"),
  "/docs/swagger-ui.css": file("text/css; charset=utf-8", "swagger-ui.css")
})

/** The page's addresses hold without a slash at the end, and this one too where a proxy adds a path. */
const withoutSlash: Page = { status: 308, headers: { Location: "../docs" }, body: "" }

/** `/docs`: a page to read the API and to try it with a key that is typed in. It asks nothing of any other host (Specification, Commands). */
export const docsPages: Effect.Effect<RouteGroup> = Effect.map(Effect.sync(parts), (known) =>
  pageGroup("/docs", (request) => {
    if (request.path === "/docs/") return Effect.succeed(withoutSlash)
    const part = known[request.path]
    return part && Effect.map(part, (body) => guarded(constantPage(body, request)))
  })
)
