// Takes the place of the limit stage in a measured gateway: a plain RateLimiterRedis, with one command per request and the same headers.
// `--import` of this file replaces `gateway/limits/limit.ts`, so that the gateway itself is unchanged.

import { registerHooks } from 'node:module';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { GatewayError } from '../gateway/catalogue/errors.ts';
import type { Counted, Permitted } from '../gateway/exchange/exchange.ts';
import type { LimitStates } from '../gateway/exchange/findings.ts';
import { createChargesOf } from '../gateway/limits/charges.ts';
import type { LimitOptions } from '../gateway/limits/limit.ts';
import { appendLimitHeaders } from '../gateway/limits/limit-headers.ts';
import { connectRedis } from '../gateway/redis/client.ts';

registerHooks({
  resolve(specifier, context, next) {
    return specifier.endsWith('/limits/limit.ts') ? next(import.meta.url, context) : next(specifier, context);
  },
});

/** For gateways with one and the same limit for all organizations. */
export function createLimit({ rules, now }: LimitOptions): (permitted: Permitted) => Promise<Counted> {
  const chargesOf = createChargesOf(rules);
  const { requests = 1, windowSeconds = 60 } = Object.values(rules.tiers)[0] ?? {};
  const limiter = new RateLimiterRedis({
    storeClient: connectRedis({ url: process.env.REDIS_URL ?? '' }),
    points: requests,
    duration: windowSeconds,
    rejectIfRedisNotReady: true,
  });

  return async function limit(permitted) {
    const { charges, texts } = chargesOf(permitted.caller, permitted.operation, permitted.clientAddress);
    const { remainingPoints, msBeforeNext } = await limiter.consume(charges[0]?.counter ?? '').catch(refuse);
    const state = { policy: 'organization', limit: requests, windowSeconds, remaining: remainingPoints };
    const tightest = { ...state, resetMs: msBeforeNext };
    const limits: LimitStates = { states: [tightest], tightest };
    const { trail, commonHeaders } = permitted;
    trail.limits = limits;
    trail.limitSource = 'plain';
    trail.limitDecidedAtMs = now();
    appendLimitHeaders(commonHeaders, texts, limits, now());
    return { ...permitted, limits };
  };
}

function refuse(cause: RateLimiterRes | Error): never {
  if (cause instanceof Error) throw cause;
  throw new GatewayError('rate_limited', { retryAfterSeconds: Math.ceil(cause.msBeforeNext / 1000) });
}
