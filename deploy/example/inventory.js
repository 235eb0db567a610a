// A whole service behind the gateway: items of an organization, in memory. docs/first-steps.md puts it behind the gateway step by step.
import { createServer } from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const keys = createRemoteJWKSet(new URL(process.env.GATEWAY_JWKS_URL), { cacheMaxAge: 300_000 });
const itemsOf = new Map();

async function callerOf(request) {
  const { payload } = await jwtVerify(String(request.headers['x-gateway-assertion']), keys, {
    algorithms: ['EdDSA'],
    issuer: process.env.GATEWAY_ISSUER,
    audience: 'inventory',
    requiredClaims: ['sub', 'exp'],
    clockTolerance: 5,
  });
  return payload;
}

async function answer(request) {
  const caller = await callerOf(request).catch(() => undefined);
  if (caller === undefined) return [401, { message: 'The assertion of the gateway is missing or not valid.' }];
  // Organizations never see each other's items, and test keys never see live ones.
  const owner = `${caller.org} ${caller.mode}`;
  const items = itemsOf.get(owner) ?? [];
  if (request.method === 'GET') return [200, { items }];
  const item = { id: `item_${items.length + 1}`, ...JSON.parse(Buffer.concat(await request.toArray()).toString()) };
  itemsOf.set(owner, [...items, item]);
  return [201, item];
}

const server = createServer(async (request, response) => {
  const [status, body] = await answer(request);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
server.listen(Number(process.env.PORT), process.env.HOST ?? '127.0.0.1');
process.on('SIGTERM', () => server.close());
