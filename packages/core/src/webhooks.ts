/** Entry `@workshop/core/webhooks`: what a receiver of webhooks needs: it checks signatures and names the events. */

export { type Verified, type VerifyFailure, type VerifyOptions, verify } from "./verify/verify.js"
