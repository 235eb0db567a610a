// The options of `npm run simulate`.

import { parseArgs } from 'node:util';
import { positive } from './options.ts';
import type { Protocol } from './protocol.ts';
import { PROTOCOLS, protocolNamed } from './protocols/all.ts';
import type { Spec } from './run.ts';
import { parseSeed } from './seed.ts';

/** Seeds to run. */
export interface Search {
  readonly protocols: readonly Protocol[];
  readonly minutes: number;
  readonly hours: number;
}

interface Options extends Search {
  readonly isHelp: boolean;
  /** The one to run again. */
  readonly seed: Spec | undefined;
}

/** Throws a sentence about an option that is wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      minutes: { type: 'string', default: '1' },
      hours: { type: 'string', default: '2' },
      protocol: { type: 'string' },
      seed: { type: 'string' },
      'no-calm': { type: 'boolean', default: false },
    },
  });
  return {
    isHelp: values.help,
    protocols: values.protocol === undefined ? PROTOCOLS : [protocolNamed(values.protocol)],
    minutes: positive('minutes', values.minutes),
    hours: positive('hours', values.hours),
    seed: values.seed === undefined ? undefined : { ...parseSeed(values.seed), hasCalm: !values['no-calm'] },
  };
}
