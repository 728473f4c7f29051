-- A notification of a ticket that has a telephone number and no client.
alter table notification alter column client_id drop not null;

comment on column notification.client_id is 'Whom; null for a client without an account, who is told by the ticket''s number.';
