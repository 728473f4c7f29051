/** Entry `@workshop/http-node/adapter`: what a command line needs besides the server: a bare listener, QR codes in a terminal, and the routes and methods that traces and logs show. */

export { listen } from "./listen.js"
export { shownMethod, shownRoute } from "./metrics/HttpMetrics.js"
export { qrLines } from "./qr.js"
