-- Most operations are written twice: when they are claimed and when they are settled. For blocks that are filled
-- from now on.
alter table ichido.inbox_operation set (fillfactor = 60);
