// Small defects in the protocols. A checker that does not find one of them is not good enough: `npm run simulate:mutations` applies each to
// a copy of the gateway and searches, and `docs/reliability.md` has how long that took.

import { BOUND } from './bound.ts';
import { COMMANDS } from './commands.ts';
import { IDEMPOTENCY, REPLICAS } from './idempotency.ts';
import { type Mutation, of } from './mutation.ts';
import { SESSIONS } from './sessions.ts';
import { USAGE } from './usage.ts';

const WINDOW = 'limits/counters/redis/window.lua';
const LIMITS = of('limits', [
  [
    '`<` for `<=`: the last unit is refused',
    WINDOW,
    'total[i] + charge.cost <= charge.limit then return true',
    'total[i] + charge.cost < charge.limit then return true',
  ],
  [
    'one unit more than the limit',
    WINDOW,
    'total[i] + charge.cost <= charge.limit then return true',
    'total[i] + charge.cost <= charge.limit + 1 then return true',
  ],
  ['counters expire after half a window', WINDOW, 'at - clock + charge.window + coarsest', 'charge.window / 2'],
  [
    'units in the same grain are not counted',
    WINDOW,
    'after[i] - before[i] + charge.cost, halvings[i]',
    'after[i] - before[i], halvings[i]',
  ],
  [
    'a merge of entries loses their units',
    WINDOW,
    'afters[j] - befores[from], halved',
    'afters[j] - befores[j], halved',
  ],
  [
    'a refusal is cached for twice its wait',
    'limits/counters/refusal-cache.ts',
    'elapsedMs < refusal.decision.waitMs',
    'elapsedMs < 2 * refusal.decision.waitMs',
  ],
  [
    'a cached refusal announces its first wait',
    'limits/counters/refusal-cache.ts',
    'waitMs: decision.waitMs - elapsedMs',
    'waitMs: decision.waitMs',
  ],
  [
    'a refusal that outlasts its window is cached',
    'limits/counters/refusal-cache.ts',
    'waitMs <= windowSeconds * 1000',
    'waitMs <= windowSeconds * 1_000_000',
  ],
  [
    'each instance has the whole limit during an outage',
    'limits/counters/fallback.ts',
    'Math.floor(charge.requests / instances)',
    'charge.requests',
  ],
  [
    'counters of the process forget after half a window',
    'limits/counters/window.ts',
    'firstAbove(lastMs, atMs - windowMs);\n  const all',
    'firstAbove(lastMs, atMs - windowMs / 2);\n  const all',
  ],
  [
    '`refuse` lets requests pass',
    'limits/limit.ts',
    "decision.outcome !== 'admitted'",
    "decision.outcome === 'refused'",
  ],
  [
    'a reset is noted before the counters are gone',
    'administration/limits.ts',
    "await limitUsage.reset(organization, dryRun));\n  if (before === undefined || report === undefined) return undefined;\n  if (!dryRun) await store.audit.append('limits.reset', author, detailsOf(before), organization);\n  return report;",
    "await limitUsage.reset(organization, true));\n  if (before === undefined || report === undefined) return undefined;\n  await store.audit.append('limits.reset', author, detailsOf(before), organization);\n  return await limitUsage.reset(organization);",
  ],
  [
    'a refusal stays in the cache after a reset',
    'limits/counters/redis/redis-counter-store.ts',
    'clearRefusals: refusals.clear',
    'clearRefusals: () => undefined',
  ],
  [
    'a reset leaves the counter of the organization',
    'limits/limit-usage.ts',
    "tierCounterOf(id, 'organization', undefined),",
    '',
  ],
  [
    'a Redis that was away is not used again',
    'limits/counters/redis/link.ts',
    'this.#isUp = !this.#isClosed;',
    'this.#isUp = false;',
  ],
]);

