// Targets without a connection: the gateway answers from the contract of the upstream, through the same interface as a connection, so that
// the concurrency limit, deadlines, retries, health and the checks of answers stay as with a service.

import { headersIn } from '../http1/client/request-head.ts';
import type { AnswerHandler, Control, Dispatcher, Outgoing } from '../http1/client/wire.ts';
import { toUpstreamFailure } from './failure.ts';
import type { Pools } from './pools.ts';
import { answersFromContract } from './simulated.ts';

/** Answers one request whose body has arrived. */
export type AnswerFromContract = (
  request: Outgoing,
) => Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer }>;

/** Takes `examples:` addresses out of the pools. @param answerFor by address */
export function withExamples(pools: Pools, answerFor: (address: string) => AnswerFromContract): Pools {
  return {
    ...pools,
    hold(origin, settings, onUnasked) {
      if (!answersFromContract(origin)) return pools.hold(origin, settings, onUnasked);
      const dispatcher = createExamplesDispatcher(answerFor(origin));
      return { dispatcher, isolate: () => undefined, letGo: async () => undefined };
    },
  };
}

function createExamplesDispatcher(answer: AnswerFromContract): Dispatcher {
  return { dispatch: (request, handler) => void deliver(request, handler, answer) };
}

/** Never rejects. */
async function deliver(request: Outgoing, handler: AnswerHandler, answer: AnswerFromContract): Promise<void> {
  if (handler.ended) return;
  const control = new ExamplesControl();
  const goesOn = () => !control.isAborted && !handler.ended;
  try {
    handler.onRequestStart(control);
    await readToEnd(request.body);
    const { status, headers, body } = await answer({ ...request, headers: headersIn(request) });
    if (goesOn()) handler.onResponseStart(control, status, headers);
    await control.untilResumed();
    if (goesOn() && body.length > 0) handler.onResponseData(control, body);
    await control.untilResumed();
    if (goesOn()) handler.onResponseEnd(control);
  } catch (error) {
    if (goesOn()) handler.onResponseError(control, toUpstreamFailure(error));
  }
}

/** A service would read a streamed body, too. */
async function readToEnd(body: Outgoing['body']): Promise<void> {
  if (body === null || Buffer.isBuffer(body)) return;
  for await (const _chunk of body);
}

class ExamplesControl implements Control {
  isAborted = false;
  #resumed: PromiseWithResolvers<void> | undefined;

  get paused(): boolean {
    return this.#resumed !== undefined;
  }

  pause(): void {
    this.#resumed ??= Promise.withResolvers();
  }

  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  detach(): void {
    // There is no connection.
  }

  abort(): void {
    this.isAborted = true;
    this.resume();
  }

  async untilResumed(): Promise<void> {
    while (this.#resumed !== undefined) await this.#resumed.promise;
  }
}
