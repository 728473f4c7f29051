-- Comments that are complete sentences or noun phrases, for readers who see one column alone.
comment on table account_copy is 'The cells that lack the last change of a client''s account. A row is written with the change, and removed once the cell has it.';
comment on column account_copy.client_id is 'The id of the account, which is gone if it was erased.';
comment on column account_copy.cell is 'The name of the cell that lacks the change.';

comment on column api_key.name is 'The name that the owner gave the key.';
comment on column api_key.scopes is 'The scopes of the key.';
comment on column api_key.revoked_at is 'The instant from which the key is refused because it was revoked; null if it was not.';
comment on column api_key.expires_at is 'The instant from which the key is refused because it expired; null if it does not expire.';
comment on column api_key.last_used_at is 'The approximate instant of the last use, written at most once a minute.';

comment on column attempt.event_id is 'The id of the event that was sent.';
comment on column attempt.error is 'The name of the reason why there was no status.';
comment on column attempt.detail is 'The reason why there was no status, in words.';
comment on column attempt.timings is 'The duration of each part of the attempt, in milliseconds.';
comment on column attempt.head is 'The beginning of the receiver''s response.';

comment on table audit_entry is 'The audit log: the actions of owners and operators. Append-only.';
comment on column audit_entry.actor is 'The person or program that acted.';
comment on column audit_entry.act is 'The name of the action.';
comment on column audit_entry.details is 'The parameters of the action, without secrets.';

comment on table cell is 'The cells of the service, in the schema of the home cell. The table is empty if the home cell is the only one.';
comment on column cell.name is 'The name of the cell in --cells; home for the home cell.';
comment on column cell.takes_shops is 'True if new shops are placed in the cell.';
comment on column cell.shops is 'The number of shops that were placed in the cell.';

comment on column client_account.given_name is 'The given name of the client. Personal data.';
comment on column client_account.family_name is 'The family name of the client. Personal data.';
comment on column client_account.phone is 'The phone number of the client, in E.164. Each number has at most one account. Personal data.';
comment on column client_account.hide_name is 'True if shops see only the given name and the initial of the family name.';

comment on table client_erasure is 'The data by which a client is found while they are erased. The row is removed when that is done; one that stays was interrupted.';
comment on column client_erasure.client_id is 'The id of the account, which is already removed from client_account.';
comment on column client_erasure.phones is 'The phone number of the account and further numbers that belonged to the client, in E.164.';

comment on table client_link is 'The relations between clients and shops.';
comment on column client_link.client_id is 'The id of the client''s account.';
comment on column client_link.known_at is 'The instant from which the shop sees the client.';
comment on column client_link.blocked_at is 'The instant from which the client blocks the shop, which then does not see the client.';

comment on table delivery is 'The deliveries of events that have not arrived yet. A row in flight has a lease.';
comment on column delivery.event_id is 'The id of the event to send.';
comment on column delivery.type is 'The type of the event.';
comment on column delivery.ticket_id is 'The id of the event''s ticket, of which one delivery is sent at a time; null for a ping.';
comment on column delivery.attempts_made is 'The number of attempts.';
comment on column delivery.attempts_in_round is 'The number of attempts since the delivery was last made due anew. The retry schedule counts these.';
comment on column delivery.generation is 'The generation of the webhook when the row was written.';
comment on column delivery.is_replay is 'True if the delivery belongs to a replay. It waits until no live one is due.';
comment on column delivery.token is 'The fencing token, which each claim raises. A result with an older token changes nothing.';
comment on column delivery.lease_until is 'The instant, on the database''s clock, until which a process has leased the delivery; null while it waits.';

comment on table delivery_turn is 'The order in which shops are served, with one row for each shop with a webhook.';
comment on column delivery_turn.turn is 'The place of the shop in the order in which shops are served. Each claim moves it to the end.';
comment on column delivery_round.turn is 'The place of the shop in the order in which shops are served, together with those of which delivery_turn says look_at 0.';

comment on column event.type is 'The type of the event, such as ticket.ready.';
comment on column event.ticket_id is 'The id of the event''s ticket; null for a ping.';
comment on column event.body is 'The body that is signed and sent, byte for byte.';

comment on table key_cell is 'The cell of each API key. A key without a row is in the home cell.';
comment on column key_cell.hash is 'The hash of the key, as in api_key.';
comment on column key_cell.cell is 'The name of the cell that has the key.';

