-- What each table and column holds, for whoever looks with psql or a data catalogue.

comment on table shop is 'A shop''s settings. Directory table: read by every node, changed by its owner and its operator.';
comment on column shop.id is 'UUID version 7, made by the program.';
comment on column shop.name is 'As the owner wrote it.';
comment on column shop.currency is 'ISO 4217 code of all amounts of the shop.';
comment on column shop.decimals is 'How many decimals the currency has: amounts are integers in its smallest unit.';
comment on column shop.time_zone is 'IANA name; days of limits and stamps are this zone''s calendar days.';
comment on column shop.tracking_base_url is 'What tracking_url of a ticket begins with; null if the shop has no such page.';
comment on column shop.approved is 'False: requests get SHOP_NOT_APPROVED.';
comment on column shop.active is 'False: requests get ACCOUNT_DEACTIVATED.';
comment on column shop.api_enabled is 'False: requests get API_DISABLED.';
comment on column shop.program is 'The loyalty programme: active, name, stamps_required, stamps_per_ticket, reward_label.';
comment on column shop.forbidden_words is 'Words refused in the shop''s texts besides the default list.';
comment on column shop.allowed_words is 'Words of the default list that this shop may use.';
comment on column shop.languages is 'Languages whose default lists of words are refused in the shop''s texts.';
comment on column shop.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table shop_head is 'One narrow row a shop: commands lock it, so the commands of a shop run one after another.';
comment on column shop_head.shop_id is 'The shop to which the row belongs.';
comment on column shop_head.next_number is 'The number of the next ticket, 1 to 9999, then 1 again.';
comment on column shop_head.change_seq is 'The place that the next change of a ticket takes in the shop''s sync.';
comment on column shop_head.event_seq is 'The place that the next event takes.';
comment on column shop_head.last_instant is 'The instant of the latest command; created_at and updated_at never go back behind it.';
comment on column shop_head.tickets_per_hour is 'How many tickets were created in the present window, and when it ends.';
comment on column shop_head.tickets_per_day is 'The same for the shop''s calendar day.';

comment on table client_account is 'A client''s account, known by its phone number. Directory table.';
comment on column client_account.id is 'UUID version 7, made by the program.';
comment on column client_account.given_name is 'Personal data.';
comment on column client_account.family_name is 'Personal data.';
comment on column client_account.phone is 'E.164. Personal data; one account a number.';
comment on column client_account.hide_name is 'True: shops see the given name and the initial of the family name.';
comment on column client_account.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table api_key is 'An API key of a shop. The key''s text is not stored.';
comment on column api_key.id is 'UUID version 7, made by the program.';
comment on column api_key.place is 'The order in which rows of one instant were written.';
comment on column api_key.shop_id is 'The shop to which the row belongs.';
comment on column api_key.name is 'What its owner calls it.';
comment on column api_key.scopes is 'What it may do.';
comment on column api_key.hash is 'SHA-256 of the key, in hex: requests are looked up by it.';
comment on column api_key.last_four is 'The last four characters, so that owners recognize it.';
comment on column api_key.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column api_key.revoked_at is 'Since when it is refused; null while it works.';
comment on column api_key.expires_at is 'From when on it is refused; null if it does not expire.';
comment on column api_key.last_used_at is 'About when it was last used: written at most once a minute.';

