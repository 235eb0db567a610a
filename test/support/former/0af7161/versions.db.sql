CREATE TABLE uses ( day TEXT NOT NULL, organization TEXT NOT NULL, operation TEXT NOT NULL, calls INTEGER NOT NULL, last_at INTEGER NOT NULL, PRIMARY KEY (day, organization, operation) ) STRICT, WITHOUT ROWID;
INSERT INTO uses VALUES ('<today>', 'org_acme', 'listOld', 3, <now-5327>);
PRAGMA user_version = 0;
