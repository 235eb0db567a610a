// Sends one request and collects its answer, for callers that send requests only now and then.

import type { AnswerHandler, AnswerHeaders, Control, Dispatcher, Outgoing } from './wire.ts';

export interface WholeAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

/**
 * Sends a request and resolves with its whole answer. Rejects with the error of the connection or the answer, or with the reason of the
 * signal.
 *
 * @param wantsBody false: resolves after the head, and closes the connection without reading the body
 */
export function ask(
  dispatcher: Dispatcher,
  request: Outgoing,
  signal: AbortSignal,
  wantsBody = true,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const body: Buffer[] = [];
    let status = 0;
    let headers: AnswerHeaders = {};
    let control: Control | undefined;
    const handler: AnswerHandler & { isEnded: boolean } = {
      isEnded: false,
      onRequestStart(begun) {
        control = begun;
      },
      onResponseStart(begun, ...head) {
        [status, headers] = head;
        if (wantsBody) return;
        begun.abort();
        handler.onResponseEnd(begun);
      },
      onResponseData(_control, chunk) {
        body.push(chunk);
      },
      onResponseEnd: () => end(() => resolve({ status, headers, body: Buffer.concat(body) })),
      onResponseError: (_control, error) => end(() => reject(error)),
    };
    const onAbort = () => {
      control?.abort();
      end(() => reject(signal.reason));
    };

    function end(settle: () => void): void {
      handler.isEnded = true;
      signal.removeEventListener('abort', onAbort);
      settle();
    }

    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort);
    try {
      dispatcher.dispatch(request, handler);
    } catch (error) {
      end(() => reject(error));
    }
  });
}
