import type { WebhookPost } from "@workshop/core"

/**
 * A sender that passes signed requests to your own gateway, in a network where only the gateway has access to the
 * internet. A request that the gateway accepts counts as delivered, and the gateway retries it. If `take` rejects, the
 * service retries.
 */
export const throughGateway =
  (take: (post: WebhookPost) => Promise<void>) =>
  async (post: WebhookPost): Promise<{ readonly status: number }> => {
    await take(post)
    return { status: 202 }
  }
