-- Everything the registry was ever told, in order. Rows are never changed or deleted: a schema id that
-- was once written into a topic must be readable for as long as the topic.
create table registry_log (
  position bigint primary key,
  event    text   not null
);
