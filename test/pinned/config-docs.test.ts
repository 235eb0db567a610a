// docs/config.md says what the schemas of the three files say: every key with its default and its values, and no others.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { z } from 'zod';
import { breaking } from '../../gateway/config/breaking.ts';
import { gatewayFile } from '../../gateway/config/gateway-file.ts';
import { limitsFile, upstreamEntry } from '../../gateway/config/schema.ts';
import { breakerRules, ejectionRules, health } from '../../gateway/config/target-rules.ts';
import { certificate, tls } from '../../gateway/config/tls.ts';
import { tracing } from '../../gateway/config/tracing.ts';
import { tunnel } from '../../gateway/config/tunnels.ts';
import { upstreamTls } from '../../gateway/config/upstream-tls.ts';
import { compileDocument, documentOf } from '../unit/contract/compiled.ts';

const document = readFileSync(new URL('../../docs/config.md', import.meta.url), 'utf8');
const loader = readFileSync(new URL('../../gateway/config/load.ts', import.meta.url), 'utf8');

/** Code spans of a cell, as text. */
type Row = Readonly<Record<string, string>>;

/** The rows of all tables whose first column has this heading, by what stands in it. */
function rowsOf(section: string, heading: string): Map<string, Row> {
  const text = document.split(/^## /m).find((part) => part.startsWith(section)) ?? '';
  const rows = new Map<string, Row>();
  for (const table of text.matchAll(/(?:^\|.*\n)+/gm)) {
    const [head = [], , ...body] = table[0]
      .trimEnd()
      .split('\n')
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    if (head[0] !== heading) continue;
    for (const cells of body) {
      const row = Object.fromEntries(head.map((name, column) => [name, cells[column] ?? '']));
      for (const [, name = ''] of (cells[0] ?? '').matchAll(/`([^`]+)`/g)) rows.set(name, row);
    }
  }
  return rows;
}

interface Key {
  /** As it is written in the table; `undefined`: it may be left out. */
  readonly fallback: string | undefined;
  /** Range or choices; `undefined`: they are told in words. */
  readonly values: string | undefined;
}

/** What zod 4 keeps about a schema, as far as it is needed here. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly valueType?: z.core.$ZodType;
  readonly defaultValue?: unknown;
  readonly entries?: Readonly<Record<string, string>>;
}

const definitionOf = (schema: z.core.$ZodType) => schema._zod.def as unknown as Definition;

/** Every key of a schema with its dotted path. */
function keysOf(schema: z.core.$ZodType, path: string, given?: unknown): [string, Key][] {
  const definition = definitionOf(schema);
  const { type, innerType, in: input, shape, defaultValue } = definition;
  if (type === 'default' || type === 'prefault') return keysOf(innerType as z.core.$ZodType, path, defaultValue);
  if (type === 'optional') return keysOf(innerType as z.core.$ZodType, path, OPTIONAL);
  if (input) return keysOf(input, path, given);
  if (shape && Object.keys(shape).length > 0 && (path === '' || given !== OPTIONAL)) {
    return Object.entries(shape).flatMap(([name, below]) =>
      keysOf(below, path === '' ? name : `${path}.${name}`, (given as Record<string, unknown> | undefined)?.[name]),
    );
  }
  return [[path, { fallback: written(given), values: valuesOf(schema, definition) }]];
}

/** What all members of a record are. */
function memberOf(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType, valueType } = definitionOf(schema);
  return valueType ?? memberOf(innerType as z.core.$ZodType);
}

function keysOfMembers(record: z.core.$ZodType, path: string): (readonly [string, Key])[] {
  return keysOf(memberOf(record), '').map(([name, key]) => [`${path}.${name}`, key] as const);
}

const OPTIONAL = Symbol('optional');

function written(value: unknown): string | undefined {
  if (value === OPTIONAL) return undefined;
  if (value === undefined) return 'required';
  if (Array.isArray(value)) return `\`[${value.map((item) => (item === '*' ? "'*'" : item)).join(', ')}]\``;
  return `\`${typeof value === 'object' ? JSON.stringify(value) : String(value)}\``;
}

function valuesOf(schema: z.core.$ZodType, { type, entries }: Definition): string | undefined {
  if (type === 'number') {
    const { minValue, maxValue } = schema as z.ZodNumber;
    return `${minValue}–${maxValue}`;
  }
  if (type === 'boolean') return '`true`, `false`';
  return (
    entries &&
    Object.keys(entries)
      .map((name) => `\`${name}\``)
      .join(', ')
  );
}

function compare(rows: ReadonlyMap<string, Row>, keys: readonly (readonly [string, Key])[], elsewhere: Row = {}): void {
  assert.deepEqual([...rows.keys()].sort(), keys.map(([name]) => name).sort());
  for (const [name, { fallback, values }] of keys) {
    assert.equal(rows.get(name)?.Default, elsewhere[name] ?? fallback ?? '', `default of ${name}`);
    if (values !== undefined && name !== 'public') assert.equal(rows.get(name)?.Values, values, `values of ${name}`);
  }
}

test('gateway.yaml', () => {
  const { issuers, cors, versions, operations } = gatewayFile.shape;
  const below = [
    ...keysOfMembers(issuers, 'issuers.<name>'),
    ...keysOfMembers(cors, 'cors.<host>'),
    ...keysOfMembers(versions, 'versions.<version>'),
    ...keysOfMembers(operations, 'operations.<id>'),
  ];
  compare(rowsOf('config/gateway.yaml', 'Key'), [...keysOf(gatewayFile, ''), ...below]);
  const { plain } = tls.shape;
  const ofPlain = keysOf(plain.unwrap(), 'plain');
  compare(rowsOf('config/gateway.yaml', 'Key of TLS'), [...keysOf(tls, ''), ...ofPlain]);
  compare(rowsOf('config/gateway.yaml', 'Key of a certificate'), keysOf(certificate, ''));
  compare(rowsOf('config/gateway.yaml', 'Key of `tracing`'), keysOf(tracing, ''));
});

test('upstreams.yaml', async () => {
  const minimal = documentOf({ '/': { post: { responses: { 200: { description: 'x' } } } } });
  const { operations } = await compileDocument(minimal, { public: true });
  const operation = operations[0]?.operation;
  // What nobody says about an operation is settled where operations are made.
  const elsewhere = {
    basePath: "path of the document's first server",
    cost: `\`${operation?.cost}\``,
    idempotency: `\`${operation?.idempotency}\``,
    body: `\`${operation?.body}\``,
    response: `\`${operation?.answerCheck}\``,
  };
  compare(rowsOf('config/upstreams.yaml', 'Key of an upstream'), keysOf(upstreamEntry, ''), elsewhere);
  compare(rowsOf('config/upstreams.yaml', 'Key of `ejection`'), keysOf(ejectionRules, ''));
  compare(rowsOf('config/upstreams.yaml', 'Key of `breaker`'), keysOf(breakerRules, ''));
  compare(rowsOf('config/upstreams.yaml', 'Key of `tls`'), keysOf(upstreamTls, ''));
  compare(rowsOf('config/upstreams.yaml', 'Key of `health`'), keysOf(health, ''));
  compare(rowsOf('config/upstreams.yaml', 'Key of a tunnel'), keysOf(tunnel, ''));
  compare(rowsOf('config/upstreams.yaml', 'Key of a decision'), keysOf(breaking.element, ''));
});

test('limits.yaml', () => {
  const { tiers, extra, operations, organizations } = limitsFile.shape;
  const ofOperation = keysOfMembers(operations, 'operations.<id>');
  compare(rowsOf('config/limits.yaml', 'Key'), [...keysOf(limitsFile, ''), ...ofOperation]);
  const ofLimit = keysOf(memberOf(extra), '');
  compare(rowsOf('config/limits.yaml', 'Key of a limit'), ofLimit);
  for (const schema of [tiers, organizations])
    assert.deepEqual(
      keysOf(memberOf(schema), ''),
      ofLimit.filter(([name]) => name !== 'per'),
    );
});

test('the environment', () => {
  const read = [...loader.matchAll(/environment\.([A-Z_]+)|port\('([A-Z_]+)'/g)].map(([, one, port]) => one ?? port);
  assert.deepEqual([...rowsOf('Environment', 'Variable').keys()].sort(), [...new Set(read)].sort());
});
