// Commands as callers of the actions of gateway/administration/: the actor is the user of the machine, whom no key bounds.

import { randomBytes } from 'node:crypto';
import type { Actor } from '../administration/actor.ts';
import type { ErrorCode } from '../error-catalogue.ts';
import { GatewayError } from '../errors.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import type { CommandContext } from './context.ts';

export function actorOf({ actor: by }: CommandContext): Actor {
  return { kind: 'command', by };
}

/** @param purpose as of `keyStore` */
export async function actionDepsOf(context: CommandContext, purpose?: 'begin') {
  const { store, digestOf } = await context.keyStore(purpose);
  return { store, digestOf, randomBytes, now: context.now, configuration: () => context.configuration() };
}

type Sentences = Partial<Record<ErrorCode, () => Awaitable<string>>>;

/** Awaits an action. A refusal ends the command with its sentence. */
export async function orFail<T>({ fail }: CommandContext, action: Promise<T>, sentences: Sentences): Promise<T> {
  try {
    return await action;
  } catch (thrown) {
    const sentenceOf = thrown instanceof GatewayError ? sentences[thrown.code] : undefined;
    if (sentenceOf === undefined) throw thrown;
    return fail(await sentenceOf());
  }
}
