// Faults of indentation, by name. Each is one mistake, with its cause.

import { type Fault, sound, spoiled } from './faults.ts';

const items = 'openapi/items.yaml';
const limits = 'config/limits.yaml';
const upstreams = 'config/upstreams.yaml';
const deeper = 'Indent what belongs to it deeper than itself, or remove it.';

export const faultsOfIndentation: Readonly<Record<string, Fault>> = {
  'line-deeper-than-its-neighbours': {
    files: spoiled(items, '      responses: { "200"', '       responses: { "200"'),
    says: [
      'openapi/items.yaml:8:8: the line is indented by 7 spaces, and the value before it is complete. Indent it by 6 spaces, as "operationId" (line 7).',
    ],
  },
  'line-between-two-blocks': {
    files: spoiled(items, '    post:', '   post:'),
    says: [
      'openapi/items.yaml:9:4: the line is indented by 3 spaces, and no key before it is. Indent it by 2 spaces, as "/v1/items" (line 5), or indent it by 4 spaces, as "get" (line 6).',
    ],
  },
  'line-that-is-indented-at-the-top': {
    files: spoiled(items, 'info:', ' info:'),
    says: [
      'openapi/items.yaml:2:2: the line is indented by 1 space, and the value before it is complete. Do not indent it, as "openapi" (line 1).',
    ],
  },
  'line-below-a-dash': {
    files: spoiled(
      items,
      '      operationId: listItems\n',
      '      operationId: listItems\n      parameters:\n        - name: limit\n        in: query\n',
    ),
    says: [
      'openapi/items.yaml:10:9: the line stands below the dash, not below the key after it. Indent it by 10 spaces, as "name" (line 9).',
    ],
  },
  'text-with-a-colon': {
    files: spoiled(items, 'operationId: listItems', 'summary: Items: all of them\n      operationId: listItems'),
    says: [
      'openapi/items.yaml:7:16: the text has a colon with a space after it, as only a key has. Write it in quotes.',
    ],
  },
  'methods-beside-their-path': {
    files: spoiled(
      items,
      '  /v1/items:\n    get:\n      operationId: listItems\n      responses: { "200": { description: The items } }\n',
      '  /v1/items:\n  get:\n    operationId: listItems\n    responses: { "200": { description: The items } }\n  /v1/more:\n',
    ),
    says: [
      `openapi/items.yaml:5:3: paths./v1/items: "/v1/items" has no content. ${deeper}`,
      'config/limits.yaml:6:3: operations.listItems: no contract has an operation "listItems". Use one of: createItem.',
    ],
  },
  'schema-beside-its-media-type': {
    files: spoiled(items, '            schema:', '          schema:'),
    says: [
      `openapi/items.yaml:14:11: paths./v1/items.post.requestBody.content.application/json: "application/json" has no content. ${deeper}`,
    ],
  },
  'entry-without-its-content': {
    files: { [upstreams]: sound[upstreams].replaceAll('    ', '  ') },
    says: [`config/upstreams.yaml:2:3: upstreams.items: "items" has no content. ${deeper}`],
  },
  'setting-beside-its-entry': {
    files: { [upstreams]: sound[upstreams].replace('    live', '  live').replace('    timeoutMs: 1000\n', '') },
    says: [
      'config/upstreams.yaml:4:3: upstreams.live: the key "live" does not belong here. Indent it deeper, so that it belongs to the entry above it.',
    ],
  },
  'block-without-its-content': {
    files: { [limits]: sound[limits].replace('  standard', 'standard') },
    says: ['config/limits.yaml:2:1: standard: "standard" belongs below "tiers". Indent it deeper than "tiers".'],
  },
};
