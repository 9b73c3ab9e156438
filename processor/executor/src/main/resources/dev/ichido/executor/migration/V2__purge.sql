-- When a row last changed, by the clock of this database alone: the age that a purge goes by.
alter table ichido.claim add column kept_at timestamptz not null default now();

-- Rows are written in the order of their age, so a summary of blocks finds the old ones.
create index claim_kept on ichido.claim using brin (kept_at);
create index claim_body on ichido.claim (body_sha256) where body_sha256 is not null;
