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
  ...faultsOfSections(),
};

/** Sections of a contract in the wrong block, or under a wrong name. What follows from one is not told. */
function faultsOfSections(): Record<string, Fault> {
  const text = sound[items];
  const deeper = (from: string) => {
    const [before, after] = [text.slice(0, text.indexOf(from)), text.slice(text.indexOf(from))];
    return `${before}${after.replace(/^(?=.)/gm, '  ')}`;
  };
  const inSchemas = text
    .replace('{ "201": { description: The item } }', '{ "404": { $ref: "#/components/responses/NotFound" } }')
    .concat('    responses:\n      NotFound: { description: Not found }\n');
  const rows: Readonly<Record<string, readonly [text: string, ...says: readonly string[]]>> = {
    'schemas-in-security-schemes': [
      deeper('  schemas:'),
      '20:5: components.securitySchemes.schemas: references to #/components/schemas lead nowhere, because schemas stands in securitySchemes. Indent it as "securitySchemes".',
    ],
    'responses-in-schemas': [
      inSchemas,
      '25:5: components.schemas.responses: references to #/components/responses lead nowhere, because responses stands in schemas. Indent it as "schemas".',
    ],
    'schemas-beside-components': [
      text.replace('  schemas:', 'schemas:'),
      '20:1: schemas: references to #/components/schemas lead nowhere, because schemas stands beside components. Indent it below "components".',
    ],
    'schemas-in-singular': [
      text.replace('  schemas:', '  schema:'),
      '20:3: components.schema: there is no section "schema", so references to "schemas" lead nowhere. Did you mean "schemas"?',
    ],
    'schemas-misspelt': [
      text.replace('  schemas:', '  schma:'),
      '20:3: components.schma: there is no section "schma", so references to "schemas" lead nowhere. Did you mean "schemas"?',
    ],
    'components-misspelt': [
      text.replace('\ncomponents:', '\ncompnents:'),
      '17:1: compnents: there is no section "compnents", so references to "components" lead nowhere. Did you mean "components"?',
    ],
    'components-in-paths': [
      deeper('components:'),
      '17:3: paths.components: components belongs at the top level, not below paths. Do not indent it.',
    ],
    'security-in-tags': [
      text.replace('security:', 'tags:\n  - name: items\n    security:'),
      '5:5: tags.0.security: security belongs at the top level, not below tags. Do not indent it.',
    ],
    'paths-and-components-in-info': [
      deeper('paths:').replace(/^info[\s\S]*(?=^ {2}paths)/m, 'info:\n  title: Items\n  version: "1"\n'),
      '5:3: info.paths: paths belongs at the top level, not below info. Do not indent it.',
      '18:3: info.components: components belongs at the top level, not below info. Do not indent it.',
    ],
  };
  const faults = Object.entries(rows).map(([name, [spoilt, ...says]]): [string, Fault] => [
    name,
    { files: { [items]: spoilt }, says: says.map((one) => `${items}:${one}`) },
  ]);
  return Object.fromEntries(faults);
}
