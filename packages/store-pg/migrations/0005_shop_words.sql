-- The words that a shop may use although the default list forbids them, and the languages of that list. Shops that were
-- opened before keep the English and French words; the defaults let programs of the version before open shops still.
alter table shop
  add column allowed_words text[] not null default '{}',
  add column languages text[] not null default '{en,fr}';
