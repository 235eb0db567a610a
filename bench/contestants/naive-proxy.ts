// The packages of the design card, put together as their documentation shows it: a log line, validation against the contracts, a key
// look-up that is remembered for a minute, a fixed window in Redis, a proxy. Nothing in here is slow on purpose.

import express, { type NextFunction, type Request, type Response } from 'express';
import { createProxyMiddleware, fixRequestBody } from 'http-proxy-middleware';
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Request as Described } from 'openapi-backend';
import { pinoHttp } from 'pino-http';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { storedNameOf } from './naive-keys.ts';
import { loadPlatformApi } from './naive-openapi.ts';

const [port, upstream, redisUrl] = process.argv.slice(2);

const redis = new Redis(redisUrl as string, { enableAutoPipelining: true });
const organizations = new LRUCache<string, string>({ max: 100_000, ttl: 60_000 });
const limiter = new RateLimiterRedis({ storeClient: redis, points: 1_000_000, duration: 60, keyPrefix: 'naive-limit' });
const api = await loadPlatformApi();

async function authenticate(request: Request, response: Response, next: NextFunction): Promise<void> {
  const key = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const name = storedNameOf(key);
  const organization = organizations.get(name) ?? (await redis.get(name)) ?? undefined;
  if (organization === undefined) {
    response.status(401).json({ error: { code: 'api_key_invalid' } });
    return;
  }
  organizations.set(name, organization);
  delete request.headers.authorization;
  request.headers['x-organization-id'] = organization;
  next();
}

async function limit(request: Request, response: Response, next: NextFunction): Promise<void> {
  try {
    const { remainingPoints, msBeforeNext } = await limiter.consume(request.headers['x-organization-id'] as string);
    response.setHeader('X-RateLimit-Limit', limiter.points);
    response.setHeader('X-RateLimit-Remaining', remainingPoints);
    response.setHeader('X-RateLimit-Reset', Math.ceil((Date.now() + msBeforeNext) / 1000));
    next();
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    response.setHeader('Retry-After', Math.ceil(refused.msBeforeNext / 1000));
    response.status(429).json({ error: { code: 'rate_limited' } });
  }
}

function validate(request: Request, response: Response, next: NextFunction): void {
  const described = {
    method: request.method,
    path: request.path,
    query: request.query,
    headers: request.headers,
    body: request.body,
  } as Described;
  const operation = api.matchOperation(described);
  if (operation === undefined) {
    response.status(404).json({ error: { code: 'route_not_found' } });
    return;
  }
  const { valid, errors } = api.validateRequest(described, operation);
  if (valid) next();
  else response.status(400).json({ error: { code: 'validation_failed', errors } });
}

const app = express();
app.use(pinoHttp());
app.use(authenticate, limit, express.json(), validate);
app.use(
  createProxyMiddleware({
    target: upstream as string,
    changeOrigin: true,
    on: { proxyReq: fixRequestBody },
  }),
);
app.listen(Number(port), '127.0.0.1').keepAliveTimeout = 60_000;
