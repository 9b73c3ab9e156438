-- A summary of each block range: what is old can be found, and an insert costs nothing more.
create index inbox_reply_received on ichido.inbox_reply using brin (received_at);

-- Deletes replies that were received longer ago than the age, and with the last reply of an operation
-- what is known of it. Returns how many replies went: 0 when nothing is left to do. The age must be longer than the
-- longest retention and tombstone of an action. Whatever its age, a reply stays while its operation is open, unknown,
-- in conflict, or changed within the age; and while its delivery is in the outbox of this database, which lets a day
-- go only when every delivery of it has its last reply (outbox_drop_partitions).
create function ichido.inbox_delete_replies(older_than interval, at_most integer default 10000) returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $$
declare
    gone       bigint;
    tenants    text[];
    scopes     text[];
    operations text[];
    in_outbox  text := case when to_regclass('ichido.outbox') is null then 'false'
                            else 'exists (select from ichido.outbox d where d.id = r.delivery_id)' end;
begin
    execute format($sql$
        with gone as (
            delete from ichido.inbox_reply where seq = any (array(
                select r.seq from ichido.inbox_reply r
                 where r.received_at < now() - $1
                   and not exists (select from ichido.inbox_operation o
                                    where o.tenant = r.tenant and o.scope = r.scope and o.operation_id = r.operation_id
                                      and (o.conflict or o.state in ('IN_PROGRESS', 'UNKNOWN_RECONCILIATION')
                                           or o.updated_at >= now() - $1))
                   and not %s
                 limit $2 for update skip locked))
            returning tenant, scope, operation_id)
        select count(*), array_agg(tenant), array_agg(scope), array_agg(operation_id) from gone
        $sql$, in_outbox)
        into gone, tenants, scopes, operations using older_than, at_most;
    -- An operation that got a further reply meanwhile stays.
    delete from ichido.inbox_operation o
        using (select distinct * from unnest(tenants, scopes, operations) as k (tenant, scope, operation_id)) k
        where o.tenant = k.tenant and o.scope = k.scope and o.operation_id = k.operation_id
          and o.updated_at < now() - older_than
          and not exists (select from ichido.inbox_reply r
                           where r.tenant = k.tenant and r.scope = k.scope and r.operation_id = k.operation_id);
    return gone;
end
$$;
revoke all on function ichido.inbox_delete_replies from public;
