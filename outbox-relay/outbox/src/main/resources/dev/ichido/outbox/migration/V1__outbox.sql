-- The outbox of an agent runtime: one row is one delivery of one intent, written in the runtime's own
-- transaction. The row is the truth; the relay reads it from the write-ahead log and never touches it.
--
-- Permissions. Nothing is granted here. What each role needs, with RUNTIME and RELAY as examples:
--   runtime:  grant usage on schema ichido to RUNTIME;
--             grant execute on function ichido.publish_intent to RUNTIME;
--             (publish_intent runs with its owner's rights: no insert on the table is needed. A runtime that
--             prefers plain SQL needs: grant insert on ichido.outbox to RUNTIME;)
--   relay:    alter role RELAY with replication;
--             grant usage on schema ichido to RELAY;
--             grant select on ichido.outbox, ichido.relay_slot to RELAY;
--             grant execute on function ichido.outbox_add_partitions to RELAY;
--   Nobody needs update or delete: old rows go by partition.
create schema if not exists ichido;

-- Times are bigint microseconds since 1970 in UTC: a timestamptz costs logical decoding a third of its speed.
-- Names are those of Debezium's outbox event router where they mean the same.
create table ichido.outbox (
    id             text   not null default gen_random_uuid()::text,
    aggregatetype  text   not null default 'intent',
    aggregateid    text,
    type           text,
    payload        text   not null default '{}',
    kind           text   not null default 'EXECUTE',
    tenant         text   not null,
    scope          text   not null default 'global',
    principal      text   not null,
    action_version text,
    target         text,
    precondition   text,
    discriminator  text,
    workflow_id    text,
    step           text,
    compensates    text,
    issued_at      bigint not null,
    traceparent    text,
    created_at     bigint not null default (extract(epoch from clock_timestamp()) * 1000000)::bigint,
    transaction_id bigint not null default pg_current_xact_id()::text::bigint,
    primary key (id, created_at)
) partition by range (created_at);

comment on table ichido.outbox is 'Intents of an agent runtime, written in its own transaction. Insert only.';
comment on column ichido.outbox.id is 'Delivery id: one transport try. Never part of the operation''s identity.';
comment on column ichido.outbox.aggregateid is 'Operation id: the same over every retry. Null only for a read.';
comment on column ichido.outbox.type is 'Action, named as in the policy. Null only for a CANCEL.';
comment on column ichido.outbox.payload is 'Arguments: JSON text as the runtime wrote it, not jsonb, which drops duplicate members and number text.';
comment on column ichido.outbox.kind is 'EXECUTE or CANCEL.';
comment on column ichido.outbox.issued_at is 'When the operation was first issued, microseconds; a retry keeps it.';
comment on column ichido.outbox.created_at is 'When this row was written, microseconds.';
comment on column ichido.outbox.transaction_id is 'The writing transaction: groups the rows of one commit.';

-- Catches what no day partition covers, so that a forgotten partition never refuses an intent.
create table ichido.outbox_default partition of ichido.outbox default;

-- Only a recorded slot is relayed. The migration step never creates a slot a second time: what was written
-- between the loss and the second creation would be skipped in silence.
create table ichido.relay_slot (
    slot_name          text primary key,
    publication        text   not null,
    consistent_point   pg_lsn not null,
    recorded_at        bigint not null default (extract(epoch from clock_timestamp()) * 1000000)::bigint,
    refuse_above_bytes bigint check (refuse_above_bytes > 0)
);
comment on table ichido.relay_slot is 'Replication slots that were created for a relay, once each.';
comment on column ichido.relay_slot.refuse_above_bytes is
    'publish_intent refuses while this slot lags by more: a refused intent is better than a lost slot. Null: no limit.';

create table ichido.outbox_retired (
    partition_name text primary key,
    detached_at    pg_lsn not null
);
comment on table ichido.outbox_retired is 'Partitions taken off the outbox, dropped when every relay has passed the position.';

-- Writes one intent and returns its delivery id. operation_id has no default: an id minted here would be a new
-- one on every retry, and the effect would happen twice. Pass null for a read only. Names in errors, no values.
-- SQLSTATE: ICH01 a required argument is missing, ICH02 an argument is not usable, ICH03 the relay is too far behind.
create function ichido.publish_intent(
    tenant         text,
    principal      text,
    action         text,
    operation_id   text,
    issued_at      timestamptz,
    arguments      text default '{}',
    target         text default null,
    scope          text default 'global',
    action_version text default null,
    precondition   text default null,
    discriminator  text default null,
    workflow_id    text default null,
    step           text default null,
    compensates    text default null,
    kind           text default 'EXECUTE',
    delivery_id    text default null,
    traceparent    text default null
) returns text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
    missing text;
    lag     numeric;