const KEYS = of('keys', [
  [
    'a revoked key stays in the cache',
    'auth/identity-cache.ts',
    "case 'key.revoked':\n        this.#callers.delete(this.#byKeyId.get(key) ?? '');",
    "case 'key.revoked':",
  ],
  [
    'keys of a suspended organization stay in the cache',
    'auth/identity-cache.ts',
    'for (const keyHash of [...(this.#byOrganization.get(organization) ?? [])]) this.#callers.delete(keyHash);',
    '',
  ],
  [
    'a suspended organization stays in the cache for its tokens',
    'auth/identity-cache.ts',
    'this.#organizations?.delete(organization);',
    '',
  ],
  [
    'an absent key stays absent when it is created',
    'auth/identity-cache.ts',
    "case 'key.created':\n        this.#absences?.clear();",
    "case 'key.created':",
  ],
  [
    'a change is confirmed one too early',
    'administration/confirmations.ts',
    'position < latest ||',
    'position < latest - 1 ||',
  ],
  ['an old report confirms a change', 'administration/confirmations.ts', '|| !heard.has(id)', ''],
  [
    'an instance reports changes that it has not read',
    'auth/instance-reports.ts',
    '...this.#instance, ...upTo',
    '...this.#instance, position: 1e9',
  ],
  [
    'an instance is forgotten before its grace is over',
    'auth/store/redis/instances.ts',
    "'graces', now + grace, id)",
    "'graces', now + 3000, id)",
  ],
  ['an instance that ends stays listed', 'auth/instance-reports.ts', 'await this.#instances.remove(this.id);', ''],
  [
    'an instance reports no grace',
    'auth/instance-reports.ts',
    '...this.#instance, ...upTo',
    '...this.#instance, ...upTo, graceMs: 3000',
  ],
  [
    'the grace does not end',
    'auth/directory.ts',
    'if (follower.readAt() < this.#reports.listedSince()) return false;\n    if (this.#options.now() - follower.readAtMs() > this.#graceMs) return false;\n    return follower.failure() === undefined || this.#machine.performance.now() - follower.readAt() <= this.#graceMs;',
    'return true;',
  ],
  [
    'a gateway that is not listed uses its cache',
    'auth/directory.ts',
    'if (follower.readAt() < this.#reports.listedSince()) return false;',
    '',
  ],
  [
    'the first report after an outage counts at once',
    'auth/listing.ts',
    '(kept === undefined ? 0 : REPLICA_LAG_MS)',
    '0',
  ],
  [
    'reports to the server before a failover count like those to the server after it',
    'auth/listing.ts',
    'const isOther = sent.server !== last?.server;',
    'const isOther = false;',
  ],
  [
    'a process that stood still takes its cache for current',
    'auth/directory.ts',
    'if (follower.readAt() < this.#reports.listedSince()) return false;\n    if (this.#options.now() - follower.readAtMs() > this.#graceMs) return false;',
    '',
  ],
  [
    'a failed read counts as one',
    'shared/stores/change-follower.ts',
    '} catch (cause) {\n      this.noteFailure(cause);\n    }\n    onPolled();',
    '} catch (cause) {\n      this.#readAtMs = startedAtMs;\n      this.#readAt = startedAt;\n      this.noteFailure(cause);\n    }\n    onPolled();',
  ],
  [
    'the changes are not polled, only heard of',
    'shared/stores/change-follower.ts',
    'setInterval(() => this.#poll(), options.pollMs)',
    'setInterval(() => this.#poll(), 1e9)',
  ],
  [
    'a revocation is announced and not written to the log',
    'auth/store/redis/keys.ts',
    "write_change(by, 'key.revoked', organization_of(record), id, has_expired and details_of_expired or details)",
    "call('PUBLISH', base .. 'announced', '0')",
  ],
  [
    'a stream that was cut and filled again is taken for the same',
    'shared/stores/stream-reader.ts',
    '(last !== undefined && JSON.stringify(first) !== last.json)',
    'false',
  ],
]);

const CERTIFICATES = of('certificates', [
  ['an order is not stored', 'acme/order.ts', "await work.journal.write(change('order', id, record));", ''],
  [
    'a stored order is not continued',
    'acme/order.ts',
    'const record = stored?.account === signer.account ? stored',
    'const record = (false as boolean) ? (stored as never)',
  ],
  ['a failed attempt is not waited for', 'acme/due.ts', 'if (isBlocked) return undefined;', ''],
  ['a failure is not recorded', 'acme/jobs.ts', "...change('attempts', concerned, attempts),", ''],
  [
    'a certificate is renewed after a third of its life',
    'acme/renewal.ts',
    'RENEW_AFTER = 2 / 3',
    'RENEW_AFTER = 1 / 3',
  ],
  [
    'the fence is not compared when the lease is confirmed',
    'acme/redis-acme-store.ts',
    "if call('HGET', lease, 'token') ~= ARGV[1] then return 0 end\ncall(",
    'call(',
  ],
  [
    'a lease is taken although it is held',
    'acme/redis-acme-store.ts',
    'if left > 0 and left <= 2 * ARGV[1] then return false end',
    '',
  ],
  [
    'a lease that was killed with its holder is never taken',
    'acme/redis-acme-store.ts',
    'if left > 0 and left <= 2 * ARGV[1] then return false end',
    'if token then return false end',
  ],
  [
    'the records are not read again under the lease',
    'acme/keeper.ts',
    '// The records are read again under the lease, because the previous holder may have done the work.\n      await this.#refresh();',
    '',
  ],
]);

const RELOAD = of('reload', [
  [
    'a change during a load is lost',
    'wiring/reload.ts',
    'this.#next ??= this.#running.then(() => this.reload());',
    'this.#next ??= this.#running;',
  ],
  [
    'files that could not be read are not read again',
    'wiring/reload.ts',
    'if (isUnread) machine.setTimeout(() => void this.reload(), UNREAD_AGAIN_MS).unref();',
    '',
  ],
  [
    'a load that ends after the end of its process is put in force',
    'wiring/reload.ts',
    'if (this.#stopped) return;',
    '',
  ],
  [
    'a failure is told after it is mended',
    'wiring/reload.ts',
    "this.#failure = null;\n    this.#options.onOutcome('applied');",
    "this.#options.onOutcome('applied');",
  ],
  [
    'an operator is told before the files are loaded',
    'wiring/reload.ts',
    '      return this.#next;',
    '      return this.#running;',
  ],
  ['two loads run at a time', 'wiring/reload.ts', 'if (this.#running !== undefined) {', 'if (false) {'],
]);

export const MUTATIONS: readonly Mutation[] = [
  ...LIMITS,
  ...KEYS,
  ...BOUND,
  ...IDEMPOTENCY,
  ...REPLICAS,
  ...CERTIFICATES,
  ...COMMANDS,
  ...RELOAD,
  ...SESSIONS,
  ...USAGE,
];
