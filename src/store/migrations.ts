// The tables, and how a file of an older version becomes one of this. Forward only; what was released never changes.

/** `MIGRATIONS[n]` makes version n + 1 of version n. */
export const MIGRATIONS: readonly string[] = [
  `
  -- Who called what from where, as one number: a call's row then has one column for four.
  CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    surface TEXT NOT NULL,
    UNIQUE (agent, server, tool, surface)
  ) STRICT;

  -- No foreign key to names: nothing is ever removed from there, and it would be looked up again for each row.
  CREATE TABLE invocations (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name INTEGER NOT NULL,
    conversation TEXT,
    started_at INTEGER NOT NULL,
    duration REAL NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT,
    error TEXT,
    pattern TEXT,
    energy REAL,
    request_bytes INTEGER NOT NULL,
    result_bytes INTEGER NOT NULL,
    arguments TEXT,
    result TEXT,
    hash TEXT NOT NULL
  ) STRICT;
  CREATE INDEX invocations_started_at ON invocations (started_at);
  CREATE INDEX invocations_conversation ON invocations (conversation) WHERE conversation IS NOT NULL;

  -- part 'head': the newest row and how many there ever were; part 'checkpoint': the same of what was pruned.
  CREATE TABLE chain (
    part TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    count INTEGER NOT NULL,
    hash TEXT NOT NULL,
    seal TEXT NOT NULL
  ) STRICT;

  CREATE TABLE servers (
    server TEXT PRIMARY KEY,
    added_at INTEGER NOT NULL,
    use_count INTEGER NOT NULL DEFAULT 0,
    error_count INTEGER NOT NULL DEFAULT 0,
    last_used INTEGER,
    last_error TEXT,
    last_error_at INTEGER,
    energy REAL NOT NULL DEFAULT 0,
    duration REAL NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE tokens (
    hash TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT;
  CREATE INDEX tokens_agent ON tokens (agent);

  CREATE TABLE rules (
    id TEXT PRIMARY KEY,
    agent TEXT,
    server TEXT NOT NULL,
    tool TEXT,
    decision TEXT NOT NULL CHECK (decision IN ('allow', 'ask', 'deny')),
    created_at INTEGER NOT NULL,
    note TEXT
  ) STRICT;

  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    arguments_hash TEXT NOT NULL,
    arguments TEXT NOT NULL,
    estimate REAL,
    status TEXT NOT NULL
      CHECK (status IN ('pending', 'allowed', 'denied', 'used', 'expired', 'cancelled')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    decided_at INTEGER,
    decided_by TEXT,
    remember TEXT
  ) STRICT;
  CREATE INDEX approvals_status ON approvals (status, created_at);

  CREATE TABLE pins (
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    definition TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    accepted_at INTEGER,
    pending_fingerprint TEXT,
    pending_definition TEXT,
    pending_seen_at INTEGER,
    removed_at INTEGER,
    PRIMARY KEY (server, tool)
  ) STRICT;

  CREATE TABLE energy (
    agent TEXT PRIMARY KEY,
    level REAL NOT NULL CHECK (level >= 0),
    at INTEGER NOT NULL,
    lease REAL NOT NULL CHECK (lease >= 0)
  ) STRICT;
  CREATE TABLE energy_entries (
    seq INTEGER PRIMARY KEY,
    agent TEXT NOT NULL REFERENCES energy (agent),
    delta REAL NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    call TEXT
  ) STRICT;
  CREATE INDEX energy_entries_agent ON energy_entries (agent, at);

  CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    params TEXT NOT NULL,
    priority REAL NOT NULL,
    status TEXT NOT NULL
      CHECK (status IN ('queued', 'running', 'paused', 'done', 'failed', 'cancelled')),
    progress REAL NOT NULL,
    message TEXT,
    result TEXT,
    error TEXT,
    energy REAL NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX jobs_turn ON jobs (status, priority DESC, created_at, id);

  CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    title TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT;
  CREATE TABLE messages (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (conversation, seq)
  ) STRICT;
  `,
  `
  -- What a person is shown, and the way from a call to its approval.
  ALTER TABLE approvals ADD COLUMN risk TEXT;
  ALTER TABLE approvals ADD COLUMN reason TEXT;
  ALTER TABLE approvals ADD COLUMN surface TEXT;
  CREATE INDEX approvals_call ON approvals (arguments_hash);
  `,
  `
  -- Nothing was ever written to these two.
  DROP TABLE energy_entries;
  DROP TABLE energy;
  -- Level and capacity in millionths; the level was true at a moment, which the count of a boot and the wall clock tell.
  CREATE TABLE energy (
    agent TEXT PRIMARY KEY,
    level INTEGER NOT NULL,
    capacity INTEGER NOT NULL CHECK (capacity >= 0),
    recovery REAL NOT NULL CHECK (recovery >= 0),
    wall REAL NOT NULL,
    monotonic REAL NOT NULL,
    boot TEXT NOT NULL
  ) STRICT;
  -- What a process may spend without asking. Below zero: its rows cost so much more, and it counts as none.
  CREATE TABLE energy_leases (
    agent TEXT NOT NULL,
    owner TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (agent, owner)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The latest ones are looked up with every turn, whoever has thousands.
  CREATE INDEX conversations_latest ON conversations (updated_at DESC, id);
  `,
  `
  -- The server that a person was asked about, as it was configured: another one under its name is another one.
  ALTER TABLE approvals ADD COLUMN identity TEXT;
  ALTER TABLE rules ADD COLUMN identity TEXT;
  `,
]
