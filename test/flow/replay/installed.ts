import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type GatewayOptions, issueKeyIn, startGateway, type TestGateway } from '../../support/gateway.ts';
import { createInstallation, type Installation } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';
import { newKey, THING } from './keyed.ts';

interface Installed {
  readonly start: Installation['start'];
  /** Another instance: on the same data directory without a Redis, else with a data directory of its own. */
  startAnother(): Promise<TestGateway>;
  /** A POST, the same request each time unless another key, path or body is given. */
  post(port: number, key?: string, path?: string, body?: string): Promise<Answer>;
  /** Repeats the same request while the key is in use, or the store takes too long on a busy machine. */
  insist(port: number, key?: string, path?: string, body?: string): Promise<Answer>;
  close(): Promise<void>;
}

export type Others = Pick<GatewayOptions, 'upstreams' | 'contracts'>;

/** One organization with one live key. @param entry further members of the upstream's entry @param others further upstreams */
export async function installGateway(
  upstreamUrl: string,
  redisUrl: string | undefined,
  entry: object,
  others: Others = {},
): Promise<Installed> {
  const directory = temporaryDirectory();
  const things = thingsAt(upstreamUrl, entry);
  const options = {
    upstreams: { ...things.upstreams, ...others.upstreams },
    contracts: { ...things.contracts, ...others.contracts },
  };
  writeConfiguration(directory, options);
  const environment = {
    ...environmentOf(directory),
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
  };
  const installation = createInstallation(environment);
  const { key } = await issueKeyIn(installation.environment, { organization: 'org_acme', tier: 'premium' });
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
  const sameKey = newKey();

  function post(port: number, idempotencyKey = sameKey, path = '/v1/things', body = THING): Promise<Answer> {
    return ask(port, requestOf(`POST ${path}`, { ...headers, 'Idempotency-Key': idempotencyKey }, body));
  }

  async function insist(port: number, idempotencyKey = sameKey, path?: string, body?: string): Promise<Answer> {
    for (;;) {
      const answer = await post(port, idempotencyKey, path, body);
      if (!/^(?:idempotency_key_in_use|gateway_overloaded)$/.test(String(answer.error.code))) return answer;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  return {
    start: installation.start,
    startAnother: () =>
      startGateway({
        ...options,
        ...(redisUrl === undefined
          ? { dataDirectory: installation.dataDirectory }
          : { environment: { REDIS_URL: redisUrl } }),
      }),
    post,
    insist,
    async close() {
      installation.remove();
    },
  };
}