comment on table ticket is 'Tickets as they are now. Rows are never deleted.';
comment on column ticket.shop_id is 'The shop to which the row belongs.';
comment on column ticket.id is 'UUID version 7, made by the program.';
comment on column ticket.number is '1 to 9999, then 1 again: several tickets may have one number.';
comment on column ticket.state is 'workshop, ready, impossible, collected or abandoned.';
comment on column ticket.outcome is 'Of a collected ticket: ready or impossible.';
comment on column ticket.type is 'repair or prepare.';
comment on column ticket.service is 'What is to be done.';
comment on column ticket.item is 'What was dropped off.';
comment on column ticket.description is 'The note for the workshop.';
comment on column ticket.items is 'Several items of one ticket: id, label, service, price_minor, done.';
comment on column ticket.price_minor is 'In the currency''s smallest unit, as are all amounts.';
comment on column ticket.deposit_minor is 'Paid in advance; at most the price.';
comment on column ticket.before_minor is 'The price before the last accepted quote.';
comment on column ticket.quote is 'The last new price: status, price_minor, note, proposed_at, answered_at.';
comment on column ticket.promised_at is 'When the client was told to expect it.';
comment on column ticket.delay is 'The last delay: previous_promised_at, reason, announced_at.';
comment on column ticket.part is 'The part that is waited for: label, status, ordered_at, expected_at, received_at.';
comment on column ticket.client_id is 'The client who is linked to the ticket.';
comment on column ticket.client_phone is 'The number typed at the counter, E.164. Personal data.';
comment on column ticket.tracking_code is 'Eight random characters by which a client finds the ticket.';
comment on column ticket.photo_url is 'The address of a picture.';
comment on column ticket.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column ticket.updated_at is 'Never goes back along change_seq.';
comment on column ticket.ready_at is 'Null unless it is, or was when collected, ready.';
comment on column ticket.collected_at is 'Null unless it is collected.';
comment on column ticket.abandoned_at is 'Null unless it is abandoned.';
comment on column ticket.abandon_reason is 'uncollected or no_news.';
comment on column ticket.notified_at is 'When the client was last notified.';
comment on column ticket.created_via is 'app or api.';
comment on column ticket.external_ref is 'The caller''s own reference.';
comment on column ticket.change_seq is 'The place of its last change in the shop''s sync; unique within a shop.';
comment on column ticket.shop_changed_at is 'The shop''s last change: 60 days later a ticket in the workshop is closed.';
comment on column ticket.stamps_earned is 'True once the ticket has earned stamps, which it does once.';
comment on column ticket.closure_due_at is 'When it closes by itself; null where it does not.';

comment on table client_link is 'How a client and a shop stand to each other.';
comment on column client_link.shop_id is 'The shop to which the row belongs.';
comment on column client_link.client_id is 'The client''s account.';
comment on column client_link.known_at is 'Since when the shop sees the client.';
comment on column client_link.blocked_at is 'Since when the client blocks the shop, which then sees no client.';

comment on table offer is 'Tickets offered to a phone number, whoever holds it.';
comment on column offer.shop_id is 'The shop to which the row belongs.';
comment on column offer.id is 'Random: it grants the right to answer.';
comment on column offer.place is 'The order in which rows of one instant were written.';
comment on column offer.ticket_id is 'What is offered.';
comment on column offer.phone is 'E.164. Personal data.';
comment on column offer.status is 'open, accepted or blocked.';
comment on column offer.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column offer.answered_at is 'Null while it is open.';

comment on table loyalty_card is 'A client''s card at a shop: the sum of its lines in loyalty_ledger.';
comment on column loyalty_card.shop_id is 'The shop to which the row belongs.';
comment on column loyalty_card.client_id is 'The client''s account.';
comment on column loyalty_card.balance is 'Stamps not yet spent.';
comment on column loyalty_card.lifetime is 'Stamps ever earned; never falls.';
comment on column loyalty_card.rewards_redeemed is 'How many rewards were used.';
comment on column loyalty_card.updated_at is 'Null for a card that was never used.';

