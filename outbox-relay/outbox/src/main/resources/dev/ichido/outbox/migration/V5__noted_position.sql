-- publish_intent asks the server for its slots only where the position that was noted last is not near enough: the
-- view of the slots was a third of the work of an intent.
set local lock_timeout = '5s';
alter table ichido.relay_slot add column confirmed_at_least pg_lsn;
comment on column ichido.relay_slot.confirmed_at_least is
    'A position that the slot has confirmed, noted now and then; after a crash of the server the slot may be behind it until it is noted again. Null: not known.';

-- The function as it is, with a look at what was noted before the look at the slots. A position ahead of the log is
-- of another server, and says nothing.
do $$
declare
    function text := pg_get_functiondef('ichido.publish_intent'::regproc);
    look     text := '    select max(pg_wal_lsn_diff(pg_current_wal_lsn(), s.confirmed_flush_lsn)) into lag';
    refusal  text := '    if lag is not null then';
begin
    if strpos(function, look) = 0 or strpos(function, refusal) = 0 then
        raise exception 'Expected ichido.publish_intent as the migrations before made it, but it is another. Check who changed it.';
    end if;
    function := replace(function, look,
        '    if exists (select from ichido.relay_slot r
                where (pg_wal_lsn_diff(pg_current_wal_lsn(), r.confirmed_at_least) between 0 and r.refuse_above_bytes)
                      is not true and r.refuse_above_bytes is not null) then
' || look);
    execute replace(function, refusal, '    end if;
' || refusal);
end
$$;
