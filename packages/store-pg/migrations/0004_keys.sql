-- Keys may expire, and show when they were last used.
alter table api_key add expires_at instant, add last_used_at instant;