comment on table loyalty_ledger is 'Append-only: every earning and every spending of stamps.';
comment on column loyalty_ledger.shop_id is 'The shop to which the row belongs.';
comment on column loyalty_ledger.id is 'UUID version 7, made by the program.';
comment on column loyalty_ledger.client_id is 'The client''s account.';
comment on column loyalty_ledger.kind is 'stamps (given by hand), ticket (earned by one) or redeem (spent).';
comment on column loyalty_ledger.stamps is 'How many; negative where they are spent.';
comment on column loyalty_ledger.ticket_id is 'Of kind ticket: which earned them, once.';
comment on column loyalty_ledger.caller_id is 'Who gave or spent them; null for a ticket.';
comment on column loyalty_ledger.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table stamps_used is 'How many stamps a caller gave a client on the shop''s present day.';
comment on column stamps_used.shop_id is 'The shop to which the row belongs.';
comment on column stamps_used.caller_id is 'The API key, or what an embedder uses for one.';
comment on column stamps_used.client_id is 'The client''s account.';
comment on column stamps_used.used is 'Since the window began.';
comment on column stamps_used.resets_at is 'When the day ends.';

comment on table remembered is 'The first answer to each idempotency key, for 30 days.';
comment on column remembered.shop_id is 'The shop to which the row belongs.';
comment on column remembered.caller_id is 'The API key, or what an embedder uses for one.';
comment on column remembered.operation is 'Which operation the key was used for.';
comment on column remembered.key is 'The Idempotency-Key.';
comment on column remembered.fingerprint is 'What was asked for, so that another request under the same key is refused.';
comment on column remembered.answer is 'The answer as JSON text, as it was.';
comment on column remembered.expires_at is 'Removed from then on.';

comment on table event is 'Events in the order of each shop, partitioned by month. Append-only; removed after a while.';
comment on column event.shop_id is 'The shop to which the row belongs.';
comment on column event.id is 'UUID version 7; receivers drop duplicates by it.';
comment on column event.type is 'Such as ticket.ready.';
comment on column event.seq is 'The event''s place in the shop''s order, without gaps.';
comment on column event.ticket_id is 'Null for a ping.';
comment on column event.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column event.body is 'The text that is signed and sent, byte for byte.';

comment on table attempt is 'Every attempt to deliver an event, partitioned by month of started_at. Append-only; removed after a while.';
comment on column attempt.shop_id is 'The shop to which the row belongs.';
comment on column attempt.event_id is 'What was sent.';
comment on column attempt.n is 'The number of the attempt, from 1.';
comment on column attempt.started_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column attempt.status is 'The receiver''s HTTP status; null if there was none.';
comment on column attempt.error is 'Why there was no status, by name.';
comment on column attempt.detail is 'The same in words.';
comment on column attempt.address is 'The IP address that was dialled.';
comment on column attempt.timings is 'How long each part took, in milliseconds.';
comment on column attempt.head is 'The beginning of what the receiver answered.';

comment on table webhook is 'The one address to which a shop''s events are sent.';
comment on column webhook.shop_id is 'The shop to which the row belongs.';
comment on column webhook.url is 'Where to.';
comment on column webhook.secret is 'Signs deliveries. Secret.';
comment on column webhook.previous_secret is 'Signs besides the new one until previous_until. Secret.';
comment on column webhook.previous_until is '24 hours after a rotation.';
comment on column webhook.off_reason is 'Null while it is on.';
comment on column webhook.failures_in_row is 'Failed attempts since the last success, over all deliveries.';
comment on column webhook.first_failure_at is 'When that row began.';
comment on column webhook.steps_told is 'Of how many steps on the way to the switch-off the owner was notified.';
comment on column webhook.generation is 'Raised when it is turned on again: deliveries of an older generation are due anew.';
comment on column webhook.released_at is 'When it was last turned on.';

comment on table delivery is 'Events that still have to arrive. Rows come and go; a lease marks those that are on their way.';
comment on column delivery.shop_id is 'The shop to which the row belongs.';
comment on column delivery.event_id is 'What is to be sent.';
comment on column delivery.type is 'The event''s type.';
comment on column delivery.ticket_id is 'Deliveries of one ticket go out one at a time.';
comment on column delivery.seq is 'The event''s place in the shop''s order.';
comment on column delivery.attempts_made is 'How often it was ever tried.';
comment on column delivery.attempts_in_round is 'How often since it was last made due anew: the retry schedule counts these.';
comment on column delivery.due_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column delivery.generation is 'The webhook''s when the row was written.';
comment on column delivery.is_replay is 'True: it waits until no live one is due.';
comment on column delivery.token is 'Raised by every claim: an acknowledgement under an older one changes nothing.';
comment on column delivery.lease_until is 'On the database''s clock: until then a process has it in hand. Null while it waits.';

