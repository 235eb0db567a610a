// Every example of a request body, broken in every way that can be derived from it, is refused at the right place.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { child, escapeToken, follow, isRecord, type LocatedValue, pathOf } from '../../gateway/contract/pointer.ts';
import { bodyViolations, examplesOf, operations, requestContent } from './shipped.ts';

/** A value of an example, and the schema that describes it. */
interface Place {
  readonly pointer: string;
  readonly value: unknown;
  readonly schema: Record<string, unknown>;
}

interface Broken {
  readonly what: string;
  readonly body: unknown;
  readonly pointer: string;
  readonly code: string;
}

/** All values inside of an example that a schema describes. */
function placesOf(root: Record<string, unknown>, at: LocatedValue, value: unknown, pointer: string): Place[] {
  const located = follow(root, at);
  if (!isRecord(located.value)) return [];
  const here = { pointer, value, schema: located.value };
  if (Array.isArray(value)) {
    return [here, ...value.flatMap((item, i) => placesOf(root, child(located, 'items'), item, `${pointer}/${i}`))];
  }
  const properties = child(located, 'properties');
  return [
    here,
    ...Object.entries(isRecord(value) ? value : {}).flatMap(([name, inner]) =>
      placesOf(root, child(properties, name), inner, `${pointer}/${escapeToken(name)}`),
    ),
  ];
}

function changed(
  body: unknown,
  pointer: string,
  change: (owner: Record<string, unknown>, name: string) => void,
): unknown {
  const copy = { root: structuredClone(body) };
  const tokens = ['root', ...pathOf(pointer)];
  let owner: Record<string, unknown> = copy;
  for (const token of tokens.slice(0, -1)) owner = owner[token] as Record<string, unknown>;
  change(owner, tokens.at(-1) as string);
  return copy.root;
}

function brokenVariants(body: unknown, { pointer, value, schema }: Place): Broken[] {
  const wrong = [schema.type].flat().includes('object') ? 17 : { wrong: {} };
  const broken: Broken[] = [
    {
      what: `${pointer || 'the body'} of another type`,
      body: changed(body, pointer, (owner, name) => Object.assign(owner, { [name]: wrong })),
      ...{ pointer, code: 'wrong_type' },
    },
  ];
  if (isRecord(value) && schema.additionalProperties === false) {
    broken.push({
      what: `an unknown member in ${pointer || 'the body'}`,
      body: changed(body, `${pointer}/unheard_of`, (owner, name) => Object.assign(owner, { [name]: 1 })),
      ...{ pointer: `${pointer}/unheard_of`, code: 'unknown' },
    });
  }
  for (const name of Array.isArray(schema.required) && isRecord(value) ? schema.required : []) {
    broken.push({
      what: `${pointer}/${name} missing`,
      body: changed(body, `${pointer}/${name}`, (owner, last) => delete owner[last]),
      ...{ pointer: `${pointer}/${name}`, code: 'required' },
    });
  }
  return broken;
}

for (const entry of operations) {
  const content = requestContent(entry);
  if (!content) continue;
  describe(entry.operation.id, () => {
    for (const example of examplesOf(entry, content)) {
      test(`refuses ${example.name} however it is broken`, () => {
        const places = placesOf(entry.document.root, child(content, 'schema'), example.value, '');
        assert.ok(places.length > 1);
        for (const { what, body, pointer, code } of places.flatMap((place) => brokenVariants(example.value, place))) {
          const there = bodyViolations(entry, body).filter((violation) => violation.pointer === pointer);
          assert.deepEqual(
            there.map((violation) => violation.code),
            [code],
            what,
          );
        }
      });
    }

    test('closes every object that a client may send', () => {
      for (const example of examplesOf(entry, content)) {
        for (const { pointer, value, schema } of placesOf(
          entry.document.root,
          child(content, 'schema'),
          example.value,
          '',
        )) {
          if (!isRecord(value) || /metadata|preferences/.test(pointer)) continue;
          assert.equal(schema.additionalProperties, false, pointer || 'the body');
        }
      }
    });
  });
}
