// Checks the address of the master that Sentinels name. If the address cannot be used, the library would end its client for good.

import { isIP } from 'node:net';
import type { Redis } from 'ioredis';

const HOST_NAME = /^[\w.-]{1,253}$/;

interface Address {
  readonly host?: unknown;
  readonly port?: unknown;
}

/** Members of the library's connector that its types do not declare. */
interface SentinelConnector {
  resolve(sentinel: object): Promise<Address | null>;
  connectToSentinel(sentinel: object, options?: object): Redis;
}

type Connector = new (options: object) => SentinelConnector;

/** Returns the connector that a client of Sentinels uses in place of the library's connector. */
export function checkedConnectorOf({ SentinelConnector: Unchecked }: typeof import('ioredis')): never {
  const Base = Unchecked as unknown as Connector;
  return class CheckedSentinelConnector extends Base {
    override async resolve(sentinel: object): Promise<Address | null> {
      const address = await super.resolve(sentinel);
      return address !== null && canConnectTo(address.host, address.port) ? address : null;
    }

    override connectToSentinel(sentinel: object, options?: object): Redis {
      const client = super.connectToSentinel(sentinel, options);
      // An error event without a listener would be thrown.
      client.on('error', () => undefined);
      return client;
    }
  } as never;
}

/** Whether a socket can be opened to this address. */
export function canConnectTo(host: unknown, port: unknown): boolean {
  if (typeof host !== 'string' || !Number.isInteger(port)) return false;
  return (isIP(host) !== 0 || HOST_NAME.test(host)) && (port as number) > 0 && (port as number) < 65_536;
}
