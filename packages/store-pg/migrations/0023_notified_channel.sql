-- How the client was last notified, for the client's page. Null for what an older release notes.
alter table ticket add column notified_channel text;
alter table ticket add constraint ticket_notified_channel_known check (notified_channel in ('app', 'sms', 'whatsapp', 'call')) not valid;
comment on column ticket.notified_channel is 'How the client was last notified: app, sms, whatsapp or call; null if that is not known.';
