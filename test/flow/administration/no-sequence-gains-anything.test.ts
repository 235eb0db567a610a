// Random sequences of self-service calls by many keys of two organizations: no key ever holds more than one of the first keys of its
// organization did, no answer shows another organization, and every key is in the audit log.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import fc from 'fast-check';
import type { GrantedRights } from '../../../gateway/administration/grants.ts';
import { isRangeWithin } from '../../../gateway/auth/address-ranges.ts';
import type { StoredKey } from '../../../gateway/auth/store/stored-key.ts';
import { type AdministrationAnswer, OWN_ENTRY, startAdministration } from '../../support/administration.ts';
import { closesAfterAll } from '../../support/closing.ts';

const start = closesAfterAll();
/** For its scopes; no request goes there. */
const FILES = { contracts: ['files.yaml'], live: 'http://127.0.0.1:9' };
const RUNS = Number(process.env.LIMIT_RUNS ?? 1) * 10;
const NOW_MS = Date.now();
const HOUR_MS = 3_600_000;

/** An end that every first key may grant. */
const WITHIN = new Date(NOW_MS + HOUR_MS / 2).toISOString();

const allOf = ['files:read', 'files:write', '*', 'gateway:read', 'gateway:keys', 'gateway:organizations:write'];
/** What the first keys of an organization hold. Requests come from 127.0.0.1. */
const roots: readonly GrantedRights[] = [
  { scopes: ['files:read', 'gateway:read', 'gateway:keys'], allowedCidrs: [], expiresAtMs: NOW_MS + 2 * HOUR_MS },
  { scopes: ['*', 'gateway:keys'], allowedCidrs: ['127.0.0.0/8', '10.0.0.0/8'], expiresAtMs: undefined },
  { scopes: ['gateway:read', 'gateway:keys'], allowedCidrs: ['::ffff:127.0.0.0/104'], expiresAtMs: NOW_MS + HOUR_MS },
];

const index = fc.nat(1000);
const scopes = fc.subarray(allOf, { minLength: 1, maxLength: 4 });
const ranges = fc.subarray(['127.0.0.1', '127.0.0.0/9', '::ffff:127.0.0.1', '10.1.0.0/16', '0.0.0.0/0', '::/0'], {
  maxLength: 2,
});
const end = fc.constantFrom(
  null,
  ...[-1, 0.5, 1, 1.5, 3].map((hours) => new Date(NOW_MS + hours * HOUR_MS).toISOString()),
);
const member = { name: fc.constantFrom('a', 'ü "\\ 🗝'), scopes, allowed_cidrs: ranges, expires_at: end };
/** Mostly one member alone: of several, one is nearly always refused. */
const members = fc.oneof(
  fc.record({ scopes }),
  fc.record({ allowed_cidrs: ranges }),
  fc.record({ expires_at: end }),
  fc.record(member, { requiredKeys: [] }).filter((body) => Object.keys(body).length > 0),
);

