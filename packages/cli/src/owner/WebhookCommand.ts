import { group } from "../terminal/program.js"
import { deliveriesCommands } from "./WebhookDeliveries.js"
import { settingsCommands } from "./WebhookSettings.js"

/** `workshop webhook` (Specification, Commands): a shop's webhook and its deliveries. */
export const webhookCommand = group(
  {
    name: "webhook",
    examples: ["workshop webhook set 0197... https://shop.example/events", "workshop webhook deliveries 0197..."]
  },
  [...settingsCommands, ...deliveriesCommands]
)
