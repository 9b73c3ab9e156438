-- The latest that is known of an operation; a lower revision never overwrites a higher one.
create table ichido.inbox_operation (
  tenant           text        not null,
  scope            text        not null,
  operation_id     text        not null,
  revision         bigint      not null,
  state            text        not null,
  remote_reference text,
  body             text,
  body_sha256      text,
  body_bytes       bigint,
  result_schema    integer,
  original_at      timestamptz,
  -- Digest of the released result; null while none was released at this revision.
  result_hash      text,
  -- Two different truths were told under one revision: no result is handed out until a person looked.
  conflict         boolean     not null default false,
  updated_at       timestamptz not null default now(),
  primary key (tenant, scope, operation_id)
);

-- One row a reply, in the order of their transactions.
create table ichido.inbox_reply (
  seq              bigint      generated always as identity primary key,
  tenant           text        not null,
  scope            text        not null,
  operation_id     text,
  delivery_id      text        not null,
  principal        text        not null,
  verdict          text        not null,
  code             text,
  detail           text,
  state            text,
  attempt          integer     not null,
  revision         bigint      not null,
  final            boolean     not null,
  marker           text,
  remote_reference text,
  body             text,
  body_sha256      text,
  body_bytes       bigint,
  result_schema    integer,
  original_at      timestamptz,
  lease_until      timestamptz,
  retry_at         timestamptz,
  differing        text[]      not null default '{}',
  decided_at       timestamptz not null,
  traceparent      text,
  received_at      timestamptz not null default now()
);

-- A read is told PASSED_THROUGH twice under revision 0: when its command leaves, and with its answer.
create unique index inbox_reply_once
  on ichido.inbox_reply (delivery_id, tenant, scope, coalesce(operation_id, ''), verdict, revision, final);
create index inbox_reply_operation on ichido.inbox_reply (operation_id, tenant, scope);

-- Every other truth that was told under a revision that was known already.
create table ichido.inbox_conflict (
  id               bigint      generated always as identity primary key,
  tenant           text        not null,
  scope            text        not null,
  operation_id     text        not null,
  revision         bigint      not null,
  known_state      text        not null,
  known_hash       text,
  told_state       text        not null,
  told_hash        text,
  told_reference   text,
  delivery_id      text        not null,
  source_topic     text        not null,
  source_partition integer     not null,
  source_offset    bigint      not null,
  found_at         timestamptz not null default now(),
  unique (source_topic, source_partition, source_offset)
);

-- Written in the transaction that applied what lies before.
create table ichido.inbox_offset (
  topic       text        not null,
  partition   integer     not null,
  next_offset bigint      not null,
  updated_at  timestamptz not null default now(),
  primary key (topic, partition)
);
