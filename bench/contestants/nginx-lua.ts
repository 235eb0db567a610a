// nginx with Lua and Redis: key look-up (remembered for a minute), a fixed window per organization counted in Redis, limit headers, the
// caller's organization to the upstream, a log line. No validation, no idempotency, no assertion.

import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { Contestant, Surroundings } from '../contestants.ts';
import { startConfigured } from './nginx.ts';

const MODULES = '/usr/lib/nginx/modules';
const DIGEST_KEY = 'pepper';

export function hasLua(): boolean {
  return existsSync(`${MODULES}/ngx_http_lua_module.so`) && existsSync('/usr/share/lua/5.1/nginx/redis.lua');
}

export async function startNginxLua(surroundings: Surroundings): Promise<Contestant> {
  const { hostname, port } = new URL(surroundings.redisUrl);
  const redis = new Redis(surroundings.redisUrl);
  const names = surroundings.keys.flatMap((key, index) => [
    `lua-key:${createHmac('sha1', DIGEST_KEY).update(key).digest('base64')}`,
    `org_${index}`,
  ]);
  await redis.mset(...names);
  redis.disconnect();
  return startConfigured('nginx + Lua + Redis', surroundings, {
    modules: `load_module ${MODULES}/ndk_http_module.so;\nload_module ${MODULES}/ngx_http_lua_module.so;`,
    http: 'lua_shared_dict keys 16m;\naccess_log /dev/null combined buffer=64k;',
    location: `access_by_lua_block {${accessScript(hostname, port)}}`,
  });
}

const accessScript = (host: string, port: string) => `
  local redis = require "nginx.redis"
  local presented = string.match(ngx.var.http_authorization or "", "^Bearer (.+)$")
  if not presented then return ngx.exit(401) end
  local digest = "lua-key:" .. ngx.encode_base64(ngx.hmac_sha1("${DIGEST_KEY}", presented))

  local link = redis:new()
  link:set_timeout(1000)
  if not link:connect("${host}", ${port}) then return ngx.exit(503) end
  local organization = ngx.shared.keys:get(digest)
  if not organization then
    organization = link:get(digest)
    if not organization or organization == ngx.null then return ngx.exit(401) end
    ngx.shared.keys:set(digest, organization, 60)
  end

  local window = "lua-limit:" .. organization .. ":" .. math.floor(ngx.time() / 60)
  link:init_pipeline(2)
  link:incr(window)
  link:expire(window, 120)
  local counted = link:commit_pipeline()
  link:set_keepalive(60000, 128)
  if not counted then return ngx.exit(503) end
  local limit, left = 1000000, 60 - ngx.time() % 60
  ngx.header["X-RateLimit-Limit"] = limit
  ngx.header["X-RateLimit-Remaining"] = math.max(0, limit - counted[1])
  ngx.header["X-RateLimit-Reset"] = ngx.time() + left
  if counted[1] > limit then
    ngx.header["Retry-After"] = left
    return ngx.exit(429)
  end
  ngx.req.clear_header("Authorization")
  ngx.req.set_header("X-Organization-Id", organization)
`;
