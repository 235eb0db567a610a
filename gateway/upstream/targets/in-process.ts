// Targets that answer in this process. The gateway answers from the contract of the upstream, or executes the operations of its own
// contract (`deliver`, which upstream/forward.ts calls). Both kinds have the interface of a connection, so that the concurrency limit,
// deadlines, retries, health and the checks of answers work as with a service.

import { toUpstreamFailure } from '../../catalogue/upstream-failure.ts';
import { headersIn } from '../../http1/client/request-head.ts';
import type { AnswerHandler, Control, Dispatcher, Outgoing } from '../../http1/client/wire.ts';
import { answersFromContract, isGatewayItself } from './addresses.ts';
import type { Pools, SharedPool } from './pools.ts';

export interface AnswerInProcess {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Answers one request whose body has arrived. */
export type AnswerFromContract = (request: Outgoing) => Promise<AnswerInProcess>;

/**
 * Returns pools in which this process answers for addresses without a connection.
 *
 * @param answerFor returns the function that answers for an address of the form `examples:<upstream>`
 */
export function withInProcessTargets(pools: Pools, answerFor: (address: string) => AnswerFromContract): Pools {
  return {
    ...pools,
    hold(origin, settings, onUnrequestedBytes) {
      if (isGatewayItself(origin)) return withoutConnection(NO_DISPATCHER);
      if (!answersFromContract(origin)) return pools.hold(origin, settings, onUnrequestedBytes);
      return withoutConnection(createExamplesDispatcher(answerFor(origin)));
    },
  };
}

function withoutConnection(dispatcher: Dispatcher): SharedPool {
  return { dispatcher, isolate: () => undefined, letGo: async () => undefined };
}

/** Fails each request. No request reaches this dispatcher, because upstream/forward.ts executes the operations of the gateway itself. */
const NO_DISPATCHER: Dispatcher = {
  dispatch: (_, handler) => handler.onResponseError(undefined, new Error('there is no service behind gateway:')),
};

function createExamplesDispatcher(answer: AnswerFromContract): Dispatcher {
  return {
    dispatch: (request, handler) =>
      void deliver(handler, async () => {
        await readToEnd(request.body);
        return answer({ ...request, headers: headersIn(request) });
      }),
  };
}

/** Gives the handler the result or the error of `answer`. Never rejects. */
export async function deliver(handler: AnswerHandler, answer: () => Promise<AnswerInProcess>): Promise<void> {
  if (handler.isEnded) return;
  const control = new InProcessControl();
  const goesOn = () => !control.isAborted && !handler.isEnded;
  try {
    handler.onRequestStart(control);
    const { status, headers, body } = await answer();
    if (goesOn()) handler.onResponseStart(control, status, headers);
    await control.untilResumed();
    if (goesOn() && body.length > 0) handler.onResponseData(control, body);
    await control.untilResumed();
    if (goesOn()) handler.onResponseEnd(control);
  } catch (error) {
    if (goesOn()) handler.onResponseError(control, toUpstreamFailure(error));
  }
}

/** Reads a streamed body to its end, as a service would. */
async function readToEnd(body: Outgoing['body']): Promise<void> {
  if (body === null || Buffer.isBuffer(body)) return;
  for await (const _chunk of body);
}

class InProcessControl implements Control {
  readonly waitedMs = 0;
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
