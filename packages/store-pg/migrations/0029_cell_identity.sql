-- A cell is known by a random id as well as by its name, because an address that is wrong may lead to an empty database, or to another
-- cell of the same name. The cell keeps its id in the table mark.
alter table cell add column id text;
comment on column cell.id is 'The id that the cell has in its own table mark; null until workshop migrate gives it one, and for the home cell.';