comment on table delivery_turn is 'One row a shop with a webhook: in which order shops are served.';
comment on column delivery_turn.shop_id is 'The shop to which the row belongs.';
comment on column delivery_turn.look_at is 'Before this instant nothing of the shop can be claimed; 0 where something can now. It may be too early, never too late.';
comment on column delivery_turn.turn is 'Shops are served in this order, and go to its end with each claim.';

comment on table replay is 'Requests to send events again, worked off a thousand events at a time.';
comment on column replay.shop_id is 'The shop to which the row belongs.';
comment on column replay.id is 'UUID version 7, made by the program.';
comment on column replay.filter is 'Which events.';
comment on column replay.after_seq is 'How far it has come.';
comment on column replay.until_seq is 'The last event it takes up.';
comment on column replay.is_done is 'True once it has taken up all.';
comment on column replay.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table notification is 'What clients were, or are to be, notified of.';
comment on column notification.shop_id is 'The shop to which the row belongs.';
comment on column notification.id is 'UUID version 7, made by the program.';
comment on column notification.place is 'The order in which rows of one instant were written.';
comment on column notification.client_id is 'Whom.';
comment on column notification.type is 'ticket.ready or ticket.impossible.';
comment on column notification.ticket is 'The ticket as it was then. Personal data.';
comment on column notification.ticket_id is 'Which ticket.';
comment on column notification.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table notice is 'What owners were, or are to be, notified of.';
comment on column notice.shop_id is 'The shop to which the row belongs.';
comment on column notice.id is 'UUID version 7, made by the program.';
comment on column notice.place is 'The order in which rows of one instant were written.';
comment on column notice.kind is 'Such as webhook_off.';
comment on column notice.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column notice.url is 'The webhook''s address then.';
comment on column notice.off_reason is 'Why it was turned off.';
comment on column notice.failures_in_row is 'Failed attempts until then.';
comment on column notice.first_failure_at is 'When they began.';

comment on table message is 'Notifications and notices that still have to be sent.';
comment on column message.shop_id is 'The shop to which the row belongs.';
comment on column message.id is 'Of the notification or notice.';
comment on column message.receiver is 'client or owner.';
comment on column message.attempts_made is 'How often it was tried.';
comment on column message.due_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table rate_limit is 'Uses of the limits that belong to no shop''s head. Unlogged: a crash opens the windows anew.';
comment on column rate_limit.policy is 'The limit''s name.';
comment on column rate_limit.subject is 'The key, shop or address that is counted.';
comment on column rate_limit.used is 'Since the window began.';
comment on column rate_limit.resets_at is 'When the window ends.';

comment on table audit_entry is 'Append-only: what owners and operators did.';
comment on column audit_entry.shop_id is 'The shop to which the row belongs.';
comment on column audit_entry.id is 'UUID version 7, made by the program.';
comment on column audit_entry.place is 'The order in which rows were written.';
comment on column audit_entry.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column audit_entry.actor is 'Who did it.';
comment on column audit_entry.act is 'What was done.';
comment on column audit_entry.details is 'With what; never secrets.';

comment on table schema_migration is 'Which migrations were applied.';
comment on column schema_migration.version is 'The migration''s number.';
comment on column schema_migration.name is 'The file without its ending.';
comment on column schema_migration.checksum is 'SHA-256 of its text.';
comment on column schema_migration.applied_at is 'When.';
comment on column schema_migration.readable_from is 'The oldest program, by the number of its last migration, that can use the schema since then.';

comment on table server_life is 'One row while the server lives: unlogged, so a crash takes it away.';
comment on column server_life.is_one is 'Always true.';
comment on column server_life.id is 'Another one after every crash.';
