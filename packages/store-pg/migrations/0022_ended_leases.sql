-- no transaction
-- A claim asks for the leases of one shop. While few deliveries were on their way when the planner last counted, it took the index of the
-- leases of all shops for as good. This one says so that it serves only those that have ended.
drop index concurrently if exists delivery_lease_ends;
create index concurrently delivery_lease_ends on delivery (lease_until) where lease_until >= 0;
drop index concurrently if exists delivery_leases;
