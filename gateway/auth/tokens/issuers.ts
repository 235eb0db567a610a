// The issuers whose tokens are accepted, each with its current keys.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Mode } from '../../exchange/caller.ts';
import { IssuerKeys, type IssuerKeysOptions, type IssuerKeysStatus } from './issuer-keys.ts';
import type { TokenRules } from './verify-token.ts';

/** The longest time for which an unavailable issuer delays the start. Until its keys are read, its tokens get 503. */
const BOOT_WAIT_MS = 2000;

export interface IssuerSettings extends TokenRules {
  readonly jwksUrl: string;
  /** Signature algorithms that its tokens may use. */
  readonly algorithms: readonly string[];
  readonly refreshSeconds: number;
  /** Mode of the targets that its tokens reach. */
  readonly mode: Mode;
  /** The scopes that its tokens may be granted; `*` stands for all scopes except operator scopes. */
  readonly scopesMax: readonly string[];
}

export interface Issuer extends IssuerSettings {
  /** The configured name, which keeps equal subjects of different issuers apart. */
  readonly name: string;
  readonly keys: IssuerKeys;
}

interface IssuersOptions extends Pick<IssuerKeysOptions, 'tickMs' | 'timeoutMs'> {
  /** The settings of the issuers, by name. */
  readonly issuers: Readonly<Record<string, IssuerSettings>>;
  now(): number;
  /** Called with the reason when an issuer's keys can no longer be read, and with undefined when they can be read again. */
  onHealth(name: string, reason: string | undefined): void;
}

export interface Issuers {
  /** Finds an issuer by the exact `iss` of a token. */
  find(iss: string): Issuer | undefined;
  readonly count: number;
  /** Resolves when the first read of every issuer has succeeded or failed, after two seconds at the latest. */
  ready(): Promise<void>;
  /** Returns the status of each issuer, by name. */
  status(): Readonly<Record<string, IssuerKeysStatus>>;
  close(): void;
}

/** Starts to read the keys of all issuers at once. */
export function createIssuers({ issuers, onHealth, ...options }: IssuersOptions): Issuers {
  const all = Object.entries(issuers).map(([name, settings]): Issuer => {
    const keys = new IssuerKeys({ ...options, ...settings, onHealth: (reason) => onHealth(name, reason) });
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
