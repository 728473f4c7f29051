import type { WebhookPost } from "@workshop/core"

/**
 * A sender that hands signed posts to a gateway of your own, which alone may reach the internet. A post that
 * the gateway accepts counts as delivered, and the gateway retries it. If `take` rejects, the service retries.
 */
export const throughGateway =
  (take: (post: WebhookPost) => Promise<void>) =>
  async (post: WebhookPost): Promise<{ readonly status: number }> => {
    await take(post)
    return { status: 202 }
  }
