// deploy/compose.yaml names existing things: files, variables that the gateway reads, secrets, networks, ports. It agrees with the
// balancer's configuration and with that of the gateways.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { parseDockerfile } from '../../../deploy/image/dockerfile.ts';
import { gatewayFile } from '../../../gateway/config/gateway/gateway-file.ts';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { loadConfiguration } from '../../../gateway/configuration.ts';
import { parseCompose, readCompose } from '../../support/deploy/compose.ts';

const directory = fileURLToPath(new URL('../../../deploy', import.meta.url));
const read = (path: string) => readFileSync(join(directory, path), 'utf8');
const documentedVariables = (page: string) =>
  new Set(
    [...page.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) /gm)].flatMap(([, names = '']) => names.match(/[A-Z_]+/g)),
  );

const compose = readCompose();
const services = Object.entries(compose.services);
const gateways = services.filter(([name]) => name.startsWith('gateway-'));
const variables = documentedVariables(read('../docs/config.md'));
const settings = gatewayFile.parse(parse(read('example/config/gateway.yaml')));
const nginx = read('balancer/nginx.conf');

describe('deploy/compose.yaml', () => {
  it('is refused with a key that the specification does not have', () => {
    const source = read('compose.yaml');
    assert.throws(() => parseCompose(source.replace('mem_limit:', 'memory_limit:')), /memory_limit/);
    assert.throws(() => parseCompose(source.replace('read_only: true', 'read_only: yes please')), /read_only/);
  });

  it('mounts files and directories that exist', () => {
    const mounts = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0] ?? ''));
    const files = mounts.filter((source) => source.startsWith('./'));
    assert.ok(files.length >= 6);
    for (const file of files) assert.ok(existsSync(join(directory, file)), file);
    const named = mounts.filter((source) => !source.startsWith('.') && !isAbsolute(source));
    assert.deepEqual([...new Set(named)].sort(), Object.keys(compose.volumes).sort());
  });

  it('names networks, services and secrets that it has', () => {
    for (const [name, { networks, depends_on = {}, secrets = [] }] of services) {
      for (const network of Array.isArray(networks) ? networks : Object.keys(networks))
        assert.ok(network in compose.networks, `${name}: ${network}`);
      for (const other of Object.keys(depends_on)) assert.ok(other in compose.services, `${name}: ${other}`);
      for (const secret of secrets) assert.ok(secret in compose.secrets, `${name}: ${secret}`);
    }
  });

  it('waits only for services that can be healthy', () => {
    const image = parseDockerfile(read('../Dockerfile')).at(-1);
    for (const [name, { depends_on = {} }] of services)
      for (const other of Object.keys(depends_on)) {
        const checked = compose.services[other]?.healthcheck ?? (compose.services[other]?.build && image?.healthCheck);
        assert.ok(checked && !('disable' in checked), `${name} waits for ${other}, which has no health check`);
      }
  });

  it('sets only variables that the gateway reads, and secrets that it needs', () => {
    assert.equal(gateways.length, 2);
    const documented = new Set(
      [...read('../docs/config.md').matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, name]) => name),
    );
    for (const [, { environment = {}, secrets = [] }] of gateways) {
      for (const name of Object.keys(environment)) assert.ok(variables.has(name), `${name} is not in docs/config.md`);
      for (const name of secrets) assert.ok(documented.has(name), `${name} is not in docs/config.md`);
      assert.equal(environment.SECRETS_DIR, '/run/secrets', 'where the secrets of a service are mounted');
      assert.doesNotThrow(() => loadSettings(environment));
    }
  });

  it('gives gateways more time to end than they need', () => {
    const { drainDelayMs, drainMs } = settings.timeouts;
    for (const [, { stop_grace_period = '0s' }] of gateways)
      assert.ok(Number.parseInt(stop_grace_period, 10) * 1000 >= drainDelayMs + drainMs + 3000);
  });

  it('never lets Redis evict, and keeps its data', () => {
    const line = (compose.services.redis?.command ?? []).join(' ');
    for (const setting of ['--maxmemory-policy noeviction', '--appendonly yes'])
      assert.ok(line.includes(setting), line);
  });

  it('opens ports of the machine for the balancer only', () => {
    const open = services.filter(([, { ports = [] }]) => ports.length > 0).map(([name]) => name);
    assert.deepEqual(open, ['balancer']);
  });

  it('has a configuration without mistakes', async () => {
    const environment = {
      GATEWAY_CONFIG: join(directory, 'example/config'),
      GATEWAY_CONTRACTS: join(directory, 'example/contracts'),
    };
    const { contracts } = await loadConfiguration(loadSettings(environment), environment);
    assert.deepEqual(contracts.operations.map(({ operation }) => operation.id).sort(), ['createItem', 'listItems']);
  });
});

describe('the balancer', () => {
  it('spreads to the gateways, where they listen', () => {
    const servers = [...nginx.matchAll(/^\s+server (\S+):(\d+) /gm)].map(([, name, port]) => [name, port]);
    assert.deepEqual(
      servers,
      gateways.map(([name, { environment = {} }]) => [name, environment.PORT ?? '8080']),
    );
  });

  it('is the only one with trusted forwarded addresses, and writes them anew', () => {
    const networks = compose.services.balancer?.networks;
    assert.ok(networks && !Array.isArray(networks));
    assert.deepEqual(settings.trustedProxies, [networks.front?.ipv4_address]);
    assert.match(nginx, /proxy_set_header X-Forwarded-For \$remote_addr;/);
    assert.doesNotMatch(nginx, /\$proxy_add_x_forwarded_for/);
  });

  it('repeats nothing that may have been carried out, and closes idle connections before the gateways do', () => {
    assert.match(nginx, /proxy_next_upstream error;/);
    const idleSeconds = Number(/keepalive_timeout (\d+)s; # less/.exec(nginx)?.[1]);
    assert.ok(idleSeconds * 1000 < settings.timeouts.keepAliveMs);
  });

  it('listens where the port of the machine leads', () => {
    const [port = ''] = compose.services.balancer?.ports ?? [];
    assert.equal(port.split(':').at(-1), /listen (\d+);/.exec(nginx)?.[1]);
  });
});
