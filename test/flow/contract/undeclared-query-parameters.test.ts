// Query parameters that a contract does not declare: refused by default, passed on or left out by a setting of the entry.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogLine } from '../../../gateway/explain/log-line.ts';
import { exchangeReport } from '../../../gateway/explain/report.ts';
import { serveForeign } from './foreign-gateway.ts';

const document = {
  openapi: '3.1.0',
  info: { title: 'Search', version: '1' },
  paths: {
    '/search': {
      get: {
        operationId: 'search',
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 50, default: 10 } },
          {
            name: 'filter',
            in: 'query',
            style: 'deepObject',
            schema: { type: 'object', properties: { tags: { type: 'array', items: { enum: ['a', 'b'] } } } },
          },
        ],
        responses: { 200: { description: 'fine' } },
      },
    },
  },
};

type Foreign = Awaited<ReturnType<typeof serveForeign>>;

async function reaching(says: object, queries: readonly string[], also?: (foreign: Foreign) => Promise<void> | void) {
  const foreign = await serveForeign(document, { ...says });
  try {
    const all = [];
    for (const query of queries) {
      const { violations, reached } = await foreign.send('GET', `/search${query}`);
      all.push(violations ?? reached?.url);
    }
    await also?.(foreign);
    return all;
  } finally {
    await foreign.stop();
  }
}

describe('query parameters that a contract does not declare', () => {
  const queries = [
    '?utm=1&limit=5',
    '?utm=%C3%A4;x',
    '?limit=51&utm=1',
    '?filter[tags][]=a&filter[tags][1]=b&filter=1',
  ];

  it('are refused', async () => {
    assert.deepEqual(await reaching({}, queries), [
      ['query utm unknown'],
      ['query utm unknown'],
      ['query limit too_large', 'query utm unknown'],
      ['query filter duplicate'],
    ]);
  });

  it('are told the declared name that they misspell', async () => {
    await reaching({}, [], async ({ gateway }) => {
      const { authorization } = await gateway.authorize({ scopes: ['foreign:write'] });
      const answer = await fetch(`${gateway.url}/search?limt=5&utm=1`, { headers: { authorization } });
      const { error } = (await answer.json()) as { error: { message: string; errors: { message: string }[] } };
      assert.deepEqual(
        error.errors.map(({ message }) => message),
        ['Is not known here. Did you mean "limit"?', 'Is not known here.'],
      );
      assert.equal(
        error.message,
        'limt: Is not known here. Did you mean "limit"? And 1 more; errors lists each violation.',
      );
    });
  });

  it('pass where the entry lets them', async () => {
    assert.deepEqual(await reaching({ undeclaredQuery: 'pass' }, queries), [
      '/search?utm=1&limit=5',
      '/search?utm=%C3%A4%3Bx&limit=10',
      ['query limit too_large'],
      ['query filter duplicate'],
    ]);
  });

  it('are left out where the entry drops them', async () => {
    const more = ['?filter[tags][]=a&utm[]=b&li%6Dit=7&filter[=x', '?'];
    async function areNamed({ gateway }: Foreign): Promise<void> {
      const lines = gateway.logLines().filter(({ operation }) => operation === 'search');
      assert.deepEqual(
        lines.map(({ withheld }) => withheld),
        [['query: utm'], ['query: utm'], ['query: utm'], undefined, ['query: utm[]', 'query: *'], undefined],
      );
      const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      assert.match(metrics, /gateway_upstream_withheld_total\{upstream="foreign",kind="query"\} 5\n/);
      const { stages } = exchangeReport(lines[0] as LogLine);
      const told = stages.flatMap((stage) => stage.told).join('\n');
      assert.match(told, /withheld: query: utm\. The contract does not declare it\./);
    }
    assert.deepEqual(await reaching({ undeclaredQuery: 'drop' }, [...queries, ...more], areNamed), [
      '/search?limit=5',
      '/search?limit=10',
      ['query limit too_large'],
      ['query filter duplicate'],
      '/search?filter[tags][]=a&li%6Dit=7',
      '/search?limit=10',
    ]);
  });

  it('never make lists in objects pass unchecked', async () => {
    assert.deepEqual(await reaching({}, ['?filter[tags][]=a&filter[tags][]=c', '?filter[tags][0]=b&limit=1']), [
      ['query filter.tags[1] not_allowed'],
      '/search?filter[tags][0]=b&limit=1',
    ]);
  });
});
