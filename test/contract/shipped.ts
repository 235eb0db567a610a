// The shipped contracts, loaded as at boot, and their declarations.

import assert from 'node:assert/strict';
import { loadSettings } from '../../gateway/config/settings.ts';
import { loadConfiguration } from '../../gateway/configuration.ts';
import type { ContractOperation } from '../../gateway/contract/operations/operations.ts';
import { child, follow, isRecord, type LocatedValue, member } from '../../gateway/contract/pointer.ts';
import { toBodyViolations, type Violation } from '../../gateway/contract/violations/violations.ts';
import { shippedContracts } from '../support/gateway.ts';

const environment = { GATEWAY_CONTRACTS: shippedContracts };
const { contracts } = await loadConfiguration(loadSettings(environment), environment);
export const { operations, schemas } = contracts;

export function operation(id: string): ContractOperation {
  const found = operations.find((entry) => entry.operation.id === id);
  assert.ok(found, `no operation ${id}`);
  return found;
}

/** The request path's verdict on a JSON body. */
export function bodyViolations(entry: ContractOperation, value: unknown): Violation[] {
  const check = schemas.request(entry).bodies.get('application/json');
  assert.ok(check, `${entry.operation.id} has no JSON body`);
  return toBodyViolations(check(value, 0), entry.document.root);
}

export interface Example {
  readonly name: string;
  readonly value: unknown;
}

/** The examples of a parameter or of a media type object, wherever OpenAPI lets them stand. */
export function examplesOf(entry: ContractOperation, owner: LocatedValue): Example[] {
  const { root } = entry.document;
  const { value } = owner;
  if (!isRecord(value)) return [];
  const several = member(root, owner, 'examples');
  const named = Object.keys(isRecord(several.value) ? several.value : {}).map((name) => ({
    name,
    value: member(root, member(root, several, name), 'value').value,
  }));
  return 'example' in value ? [{ name: 'example', value: value.example }, ...named] : named;
}

/** The JSON media type of a request body or of a response. */
export function jsonContent(entry: ContractOperation, owner: LocatedValue): LocatedValue | undefined {
  const { root } = entry.document;
  const json = member(root, member(root, owner, 'content'), 'application/json');
  return json.value === undefined ? undefined : json;
}

export function requestContent(entry: ContractOperation): LocatedValue | undefined {
  return jsonContent(entry, member(entry.document.root, entry.located, 'requestBody'));
}

/** The schema of a media type, with references followed. */
export function schemaOf(entry: ContractOperation, content: LocatedValue): Record<string, unknown> {
  const { value } = follow(entry.document.root, child(content, 'schema'));
  assert.ok(isRecord(value));
  return value;
}
