import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costlySchemas } from '../../../gateway/contract/lint/costly-schemas.ts';
import { compileDocument, documentOf } from './compiled.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** The places of the schemas that `check` would name. */
async function namedIn(schemas: Record<string, object>): Promise<(string | undefined)[]> {
  const path = { get: { operationId: 'get', responses: { 200: { description: 'fine' } } } };
  const { operations, mistakes } = await compileDocument(documentOf({ '/': path }, { components: { schemas } }));
  const [entry] = operations;
  if (entry === undefined) throw new Error(JSON.stringify(mistakes));
  return costlySchemas(entry.document).map(({ place }) => place?.replace('components.schemas.', ''));
}

test('common schemas are not named', async () => {
  const text = (pattern: string) => ({ type: 'string', pattern });
  const wide = Array.from({ length: 80 }, (_, at) => [`member${at}`, { type: 'string', maxLength: 9 }] as const);
  assert.deepEqual(
    await namedIn({
      Id: text('^cust?_[0-9A-Za-z]{16}$'),
      Base64: text('^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'),
      Host: text('^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$'),
      Slug: text('^[a-z0-9]+(-[a-z0-9]+)*$'),
      Uuid: text('^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'),
      Wide: { type: 'object', properties: Object.fromEntries(wide) },
      Tree: { oneOf: [ref('Wide'), ref('Branch')] },
      Branch: { allOf: [ref('Wide'), { properties: { children: { type: 'array', items: ref('Tree') } } }] },
    }),
    [],
  );
});

test('patterns whose time depends on the text are named, unless the text is short', async () => {
  assert.deepEqual(
    await namedIn({
      States: { type: 'string', pattern: '(a|b)*a(a|b){60}[!c]$' },
      Fixed: { type: 'string', pattern: '[A-Za-z0-9]{2000}!' },
      Short: { type: 'string', pattern: '[A-Za-z0-9]{2000}!', maxLength: 2001 },
    }),
    ['States.pattern', 'Fixed.pattern'],
  );
});

test('schemas that double at each reference, or never end, are named where they become too many', async () => {
  const twice = (name: string) => ({ anyOf: [ref(name), { allOf: [ref(name)] }] });
  const doubling = Array.from({ length: 14 }, (_, at) => [`D${at}`, at === 0 ? { minLength: 1 } : twice(`D${at - 1}`)]);
  const named = await namedIn({ ...Object.fromEntries(doubling), Endless: { allOf: [ref('Endless')] } });
  assert.equal(named.length, 2);
  assert.match(String(named[0]), /^D\d+\.anyOf$/);
  assert.equal(named[1], 'Endless.allOf');
});

test('dynamic references with several targets are named', async () => {
  const node = (name: string) => ({ $id: `https://example.com/${name}`, $dynamicAnchor: 'node' });
  const named = await namedIn({
    Tree: { ...node('tree'), properties: { child: { $dynamicRef: '#node' } } },
    Other: node('other'),
  });
  assert.deepEqual(named, ['Tree.properties.child.$dynamicRef']);
});
