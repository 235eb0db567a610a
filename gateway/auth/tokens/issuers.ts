// The issuers whose tokens are accepted, each with its keys as they are now.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Mode } from '../../exchange.ts';
import { createIssuerKeys, type IssuerKeys, type IssuerKeysOptions, type IssuerKeysStatus } from './issuer-keys.ts';
import type { TokenRules } from './verify.ts';

/** One that is down must not hold up the boot for longer: until its keys are there, its tokens get 503. */
const BOOT_WAIT_MS = 2000;

export interface IssuerSettings extends TokenRules {
  readonly jwksUrl: string;
  /** What its tokens may be signed with. */
  readonly algorithms: readonly string[];
  readonly refreshSeconds: number;
  /** What its tokens reach. */
  readonly mode: Mode;
  /** The most its tokens are granted; `*`: everything but operator scopes. */
  readonly scopesMax: readonly string[];
}

export interface Issuer extends IssuerSettings {
  /** Under which it is configured; tells its subjects from those of another. */
  readonly name: string;
  readonly keys: IssuerKeys;
}

export interface IssuersOptions extends Pick<IssuerKeysOptions, 'tickMs' | 'timeoutMs'> {
  /** By name. */
  readonly issuers: Readonly<Record<string, IssuerSettings>>;
  now(): number;
  /** The keys of one cannot be read any more, for this reason; or they can again. */
  onHealth(name: string, reason: string | undefined): void;
}

export interface Issuers {
  /** By what a token has as `iss`, exactly. */
  find(iss: string): Issuer | undefined;
  readonly count: number;
  /** Resolves when each has answered or failed to, at the latest after two seconds. */
  ready(): Promise<void>;
  /** By name. */
  status(): Readonly<Record<string, IssuerKeysStatus>>;
  close(): void;
}

/** Begins to read the keys of all of them at once. */
export function createIssuers({ issuers, onHealth, ...options }: IssuersOptions): Issuers {
  const all = Object.entries(issuers).map(([name, settings]): Issuer => {
    const keys = createIssuerKeys({ ...options, ...settings, onHealth: (reason) => onHealth(name, reason) });
    return Object.freeze({ ...settings, name, keys });
  });
  const byIss = new Map(all.map((issuer) => [issuer.issuer, issuer]));

  return {
    find: (iss) => byIss.get(iss),
    count: all.length,
    async ready() {
      const read = Promise.all(all.map(({ keys }) => keys.ready()));
      await Promise.race([read, sleep(BOOT_WAIT_MS, undefined, { ref: false })]);
    },
    status: () => Object.fromEntries(all.map(({ name, keys }) => [name, keys.status()])),
    close() {
      for (const { keys } of all) keys.close();
    },
  };
}
