import type { WebhookPost } from "@workshop/core"

/**
 * A sender that hands signed posts to a gateway of your own, which alone may reach the internet. What the gateway took
 * counts as delivered: from there on retries are its own. Where it rejects, the service tries again.
 */
export const throughGateway =
  (take: (post: WebhookPost) => Promise<void>) =>
  async (post: WebhookPost): Promise<{ readonly status: number }> => {
    await take(post)
    return { status: 202 }
  }
