-- What the door was asked, once for each caller and operation: so that a retry, through this gateway or another,
-- keeps the issue time of the first request, and so that a caller can ask for an operation before it is decided.
create table ichido.gateway_operation (
  tenant       text   not null,
  principal    text   not null,
  scope        text   not null,
  operation_id text   not null,
  action       text,
  -- Microseconds since 1970 in UTC, as in the outbox.
  issued_at    bigint not null,
  -- The latest delivery: where an id was refused, replies carry this and no operation id.
  delivery_id  text   not null,
  first_at     timestamptz not null default now(),
  primary key (tenant, principal, scope, operation_id)
);
create index gateway_operation_age on ichido.gateway_operation (first_at);

comment on table ichido.gateway_operation is
  'Operations that were asked for over HTTP. A row may go once its operation''s retention, tombstone and clock skew are over.';