begin
    missing := case
        when tenant is null or tenant = '' then 'tenant'
        when principal is null or principal = '' then 'principal'
        when issued_at is null then 'issued_at'
        when arguments is null then 'arguments'
        when scope is null or scope = '' then 'scope'
        when kind is null then 'kind'
        when kind = 'CANCEL' and operation_id is null then 'operation_id'
        when kind <> 'CANCEL' and (action is null or action = '') then 'action'
    end;
    if missing is not null then
        raise exception using errcode = 'ICH01',
            message = format('Expected a value for %s, but it was null or empty. Check the call of ichido.publish_intent.', missing);
    end if;
    if kind not in ('EXECUTE', 'CANCEL') then
        raise exception using errcode = 'ICH02',
            message = 'Expected kind to be EXECUTE or CANCEL, but it was another word. Check the call of ichido.publish_intent.';
    end if;
    if not isfinite(issued_at) then
        raise exception using errcode = 'ICH02',
            message = 'Expected a point in time for issued_at, but it was infinite. Check the call of ichido.publish_intent.';
    end if;
    if octet_length(arguments) > 921600 then
        raise exception using errcode = 'ICH02',
            message = format('Expected at most 921600 bytes of arguments, but there were %s. Check what the intent carries, or pass a reference.', octet_length(arguments));
    end if;
    if delivery_id = '' then
        raise exception using errcode = 'ICH02',
            message = 'Expected a delivery_id or null, but it was empty. Check the call of ichido.publish_intent.';
    end if;

    select max(pg_wal_lsn_diff(pg_current_wal_lsn(), s.confirmed_flush_lsn)) into lag
        from ichido.relay_slot r
        join pg_replication_slots s on s.slot_name = r.slot_name
        where pg_wal_lsn_diff(pg_current_wal_lsn(), s.confirmed_flush_lsn) > r.refuse_above_bytes;
    if lag is not null then
        raise exception using errcode = 'ICH03',
            message = format('Expected the relay to be near the end of the log, but it is %s bytes behind. Check that the relay runs and reaches Kafka.', lag);
    end if;

    delivery_id := coalesce(delivery_id, gen_random_uuid()::text);
    insert into ichido.outbox (
        id, aggregateid, type, payload, kind, tenant, scope, principal, action_version, target, precondition,
        discriminator, workflow_id, step, compensates, issued_at, traceparent)
    values (
        delivery_id, operation_id, action, arguments, kind, tenant, scope, principal, action_version, target, precondition,
        discriminator, workflow_id, step, compensates, (extract(epoch from issued_at) * 1000000)::bigint, traceparent);
    return delivery_id;
end
$$;
revoke all on function ichido.publish_intent from public;

-- Makes the day partitions from today on, where they are missing. Returns how many were made. A day of which
-- the default partition already holds rows is left to it.
create function ichido.outbox_add_partitions(days integer default 7) returns integer
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '2s'
as $$
declare
    day   date;
    low   bigint;
    high  bigint;
    name  text;
    made  integer := 0;
begin
    -- One at a time: two relays or migrations may start together.
    perform pg_advisory_xact_lock(hashtext('ichido.outbox partitions'));
    for i in 0..days loop
        day := (now() at time zone 'UTC')::date + i;
        name := 'outbox_' || to_char(day, 'YYYYMMDD');
        low := (extract(epoch from day::timestamp at time zone 'UTC') * 1000000)::bigint;
        high := (extract(epoch from (day + 1)::timestamp at time zone 'UTC') * 1000000)::bigint;
        continue when to_regclass('ichido.' || name) is not null;
        continue when exists (select from ichido.outbox_default d where d.created_at >= low and d.created_at < high);
        execute format('create table ichido.%I partition of ichido.outbox for values from (%s) to (%s)', name, low, high);
        made := made + 1;
    end loop;
    return made;
end
$$;
revoke all on function ichido.outbox_add_partitions from public;

-- Takes day partitions off the outbox whose whole day is older than the age, and drops those taken off earlier
-- once every recorded slot has confirmed a position past the detachment. Returns how many were dropped. The
-- caller answers for the age: it must be longer than the longest horizon (retention and tombstone) of an action.
create function ichido.outbox_drop_partitions(older_than interval) returns integer
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '2s'
as $$
declare
    part    text;
    passed  pg_lsn;
    dropped integer := 0;
begin
    perform pg_advisory_xact_lock(hashtext('ichido.outbox partitions'));
    -- A recorded slot that is gone has confirmed nothing: then nothing is dropped.
    select case when bool_and(s.confirmed_flush_lsn is not null) then min(s.confirmed_flush_lsn) end into passed
        from ichido.relay_slot r left join pg_replication_slots s on s.slot_name = r.slot_name;
    for part in select partition_name from ichido.outbox_retired where detached_at <= passed loop
        execute format('drop table if exists ichido.%I', part);
        delete from ichido.outbox_retired where partition_name = part;
        dropped := dropped + 1;
    end loop;
    for part in
        select c.relname
            from pg_inherits i join pg_class c on c.oid = i.inhrelid
            where i.inhparent = 'ichido.outbox'::regclass
              and c.relname ~ '^outbox_[0-9]{8}$'
              and (to_date(substr(c.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'UTC' < now() - older_than
    loop
        execute format('alter table ichido.outbox detach partition ichido.%I', part);
        -- Detaching waited for every writer of the partition, so all its commits are before this position.
        insert into ichido.outbox_retired values (part, pg_current_wal_insert_lsn());
    end loop;
    return dropped;
end
$$;
revoke all on function ichido.outbox_drop_partitions from public;

select ichido.outbox_add_partitions();

-- Inserts only, seen as rows of ichido.outbox whatever partition they are in.
create publication ichido_outbox for table ichido.outbox
    with (publish = 'insert', publish_via_partition_root = true);
