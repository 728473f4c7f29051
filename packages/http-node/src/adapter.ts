/**
 * The entry `@workshop/http-node/adapter`, for a command line: a listener without the service, QR codes in a terminal,
 * and the routes and methods in the form that traces and logs show.
 */

export { listen } from "./listen.js"
export { methodLabel, routeLabel } from "./metrics/HttpMetrics.js"
export { qrLines } from "./qr.js"
