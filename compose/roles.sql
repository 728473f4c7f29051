-- Run once, when the database is made: one role owns the tables and migrates, one serves and can only read and write rows.
-- Neither is a superuser.
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
create role workshop_owner login password :'owner_password';
create role workshop_service login password :'service_password';
grant all on schema public to workshop_owner;
grant usage on schema public to workshop_service;
alter default privileges for role workshop_owner in schema public grant select, insert, update, delete on tables to workshop_service;
alter default privileges for role workshop_owner in schema public grant usage, select on sequences to workshop_service;
alter default privileges for role workshop_owner in schema public grant execute on functions to workshop_service;
