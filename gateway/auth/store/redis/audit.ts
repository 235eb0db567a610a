// The audit log of the Redis key store consists of a stream with the sequence numbers as ids, and, for each organization, a sorted set of
// its sequence numbers.

import { authorNameOf, detailsBy } from '../change-details.ts';
import type { AuditFilter, AuditLog, ChangeKind, KeyStoreChange } from '../key-store.ts';
import type { StoreConnections } from './key-store-connection.ts';
import { toStoreScript } from './key-store-script.ts';

const PAGE = 500;
/** Upper bound of the difference between the clocks of two writers. */
const CLOCKS_DIFFER_MS = 3_600_000;

const APPEND = toStoreScript(`
local kind, by, organization, details = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
write_change(by, kind, organization, '', details)
`);

const SINCE = toStoreScript(`
local sequence, limit = ARGV[3], ARGV[4]
local born, latest = unpack(call('HMGET', meta, 'born', 'sequence'))
return { born, latest, call('XRANGE', changes, '(' .. sequence .. '-0', '+', 'COUNT', limit) }
`);

/** Reads a page of the log, newest first, before a sequence number; an empty number means the end of the stream. */
const PAGE_OF_ALL = toStoreScript(`
local before, count = ARGV[3], ARGV[4]
return call('XREVRANGE', changes, before == '' and '+' or '(' .. before .. '-0', '-', 'COUNT', count)
`);

const PAGE_OF_ONE = toStoreScript(`
local before, count, organization = ARGV[3], ARGV[4], ARGV[5]
local newest = before == '' and '+inf' or '(' .. before
local rows = {}
for _, sequence in ipairs(call('ZREVRANGEBYSCORE', base .. 'changes_of:' .. organization, newest, '-inf', 'LIMIT', 0, count)) do
  rows[#rows + 1] = call('XRANGE', changes, sequence .. '-0', sequence .. '-0')[1]
end
return rows
`);

/** Id, then alternating names and values. */
type Row = readonly [id: string, members: readonly string[]];

interface RedisAuditOptions extends StoreConnections {
  /** Creation time of the data, as read when the store was opened. */
  readonly born: string;
  readonly subscribe: AuditLog['subscribe'];
}

export function createRedisAudit({ serving, patient, born, subscribe }: RedisAuditOptions): AuditLog {
  let lastBorn = born;

  return {
    async list({ organization, sinceMs = 0, before: first, limit }: AuditFilter) {
      const script = organization === undefined ? PAGE_OF_ALL : PAGE_OF_ONE;
      const found: KeyStoreChange[] = [];
      for (let before: number | '' = first ?? ''; ; ) {
        const rows = await patient(script, [before, Math.min(limit, PAGE), organization ?? '']);
        const page = changesOf(rows as readonly Row[]);
        found.push(...page.filter(({ atMs }) => atMs >= sinceMs));
        const oldest = page.at(-1);
        if (oldest === undefined || found.length >= limit || oldest.atMs < sinceMs - CLOCKS_DIFFER_MS) {
          return found.slice(0, limit);
        }
        before = oldest.sequence;
      }
    },
    async append(kind, author, details, organization = '') {
      await patient(APPEND, [kind, authorNameOf(author), organization, JSON.stringify(detailsBy(author, details))]);
    },
    async since(sequence, limit) {
      const reply = await serving(SINCE, [sequence, limit]);
      const [bornNow, latest, rows] = reply as readonly [string, string | null, readonly Row[]];
      if (bornNow !== lastBorn) {
        lastBorn = bornNow;
        // The data was wiped since, even if new changes have reached the same sequence number. Followers have to start from the beginning.
        return { latest: 0, changes: [] };
      }
      return { latest: Number(latest ?? 0), changes: changesOf(rows) };
    },
    subscribe,
  };
}

function changesOf(rows: readonly Row[]): KeyStoreChange[] {
  return rows.map(([id, members]) => {
    const [, at, , by = '', , kind, , organization, , key, , details = '{}'] = members;
    return {
      sequence: Number.parseInt(id, 10),
      atMs: Number(at),
      by,
      kind: kind as ChangeKind,
      organization: organization || undefined,
      key: key || undefined,
      details: JSON.parse(details),
    };
  });
}