const call = fc.oneof(
  fc.record({
    does: fc.constant('POST /keys' as const),
    body: fc.oneof(
      fc.constant({ scopes: ['gateway:read', 'gateway:keys'], allowed_cidrs: ['127.0.0.1'], expires_at: WITHIN }),
      fc.tuple(members, scopes).map(([change, some]) => ({ scopes: some, ...change })),
    ),
  }),
  fc.record({ does: fc.constant('PATCH /keys/{id}' as const), body: members }),
  fc.record({
    does: fc.constant('POST /keys/{id}/rotate' as const),
    body: fc.record({ overlap_seconds: fc.constantFrom(0, 60, 7_776_000), expires_at: end }, { requiredKeys: [] }),
  }),
  fc.record({
    does: fc.constant('POST /keys/{id}/revoke' as const),
    body: fc.record({ allow_last: fc.boolean() }, { requiredKeys: [] }),
  }),
  fc.record({ does: fc.constantFrom('GET /keys/{id}' as const, 'GET /keys' as const), body: fc.constant(undefined) }),
  fc.record({
    does: fc.constantFrom('GET /organization' as const, 'GET /organizations/{organization}/keys' as const),
    body: fc.constant(undefined),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
const step = fc.record({ call, actor: index, target: index, dryRun: fc.nat(9).map((one) => one === 0) });

/** The first sequence: each kind of change succeeds once, by the third of the first keys on itself. Random ones seldom change a key. */
const usual = (
  [
    ['POST /keys', { scopes: ['gateway:read'], allowed_cidrs: ['127.0.0.1'], expires_at: WITHIN }],
    ['PATCH /keys/{id}', { name: 'a' }],
    ['POST /keys/{id}/rotate', {}],
    ['POST /keys/{id}/revoke', {}],
  ] as const
).map(([does, body]) => ({ call: { does, body }, actor: 2, target: 2, dryRun: false }));

function isHeldBy({ scopes: held, allowedCidrs, expiresAtMs = Infinity }: GrantedRights, key: StoredKey): boolean {
  const covered = new Set(held.includes('*') ? [...held, 'files:read', 'files:write'] : held);
  return (
    key.scopes.every((scope) => covered.has(scope)) &&
    (key.expiresAtMs ?? Infinity) <= expiresAtMs &&
    (allowedCidrs.length === 0 ||
      (key.allowedCidrs.length > 0 &&
        key.allowedCidrs.every((range) => allowedCidrs.some((outer) => isRangeWithin(range, outer)))))
  );
}

it('no sequence of calls gains a scope, an address, a longer life or another organization', async () => {
  const { gateway, administer } = await start(startAdministration({ upstreams: { ...OWN_ENTRY, files: FILES } }));
  const { store } = gateway;
  const outcomes = new Map<string, number>();

  interface Known {
    readonly id: string;
    readonly organization: string;
    readonly key: string;
  }

  async function begin(): Promise<Known[]> {
    const known: Known[] = [];
    const run = randomUUID().slice(0, 8);
    for (const organization of [`org_one_${run}`, `org_two_${run}`])
      for (const { expiresAtMs, ...root } of roots) {
        const made = await gateway.issueKey({
          ...{ organization, tier: 'premium', ...root },
          ...(expiresAtMs !== undefined && { expiresAtMs }),
        });
        known.push({ ...made, organization });
      }
    return known;
  }

  function check(
    actor: Known,
    known: readonly Known[],
    { status, body, text }: AdministrationAnswer,
    line: string,
  ): void {
    const outcome = `${line.replace(/(key|org)_\w+/g, '')} ${status} ${body?.error?.code ?? ''}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    assert.ok(status < 500, `${line}: ${text}`);
    for (const { id, organization, key } of known) {
      assert.equal(text.includes(key), false, 'no secret is shown again');
      if (organization !== actor.organization)
        assert.equal(text.includes(id) || text.includes(organization), false, `${line}: ${text}`);
    }
  }

  async function checkRecords(known: readonly Known[]): Promise<void> {
    for (const organization of new Set(known.map((one) => one.organization))) {
      const own = new Set(['test', ...known.flatMap((one) => (one.organization === organization ? [one.id] : []))]);
      const keys = await store.keys.list({ organization });
      for (const key of keys)
        assert.ok(
          roots.some((root) => isHeldBy(root, key)),
          `${JSON.stringify(key)} holds more than each of the first keys`,
        );
      const audit = await store.audit.list({ organization, limit: 1000 });
      const made = audit.flatMap(({ kind, key, details }) =>
        kind === 'key.created' ? [key] : kind === 'key.rotated' ? [details.successor] : [],
      );
      assert.deepEqual(
        made.sort(),
        keys.map(({ id }) => id).sort(),
        'every key has its entry, and every entry its key',
      );
      for (const { by } of audit) assert.ok(own.has(by), `${by} changes ${organization}`);
      assert.deepEqual(
        audit
          .filter(({ kind }) => kind === 'key.revoked')
          .map(({ key }) => key)
          .sort(),
        keys
          .filter(({ revokedAtMs }) => revokedAtMs !== undefined)
          .map(({ id }) => id)
          .sort(),
      );
    }
  }

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 25 }), async (steps) => {
      const known = await begin();
      for (const { call: each, actor: at, target: to, dryRun } of steps) {
        const actor = known[at % known.length] as Known;
        const target = known[to % known.length] as Known;
        const path = each.does.replace('{id}', target.id).replace('{organization}', target.organization);
        const writes = !each.does.startsWith('GET');
        const line = `${path.replace(' ', ' /gateway/v1')}${writes && dryRun ? '?dry_run=true' : ''}`;
        const before = await store.keys.get(actor.id);
        const answer = await administer(line, { key: actor.key, body: each.body });
        check(actor, known, answer, line);
        if (before?.revokedAtMs !== undefined && writes)
          assert.ok(answer.status >= 400, 'a revoked key changes nothing');
        const { id, secret } = answer.body ?? {};
        if (answer.status === 201 && typeof secret === 'string')
          known.push({ id, key: secret, organization: actor.organization });
      }
      await checkRecords(known);
    }),
    { numRuns: RUNS, endOnFailure: true, examples: [[usual as Step[]]] },
  );
  // The sequences are worth something: each kind of call succeeds, and is refused for what would be a gain.
  const seen = [...outcomes.keys()].join('\n');
  for (const expected of [
    /POST \S*keys 201/,
    /PATCH \S* 200/,
    /rotate 201/,
    /revoke 200/,
    /grant_not_held/,
    /resource_missing/,
  ])
    assert.match(seen, expected);
});
