-- Run once, when the database is made: one role owns the tables and migrates, one serves, one is for people who look something up.
-- None is a superuser. The migration gives the last two their rights (workshop migrate --roles).
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
create role workshop_owner login password :'owner_password';
create role workshop_service login password :'service_password';
create role workshop_reader nologin;
create schema workshop authorization workshop_owner;
