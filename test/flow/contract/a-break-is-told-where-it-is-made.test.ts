// A change of a shared schema or parameter that breaks several operations is one mistake, at the line that was changed, with the number of
// operations. The remedy is told once.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { environmentOf } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { runInProcess } from '../../support/in-process.ts';

const ORDERS = `openapi: 3.1.1
info: { title: Orders, version: "1" }
security: [{ apiKey: ["orders:read"] }]
paths:
  /v1/orders:
    get:
      operationId: listOrders
      parameters:
        - $ref: "#/components/parameters/Limit"
      responses:
        "200":
          description: The orders
          content:
            application/json:
              schema: { type: array, items: { $ref: "#/components/schemas/Order" } }
    post:
      operationId: createOrder
      requestBody:
        content:
          application/json:
            schema: { $ref: "#/components/schemas/Order" }
      responses: { "201": { description: The order } }
  /v1/refunds:
    get:
      operationId: listRefunds
      parameters:
        - $ref: "#/components/parameters/Limit"
      responses: { "200": { $ref: "common.yaml#/components/responses/Refunds" } }
components:
  securitySchemes:
    apiKey: { type: http, scheme: bearer }
  parameters:
    Limit:
      name: limit
      in: query
      schema:
        type: integer
        maximum: 100
  schemas:
    Order:
      type: object
      properties:
        state:
          type: string
          enum: [open, paid, sent]
        note:
          type: string
          maxLength: 200
`;
const COMMON = `components:
  responses:
    Refunds:
      description: Refunds
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Refund" }
  schemas:
    Refund:
      type: object
      required: [amount]
      properties:
        amount: { type: integer }
`;
const RETURNS = `openapi: 3.1.1
info: { title: Returns, version: "1" }
security: [{ apiKey: ["returns:read"] }]
paths:
  /v1/returns:
    get:
      operationId: listReturns
      responses: { "200": { $ref: "common.yaml#/components/responses/Refunds" } }
components:
  securitySchemes:
    apiKey: { type: http, scheme: bearer }
`;

let directory: string;
before(async () => {
  directory = temporaryDirectory();
  for (const folder of ['config', 'openapi/published']) mkdirSync(join(directory, folder), { recursive: true });
  const upstreams = 'upstreams: { orders: { contracts: [orders.yaml, returns.yaml], live: http://127.0.0.1:9 } }\n';
  writeFileSync(join(directory, 'config/gateway.yaml'), 'publishedContracts: published\n');
  writeFileSync(join(directory, 'config/upstreams.yaml'), upstreams);
  writeFileSync(join(directory, 'config/limits.yaml'), 'tiers: { standard: { requests: 100 } }\n');
  write();
  const { code, stderr } = await runInProcess(['contract', 'publish'], { environment: environmentOf(directory) });
  assert.equal(code, 0, stderr);
});

function write(...changes: readonly (readonly [from: string, to: string])[]): void {
  for (const [name, text] of Object.entries({ orders: ORDERS, common: COMMON, returns: RETURNS })) {
    const changed = changes.reduce((former, [from, to]) => former.replace(from, to), text);
    writeFileSync(join(directory, `openapi/${name}.yaml`), changed);
  }
}

/** The mistakes that `check` prints, without the directory. */
async function complaints(): Promise<string[]> {
  const { stderr } = await runInProcess(['check'], { environment: environmentOf(directory) });
  return stderr
    .replaceAll(`${directory}/`, '')
    .split('\n')
    .filter((line) => line.includes('breaks what was published') || line.includes('break what was published'));
}

const ACCEPT =
  'Put it back, make the change in another version, or accept it for each operation: "gateway contract diff" prints the lines for upstreams.yaml.';

for (const [what, change, says] of [
  [
    'a parameter',
    ['maximum: 100', 'maximum: 50'],
    'openapi/orders.yaml:38:18: components.parameters.Limit.schema.maximum: GET /v1/orders and 1 more break what was published (request-bound-narrowed): query parameter "limit": maximum goes from 100 to 50.',
  ],
  [
    'a schema of requests and answers',
    ['type: string\n          maxLength', 'type: integer\n          maxLength'],
    'openapi/orders.yaml:47:17: components.schemas.Order.properties.note.type: GET /v1/orders and 1 more break what was published (response-type-changed and request-type-changed): answer 200 application/json/[]/note: the type goes from string to integer.',
  ],
  [
    'a file that several contracts share',
    ['amount: { type: integer }', 'amount: { type: string }'],
    'openapi/common.yaml:13:25: components.schemas.Refund.properties.amount.type: GET /v1/refunds and 1 more break what was published (response-type-changed): answer 200 application/json/amount: the type goes from integer to string.',
  ],
] as const)
  test(`a break in ${what} is one mistake at its line`, async () => {
    write(change);
    assert.deepEqual(await complaints(), [`${says} ${ACCEPT}`]);
  });

test('a break of one operation is told with the line that accepts it', async () => {
  write(['enum: [open, paid, sent]', 'enum: [open, sent]']);
  const [line, ...others] = await complaints();
  assert.deepEqual(others, []);
  assert.match(
    line ?? '',
    /^openapi\/orders\.yaml:45:11: components\.schemas\.Order\.properties\.state\.enum: POST \/v1\/orders breaks what was published \(request-value-removed\): .* or add \{ operation: createOrder, rule: request-value-removed,/,
  );
});

test('contract diff prints the lines that accept a break of several operations', async () => {
  write(['maximum: 100', 'maximum: 50']);
  const { stdout, code } = await runInProcess(['contract', 'diff'], { environment: environmentOf(directory) });
  assert.equal(code, 1);
  for (const id of ['listOrders', 'listRefunds'])
    assert.ok(stdout.includes(`{ operation: ${id}, rule: request-bound-narrowed,`), stdout);
  const pasted = stdout
    .slice(stdout.indexOf('breaking:'))
    .replaceAll(/reason: "[^"]*"/g, 'reason: "Nobody sends more."');
  const file = join(directory, 'config/upstreams.yaml');
  const former = readFileSync(file, 'utf8');
  writeFileSync(file, `${former}${pasted}`);
  assert.deepEqual(await complaints(), []);
  writeFileSync(file, former);
});
