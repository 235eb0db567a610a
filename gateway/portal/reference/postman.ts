// A contract as a collection for Postman (format 2.1): one folder per group, the key and the base URL as variables.

import { KEY_MARK } from '../highlight.ts';
import { type SampleContent, type SampleRequest, sampleRequestOf } from '../samples/sample-request.ts';
import type { AddressedContract, OperationAddress } from './addresses.ts';
import { viewOfOperation } from './operation-view.ts';
import type { DocumentTools } from './reference.ts';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** @param pause awaited after each operation, so that requests do not wait for a long contract */
export async function postmanCollection(
  all: AddressedContract,
  tools: DocumentTools,
  pause: () => Promise<unknown>,
): Promise<string> {
  const { reference, groups } = all;
  const folders: object[] = [];
  for (const { name, description, operations } of groups) {
    const item: object[] = [];
    for (const operation of operations) {
      item.push(requestOf(operation, tools));
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
    ],
    item: folders,
  };
  return JSON.stringify(collection, null, 2);
}

function requestOf({ operation, title }: OperationAddress, tools: DocumentTools): object {
  const view = viewOfOperation(operation, tools);
  const request = sampleRequestOf(operation, view, '');
  const optional = view.parameters.filter(({ place, isRequired }) => place === 'query' && !isRequired);
  const [path = '', query = ''] = request.url.split('?');
  const sent = [...new URLSearchParams(query)].map(([key, value]) => ({ key, value }));
  const disabled = optional.map(({ name, description }) => ({ key: name, value: '', description, disabled: true }));
  const all = [...sent, ...disabled];
  return {
    name: title,
    request: {
      description: operation.description,
      method: request.method,
      ...authOf(request),
      header: headersOf(request),
      url: {
        raw: `{{baseUrl}}${request.url}`,
        host: ['{{baseUrl}}'],
        path: path.split('/').slice(1).map(decodeURIComponent),
        ...(all.length === 0 ? {} : { query: all }),
      },
      ...(request.body === undefined ? {} : { body: bodyOf(request.body) }),
    },
  };
}

/** Postman makes a new identifier for each request that it sends. */
function headersOf({ headers, uniqueHeader }: SampleRequest): object[] {
  const unique = uniqueHeader === undefined ? [] : [{ key: uniqueHeader, value: '{{$guid}}' }];
  return [...headers.map(([key, value]) => ({ key, value: value.replaceAll(KEY_MARK, '') })), ...unique];
}

function authOf({ credentials }: SampleRequest): object {
  if (credentials === 'none') return { auth: { type: 'noauth' } };
  return credentials === 'basic' ? { auth: { type: 'basic', basic: [] } } : {};
}

function bodyOf(body: SampleContent): object {
  if (body.kind === 'file') return { mode: 'file', file: {} };
  if (body.kind === 'json' || body.kind === 'text') {
    const raw = body.kind === 'json' ? JSON.stringify(body.value, null, 2) : body.text;
    return { mode: 'raw', raw, options: { raw: { language: body.kind } } };
  }
  const fields = body.fields.map(([key, value]) => ({ key, value, type: 'text' }));
  return body.kind === 'form' ? { mode: 'urlencoded', urlencoded: fields } : { mode: 'formdata', formdata: fields };
}
