-- The function as it is, with the limit that the processor has.
do $$
begin
    execute replace(pg_get_functiondef('ichido.publish_intent'::regproc), '921600', '1048576');
end
$$;
