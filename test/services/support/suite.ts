// Calls every operation of a service's document twice, directly and through the gateway, and compares the client's view.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { differencesOf } from './compare.ts';
import { documentOf, putBehindGateway, type Service, type Stand } from './stand.ts';
import { type Call, send } from './wire.ts';

export interface ComparedCall extends Call {
  /** The client's differences with an entry of defaults, by place, each with its reason. */
  readonly differs?: Readonly<Record<string, string>>;
}

export interface Comparison {
  /** Starts the service, which offers this file for download. */
  start(reportFile: string): Promise<Service>;
  /** The scope that the entry requires. */
  readonly scope: string;
  readonly calls: Readonly<Record<string, ComparedCall>>;
  /** Differences of all calls where they occur, with their reasons. */
  readonly everywhere: Readonly<Record<string, string>>;
}

/**
 * Puts the service behind a gateway with an entry of defaults, and declares one test per call, and one that no operation was left out.
 *
 * @returns service and gateway, while the tests run
 */
export function compares({ start, scope, calls, everywhere }: Comparison): () => Stand {
  let directory: string;
  let document: string;
  let current: Stand | undefined;
  const stand = () => current ?? assert.fail('the service has not started');

  before(async () => {
    directory = temporaryDirectory();
    const report = join(directory, 'report.txt');
    writeFileSync(report, 'A line of a report that is long enough to be worth the while.\n'.repeat(1000));
    const service = await start(report);
    document = await documentOf(service);
    current = await putBehindGateway(service, document, { security: { apiKey: [scope] } });
  });

  after(async () => {
    await current?.stop();
  });

  describe('each call is answered as when the service is called directly', () => {
    for (const [name, { differs = {}, ...call }] of Object.entries(calls)) {
      it(name, async () => {
        const { service, gateway, caller } = stand();
        const direct = await send(service.origin, call);
        const through = await send(gateway.url, { ...call, headers: { ...call.headers, ...caller } });
        const found = Object.fromEntries(
          Object.entries(differencesOf(direct, through)).filter(([what]) => everywhere[what] === undefined),
        );
        const explained = () => `${JSON.stringify(found)}\n${through.body.toString().slice(0, 600)}`;
        assert.deepEqual(Object.keys(found).sort(), Object.keys(differs).sort(), explained());
      });
    }
  });

  it('no operation of the document is left out', () => {
    const called = Object.values(calls).map(({ method = 'GET', path }) => ({ method, path: pathOf(path) }));
    const left = operationsOf(document).filter(
      (operation) => !called.some(({ method, path }) => operation.method === method && operation.pattern.test(path)),
    );
    assert.deepEqual(
      left.map(({ name }) => name),
      [],
    );
  });

  return stand;
}

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly pattern: RegExp;
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

function operationsOf(document: string): Operation[] {
  const { paths } = JSON.parse(document) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([template, item]) =>
    Object.keys(item)
      .filter((member) => METHODS.has(member))
      .map((member) => ({
        name: `${member} ${template}`,
        method: member.toUpperCase(),
        pattern: new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '.+')}$`),
      })),
  );
}

function pathOf(target: string): string {
  return target.split('?')[0] ?? '';
}
