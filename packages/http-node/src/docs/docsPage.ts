/** The page. Its addresses are relative, so that it also works behind a proxy that adds a path. */
export const docsHtml = `<!doctype html>
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
export const docsScript = `const here = new URL(".", location.href)
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
