-- Whom to look for while a client is erased; the row goes when that is done.
create table client_erasure (
  client_id uuid primary key,
  given_name text not null,
  family_name text not null,
  phones text[] not null
);
comment on table client_erasure is 'Whom to look for while a client is erased. The row goes when that is done; one that stays was interrupted.';
comment on column client_erasure.client_id is 'The account, which is gone from client_account already.';
comment on column client_erasure.given_name is 'The account''s given name.';
comment on column client_erasure.family_name is 'The account''s family name.';
comment on column client_erasure.phones is 'The account''s number and further ones that were the client''s, in E.164.';
