// The JSON Schemas in config/schemas are those that `gateway init --schemas` writes: they accept the shipped files and every valid value,
// and refuse misspelt keys.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { CONFIG_FILE_NAMES, type ConfigFile, editorSchemaOf } from '../../gateway/config/editor-schemas.ts';
import { sound } from '../config/faults.ts';
import { faultsInFiles } from '../config/faults-in-files.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const schemaOf = (file: ConfigFile) => JSON.parse(editorSchemaOf(file)) as object;
const checks = Object.fromEntries(
  CONFIG_FILE_NAMES.map((file) => [
    file,
    new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schemaOf(file)),
  ]),
) as Record<ConfigFile, ValidateFunction>;

/** The objections of a file's schema to a text. */
function objections(file: ConfigFile, text: string): string[] {
  return checks[file](parse(text)) ? [] : (checks[file].errors ?? []).map((error) => error.instancePath);
}

interface Node {
  readonly description?: string;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
}

/** Keys that neither have a description nor are a choice of values that have one. */
function undescribed(node: Node, path: string): string[] {
  const { properties = {}, anyOf = [], oneOf = [], items, additionalProperties: members } = node;
  const keys = Object.entries(properties).flatMap(([name, value]) => {
    const at = `${path}.${name}`;
    const alternatives = [...(value.anyOf ?? []), ...(value.oneOf ?? [])];
    const isTold = [value, ...alternatives].some(({ description }) => description !== undefined && description !== '');
    return [...(isTold ? [] : [at]), ...undescribed(value, at)];
  });
  const below = [...anyOf, ...oneOf, ...(items ? [items] : []), ...(typeof members === 'object' ? [members] : [])];
  return [...keys, ...below.flatMap((one) => undescribed(one, path))];
}

/** Faults that are a matter of the shape of one file. */
const structural = [
  ...['unknown-key', 'unknown-key-without-likeness', 'unknown-key-deep', 'unknown-host', 'share-above-one'],
  ...['origin-with-path', 'keys-of-an-issuer-over-http', 'symmetric-tokens', 'wrong-type', 'wrong-type-list'],
  ...['wrong-type-block', 'not-a-block', 'out-of-range', 'not-a-choice', 'missing-key', 'missing-block', 'empty-file'],
  ...['bad-target', 'target-with-path', 'bad-target-in-list', 'bad-cidr', 'bad-scope', 'bad-name'],
];

describe('schemas for editors', () => {
  for (const file of CONFIG_FILE_NAMES) {
    it(`of ${file}.yaml describe every key`, () => {
      assert.deepEqual(undescribed(schemaOf(file), file), []);
    });

    it(`of ${file}.yaml admit the shipped file and the one to begin with, which point at them`, () => {
      for (const path of [`config/${file}.yaml`, `gateway/commands/init/files/${file}.yaml`]) {
        assert.deepEqual(objections(file, read(path)), [], path);
        assert.equal(read(path).split('\n')[0], `# yaml-language-server: $schema=schemas/${file}.json`);
      }
      assert.deepEqual(objections(file, sound[`config/${file}.yaml`]), []);
    });
  }

  for (const name of structural) {
    it(`refuse ${name}`, () => {
      const [path, text] = Object.entries(faultsInFiles[name]?.files ?? {})[0] as [string, string];
      assert.notDeepEqual(objections(/config\/(\w+)/.exec(path)?.[1] as ConfigFile, text), []);
    });
  }

  it('take a variable in place of any value, and know nothing of names', () => {
    const upstreams = sound['config/upstreams.yaml'].replace('1000', '\x24{TIMEOUT}').replace('http:', '\x24{SCHEME}:');
    assert.deepEqual(objections('upstreams', upstreams), []);
    for (const name of ['public-and-secured', 'unknown-limit-of-upstream'])
      assert.deepEqual(objections('upstreams', faultsInFiles[name]?.files['config/upstreams.yaml'] ?? ''), []);
  });
});
