-- What the journal says of every operation that is known. A projection: it can be dropped and read anew.
create table ichido.operation (
  seq                 bigint      generated always as identity unique,
  tenant              text        not null,
  scope               text        not null,
  operation_id        text        not null,
  revision            bigint      not null,
  state               text        not null,
  attempt             integer     not null,
  action              text,
  principal           text,
  fingerprint_version integer     not null,
  fingerprint         text,
  result_sha256       text,
  remote_reference    text,
  first_attempt_at    timestamptz,
  attempt_started_at  timestamptz,
  settled_at          timestamptz,
  lease_until         timestamptz,
  retry_at            timestamptz,
  reconcile_at        timestamptz,
  retain_until        timestamptz,
  forget_at           timestamptz,
  workflow_id         text,
  step                text,
  compensates         text,
  compensated_by      text,
  -- A line of it asked for a person.
  alarm               boolean     not null,
  known_since         timestamptz not null,
  -- When it came to its state; null when that was before the journal that was read.
  state_since         timestamptz,
  changed_at          timestamptz not null,
  primary key (tenant, scope, operation_id)
);
create index operation_state on ichido.operation (state, tenant, seq);
create index operation_workflow on ichido.operation (tenant, workflow_id) where workflow_id is not null;

-- The lines of the journal about operations that are known, in order. They go with the operation.
create table ichido.operation_event (
  seq              bigint      generated always as identity primary key,
  tenant           text        not null,
  scope            text        not null,
  operation_id     text        not null,
  revision         bigint      not null,
  event            text        not null,
  event_id         text,
  verdict          text        not null,
  code             text,
  alarm            boolean     not null,
  state_before     text        not null,
  state_after      text        not null,
  attempt          integer     not null,
  acted_by         text,
  evidence         text,
  remote_reference text,
  other_reference  text,
  suspect_of       text,
  reported         text,
  reported_attempt integer,
  reason           text,
  at               timestamptz not null
);
create index operation_event_operation on ichido.operation_event (operation_id, tenant, scope, seq);
