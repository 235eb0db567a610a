// Converts a contract to a collection for Postman (format 2.1), with one folder per group, and the key, the base URL and the ids of records
// as variables.

import { KEY_MARK } from '../highlight.ts';
import { fieldText, type SampleContent, type SampleRequest } from '../samples/sample-request.ts';
import type { AddressedContract, OperationAddress } from './addresses.ts';
import { type OperationView, viewOfOperation } from './operation-view.ts';
import { keepIdScript, type PostmanIds, postmanIds } from './postman-ids.ts';
import type { DocumentTools } from './reference.ts';
import { sampleRequestOf } from './sample-form.ts';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** Makes the collection. @param pause awaited after each operation, because requests must not wait for a long contract */
export async function postmanCollection(
  all: AddressedContract,
  tools: DocumentTools,
  pause: () => Promise<unknown>,
): Promise<string> {
  const { reference, groups } = all;
  const ids = postmanIds(all.operations.map(({ operation }) => operation));
  const examples = new Map<string, string>();
  const folders: object[] = [];
  for (const { name, description, operations } of groups) {
    const item: object[] = [];
    for (const operation of operations) {
      item.push(requestOf(operation, tools, ids, examples));
      await pause();
    }
    folders.push({ name, description, item });
  }
  const collection = {
    info: { name: reference.title, description: reference.description, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: reference.server, type: 'string' },
      { key: 'apiKey', value: '', type: 'string' },
      ...[...examples].map(([key, value]) => ({ key, value, type: 'string' })),
    ],
    item: folders,
  };
  return JSON.stringify(collection, null, 2);
}

/** @param examples gets the first example of each id, for requests that are sent before the request that makes the id */
function requestOf(
  { operation, title }: OperationAddress,
  tools: DocumentTools,
  ids: PostmanIds,
  examples: Map<string, string>,
): object {
  const view = viewOfOperation(operation, tools);
  const request = sampleRequestOf(operation, view, '');
  const optional = view.parameters.filter(({ place, isRequired }) => place === 'query' && !isRequired);
  const [sample = '', query = ''] = request.url.split('?');
  const path = withVariables(operation.path, sample, view, ids, examples);
  const made = ids.madeBy(operation);
  const sent = [...new URLSearchParams(query)].map(([key, value]) => ({ key, value }));
  const disabled = optional.map(({ name, description }) => ({ key: name, value: '', description, disabled: true }));
  const all = [...sent, ...disabled];
  return {
    name: title,
    ...(made === undefined ? {} : { event: [keepIdScript(made)] }),
    request: {
      description: operation.description,
      method: request.method,
      ...authOf(request),
      header: headersOf(request),
      url: {
        raw: `{{baseUrl}}${path}${query === '' ? '' : `?${query}`}`,
        host: ['{{baseUrl}}'],
        path: path.split('/').slice(1).map(decodeURIComponent),
        ...(all.length === 0 ? {} : { query: all }),
      },
      ...(request.body === undefined ? {} : { body: bodyOf(request.body, ids) }),
    },
  };
}

/** Returns the path of the sample, with variables in place of ids. */
function withVariables(
  template: string,
  sample: string,
  { parameters }: OperationView,
  ids: PostmanIds,
  examples: Map<string, string>,
): string {
  const variables = ids.variablesIn(template);
  const names = template.split('/');
  return sample
    .split('/')
    .map((segment, index) => {
      const variable = variables[index];
      if (variable === undefined) return segment;
      const declared = parameters.find(({ place, name }) => place === 'path' && `{${name}}` === names[index]);
      if (!examples.has(variable)) examples.set(variable, fieldText(declared?.example));
      return `{{${variable}}}`;
    })
    .join('/');
}

/** Returns the headers. Postman makes a new identifier for each request. */
function headersOf({ headers, uniqueHeader }: SampleRequest): object[] {
  const unique = uniqueHeader === undefined ? [] : [{ key: uniqueHeader, value: '{{$guid}}' }];
  return [...headers.map(([key, value]) => ({ key, value: value.replaceAll(KEY_MARK, '') })), ...unique];
}

function authOf({ credentials }: SampleRequest): object {
  if (credentials === 'none') return { auth: { type: 'noauth' } };
  return credentials === 'basic' ? { auth: { type: 'basic', basic: [] } } : {};
}

function bodyOf(body: SampleContent, ids: PostmanIds): object {
  if (body.kind === 'file') return { mode: 'file', file: {} };
  if (body.kind === 'json' || body.kind === 'text') {
    const raw = body.kind === 'json' ? JSON.stringify(withIds(body.value, ids), null, 2) : body.text;
    return { mode: 'raw', raw, options: { raw: { language: body.kind } } };
  }
  const fields = body.fields.map(([key, value]) => ({ key, value, type: 'text' }));
  return body.kind === 'form' ? { mode: 'urlencoded', urlencoded: fields } : { mode: 'formdata', formdata: fields };
}

/** Replaces ids in a value by variables. A member with the name of a variable contains the id of such a record. */
function withIds(value: unknown, ids: PostmanIds): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'string' && ids.isVariable(name) ? `{{${name}}}` : member,
    ]),
  );
}
