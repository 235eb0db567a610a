// schemathesis against the gateway's own contract as it is published: all checks and all phases, with a key of an organization and with one
// of an operator. Each failure that is none has its reason here.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { GATEWAY_SCOPES } from '../../gateway/shared/contracts/scopes.ts';
import { OWN_ENTRY, startAdministration } from '../support/administration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import type { TestGateway } from '../support/gateway.ts';
import { hasPython, pythonFor } from './support/packages.ts';

const run = promisify(execFile);
const PATIENCE_MS = 1_800_000;
const EXAMPLES = process.env.SCHEMATHESIS_EXAMPLES ?? '10';
const noPython = (await hasPython()) ? false : 'this machine has no python3 with venv and pip';

interface Failure {
  readonly operation: string;
  /** The name of the check and what it says. */
  readonly check: string;
  /** Status and code of the answer. */
  readonly answer: string;
}

/** Check and answer → why this is how it should be. */
const explained: Readonly<Record<string, string>> = {
  'ST202 Schema-valid request rejected, 400 invalid_cursor':
    'a cursor is opaque: the contract describes its length, and only one that the gateway has made is one',
  'ST202 Schema-valid request rejected, 400 validation_failed: Must be in the future.':
    'a schema cannot say that a time has to be later than now',
  'ST202 Schema-valid request rejected, 400 validation_failed: Must match the pattern ^key_[0-9A-Za-z]{1,64}$.':
    'a link that the tool infers from an event without a key sends its null as the text None',
  'ST202 Schema-valid request rejected, 412 precondition_failed':
    'If-Match has the tag of the example, which is not that of the record',
  'ST202 Schema-valid request rejected, 422 idempotency_key_reused':
    'the Idempotency-Key of the example is sent with one request after another',
  'ST202 Schema-valid request rejected, 422 reference_missing':
    'the tiers and scopes that exist depend on the configuration, and the contract does not list them',
  'ST201 Schema-violating request accepted, 414 uri_too_long':
    'the request was refused, before its query was read; the check does not know 414 as a refusal',
  'ST201 Schema-violating request accepted, 431 headers_too_large':
    'the request was refused, before its headers were read; the check does not know 431 as a refusal',
};

const BLOCK = /^_{3,} ([A-Z]+ \S+) _{3,}$/;
const CHECK = /^- (ST\d+ .+)$/;
const STATUS = /^\[(\d{3})\] /;
const CODE = /"code":"([a-z_]+)"/;
/** They may end the key that they are tried with: by a revocation, a rotation without overlap, another end, scope or address. */
const CHANGES_KEYS = '^(revoke|rotate|update|create)(Organization)?Key$';
/** Of the first violation. */
const REASON = /"errors":\[\{[^}]*"message":"([^"]+)"/;

/** Reads the failures that `st run` prints. */
function failuresIn(output: string): Failure[] {
  const found: Failure[] = [];
  let operation = '';
  let check: string | undefined;
  let status = '';
  for (const line of output.split('\n')) {
    operation = BLOCK.exec(line)?.[1] ?? operation;
    const next = CHECK.exec(line)?.[1];
    if (next !== undefined) check = next;
    status = STATUS.exec(line)?.[1] ?? status;
    if (check === undefined || !line.startsWith('    `')) continue;
    const reason = REASON.exec(line)?.[1];
    const answer = `${status} ${CODE.exec(line)?.[1] ?? 'without a code'}${reason === undefined ? '' : `: ${reason}`}`;
    found.push({ operation, check, answer });
    check = undefined;
  }
  return found;
}

describe('schemathesis, with all checks and phases', { skip: noPython, timeout: PATIENCE_MS }, () => {
  let gateway: TestGateway;
  let folder: string;
  before(async () => {
    folder = temporaryDirectory();
    // With the resources, so that the scopes of the examples exist.
    const platform = { contracts: ['v1/*.yaml'], live: 'sandbox:platform' };
    ({ gateway } = await startAdministration({ upstreams: { ...OWN_ENTRY, platform } }));
  });
  after(async () => {
    await gateway?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  const callers = {
    'an organization': { organization: 'org_acme', scopes: ['gateway:read', 'gateway:keys'] },
    'an operator': { organization: 'org_staff', operator: true, scopes: [...GATEWAY_SCOPES] },
  };
  for (const [who, options] of Object.entries(callers)) {
    it(`finds nothing unexplained with a key of ${who}`, { timeout: PATIENCE_MS }, async () => {
      const { key } = await gateway.issueKey(options);
      await triedBy(key, ['--exclude-operation-id-regex', CHANGES_KEYS], 27);
      // A key that a run has revoked would be refused from then on, and nothing would be tried any more.
      const headers = { authorization: `Bearer ${key}` };
      assert.equal((await fetch(`${gateway.url}/gateway/v1/organization`, { headers })).status, 200);
      await triedBy(key, ['--include-operation-id-regex', CHANGES_KEYS], 8);
    });
  }

  async function triedBy(key: string, which: readonly string[], operations: number): Promise<void> {
    const cli = join(dirname(await pythonFor('schemathesis')), 'st');
    const contract = `${gateway.url}/openapi/gateway.json`;
    const args = ['--no-color', 'run', contract, '--url', gateway.url, '-H', `Authorization: Bearer ${key}`];
    const bounds = ['--continue-on-failure', '--max-examples', EXAMPLES, '--checks', 'all', ...which];
    const finished = await run(cli, [...args, ...bounds], {
      cwd: folder,
      timeout: PATIENCE_MS,
      maxBuffer: 2 ** 28,
    }).catch((failed: { readonly code?: number; readonly stdout: string }) => failed);
    const { stdout } = finished;
    assert.match(stdout, new RegExp(`Tested: ${operations}\\b`), stdout.slice(-4000));
    for (const phase of ['Examples', 'Coverage', 'Fuzzing', 'Stateful'])
      assert.match(stdout, new RegExp(`[✅❌] +${phase}`), `${phase} ran`);
    const unexplained = failuresIn(stdout).filter(
      ({ check, answer }) => !Object.hasOwn(explained, `${check}, ${answer}`),
    );
    assert.deepEqual(unexplained, []);
    const [, total = '0'] = /found (\d+)/.exec(stdout) ?? [];
    assert.ok(failuresIn(stdout).length >= Number(total) || total === '0', 'every failure was read');
  }
});