comment on column loyalty_card.balance is 'The number of stamps that were not redeemed yet.';
comment on column loyalty_card.lifetime is 'The number of stamps that were ever earned.';
comment on column loyalty_card.rewards_redeemed is 'The number of rewards that were redeemed.';
comment on column loyalty_card.updated_at is 'The instant of the last change; null for a card that was never used.';

comment on table loyalty_ledger is 'The stamps that were earned and redeemed. Append-only.';
comment on column loyalty_ledger.kind is 'The kind of the entry: stamps (given by hand), ticket (earned by one) or redeem.';
comment on column loyalty_ledger.stamps is 'The number of stamps, negative if they were redeemed.';
comment on column loyalty_ledger.ticket_id is 'The id of the ticket that earned the stamps; null for other kinds.';
comment on column loyalty_ledger.caller_id is 'The id of the caller that gave or redeemed the stamps; null for a ticket.';

comment on table mark is 'Facts about the whole database. "sandbox": a sandbox created the data, so they are not real.';
comment on column mark.name is 'The name of the fact.';

comment on column message.id is 'The id of the notification or notice.';
comment on column message.receiver is 'The kind of the receiver: client or owner.';
comment on column message.attempts_made is 'The number of attempts.';

comment on table notice is 'The notices to owners, sent or not.';
comment on column notice.kind is 'The kind of the notice, such as webhook_off.';
comment on column notice.url is 'The address of the webhook at that instant.';
comment on column notice.off_reason is 'The reason why the webhook was turned off.';
comment on column notice.failures_in_row is 'The number of failed attempts in a row until then.';
comment on column notice.first_failure_at is 'The instant of the first of these failed attempts.';

comment on table notification is 'The notifications to clients, sent or not.';
comment on column notification.client_id is 'The id of the client; null for a client without an account, who is notified by the ticket''s phone number.';
comment on column notification.type is 'The type of the notification: ticket.ready or ticket.impossible.';
comment on column notification.ticket is 'The ticket at that instant. Personal data.';
comment on column notification.ticket_id is 'The id of the ticket.';

comment on table offer is 'Tickets that were offered to a phone number, with or without an account.';
comment on column offer.id is 'The id of the offer. It is random because it grants the right to answer.';
comment on column offer.ticket_id is 'The id of the ticket that is offered.';
comment on column offer.phone is 'The phone number to which the ticket is offered, in E.164. Personal data.';
comment on column offer.status is 'The status of the offer: open, accepted or blocked.';
comment on column offer.answered_at is 'The instant of the answer; null while the offer is open.';

comment on column rate_limit.policy is 'The name of the limit.';
comment on column rate_limit.subject is 'The key, shop or address whose uses are counted.';
comment on column rate_limit.used is 'The number of uses since the window began.';
comment on column rate_limit.resets_at is 'The instant at which the window ends.';

comment on column remembered.caller_id is 'The id of the caller: an API key, or an id that an embedder uses for one.';
comment on column remembered.operation is 'The operation for which the key was used.';
comment on column remembered.key is 'The value of Idempotency-Key.';
comment on column remembered.fingerprint is 'The fingerprint of the request, by which another request with the same key is refused.';
comment on column remembered.answer is 'The first response, as JSON.';
comment on column remembered.expires_at is 'The instant from which the row is removed.';

comment on table replay is 'Requests to send events again, a thousand events at a time.';
comment on column replay.filter is 'The filter of the events.';
comment on column replay.after_seq is 'The place of the last event that was taken up.';
comment on column replay.until_seq is 'The place of the last event to take up.';
comment on column replay.is_done is 'True once all events are taken up.';

comment on column shop.name is 'The name of the shop, as its owner wrote it.';
comment on column shop.currency is 'The ISO 4217 code of the currency of all amounts of the shop.';
comment on column shop.decimals is 'The number of decimals of the currency. Amounts are integers in its smallest unit.';
comment on column shop.time_zone is 'The IANA name of the time zone, whose calendar days count for limits and stamps.';
comment on column shop.tracking_base_url is 'The beginning of the tracking_url of tickets; null if the shop has no tracking page.';
comment on column shop.approved is 'False if requests get SHOP_NOT_APPROVED.';
comment on column shop.active is 'False if requests get ACCOUNT_DEACTIVATED.';
comment on column shop.api_enabled is 'False if requests get API_DISABLED.';
comment on column shop.languages is 'The languages whose default lists of words are refused in the shop''s texts.';

comment on table shop_cell is 'The cell of each shop, which does not change. A shop without a row is in the home cell.';
comment on column shop_cell.shop_id is 'The id of the shop.';
comment on column shop_cell.cell is 'The name of the cell that has the shop.';

