// The options of the sandbox mail server. Tests shorten its clocks and lower its limits; the defaults are those of the real server.
import type { Administrator } from './accounts.ts';
import { IN_FLIGHT_MAX } from './session.ts';

export interface MailServerOptions {
  /** A file, or `:memory:`. */
  readonly databasePath: string;
  /** Called at each login; undefined: there is no administrator. */
  administrator(): Administrator | undefined;
  /** Where uploads are kept while the server runs, emptied at start; default a new directory for temporary files. */
  readonly blobsDirectory?: string;
  /** Failed logins a day of one address or name until a ban; default 100. */
  readonly failuresMax?: number;
  /** Unparsable requests a day of one address until a ban; default 30. */
  readonly malformedMax?: number;
  /** Whether `Forwarded` and `X-Forwarded-For` of any client are trusted; default false. */
  readonly useForwarded?: boolean;
  /** Where the URLs in its documents begin; default the address it listens on. */
  readonly publicUrl?: string;
  /** Requests a minute of an account; default 1000. */
  readonly accountPerMinute?: number;
  /** Requests a minute without a known account, of an address that is not loopback; default 100. */
  readonly anonymousPerMinute?: number;
  /** Requests in flight of an account; default 4. */
  readonly inFlightMax?: number;
  /** Whether administrators, and accounts with the permissions for it, are exempt from the limits; default true. */
  readonly exemption?: boolean;
  /** How many principals the tenant's quota allows; default any number. */
  readonly principalsMax?: number;
  /** How long each request to the administration takes, and a list between finding and loading; default no time. */
  readonly answerDelayMs?: number;
  /** How long a second of pings, heartbeats and idle limits is; default 1000. */
  readonly secondMs?: number;
  /** Tokens of a certificate authority and their proofs; default none. */
  readonly challenges?: ReadonlyMap<string, string>;
  /** Further settings that its administration shows; default none. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Settings that a reload refuses, with the reason; default none. */
  readonly settingErrors?: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Gets the path of each administration GET that would have changed a real server. */
  readonly onSideEffect?: (path: string) => void;
  /** Gets faults of the server itself, which clients see as 500 without details. */
  readonly onFault?: (error: unknown) => void;
}

type Optional = Exclude<keyof MailServerOptions, 'publicUrl' | 'blobsDirectory'>;

export type MailSettings = MailServerOptions & Required<Pick<MailServerOptions, Optional>>;

export function withDefaults(options: MailServerOptions): MailSettings {
  return {
    failuresMax: 100,
    malformedMax: 30,
    useForwarded: false,
    accountPerMinute: 1000,
    anonymousPerMinute: 100,
    inFlightMax: IN_FLIGHT_MAX,
    exemption: true,
    principalsMax: Number.POSITIVE_INFINITY,
    answerDelayMs: 0,
    secondMs: 1000,
    challenges: new Map(),
    settings: {},
    settingErrors: {},
    now: Date.now,
    onSideEffect: () => {},
    onFault: () => {},
    ...options,
  };
}
