// Keycloak as a process of its own, and what its administrator does.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { mavenAppFor } from './packages.ts';
import { startService } from './stand.ts';

const PATIENCE_MS = 240_000;
const ADMIN = 'admin';

export interface Keycloak {
  readonly origin: string;
  /** A request of an administrator, such as `GET /realms/staff/events`. Returns the parsed body. Throws what is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all kinds.
  administer(line: string, body?: unknown): Promise<any>;
  stop(): Promise<void>;
}

export async function startKeycloak(): Promise<Keycloak> {
  const directory = await mavenAppFor('keycloak', { file: 'bin/kc.sh', args: ['build', '--db=dev-mem'] });
  const password = randomBytes(9).toString('hex');
  const port = await freePort();
  // As bin/kc.sh does it, but without a shell that would outlive its end.
  const { origin, stop } = await startService({
    file: 'java',
    args: [
      ...['-Xms64m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
      ...[`-Dkc.home.dir=${directory}`, '-Djava.util.logging.manager=org.jboss.logmanager.LogManager'],
      ...['-Dpicocli.disable.closures=true', '-cp', join(directory, 'lib/quarkus-run.jar')],
      ...['io.quarkus.bootstrap.runner.QuarkusEntryPoint', 'start', '--optimized', '--cache=local'],
      ...['--http-enabled=true', '--hostname-strict=false', '--http-host=127.0.0.1', `--http-port=${port}`],
    ],
    cwd: directory,
    environment: { KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN, KC_BOOTSTRAP_ADMIN_PASSWORD: password },
    patienceMs: PATIENCE_MS,
  });
  return { origin, administer: createAdminister(origin, password), stop };
}

function createAdminister(origin: string, password: string): Keycloak['administer'] {
  async function ask(url: string, init: RequestInit): Promise<unknown> {
    const answer = await fetch(url, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${init.method} ${url}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
  return async function administer(line, body) {
    const login = new URLSearchParams({
      grant_type: 'password',
      client_id: 'admin-cli',
      username: ADMIN,
      password,
    });
    const address = `${origin}/realms/master/protocol/openid-connect/token`;
    const { access_token: token } = (await ask(address, { method: 'POST', body: login })) as { access_token: string };
    const [method = '', path = ''] = line.split(' ');
    return ask(`${origin}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  };
}
