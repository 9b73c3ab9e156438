-- A day goes when every row of it is known to be acknowledged and, where the inbox is in this database too, every
-- delivery of it has its last reply. The age stays the caller's to answer for.
drop function ichido.outbox_drop_partitions(interval);

-- Takes day partitions off the outbox whose whole day is older than the age, and drops those taken off earlier once
-- every recorded slot has confirmed a position past the detachment. Returns how many were dropped. The age must be
-- longer than the longest horizon (retention and tombstone) of an action. settled => false drops days with
-- deliveries that were never answered, such as those that went to the dead letters.
create function ichido.outbox_drop_partitions(older_than interval, settled boolean default true) returns integer
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '2s'
as $$
declare
    part         text;
    passed       pg_lsn;
    acknowledged bigint;
    kept         boolean;
    dropped      integer := 0;
begin
    perform pg_advisory_xact_lock(hashtext('ichido.outbox partitions'));
    -- A recorded slot that is gone has confirmed nothing, and one that was not audited is known of nothing.
    select case when bool_and(s.confirmed_flush_lsn is not null) then min(s.confirmed_flush_lsn) end,
           case when bool_and(r.acknowledged_below is not null and not r.backfill
                              and r.acknowledged_system = (select system_identifier::text from pg_control_system()))
                then min(r.acknowledged_below) end
        into passed, acknowledged
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
        continue when acknowledged is null;
        execute format('select exists (select from ichido.%I where transaction_id >= $1)', part)
            into kept using acknowledged;
        continue when kept;
        if settled and to_regclass('ichido.inbox_reply') is not null then
            execute format('select exists (select from ichido.%I o where not exists '
                           '(select from ichido.inbox_reply r where r.delivery_id = o.id and r.final))', part)
                into kept;
            continue when kept;
        end if;
        execute format('alter table ichido.outbox detach partition ichido.%I', part);
        -- Detaching waited for every writer of the partition, so all its commits are before this position.
        insert into ichido.outbox_retired values (part, pg_current_wal_insert_lsn());
    end loop;
    return dropped;
end
$$;
revoke all on function ichido.outbox_drop_partitions from public;
