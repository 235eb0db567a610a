// The handler of an answer in tests: keeps its calls, in order, and runs the test's own code on the way.

import type {
  AnswerHandler,
  AnswerHeaders,
  Control,
  Dispatcher,
  Outgoing,
} from '../../../../gateway/http1/client/wire.ts';

export type Told = 'begun' | 'head' | 'data' | 'end' | 'error';
/** Runs on each call; an error thrown here is thrown by the handler. */
export type Reactions = { readonly [told in Told]?: (control: Control) => void };

export class Recorder implements AnswerHandler {
  isEnded = false;
  /** Pieces of a body that come one after the other are one. */
  readonly told: Told[] = [];
  control: Control | undefined;
  status = 0;
  headers: AnswerHeaders = {};
  error: NodeJS.ErrnoException | undefined;
  /** The argument of `error`. */
  errorControl: Control | undefined;
  readonly #body: Buffer[] = [];
  readonly #reactions: Reactions;
  #waiting: { readonly told: Told; resolve(): void }[] = [];

  constructor(reactions: Reactions = {}) {
    this.#reactions = reactions;
  }

  get body(): string {
    return Buffer.concat(this.#body).toString('latin1');
  }

  /** Resolves when that is called, or has been. */
  hears(told: Told): Promise<this> {
    if (this.told.includes(told)) return Promise.resolve(this);
    return new Promise((resolve) => this.#waiting.push({ told, resolve: () => resolve(this) }));
  }

  /** Its end, good or bad. */
  get over(): Promise<this> {
    return Promise.race([this.hears('end'), this.hears('error')]);
  }

  onRequestStart(control: Control): void {
    this.control = control;
    this.#note('begun', control);
  }

  onResponseStart(control: Control, status: number, headers: AnswerHeaders): void {
    this.status = status;
    this.headers = headers;
    this.#note('head', control);
  }

  onResponseData(control: Control, chunk: Buffer): void {
    this.#body.push(chunk);
    this.#note('data', control);
  }

  onResponseEnd(control: Control): void {
    this.#note('end', control);
  }

  onResponseError(control: Control | undefined, error: Error): void {
    this.error = error;
    this.errorControl = control;
    this.#note('error', control as Control);
  }

  #note(told: Told, control: Control): void {
    if (told !== 'data' || this.told.at(-1) !== 'data') this.told.push(told);
    for (const one of this.#waiting) if (one.told === told) one.resolve();
    this.#waiting = this.#waiting.filter((one) => one.told !== told);
    this.#reactions[told]?.(control);
  }
}

/** Takes each piece only a while after the one before. */
export const slowly: Reactions = {
  data(control) {
    control.pause();
    setTimeout(() => control.resume(), 20);
  },
};

export function send(dispatcher: Dispatcher, request: Partial<Outgoing> = {}, reactions: Reactions = {}): Recorder {
  const recorder = new Recorder(reactions);
  dispatcher.dispatch({ method: 'GET', path: '/', headers: [], body: null, ...request }, recorder);
  return recorder;
}
