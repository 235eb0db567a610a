// Whether a store takes what is written to it. Only a request that has begun there says that it does: on a full store one may still
// look up, forget, and mostly end what has begun.

import type { AnswerStoreStatus } from './store.ts';

export interface State {
  note(next: AnswerStoreStatus['state']): void;
  status(): AnswerStoreStatus;
  /** Nothing is told any more. */
  end(): void;
}

/** Tells of changes only, and of none once it has ended. Nothing is known at first unless `state` says so. */
export function createState(
  kind: AnswerStoreStatus['kind'],
  onChange: (status: AnswerStoreStatus) => void,
  state?: AnswerStoreStatus['state'],
): State {
  let current = state;
  let ended = false;
  const status = (): AnswerStoreStatus => ({ kind, state: current ?? 'away' });
  return {
    note(next) {
      if (current === next || ended) return;
      current = next;
      onChange(status());
    },
    status,
    end() {
      ended = true;
    },
  };
}