comment on table shop_head is 'One narrow row for each shop. Commands lock it, so the commands of a shop run one after another.';
comment on column shop_head.event_seq is 'The place that the next event takes in the shop''s order.';
comment on column shop_head.tickets_per_hour is 'The number of tickets that were created in the present window, and the end of the window.';
comment on column shop_head.tickets_per_day is 'The number of tickets that were created in the shop''s calendar day, and the end of the day.';
comment on column shop_head.ids_made is 'The number of ids that the shop''s commands made at last_instant. The next ids continue from there.';

comment on table stamps_used is 'The number of stamps that a caller gave a client on the shop''s present day.';
comment on column stamps_used.caller_id is 'The id of the caller: an API key, or an id that an embedder uses for one.';
comment on column stamps_used.used is 'The number of stamps since the day began.';
comment on column stamps_used.resets_at is 'The instant at which the day ends.';

comment on table ticket is 'The tickets in their present state. Rows are never deleted.';
comment on column ticket.number is 'The number of the ticket, 1 to 9999, then 1 again. Several tickets may have one number.';
comment on column ticket.state is 'The state of the ticket: workshop, ready, impossible, collected or abandoned.';
comment on column ticket.outcome is 'The outcome of a collected ticket: ready or impossible.';
comment on column ticket.type is 'The type of the ticket: repair or prepare.';
comment on column ticket.service is 'The work to do.';
comment on column ticket.item is 'The item that was dropped off.';
comment on column ticket.price_minor is 'The price in the currency''s smallest unit, as all amounts are.';
comment on column ticket.deposit_minor is 'The amount that was paid in advance, at most the price.';
comment on column ticket.promised_at is 'The instant for which the ticket is promised.';
comment on column ticket.client_id is 'The id of the client who is linked to the ticket.';
comment on column ticket.client_phone is 'The phone number that was typed at the counter, in E.164. Personal data.';
comment on column ticket.updated_at is 'The instant of the last change. It does not decrease along change_seq.';
comment on column ticket.ready_at is 'The instant at which the ticket became ready; null unless it is ready, or was when it was collected.';
comment on column ticket.collected_at is 'The instant at which the ticket was collected; null unless it is collected.';
comment on column ticket.abandoned_at is 'The instant at which the ticket was abandoned; null unless it is abandoned.';
comment on column ticket.abandon_reason is 'The reason why the ticket was abandoned: uncollected or no_news.';
comment on column ticket.notified_at is 'The instant at which the client was last notified.';
comment on column ticket.notified_channel is 'The channel by which the client was last notified: app, sms, whatsapp or call; null if it is unknown.';
comment on column ticket.created_via is 'The way in which the ticket was created: app or api.';
comment on column ticket.shop_changed_at is 'The instant of the shop''s last change. 60 days later a ticket in the workshop is closed.';
comment on column ticket.closure_due_at is 'The instant at which the ticket is closed automatically; null if it is not.';
comment on column ticket.moves_per_day is 'The number of changes of state in the shop''s present day, for the limit of the same name; null if there was none.';
comment on column ticket.notifications_per_day is 'The number of notifications of the client in the shop''s present day, for the limit of the same name; null if there was none.';

comment on table webhook is 'The webhooks of shops, at most one each.';
comment on column webhook.url is 'The address to which the shop''s events are sent.';
comment on column webhook.secret is 'The key that signs deliveries. Secret.';
comment on column webhook.previous_secret is 'The previous key, which also signs deliveries until previous_until. Secret.';
comment on column webhook.previous_until is 'The instant at which the previous key ends, 24 hours after a rotation.';
comment on column webhook.off_reason is 'The reason why the webhook is off; null while it is on.';
comment on column webhook.failures_in_row is 'The number of failed attempts since the last success, over all deliveries.';
comment on column webhook.first_failure_at is 'The instant of the first of these failed attempts.';
comment on column webhook.steps_told is 'The number of steps towards the switch-off of which the owner was notified.';
comment on column webhook.generation is 'The generation of the webhook, raised when it is turned on again. Deliveries of older generations are then due anew.';
comment on column webhook.released_at is 'The instant at which the webhook was last turned on.';

comment on table schema_migration is 'The migrations that were applied.';
comment on column schema_migration.version is 'The number of the migration.';
comment on column schema_migration.name is 'The name of the migration''s file, without its ending.';
comment on column schema_migration.checksum is 'The SHA-256 of the migration''s text.';
comment on column schema_migration.applied_at is 'The time at which the migration was applied.';
