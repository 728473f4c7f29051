-- Webhooks that are off are few, and are counted whenever somebody looks at the metrics.
create index webhook_off on webhook (shop_id) where off_reason is not null;
