// The rules for every refusal, from any source: asserted in one place. Cases bring one about.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CatalogueEntry } from '../../gateway/catalogue/catalogue-entry.ts';
import { type ErrorCode, REFUSALS } from '../../gateway/catalogue/errors.ts';
import type { Answer } from './connection.ts';

/** One way to bring about one code, through a real socket. */
export interface RefusalCase<World> {
  readonly name: string;
  readonly code: ErrorCode;
  /** The status, if the upstream chose it, and not the catalogue. */
  readonly status?: number;
  provoke(world: World): Promise<Answer>;
  /** Checks the promises of this case, in addition to those of every refusal. */
  also?(answer: Answer, world: World): void | Promise<void>;
}

/** Fake upstreams put this into everything that must not get out. */
export const SECRET = 'SECRET-of-the-upstream';

const leaks =
  /\n\s+at |node_modules|gateway\/|127\.0\.0\.1|ECONN|ENOTFOUND|UND_ERR|undici|WIRE_|sk_(live|test)_\w{8}|SECRET/;

/** Registers a test for each case. The world is read when a test runs, because hooks make it. */
export function runCases<World>(cases: readonly RefusalCase<World>[], world: () => World): void {
  for (const { name, code, status, provoke, also } of cases) {
    it(`${name} → ${status ?? REFUSALS[code].status} ${code}`, async () => {
      const answer = await provoke(world());
      assertRefusal(answer, code, status);
      await also?.(answer, world());
    });
  }
}

/** Checks a whole error answer with its headers. @param status the status, if an upstream chose it */
export function assertRefusal(answer: Answer, code: string, status?: number): void {
  assert.equal(answer.headers['x-error-code'], code, answer.body.toString());
  const row: CatalogueEntry | undefined = REFUSALS[code as ErrorCode];
  assert.equal(answer.status, status ?? row?.status);
  assertErrorHeaders(answer, row);
  assert.ok(answer.whole);
  assert.deepEqual(Object.keys(JSON.parse(answer.body.toString('utf8'))), ['error']);
  const { error, headers } = answer;
  assert.equal(error.code, code);
  assert.equal(error.status, answer.status);
  assert.equal(error.request_id, headers['x-request-id']);
  assert.match(String(error.doc_url), new RegExp(`^https?://[a-z.]+(:\\d+)?/docs/errors/${code}$`));
  assert.equal(typeof error.type, 'string');
  assert.ok(typeof error.message === 'string' && error.message.length > 10, 'a message that helps');
  assert.equal(typeof error.retryable, 'boolean');
  assert.equal(error.retry_after, headers['retry-after'] && Number(headers['retry-after']));
  assert.doesNotMatch(answer.body.toString().replace(String(error.doc_url), ''), leaks);
  if (row && status === undefined) {
    assert.equal(error.type, row.type);
    if (row.retryable !== 'if_safe') assert.equal(error.retryable, row.retryable);
  }
}

/** Checks the headers only, for answers to HEAD, which have no body. */
export function assertErrorHeaders(answer: Answer, row: CatalogueEntry | undefined): void {
  const { headers, lines } = answer;
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.match(headers['x-request-id'] ?? '', /^req_[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.ok(headers.date, 'Date');
  const names = lines.map(([name]) => name.toLowerCase());
  assert.deepEqual(names, [...new Set(names)], 'no header twice');
  for (const [name, value] of lines) assert.doesNotMatch(`${name}: ${value}`, leaks);
  if (row?.closes) assert.equal(headers.connection, 'close');
  if (row?.retryAfterSeconds !== undefined) assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/);
  assertChallenge(headers['www-authenticate'], row);
}

/** Checks the challenge (RFC 6750 section 3): one Bearer challenge with a realm, and an error only if a usable credential was sent. */
function assertChallenge(challenge: string | undefined, row: CatalogueEntry | undefined): void {
  const bare = 'Bearer realm="localhost:8080"';
  if (row?.challenge === undefined) assert.equal(challenge, undefined);
  else if (row.challenge === 'bare') assert.equal(challenge, bare);
  else if (row.challenge === 'insufficient_scope') {
    assert.match(challenge ?? '', /^Bearer realm="localhost:8080", error="insufficient_scope", scope="[!#-[\]-~ ]+"$/);
  } else {
    assert.match(
      challenge ?? '',
      /^Bearer realm="localhost:8080", error="invalid_token", error_description="[ !#-[\]-~]+"$/,
    );
  }
}
