-- publish_intent refuses what the library refuses: a name of more than 4096 characters, and a principal or
-- delivery_id of white space alone, which to the processor is none: it could not answer to it.

-- The function as it is, with a look at the names after the look for what is missing.
do $$
declare
    function text := pg_get_functiondef('ichido.publish_intent'::regproc);
    kinds    text := '    if kind not in (''EXECUTE'', ''CANCEL'') then';
begin
    if strpos(function, kinds) = 0 then
        raise exception 'Expected ichido.publish_intent as the migrations before made it, but it is another. Check who changed it.';
    end if;
    execute replace(function, kinds, $new$    declare
        too_long text := case
            when length(tenant) > 4096 then 'tenant'
            when length(principal) > 4096 then 'principal'
            when length(action) > 4096 then 'action'
            when length(operation_id) > 4096 then 'operation_id'
            when length(scope) > 4096 then 'scope'
            when length(action_version) > 4096 then 'action_version'
            when length(target) > 4096 then 'target'
            when length(precondition) > 4096 then 'precondition'
            when length(discriminator) > 4096 then 'discriminator'
            when length(workflow_id) > 4096 then 'workflow_id'
            when length(step) > 4096 then 'step'
            when length(compensates) > 4096 then 'compensates'
            when length(delivery_id) > 4096 then 'delivery_id'
            when length(traceparent) > 4096 then 'traceparent'
        end;
        -- White space as Java takes it, whatever the locale.
        named constant text := '[^\u0009-\u000D\u001C-\u0020\u1680\u2000-\u2006\u2008-\u200A\u2028\u2029\u205F\u3000]';
        blank text := case
            when principal !~ named then 'principal'
            when delivery_id !~ named then 'delivery_id'
        end;
    begin
        if too_long is not null then
            raise exception using errcode = 'ICH02',
                message = format('Expected at most 4096 characters of %s, but there were more. Check the call of ichido.publish_intent.', too_long);
        end if;
        if blank is not null then
            raise exception using errcode = 'ICH02',
                message = format('Expected %s to name something, but it was blank. Check the call of ichido.publish_intent.', blank);
        end if;
    end;
$new$ || kinds);
end
$$;
