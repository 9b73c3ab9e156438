-- How far the relay is known to be, by transactions of the table: what it need not send again when its slot is
-- lost, and from where the next audit looks.
--
-- Permissions, beside those at the head of V1__outbox.sql:
--   relay:    grant update on ichido.relay_slot to RELAY;
alter table ichido.relay_slot
    add column backfill            boolean not null default false,
    add column acknowledged_below  bigint,
    add column acknowledged_system text;
comment on column ichido.relay_slot.backfill is
    'The slot was lost, and the rows of the table are being sent. True until all of them are acknowledged.';
comment on column ichido.relay_slot.acknowledged_below is
    'Every row of a transaction with a lower id is acknowledged. Null: nothing is known.';
comment on column ichido.relay_slot.acknowledged_system is
    'The server whose transaction ids these are: they begin anew where the data is copied to another.';

-- Transactions grow with the table, so a few pages of index find the rows of a range.
create index outbox_transaction on ichido.outbox using brin (transaction_id) with (autosummarize = on);
