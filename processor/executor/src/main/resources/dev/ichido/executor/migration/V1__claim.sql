-- One row per attempt, taken before a byte leaves. Whoever inserts it first owns the attempt: an
-- executor that means to call (CLAIM) or a reconciler that forbids the call (REVOCATION).
create table ichido.claim (
  record_key       text collate "C" not null,
  attempt          integer     not null check (attempt > 0),
  kind             text        not null check (kind in ('CLAIM', 'REVOCATION')),
  command_id       text        not null,
  action           text        not null,
  owner            text        not null,
  started_at       timestamptz not null,
  deadline         timestamptz,
  -- The result, as it was or will be sent; null while the call runs, or when its owner died.
  result_id        text,
  outcome          text check (outcome in ('SUCCEEDED', 'FAILED_RETRYABLE', 'FAILED_TERMINAL', 'UNKNOWN')),
  reason           text,
  remote_reference text,
  remote_status    integer,
  remote_calls     integer,
  retry_after_ms   bigint,
  result_schema    integer,
  body             text,
  body_sha256      text,
  body_bytes       bigint,
  recorded_at      timestamptz,
  primary key (record_key, attempt),
  check ((recorded_at is null) = (result_id is null) and (result_id is null) = (outcome is null))
);

create index claim_open on ichido.claim (started_at) where recorded_at is null;

-- Answers that are too large for a record, or that are not text.
create table ichido.result_body (
  sha256    text primary key,
  bytes     bigint      not null,
  body      bytea       not null,
  stored_at timestamptz not null default now()
);
