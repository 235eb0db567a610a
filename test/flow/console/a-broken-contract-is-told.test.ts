// Answers that break the contract of their service are a cause, whether clients get them or an error in their place. It names the upstream,
// the operation and the number of answers, and the command that explains one of them.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

type Reply = readonly [type: string, body: string, status?: number];

/** A gateway whose upstream gives one answer to all requests. */
function serveOneAnswer() {
  let answer: Reply = ['application/json', '{}'];
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let headers: { authorization: string };

  before(async () => {
    upstream = await startUpstream((_request, response) =>
      response.writeHead(answer[2] ?? 200, { 'content-type': answer[0] }).end(answer[1]),
    );
    gateway = await startGateway(thingsAt(upstream.url, { breaker: 'off' }));
    headers = await gateway.authorize();
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const read = async <T>(path: string) => (await (await fetch(`${gateway.adminUrl}/${path}`)).json()) as T;
  return {
    read,
    causeOf: async (id: string) => (await read<CausesReport>('causes')).causes.find((one) => one.id === id),
    async ask(path: string, times: number): Promise<void> {
      for (let sent = 0; sent < times; sent += 1) await (await fetch(gateway.url + path, { headers })).text();
    },
    answerWith(...next: Reply): void {
      answer = next;
    },
  };
}

describe('a service that answers HTML where its contract says JSON, with status 200', () => {
  const { read, causeOf, ask, answerWith } = serveOneAnswer();

  it('is a failure that says how many clients got it since it began, and what to run', async () => {
    await ask('/v1/things', 6);
    assert.equal(await causeOf('contract GET /v1/things'), undefined);
    answerWith('text/html', '<html>Sign in</html>');
    await ask('/v1/things', 12);
    answerWith('application/json', '{}');
    await ask('/v1/things/1', 5);
    answerWith('text/html', '<html>Sign in</html>');
    const cause = await causeOf('contract GET /v1/things');
    assert.equal(cause?.severity, 'failure');
    assert.equal(
      cause.cause,
      'GET /v1/things of things breaks its contract (text/html, not application/json): 12 of 18 answers in the last minute.',
    );
    assert.match(
      cause.consequence,
      /^So far: 12 of 12 answers broke the contract; organization org_\w+\. Its clients get these answers as they are: status 200 with text\/html; the contract declares application\/json;/,
    );
    assert.equal(cause.runbook, 'GatewayAnswersBreakContract');
    assert.match(cause.next ?? '', /^bin\/gateway explain req_\w+$/);
    assert.deepEqual(cause.figures, { requests: 18, broken: 12 });
  });

  it('is marked in the lists of its requests, which have a filter for it', async () => {
    const rows = async (query: string) =>
      (
        await read<{ exchanges: { operation: string; broken: boolean; request_id: string }[] }>(
          `console/exchanges?${query}`,
        )
      ).exchanges;
    const broken = await rows('status=broken');
    assert.deepEqual(
      [broken.length, new Set(broken.map(({ operation }) => operation))],
      [12, new Set(['GET /v1/things'])],
    );
    assert.equal((await rows('')).filter((row) => row.broken).length, 12);
    const { exchanges } = await read<{ exchanges: { verdict: string }[] }>(
      `console/exchanges/${broken[0]?.request_id}`,
    );
    assert.match(
      exchanges[0]?.verdict ?? '',
      /was answered with 200 after [\d.]+ ms, but the answer breaks its contract\.$/,
    );
    const { attention } = await read<{ attention: { details: string; upstream: string }[] }>('console/feed');
    assert.deepEqual(
      attention.map(({ details, upstream }) => [decodeURIComponent(details), upstream]),
      [['#/operations/GET /v1/things', 'things']],
    );
    const { failures, operations } = await read<{ failures: object[]; operations: { name: string; broken: number }[] }>(
      'console/breakdown?upstream=things',
    );
    assert.equal(failures.length, 10);
    assert.deepEqual(
      operations.map((one) => [one.name, one.broken]),
      [
        ['GET /v1/things', 12],
        ['GET /v1/things/{id}', 0],
      ],
    );
  });

  it('is counted, so that refusals which are remembered in the place of its requests do not lower the number', async () => {
    const { exchanges } = await read<{ exchanges: { organization: string }[] }>('console/exchanges?status=broken');
    const subjects = ['operation=GET /v1/things', 'upstream=things', `organization=${exchanges[0]?.organization}`];
    const counted = subjects.map(async (subject) => {
      const { history } = await read<{ history: { subject: { total: { broken: number } } } }>(
        `console/feed?${subject}`,
      );
      return history.subject.total.broken;
    });
    assert.deepEqual(await Promise.all(counted), [12, 12, 12]);
  });

  it('is a row of the history', async () => {
    const { listed } = await read<{ listed: { kind: string; text: string; until: string | null }[] }>(
      'console/feed?range=15m&instance=all',
    );
    assert.deepEqual(
      listed.filter(({ kind }) => kind === 'outage').map(({ text, until }) => [text, until]),
      [['GET /v1/things of things breaks its contract. (12 of 12 answers broke the contract)', null]],
    );
  });

  it('is named by the cause of an operation whose contract refuses it', async () => {
    await ask('/v1/strict', 4);
    const cause = await causeOf('operation GET /v1/strict');
    assert.match(cause?.consequence ?? '', /because the answers break the contract: status 200 with text\/html;/);
    const [, id] = /^bin\/gateway explain (req_\w+)$/.exec(cause?.next ?? '') ?? [];
    const { exchanges } = await read<{ exchanges: { next: { runbook: string } }[] }>(`console/exchanges/${id}`);
    assert.deepEqual(
      [cause?.runbook, exchanges[0]?.next.runbook],
      ['GatewayAnswersBreakContract', 'GatewayAnswersBreakContract'],
    );
  });

  it('counts the bodies that were not checked like the next one that is', async () => {
    answerWith('application/json', '<html>Sign in</html>');
    await ask('/v1/things/1', 8);
    await sleep(1100);
    await ask('/v1/things/1', 1);
    const [cause, before] = [await causeOf('contract GET /v1/things/{id}'), await causeOf('contract GET /v1/things')];
    assert.match(
      cause?.cause ?? '',
      /^GET \/v1\/things\/\{id\} of things breaks its contract: 13 of 14 answers in the last minute\.$/,
    );
    // Each operation has its own beginning and figures.
    assert.ok(cause !== undefined && before !== undefined && cause.since > before.since);
    assert.match(cause.consequence, /^So far: (\d) of \1 answers broke the contract;/);
    assert.deepEqual(before.figures, { requests: 18, broken: 12 });
  });
});

describe('a service that answers HTML after it has failed in another way', () => {
  const { causeOf, ask, answerWith } = serveOneAnswer();

  it('is a failure that begins with the first page of HTML', async () => {
    answerWith('application/json', '{}', 500);
    await ask('/v1/things', 20);
    const failedAt = new Date().toISOString();
    answerWith('text/html', '<html>Sign in</html>');
    await ask('/v1/things', 40);
    const cause = await causeOf('contract GET /v1/things');
    assert.equal(cause?.severity, 'failure');
    assert.match(cause.consequence, /Its clients get these answers as they are: status 200 with text\/html;/);
    assert.match(cause.next ?? '', /^bin\/gateway explain req_\w+$/);
    assert.ok(cause.since > failedAt);
  });
});
